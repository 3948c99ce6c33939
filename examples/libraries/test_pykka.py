"""pykka: an actor works on one message at a time. ActorRef.stop: "Messages sent to the actor after
the actor is asked to stop will be replied to with ActorDeadError after it stops."

The second is not always true. `ask` looks whether the actor is alive, and then puts its message
into the inbox. In between, the actor may stop, empty its inbox and end: nobody replies then, and
`ask` waits for ever. (It is rare: with real threads, eight of three thousand actors that were
stopped while they were asked left a thread hanging.)
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import mazurka
from examples.libraries.threads import together

pykka = pytest.importorskip("pykka")

SCHEDULE = Path(__file__).with_name("pykka_ask.json")


ThreadingActor: Any = pykka.ThreadingActor


class Counter(ThreadingActor):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def on_receive(self, message: Any) -> int:
        self.count += 1
        return self.count


@mazurka.check
def test_one_message_at_a_time() -> None:
    counter = Counter.start()
    counts = []
    together(lambda: counts.append(counter.ask("next")), lambda: counts.append(counter.ask("next")))
    counter.stop()
    assert sorted(counts) == [1, 2]


def asking_while_stopping() -> None:
    counter = Counter.start()

    def ask() -> None:
        with suppress(pykka.ActorDeadError):
            counter.ask("next")

    together(ask, counter.stop)


def test_a_late_message_is_never_replied_to() -> None:
    with pytest.raises(mazurka.CheckFailed, match="deadlock"):
        mazurka.check(asking_while_stopping)


def test_the_saved_execution() -> None:
    assert mazurka.replay(asking_while_stopping, SCHEDULE.read_text()).kind == "deadlock"
