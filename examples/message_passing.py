"""A sender hands data to a receiver through a flag.

mazurka check examples/message_passing.py::data_then_flag    verified, with one execution
mazurka check examples/message_passing.py::flag_then_data    fails: the receiver is too early
mazurka check examples/message_passing.py::flag_taken_back   fails: a livelock
"""

from mazurka import Atomic, spawn


def data_then_flag() -> None:
    """Waiting with `await_value` instead of a loop: no execution is spent on polling in vain."""
    data = Atomic("")
    ready = Atomic(False)

    def send() -> None:
        data.store("hello")
        ready.store(True)

    def receive() -> None:
        ready.await_value(bool)
        assert data.load() == "hello"

    spawn(send)
    spawn(receive)


def flag_then_data() -> None:
    """The same, with the two stores the wrong way round."""
    data = Atomic("")
    ready = Atomic(False)

    def send() -> None:
        ready.store(True)
        data.store("hello")

    def receive() -> None:
        ready.await_value(bool)
        message = data.load()
        assert message == "hello", f"received {message!r}"

    spawn(send)
    spawn(receive)


def flag_taken_back() -> None:
    """The sender resets the flag without waiting for an answer: the receiver may never see it."""
    ready = Atomic(False)

    def send() -> None:
        ready.store(True)
        ready.store(False)

    def receive() -> None:
        ready.await_value(bool)

    spawn(send)
    spawn(receive)
