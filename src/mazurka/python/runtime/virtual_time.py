"""What time it is for each thread of the running execution.

Time passes for a thread when it sleeps, when a wait of its own times out, and a little whenever it
looks. No step is earlier than those before it that it depends on, nor than the one that spawned its
thread; a join is no earlier than the end of what it joins. So time never goes back along
happens-before, and it is the same in all executions of one trace, as it is computed from what
happens before alone.

It is computed along the log when somebody looks at a clock: where nobody does, it costs nothing.
"""

from typing import Final

from mazurka.engine.event import Event, changes_all, conflicts, footprint_of
from mazurka.engine.operation import JOIN, SPAWN, Footprint

READING: Final = 1e-6  # what looking at a clock takes, in seconds


class Pause:
    """Time that passed for a thread between two of its steps."""

    def __init__(self, thread: int, position: int) -> None:
        self.thread = thread
        self.position = position  # its next step has at least this one
        self.seconds = 0.0
        self.until = 0.0  # and then it is at least so late


class Access:
    """How a location was accessed since the last step that changed all of it, and the latest time
    at which it was."""

    def __init__(self, event: Event, time: float) -> None:
        self.event = event  # one of those with this footprint
        self.time = time


class VirtualTime:
    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A new execution."""
        self.is_used = False
        self.pauses: list[Pause] = []
        self.passed = 0  # so many of these are in the times of their threads,
        self.position = 0  # and so many steps
        self.times: list[float] = [0.0]  # by thread
        self.accesses: dict[int, dict[Footprint, Access]] = {}  # by location
        self.latest: dict[int, float] = {}  # when the latest of these took place

    def let_pass(self, thread: int, position: int, seconds: float) -> None:
        self.pause(thread, position).seconds += seconds

    def let_pass_until(self, thread: int, position: int, moment: float) -> None:
        pause = self.pause(thread, position)
        pause.until = max(pause.until, moment)

    def pause(self, thread: int, position: int) -> Pause:
        """One in which time can pass: the latest, unless more came after it."""
        pauses = self.pauses
        if len(pauses) > self.passed:
            latest = pauses[-1]
            if latest.thread == thread and latest.position == position and latest.until == 0.0:
                return latest
        self.is_used = True
        pauses.append(Pause(thread, position))
        return pauses[-1]

    def look(self, thread: int, events: list[Event], position: int) -> float:
        """A thread looks at its clock, after so many steps."""
        self.catch_up(events, position)
        self.times[thread] += READING
        return self.times[thread]

    def now(self, thread: int, events: list[Event], position: int) -> float:
        """What it would find, but for what looking takes."""
        self.catch_up(events, position)
        return self.times[thread]

    def catch_up(self, events: list[Event], position: int) -> None:
        self.is_used = True
        for place in range(self.position, position):
            self.let_pauses_pass(place)
            self.step(events[place])
        self.position = position
        self.let_pauses_pass(position)

    def let_pauses_pass(self, position: int) -> None:
        """Those before the step at this position."""
        pauses = self.pauses
        while self.passed < len(pauses) and pauses[self.passed].position <= position:
            pause = pauses[self.passed]
            time = self.times[pause.thread] + pause.seconds
            self.times[pause.thread] = max(time, pause.until)
            self.passed += 1

    def step(self, event: Event) -> None:
        thread = event.thread
        if event.location >= 0:
            self.times[thread] = self.access(event, self.times[thread])
        elif event.kind == SPAWN:
            while len(self.times) <= event.choice:
                self.times.append(0.0)
            self.times[event.choice] = self.times[thread]
        elif event.kind == JOIN:
            self.times[thread] = max(self.times[thread], self.times[event.choice])

    def access(self, event: Event, time: float) -> float:
        """When a step takes place that its thread comes to at this time."""
        accesses = self.accesses.setdefault(event.location, {})
        latest = self.latest.get(event.location, 0.0)
        if latest > time:  # else none of them, which may be many, is later
            for other in accesses.values():
                if other.time > time and conflicts(
                    event.mode, event.structure, event.part, other.event
                ):
                    time = other.time
        self.latest[event.location] = max(latest, time)
        if changes_all(event):
            accesses.clear()
        same = accesses.get(footprint_of(event))
        if same is None:
            accesses[footprint_of(event)] = Access(event, time)
        elif time > same.time:
            same.time = time
        return time
