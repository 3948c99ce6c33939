"""Linearisations of a part of an execution graph, with as few preemptions as wanted.

docs/proofs/preemptions.md says which orders need not be tried.
"""

from typing import Final

from mazurka.engine.event import Event, conflicts
from mazurka.engine.operation import (
    ADD,
    AWAIT_PART,
    JOIN,
    READ,
    WRITE,
    is_steady,
    may_block,
)
from mazurka.engine.order import HappensBefore, include
from mazurka.engine.races import changes_for, without_change
from mazurka.engine.races import is_enabled as is_enabled_by
from mazurka.engine.values import Values

NO_CLOCKS: Final[dict[int, list[int]]] = {}
NO_OPERATIONS: Final[dict[int, Event]] = {}
MAIN: Final = 0


class State:
    """What has happened in the beginning of a linearisation, and the thread that goes on."""

    def __init__(
        self, done: list[int], thread: int, preemptions: int, before: "State | None"
    ) -> None:
        self.done = done
        self.thread = thread
        self.preemptions = preemptions
        self.before = before


class Part:
    """The first `ends` events of each thread of a graph, with all that happens before them.
    Operations wait only for the locations in `waited`."""

    def __init__(self, order: HappensBefore, ends: list[int], waited: set[int]) -> None:
        self.order = order
        self.ends = ends
        self.waited = waited
        self.lengths = ends.copy()  # with the events that are certain to come
        self.next_clocks: dict[int, list[int]] = NO_CLOCKS  # and what happens before those
        self.waiting: dict[int, Event] = NO_OPERATIONS  # what threads come to, and never perform
        # For `may_end`, once asked: who may wait for each location, and for each thread's end.
        self.has_noted_waits = False
        self.waits: dict[int, list[Event]] = {}
        self.joins: dict[int, list[Event]] = {}
        self.main_only_joins_from = 0

    def add_next(self, event: Event) -> None:
        """The first event of a thread beyond this part. Whatever is deleted, the thread will do
        that, and after all of this part that it depends on."""
        if event.location < 0 or not is_steady(event.kind):
            return
        clock: list[int] = []
        access = event.previous_access
        while access is not None:
            if (
                access.index <= self.ends[access.thread]
                and access.thread != event.thread
                and conflicts(event.mode, event.structure, event.part, access)
            ):
                include(clock, access)
            access = access.previous_access
        if clock:
            self.next_clocks = {**self.next_clocks, event.thread: clock}
            self.lengths[event.thread] += 1

    def linearisation_within(self, bound: int) -> list[Event] | None:
        """A linearisation with at most `bound` preemptions; None if there is none."""
        lengths = self.lengths
        if not any(lengths):
            return []
        states = [State([0] * len(lengths), 0, 0, None)]
        fewest: dict[tuple[int, ...], int] = {}
        while states:
            state = states.pop()
            key = (state.thread, *state.done)
            if fewest.get(key, bound + 1) <= state.preemptions:
                continue
            fewest[key] = state.preemptions
            for done in self.ways_on(state.thread, state.done):
                if done == lengths:
                    return self.events_to(State(done, -1, 0, state))
                preemptions = state.preemptions + self.could_go_on(state.thread, done)
                if preemptions <= bound:
                    before, done = self.with_ends(state, done, preemptions)
                    if done == lengths:
                        return self.events_to(State(done, -1, 0, before))
                    # The last state is taken up first: the longest step, to the leftmost thread.
                    for thread in range(len(lengths) - 1, -1, -1):
                        if thread != before.thread and self.can_come(thread, done):
                            states.append(State(done, thread, preemptions, before))
        return None

    def with_ends(self, state: State, done: list[int], preemptions: int) -> tuple[State, list[int]]:
        """Let the threads end that may as well do so at once: no other order has to be tried."""
        went_on = True
        while went_on:
            went_on = False
            for thread in range(len(done)):
                if self.may_end(thread, done):
                    state = State(done, thread, preemptions, state)
                    done = done.copy()
                    done[thread] = self.lengths[thread]
                    went_on = True
        return state, done

    def may_end(self, thread: int, done: list[int]) -> bool:
        """Whether a thread can go on to its end, and it makes no difference to others that it does
        so now: all that they may still be left at, waiting for it, is out of its reach."""
        place = done[thread]
        if place == self.lengths[thread] or thread in self.waiting:
            return False
        end = self.ends[thread]
        events = self.order.of_thread[thread]
        if end > place and not has_others(events[end - 1].clock, done, thread):
            return False
        if self.lengths[thread] > end and not can_come(self.next_clocks[thread], done):
            return False
        if not self.has_noted_waits:
            self.note_waits()
        return not self.is_waited_for(thread, done) and not any(
            event.mode != READ and self.is_location_waited_for(event.location, thread, done)
            for event in events[place : self.lengths[thread]]
        )

    def is_location_waited_for(self, location: int, thread: int, done: list[int]) -> bool:
        """Whether another thread may still come to wait for a location. (Where it is already, it
        is not left once more.)"""
        if location not in self.waited:
            return False
        for event in self.waits.get(location, []):
            if event.thread != thread and event.index > done[event.thread] + 1:
                return True
        for event in self.waiting.values():
            if event.location == location and done[event.thread] < self.lengths[event.thread]:
                return True
        return False

    def is_waited_for(self, thread: int, done: list[int]) -> bool:
        """Whether another thread may still come to wait for the end of a thread, and may be left
        there for nothing. It makes no difference that main is if all that it does is to join
        threads: then it can go on as soon as they end."""
        for join in self.joins.get(thread, []):
            place = done[join.thread]
            if place < join.index - 1 and not (
                join.thread == MAIN and place >= self.main_only_joins_from
            ):
                return True
        return False

    def note_waits(self) -> None:
        self.has_noted_waits = True
        for events in self.order.of_thread:
            for event in events:
                if event.kind == JOIN:
                    self.joins.setdefault(event.choice, []).append(event)
                elif may_block(event.kind):
                    self.waits.setdefault(event.location, []).append(event)
        main = self.order.of_thread[MAIN]
        place = self.lengths[MAIN]
        while (
            place > 1 and MAIN not in self.joins and self.is_free(main[place - 1], main[place - 2])
        ):
            place -= 1
        self.main_only_joins_from = place

    def is_free(self, event: Event, previous: Event) -> bool:
        """Whether an event comes after nothing but its thread's previous one, unless it is a join,
        and nobody waits for it."""
        if event.mode != READ and event.location in self.waited:
            return False
        return event.kind == JOIN or has_others(event.clock, previous.clock, event.thread)

    def ways_on(self, thread: int, done: list[int]) -> list[list[int]]:
        """What has happened where a thread that goes on may be left, the shortest way first. To
        leave it before it is stopped pays only if its next event may enable another thread."""
        ways: list[list[int]] = []
        begin = place = done[thread]
        done = done.copy()
        while self.can_come(thread, done):
            if place > begin and self.may_enable(thread, place):
                ways.append(done.copy())
            place += 1
            done[thread] = place
        ways.append(done)
        return ways

    def may_enable(self, thread: int, place: int) -> bool:
        """Whether another thread may wait for an event: it may write what is waited for, or it is
        the end of a thread that is joined."""
        events = self.order.of_thread[thread]
        event = events[place]
        return place + 1 == len(events) or (event.mode != READ and event.location in self.waited)

    def can_come(self, thread: int, done: list[int]) -> bool:
        """Whether a thread has a next event, and all that happens before it has happened."""
        place = done[thread]
        if place == self.lengths[thread]:
            return False
        if place == self.ends[thread]:
            return can_come(self.next_clocks[thread], done)
        return can_come(self.order.of_thread[thread][place].clock, done)

    def could_go_on(self, thread: int, done: list[int]) -> bool:
        """Whether a thread is enabled, and goes on later."""
        place = done[thread]
        if place < self.ends[thread]:
            return could_go_on(self.order, self.order.of_thread[thread][place], done)
        if thread in self.waiting:
            return is_enabled(self.order, self.waiting[thread], done)
        return place < self.lengths[thread]

    def events_to(self, last: State) -> list[Event]:
        """The linearisation that leads to a state."""
        parts: list[list[Event]] = []
        state = last
        while state.before is not None:
            before = state.before
            thread = before.thread
            begin = before.done[thread]
            parts.append(self.order.of_thread[thread][begin : state.done[thread]])
            state = before
        return [event for part in reversed(parts) for event in part]


def can_come(clock: list[int], done: list[int]) -> bool:
    return all(clock[thread] <= done[thread] for thread in range(len(clock)))


def has_others(clock: list[int], done: list[int], own: int) -> bool:
    """Whether all of the other threads that happens before an event has happened."""
    known = len(done)
    for thread in range(len(clock)):
        if thread != own and clock[thread] > (done[thread] if thread < known else 0):
            return False
    return True


def could_go_on(order: HappensBefore, event: Event, done: list[int]) -> bool:
    """Whether a thread was enabled when its next operation was still to become this event."""
    if event.kind == JOIN:
        return done[event.choice] == len(order.of_thread[event.choice])
    return (
        not may_block(event.kind) or can_come(event.clock, done) or is_enabled(order, event, done)
    )


def is_enabled(order: HappensBefore, operation: Event, done: list[int]) -> bool:
    """Whether an operation that may block is enabled when some events have happened; False if its
    location was never accessed, since then nothing has enabled it."""
    location = operation.location
    access = order.last_access[location] if location < len(order.last_access) else None
    if access is None:
        return False
    values = order.values
    if operation.kind == AWAIT_PART:
        return is_part_enabled(values, operation, access, done)
    adds: list[Event] = []
    value: object = None
    while access is not None:
        value = access.before
        if access.index <= done[access.thread]:
            if access.mode == WRITE:
                value = access.after
                break
            if access.mode == ADD:
                adds.append(access)
        access = access.previous_access
    return is_enabled_by(values, operation, values.plus(value, adds))


def is_part_enabled(values: Values, operation: Event, latest: Event, done: list[int]) -> bool:
    """The same for a read of a container. Unless all that it waits for has happened, some change is
    still to come; if it waits for ever, it is not enabled after all of them."""
    enabled = False
    access: Event | None = latest
    while access is not None:
        if access.index > done[access.thread] and changes_for(access, operation):
            enabled = is_enabled_by(values, operation, access.before)
            operation = without_change(values, operation, access)
        access = access.previous_access
    return enabled
