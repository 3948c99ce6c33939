"""How many executions a search has, from a small part of its tree.

An execution is a node of the tree; where another one goes off from it is a branch. A *round* walks
down the whole tree, but follows a number of branches at each level only, the *width*, and lets each
stand for those that it does not follow: so the sum of what its executions stand for is the size of
the tree, on average. That is stochastic enumeration (Vaisman and Kroese), which follows many
branches side by side where Knuth's estimator follows one, and so meets large subtrees much more
often. Two things make it better here:

- Branches are drawn in the order of where they go off, evenly, and more often where others went off
  that were found to be large: early branches have by far the largest subtrees.
- Rounds become wider. A round that has followed every branch has seen the whole tree.

Rounds that differ show how unsure the estimate is. Trees have few large parts that are easily
missed, so estimates are rather too low than too high, and the spread says so.
"""

import bisect
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mazurka.engine.search import Branch, Explorer, Search
from mazurka.engine.status import Estimate

Below = Callable[[object], Sequence[Branch]]

NARROWEST = 4
WIDEST = 512
ROUNDS_OF_A_WIDTH = 3
NEIGHBOURS = 2  # on each side, of which the sizes are known
BELOW, ABOVE = 1.7, 3.0  # standard errors to either side
LEAST_ERROR = 0.03
FEW_ROUNDS = 6.0  # with fewer ones, their differences tell little
FIRST_LOOK = 2.0  # seconds of a search that need no estimate
SHARE = 1 / 10  # of the time of a search goes into looking ahead, if somebody watches:
ENOUGH = 5.0  # up to so many seconds,
LATER_SHARE = 1 / 100  # and then much less


@dataclass(frozen=True)
class Round:
    """What a round has found; a wide one counts more."""

    width: int
    executions: float
    is_all: bool = False  # whether it has followed every branch


def estimate_of(rounds: Sequence[Round]) -> Estimate | None:
    """What some rounds say together; None if there are not enough of them to say how sure it is."""
    for found in rounds:
        if found.is_all:
            return Estimate(found.executions, found.executions, found.executions)
    if len(rounds) < 2:
        return None
    weight = sum([found.width for found in rounds])
    mean = sum([found.width * found.executions for found in rounds]) / weight
    deviation = sum([found.width * math.log(found.executions / mean) ** 2 for found in rounds])
    alike = weight**2 / sum([found.width**2 for found in rounds])  # so many rounds of one width
    error = math.sqrt(deviation / weight / max(alike - 1, 0.5)) + LEAST_ERROR
    error *= 1 + FEW_ROUNDS / len(rounds) ** 2
    return Estimate(mean, max(1.0, mean / math.exp(BELOW * error)), mean * math.exp(ABOVE * error))


@dataclass
class Followed:
    """A branch that a round follows."""

    branch: object
    position: int
    weight: float  # how many it stands for, with itself
    parent: "Followed | None"
    size: float = 1.0  # of the tree below it, as far as it was followed


@dataclass
class Estimator:
    """Makes rounds, one execution at a time."""

    below: Below  # runs the first execution of a branch, and gives the branches below it
    chance: random.Random
    rounds: list[Round] = field(default_factory=list)
    runs: int = 0
    sizes: dict[int, list[float]] = field(default_factory=dict)  # of subtrees, by position: a sum
    known: list[int] = field(default_factory=list)  # the positions, in their order

    def steps(self) -> Iterator[None]:
        """Make rounds, until one has seen everything; comes back after each execution."""
        width = NARROWEST
        while True:
            for _ in range(ROUNDS_OF_A_WIDTH):
                yield from self.round(width)
                if self.rounds[-1].is_all:
                    return
            width = min(2 * width, WIDEST)

    def round(self, width: int) -> Iterator[None]:
        levels: list[list[Followed]] = []
        level = [Followed(None, 0, 1.0, None)]
        is_all = True
        while level:
            levels.append(level)
            found: list[Followed] = []
            for above in level:
                branches = self.below(above.branch)
                self.runs += 1
                above.branch = None
                for position, branch in branches:
                    found.append(Followed(branch, position, above.weight, above))
                yield
            is_all = is_all and len(found) <= width
            level = found if len(found) <= width else self.drawn(found, width)
        executions = sum([one.weight for level in levels for one in level])
        self.rounds.append(Round(width, executions, is_all))
        self.learn(levels)

    def drawn(self, found: list[Followed], width: int) -> list[Followed]:
        """Some of these, each of which stands for others, too."""
        found.sort(key=lambda one: one.position)
        chances = chances_of([one.weight * self.size_at(one.position) for one in found], width)
        drawn: list[Followed] = []
        mark = 1.0 - self.chance.random()
        passed = 0.0
        for one, chance in zip(found, chances, strict=True):
            passed += chance
            if passed >= mark or chance == 1.0:
                mark += 1.0
                one.weight /= chance
                drawn.append(one)
        return drawn

    def size_at(self, position: int) -> float:
        """How large subtrees are that go off there, as far as that is known."""
        place = bisect.bisect(self.known, position)
        near = self.known[max(0, place - NEIGHBOURS) : place + NEIGHBOURS]
        if not near:
            return 1.0
        logarithms = [math.log(self.sizes[at][0] / self.sizes[at][1]) for at in near]
        return math.exp(sum(logarithms) / len(near))

    def learn(self, levels: list[list[Followed]]) -> None:
        """Note the sizes of the subtrees of a round."""
        for level in reversed(levels):
            for one in level:
                if one.parent is not None:
                    one.parent.size += one.size * one.weight / one.parent.weight
                    total = self.sizes.setdefault(one.position, [0.0, 0.0])
                    total[0] += one.size
                    total[1] += 1
        self.known = sorted(self.sizes)


class Looks:
    """Estimates of a search that is under way: its tree is looked at for a small share of time."""

    def __init__(self, estimator_of: Callable[[], Estimator]) -> None:
        self.estimator_of = estimator_of
        self.estimator: Estimator | None = None
        self.spent = 0.0

    def look(self, seconds: float) -> Estimate | None:
        """Look for so long, and for an execution at the least."""
        begun = time.monotonic()
        if self.estimator is None:
            self.estimator = self.estimator_of()
            self.steps = self.estimator.steps()
        for _ in self.steps:
            if time.monotonic() - begun >= seconds:
                break
        self.spent += time.monotonic() - begun
        return estimate_of(self.estimator.rounds)

    def explore(self, explorer: Explorer, search: Search) -> bool:
        """Explore, and look now and then; False when the search was ended before."""
        search.pause_after = FIRST_LOOK
        while True:
            everything = explorer.explore()
            if everything or search.result.reason or not search.is_paused:
                return everything
            search.is_paused = False
            found = self.look(self.share() * search.seconds() - self.spent)
            search.pause_after = self.next_look(search.seconds())
            if found is not None and search.result.status is not None:
                search.result.status.estimate = found

    def next_look(self, now: float) -> float:
        """When to look again; -1: never, it is known."""
        assert self.estimator is not None
        is_known = any(found.is_all for found in self.estimator.rounds)
        return -1.0 if is_known else max(now + 1.0, self.spent / self.share())

    def share(self) -> float:
        return SHARE if self.spent < ENOUGH else LATER_SHARE


def chances_of(sizes: list[float], width: int) -> list[float]:
    """The chances of being drawn, as the sizes are, but none is more than 1; `width` will be."""
    order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    rest = sum(sizes)
    chances = [0.0] * len(sizes)
    for place in order:
        if width * sizes[place] >= rest:
            chances[place] = 1.0
            width -= 1
            rest -= sizes[place]
        else:
            chances[place] = width * sizes[place] / rest
    return chances
