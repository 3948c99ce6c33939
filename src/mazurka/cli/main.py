"""The door for the command line: check a program, replay a failure."""

import io
import platform
import sys

import click

from mazurka.cli.check import check
from mazurka.cli.exits import EXIT_CODES_HELP
from mazurka.cli.replay import replay
from mazurka.python.source import COMPILED
from mazurka.version import VERSION


@click.group(epilog=EXIT_CODES_HELP)
@click.version_option(
    VERSION,
    prog_name="mazurka",
    message="%(prog)s %(version)s "
    f"({'compiled by mypyc' if COMPILED else 'plain Python'}, Python {platform.python_version()})",
)
def main() -> None:
    """Mazurka checks concurrent Python programs: it runs a program once for every behaviour that
    differs, and shows an execution that fails or proves that there is none."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # sources may have any character


main.add_command(check)
main.add_command(replay)
