"""`mazurka cc` and `mazurka c++`: the user's compiler, for any project's own build.

What it makes is what the compiler makes: objects, archives and programs that run by themselves.
Beside its own code, each object carries a second one in a section of its own, which is compiled for
checking. A linker puts such sections one behind the other: so a program has those of all objects
that it is made of, and a note on how it was linked. `embedded.py` takes them out again.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from mazurka.native.c_program import is_cpp_file, is_source
from mazurka.native.compiling import compiled_to_be_seen, compiler_here, hooked
from mazurka.native.embedded import SECTION, link_record, object_record, records_of

# Options whose value is the next argument.
VALUE_FOLLOWS = """
    -o -I -L -l -D -U -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix -isysroot
    -MF -MT -MQ -x -Xlinker -Xassembler -Xpreprocessor -T -u -z -A -e -B --param -aux-info -wrapper
    -framework -target -arch -dumpbase -dumpdir -h -soname
"""
WITH_VALUE = frozenset(VALUE_FOLLOWS.split())
NOT_LINKED = frozenset(("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-###"))
# What only a linker wants. What options begin with, here and below.
FOR_LINKER = """
    -l -L -Wl, -Xlinker -shared -pie -no-pie -rdynamic -z -u -T -soname -nostdlib -nostartfiles
    -nodefaultlibs
"""
# What the second compilation must not do again, or what would hide accesses from it.
DROPPED = """
    -M -Wp,-M -Wp,-D_FORTIFY_SOURCE -flto -fsanitize -fprofile -pg --coverage -ftest-coverage
    -save-temps -ftls-model -fwhole-program -fdump -gsplit-dwarf -fno-lto -ffat-lto
    -fuse-linker-plugin -static
"""


@dataclass
class Arguments:
    """What a compiler was called with."""

    all: list[str]
    sources: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)  # of the linker, which are files
    output: str = ""
    modes: set[str] = field(default_factory=set)
    has_language: bool = False  # -x says what the sources are

    @property
    def is_for_others(self) -> bool:
        """Whether the compiler is asked for something that has nothing to do with checking."""
        is_compiling = self.sources and not self.modes - {"-c"}
        is_linking = bool(self.inputs or self.sources) and not self.modes
        return not (is_compiling or is_linking) or self.has_language


def parsed(arguments: list[str]) -> Arguments:
    found = Arguments(arguments)
    place = 0
    while place < len(arguments):
        argument = arguments[place]
        place += 1
        if argument in NOT_LINKED:
            found.modes.add(argument)
        elif argument == "-o":
            found.output = arguments[place] if place < len(arguments) else ""
            place += 1
        elif argument in WITH_VALUE:
            found.has_language |= argument == "-x"
            place += 1
        elif argument.startswith("-x"):
            found.has_language = True
        elif argument.startswith("-o"):
            found.output = argument[2:]
        elif argument == "-" or not argument.startswith("-"):
            (found.sources if is_source(argument) else found.inputs).append(argument)
    return found


def with_files_expanded(arguments: list[str]) -> list[str]:
    """Arguments that stand in files, as @file."""
    found: list[str] = []
    for argument in arguments:
        if argument.startswith("@") and os.path.isfile(argument[1:]):
            found.extend(with_files_expanded(shlex.split(Path(argument[1:]).read_text())))
        else:
            found.append(argument)
    return found


def wrapped_compiler(arguments: list[str], is_cpp: bool) -> int:
    """Do what the compiler would do with these arguments; gives its exit code."""
    compiler = compiler_here(is_cpp)
    arguments = [one for one in with_files_expanded(arguments) if not one.startswith("-flto")]
    asked = parsed(arguments)
    if asked.is_for_others:
        return subprocess.call([*compiler, *arguments])
    with tempfile.TemporaryDirectory(prefix="mazurka-cc-") as folder:
        if "-c" in asked.modes:
            return compile_objects(compiler, asked)
        return link(compiler, asked, Path(folder), is_cpp)


# Compiling


def compile_objects(compiler: list[str], asked: Arguments) -> int:
    code = subprocess.call([*compiler, *asked.all])
    if code:
        return code
    for source in asked.sources:
        made = asked.output or os.path.splitext(os.path.basename(source))[0] + ".o"
        add_hooked_object(compiler, asked, source, Path(made))
    return 0


def compile_flags(asked: Arguments) -> list[str]:
    """The arguments that say how, but not what is to be compiled."""
    kept: list[tuple[str, list[str]]] = []
    arguments, place = asked.all, 0
    while place < len(arguments):
        argument = arguments[place]
        values = 1 if argument in WITH_VALUE else 0
        is_file = not argument.startswith("-") or argument == "-"
        if not is_file and argument not in NOT_LINKED and not argument.startswith("-o"):
            kept.append((argument, arguments[place + 1 : place + 1 + values]))
        place += 1 + values
    return [
        text
        for argument, values in kept
        if not argument.startswith(tuple(FOR_LINKER.split()))
        for text in [argument, *values]
    ]


def hooked_flags(flags: list[str]) -> list[str]:
    kept: list[str] = []
    place = 0
    while place < len(flags):
        values = 1 if flags[place] in WITH_VALUE else 0
        if not flags[place].startswith(tuple(DROPPED.split())):
            kept.extend(flags[place : place + 1 + values])
        place += 1 + values
    return kept


def add_hooked_object(compiler: list[str], asked: Arguments, source: str, made: Path) -> None:
    """Put the object that is compiled for checking into a section of the ordinary one."""
    flags = hooked_flags(compile_flags(asked))
    with tempfile.TemporaryDirectory(prefix="mazurka-cc-") as folder:
        code_file, record = Path(folder) / "hooked.o", Path(folder) / "record"
        is_cpp = is_cpp_file(source) or os.path.basename(compiler[0]).endswith("++")
        flags += [*hooked(is_cpp, Path(source), compiler), "-w"]
        own = [*compiler, *flags]
        done, unseen = compiled_to_be_seen(compiler, own, Path(source), code_file, is_cpp)
        path = os.path.abspath(source)
        trouble = done.stderr.strip() if done.returncode else ""
        code = b"" if done.returncode else code_file.read_bytes()
        record.write_bytes(object_record(code, path, is_cpp, unseen, trouble))
        add_section(compiler, made, record)


def add_section(compiler: list[str], made: Path, record: Path) -> None:
    objcopy = shutil.which("objcopy") or shutil.which("llvm-objcopy")
    if objcopy is None:
        sys.exit("mazurka cc: there is no objcopy: install binutils")
    subprocess.run([objcopy, "--add-section", f"{SECTION}={record}", str(made)], check=True)


# Linking


def link(compiler: list[str], asked: Arguments, folder: Path, is_cpp: bool) -> int:
    """Compile the sources, and link; a note says what else there was to link."""
    objects: dict[str, str] = {}
    for place, source in enumerate(asked.sources):
        made = folder / f"{place}-{Path(source).stem}.o"
        code = subprocess.call([*compiler, *compile_flags(asked), "-c", source, "-o", str(made)])
        if code:
            return code
        add_hooked_object(compiler, asked, source, made)
        objects[source] = str(made)
    note = folder / "link.o"
    (folder / "link.c").write_text("")
    subprocess.run(
        [*compiler, "-x", "c", "-c", str(folder / "link.c"), "-o", str(note)], check=True
    )
    (folder / "record").write_bytes(link_record(linked_with(asked), is_cpp))
    add_section(compiler, note, folder / "record")
    arguments = [objects.get(argument, argument) for argument in asked.all]
    return subprocess.call([*compiler, *arguments, str(note)])


def linked_with(asked: Arguments) -> list[str]:
    """What is linked beside the objects that carry a second one, as it must be linked again."""
    found: list[str] = []
    arguments, place = asked.all, 0
    while place < len(arguments):
        argument = arguments[place]
        place += 1
        if argument in ("-l", "-L"):
            argument += arguments[place] if place < len(arguments) else ""
            place += 1
        elif argument in WITH_VALUE:
            place += 1
            continue
        if argument.startswith("-L"):
            found.append("-L" + os.path.abspath(argument[2:]))
        elif argument.startswith(("-l", "-Wl,--wrap", "-Wl,--defsym", "-fopenmp")):
            found.append(argument)
        elif argument in asked.inputs and not is_own_object(argument):
            found.append(os.path.abspath(argument))
    return found


def is_own_object(path: str) -> bool:
    return path.endswith(".o") and bool(records_of(Path(path)))
