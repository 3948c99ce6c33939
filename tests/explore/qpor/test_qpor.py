"""QPOR: its event structure, its counts, and how few redundant executions it has."""

from itertools import combinations
from random import Random

import pytest

from benchmarks.measure import QPOR, measure
from benchmarks.paper import PaperRow, rows
from benchmarks.registry import parse
from mazurka import Atomic, MazurkaError, choose, explore, spawn, symbolic_int
from mazurka.engine.event import dependent
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import ALL_OF_THEM, DEFAULT_K, Search
from mazurka.explore.qpor.exploration import Qpor
from mazurka.explore.qpor.unfolding import (
    Canonical,
    Node,
    Unfolding,
    ancestor,
    fork,
    in_conflict,
    is_on_path,
    rival,
)
from mazurka.python.program import PythonProgram
from tests.explore.test_oracle import COUNTER_EXAMPLES
from tests.oracles.checks import check_by_hand, check_of_objects
from tests.oracles.interleavings import Program, as_function

# The event structure


def path_to(node: Node | None) -> list[Node]:
    path = []
    while node is not None:
        path.append(node)
        node = node.parent
    return path[::-1]


def test_ancestors_in_a_random_tree() -> None:
    chance = Random(1)
    nodes = [Node(0, None)]
    for number in range(1, 400):
        nodes.append(Node(number, chance.choice(nodes[-8:])))
    for node in nodes:
        path = path_to(node)
        assert [ancestor(node, depth + 1) for depth in range(len(path))] == path
        for other in chance.sample(nodes, 20):
            assert is_on_path(other, node) == (other in path)


def test_forks_in_a_random_tree() -> None:
    chance = Random(2)
    nodes = [Node(0, None), Node(1, None)]
    for number in range(2, 400):
        nodes.append(Node(number, chance.choice(nodes[-20:])))
    forks = 0
    for node in nodes:
        for other in chance.sample(nodes, 20):
            if not is_on_path(node, other) and not is_on_path(other, node):
                path = path_to(other)
                assert fork(node, other) is next(one for one in path_to(node) if one not in path)
                forks += 1
    assert forks > 1000


def test_skip_pointers_are_as_many_as_the_depth_has_trailing_zeros() -> None:
    node = Node(1, None)
    for number in range(2, 2000):
        node = Node(number, node)
        zeros = (node.depth & -node.depth).bit_length() - 1
        distances = [node.depth - skip.depth for skip in node.skips]
        assert distances == [2**n for n in range(1, zeros + 1) if 2**n < node.depth]


def hops(node: Node, depth: int) -> int:
    """How many nodes are passed on the way to an ancestor, by the rule of section 5.2."""
    count = 0
    while node.depth > depth:
        jumps = [skip for skip in node.skips if skip.depth >= depth]
        assert node.parent is not None
        node = jumps[-1] if jumps else node.parent
        count += 1
    return count


def test_the_way_to_an_ancestor_is_logarithmic() -> None:
    node = Node(1, None)
    for number in range(2, 4000):
        node = Node(number, node)
    for distance in (1, 10, 100, 1000, 3998):
        assert hops(node, node.depth - distance) <= 2 * distance.bit_length()


def local(event: Canonical) -> set[int]:
    """[e] by its definition: an event, its causes, and theirs."""
    found: dict[int, Canonical] = {}
    unseen = [event]
    while unseen:
        one = unseen.pop()
        if one.number not in found:
            found[one.number] = one
            unseen.extend(one.causes if one.previous is None else [one.previous, *one.causes])
    return set(found)


def check_structure(unfolding: Unfolding) -> int:
    """Compare causality and conflict with their definitions; gives how many pairs there were."""
    events = {event.number: event for event in unfolding.events.values()}
    locals_ = {number: local(event) for number, event in events.items()}
    assert all(number in events for past in locals_.values() for number in past)
    for one, other in combinations(events.values(), 2):
        past, other_past = locals_[one.number], locals_[other.number]
        assert one.local.has(other) == (other.number in past)
        assert other.local.has(one) == (one.number in other_past)
        conflict = any(
            dependent(events[x].label, events[y].label)
            for x in past - other_past
            for y in other_past - past
        )
        assert in_conflict(one.local, other.local) == conflict
        assert in_conflict(other.local, one.local) == conflict
        found = rival(one.local, other.local)
        assert (found is not None) == conflict
        if found is not None:
            assert found.number in other_past - past
            label = events[found.number].label
            assert any(dependent(label, events[x].label) for x in past - other_past)
    return len(events) * (len(events) - 1) // 2


STRUCTURES: dict[str, Program] = {
    **COUNTER_EXAMPLES,
    "reads, writes and adds": (
        (("load", 0), ("add", 0, 1), ("load", 1)),
        (("add", 0, 2), ("store", 1, 1), ("load", 0)),
        (("compare_exchange", 0, 1, 2), ("load", 1)),
    ),
    "parts of a container": (
        (("dict set", 1, 1), ("dict read", 0)),
        (("dict set", 2, 1), ("dict length",)),
        (("dict clear",), ("dict in", 1)),
    ),
    "choices": (
        (("choose", 3), ("if", (("store", 0, 1),))),
        (("choose", 2), ("if", (("load", 0),)), ("load", 0)),
    ),
    "locks": (
        (("with", 0, (("with", 1, ()),)), ("locked",)),
        (("with", 0, ()), ("try lock", 1, ())),
        (("with", 1, ()),),
    ),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_causality_and_conflict_are_what_their_definitions_say(name: str) -> None:
    pairs = 0

    def observe(program: EngineProgram) -> None:
        nonlocal pairs
        if search.counted < 30:
            pairs += check_structure(qpor.unfolding)

    with check_of_objects() as check:
        front_end = PythonProgram(check, as_function(STRUCTURES[name]))
        search = Search(front_end, Result(), False, None, None, None, observe)
        qpor = Qpor(search)
        assert qpor.explore()
    assert pairs or name == "who waits"
    assert not qpor.unfolding.events  # all was let go of, with nothing that refers to itself
    for accesses in qpor.unfolding.first_accesses.values():
        assert not accesses.known
        assert not accesses.standing
    for prefix in qpor.prefixes:
        assert not prefix.explored
        assert not prefix.known
        assert not prefix.aside
        assert not prefix.barred


def most_events(name: str) -> tuple[int, int]:
    """The most events that are known at a time, and how many there are in all."""
    with check_by_hand() as check:
        front_end = PythonProgram(check, parse(name).program())
        search = Search(front_end, Result(), False, None, None, None)
        qpor = Qpor(search)
        assert qpor.explore()
    return qpor.unfolding.most, qpor.unfolding.created


def test_events_are_forgotten_when_no_alternative_can_want_them() -> None:
    most, created = most_events("Pi(5)")
    assert created > 1500
    assert most < 100
    most, created = most_events("linuxrwlocks(3)")
    assert created > 1500
    assert most < 100


# The paper's programs

TABLE = [row for row in [*rows("qpor-1"), *rows("qpor-small")] if row.expected_executions]
SMALL = [row for row in TABLE if (row.expected_executions or 0) <= 100]
LARGER = [row for row in TABLE if 100 < (row.expected_executions or 0) <= 500]


def check_row(name: str, complete: int | None, blocked: int | None) -> None:
    """The known counts with every k; and redundant executions get fewer as k grows."""
    redundant = []
    for algorithm in QPOR:
        measured = measure(parse(name), algorithm, None, None, True)
        assert (measured.complete, measured.blocked) == (complete, blocked)
        redundant.append(measured.redundant)
    assert redundant == sorted(redundant, reverse=True)
    assert redundant[-1] == 0


@pytest.mark.parametrize("row", SMALL, ids=str)
def test_small_programs_have_the_known_counts(row: PaperRow) -> None:
    check_row(str(row), row.expected_complete, row.expected_blocked)


@pytest.mark.slow
@pytest.mark.parametrize("row", LARGER, ids=str)
def test_larger_programs_have_the_known_counts(row: PaperRow) -> None:
    check_row(str(row), row.expected_complete, row.expected_blocked)


@pytest.mark.parametrize("writers", range(1, 8))
def test_two_executions_a_writer_where_source_sets_take_exponentially_many(writers: int) -> None:
    instance = parse(f"qpor-figure-1({writers})")
    quasi_optimal = measure(instance, "qpor-2", None, None, True)
    assert (quasi_optimal.complete, quasi_optimal.redundant) == (2 * writers, 0)
    source = measure(instance, "source", None, None, True)
    assert source.complete == 2 * writers
    assert source.redundant >= 2**writers - 2


def test_a_deadlock_is_found() -> None:
    result = explore(parse("qpor-figure-2").program(), algorithm="qpor", k=1)
    assert result.verdict == "failed"
    assert result.failures[0].kind == "deadlock"


# Options


def three_writers() -> None:
    x = Atomic(0)
    for value in range(3):
        spawn(x.store, value)


def test_the_result_says_how_many_events_there_were() -> None:
    result = explore(three_writers, algorithm="qpor")
    assert result.verdict == "verified"
    assert result.executions == 6
    # Three spawns, and a store after each sequence of others: 3 * (1 + 2 + 2).
    assert result.unfolding is not None
    assert result.unfolding >= 18
    assert result.known is not None
    assert 6 <= result.known <= result.unfolding
    assert explore(three_writers).unfolding is None


@pytest.mark.parametrize("k", [1, 2, "optimal"])
@pytest.mark.parametrize("many", ["load", "add"])
def test_many_concurrent_accesses_of_one_location(many: str, k: int | str) -> None:
    """One other access comes after any selection of them."""

    def program() -> None:
        x = Atomic(0)
        for _ in range(8):
            spawn(x.load) if many == "load" else spawn(x.add, 1)
        spawn(x.store, 1) if many == "load" else spawn(x.load)

    result = explore(program, algorithm="qpor", k=k)
    assert (result.complete, result.redundant) == (2**8, 0)


def test_data_choices_are_explored_once_each() -> None:
    for k in (1, "optimal"):
        result = explore(
            lambda: (choose([1, 2, 3]), choose("ab")), algorithm="qpor", k=k, stop_on_failure=False
        )
        assert (result.complete, result.redundant) == (6, 0)
        assert len(result.outcomes) == 6


def test_conditions_are_left_to_trust() -> None:
    result = explore(lambda: bool(symbolic_int("n", 0, 9) > 4), algorithm="qpor")
    assert result.algorithm == "trust"
    assert result.outcomes == {True: 1, False: 1}


def test_long_executions_need_no_recursion() -> None:
    result = explore(parse("length-param(2,1024)").program(), algorithm="qpor")
    assert (result.complete, result.redundant) == (4, 0)


@pytest.mark.parametrize("k", [0, -1, 1.5, "best", True, None, "2"])
def test_wrong_k(k: object) -> None:
    with pytest.raises(MazurkaError, match="k must be a whole number, at least 1, or 'optimal'"):
        explore(three_writers, algorithm="qpor", k=k)  # type: ignore[arg-type]


def test_k_reaches_the_search() -> None:
    assert DEFAULT_K != ALL_OF_THEM
    program = parse("qpor-figure-1(5)").program()
    assert explore(program, algorithm="qpor", k=1).redundant > 0
    assert explore(program, algorithm="qpor").redundant == 0
