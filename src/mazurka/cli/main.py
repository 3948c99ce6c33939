"""The door for the command line: check a program, replay a failure, compile a project."""

import importlib
import io
import platform
import sys

import click

from mazurka.cli.exits import EXIT_CODES_HELP
from mazurka.version import VERSION

# Each is imported when it is called: a build calls `mazurka cc` again and again.
COMMANDS = {
    "c++": "compile",
    "cc": "compile",
    "check": "check",
    "estimate": "estimate",
    "replay": "replay",
}


class Commands(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"mazurka.cli.{COMMANDS[name]}")
        found: click.Command = getattr(module, "cpp" if name == "c++" else name)
        return found


def show_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from mazurka.python.source import COMPILED

        how = "compiled by mypyc" if COMPILED else "plain Python"
        click.echo(f"mazurka {VERSION} ({how}, Python {platform.python_version()})")
        context.exit()


@click.group(cls=Commands, epilog=EXIT_CODES_HELP)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Mazurka checks concurrent programs in Python, C and C++: it runs a program once for every
    behaviour that differs, and shows an execution that fails or proves that there is none."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # sources may have any character
