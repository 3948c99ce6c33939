"""Barriers, as in `threading`."""

from collections.abc import Callable
from threading import BrokenBarrierError
from typing import Final, NamedTuple, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    BARRIER_CHANGE,
    BARRIER_ENTER,
    BARRIER_TIME_OUT,
    LOAD,
    NOTIFY,
    WAIT,
)
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED, Predicate, always
from mazurka.python.primitives.slots import Slot, Slots, is_filled
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import Operation, ThreadNames

# The states of a barrier, and of the gate that holds back the threads of one round (None: closed).
FILLING = "filling"
ACTING = "acting"  # all have come; the last one runs the action
BROKEN = "broken"
OPEN = "open"

NO_ROUND: Final = -1


class Gate(Slot):
    """Where the threads of one round of a barrier wait."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if event.kind == NOTIFY:
            return f"{'open' if event.first == OPEN else 'break'} {name}"
        return f"wait at {name}: {event.before}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return True

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"at {name}"


class BarrierState(NamedTuple):
    """The value of a barrier."""

    arrived: int  # so many threads have come in this round
    phase: str
    round: int  # so many were begun before it: its gate has this number
    opened: int  # the round before, until somebody comes for the next one; else NO_ROUND

    def __repr__(self) -> str:
        return f"{self.phase}, {self.arrived} waiting"


FRESH: Final = BarrierState(0, FILLING, 0, NO_ROUND)


class Barrier(SharedObject):
    """A meeting point of a fixed number of threads."""

    def __init__(
        self,
        parties: int,
        action: Callable[[], object] | None = None,
        timeout: float | None = None,
        name: str | None = None,
    ) -> None:
        if parties < 1:
            raise ValueError("parties must be > 0")
        super().__init__(FRESH, name)
        self.gates = Slots(self, Gate)
        self.parties = parties
        self.action = action
        self.timeout = timeout

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            timeout = self.timeout
        state = cast(
            BarrierState, RUNNING.check.runtime.perform(BARRIER_ENTER, self, is_settled, self.enter)
        )
        if state.phase == BROKEN:
            raise BrokenBarrierError
        if state.phase == ACTING:
            self.let_through()
        else:
            self.wait_at(state.round, timeout)
        return state.arrived - 1

    def enter(self, state: BarrierState) -> tuple[BarrierState, BarrierState]:
        if state.phase == BROKEN:
            return state, state
        arrived = state.arrived + 1
        phase = ACTING if arrived == self.parties else FILLING
        state = BarrierState(arrived, phase, state.round, NO_ROUND)
        return state, state

    def let_through(self) -> None:
        """All have come: run the action and open the gate."""
        try:
            if self.action is not None:
                self.action()
        except BaseException:
            self.change_to(BROKEN, always)
            raise
        self.change_to(FILLING, always)

    def wait_at(self, number: int, timeout: float | None) -> None:
        """Wait for the end of a round."""
        runtime = RUNNING.check.runtime
        gate = self.gates.at(number)
        if timeout is not None:

            def still_closed(state: BarrierState) -> bool:
                return state.phase == FILLING and state.round == number

            def break_it(state: BarrierState) -> tuple[BarrierState, None]:
                return BarrierState(0, BROKEN, number, NO_ROUND), None

            if self.times_out(gate, still_closed, break_it, timeout):
                in_time(False, timeout)
                runtime.perform(NOTIFY, gate, BROKEN, None)
                raise BrokenBarrierError
        if runtime.perform(WAIT, gate, is_filled, None) == BROKEN:
            raise BrokenBarrierError

    def times_out(
        self, gate: Slot, still_closed: Predicate, break_it: object, timeout: float
    ) -> bool:
        """Whether a thread breaks the barrier, as it has waited for too long."""
        runtime = RUNNING.check.runtime
        if not runtime.timeouts_last or timeout <= 0:
            return runtime.perform(BARRIER_TIME_OUT, self, still_closed, break_it) is not FAILED
        wait = Operation(WAIT, gate, is_filled, None)
        breaking = Operation(BARRIER_TIME_OUT, self, still_closed, break_it)
        return runtime.perform_in_time(wait, breaking, timeout) is None

    def reset(self) -> None:
        """Begin a new round; threads that wait find the barrier broken."""
        self.change_to(FILLING, is_settled)

    def abort(self) -> None:
        """Break the barrier, for the threads that wait and for those to come."""
        self.change_to(BROKEN, is_settled)

    def change_to(self, phase: str, guard: Callable[[BarrierState], bool]) -> None:
        runtime = RUNNING.check.runtime

        def change(state: BarrierState) -> tuple[BarrierState, BarrierState]:
            opened = state.round if state.phase == ACTING else state.opened
            return BarrierState(0, phase, state.round + 1, opened), state

        old = cast(BarrierState, runtime.perform(BARRIER_CHANGE, self, guard, change))
        if old.arrived:
            succeeded = old.phase == ACTING and phase == FILLING
            runtime.perform(NOTIFY, self.gates.at(old.round), OPEN if succeeded else BROKEN, None)
        if phase == BROKEN and old.opened != NO_ROUND:  # nor do those get away who have not left
            runtime.perform(NOTIFY, self.gates.at(old.opened), BROKEN, None)

    @property
    def n_waiting(self) -> int:
        state = cast(BarrierState, RUNNING.check.runtime.perform(LOAD, self, None, None))
        return 0 if state.phase == BROKEN else state.arrived

    @property
    def broken(self) -> bool:
        return (
            cast(BarrierState, RUNNING.check.runtime.perform(LOAD, self, None, None)).phase
            == BROKEN
        )


def is_settled(state: BarrierState) -> bool:
    """While the action runs, nothing else happens to a barrier."""
    return state.phase != ACTING
