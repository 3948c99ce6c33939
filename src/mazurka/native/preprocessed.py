"""Code that accesses memory unseen: looked for in what the preprocessor leaves of a source."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

OURS = str(Path(__file__).parent / "runtime")

LINE_MARK = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"([ 0-9]*)$')
OF_SYSTEM = "3"  # a mark's flag
ASSEMBLY = r"\b(?:__asm__|__asm|asm)\b\s*(?:\b(?:__)?(?:volatile|inline|goto)(?:__)?\b\s*)*"
HIDES_ACCESSES = re.compile(
    rf"{ASSEMBLY}(?:\(|\Z)|no_sanitize|disable_sanitizer_instrumentation"  # \Z: a mark comes next
)
# Instructions that access nothing: none at all, fences, pauses.
HARMLESS = re.compile(
    rf'{ASSEMBLY}\(\s*"\s*(?:(?:rep\s*;?\s*)?nop|pause|[mls]fence|)\s*;?\s*(?:\\n\s*)?"\s*[:)]'
)


def unseen_parts(compile_command: list[str], source: Path) -> list[str]:
    """What accesses memory and is not seen. The headers of the system are trusted."""
    command = [*compile_command, "-E", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        return [f"{source} could not be preprocessed: whether it has assembly is not known"]
    return [
        f"{file}:{line} has code that accesses memory unseen"
        for file, line in hidden_accesses(done.stdout)
    ]


def hidden_accesses(preprocessed: str) -> Iterator[tuple[str, int]]:
    """The files and lines of a program's own code that hides accesses."""
    told: set[tuple[str, int]] = set()
    for file, first, text in pieces(preprocessed):
        for found in HIDES_ACCESSES.finditer(text):
            if not HARMLESS.match(text, found.start()):
                place = file, first + text.count("\n", 0, found.start())
                if place not in told:
                    told.add(place)
                    yield place


def pieces(preprocessed: str) -> Iterator[tuple[str, int, str]]:
    """The text between two marks, with the file and the line where it begins. What belongs together
    may stand in several."""
    file, first, lines, is_of_system = "", 1, list[str](), False
    for line in preprocessed.splitlines():
        mark = LINE_MARK.match(line)
        if mark is None:
            lines.append(line)
            continue
        if lines and not is_of_system:
            yield file, first, "\n".join(lines)
        first, file, lines = int(mark[1]), mark[2], []
        is_of_system = OF_SYSTEM in mark[3].split() or file.startswith(OURS)
    if lines and not is_of_system:
        yield file, first, "\n".join(lines)
