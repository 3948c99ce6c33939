"""Programs that are right, and were once refused or said to fail."""

import asyncio
import functools
import io
import logging
import queue
import signal
import threading
import weakref
from typing import Any

import pytest

import mazurka
from tests.python.threads import in_threads

# Finalizers are not called before an execution is over: that is told


class Releasing:
    def __init__(self, lock: Any, jobs: Any) -> None:
        self.lock = lock
        self.jobs = jobs

    def __del__(self) -> None:
        with self.lock:
            self.jobs.put(1)


def put_one(jobs: Any) -> None:
    jobs.put(1)


def test_a_finalizer_that_takes_a_lock(recwarn: pytest.WarningsRecorder) -> None:
    def program() -> None:
        lock = threading.Lock()
        jobs: queue.Queue[int] = queue.Queue()

        def use() -> None:
            thing = Releasing(lock, jobs)
            del thing

        in_threads(use, use)

    result = mazurka.explore(program)
    assert result.verdict == "incomplete"
    assert any("Releasing.__del__ does is not seen: it comes after" in w for w in result.warnings)
    assert not recwarn


def test_a_weak_finalizer() -> None:
    class Thing:
        pass

    def program(calls: bool) -> int:
        jobs: queue.Queue[int] = queue.Queue()
        thing = Thing()
        finalizer = weakref.finalize(thing, put_one, jobs)
        if calls:
            finalizer()
        else:
            del thing
        return jobs.qsize()

    called = mazurka.explore(functools.partial(program, True))
    assert called.verdict == "verified"
    assert set(called.outcomes) == {1}
    dropped = mazurka.explore(functools.partial(program, False))
    assert dropped.verdict == "incomplete"
    assert any("put_one does is not seen: it comes after" in w for w in dropped.warnings)


def test_a_finalizer_that_does_nothing_of_the_sort() -> None:
    class Counting:
        count = 0

        def __del__(self) -> None:
            self.done = True

    def program() -> None:
        in_threads(lambda: Counting() and None, lambda: None)

    assert mazurka.explore(program).verdict == "verified"


# Handlers of the log are exclusive


class Keeping(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.is_busy = False

    def emit(self, record: logging.LogRecord) -> None:
        assert not self.is_busy
        self.is_busy = True
        self.messages.append(record.getMessage())
        self.is_busy = False


LOGGER = logging.Logger("made before")
HANDLER = Keeping()
LOGGER.addHandler(HANDLER)


@pytest.mark.parametrize("made_before", [True, False])
def test_handlers_of_the_log_are_exclusive(made_before: bool) -> None:
    def program() -> tuple[str, ...]:
        logger, handler = LOGGER, HANDLER
        if not made_before:
            logger, handler = logging.Logger("own"), Keeping()
            logger.addHandler(handler)
        in_threads(lambda: logger.warning("a"), lambda: logger.warning("b"))
        return tuple(handler.messages)

    result = mazurka.explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {("a", "b"), ("b", "a")}


def test_the_standard_handlers_add_no_executions() -> None:
    logger = logging.getLogger("test_false_alarms")

    def program() -> None:
        in_threads(lambda: logger.warning("a"), lambda: logger.warning("b"))

    assert mazurka.explore(program).executions == 1


def test_what_the_standard_handlers_write_to_memory_is_seen() -> None:
    def program() -> str:
        logger, file = logging.Logger("own"), io.StringIO()
        logger.addHandler(logging.StreamHandler(file))
        in_threads(lambda: logger.warning("a"), lambda: logger.warning("b"))
        return file.getvalue()

    assert set(mazurka.explore(program).outcomes) == {"a\nb\n", "b\na\n"}


# Signals


def test_signals_are_for_the_main_thread() -> None:
    before = signal.getsignal(signal.SIGINT)

    def program() -> str:
        found: list[str] = []

        def elsewhere() -> None:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            except ValueError as error:
                found.append(str(error))

        assert signal.getsignal(signal.SIGINT) is before
        assert signal.signal(signal.SIGINT, signal.SIG_IGN) is before
        in_threads(elsewhere)
        return found[0]

    result = mazurka.explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {"signal only works in main thread of the main interpreter"}
    assert signal.getsignal(signal.SIGINT) is before


# Caches and classes


def test_a_cache_of_a_size_forgets() -> None:
    def program() -> tuple[int, ...]:
        calls: list[int] = []

        @functools.lru_cache(maxsize=32)
        def square(number: int) -> int:
            calls.append(number)
            return number * number

        for number in [*range(33), 0, 32]:
            square(number)
        return tuple(calls[-2:])

    result = mazurka.explore(program)
    assert set(result.outcomes) == {(32, 0)}


def test_the_variables_of_a_class() -> None:
    class Thing:
        size = 1

    def program() -> tuple[object, ...]:
        return vars(Thing)["size"], "size" in vars(Thing), Thing.__dict__["size"]

    assert set(mazurka.explore(program).outcomes) == {(1, True, 1)}


# asyncio


def test_a_poll_through_an_event_that_is_set() -> None:
    """As janus does: to await an event that is set is no change."""

    async def program() -> int:
        is_open = asyncio.Event()
        is_open.set()
        jobs: asyncio.Queue[int] = asyncio.Queue()

        async def take() -> int:
            while True:
                await is_open.wait()
                if not jobs.empty():
                    return jobs.get_nowait()
                await asyncio.sleep(0.01)

        task = asyncio.create_task(take())
        await asyncio.sleep(0)
        jobs.put_nowait(3)
        return await task

    assert set(mazurka.explore(program, timeouts="last").outcomes) == {3}


# Fixtures of pytest


@mazurka.check
def test_what_was_logged_in_this_execution(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("test_false_alarms")
    in_threads(lambda: logger.warning("a"), lambda: logger.warning("b"))
    assert sorted(caplog.messages) == ["a", "b"]
    assert len(caplog.text.splitlines()) == 2


NUMBER = 0


@pytest.mark.filterwarnings("error")
@mazurka.check
def test_warnings_that_are_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.NUMBER", 5)
    in_threads(lambda: print("a"), lambda: None)
    assert capsys.readouterr().out == "a\n"
    assert NUMBER == 5
