"""Clocks: virtual for every module, however it got one, and in order along happens-before."""

import asyncio
import functools
import operator
import queue
import sched
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from time import monotonic, perf_counter_ns, sleep
from time import time as now
from typing import Any

import pytest

import mazurka

ALGORITHMS = ["pop", "optimal", "source", "trust", "qpor", "naive"]


def outcome(program: Callable[[], object]) -> object:
    """What a program with one outcome returns."""
    result = mazurka.explore(program)
    assert result.verdict == "verified", result.failures
    (found,) = result.outcomes
    return found


# What a library may have kept of its clocks before the check


def default(clock: Callable[[], float] = time.monotonic) -> float:
    return clock()


class Timed:
    timer = staticmethod(time.perf_counter)
    clock = time.monotonic

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.own = clock


@dataclass
class Entry:
    made: float = field(default_factory=time.time)
    at: datetime = field(default_factory=datetime.now)


def closing_over(clock: Callable[[], Any]) -> Callable[[], Any]:
    def read() -> Any:
        return clock()

    return read


PARTIAL = functools.partial(time.monotonic)
CLOSURE = closing_over(time.monotonic)
CLOCKS = {"monotonic": time.monotonic, "ns": time.monotonic_ns}
MADE_BEFORE = Timed()

KEPT: dict[str, Callable[[], float]] = {
    "module": lambda: time.monotonic(),
    "name": lambda: monotonic(),
    "nanoseconds": lambda: perf_counter_ns() / 1e9,
    "wall": lambda: now() - 1_700_000_000 + 1000,
    "default": lambda: default(),
    "class attribute": lambda: Timed.clock(),
    "static method": lambda: Timed.timer(),
    "instance attribute": lambda: MADE_BEFORE.own(),
    "partial": lambda: PARTIAL(),
    "closure": lambda: CLOSURE(),
    "item": lambda: CLOCKS["monotonic"](),
    "map": lambda: next(map(operator.call, [time.monotonic])),
    "iter": lambda: next(iter(time.monotonic, None)),
    "factory": lambda: Entry().made - 1_700_000_000 + 1000,
    "datetime": lambda: datetime.now().timestamp() - 1_700_000_000 + 1000,
    "datetime in a zone": lambda: datetime.now(UTC).timestamp() - 1_700_000_000 + 1000,
    "datetime of a factory": lambda: Entry().at.timestamp() - 1_700_000_000 + 1000,
    "today": lambda: datetime.today().timestamp() - 1_700_000_000 + 1000,
    "utcnow": lambda: datetime.utcnow().replace(tzinfo=UTC).timestamp() - 1_700_000_000 + 1000,
}


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow")
@pytest.mark.parametrize("way", KEPT)
def test_a_clock_that_was_kept_is_virtual(way: str) -> None:
    look = KEPT[way]

    def program() -> float:
        before = look()
        sleep(50)
        return round(before) + round(look() - before) / 1000

    assert outcome(program) == 1000.05


def test_the_date_of_today() -> None:
    def program() -> list[str]:
        first = date.today()
        time.sleep(86400)
        return [str(first), str(date.today()), str(datetime.now().date())]

    expected = [str(date.fromtimestamp(1_700_000_000 + day * 86400)) for day in (0, 1, 1)]
    assert outcome(program) == str(expected)


def test_a_class_of_its_own_derived_from_datetime() -> None:
    class Moment(datetime):
        pass

    def program() -> tuple[str, float]:
        found = Moment.now()
        return type(found).__name__, round(found.timestamp())

    assert outcome(program) == ("Moment", 1_700_000_000)


def test_sched_runs_in_virtual_time() -> None:
    def program() -> list[object]:
        done: list[object] = []
        scheduler = sched.scheduler()
        begin = time.monotonic()
        for delay in (20, 10):
            scheduler.enter(
                delay, 1, lambda delay=delay: done.append(round(time.monotonic() - begin))
            )
        scheduler.run()
        return done

    assert set(mazurka.explore(program).outcomes) == {"[10, 20]"}


def test_the_clocks_of_asyncio_and_threads_agree() -> None:
    def program() -> bool:
        seen: list[float] = []

        async def main() -> None:
            seen.append(time.monotonic())
            await asyncio.to_thread(lambda: seen.append(time.monotonic()))
            seen.append(asyncio.get_running_loop().time())
            seen.append(time.monotonic())

        asyncio.run(main())
        return seen == sorted(seen)

    assert outcome(program) is True


# Along happens-before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_another_thread_has_posted_is_not_later(algorithm: str) -> None:
    def program() -> None:
        channel: queue.Queue[float] = queue.Queue()

        def producer() -> None:
            time.sleep(3)
            channel.put(time.monotonic())

        thread = threading.Thread(target=producer)
        thread.start()
        posted = channel.get()
        assert time.monotonic() >= posted
        thread.join()

    assert mazurka.explore(program, algorithm=algorithm).verdict == "verified"


def test_a_reader_that_came_before_a_write_looked_before_it() -> None:
    """Not only what is read counts: also what was not there yet."""

    def program() -> None:
        times: dict[str, float] = {}
        ready = False

        def look() -> None:
            begin = time.monotonic()
            if not ready:
                times["before"] = begin

        thread = threading.Thread(target=look)
        thread.start()
        ready = True
        after = time.monotonic()
        thread.join()
        assert times.get("before", 0) <= after

    for algorithm in ALGORITHMS:
        assert mazurka.explore(program, algorithm=algorithm).verdict == "verified"
    found = mazurka.explore(program, algorithm="trust", equivalence="reads-from")
    assert found.verdict == "verified"


def test_a_cache_with_a_time_to_live() -> None:
    class Cache:
        def __init__(self, clock: Callable[[], float] = monotonic) -> None:
            self.clock = clock
            self.lock = threading.Lock()
            self.entry: tuple[float, int] | None = None

        def get(self) -> int:
            with self.lock:
                if self.entry is None or self.clock() - self.entry[0] > 5:
                    self.entry = self.clock(), 1
                age = self.clock() - self.entry[0]
                assert 0 <= age <= 5
                return self.entry[1]

    def program() -> None:
        cache = Cache()

        def use() -> None:
            cache.get()
            time.sleep(7)
            cache.get()

        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert mazurka.explore(program).verdict == "verified"


def test_a_token_bucket_never_refills_backwards() -> None:
    class Bucket:
        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.tokens = 1.0
            self.filled = time.monotonic()

        def take(self) -> bool:
            with self.lock:
                moment = time.monotonic()
                assert moment >= self.filled
                self.tokens = min(1.0, self.tokens + (moment - self.filled) / 10)
                self.filled = moment
                if self.tokens < 1:
                    return False
                self.tokens -= 1
                return True

    def program() -> int:
        bucket = Bucket()
        taken: list[bool] = []

        def use(delay: float) -> None:
            time.sleep(delay)
            taken.append(bucket.take())

        threads = [threading.Thread(target=use, args=(delay,)) for delay in (0, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(taken)

    assert outcome(program) == 1


def test_a_program_without_clocks_pays_nothing() -> None:
    def program() -> None:
        lock = threading.Lock()

        def use() -> None:
            time.sleep(1)
            with lock:
                time.sleep(1)

        thread = threading.Thread(target=use)
        thread.start()
        use()
        thread.join()

    assert mazurka.explore(program).complete == 2
