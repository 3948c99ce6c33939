"""The paper's POP, word for word and slow, to compare the fast explorer with.

"Parsimonious Optimal Dynamic Partial Order Reduction": Algorithm 1, and Algorithm 2 with its sleep
set expressions, for programs of loads, stores, exchanges and additions (see oracle.py for how a
program is written). All threads exist from the start. Numbers of lines are the paper's; where its
text had to be corrected, a comment that begins with "Corrected" says so.

An oracle that knows nothing of races is here, too: `all_traces`.

In the comments, a -> b means that a happens before b, P |> x is an expression, and sigma, phi and
psi stand for the paper's letters.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from tests.oracles.interleavings import Program, Thread

READ: Final = "R"
WRITE: Final = "W"

# Section 3: programs, executions, and equivalence


class Event(NamedTuple):
    """<t, i, T, x>: step i of thread t, of type T, accesses x."""

    thread: int
    step: int
    type: str
    variable: int


Events = tuple[Event, ...]
Trace = frozenset[tuple[Event, frozenset[Event]]]


class Local(NamedTuple):
    """The state of a thread: its register, and what it has yet to do, which begins with no `if`."""

    register: Any
    rest: Thread
    steps: int


class State(NamedTuple):
    memory: tuple[tuple[int, int], ...]
    threads: tuple[Local, ...]


def settled(register: Any, rest: Thread, steps: int) -> Local:
    """The state of a thread that has gone on to its next access."""
    while rest and rest[0][0] == "if":
        rest = (*rest[0][1], *rest[1:]) if register else rest[1:]
    return Local(register, rest, steps)


def next_event(state: State, thread: int) -> Event:
    _, rest, steps = state.threads[thread]
    name, variable, *_ = rest[0]
    return Event(thread, steps + 1, READ if name == "load" else WRITE, variable)


def performed(state: State, thread: int) -> State:
    """The state after the next step of a thread."""
    _, rest, steps = state.threads[thread]
    (name, variable, *operands), *following = rest
    memory = dict(state.memory)
    old = memory.get(variable, 0)
    if name == "fetch_add":
        memory[variable] = old + operands[0]
    elif name != "load":
        memory[variable] = operands[0]
    threads = list(state.threads)
    threads[thread] = settled(None if name == "store" else old, tuple(following), steps + 1)
    return State(tuple(sorted(memory.items())), tuple(threads))


@lru_cache(maxsize=100_000)
def state_after(program: Program, events: Events) -> State:
    if not events:
        return State((), tuple(settled(0, thread, 0) for thread in program))
    return performed(state_after(program, events[:-1]), events[-1].thread)


def enabled(program: Program, events: Events) -> list[Event]:
    state = state_after(program, events)
    return [next_event(state, thread) for thread, local in enumerate(state.threads) if local.rest]


def conflicting(e: Event, other: Event) -> bool:
    """e <-> e': different threads access one variable, and at least one of them writes."""
    return (
        e.thread != other.thread and e.variable == other.variable and WRITE in (e.type, other.type)
    )


def dependent(e: Event, other: Event) -> bool:
    return e.thread == other.thread or conflicting(e, other)


@lru_cache(maxsize=100_000)
def before_last(events: Events) -> frozenset[Event]:
    """What happens before the last of some events (Definition 1)."""
    before: set[Event] = set()
    for position, event in enumerate(events[:-1]):
        if dependent(event, events[-1]):
            before |= {event} | before_last(events[: position + 1])
    return frozenset(before)


def trace_of(events: Events) -> Trace:
    """The events with the happens-before order: equal for equivalent executions (Definition 2)."""
    ends = range(1, len(events) + 1)
    return frozenset((events[end - 1], before_last(events[:end])) for end in ends)


def all_traces(program: Program, most: int) -> set[Trace] | None:
    """The traces of all maximal executions; None if there are more than `most` of some length.

    All traces are made longer by every possible step, until none is left. Equivalent executions
    lead to the same state, so one of them stands for all.
    """
    maximal: set[Trace] = set()
    level: dict[Trace, Events] = {frozenset(): ()}
    while level:
        if len(level) > most:
            return None
        longer = {}
        for trace, events in level.items():
            following = enabled(program, events)
            if not following:
                maximal.add(trace)
            for event in following:
                longer[trace_of((*events, event))] = (*events, event)
        level = longer
    return maximal


# Section 4: executions with schedules, and parsimonious races


class Execution(NamedTuple):
    """E: its events, and where the schedules in it begin and end (after their heads)."""

    events: Events
    schedules: tuple[tuple[int, int], ...]

    def up_to(self, length: int) -> "Execution":
        whole = tuple(schedule for schedule in self.schedules if schedule[1] <= length)
        return Execution(self.events[:length], whole)

    def then(self, event: Event) -> "Execution":
        return Execution((*self.events, event), self.schedules)

    def then_schedule(self, schedule: Events) -> "Execution":
        start = len(self.events)
        events = self.events + schedule
        return Execution(events, (*self.schedules, (start, len(events))))


def is_racing(events: Events, position: int) -> bool:
    """Whether the event at a position is in a race with the last (Definition 5)."""
    between = range(position + 1, len(events) - 1)
    before = before_last(events)
    return conflicting(events[position], events[-1]) and not any(
        events[other] in before and events[position] in before_last(events[: other + 1])
        for other in between
    )


def is_fresh(execution: Execution, position: int) -> bool:
    """Whether the last event happens after all heads between a position and it (Definition 6).

    Explore is called with no execution that ends in a schedule, before its head.
    """
    events, schedules = execution
    heads = [events[end - 1] for start, end in schedules if position < start and end < len(events)]
    return all(head in before_last(events) for head in heads)


def is_parsimonious_race(execution: Execution, position: int) -> bool:
    """Whether e is in a parsimonious race with the last event: e <~ e' (Definition 7)."""
    return (
        is_racing(execution.events, position)
        and not any(start <= position < end for start, end in execution.schedules)
        and is_fresh(execution, position)
    )


def schedule_of(execution: Execution, position: int) -> Events:
    """e'|E2: what happens before the last event e' and is in E2, then e' (Definition 4)."""
    events = execution.events
    before = before_last(events)
    return (*(event for event in events[position + 1 :] if event in before), events[-1])


# Section 4.3: sleep set expressions

BLOCK: Final = "block"
CONTINUE: Final = "continue"
INDEP: Final = "indep"

# Events with their conflict sets C.
Augmented = tuple[tuple[Event, frozenset[Event]], ...]


class Piece(NamedTuple):
    """{e_j} w'_j: a head (None before w'_0), and events."""

    head: Event | None
    events: Augmented


Pieces = tuple[Piece, ...]


class Expression(NamedTuple):
    """P |> x^R, or P[psi']^D |> x^R if there is an inner one."""

    pieces: Pieces  # P
    variable: int  # x
    reads: frozenset[Event]  # R
    inner: "Expression | None" = None  # psi'
    inner_heads: frozenset[Event] = frozenset()  # D


Characterization = frozenset[Expression]
SchedChar = dict[tuple[Execution, Events], Characterization]


def mk_sched_char(
    sched_char: SchedChar, sigma: Events, execution: Execution, position: int
) -> Characterization:
    """MkSchedChar(sigma, E1, e, E2), where E1.e.E2 is an execution and e is at a position."""
    events, schedules = execution
    x = sigma[-1].variable  # line 2
    # Corrected: in line 3, E2 ends with w_m.e'. But e' may also be the head of sigma_m: when a read
    # that has come before one write is in a race with another. This is case (C) 2 of Proposition 1.
    parts = [(start, end) for start, end in schedules if start > position]
    pieces = pieces_of(sigma, execution, position, parts)  # line 4
    # Corrected: the paper begins with an empty R. But sigma' is no read-x-schedule if it contains
    # the head of sigma, a read of x, so what happens after that must not be blocked.
    reads = frozenset({sigma[-1]})
    expressions = {Expression(pieces, x, reads)}  # line 6
    for i, (start, end) in enumerate(parts, 1):
        phi = sched_char.get((execution.up_to(start), events[start:end]), frozenset())
        # Corrected: the paper takes phi_i as it was made for sigma_i. But sigma goes on after
        # sigma_i, and these events are not seen again: what they are in phi_i must be noted now.
        taken = sum(event in sigma for event in events[position + 1 : end])
        updated = upd_seq(events[:position] + sigma[:taken], sigma[taken:], phi)
        assert updated is not None  # otherwise E, which contains all this, had been blocked
        # This is P_(i-1), as in line 6: sigma'_i stands in the place of sigma_i. Corrected: in case
        # (C) of Proposition 1, w'_i and e_i are not meant, though it says "up to i".
        expressions |= {Expression(pieces[:i], x, reads, inner) for inner in updated}
    return frozenset(expressions)


def pieces_of(
    sigma: Events, execution: Execution, position: int, parts: list[tuple[int, int]]
) -> Pieces:
    """P_m = w'_0 {e_1} w'_1 ... {e_m} w'_m: what sigma leaves of E2 (line 4)."""
    events = execution.events
    starts = [position + 1, *(end for _, end in parts)]
    ends = [*(start for start, _ in parts), len(events)]
    heads = [None, *(events[end - 1] for _, end in parts)]
    return tuple(
        Piece(head, tuple((e, frozenset()) for e in events[start:end] if e not in sigma))
        for head, start, end in zip(heads, starts, ends, strict=True)
    )


def upd_seq(done: Events, w: Events, ss_char: Characterization) -> Characterization | None:
    """UpdSeq(w, SSChar), where w comes after the events that are done; None stands for block."""
    if not w:
        return ss_char  # line 8
    e = w[0]
    before = before_last((*done, e))
    updated = [upd_se(e, before, psi) for psi in ss_char]
    if any(result == BLOCK for _, result in updated):
        return None  # line 9
    # Lines 10 and 11. Corrected: the paper also discards P[psi'] |> x if psi' is for the variable
    # that is written. But what is in D has been read before: reads of x after that must still be
    # blocked. Nothing is added to D for a read that comes after the write: sigma_i has read the
    # variable before it, and is in the R of psi'.
    kept = (psi for psi, _ in updated if e.type == READ or e.variable != psi.variable)
    return upd_seq((*done, e), w[1:], frozenset(kept))


def upd_se(e: Event, before: frozenset[Event], psi: Expression) -> tuple[Expression, str]:
    """UpdSE(e, psi), where `before` is what happens before e."""
    pieces, result = upd_p(e, before, psi)
    _, x, reads, inner, inner_heads = psi
    # Corrected: the paper adds to R only in lines 19, 20, 25 and 39. But a read of x that is
    # independent of P must not be in a read-x-schedule with a later one, either.
    if e.type == READ and e.variable == x:
        reads |= {e}
    if inner is None or result != INDEP:
        return Expression(pieces, x, reads, inner, inner_heads), result  # lines 13 and 28
    heads = heads_of(pieces)
    if e in reads and inner.variable != x and inner_heads & before:  # line 17
        result = block_or_continue(e, before, psi, heads)  # line 18
        return Expression(pieces, x, reads, inner, inner_heads), result  # lines 19 and 20
    updated, result = upd_se(e, before, inner)
    if result == BLOCK:  # line 21
        inner_heads |= {e}
        result = CONTINUE  # line 26
        if inner.variable == x:  # line 22
            result = block_or_continue(e, before, psi, heads)  # lines 23 to 25
    return Expression(pieces, x, reads, updated, inner_heads), result  # line 27


def upd_p(e: Event, before: frozenset[Event], psi: Expression) -> tuple[Pieces, str]:
    """UpdP(e, P, x, R)."""
    pieces = psi.pieces  # line 30
    for j, (head, w) in enumerate(pieces):  # line 31
        for place, (event, conflicts) in enumerate(w):  # lines 32 and 33
            # Of the same thread, e differs from an event in P only after a read in R: no matter.
            changed: Augmented
            if conflicting(e, event) or any(dependent(e, other) for other in conflicts):
                changed = ((event, conflicts | {e}),)  # line 34
            elif e == event:
                changed = ()  # line 35
            else:
                continue
            piece = Piece(head, w[:place] + changed + w[place + 1 :])
            result = block_or_continue(e, before, psi, heads_of(pieces[: j + 1]))  # lines 37 to 40
            return (*pieces[:j], piece, *pieces[j + 1 :]), result
    return pieces, INDEP  # line 36


def heads_of(pieces: Pieces) -> list[Event]:
    return [head for head, _ in pieces if head is not None]


def block_or_continue(
    e: Event, before: frozenset[Event], psi: Expression, heads: list[Event]
) -> str:
    """Whether e is the head of a read-x-schedule, and fresh: it happens after some heads.

    Corrected: lines 18, 23 and 38 ask whether there is a read in R that happens before e, which is
    when e is *not* to be blocked, as the text says.
    """
    reads_x = e.type == READ and e.variable == psi.variable
    fresh = all(head in before for head in heads)
    return BLOCK if reads_x and fresh and not psi.reads & before else CONTINUE


# Section 4.2: Algorithm 1


# Sorts events.
Arrange = Callable[[list[Event]], None]


class BlockedError(Exception):
    """An execution that is not maximal has only events that are blocked."""


class Search(NamedTuple):
    program: Program
    arrange: Arrange
    ss_char: dict[Execution, Characterization]
    sched_char: SchedChar
    executions: list[Events]


def in_order_of_threads(events: list[Event]) -> None:
    """Leave the events as they are."""


def explore(program: Program, arrange: Arrange = in_order_of_threads) -> list[Events]:
    """The maximal executions that POP explores.

    The paper leaves open which of the enabled events is tried first: `arrange` sorts them.
    """
    empty = Execution((), ())
    search = Search(program, arrange, {empty: frozenset()}, {}, [])  # line 1
    explore_from(search, empty)  # line 2
    return search.executions


def explore_from(search: Search, execution: Execution) -> None:
    """Explore(E)."""
    for position in range(len(execution.events) - 1):  # line 4
        if is_parsimonious_race(execution, position):
            reverse(search, execution, position)
    following = enabled(search.program, execution.events)
    if not following:
        search.executions.append(execution.events)
        return
    search.arrange(following)
    for e in following:  # line 13
        updated = upd_seq(execution.events, (e,), search.ss_char[execution])
        if updated is not None:
            search.ss_char[execution.then(e)] = updated  # line 14
            explore_from(search, execution.then(e))  # line 15
            return
    raise BlockedError(execution.events)


def reverse(search: Search, execution: Execution, position: int) -> None:
    """Lines 5 to 12, for the race of the event at a position with the last."""
    prefix = execution.up_to(position)  # line 5: E1
    sigma = schedule_of(execution, position)  # line 6
    updated = upd_seq(prefix.events, sigma, search.ss_char[prefix])
    if updated is None:  # line 7
        return
    if sigma[-1].type == READ:  # line 9
        added = mk_sched_char(search.sched_char, sigma, execution, position)
        search.sched_char[prefix, sigma] = added  # line 10
        updated |= added  # line 11
    search.ss_char[prefix.then_schedule(sigma)] = updated  # lines 8 and 11
    explore_from(search, prefix.then_schedule(sigma))  # line 12
