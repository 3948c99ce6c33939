"""Functions that a program calls, and of which nothing is known: what is done about them.

One of the C library's is refused where it is called: parts of a program that are not run do no
harm. All others are refused before anything is run, as they may be anything.
"""

import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

from mazurka.engine.errors import MazurkaError
from mazurka.native.debug_information import functions_exported_by, symbols_of
from mazurka.native.known_functions import CPP, HARMLESS

LIBRARIES = ("libc.so.6", "libm.so.6")
# Names that no header declares as they are here: no header is included.
QUIETLY = ["-w", "-fPIC", "-fno-builtin", "-fvisibility=hidden"]


def unknown_functions(
    objects: Sequence[Path], known: Collection[str], opaque: Sequence[str], is_cpp: bool
) -> set[str]:
    """What some objects need that neither they nor our runtime have, and that is not harmless."""
    has = {*known, *HARMLESS, *opaque}
    needed: set[str] = set()
    for part in objects:
        symbols = symbols_of(part)
        has |= symbols.defined
        needed |= symbols.undefined
    return {name for name in needed - has if not (is_cpp and CPP.match(name))}


def of_the_c_library(names: Collection[str], compiler: list[str]) -> list[str]:
    """Those that are functions of the C library."""
    if not names:
        return []
    exported: set[str] = set()
    for library in LIBRARIES:
        command = [*compiler, f"-print-file-name={library}"]
        path = Path(subprocess.run(command, capture_output=True, text=True).stdout.strip())
        if path.is_file():
            exported |= functions_exported_by(path)
    return sorted(exported.intersection(names))


def refusing_object(names: Sequence[str], compiler: list[str], folder: Path) -> Path:
    """An object that has functions of these names, which refuse the program."""
    source, made = folder / "refused.c", folder / "refused.o"
    lines = [f'void {name}(void) {{ mz_refuse_unknown("{name}"); }}' for name in names]
    source.write_text("\n".join(["void mz_refuse_unknown(const char *);", *lines, ""]))
    command = [*compiler, *QUIETLY, "-c", str(source), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise MazurkaError(f"{' and '.join(names)} cannot be kept from running: {done.stderr}")
    return made
