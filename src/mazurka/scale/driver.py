"""Whoever gives tasks to workers, and puts together what they find."""

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from mazurka.engine.errors import MazurkaError
from mazurka.engine.status import Estimate, Status
from mazurka.engine.task import Outdated
from mazurka.scale.ledger import Ledger
from mazurka.scale.messages import (
    Anew,
    Closed,
    Finish,
    Give,
    Look,
    Raised,
    Report,
    Stop,
    Told,
)

TURN = 0.1  # seconds to wait for messages before looking at clocks
SHORT = 0.2  # work for so many seconds is too little for one go,
LONG = 1.0  # and this is more than enough
MOST_AT_A_TIME = 1000
PATIENCE = 10.0  # seconds that workers have to stop: what they have not reported is done again
END_PATIENCE = 120.0  # and to come to an end
SOONEST_ASK = 0.05  # a worker that had nothing to give is asked again later and later,
LATEST_ASK = 2.0  # up to this
MOST_DEATHS = 20  # of workers one after the other, without a report of any,
FIRST_DEATHS = 10  # and before any of them has said a word


class Crew(Protocol):
    """Workers, wherever they are."""

    def hire(self) -> int:
        """The number of a new worker."""

    def send(self, worker: int, message: object) -> None:
        """Nothing happens if the worker has died: that is told by `receive`."""

    def receive(self, timeout: float) -> list[tuple[int, object]]:
        """Messages of workers that have come; None is the last one of a worker that has died."""

    def dismiss(self, worker: int) -> None:
        """End a worker at once."""


@dataclass
class Hand:
    """What is known of a worker."""

    is_here: bool = False  # until then it may take long to come, and gets no tasks
    has_reported: bool = False
    lent: float = 0.0  # when it got its tasks
    next_ask: float = 0.0  # when it may be asked to hand some over
    wait: float = SOONEST_ASK
    is_asked: bool = False
    told: Told | None = None
    since: float = 0.0  # when it got its first tasks,
    reported: int = 0  # and the executions that it has reported since

    def may_be_asked(self, now: float) -> bool:
        return not self.is_asked and now >= self.next_ask


@dataclass
class Driver:
    """Explores what waits in a ledger, with a number of workers."""

    ledger: Ledger
    crew: Crew
    jobs: int
    watch: Callable[["Driver"], str]  # asked now and then; says why to stop, or nothing
    clock: Callable[[], float] = time.monotonic
    hands: dict[int, Hand] = field(default_factory=dict)
    batch: int = 1
    deaths: int = 0  # since the last report
    next_watch: float = -math.inf
    has_begun: bool = False  # whether any worker has ever said a word
    threads: int = 0
    estimate: Estimate | None = None
    warnings: list[str] = field(default_factory=list)

    def run(self) -> str:
        """Explore all; gives why it was stopped before, if it was. An error ends all workers."""
        try:
            reason = self.work()
            self.close()
            return reason
        finally:
            for worker in list(self.hands):
                self.crew.dismiss(worker)

    def work(self) -> str:
        while not self.ledger.is_over:
            if self.clock() >= self.next_watch:
                self.next_watch = self.clock() + TURN
                reason = self.watch(self)
                if reason:
                    self.stop()
                    return reason
            self.lend()
            self.ask()
            for worker, message in self.crew.receive(TURN):
                self.take_in(worker, message)
        return ""

    # Giving out

    def lend(self) -> None:
        """Give tasks to all that have none, and hire workers for what is left."""
        ledger = self.ledger
        for worker, hand in self.hands.items():
            if not ledger.waiting or ledger.most == 0:
                return
            if not hand.is_here or worker in ledger.leases:
                continue
            count = max(1, min(self.batch, len(ledger.waiting) // (2 * self.jobs)))
            self.crew.send(worker, ledger.lend(worker, count, ledger.most // (2 * self.jobs)))
            hand.lent = self.clock()
            hand.since = hand.since or hand.lent
            hand.is_asked = False
        coming = sum([not hand.is_here for hand in self.hands.values()])
        wanted = min(self.jobs - len(self.hands), len(ledger.waiting) - coming)
        for _ in range(wanted if ledger.most != 0 else 0):
            self.hands[self.crew.hire()] = Hand()

    def ask(self) -> None:
        """Have some handed over, before nobody has anything to do: by those who have the largest
        tasks, as few as may be, since these tasks are worth the way to a worker and back."""
        leases = self.ledger.leases
        missing = self.jobs - len(self.ledger.waiting)
        if missing <= 0 or self.jobs == 1 or self.ledger.most == 0:
            return
        now = self.clock()
        able = [worker for worker in leases if self.hands[worker].may_be_asked(now)]
        chosen = heapq.nsmallest(missing, able, key=lambda worker: leases[worker].fewest_steps)
        for worker in chosen:
            self.hands[worker].is_asked = True
            self.crew.send(worker, Give(math.ceil(missing / len(chosen))))

    # Taking in

    def take_in(self, worker: int, message: object) -> None:
        hand = self.hands.get(worker)
        if hand is None:  # it was dismissed
            return
        if message is None:
            self.bury(worker)
            return
        hand.is_here = self.has_begun = True
        if isinstance(message, Report):
            self.record(worker, hand, message)
        elif isinstance(message, Told):
            if message.estimate is not None:
                self.estimate = message.estimate
            else:
                hand.told = message
        elif isinstance(message, Closed):
            self.warnings += message.warnings
            self.threads = max(self.threads, message.threads)
            self.let_go(worker)
        elif isinstance(message, Anew):
            raise Outdated(message.learnt)
        elif isinstance(message, Raised):
            raise message.error

    def record(self, worker: int, hand: Hand, report: Report) -> None:
        now = self.clock()
        self.deaths = 0
        hand.has_reported = True
        hand.reported += sum([result.executions for _, result in report.results])
        if hand.told is not None:
            hand.told = replace(hand.told, executions=0)
        if hand.is_asked and not report.is_over:
            hand.is_asked = False
            hand.wait = SOONEST_ASK if report.given else min(2 * hand.wait, LATEST_ASK)
            hand.next_ask = now + hand.wait
        ends_earlier = self.ledger.record(worker, report)
        if report.is_over:
            if now - hand.lent < SHORT:
                self.batch = min(2 * self.batch, MOST_AT_A_TIME)
            elif now - hand.lent > LONG:
                self.batch = max(1, self.batch // 2)
        if ends_earlier:
            for other in list(self.ledger.leases):
                if not self.ledger.is_needed(other):
                    self.let_go(other)

    def bury(self, worker: int) -> None:
        """A worker has died: what it has not reported is to be done again."""
        self.deaths += 1
        self.let_go(worker)
        if self.deaths >= (MOST_DEATHS if self.has_begun else FIRST_DEATHS):
            raise MazurkaError(
                f"{self.deaths} workers have died, one after the other: is there enough memory "
                "for so many jobs? Does the program run with jobs=1?"
            )

    def let_go(self, worker: int) -> None:
        if worker in self.ledger.leases:
            self.ledger.end_lease(worker)
        del self.hands[worker]
        self.crew.dismiss(worker)

    def status(self) -> Status:
        """How far all of it is, for people."""
        now = self.clock()
        status = Status(self.estimate, waiting=len(self.ledger.waiting))
        for hand in self.hands.values():
            if hand.told is not None:
                status.depth = max(status.depth, hand.told.depth)
                status.memory_mb += hand.told.memory_mb
                executions = hand.reported + hand.told.executions
                status.rates.append(executions / max(now - hand.since, 1e-6))
        return status

    def look_ahead(self, seconds: float) -> None:
        """Have a worker look how large all of it is: always the same one, as long as it lives."""
        if self.ledger.leases:
            self.crew.send(min(self.ledger.leases), Look(seconds))

    # Ending

    def stop(self) -> None:
        """Have all workers hand over what they have."""
        for worker in self.ledger.leases:
            self.crew.send(worker, Stop())
        until = self.clock() + PATIENCE
        while self.ledger.leases and self.clock() < until:
            for worker, message in self.crew.receive(TURN):
                self.take_in(worker, message)
        for worker in list(self.ledger.leases):
            self.let_go(worker)

    def close(self) -> None:
        """Let workers come to a good end: they may still have something to say."""
        for worker, hand in list(self.hands.items()):
            if hand.has_reported:
                self.crew.send(worker, Finish())
            else:
                self.let_go(worker)
        until = self.clock() + END_PATIENCE
        while self.hands and self.clock() < until:
            for worker, message in self.crew.receive(TURN):
                self.take_in(worker, message)
        for worker in list(self.hands):
            self.warnings.append("a worker did not come to an end, and may have had more to say")
            self.let_go(worker)
