"""The queues and stacks of Tables 3, 4, 7 and 8 in "Optimal Concolic Dynamic Partial Order
Reduction".

What is inserted is never compared, so that plain numbers do for it. Operations without locks try
once: where another thread was quicker, they just end.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.condpor import Counter, Exclusive, Program, Unshared, run_each
from benchmarks.inputs import an_input
from mazurka import Atomic, Lock

if TYPE_CHECKING:
    from mazurka.python.symbolic.values import SymbolicInt

MaybeNode: TypeAlias = int | None  # nodes are numbered


# Queues


def lb_queue(inserters: int, removers: int = 0) -> Program:
    """One lock around everything."""

    def program() -> None:
        lock = Lock()
        elements: list[int] = []

        def enqueue(element: int) -> None:
            with lock:
                elements.append(element)

        def dequeue(_: int) -> None:
            with lock:
                if elements:
                    elements.pop(0)

        run_each(inserters, enqueue, removers, dequeue)

    return program


def hw_queue(inserters: int, removers: int = 0) -> Program:
    """The queue of Herlihy and Wing: cells are taken in order, and filled in any order."""

    def program() -> None:
        tail = Counter(0)
        cells: list[Exclusive[int | None]] = [Exclusive(None) for _ in range(inserters)]

        def enqueue(element: int) -> None:
            cells[tail.increment()].set(element)

        def dequeue(_: int) -> None:
            for cell in cells[: tail.get()]:
                if cell.swap(None) is not None:
                    return

        run_each(inserters, enqueue, removers, dequeue)

    return program


def ub_queue(inserters: int, removers: int = 0) -> Program:
    """A lock for each end of a linked list: only the links can be accessed at the same time."""

    def program() -> None:
        head_lock, tail_lock = Lock(), Lock()
        links: list[Atomic[MaybeNode]] = [Atomic(None) for _ in range(inserters + 1)]
        head, tail = Unshared(0), Unshared(0)

        def enqueue(index: int) -> None:
            node = index + 1
            with tail_lock:
                links[tail.load()].store(node)
                tail.store(node)

        def dequeue(_: int) -> None:
            with head_lock:
                node = links[head.load()].load()
                if node is not None:
                    head.store(node)

        run_each(inserters, enqueue, removers, dequeue)

    return program


def ms_queue(inserters: int, removers: int = 0) -> Program:
    """The queue of Michael and Scott as the paper's figures have it, but for those of (1,1).

    An insertion sets the tail until it finds the end, and leaves it behind then.
    """

    def program() -> None:
        head, tail, links = linked_queue(inserters)

        def enqueue(index: int) -> None:
            node = index + 1
            links[node].set(None)
            last = tail.get()
            while (following := links[last].get()) is not None:
                tail.set(following)
                last = tail.get()
            if links[last].replace(None, node):
                links[last].set(node)

        def dequeue(_: int) -> None:
            first = head.get()
            following = links[first].get()
            if following is not None:
                head.replace(first, following)

        run_each(inserters, enqueue, removers, dequeue)

    return program


def ms_queue_textbook(inserters: int, removers: int = 0) -> Program:
    """The same queue with the operations of the textbook, as in the paper's figures of (1,1)."""

    def program() -> None:
        head, tail, links = linked_queue(inserters)

        def enqueue(index: int) -> None:
            last = tail.get()
            following = links[last].get()
            if tail.get() != last:
                return
            if following is not None:
                tail.replace(last, following)
            elif links[last].replace(None, index + 1):
                tail.replace(last, index + 1)

        def dequeue(_: int) -> None:
            first, last = head.get(), tail.get()
            following = links[first].get()
            if head.get() == first and following is not None:
                end = tail if first == last else head
                end.replace(first, following)

        run_each(inserters, enqueue, removers, dequeue)

    return program


def linked_queue(
    inserters: int,
) -> tuple[Exclusive[int], Exclusive[int], list[Exclusive[MaybeNode]]]:
    """Head, tail and links of a queue of numbered nodes, at first the empty one only."""
    return Exclusive(0), Exclusive(0), [Exclusive(None) for _ in range(inserters + 1)]


def lp_queue(inserters: int, removers: int = 0) -> Program:
    """A priority queue with a bin for each priority; the priorities are inputs."""

    def program() -> None:
        bins: list[list[int]] = [[] for _ in range(inserters)]
        locks = [Lock() for _ in bins]
        priorities = [an_input(lo=0, hi=inserters - 1) for _ in bins]

        def insert(index: int) -> None:
            priority = position(priorities[index], inserters)
            with locks[priority]:
                bins[priority].append(index)

        def remove_least(_: int) -> None:
            for lock, elements in zip(locks, bins, strict=True):
                with lock:
                    found = elements.pop(0) if elements else None
                if found is not None:
                    return

        run_each(inserters, insert, removers, remove_least)

    return program


def position(symbol: "SymbolicInt", count: int) -> int:
    """The place in a list of so many that a symbolic number stands for."""
    return next(place for place in range(count) if symbol == place)


# Stacks


def agm_stack(inserters: int, removers: int = 0) -> Program:
    """The stack of Afek, Gafni and Morrison: one array, which is one object."""

    def program() -> None:
        top = Counter(0)
        array: Exclusive[list[int | None]] = Exclusive([None] * inserters)

        def push(element: int) -> None:
            place = top.increment()
            array.get()[place] = element

        def pop(_: int) -> None:
            for place in reversed(range(top.get())):
                elements = array.get()
                found, elements[place] = elements[place], None
                if found is not None:
                    return

        run_each(inserters, push, removers, pop)

    return program


class TreiberStack:
    """A stack as a linked list of numbered nodes."""

    def __init__(self, size: int) -> None:
        self.top: Exclusive[MaybeNode] = Exclusive(None)
        self.links: list[MaybeNode] = [None] * size

    def push(self, node: int) -> bool:
        """Try to push a node; tells whether no other thread came between."""
        top = self.top.get()
        self.links[node] = top
        return self.top.replace(top, node)

    def pop(self) -> bool:
        """The same for the topmost node; False also if there is none."""
        top = self.top.get()
        return top is not None and self.top.replace(top, self.links[top])


def trei_stack(inserters: int, removers: int = 0) -> Program:
    """Treiber's stack."""

    def program() -> None:
        stack = TreiberStack(inserters)
        run_each(inserters, stack.push, removers, lambda _: stack.pop())

    return program


EMPTY, WAITING, BUSY = "empty", "waiting", "busy"


class Exchanger:
    """Where two threads can meet, and give each other a value."""

    def __init__(self) -> None:
        self.slot: Exclusive[tuple[MaybeNode, str]] = Exclusive((None, EMPTY))

    def visit(self, value: MaybeNode) -> None:
        found, state = self.slot.get()
        if state == EMPTY:
            if self.slot.replace((found, EMPTY), (value, WAITING)):
                self.wait(value)
        elif state == WAITING:
            self.slot.replace((found, WAITING), (value, BUSY))

    def wait(self, value: MaybeNode) -> None:
        """See at once whether somebody came, and leave."""
        _, state = self.slot.get()
        if state != BUSY:
            if self.slot.replace((value, WAITING), (None, EMPTY)):
                return
            self.slot.get()
        self.slot.set((None, EMPTY))


def eb_stack(inserters: int, removers: int = 0) -> Program:
    """Treiber's stack, where a thread that fails visits an exchanger: which one is an input."""

    def program() -> None:
        stack = TreiberStack(inserters)
        exchangers = [Exchanger() for _ in range(inserters)]

        def visit(value: MaybeNode) -> None:
            place = an_input(lo=0, hi=inserters - 1)
            exchangers[position(place, inserters)].visit(value)

        def push(node: int) -> None:
            if not stack.push(node):
                visit(node)

        def pop(_: int) -> None:
            if not stack.pop():
                visit(None)

        run_each(inserters, push, removers, pop)

    return program


# The stack with time stamps


@dataclass(frozen=True)
class Stamps:
    """Where time stamps come from, how they compare, and what holds one."""

    new: Callable[[], Any]
    is_before: Callable[[Any, Any], Any]
    least: Any
    new_cell: "Callable[[], Atomic[Any] | Unshared[Any]]"


def symbolic_stamps() -> Stamps:
    return Stamps(lambda: an_input(lo=1), operator.lt, -1, lambda: Unshared(None))


def atomic_stamps() -> Stamps:
    return Stamps(Counter(1).increment, operator.lt, -1, lambda: Atomic(-1))


def interval_stamps() -> Stamps:
    counter = Counter(1)

    def new() -> tuple[int, int]:
        first, second = counter.get(), counter.get()
        if first != second:
            return first, second - 1
        if counter.replace(first, first + 1):
            return first, first
        return first, counter.get() - 1

    return Stamps(new, lambda one, two: one[1] < two[0], (-1, -1), lambda: Atomic(None))


class StampedNode:
    """An element of a pool; the one at its end was never there to be taken."""

    def __init__(self, stamps: Stamps, following: "StampedNode | None") -> None:
        self.following = following
        self.taken = Exclusive(following is None)
        self.stamp = stamps.new_cell()


class Pool:
    """The elements that one thread has pushed."""

    def __init__(self, stamps: Stamps) -> None:
        self.stamps = stamps
        self.head = Exclusive(StampedNode(stamps, None))

    def push(self) -> None:
        node = StampedNode(self.stamps, self.head.get())
        self.head.set(node)
        node.stamp.store(self.stamps.new())

    def youngest(self) -> StampedNode | None:
        """The first element that is not taken."""
        node: StampedNode | None = self.head.get()
        while node is not None and node.taken.get():
            node = node.following
        return node


def pop_youngest(pools: list[Pool], stamps: Stamps) -> None:
    """Take an element that is younger than this call, or else the youngest one there is."""
    start = stamps.new()
    best, youngest = stamps.least, None
    for pool in pools:
        node = pool.youngest()
        if node is None:
            continue
        stamp = node.stamp.load()
        if stamp is None:  # an interval that is not there yet
            return
        if stamps.is_before(start, stamp):
            node.taken.replace(False, True)
            return
        if stamps.is_before(best, stamp):
            best, youngest = stamp, node
    if youngest is not None:
        youngest.taken.replace(False, True)


def ts_stack(new_stamps: Callable[[], Stamps], pushers: int, poppers: int) -> Program:
    def program() -> None:
        stamps = new_stamps()
        pools = [Pool(stamps) for _ in range(pushers)]
        run_each(
            pushers,
            lambda index: pools[index].push(),
            poppers,
            lambda _: pop_youngest(pools, stamps),
        )

    return program


def ts_stack_symbolic(inserters: int, removers: int = 0) -> Program:
    """Time stamps are inputs."""
    return ts_stack(symbolic_stamps, inserters, removers)


def ts_stack_atomic(inserters: int, removers: int = 0) -> Program:
    """Time stamps come from a counter."""
    return ts_stack(atomic_stamps, inserters, removers)


def ts_stack_interval(inserters: int, removers: int = 0) -> Program:
    """Time stamps are intervals, of a counter that threads need not always count up."""
    return ts_stack(interval_stamps, inserters, removers)
