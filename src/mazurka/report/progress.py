"""How far a search is, while it runs."""

import signal
import sys
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from mazurka.engine.result import Result
from mazurka.report.text import plural

if TYPE_CHECKING:
    from rich.live import Live

QUICK = 0.3  # seconds that a search may take without being worth a line


class Progress:
    """Keeps the result so far, and shows it on a line of its own if there is a terminal.

    Ctrl-C ends the search between two executions: raised in the midst of the program, it could be
    swallowed there, or change what the program does. A second Ctrl-C ends the search at once.
    """

    def __init__(self) -> None:
        self.result = Result()
        self.interrupted = False
        self.live = live_line() if sys.stderr.isatty() else None

    def __enter__(self) -> "Progress":
        self.handler = signal.signal(signal.SIGINT, self.interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self.handler)
        if self.live is not None:
            self.live.stop()

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def __call__(self, result: Result) -> None:
        self.result = result
        if self.interrupted:
            raise KeyboardInterrupt
        if self.live is not None and result.seconds > QUICK:
            from rich.text import Text

            self.live.start()  # does nothing from the second time on
            self.live.update(Text(progress_text(result), overflow="ellipsis"), refresh=True)


def live_line() -> "Live":
    """A line of a terminal that changes. To import it takes long."""
    from rich.console import Console
    from rich.live import Live

    return Live(
        console=Console(stderr=True),
        auto_refresh=False,  # no thread of its own: the search says when
        transient=True,
        # What the program prints goes above the line, if it goes to the same terminal.
        redirect_stdout=sys.stdout.isatty(),
    )


def progress_text(result: Result) -> str:
    """Executions, rate, time, and the failures if the search goes on after them."""
    minutes, seconds = divmod(int(result.seconds), 60)
    rate = result.executions / result.seconds if result.seconds else 0.0
    text = f"{plural(result.executions, 'execution')}  {rate:,.0f}/s  {minutes}:{seconds:02}"
    if result.failures:
        text += f"  {plural(len(result.failures), 'failure')}"
    return text
