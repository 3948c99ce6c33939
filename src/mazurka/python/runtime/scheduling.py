"""Whose turn it is where the search does not say."""

from mazurka.engine.event import NO_EVENTS, Event, dependent
from mazurka.engine.operation import AWAIT, AWAIT_EXCHANGE, AWAIT_PART, CHOOSE
from mazurka.engine.program import (
    LEFTMOST,
    NO_LOCATIONS,
    NO_PARTNERS,
    NOBODY,
    PICKED,
    Request,
    Watcher,
)
from mazurka.python.runtime.names import Names
from mazurka.python.runtime.standing import Standing
from mazurka.python.runtime.thread import Thread


class Turns:
    """Decides who makes the next step, as the request of an execution says."""

    def __init__(self, threads: Standing, names: Names) -> None:
        self.threads = threads
        self.names = names
        self.sleep: list[Event] = NO_EVENTS
        self.policy = LEFTMOST
        self.partners = NO_PARTNERS
        self.first = NOBODY
        self.watcher: Watcher | None = None
        self.watched: list[bool] = NO_LOCATIONS
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
        for thread in self.names.threads:
            place = thread.id
            partner = partners[place] if place < len(partners) else NOBODY
            thread.partner = None if partner == NOBODY else self.names.threads[partner]

    def free_choice(self) -> Thread | None:
        """Who makes the next step; None if nobody can."""
        if self.watches_steps and self.is_ended():
            return None
        if self.policy == PICKED:
            return self.picked()
        if self.policy == LEFTMOST:
            return self.leftmost_to_step()
        return self.recent_or_other()

    def goes_on(self, thread: Thread) -> bool:
        """Whether the next free step may be made by the thread that stepped last."""
        return self.leftmost() is thread if self.policy == LEFTMOST else self.can_step(thread)

    def wake(self, event: Event) -> None:
        """Those in the sleep set wake up that an event depends on."""
        self.sleep = [asleep for asleep in self.sleep if not dependent(asleep, event)]

    def recent_or_other(self) -> Thread | None:
        """The thread that stepped last as long as it can, then its partner, then the first of the
        others, by rank."""
        recent = self.threads.recent
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
        best: Thread | None = None
        best_rank = 5
        for thread in self.threads.live:
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
        running = self.threads.current
        self.threads.current = None  # it may call the user's guards
        ended = watcher.ends_run()
        self.threads.current = running
        return ended

    def picked(self) -> Thread | None:
        """The thread that the watcher picks."""
        watcher = self.watcher
        assert watcher is not None
        able = [thread for thread in self.threads.live if self.threads.enabled(thread)]
        if not able:
            return None
        thread = self.pick_of(able)
        if thread.kind == CHOOSE:
            choices = self.threads.choices(thread)
            thread.choice = choices[watcher.choose(len(choices))]
        return thread

    def pick_of(self, threads: list[Thread]) -> Thread:
        """One that the watcher picks, if it does."""
        watcher = self.watcher
        if self.policy != PICKED or watcher is None:
            return threads[0]
        running = self.threads.current
        self.threads.current = None  # it may ask for footprints, which may call the user's guards
        thread = self.names.threads[watcher.pick([thread.id for thread in threads])]
        self.threads.current = running
        return thread

    def leftmost_to_step(self) -> Thread | None:
        thread = self.leftmost()
        self.first = NOBODY
        if thread is not None and thread.kind == CHOOSE:
            thread.choice = self.threads.choices(thread)[0]
        return thread

    def leftmost(self) -> Thread | None:
        """The enabled thread with the lowest number, unless another one is to come first."""
        best: Thread | None = None
        for thread in self.threads.live:
            if thread.id == self.first and self.threads.enabled(thread):
                return thread
            if (best is None or thread.id < best.id) and self.threads.enabled(thread):
                best = thread
        return best

    def rank(self, thread: Thread) -> int:
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
        location = thread.cell.location
        if location < 0:
            return 1
        has_ended = partner.finished and partner.epoch == self.threads.epoch
        return 1 if has_ended or partner.cell.location == location else 2

    def can_step(self, thread: Thread) -> bool:
        """Whether a thread may make the next free step; settles its choice if it has one."""
        if not self.threads.enabled(thread):
            return False
        location = thread.cell.location
        if 0 <= location < len(self.watched) and self.watched[location]:
            watcher = self.watcher
            assert watcher is not None
            running = self.threads.current
            self.threads.current = None  # asking for the footprint may call the user's guards
            asleep = watcher.keeps_asleep(thread.id, location)
            self.threads.current = running
            if asleep:
                return False
        if thread.kind != CHOOSE:
            return not self.sleep or not self.asleep(thread, 0)
        for choice in self.threads.choices(thread):
            if not self.asleep(thread, choice):
                thread.choice = choice
                return True
        return False

    def asleep(self, thread: Thread, choice: int) -> bool:
        for event in self.sleep:
            if event.thread == thread.id and (thread.kind != CHOOSE or event.choice == choice):
                return True
        return False


def is_await(kind: int) -> bool:
    """Whether an operation is an await of a value."""
    return kind == AWAIT or kind == AWAIT_EXCHANGE or kind == AWAIT_PART
