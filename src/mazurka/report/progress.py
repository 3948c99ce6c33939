"""How far a search is, while it runs: a panel on a terminal, a line now and then elsewhere."""

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from mazurka.engine.result import Result
from mazurka.engine.status import Estimate, Status
from mazurka.report.amounts import duration_text, executions_text
from mazurka.report.text import plural

QUICK = 0.3  # seconds that a search may take without being worth a line
FIRST_LINE = 10.0  # seconds until there is a line where there is no terminal;
GROWTH = 2  # and for each that follows so many times as long
MOST_WORKERS = 8  # whose rates are shown one by one

# Shows a result so far, after so many seconds of waiting.
View = Callable[[Result, float], None]


class Progress:
    """Keeps the result so far, and shows it.

    Ctrl-C ends the search between two executions: raised in the midst of the program, it could be
    swallowed there, or change what the program does. A second Ctrl-C ends the search at once.
    """

    def __init__(self, view: View | None = None) -> None:
        self.result = Result()
        self.view = view
        self.interrupted = False
        self.handler: Any = None
        self.begun = time.monotonic()

    def __enter__(self) -> "Progress":
        if threading.current_thread() is threading.main_thread():  # others cannot
            self.handler = signal.signal(signal.SIGINT, self.interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)
        if isinstance(self.view, Panel):
            self.view.close()

    def interrupt(self, number: int, frame: object) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def __call__(self, result: Result) -> None:
        self.result = result
        if self.interrupted:
            raise KeyboardInterrupt
        if self.view is not None:
            self.view(result, time.monotonic() - self.begun)


def view_for_stderr() -> View:
    if sys.stderr.isatty():
        return Panel()
    return Lines(lambda line: print(line, file=sys.stderr, flush=True))


class Panel:
    """Some lines on a terminal, which change while the search runs."""

    def __init__(self) -> None:
        from rich.console import Console  # it takes a while to import
        from rich.live import Live

        self.live = Live(
            console=Console(stderr=True),
            auto_refresh=False,  # no thread of its own: the search says when
            transient=True,
            # What the program prints goes above the lines, if it goes to the same terminal.
            redirect_stdout=sys.stdout.isatty(),
        )

    def __call__(self, result: Result, waited: float) -> None:
        from rich.text import Text

        if waited > QUICK:
            self.live.start()  # does nothing from the second time on
            text = "\n".join(progress_lines(result, waited))
            self.live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)

    def close(self) -> None:
        self.live.stop()


class Lines:
    """A line now and then, less and less often."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write
        self.next = FIRST_LINE

    def __call__(self, result: Result, waited: float) -> None:
        if waited >= self.next:
            self.next = waited * GROWTH
            self.write("; ".join(progress_lines(result, waited)))


# In words


def progress_lines(result: Result, waited: float) -> list[str]:
    """What has been done, how much is left, what it takes, who does it."""
    lines = [progress_text(result, waited)]
    status = result.status
    if status is None:
        return lines
    if status.estimate is not None:
        lines.append(estimate_text(result, status.estimate))
    lines.append(needs_text(result, status))
    if status.rates:
        lines.append(workers_text(status.rates))
    return lines


def progress_text(result: Result, waited: float) -> str:
    """Executions, rate, time, and the failures if the search goes on after them."""
    minutes, seconds = divmod(int(waited), 60)
    rate = result.executions / result.seconds if result.seconds else 0.0
    text = f"{plural(result.executions, 'execution')}  {rate:,.0f}/s  {minutes}:{seconds:02}"
    if result.failures:
        text += f"  {plural(len(result.failures), 'failure')}"
    return text


def estimate_text(result: Result, estimate: Estimate) -> str:
    """How many executions there are in all, and how long the others take."""
    estimate = estimate.at_least(result.executions)
    left = time_left(result, estimate)
    return executions_text(estimate) + (f": {duration_text(left)} left" if left else "")


def time_left(result: Result, estimate: Estimate) -> Estimate | None:
    if not result.executions or not result.seconds:
        return None
    seconds = result.seconds / result.executions
    numbers = [(number - result.executions) * seconds for number in estimate.numbers]
    return Estimate(*[max(0.0, number) for number in numbers])


def advice_lines(result: Result, flags_of: Callable[[dict[str, Any]], str]) -> list[str]:
    """For a search that was stopped: how much is left, and what would help."""
    lines = []
    status = result.status
    if result.advice and status is not None and status.estimate is not None:
        lines.append(f"In all there are {estimate_text(result, status.estimate)}.")
    if result.advice:
        lines.append("What would help:")
    for one in result.advice:
        flags = flags_of(one.options)
        lines.append(f"  {flags}: {one.sentence}" if flags else f"  {one.sentence}")
    return lines


def needs_text(result: Result, status: Status) -> str:
    parts = [f"{status.depth:,} steps deep", f"{status.memory_mb:,.0f} MB"]
    if result.redundant:
        parts.insert(0, f"{result.redundant:,} redundant")
    if status.rates:
        parts.append(f"{plural(status.waiting, 'task')} waiting")
    return ", ".join(parts)


def workers_text(rates: list[float]) -> str:
    if len(rates) <= MOST_WORKERS:
        return f"{plural(len(rates), 'worker')}: {', '.join([f'{rate:,.0f}/s' for rate in rates])}"
    return f"{len(rates):,} workers: {min(rates):,.0f}/s to {max(rates):,.0f}/s"
