"""The sorted lists of Tables 5 and 6 in "Optimal Concolic Dynamic Partial Order Reduction".

Threads add symbolic keys to a list, and remove them. A sentinel is at each end of the list; the
program does not ask how a key compares with theirs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.condpor import Program, Unshared, run_each
from benchmarks.inputs import Inputs, an_input
from mazurka import Atomic, Lock

if TYPE_CHECKING:
    from mazurka.python.symbolic.values import SymbolicInt

Link: TypeAlias = "Atomic[Node] | Unshared[Node]"
Change: TypeAlias = "Callable[[SortedList, SymbolicInt, Node, Node], None]"
Update: TypeAlias = "Callable[[SortedList, SymbolicInt, Change], None]"


class Node:
    """A key, and the link to the next node; the sentinels have no key, and the last no link."""

    def __init__(self, key: "SymbolicInt | None", link: "Link | None") -> None:
        self.key: Any = key
        self.link: Any = link
        self.lock = Lock()
        self.marked = Atomic(False)


class SortedList:
    def __init__(self, new_link: "Callable[[Node], Link]") -> None:
        self.new_link = new_link
        self.last = Node(None, None)
        self.first = Node(None, new_link(self.last))
        self.lock = Lock()

    def is_below(self, node: Node, key: "SymbolicInt") -> bool:
        """Whether a node, not the first, has a smaller key."""
        return node is not self.last and bool(node.key < key)

    def has(self, node: Node, key: "SymbolicInt") -> bool:
        return node is not self.last and bool(key == node.key)

    def find(self, key: "SymbolicInt") -> tuple[Node, Node]:
        """The nodes that a key belongs between; it may be that of the second one."""
        before = self.first
        node = before.link.load()
        while self.is_below(node, key):
            before, node = node, node.link.load()
        return before, node


# What is done between two nodes


def add(keys: SortedList, key: "SymbolicInt", before: Node, node: Node) -> None:
    if not keys.has(node, key):
        before.link.store(Node(key, keys.new_link(node)))


def remove(keys: SortedList, key: "SymbolicInt", before: Node, node: Node) -> None:
    if keys.has(node, key):
        before.link.store(node.link.load())


def mark_and_remove(keys: SortedList, key: "SymbolicInt", before: Node, node: Node) -> None:
    if keys.has(node, key):
        node.marked.store(True)
        before.link.store(node.link.load())


# How the two nodes are found and locked


def update_locked(keys: SortedList, key: "SymbolicInt", change: "Change") -> None:
    """One lock around everything."""
    with keys.lock:
        change(keys, key, *keys.find(key))


def update_hand_over_hand(keys: SortedList, key: "SymbolicInt", change: "Change") -> None:
    """The lock of a node is held until the next one is locked."""
    before = keys.first
    before.lock.acquire()
    node = before.link.load()
    node.lock.acquire()
    while keys.is_below(node, key):
        before.lock.release()
        before, node = node, node.link.load()
        node.lock.acquire()
    change(keys, key, before, node)
    node.lock.release()
    before.lock.release()


def update_validated(
    keys: SortedList,
    key: "SymbolicInt",
    change: "Change",
    is_valid: Callable[[SortedList, Node, Node], bool],
) -> None:
    """The nodes are found without locks, and once locked looked at again, until that is well."""
    valid = False
    while not valid:
        before, node = keys.find(key)
        with before.lock, node.lock:
            valid = is_valid(keys, before, node)
            if valid:
                change(keys, key, before, node)


def is_reachable(keys: SortedList, before: Node, node: Node) -> bool:
    """Whether a walk from the first node comes to these two."""
    reached = keys.first
    while reached is keys.first or (reached is not keys.last and reached.key <= before.key):
        if reached is before:
            return bool(before.link.load() is node)
        reached = reached.link.load()
    return False


def is_unmarked(_: SortedList, before: Node, node: Node) -> bool:
    return not before.marked.load() and not node.marked.load() and before.link.load() is node


def update_optimistically(keys: SortedList, key: "SymbolicInt", change: "Change") -> None:
    update_validated(keys, key, change, is_reachable)


def update_lazily(keys: SortedList, key: "SymbolicInt", change: "Change") -> None:
    update_validated(keys, key, change, is_unmarked)


# The programs


def coarse_list(inserters: int, removers: int = 0) -> Program:
    return list_program(inserters, removers, Unshared, update_locked, remove)


def fine_list(inserters: int, removers: int = 0) -> Program:
    return list_program(inserters, removers, Atomic, update_hand_over_hand, remove)


def opt_list(inserters: int, removers: int = 0) -> Program:
    return list_program(inserters, removers, Atomic, update_optimistically, remove)


def lazy_list(inserters: int, removers: int = 0) -> Program:
    return list_program(inserters, removers, Atomic, update_lazily, mark_and_remove)


def list_program(
    inserters: int,
    removers: int,
    new_link: "Callable[[Node], Link]",
    update: "Update",
    removal: "Change",
) -> Program:
    """Threads add one key each; others remove the first of these keys."""

    def program() -> None:
        keys = SortedList(new_link)
        symbols = distinct_keys(max(inserters, removers))
        run_each(
            inserters,
            lambda index: update(keys, symbols[index], add),
            removers,
            lambda index: update(keys, symbols[index], removal),
        )

    return program


def distinct_keys(count: int) -> list["SymbolicInt"]:
    """Keys that come in any order, but differ: every one leaves another remainder. (Those that the
    paper enumerates may be equal.)"""
    if Inputs.are_enumerated:
        return [an_input() for _ in range(count)]
    return [an_input() * count + remainder for remainder in range(count)]
