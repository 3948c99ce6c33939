"""The runtime in C has numbers of its own for what Python names: they must be the same."""

import re

from mazurka.engine import operation, program
from mazurka.native import accounts, operations, runtime_library
from mazurka.native.compiling import RUNTIME


def enumerated() -> dict[str, int]:
    """The names of all enumerations in state.h."""
    text = re.sub(r"/\*.*?\*/", "", (RUNTIME / "state.h").read_text(), flags=re.DOTALL)
    found: dict[str, int] = {}
    for body in re.findall(r"enum \{(.*?)\};", text, re.DOTALL):
        following = 0
        for part in filter(None, [part.strip() for part in body.split(",")]):
            name, _, value = part.partition("=")
            following = eval(value) if value else following
            found[name.strip()] = following
            following += 1
    return found


def test_kinds_policies_and_forms_are_the_same() -> None:
    numbers = enumerated()
    known = {**vars(operation), **vars(program), **vars(operations)}
    shared = [name for name in numbers if name in known and isinstance(known[name], int)]
    assert len(shared) > 30
    for name in shared:
        assert numbers[name] == known[name], name
    for mode in ("NONE", "READ", "WRITE", "ADD", "DISABLED"):
        assert numbers[f"MODE_{mode}"] == known[mode]


def test_places_in_the_state_are_the_same() -> None:
    text = re.sub(r"/\*.*?\*/", "", (RUNTIME / "state.h").read_text(), flags=re.DOTALL)
    body = text.split("struct runtime {")[1].split("struct thread *current")[0]
    declared = re.findall(r"int64_t ([^;]*);", body)
    names = [name.strip() for names in declared for name in names.split(",")]
    for place, name in enumerate(names[: runtime_library.STATE_SIZE]):
        assert vars(runtime_library).get(name.upper(), place) == place, name


def test_failures_are_the_same() -> None:
    numbers = enumerated()
    for number, name in enumerate(accounts.FAILURES[1:], 1):
        assert numbers[name.upper()] == number
