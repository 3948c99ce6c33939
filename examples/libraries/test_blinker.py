"""blinker: Namespace.signal gives "the NamedSignal for the given name, creating it if required.
Repeated calls with the same name return the same signal."

Threads that ask for a new name at the same time may get different signals: whatever is connected to
the one that is overwritten is never called by those who ask later. (With real threads, 11 of 5000
pairs of calls did.) Nothing is said of threads that connect and send; that works.
"""

from pathlib import Path

import pytest

import mazurka
from examples.libraries.threads import together

blinker = pytest.importorskip("blinker")

SCHEDULE = Path(__file__).with_name("blinker_signal.json")


def same_name() -> None:
    namespace = blinker.Namespace()
    signals = []
    together(
        lambda: signals.append(namespace.signal("saved")),
        lambda: signals.append(namespace.signal("saved")),
    )
    assert signals[0] is signals[1]


def test_two_signals_of_one_name() -> None:
    with pytest.raises(mazurka.CheckFailed, match="signals"):
        mazurka.check(same_name)


def test_the_saved_execution() -> None:
    assert mazurka.replay(same_name, SCHEDULE.read_text()).kind == "exception"


@mazurka.check
def test_all_receivers_are_connected() -> None:
    signal = blinker.Signal()

    def first(sender: object) -> None:
        pass

    def second(sender: object) -> None:
        pass

    together(lambda: signal.connect(first), lambda: signal.connect(second))
    assert len(signal.send()) == 2


@mazurka.check
def test_a_receiver_is_called_or_not_connected_yet() -> None:
    signal = blinker.Signal()
    calls = []

    def receive(sender: object) -> None:
        calls.append(sender)

    together(lambda: signal.connect(receive), lambda: signal.send("sender"))
    assert calls in ([], ["sender"])
