"""What is written down of a run that is to be told to people, besides its events."""

from collections.abc import Callable
from types import CodeType
from typing import Final

from mazurka.python.source import caller_of_library

MOST_USES: Final = 2000  # that are written down: nobody reads more


class Remark:
    """Something that a thread did which is no event, before the event at a position."""

    def __init__(
        self,
        position: int,
        thread: int,
        verb: str,
        location: int,
        ending: str,
        code: object,
        instruction: int,
    ) -> None:
        self.position = position
        self.thread = thread
        self.verb = verb
        self.location = location  # what it was done to,
        self.name = ""  # or what that is called
        self.task = ""  # that did it, if it was one of asyncio's
        self.ending = ending  # what came of it
        self.code = code
        self.instruction = instruction


class Use(Remark):
    """What a task of asyncio did to a part of an object that no other thread has."""

    def __init__(
        self, position: int, thread: int, verb: str, ending: str, code: object, instruction: int
    ) -> None:
        super().__init__(position, thread, verb, -1, ending, code, instruction)
        self.thing: object = None  # kept alive: no other object gets its address
        self.part = ""

    def key(self) -> tuple[int, str]:
        return id(self.thing), self.part


class Turn:
    """A task of asyncio, or none, begins to run in a thread."""

    def __init__(self, position: int, thread: int, task: str) -> None:
        self.position = position  # of its first event, should it have any
        self.thread = thread
        self.task = task


def no_variable(thing: object) -> str:
    return ""


class Journal:
    def __init__(self) -> None:
        self.remarks: list[Remark] = []
        self.turns: list[Turn] = []
        # The user's code object, and the instruction in it, that has called the standard library
        # where that makes an event; by the position of this.
        self.callers: dict[int, tuple[CodeType, int]] = {}
        self.notes: list[str] = []  # what else there is to say
        self.timeouts: list[int] = []  # where waits timed out
        # Ordinary objects that hang on nothing else, by their names: the class of each, and the
        # user's variable that has it, if there is one.
        self.roots: dict[str, tuple[str, str]] = {}
        # The tasks that have used a part of an object, the parts that one has written after others
        # had used them, what people call such objects, and which attributes have containers.
        self.users: dict[tuple[int, str], set[str]] = {}
        self.contested: set[tuple[int, str]] = set()
        self.variables: dict[int, str] = {}
        self.holders: dict[int, tuple[object, str]] = {}
        self.uses = 0
        # Who runs tasks knows the variables of those that are at an await.
        self.variable_of_task: Callable[[object], str] = no_variable

    def note_caller(self, position: int) -> None:
        """The running thread makes an event."""
        caller = caller_of_library()
        if caller is not None:
            self.callers[position] = caller.f_code, caller.f_lasti

    def told(self) -> list[Remark]:
        """The remarks; of the uses those of what one task has written after others had used it."""
        found: list[Remark] = []
        for remark in self.remarks:
            if isinstance(remark, Use):
                if remark.key() not in self.contested:
                    continue
                remark.name = self.variables[id(remark.thing)] + remark.part
            found.append(remark)
        return found

    def called(self, name: str, label: str) -> str:
        """What people call an object with this name, and a label that may begin with a class: by
        the variable of theirs that has it, or that has the only object of that class."""
        if not name[:1].isdigit():  # not made by a thread of this run: a class, say
            return label
        kind, dot, rest = label.partition(".")
        own = [self.roots[name]] if name in self.roots and not dot else []
        roots = own or [root for root in self.roots.values() if root[0] == kind]
        variable = roots[0][1] if len(roots) == 1 else ""
        return f"{variable}{dot}{rest}" if variable else label

    def task_in(self, thread: int) -> str:
        """The task that runs in a thread now."""
        return next((turn.task for turn in reversed(self.turns) if turn.thread == thread), "")

    def tasks_at(self, length: int) -> list[dict[int, str]]:
        """For every position of a run, and its end, which task runs in which thread."""
        running: dict[int, str] = {}
        found = []
        at = 0
        for position in range(length + 1):
            while at < len(self.turns) and self.turns[at].position <= position:
                turn = self.turns[at]
                running = {**running, turn.thread: turn.task}
                at += 1
            found.append(running)
        return found
