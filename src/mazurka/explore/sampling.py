"""Executions taken at random, for programs with too many to run them all.

Nothing is proved by these, and one trace may be met many times; how many different ones were is
counted. All that is drawn comes from one seed, so that a search can be repeated.

- `random`: every thread that can make the next step is as likely as any other.
- `pct`, *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs*: threads have random
  priorities, and the one with the highest runs, but for a few random steps at which it falls behind
  all others. With n threads and k steps, a failure that takes d orderings is met by an execution
  with a probability of at least 1 / (n k^(d-1)).
- `pos`, *Partial Order Aware Concurrency Sampling*: every step that can be made next has a random
  priority, drawn anew whenever one is made that it depends on. So traces are met more evenly than
  by random steps, where those with many interleavings come up more often.
"""

from random import Random

from mazurka.engine.event import Event, dependent
from mazurka.engine.order import HappensBefore
from mazurka.engine.program import PICKED
from mazurka.engine.search import Explorer, Search
from mazurka.engine.values import Values


class Sampler(Explorer):
    """Picks threads at random."""

    cannot_split = "its executions are drawn one after the other from one seed; use other seeds"

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.policy = PICKED
        self.request.all_stand = True
        self.request.lets_time_out = True
        self.request.watcher = self
        self.chance = Random(search.seed)

    def explore(self) -> bool:
        """Run executions until the search ends; never has this seen everything."""
        search = self.search
        traces: set[int] = set()
        while True:
            self.events.clear()
            self.begin()
            counted = search.counted
            goes_on = search.run(self.request)
            if search.counted > counted:
                traces.add(trace_number(self.events, self.program.values))
                search.result.traces = len(traces)
            if not goes_on:
                return False

    def begin(self) -> None:
        """An execution begins."""

    def pick(self, threads: list[int]) -> int:
        return threads[self.chance.randrange(len(threads))]

    def choose(self, alternatives: int) -> int:
        return self.chance.randrange(alternatives)


class Priorities(Sampler):
    """Probabilistic concurrency testing."""

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.longest = len(search.first)  # of the executions so far
        self.priorities: dict[int, float] = {}
        self.changes: list[int] = []  # the steps before which a thread falls behind

    def begin(self) -> None:
        self.priorities = {}
        self.changes = [
            self.chance.randrange(max(self.longest, 1)) for _ in range(self.search.depth - 1)
        ]

    def pick(self, threads: list[int]) -> int:
        step = len(self.events)
        self.longest = max(self.longest, step + 1)
        for thread in threads:
            if thread not in self.priorities:
                self.priorities[thread] = self.chance.random()
        while True:
            best = max(threads, key=self.priorities.__getitem__)
            if step not in self.changes:
                return best
            self.changes.remove(step)
            self.priorities[best] = min(self.priorities.values()) - 1


class PartialOrders(Sampler):
    """Partial order sampling."""

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.priorities: dict[int, float] = {}  # of the steps that threads stand before

    def begin(self) -> None:
        self.priorities = {}

    def pick(self, threads: list[int]) -> int:
        latest = self.events[-1] if self.events else None
        for thread in threads:
            if thread not in self.priorities or (
                latest is not None and dependent(latest, self.program.standing(thread))
            ):
                self.priorities[thread] = self.chance.random()
        return max(threads, key=self.priorities.__getitem__)


def trace_number(events: list[Event], values: Values) -> int:
    """A number for the trace of an execution: the same, within a search, for equivalent ones only
    (but for one chance in billions)."""
    order = HappensBefore(values)
    threads: dict[int, list[object]] = {}
    for event in events:
        order.extend(event)
        step = (
            *(event.kind, event.location, event.mode, event.structure, event.part, event.choice),
            *trimmed(event.clock),
        )
        threads.setdefault(event.thread, []).append(step)
    return hash(tuple([(thread, tuple(threads[thread])) for thread in sorted(threads)]))


def trimmed(clock: list[int]) -> list[int]:
    """A clock without what it says of threads that it does not know."""
    end = len(clock)
    while end > 0 and clock[end - 1] == 0:
        end -= 1
    return clock[:end]
