"""The options of a project: [tool.mazurka] in its pyproject.toml."""

from pathlib import Path
from typing import Any

from mazurka.options import OPTIONS, refuse_unknown, wrong_use

FILE = "pyproject.toml"
TABLE = "[tool.mazurka]"
# A file cannot have functions.
KNOWN = {option.name: option for option in OPTIONS.values() if option.kind is not None}


def project_options(start: Path) -> dict[str, Any]:
    """The options of the nearest pyproject.toml: in a folder, or above it."""
    for folder in (start, *start.parents):
        file = folder / FILE
        if file.is_file():
            return options_in(file)
    return {}


def options_in(file: Path) -> dict[str, Any]:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise wrong_use(f"cannot read {file}: {error.strerror}") from error
    if b"mazurka" not in text:  # that of others is none of our business
        return {}
    options = table_in(file, text)
    where = f"{file}: {TABLE}"
    refuse_unknown(where, options, KNOWN)
    for name, value in options.items():
        try:
            KNOWN[name].take(value)
        except ValueError as error:
            raise wrong_use(f"{where} {name}: {error}") from error
    return options


def table_in(file: Path, text: bytes) -> dict[str, Any]:
    import tomllib

    try:
        tools = tomllib.loads(text.decode()).get("tool", {})
    except ValueError as error:
        raise wrong_use(f"{file} is not TOML: {error}") from error
    table = tools.get("mazurka", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise wrong_use(f"{file}: tool.mazurka is {table!r}, not a table of options")
    return table
