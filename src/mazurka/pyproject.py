"""The options of a project: [tool.mazurka] in its pyproject.toml."""

from pathlib import Path
from typing import Any

from mazurka.options import OPTIONS, no_such_option

# A file cannot have functions.
KNOWN = {option.name: option for option in OPTIONS.values() if option.kind is not None}


def project_options(start: Path, profile: str | None = None) -> dict[str, Any]:
    """The options of the nearest pyproject.toml, in a folder or above it, with those of one of its
    profiles if one is wanted. A ValueError says what is wrong with them."""
    options, profiles = options_and_profiles(start)
    return options if profile is None else {**options, **named_profile(profiles, profile, start)}


def profile_options(start: Path, profile: str) -> dict[str, Any]:
    """The options of a profile alone."""
    return named_profile(options_and_profiles(start)[1], profile, start)


def named_profile(profiles: dict[str, Any], name: str, start: Path) -> dict[str, Any]:
    if name not in profiles:
        known = f"there are {', '.join(profiles)}" if profiles else "there are none"
        raise ValueError(
            f"there is no [tool.mazurka.profiles.{name}] in the pyproject.toml of {start}: {known}"
        )
    options: dict[str, Any] = profiles[name]
    return options


def options_and_profiles(start: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    file = project_file(start)
    return ({}, {}) if file is None else checked_table(file)


def project_file(start: Path) -> Path | None:
    """The nearest pyproject.toml, in a folder or above it."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return file
    return None


def checked_table(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a file, and of each of its profiles: all are checked, whichever is wanted."""
    options = table_in(file)
    profiles = options.pop("profiles", {})
    if not isinstance(profiles, dict):
        raise ValueError(f"{file}: [tool.mazurka] profiles is not a table, but {profiles!r}")
    check_options(f"{file}: [tool.mazurka]", options)
    for name, values in profiles.items():
        where = f"{file}: [tool.mazurka.profiles.{name}]"
        if not isinstance(values, dict):
            raise ValueError(f"{where} is not a table, but {values!r}")
        check_options(where, values)
    return options, profiles


def check_options(where: str, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in KNOWN:
            raise ValueError(no_such_option(where, name, KNOWN))
        try:
            KNOWN[name].check(value)
        except ValueError as error:
            raise ValueError(f"{where} {name}: {error}") from error


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
