"""Whether the calls of an execution are linearizable, and those of all executions equivalent to it.

A search runs one execution of each trace. Which call was over before another one began is not the
same in all executions of a trace, so all of them are looked at here: docs/proofs/linearizability.md
says why the following is right. Of a call only its first and its last step count, its *ends*. The
orders in which the ends of all calls can come are those that extend happens-before. In each, the
call is to take effect at one moment between its ends, so that all give what the specification says.
"""

from typing import Final, NamedTuple

from mazurka.engine.calls import WAITS, Call, Specification, State
from mazurka.engine.clock import NO_CLOCK
from mazurka.engine.event import Event
from mazurka.engine.order import HappensBefore, after
from mazurka.engine.trace import copied
from mazurka.engine.values import Values

MOST_KNOWN: Final = 100_000  # patterns of calls of which the verdict is kept

# Which calls have taken effect, as bits, and what the specification is then.
Moment = tuple[int, State]


class End(NamedTuple):
    """The first step of a call, its last one, or both."""

    call: int  # its place in the history
    begins: bool
    ends: bool
    position: float  # in the run; of a call without steps, right after the thread's latest step
    number: int  # whoever knows so many events of the thread comes after it
    clock: list[int]  # what came before it
    thread: int


class Verdict(NamedTuple):
    """Why the calls are not linearizable."""

    order: tuple[int, ...]  # of the ends, which are numbered as they came in the run
    blamed: int  # the call that can have no effect; -1: those that wait need not
    is_own: bool  # whether the order is that of the run


FINE: Final = None
NOT_ALL_ORDERS: Final = (
    "whether calls are linearizable is known only where all orders of independent steps are "
    "possible: leave out {}"
)


class Pattern(NamedTuple):
    """All that a verdict depends on."""

    operations: tuple[str, ...]  # of calls that are over: with what they give
    ends: tuple[tuple[int, bool, bool], ...]
    before: tuple[int, ...]  # for each end, those that must come before it, as bits
    waiting: tuple[str, ...]


class Judge:
    """Looks at the calls of one execution after the other."""

    def __init__(self, specification: Specification, values: Values) -> None:
        self.specification = specification
        self.order = HappensBefore(values)
        self.events: list[Event] = []  # those that are in the order
        self.known: dict[Pattern, Verdict | None] = {}
        self.calls: list[Call] = []  # of the latest execution: those that are over,
        self.waiting: list[Call] = []  # and those that never will be
        self.ends: list[End] = []
        self.verdict: Verdict | None = FINE

    def look(self, history: list[Call], events: list[Event]) -> Verdict | None:
        """Judge an execution that came to its end, or in which nobody can go on."""
        self.follow(events)
        self.calls = [call for call in history if call.is_over]
        self.waiting = [call for call in history if not call.is_over]
        self.ends = sorted(
            [end for place, call in enumerate(self.calls) for end in self.ends_of(place, call)],
            key=lambda end: (end.position, end.call),
        )
        pattern = Pattern(
            tuple([call.text for call in self.calls]),
            tuple([(end.call, end.begins, end.ends) for end in self.ends]),
            orders_of(self.ends),
            tuple([call.operation for call in self.waiting]),
        )
        if pattern not in self.known:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[pattern] = self.judged(pattern)
        self.verdict = self.known[pattern]
        return self.verdict

    # The order of the ends

    def follow(self, events: list[Event]) -> None:
        """Take in an execution: what it has in common with the one before is known."""
        known = self.events
        same = 0
        while same < len(known) and same < len(events) and known[same] is events[same]:
            same += 1
        self.order.cut(same)
        del known[same:]
        for event in events[same:]:
            self.order.extend(copied(event))
            known.append(event)

    def ends_of(self, place: int, call: Call) -> list[End]:
        self.order.know_thread(call.thread)
        own = self.order.of_thread[call.thread]
        first = count_before(own, call.begin)
        last = count_before(own, call.end)
        if first == last:
            return [self.end_between(place, call.thread, own[:first])]
        if first + 1 == last:
            return [end_at(place, own[first], True, True)]
        return [end_at(place, own[first], True, False), end_at(place, own[last - 1], False, True)]

    def end_between(self, place: int, thread: int, own: list[Event]) -> End:
        """Of a call without steps: it comes after those that its thread has made."""
        latest = own[-1] if own else self.order.spawn_of_thread[thread]
        clock = NO_CLOCK if latest is None else after(latest.clock, latest)
        position = -0.5 if latest is None else latest.position + 0.5
        return End(place, True, True, position, len(own) + 1, clock, thread)

    # Judging

    def judged(self, pattern: Pattern) -> Verdict | None:
        """The verdict on all orders of the ends. That of the run comes first: it is easiest to
        show."""
        own = tuple(range(len(pattern.ends)))
        moments = frozenset([(0, self.specification.start)])
        for place in own:
            following = self.at_end(pattern, own[:place], place, moments)
            if not following:
                return Verdict(own, pattern.ends[place][0], True)
            moments = following
        if not self.may_wait(moments):
            return Verdict(own, -1, True)
        start = frozenset([(0, self.specification.start)])
        return self.search(pattern, (), start, set())

    def search(
        self,
        pattern: Pattern,
        order: tuple[int, ...],
        moments: frozenset[Moment],
        seen: set[tuple[int, frozenset[Moment]]],
    ) -> Verdict | None:
        """An order of the ends that begins with some, and is not linearizable."""
        done = bits_of(order)
        if (done, moments) in seen:
            return FINE
        seen.add((done, moments))
        if len(order) == len(pattern.ends):
            return FINE if self.may_wait(moments) else Verdict(order, -1, False)
        for place in next_ends(pattern, done):
            following = self.at_end(pattern, order, place, moments)
            if not following:
                rest = rest_of(pattern, (*order, place))
                return Verdict(rest, pattern.ends[place][0], False)
            found = self.search(pattern, (*order, place), following, seen)
            if found is not FINE:
                return found
        return FINE

    def at_end(
        self, pattern: Pattern, order: tuple[int, ...], place: int, moments: frozenset[Moment]
    ) -> frozenset[Moment]:
        """What may be after one more end. When a call is over, it must have taken effect; others
        that have begun may have before it."""
        call, begins, ends = pattern.ends[place]
        if not ends:
            return moments
        begun = {pattern.ends[earlier][0] for earlier in order if pattern.ends[earlier][1]}
        if begins:
            begun.add(call)
        found: set[Moment] = set()
        left = list(moments)
        met = set(left)
        while left:
            effective, state = left.pop()
            if effective >> call & 1:
                found.add((effective, state))
                continue
            for other in begun:
                if effective >> other & 1:
                    continue
                given, following = self.specification.after(state, self.calls[other])
                moment = effective | 1 << other, following
                if given.agrees(self.calls[other].given) and moment not in met:
                    met.add(moment)
                    left.append(moment)
        return frozenset(found)

    def may_wait(self, moments: frozenset[Moment]) -> bool:
        """Whether the specification lets all wait in the end that do."""
        return any(
            all(self.specification.after(state, call)[0].how == WAITS for call in self.waiting)
            for _, state in moments
        )

    # Of the latest verdict

    def ending(self) -> str:
        """What is wrong, and whether the order of the run shows it."""
        assert self.verdict is not None
        what = "not linearizable" if self.verdict.blamed >= 0 else "waiting, and need not"
        return f"{what}, in {'this' if self.verdict.is_own else 'another'} order"

    def witness(self) -> list[int]:
        """The positions of all events in an order in which the calls are not linearizable."""
        assert self.verdict is not None
        order: list[int] = []
        taken: set[int] = set()

        def take(positions: list[int]) -> None:
            order.extend([position for position in positions if position not in taken])
            taken.update(positions)

        events = self.order.events
        for place in self.verdict.order:
            end = self.ends[place]
            before = [event.position for event in events if comes_before(event, end)]
            take(before if end.position % 1 else [*before, int(end.position)])
        take(list(range(len(events))))
        return order


def count_before(events: list[Event], position: int) -> int:
    """How many of a thread's events came before a position."""
    count = len(events)
    while count > 0 and events[count - 1].position >= position:
        count -= 1
    return count


def end_at(place: int, event: Event, begins: bool, ends: bool) -> End:
    return End(place, begins, ends, event.position, event.index, event.clock, event.thread)


def comes_before(event: Event, end: End) -> bool:
    """Whether an event happens before an end."""
    if event.thread == end.thread:
        return event.index < end.number
    return event.thread < len(end.clock) and end.clock[event.thread] >= event.index


def orders_of(ends: list[End]) -> tuple[int, ...]:
    """For each end, those that happen before it."""
    found = []
    for place, end in enumerate(ends):
        before = 0
        for earlier in range(place):
            other = ends[earlier]
            if other.thread == end.thread or (
                other.thread < len(end.clock) and end.clock[other.thread] >= other.number
            ):
                before |= 1 << earlier
        found.append(before)
    return tuple(found)


def bits_of(places: tuple[int, ...]) -> int:
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def next_ends(pattern: Pattern, done: int) -> list[int]:
    """Which ends can come next. Where a call can be over, let it be: the later others begin, the
    more is asked of them."""
    able = [
        place
        for place, before in enumerate(pattern.before)
        if not done >> place & 1 and not before & ~done
    ]
    over = [place for place in able if not pattern.ends[place][1]]
    return over[:1] or able


def rest_of(pattern: Pattern, order: tuple[int, ...]) -> tuple[int, ...]:
    """An order that begins so, with all other ends as they came."""
    return (*order, *[place for place in range(len(pattern.ends)) if place not in order])
