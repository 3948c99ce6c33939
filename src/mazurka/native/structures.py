"""Structures that a call takes or gives: what it accesses itself, the compiler does not announce.

gcc can be asked what has become of a source where it has just put in the announcements. There, each
call is one statement, with its operands; what is a register or a value accesses nothing. A variable
of the function whose address is never taken is the thread's own. What is left is told.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from mazurka.engine.errors import MazurkaError
from mazurka.native.debug_information import by_value, global_variables, shown_path

# The pass has one name without optimisations, and another one with them.
DUMPS = ("tsan0", "tsan")

ALONE = ["-shared", "-nostdlib", "-Wl,--unresolved-symbols=ignore-all"]

FUNCTION = re.compile(r"^;; Function .*$", re.MULTILINE)
PROTOTYPE = re.compile(r"^[^\s;].*\)$", re.MULTILINE)
# A variable of the function: static ones are shared.
DECLARATION = re.compile(r"^  (?P<type>\S.*?)(?P<name>[\w.$]+)(?:\[[^;]*\])?;$", re.MULTILINE)
PLACE = re.compile(r"\[(?P<file>[^\[\]]*):(?P<line>\d+):\d+(?: discrim \d+)?\] ")
CALL = re.compile(
    r"^ *(?P<place>\[[^\[\]]*:\d+:\d+(?: discrim \d+)?\] )?gimple_call <(?P<operands>.*)>"
)
ANNOUNCEMENT = re.compile(r"<__builtin___tsan_|<\.")  # functions of the compiler's own, too
# A part of a variable, by way of its address.
PART_OF = re.compile(r"MEM(?: <[^<>]*>)? ?\[\([^()]*\)&([\w.$]+)[^\[\]]*\]")
ADDRESS = re.compile(r"&([\w.$]+)")
VALUE = re.compile(r'NULL$|[-+]?\d|[-+]?(?:Inf|NaN|Nan)|["&{]|\((?!\*)|__complex__')
NAME = re.compile(r"(?:<retval>|[\w.$]+)")
# How a variable of a certain version, and what a pointer points to, are called in C.
OF_VERSION = re.compile(r"(?:\.\d+)?_\d+(?:\(D\))?(?=->|[\])]|$)")
BEHIND = re.compile(r"MEM\[\(.*\)([\w.]+)\]$")
VERSION = re.compile(r"(?:(?P<of>.*)_)?\d+(?:\(D\))?$")  # a register: a version of a variable

TAKEN = (
    "{}:{} hands {} to a function by value: that it is read there is not seen (copy it to a "
    "variable of the function first, or hand a pointer)"
)
GIVEN = (
    "{}:{} puts what a function returns into {}: that it is written there is not seen (put it "
    "into a variable of the function first)"
)
CRUDE = (
    "{} has a function that takes or gives a structure by value: what the call accesses is not "
    "seen (hand it a pointer)"
)


def dump_flags(folder: Path) -> list[str]:
    """What gcc is asked with: it writes into files in a folder."""
    return [f"-fdump-tree-{name}-raw-lineno={folder / name}" for name in DUMPS]


def linked(code: Path, compiler: list[str], folder: Path) -> Path:
    """An object file by itself: only then, its debug information can be read."""
    library = folder / "alone.so"
    command = [*compiler, *ALONE, str(code), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise MazurkaError(f"{code} cannot be looked at: {done.stderr.strip()}")
    return library


def unseen_structures(folder: Path, code: Path, compiler: list[str]) -> list[str]:
    """What calls access unseen in an object of C; what gcc told of it is in a folder."""
    dumps = [folder / name for name in DUMPS if (folder / name).is_file()]
    if not dumps:  # another compiler
        return [CRUDE.format(place) for place in by_value(linked(code, compiler, folder))]
    text = "\n".join(dump.read_text(errors="replace") for dump in dumps)
    found = [use for function in FUNCTION.split(text)[1:] for use in uses(function)]
    if not found:
        return []
    variables = global_variables(linked(code, compiler, folder))
    shared = [use for use in found if use.is_shared(variables)]
    return list(dict.fromkeys(use.told() for use in shared if not use.file.startswith("/usr/")))


class Use:
    """An operand of a call that is in memory."""

    def __init__(self, file: str, line: str, operand: str, is_result: bool, is_known: bool) -> None:
        self.file = file
        self.line = line
        self.operand = operand
        self.is_result = is_result
        self.is_known = is_known  # to be shared: else, it may be the name of a function

    def is_shared(self, variables: set[str]) -> bool:
        name = NAME.match(self.operand)
        return self.is_known or (name is not None and name[0] in variables)

    def told(self) -> str:
        form = GIVEN if self.is_result else TAKEN
        operand = BEHIND.sub(r"*\1", OF_VERSION.sub("", self.operand))
        return form.format(shown_path(self.file), self.line, operand)


def uses(function: str) -> Iterator[Use]:
    """The operands of a function's calls that others may access."""
    declared = [(found["type"], found["name"]) for found in DECLARATION.finditer(function)]
    statics = {name for kind, name in declared if kind.startswith(("static ", "extern "))}
    constant = {name for kind, name in declared if kind.startswith("static const ")}
    lines = PART_OF.sub(r"\1", function).splitlines()
    lines = [line for line in lines if not ANNOUNCEMENT.search(line)]
    lent = {name for line in lines for name in ADDRESS.findall(line)}
    own = {name for _, name in declared} | parameters(function) | {"<retval>"}
    for line in lines:
        call = CALL.match(line)
        if call is None:
            continue
        where = PLACE.match(call["place"] or "")
        file, at = (where["file"], where["line"]) if where is not None else ("", "")
        for place, operand in enumerate(operands(PLACE.sub("", call["operands"]))[1:]):
            base = base_of(operand, own)
            if base is None or base in constant or (base in own and base not in statics | lent):
                continue
            yield Use(file, at, operand, place == 0, base == "" or base in own)


def base_of(operand: str, own: set[str]) -> str | None:
    """The variable that an operand is or lies in; "" if that is none, as behind a pointer; None if
    it is no memory."""
    if VALUE.match(operand):
        return None
    name = NAME.match(operand)
    if name is None or "->" in operand or operand[name.end() :].startswith(("<", " ", "[(")):
        return ""
    if name[0] in own:
        return name[0]
    version = VERSION.match(operand)
    if version is not None and (not version["of"] or version["of"] in own):
        return None
    return name[0]


def operands(text: str) -> list[str]:
    """The operands of a statement: commas in texts and in brackets do not part them."""
    found, depth, is_text, escaped = [""], 0, False, False
    for one in text:
        if one == "," and not depth and not is_text:
            found.append("")
            continue
        if one == '"' and not escaped:
            is_text = not is_text
        escaped = one == "\\" and not escaped
        if not is_text:
            depth += (one in "([{") - (one in ")]}")
        found[-1] += one
    return [operand.strip() for operand in found]


def parameters(function: str) -> set[str]:
    prototype = PROTOTYPE.search(function)
    if prototype is None:
        return set()
    text = prototype[0]
    inner = text[text.index("(") + 1 : -1] if "(" in text else ""
    names = [NAME.findall(part) for part in operands(inner)]
    return {words[-1] for words in names if len(words) > 1}
