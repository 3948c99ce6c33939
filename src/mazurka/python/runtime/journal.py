"""What is written down of a run that is to be told to people, besides its events."""


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


class Turn:
    """A task of asyncio, or none, begins to run in a thread."""

    def __init__(self, position: int, thread: int, task: str) -> None:
        self.position = position  # of its first event, should it have any
        self.thread = thread
        self.task = task


class Journal:
    def __init__(self) -> None:
        self.remarks: list[Remark] = []
        self.turns: list[Turn] = []
        self.notes: list[str] = []  # what else there is to say
        self.timeouts: list[int] = []  # where waits timed out
        # Ordinary objects that hang on nothing else, by their names: the class of each, and the
        # user's variable that has it, if there is one.
        self.roots: dict[str, tuple[str, str]] = {}

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
