"""Where an access need not depend on those before it, it is ordered after the right ones all the
same: compared with a look at all of them."""

import random

import pytest

from mazurka.engine.event import Event, conflicts
from mazurka.engine.operation import ADD, ALL, LOAD, NONE, NOTHING, READ, WRITE, Footprint
from mazurka.engine.order import HappensBefore, happens_before
from mazurka.engine.values import Values

PLAIN: list[Footprint] = [(READ, NONE, ALL), (WRITE, NONE, ALL)]
WITH_ADDS: list[Footprint] = [*PLAIN, (ADD, NONE, ALL), (ADD, NONE, ALL)]
ITEMS: list[Footprint] = [(mode, NONE, part) for mode in (READ, WRITE) for part in (0, 1)]
PARTS: list[Footprint] = [
    *ITEMS,
    (WRITE, WRITE, 2),
    (READ, READ, NOTHING),
    (READ, READ, ALL),
    (WRITE, WRITE, ALL),
]


def access(chance: random.Random, footprints: list[Footprint]) -> Event:
    mode, structure, part = chance.choice(footprints)
    event = Event(chance.randrange(4), LOAD, chance.randrange(2), mode, None, None)
    event.structure = structure
    event.part = part
    return event


def races_of(event: Event, earlier: list[Event]) -> list[Event]:
    """Those that an event depends on and that do not happen before another one of these."""
    found: list[Event] = []
    own = [other for other in earlier if other.thread == event.thread]
    for other in reversed(earlier):
        depends = (
            other.thread != event.thread
            and other.location == event.location
            and conflicts(event.mode, event.structure, event.part, other)
        )
        later = [*found, *own[-1:]]
        if depends and not any(happens_before(other, one) for one in later):
            found.append(other)
    return found


@pytest.mark.parametrize("footprints", [PLAIN, WITH_ADDS, PARTS])
@pytest.mark.parametrize("seed", range(20))
def test_races_are_those_with_the_last_accesses(seed: int, footprints: list[Footprint]) -> None:
    chance = random.Random(seed)
    order = HappensBefore(Values())
    for _ in range(3):
        order.cut(chance.randrange(len(order.events) + 1))
        for _ in range(40):
            event = access(chance, footprints)
            earlier = order.events.copy()
            order.extend(event)
            assert event.races == races_of(event, earlier)
