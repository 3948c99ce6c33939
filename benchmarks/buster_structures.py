"""Programs of "Reconciling Preemption Bounding with DPOR": the clients of locks, stacks and queues
in Tables 3 and 4. What the paper's own clients are is not known; these have its figures.

An operation without locks that meets another thread tries again, or is pruned: then its thread
gives up, and the execution is blocked.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from benchmarks.buster import Program
from benchmarks.condpor import run_all
from mazurka import Atomic, Lock, assume, spawn

MaybeNode: TypeAlias = int | None  # nodes are numbered


def locked_stores(first_rounds: int, second_rounds: int) -> Program:
    """Two threads in which every operation depends on all of the other one: what most clients here
    come down to."""

    def program() -> None:
        x = Atomic(0)
        mutex = Lock()

        def worker(rounds: int) -> None:
            for _ in range(rounds):
                with mutex:
                    x.store(1)

        run_all(lambda: worker(first_rounds), lambda: worker(second_rounds))

    return program


# Locks


class TestAndSetLock:
    """A lock that a thread takes by an exchange. A thread that does not get it gives up."""

    def __init__(self) -> None:
        self.taken = Atomic(False)

    def acquire(self) -> None:
        assume(not self.taken.exchange(True))

    def release(self) -> None:
        self.taken.store(False)


class TestAndTestAndSetLock(TestAndSetLock):
    """The same with a load before the exchange. A thread gives up if the load finds the lock taken,
    which stands for waiting; if only the exchange does, it tries again."""

    def acquire(self) -> None:
        while True:
            assume(not self.taken.load())
            if not self.taken.exchange(True):
                return


def ttas_lock(threads: int) -> Program:
    return lock_client(threads, 1, TestAndSetLock)


def ttas_lock_2(rounds: int) -> Program:
    return lock_client(2, rounds, TestAndSetLock)


def ttas_lock_3(rounds: int) -> Program:
    return lock_client(3, rounds, TestAndSetLock)


def ttas_lock_reading(threads: int, rounds: int) -> Program:
    """The lock as its name says; but with the load before the exchange there are more executions
    than in the paper."""
    return lock_client(threads, rounds, TestAndTestAndSetLock)


def lock_client(threads: int, rounds: int, new_lock: Callable[[], TestAndSetLock]) -> Program:
    """Threads store to a variable, and expect to find what they have stored."""

    def program() -> None:
        lock = new_lock()
        shared = Atomic(-1)

        def worker(me: int) -> None:
            for _ in range(rounds):
                lock.acquire()
                shared.store(me)
                assert shared.load() == me
                lock.release()

        handles = [spawn(worker, me) for me in range(threads)]
        for handle in handles:
            handle.join()

    return program


# Stacks and queues, and their clients


class Structure(Protocol):
    """Something that nodes, which are numbered from 1, can be inserted into and removed from."""

    def insert(self, node: int) -> None: ...

    def remove(self) -> MaybeNode: ...


NewStructure: TypeAlias = Callable[[int], Structure]  # with room for so many nodes

INSERT, REMOVE = "insert", "remove"


def client(new_structure: NewStructure, *threads: Sequence[str]) -> Program:
    """Each thread performs a sequence of operations; every insertion is that of another node."""
    nodes = sum(operation == INSERT for operations in threads for operation in operations)

    def program() -> None:
        structure = new_structure(nodes)

        def perform(operations: Sequence[str], node: int) -> None:
            for operation in operations:
                if operation == INSERT:
                    structure.insert(node)
                    node += 1
                else:
                    structure.remove()

        handles = []
        first_node = 1
        for operations in threads:
            handles.append(spawn(perform, operations, first_node))
            first_node += operations.count(INSERT)
        for handle in handles:
            handle.join()

    return program


def insert_then_remove(new_structure: NewStructure, count: int) -> Program:
    """One thread inserts, the other one does and then removes as many."""
    inserts = [INSERT] * count
    return client(new_structure, inserts, inserts + [REMOVE] * count)


def insert_both(new_structure: NewStructure, count: int) -> Program:
    """Both threads insert."""
    return client(new_structure, [INSERT] * count, [INSERT] * count)


def insert_and_remove(new_structure: NewStructure, count: int) -> Program:
    """One thread inserts, the other one inserts and removes in turn."""
    return client(new_structure, [INSERT] * count, [INSERT, REMOVE] * count)


def insert_against_remove(new_structure: NewStructure, count: int) -> Program:
    """One thread inserts, the other one removes."""
    return client(new_structure, [INSERT] * count, [REMOVE] * count)


# Stacks


class TreiberStack:
    """Treiber's stack. Nothing tells its top from an earlier one that was the same node."""

    def __init__(self, nodes: int, pruned: bool) -> None:
        self.top: Atomic[MaybeNode] = Atomic(None)
        self.links: list[Atomic[MaybeNode]] = [Atomic(None) for _ in range(nodes + 1)]
        self.pruned = pruned

    def insert(self, node: int) -> None:
        while not self.try_push(node):
            assume(not self.pruned)

    def try_push(self, node: int) -> bool:
        top = self.top.load()
        self.links[node].store(top)
        return self.top.compare_exchange(top, node)

    def remove(self) -> MaybeNode:
        """The node that was on top; None if there was none."""
        while True:
            top = self.top.load()
            if top is None or self.top.compare_exchange(top, self.links[top].load()):
                return top
            assume(not self.pruned)


def treiber(pushers: int, poppers: int) -> Program:
    return treiber_client(pushers, poppers, True)


def treiber_retrying(pushers: int, poppers: int) -> Program:
    return treiber_client(pushers, poppers, False)


def treiber_client(pushers: int, poppers: int, pruned: bool) -> Program:
    """Threads push one node each, or pop one; a node comes with a value."""

    def program() -> None:
        stack = TreiberStack(pushers, pruned)
        values = [Atomic(0) for _ in range(pushers + 1)]

        def push(node: int) -> None:
            values[node].store(42 + node)
            stack.insert(node)

        def pop() -> None:
            node = stack.remove()
            if node is not None:
                values[node].load()

        handles = [spawn(push, node) for node in range(1, pushers + 1)]
        handles += [spawn(pop) for _ in range(poppers)]
        for handle in handles:
            handle.join()

    return program


# Queues


class LinkedQueue:
    """What the two queues have in common: nodes from the head, which is empty, to the tail, and the
    insertion of Michael and Scott."""

    def __init__(self, nodes: int, pruned: bool) -> None:
        self.head = Atomic(0)
        self.tail = Atomic(0)
        self.links: list[Atomic[MaybeNode]] = [Atomic(None) for _ in range(nodes + 1)]
        self.pruned = pruned

    def insert(self, node: int) -> None:
        self.links[node].store(None)
        while not self.try_enqueue(node):
            assume(not self.pruned)

    def try_enqueue(self, node: int) -> bool:
        last = self.tail.load()
        following = self.links[last].load()
        if self.tail.load() != last:
            return False
        if following is not None:
            self.push_tail(last, following)
            return False
        if not self.links[last].compare_exchange(None, node):
            return False
        self.tail.compare_exchange(last, node)
        return True

    def push_tail(self, last: int, following: int) -> None:
        """Help a thread whose node is linked, but not yet the tail."""
        assume(not self.pruned)
        self.tail.compare_exchange(last, following)

    def remove(self) -> MaybeNode:
        """The first node; None if there was none."""
        while True:
            found, node = self.try_dequeue()
            if found:
                return node
            assume(not self.pruned)

    def try_dequeue(self) -> tuple[bool, MaybeNode]:
        """Whether no other thread came between, and then the node."""
        raise NotImplementedError


class MichaelScottQueue(LinkedQueue):
    """The queue of Michael and Scott: looks at the tail before it takes a node."""

    def try_dequeue(self) -> tuple[bool, MaybeNode]:
        first = self.head.load()
        last = self.tail.load()
        following = self.links[first].load()
        if self.head.load() != first:
            return False, None
        if first != last:
            assert following is not None
            return self.head.compare_exchange(first, following), following
        if following is None:
            return True, None
        self.push_tail(last, following)
        return False, None


class DglmQueue(LinkedQueue):
    """The variant of Doherty, Groves, Luchangco and Moir: looks at the tail when it has taken a
    node, to push it on if it was left behind; or not at all."""

    def __init__(self, nodes: int, pruned: bool, checks_tail: bool) -> None:
        super().__init__(nodes, pruned)
        self.checks_tail = checks_tail

    def try_dequeue(self) -> tuple[bool, MaybeNode]:
        first = self.head.load()
        following = self.links[first].load()
        if self.head.load() != first:
            return False, None
        if following is None:
            return True, None
        if not self.head.compare_exchange(first, following):
            return False, None
        if self.checks_tail and self.tail.load() == first:
            self.tail.compare_exchange(first, following)
        return True, following


# Clients of Table 3, by what they add to the name of a structure; the paper has the first two.
CLIENTS: dict[str, Callable[[NewStructure, int], Program]] = {
    "": insert_then_remove,
    "2": insert_both,
    "-alternating": insert_and_remove,
    "-opposed": insert_against_remove,
}
