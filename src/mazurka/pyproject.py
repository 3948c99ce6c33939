"""The options of a project: [tool.mazurka] in its pyproject.toml."""

from pathlib import Path
from typing import Any

from mazurka.options import OPTIONS, no_such_option

# A file cannot have functions.
KNOWN = {option.name: option for option in OPTIONS.values() if option.kind is not None}


def project_options(start: Path) -> dict[str, Any]:
    """The options of the nearest pyproject.toml, in a folder or above it. A ValueError says what is
    wrong with them."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return options_in(file)
    return {}


def options_in(file: Path) -> dict[str, Any]:
    options = table_in(file)
    where = f"{file}: [tool.mazurka]"
    for name, value in options.items():
        if name not in KNOWN:
            raise ValueError(no_such_option(where, name, KNOWN))
        try:
            KNOWN[name].check(value)
        except ValueError as error:
            raise ValueError(f"{where} {name}: {error}") from error
    return options


def table_in(file: Path) -> dict[str, Any]:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from error
    if b"mazurka" not in text:  # mistakes in files of others are none of our business
        return {}
    import tomllib

    try:
        document: Any = tomllib.loads(text.decode())
    except ValueError as error:
        raise ValueError(f"{file} is not TOML: {error}") from error
    for name in ("tool", "mazurka"):
        document = document.get(name, {})
        if not isinstance(document, dict):
            raise ValueError(f"{file}: {name} is not a table, but {document!r}")
    table: dict[str, Any] = document
    return table
