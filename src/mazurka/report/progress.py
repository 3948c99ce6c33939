"""How far a search is, while it runs."""

import sys
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from mazurka.core.result import Result
from mazurka.report.text import plural


class Progress:
    """Keeps the result so far, and shows it on a line of its own if there is a terminal."""

    def __init__(self) -> None:
        self.result = Result()
        self.live: Live | None = None
        if sys.stderr.isatty():
            self.live = Live(
                console=Console(stderr=True),
                auto_refresh=False,  # no thread of its own: the search says when
                transient=True,
                # What the program prints goes above the line, if it goes to the same terminal.
                redirect_stdout=sys.stdout.isatty(),
            )

    def __enter__(self) -> "Progress":
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, result: Result) -> None:
        self.result = result
        if self.live is not None:
            self.live.update(Text(progress_text(result), overflow="ellipsis"), refresh=True)


def progress_text(result: Result) -> str:
    """Executions, rate, time, and the failures if the search goes on after them."""
    minutes, seconds = divmod(int(result.seconds), 60)
    rate = result.executions / result.seconds if result.seconds else 0.0
    text = f"{plural(result.executions, 'execution')}  {rate:,.0f}/s  {minutes}:{seconds:02}"
    if result.failures:
        text += f"  {plural(len(result.failures), 'failure')}"
    return text
