"""Names for the threads, locations and operations of toy programs, the same in every process."""

from collections.abc import Sequence

from mazurka.engine.event import Event
from mazurka.engine.operation import CHOOSE, NONE, UNKNOWN, VERBS
from mazurka.engine.program import Program
from mazurka.engine.result import NamedStep


class NamingProgram(Program):
    """The numbers of threads and locations are the same in every process already."""

    def thread_name(self, thread: int) -> str:
        return f"0.{thread}" if thread else "0"

    def operation_name(self, event: Event) -> str:
        return f"{VERBS[event.kind]} {self.stable_names(event)[1]}"

    def stable_names(self, event: Event) -> tuple[str, str]:
        if event.kind == CHOOSE:
            return self.thread_name(event.thread), ""
        location = event.location if event.location >= 0 else event.choice
        return self.thread_name(event.thread), str(location)

    def part_name(self, event: Event) -> str:
        return ""

    def precedes(self, thread: int, other: int) -> bool:
        return thread < other

    def steps_of(self, events: list[Event]) -> list[NamedStep]:
        return [
            (
                self.thread_name(event.thread),
                self.operation_name(event),
                event.choice if event.kind == CHOOSE else 0,
            )
            for event in events
        ]

    def path_of(self, steps: Sequence[NamedStep]) -> list[Event]:
        path = []
        for thread, operation, choice in steps:
            step = Event(int(thread.split(".")[-1]), UNKNOWN, -1, NONE, operation, None)
            step.choice = choice
            path.append(step)
        return path
