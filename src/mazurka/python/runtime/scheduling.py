"""Whose turn it is where the search does not say: what threads stand before, and who can go on."""

from collections.abc import Callable
from typing import Any, cast

from mazurka.engine.event import NO_EVENTS, Event
from mazurka.engine.operation import (
    ACQUIRE,
    ADD,
    ALL,
    AWAIT,
    AWAIT_EXCHANGE,
    AWAIT_PART,
    CHOOSE,
    DISABLED,
    FIRST_ON_PARTS,
    JOIN,
    NONE,
    WRITE,
    Footprint,
    may_block,
)
from mazurka.engine.program import (
    LEFTMOST,
    NO_LOCATIONS,
    NO_PARTNERS,
    NOBODY,
    PICKED,
    Request,
    Watcher,
)
from mazurka.python.operations import PartAwaited, access_mode, footprint
from mazurka.python.runtime.names import Registry
from mazurka.python.runtime.thread import Thread, none_known


class Turns(Registry):
    """The threads of an execution; the registry names them."""

    def __init__(self) -> None:
        super().__init__()
        self.current: Thread | None = None  # the running thread; None outside an execution
        self.recent: Thread | None = None  # the one that stepped last
        self.epoch = 0  # the number of the execution
        self.live: list[Thread] = []  # those of this execution, in the order of their spawns
        self.sleep: list[Event] = NO_EVENTS
        self.independent_adds = True
        # How the request of this execution says that the free part is to go.
        self.policy = LEFTMOST
        self.partners = NO_PARTNERS
        self.first = NOBODY
        self.watcher: Watcher | None = None
        self.watched: list[bool] = NO_LOCATIONS
        self.watches_steps = False
        # Which outcomes (0: true, 1: false) a condition on symbolic values can have now.
        self.choices_at: Callable[[Any], list[int]] = none_known

    def take_policy(self, request: Request) -> None:
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
        for thread in self.threads:
            place = thread.id
            partner = partners[place] if place < len(partners) else NOBODY
            thread.partner = None if partner == NOBODY else self.threads[partner]

    def free_choice(self) -> Thread | None:
        """Who makes the next step; None if nobody can."""
        if self.watches_steps and self.is_ended():
            return None
        if self.policy == PICKED:
            return self.picked()
        if self.policy == LEFTMOST:
            return self.leftmost_to_step()
        return self.recent_or_other()

    def recent_or_other(self) -> Thread | None:
        """The thread that stepped last as long as it can, then its partner, then the first of the
        others, by rank."""
        recent = self.recent
        if recent is not None and not is_await(recent.kind):
            if self.can_step(recent):
                return recent
            partner = recent.partner
            if (
                partner is not None
                and partner.epoch == self.epoch
                and self.rank(partner) <= 1
                and self.can_step(partner)
            ):
                return partner
        best: Thread | None = None
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
        running = self.current
        self.current = None  # it may call the user's guards
        ended = watcher.ends_run()
        self.current = running
        return ended

    def picked(self) -> Thread | None:
        """The thread that the watcher picks."""
        watcher = self.watcher
        assert watcher is not None
        able = [thread.id for thread in self.live if self.enabled(thread)]
        if not able:
            return None
        running = self.current
        self.current = None  # it may ask for footprints, which may call the user's guards
        thread = self.threads[watcher.pick(able)]
        self.current = running
        if thread.kind == CHOOSE:
            choices = self.choices(thread)
            thread.choice = choices[watcher.choose(len(choices))]
        return thread

    def leftmost_to_step(self) -> Thread | None:
        thread = self.leftmost()
        self.first = NOBODY
        if thread is not None and thread.kind == CHOOSE:
            thread.choice = self.choices(thread)[0]
        return thread

    def leftmost(self) -> Thread | None:
        """The enabled thread with the lowest number, unless another one is to come first."""
        best: Thread | None = None
        for thread in self.live:
            if thread.id == self.first and self.enabled(thread):
                return thread
            if (best is None or thread.id < best.id) and self.enabled(thread):
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
        has_ended = partner.finished and partner.epoch == self.epoch
        return 1 if has_ended or partner.cell.location == location else 2

    def can_step(self, thread: Thread) -> bool:
        """Whether a thread may make the next free step; settles its choice if it has one."""
        if not self.enabled(thread):
            return False
        location = thread.cell.location
        if 0 <= location < len(self.watched) and self.watched[location]:
            watcher = self.watcher
            assert watcher is not None
            running = self.current
            self.current = None  # asking for the footprint may call the user's guards
            asleep = watcher.keeps_asleep(thread.id, location)
            self.current = running
            if asleep:
                return False
        if thread.kind != CHOOSE:
            return not self.sleep or not self.asleep(thread, 0)
        for choice in self.choices(thread):
            if not self.asleep(thread, choice):
                thread.choice = choice
                return True
        return False

    def choices(self, thread: Thread) -> list[int]:
        """What a thread that is to make a data choice can choose from."""
        if thread.alternatives:
            return list(range(thread.alternatives))
        return self.choices_at(thread.first)

    def asleep(self, thread: Thread, choice: int) -> bool:
        for event in self.sleep:
            if event.thread == thread.id and (thread.kind != CHOOSE or event.choice == choice):
                return True
        return False

    def enabled(self, thread: Thread) -> bool:
        if thread.finished or thread.gave_up:
            return False
        kind = thread.kind
        if kind == JOIN:
            return cast(Thread, thread.first).finished
        if not may_block(kind):
            return True
        if kind == ACQUIRE:
            return thread.cell.value is None
        running = self.current
        self.current = None  # the guard is the user's code, and must not perform operations
        disabled = access_mode(kind, thread.cell.value, thread.first, thread.second) == DISABLED
        self.current = running
        return not disabled

    # What threads stand before

    def standing(self, thread: Thread) -> Event:
        """The operation that a thread stands before, as the event that it would be now."""
        kind = thread.kind
        cell = thread.cell
        mode, structure, part = self.footprint_of(thread)
        event = Event(thread.id, kind, cell.location, mode, thread.first, thread.second)
        if kind >= FIRST_ON_PARTS:
            event.structure = structure
            event.part = part
            event.view = cell.look(kind, cast(int, thread.first), thread.second)
        elif kind == AWAIT_PART:
            event.structure = structure
            event.part = part
            event.view = cast(PartAwaited, thread.first).look(cell.value)
        return event

    def footprint_of(self, thread: Thread) -> Footprint:
        """How the operation that a thread stands before would access its location now."""
        kind = thread.kind
        if kind >= FIRST_ON_PARTS:
            item = cast(int, thread.first)
            return footprint(kind, item, thread.cell.look(kind, item, thread.second))
        mode = access_mode(kind, thread.cell.value, thread.first, thread.second)
        if kind == AWAIT_PART:
            _, structure, part = cast(PartAwaited, thread.first).footprint(thread.cell.value)
            return mode, structure, part
        return WRITE if mode == ADD and not self.independent_adds else mode, NONE, ALL


def is_await(kind: int) -> bool:
    """Whether an operation is an await of a value."""
    return kind == AWAIT or kind == AWAIT_EXCHANGE or kind == AWAIT_PART
