"""The options of a search on the command line, from the table of all options."""

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from mazurka.options import NAMES, OPTIONS, SWITCH, Option

Command = Callable[..., None]


def search_options(command: Command) -> Command:
    """Gives a command the options of a search."""
    for option in reversed(OPTIONS.values()):
        if option.kind is not None:
            command = click_option(option)(command)
    return command


profile_option = click.option(
    "--profile",
    metavar="NAME",
    help="Take the options of [tool.mazurka.profiles.NAME] in pyproject.toml, too.",
)


def click_option(option: Option) -> Callable[[Command], Command]:
    kind = option.kind
    if kind is SWITCH:
        return click.option(f"--{option.flag}", option.name, is_flag=True, help=option.help)
    names = (f"--{option.name.replace('_', '-')}", option.name)
    if kind is NAMES:
        return click.option(*names, multiple=True, metavar=kind.metavar, help=option.help)
    assert kind is not None
    return click.option(
        *names,
        type=click.Choice(list(kind.choices())) if kind.choices else str,
        callback=reading(option),
        default=None if option.default is None else str(option.default),
        metavar=None if kind.choices else kind.metavar,  # else it shows the names
        show_default=True,
        help=option.help,
    )


def reading(option: Option) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Makes a text the value that it stands for."""

    def read(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else option.read(text)
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from error

    return read


def typed(values: dict[str, Any]) -> dict[str, Any]:
    """Those options that the user typed: the others are left to the decorator of the program."""
    source = click.get_current_context().get_parameter_source
    return {
        name: not OPTIONS[name].default if OPTIONS[name].kind is SWITCH else value
        for name, value in values.items()
        if source(name) != ParameterSource.DEFAULT
    }


def as_flags(options: dict[str, Any]) -> str:
    """Options as a user types them."""
    words = []
    for name, value in options.items():
        if OPTIONS[name].kind is SWITCH:
            words.append(f"--{OPTIONS[name].flag}")
        else:
            words.append(f"--{name.replace('_', '-')} {value}")
    return " ".join(words)
