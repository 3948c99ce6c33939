"""What a result shows of itself: as text, and in a notebook."""

import io

from mazurka.engine.result import Result
from mazurka.report.text import LINE_WIDTH, result_text

BLOCK = '<pre style="white-space: pre; overflow-x: auto; line-height: 1.3">{code}</pre>'


def shown_as_text(result: Result) -> str:
    return result_text("", result)


def shown_as_html(result: Result) -> str:
    """The text with the colours of a terminal. What comes from the program is escaped."""
    from rich.console import Console  # few need it

    from mazurka.report.terminal import print_result

    console = Console(record=True, file=io.StringIO(), width=LINE_WIDTH, highlight=False)
    print_result(console, "", result)
    return console.export_html(inline_styles=True, code_format=BLOCK)
