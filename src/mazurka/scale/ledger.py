"""Which tasks wait, who explores which, and what was found: nothing is lost, or counted twice.

What was found is kept by keys, which say where it comes in the order of the whole search. So
results add up in that order, whoever found them when; and if the search is to end with a failure,
it ends with the first one in that order, and with what comes before it.
"""

import bisect
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mazurka.engine.result import NONDETERMINISM, Failure, Result
from mazurka.engine.search import CHANGED_BY_RACE
from mazurka.scale.messages import FIRST, Entry, Key, Report, Take

COUNTS = ("complete", "blocked", "redundant", "cut", "beyond")
MOST_RESULTS = 1000  # that are kept one by one


@dataclass
class Lease:
    """What a worker has taken up."""

    entries: list[Entry]  # as of its last report
    most: int  # how many executions it may still make; -1: any number
    fewest_steps: int = 0  # of its tasks

    def __post_init__(self) -> None:
        self.note(self.entries)

    def note(self, entries: list[Entry]) -> None:
        """This is what it has now."""
        self.entries = entries
        self.fewest_steps = min([len(task.steps) for _, task in entries], default=0)


class Ledger:
    def __init__(self, stops: bool, most: int = -1) -> None:
        self.stops = stops  # whether the search ends with its first failure
        self.most = most  # how many executions there may still be; -1: any number
        self.waiting: list[Entry] = []  # in the order of their keys
        self.leases: dict[int, Lease] = {}  # by worker
        self.results: dict[Key, Result] = {}
        self.most_results = MOST_RESULTS  # then they are added up, as far as they can be
        self.end: Key | None = None  # where the search ends: what comes after it does not count
        self.end_reason = ""
        self.warnings: dict[str, None] = {}

    def add(self, entries: Iterable[Entry]) -> None:
        """Let tasks wait for a worker."""
        for entry in entries:
            if self.end is None or entry[0] <= self.end:
                bisect.insort(self.waiting, entry, key=key_of)

    @property
    def is_over(self) -> bool:
        """Whether nobody has anything to explore, or may."""
        return not self.leases and (not self.waiting or self.most == 0)

    def lend(self, worker: int, count: int, most: int) -> Take:
        """Tasks for a worker."""
        entries = self.chosen(count)
        if self.most >= 0:
            most = min(self.most, max(1, most))
            self.most -= most
        self.leases[worker] = Lease(entries, most if self.most >= 0 else -1)
        return Take(entries, self.leases[worker].most)

    def chosen(self, count: int) -> list[Entry]:
        """Take some tasks off the list: the first ones in the order if nobody explores what comes
        before them, so that a first failure is found as early as by a single process; else those
        with the fewest steps. They are the largest, as a rule, and small ones are not worth the way
        to a worker and back."""
        first = self.waiting[0][0]
        begun = [lease.entries[0][0] for lease in self.leases.values() if lease.entries]
        places: Iterable[int] = range(count)
        if any(key < first for key in begun):
            lengths = [len(task.steps) for _, task in self.waiting]
            places = sorted(heapq.nsmallest(count, range(len(lengths)), key=lengths.__getitem__))
        return [self.waiting.pop(place - gone) for gone, place in enumerate(places)]

    def record(self, worker: int, report: Report) -> bool:
        """Enter a report; whether the search now ends earlier than before."""
        lease = self.leases[worker]
        end = self.end
        for key, result in report.results:
            self.results[key] = self.results[key] + result if key in self.results else result
            if lease.most >= 0:
                lease.most -= result.executions
            if result.failures and self.stops:
                self.end_at(key)
        if report.is_broken:
            self.end_at(report.results[-1][0])
        self.warnings.update(dict.fromkeys(report.warnings))
        self.add(report.given)
        lease.note(report.kept)
        if report.is_over:
            self.end_lease(worker)
        if len(self.results) > self.most_results:
            self.add_up()
            self.most_results = max(MOST_RESULTS, 2 * len(self.results))
        return self.end != end

    def end_lease(self, worker: int) -> None:
        """A worker is done, or has died: what it has not explored waits again."""
        lease = self.leases.pop(worker)
        if lease.most >= 0:
            self.most += lease.most
        self.add(lease.entries)

    def end_at(self, key: Key) -> None:
        if self.end is None or key < self.end:
            self.end = key
            self.end_reason = self.results[key].reason
            self.waiting = [entry for entry in self.waiting if entry[0] <= key]

    def is_needed(self, worker: int) -> bool:
        """Whether anything of what a worker has taken up may count."""
        end = self.end
        return end is None or any(key <= end for key, _ in self.leases[worker].entries)

    def entries(self) -> list[Entry]:
        """All that is left, as of the last reports."""
        lent = [entry for lease in self.leases.values() for entry in lease.entries]
        return sorted([*self.waiting, *lent], key=key_of)

    def counted(self) -> Iterator[Result]:
        """What was found, in the order of the whole search."""
        for key in sorted(self.results):
            if self.end is None or key <= self.end:
                yield self.results[key]

    def total(self) -> Result:
        found = list(self.counted())
        total = found[0]
        for result in found[1:]:
            total = total + result
        total.warnings = list(dict.fromkeys([*total.warnings, *self.warnings]))
        total.reason = self.end_reason
        tell_races_once(total)
        return total

    def so_far(self) -> Result:
        """The counts and the failures, for people."""
        found = Result()
        for result in self.counted():
            found.algorithm = result.algorithm
            found.equivalence = result.equivalence
            for name in COUNTS:
                setattr(found, name, getattr(found, name) + getattr(result, name))
            found.failures += result.failures
        return found

    def add_up(self) -> None:
        """Make one of the results before all that is left: no failure can come before them."""
        left = self.entries()
        first = left[0][0] if left else None
        done = [key for key in sorted(self.results) if first is None or key < first]
        if len(done) > 1:
            total = self.results.pop(done[0])
            for key in done[1:]:
                if self.end is None or key <= self.end:
                    total = total + self.results.pop(key)
            self.results[FIRST] = total


def tell_races_once(total: Result) -> None:
    """As one process does that knows all races so far: see `Search.add_failure`."""
    told: list[Failure] = []
    races: set[str] = set()
    for failure in total.failures:
        if failure.kind == NONDETERMINISM and races:
            total.reason = CHANGED_BY_RACE
        elif failure.race not in races:
            told.append(failure)
        if failure.race:
            races.add(failure.race)
    total.failures = told


def key_of(entry: Entry) -> Key:
    return entry[0]
