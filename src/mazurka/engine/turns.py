"""Whose turn it is where the search does not say."""

from typing import Final

from mazurka.engine.event import NO_EVENTS, Event, dependent
from mazurka.engine.operation import AWAIT, AWAIT_EXCHANGE, AWAIT_PART, CHOOSE, NONE
from mazurka.engine.program import (
    LEFTMOST,
    NO_PARTNERS,
    NO_WATCHES,
    NOBODY,
    PICKED,
    Request,
    Watch,
    Watcher,
)


class Stepper:
    """A thread of an execution, as it stands before its next operation."""

    def __init__(self, id: int) -> None:
        self.id = id
        self.epoch = 0  # the execution that it lives in
        self.kind = NONE  # of the operation
        self.choice = 0  # which alternative; the other thread of a join
        self.finished = False
        self.partner: Stepper | None = None  # one that had better run next to it

    def location(self) -> int:
        """Of the operation."""
        raise NotImplementedError


NO_STEPPERS: Final[list[Stepper]] = []


class Steppers:
    """The threads of an execution."""

    def __init__(self) -> None:
        self.epoch = 0  # the number of the execution

    def known(self) -> int:
        """How many there ever were, in all executions so far."""
        raise NotImplementedError

    def at(self, number: int) -> Stepper:
        raise NotImplementedError

    def latest(self) -> Stepper | None:
        """The one that stepped last."""
        raise NotImplementedError

    def enabled(self, thread: Stepper) -> bool:
        raise NotImplementedError

    def choices(self, thread: Stepper) -> list[int]:
        """What a thread that is to make a data choice can choose from."""
        raise NotImplementedError

    def begin_asking(self) -> None:
        """A watcher is asked, which may call the user's guards."""

    def end_asking(self) -> None:
        """It has answered."""


class Turns:
    """Decides who makes the next step, as the request of an execution says."""

    def __init__(self, threads: Steppers) -> None:
        self.threads = threads
        self.live: list[Stepper] = NO_STEPPERS  # of this execution, in the order of their spawns
        self.sleep: list[Event] = NO_EVENTS
        self.policy = LEFTMOST
        self.partners = NO_PARTNERS
        self.first = NOBODY
        self.watcher: Watcher | None = None
        self.watched: list[Watch] = NO_WATCHES
        self.watches_steps = False

    def take(self, request: Request) -> None:
        """An execution begins that is to go as a request says."""
        self.sleep = request.sleep
        self.policy = request.policy
        if request.partners is not self.partners:
            self.pair(request.partners)
        self.first = request.first
        self.watcher = request.watcher
        self.watched = request.watched
        self.watches_steps = request.watches_steps

    def pair(self, partners: list[int]) -> None:
        """Tell threads which one had better run next to each."""
        self.partners = partners
        for place in range(self.threads.known()):
            partner = partners[place] if place < len(partners) else NOBODY
            self.threads.at(place).partner = None if partner == NOBODY else self.threads.at(partner)

    def free_choice(self) -> Stepper | None:
        """Who makes the next step; None if nobody can."""
        if self.watches_steps and self.is_ended():
            return None
        if self.policy == PICKED:
            return self.picked()
        if self.policy == LEFTMOST:
            return self.leftmost_to_step()
        return self.recent_or_other()

    def goes_on(self, thread: Stepper) -> bool:
        """Whether the next free step may be made by the thread that stepped last."""
        return self.leftmost() is thread if self.policy == LEFTMOST else self.can_step(thread)

    def wake(self, event: Event) -> None:
        """Those in the sleep set wake up that an event depends on."""
        self.sleep = [asleep for asleep in self.sleep if not dependent(asleep, event)]

    def recent_or_other(self) -> Stepper | None:
        """The thread that stepped last as long as it can, then its partner, then the first of the
        others, by rank."""
        recent = self.threads.latest()
        if recent is not None and not is_await(recent.kind):
            if self.can_step(recent):
                return recent
            partner = recent.partner
            if (
                partner is not None
                and partner.epoch == self.threads.epoch
                and self.rank(partner) <= 1
                and self.can_step(partner)
            ):
                return partner
        best: Stepper | None = None
        best_rank = 5
        for thread in self.live:
            if thread.finished:
                continue
            rank = self.rank(thread)
            if rank < best_rank and self.can_step(thread):
                if rank == 0:
                    return thread
                best = thread
                best_rank = rank
        return best

    def is_ended(self) -> bool:
        """Whether the watcher breaks the run off here."""
        watcher = self.watcher
        assert watcher is not None
        self.threads.begin_asking()
        ended = watcher.ends_run()
        self.threads.end_asking()
        return ended

    def picked(self) -> Stepper | None:
        """The thread that the watcher picks."""
        watcher = self.watcher
        assert watcher is not None
        able = [thread for thread in self.live if self.threads.enabled(thread)]
        if not able:
            return None
        thread = self.pick_of(able)
        if thread.kind == CHOOSE:
            choices = self.threads.choices(thread)
            thread.choice = choices[watcher.choose(len(choices))]
        return thread

    def pick_of(self, threads: list[Stepper]) -> Stepper:
        """One that the watcher picks, if it does."""
        watcher = self.watcher
        if self.policy != PICKED or watcher is None:
            return threads[0]
        self.threads.begin_asking()
        thread = self.threads.at(watcher.pick([thread.id for thread in threads]))
        self.threads.end_asking()
        return thread

    def leftmost_to_step(self) -> Stepper | None:
        thread = self.leftmost()
        self.first = NOBODY
        if thread is not None and thread.kind == CHOOSE:
            thread.choice = self.threads.choices(thread)[0]
        return thread

    def leftmost(self) -> Stepper | None:
        """The enabled thread with the lowest number, unless another one is to come first."""
        best: Stepper | None = None
        for thread in self.live:
            if thread.id == self.first and self.threads.enabled(thread):
                return thread
            if (best is None or thread.id < best.id) and self.threads.enabled(thread):
                best = thread
        return best

    def rank(self, thread: Stepper) -> int:
        """Those with partners come late, and later if they would have to wait for their partner to
        access the same location right after them. Awaits come when nothing else can be done, since
        what comes later might have disabled them."""
        if thread.kind == AWAIT or thread.kind == AWAIT_PART:
            return 3
        if thread.kind == AWAIT_EXCHANGE:
            return 4  # one that changes nothing goes first
        partner = thread.partner
        if partner is None:
            return 0
        location = thread.location()
        if location < 0:
            return 1
        if partner.epoch != self.threads.epoch:
            return 2
        return 1 if partner.finished or partner.location() == location else 2

    def can_step(self, thread: Stepper) -> bool:
        """Whether a thread may make the next free step; settles its choice if it has one."""
        if not self.threads.enabled(thread):
            return False
        if self.watched and self.is_watched(thread.location()):
            watcher = self.watcher
            assert watcher is not None
            self.threads.begin_asking()
            asleep = watcher.keeps_asleep(thread.id, thread.location())
            self.threads.end_asking()
            if asleep:
                return False
        if thread.kind != CHOOSE:
            return not self.sleep or not self.asleep(thread, 0)
        for choice in self.threads.choices(thread):
            if not self.asleep(thread, choice):
                thread.choice = choice
                return True
        return False

    def is_watched(self, location: int) -> bool:
        for watch in self.watched:  # noqa: SIM110 (compiled, this is the quicker one)
            if watch.location == location:
                return True
        return False

    def asleep(self, thread: Stepper, choice: int) -> bool:
        for event in self.sleep:
            if event.thread == thread.id and (thread.kind != CHOOSE or event.choice == choice):
                return True
        return False


def is_await(kind: int) -> bool:
    """Whether an operation is an await of a value."""
    return kind == AWAIT or kind == AWAIT_EXCHANGE or kind == AWAIT_PART
