"""What a search does, kept for reports: the tree of its executions, one execution for each outcome,
and how its figures grew. Only searches that are asked to keep it have a recorder."""

from time import process_time
from typing import Final

from mazurka.engine.errors import BeginsAnew, MazurkaError
from mazurka.engine.event import Event
from mazurka.engine.program import BLOCKED, COMPLETE, CUT, Program, Request
from mazurka.engine.result import OUTCOME, Branch, Leaf, Recording, Result, Sample, Step
from mazurka.engine.schedule import NamedStep, Schedule

MOST_EXECUTIONS: Final = 2_000  # in the tree
MOST_BRANCHES: Final = 20_000
MOST_SAMPLES: Final = 400
MOST_OUTCOMES: Final = 100  # of which an execution is kept
MOST_TOLD: Final = 60  # executions with all their steps in words
MOST_STEPS: Final = 20_000  # of these together
MOST_SECONDS: Final = 2.0  # of the processor, to put executions into words

ENDS: Final = {COMPLETE: "complete", BLOCKED: "blocked", CUT: "cut"}


class Samples:
    """How the figures of a search grow: some hundred samples, however long it takes."""

    def __init__(self) -> None:
        self.taken: list[Sample] = []
        self.apart = 0.0  # seconds

    def take(self, result: Result) -> None:
        if self.taken and result.seconds - self.taken[-1].seconds < self.apart:
            return
        self.taken.append(
            Sample(
                result.seconds,
                result.complete,
                result.blocked,
                result.redundant,
                result.cut,
                len(result.failures),
            )
        )
        if len(self.taken) > MOST_SAMPLES:
            self.taken = self.taken[::2]
            self.apart = 2 * result.seconds / MOST_SAMPLES

    def close(self, result: Result) -> list[Sample]:
        self.apart = -1.0
        self.take(result)
        return self.taken


class Recorder:
    """Looks at each execution of a search."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.samples = Samples()
        self.clear()

    def clear(self) -> None:
        self.branches = [Branch(-1, "", "")]  # the first is the root
        self.names: list[NamedStep] = [("", "", 0)]  # of the steps that lead to them
        self.below: list[dict[tuple[int, int], int]] = [{}]
        self.leaves: list[Leaf] = []
        self.outcomes: dict[str, list[NamedStep]] = {}
        self.cut = ""

    def look(self, program: Program) -> None:
        """Take up the latest execution of a program, before it is counted."""
        if self.result.executions == 0:  # the search has begun anew
            self.clear()
        how = "failed" if program.answer.failed else ENDS.get(program.answer.status, "redundant")
        outcome = ""
        if how == "complete":
            outcome = text_of(counted(program.outcome()))
            if outcome not in self.outcomes and len(self.outcomes) < MOST_OUTCOMES:
                self.outcomes[outcome] = program.steps_of(program.events)
        if len(self.leaves) >= MOST_EXECUTIONS or len(self.branches) >= MOST_BRANCHES:
            self.cut = f"the first {len(self.leaves):,} executions are kept"
            return
        self.leaves.append(Leaf(self.grow(program, program.events), how, outcome))

    def grow(self, program: Program, events: list[Event]) -> int:
        """The end of an execution in the tree. Which operation a thread makes is known from what
        came before, so threads and choices tell executions from each other."""
        at = 0
        for event in events:
            key = (event.thread, event.choice)
            following = self.below[at].get(key)
            if following is None:
                following = len(self.branches)
                self.below[at][key] = following
                self.below.append({})
                (name,) = program.steps_of([event])
                self.names.append(name)
                self.branches.append(Branch(at, name[0], name[1]))
            at = following
        return at

    def close(self, program: Program) -> Recording:
        """All that was kept, in words. This runs the program."""
        recording = Recording(self.branches, self.leaves, self.samples.close(self.result), self.cut)
        recording.outcomes = {text: [] for text in self.outcomes}
        until = process_time() + MOST_SECONDS
        left = MOST_STEPS
        try:
            for text, names in self.outcomes.items():
                if process_time() < until and left > len(names):
                    recording.outcomes[text] = account_of(program, names)
                    recording.schedules[text] = schedule_of(program, text, len(names))
                    left -= len(names)
            for leaf in self.leaves[:MOST_TOLD]:
                names = self.path_to(leaf.branch)
                if process_time() < until and left > len(names):
                    leaf.steps = account_of(program, names)
                    left -= len(names)
                    self.name_branches(leaf)
        except (BeginsAnew, MazurkaError):  # it is another program than the one that was searched
            pass
        self.name_the_rest()
        return recording

    def path_to(self, branch: int) -> list[NamedStep]:
        names = []
        while branch > 0:
            names.append(self.names[branch])
            branch = self.branches[branch].parent
        names.reverse()
        return names

    def name_branches(self, leaf: Leaf) -> None:
        """Give the steps of the tree the words that people have for them."""
        words = [step for step in leaf.steps if step.position >= 0]
        places = []
        branch = leaf.branch
        while branch > 0:
            places.append(branch)
            branch = self.branches[branch].parent
        for place, step in zip(reversed(places), words, strict=False):
            self.branches[place].thread = step.thread
            self.branches[place].words = step.action
            self.branches[place].is_named = True

    def name_the_rest(self) -> None:
        """Steps of executions that were not put into words have those of like steps, without
        values, or the names that schedules have for them."""
        threads: dict[str, str] = {}
        words: dict[str, str] = {}
        for branch, (thread, operation, _) in zip(self.branches, self.names, strict=True):
            if branch.is_named:
                threads.setdefault(thread, branch.thread)
                words.setdefault(operation, branch.words.partition(":")[0])
        for branch, (thread, operation, _) in zip(self.branches, self.names, strict=True):
            if not branch.is_named:
                branch.thread = threads.get(thread, thread)
                branch.words = words.get(operation, operation)


def account_of(program: Program, names: list[NamedStep]) -> list[Step]:
    """Run an execution again, and give its steps in words."""
    request = Request([])
    request.path = program.path_of(names)
    request.lets_time_out = True
    program.run(request)
    return [step for step in program.account() if step.position < len(names)]


def schedule_of(program: Program, outcome: str, length: int) -> Schedule:
    """What leads to an outcome again, of which the steps have just been put into words: so things
    have the names that a replay gives them."""
    steps = program.steps_of(program.events[:length])
    return Schedule(tuple(steps), "", OUTCOME, outcome, dict(program.learnt_for_schedules()))


def counted(outcome: object) -> object:
    """What an outcome is counted under: how it prints, if it cannot be a key."""
    try:
        hash(outcome)
    except Exception:
        return repr(outcome)
    return outcome


def text_of(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
