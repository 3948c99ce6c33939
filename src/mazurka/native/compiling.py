"""C programs: what they are compiled from, and how.

A program becomes a shared object of its own: its sources, compiled so that each access calls a hook
(-fsanitize=thread), and our runtime, which has the hooks. The runtime is compiled once for each
compiler, and kept.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from mazurka.engine.errors import MazurkaError
from mazurka.native.c_program import CProgram, is_built, is_cpp_file, is_source
from mazurka.native.debug_information import DebugInformation, elf_file, symbols_of
from mazurka.native.known_functions import ERROR_FUNCTIONS
from mazurka.native.preprocessed import unseen_parts
from mazurka.native.structures import dump_flags, unseen_structures
from mazurka.native.unknown_functions import (
    of_the_c_library,
    refusing_object,
    unknown_functions,
)

RUNTIME = Path(__file__).parent / "runtime"
SEARCHED = ["run", "tell", "fibers", "memory", "heap", "hooks", "crashes"]
SEARCHED += ["threads", "spins", "races", "sections"]
LIBRARY = ["startup", "kernel", "files", "streams", "clocks", "signals", "choices", "refusals"]
LIBRARY += ["calls", "unused", "regular"]
PLAIN_PARTS = [*SEARCHED, *LIBRARY]
# Compiled as programs are.
SEEN_PARTS = ("libc", "texts", "environment", "dates", "wide", "tables", "numbers", "patterns")
CPP_PARTS = ("cpp",)
CPP_SEEN_PARTS = ("cpp_seen",)

HOOKED = ["-fsanitize=thread"]
HOOKED_PROGRAM = [*HOOKED, "-include", str(RUNTIME / "before_c.h")]
ALWAYS = [
    *("-fPIC", "-g", "-fno-builtin", "-fno-omit-frame-pointer", "-pthread"),
    *("-U_FORTIFY_SOURCE", "-U__SANITIZE_THREAD__"),  # the program is to be what it is without
]
RUNTIME_FLAGS = ["-O2", "-std=gnu11", "-fvisibility=hidden"]
# The runtime must not call the program's memcpy, which is seen: flags that gcc needs for that.
IF_KNOWN = ["-fno-tree-loop-distribute-patterns", "-minline-all-stringops"]
RUNTIME_FLAGS_CPP = ["-O2", "-std=gnu++17"]
# What the debug information tells of is then the program alone, and read quickly.
NOT_TOLD_OF = ["-g0"]
DEFINED = "defined.txt"  # beside the objects of the runtime: the functions and variables they have
LINKED = ["-shared", "-Wl,-z,now", "-Wl,-Bsymbolic", "-Wl,--no-undefined", "-pthread", "-lm"]
LINKED += [f"-Wl,--version-script={RUNTIME / 'exports.map'}"]
OTHER_ATOMICS = re.compile(r"__tsan_atomic128_|__atomic_(?:load|store|exchange|compare_exchange)$")
# What the headers of C++ have is compiled with the program, so that it is seen.
HOOKED_CPP = ["-include", str(RUNTIME / "before_cpp.h")]
LINKED_CPP = ["-static-libstdc++", "-static-libgcc"]
# Functions whose names say what they do must be called, and not be compiled into their callers.
CALLED_BY_NAME = re.compile("__VERIFIER_(?:atomic_|error)|reach_error")
KEPT_APART = ["-fno-inline", "-fno-ipa-icf", "-fno-optimize-sibling-calls"]
KEPT_APART += ["-fno-ipa-pure-const", "-fsemantic-interposition"]


@dataclass(frozen=True)
class Parts:
    """What a program is made of, compiled for checking."""

    objects: list[Path]
    linked: list[str]  # other files, and libraries
    is_cpp: bool
    unseen: list[str]


@dataclass(frozen=True)
class Compiled:
    """A program that was compiled."""

    library: Path
    objects: list[Path]  # of its sources
    sources: list[Path]  # or the program that was built
    unseen: list[str]  # code that accesses memory, and is not seen
    is_cpp: bool
    unknown: list[str]  # functions that it calls, of other libraries

    @cached_property
    def debug(self) -> DebugInformation:
        return DebugInformation(self.library)


def compiled(program: CProgram, folder: Path, opaque: Sequence[str] = ()) -> Compiled:
    """Compile a program, of which some functions are known to be harmless. A MazurkaError says why
    it cannot be."""
    require_machine()
    if is_built(program.file):
        from mazurka.native.embedded import parts_of_built  # the other one imports this module

        parts = parts_of_built(program, folder)
    else:
        parts = parts_of_sources(program, folder)
    if not any("main" in symbols_of(made).defined for made in parts.objects):
        raise MazurkaError(f"{program.file} has no function main, which is what is run")
    for made in parts.objects:
        make_weak(made, ERROR_FUNCTIONS.fullmatch)
    runtime = runtime_objects(parts.is_cpp)
    unknown = unknown_functions(parts.objects, defined_by(runtime), opaque, parts.is_cpp)
    if any(OTHER_ATOMICS.match(name) for name in unknown):
        raise MazurkaError(
            f"{program.file} has atomic operations on things that are not 1, 2, 4 or 8 bytes long: "
            "these cannot be checked yet"
        )
    refused = of_the_c_library(unknown - needed_by(runtime), compiler_here()) if unknown else []
    refusing = [refusing_object(refused, compiler_here(), folder)] if refused else []
    library = folder / "program.so"
    inputs = [str(part) for part in [*parts.objects, *refusing, *runtime]]
    how = [*LINKED, *(LINKED_CPP if parts.is_cpp else [])]
    call(
        [*compiler_here(parts.is_cpp), *inputs, *parts.linked, *how, "-o", str(library)],
        f"{program.file} cannot be linked",
    )
    keep_from_starting(library)
    others = sorted(unknown.difference(refused))
    return Compiled(library, parts.objects, [program.file], parts.unseen, parts.is_cpp, others)


def parts_of_sources(program: CProgram, folder: Path) -> Parts:
    sources = [program.file, *[Path(flag) for flag in program.flags if is_source(flag)]]
    flags = [flag for flag in program.flags if not is_source(flag)]
    for source in sources:
        require_source(source)
    objects = [folder / f"{place}.o" for place in range(len(sources))]
    unseen: list[str] = []
    for source, made in zip(sources, objects, strict=True):
        is_cpp = is_cpp_file(str(source))
        compiler = compiler_here(is_cpp)
        own = [*compiler, "-O0", *flags, *hooked(is_cpp, source, compiler)]
        done, not_seen = compiled_to_be_seen(compiler, own, source, made, is_cpp)
        if done.returncode:
            raise trouble_with([*own, str(source)], done, f"{source} does not compile")
        unseen.extend(not_seen)
    linked = [flag for flag in flags if flag.startswith(("-l", "-L", "-Wl,"))]
    is_cpp = any(is_cpp_file(str(source)) for source in sources)
    return Parts(objects, linked, is_cpp, unseen)


@cache
def tells_of_calls(compiler: tuple[str, ...]) -> bool:
    """Whether a compiler can be asked what it announces."""
    return all(knows([*compiler], flag) for flag in dump_flags(Path(os.devnull).parent))


def compiled_to_be_seen(
    compiler: list[str], own: list[str], source: Path, made: Path, is_cpp: bool
) -> tuple["subprocess.CompletedProcess[str]", list[str]]:
    """Compile a source by a command of the compiler; gives what it accesses unseen, too."""
    with tempfile.TemporaryDirectory(prefix="mazurka-told-") as told:
        is_asked = not is_cpp and tells_of_calls(tuple(compiler))
        asks = dump_flags(Path(told)) if is_asked else []
        command = [*own, *asks, "-c", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode:
            return done, []
        # In C++ this is only documented: most programs would be told of.
        structures = [] if is_cpp else unseen_structures(Path(told), made, compiler)
        return done, [*unseen_parts(own, source), *structures]


def hooked(is_cpp: bool, source: Path, compiler: list[str]) -> list[str]:
    """The flags for code of a program, by which its accesses are seen."""
    is_apart = CALLED_BY_NAME.search(source.read_text(errors="replace"))
    apart = kept_apart(tuple(compiler)) if is_apart else []
    return [*HOOKED_PROGRAM, *ALWAYS, *apart, *(HOOKED_CPP if is_cpp else [])]


@cache
def kept_apart(compiler: tuple[str, ...]) -> list[str]:
    """Those flags that a compiler has."""
    return [flag for flag in KEPT_APART if knows([*compiler], flag)]


def require_machine() -> None:
    machine, system = platform.machine(), platform.system()
    if machine != "x86_64" or system != "Linux":
        raise MazurkaError(
            f"C programs can be checked on Linux on x86-64 only so far: this is {system}, {machine}"
        )


def require_source(source: Path) -> None:
    if not source.is_file():
        what = "is a directory" if source.is_dir() else "does not exist"
        raise MazurkaError(f"{source} {what}: give the path of a C or C++ file, or of a program")
    if not is_source(str(source)):
        raise MazurkaError(
            f"{source} is neither a C file nor a C++ file, going by how its name ends"
        )


def compiler_here(is_cpp: bool = False) -> list[str]:
    """The command of the user's compiler. If that is set to be `mazurka cc`, it is the one that
    this calls."""
    variable, language = ("CXX", "C++") if is_cpp else ("CC", "C")
    command = shlex.split(os.environ.get(variable, ""))
    if any(os.path.basename(word) == "mazurka" for word in command):
        command = shlex.split(os.environ.get(f"MAZURKA_{variable}", ""))
    candidates = command[:1] or (["c++", "g++", "clang++"] if is_cpp else ["cc", "gcc", "clang"])
    for name in candidates:
        path = shutil.which(name)
        if path:
            return [path, *command[1:]]
    raise MazurkaError(
        f"there is no {language} compiler ({' or '.join(candidates)}): install gcc or clang, or "
        f"set {variable}"
    )


def call(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise trouble_with(command, done, what)


def trouble_with(
    command: list[str], done: "subprocess.CompletedProcess[str]", what: str
) -> MazurkaError:
    return MazurkaError(f"{what}:\n\n{done.stderr.strip() or ' '.join(command)}")


# The runtime


def runtime_objects(is_cpp: bool) -> list[Path]:
    """The runtime's objects, which are made when they are first needed."""
    made = runtime_made(compiler_here(), (*PLAIN_PARTS, *SEEN_PARTS), "c")
    return (
        made + runtime_made(compiler_here(True), (*CPP_PARTS, *CPP_SEEN_PARTS), "cpp")
        if is_cpp
        else made
    )


def runtime_made(compiler: list[str], parts: Sequence[str], ending: str) -> list[Path]:
    """Some objects of the runtime."""
    folder = cache_folder() / f"runtime-{ending}-{fingerprint(compiler, parts)}"
    if not folder.is_dir():
        build_runtime(compiler, parts, ending, folder)
    return [folder / f"{part}.o" for part in parts]


def defined_by(objects: list[Path]) -> set[str]:
    """What objects of the runtime have."""
    folders = {made.parent for made in objects}
    return {name for folder in folders for name in (folder / DEFINED).read_text().split()}


def needed_by(objects: list[Path]) -> set[str]:
    """What objects of the runtime call themselves."""
    return {name for made in objects for name in symbols_of(made).undefined}


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "mazurka"


def fingerprint(compiler: list[str], parts: Sequence[str]) -> str:
    """Of all that the runtime is made from."""
    found = os.stat(compiler[0])
    flags = [*RUNTIME_FLAGS, *RUNTIME_FLAGS_CPP, *IF_KNOWN, *ALWAYS, *NOT_TOLD_OF]
    what = f"{flags} {RUNTIME} {parts} {DEFINED}"
    text = f"{compiler} {found.st_size} {found.st_mtime_ns} {what}".encode()
    sources = [path.read_bytes() for path in sorted(RUNTIME.glob("*.[ch]*"))]
    return hashlib.sha256(b"\0".join([text, *sources])).hexdigest()[:16]


def knows(compiler: list[str], flag: str) -> bool:
    """Whether a compiler has a flag."""
    command = [*compiler, flag, "-x", "c", "-fsyntax-only", os.devnull]
    return subprocess.run(command, capture_output=True).returncode == 0


def build_runtime(compiler: list[str], parts: Sequence[str], ending: str, folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
    except OSError as error:
        raise MazurkaError(
            f"the runtime for C programs cannot be kept in {folder.parent} ({error.strerror}): "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    own = RUNTIME_FLAGS if ending == "c" else RUNTIME_FLAGS_CPP
    flags = [*own, *[flag for flag in IF_KNOWN if knows(compiler, flag)], *ALWAYS, *NOT_TOLD_OF]

    def build(part: str) -> None:
        hooks = HOOKED if part in (*SEEN_PARTS, *CPP_SEEN_PARTS) else []
        source, result = str(RUNTIME / f"{part}.{ending}"), str(made / f"{part}.o")
        command = [*compiler, *flags, *hooks, "-c", source, "-o", result]
        call(command, "Mazurka's runtime for C programs does not compile")
        if ending == "c":
            make_weak(made / f"{part}.o", gives_way)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(build, parts))  # which raises what has gone wrong
    names = [name for part in parts for name in sorted(symbols_of(made / f"{part}.o").defined)]
    (made / DEFINED).write_text("\n".join(names))
    try:
        made.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(made)


SYMBOL = struct.Struct("<IBBHQQ")  # of ELF
WEAK = 2 << 4


def gives_way(name: str) -> bool:
    """Whether a program may have something of its own that is called like this: what the runtime
    has under such a name is for programs that have none."""
    is_ours = name.startswith(("mz_", "__tsan_"))
    return not (is_ours or ERROR_FUNCTIONS.fullmatch(name))


def make_weak(made: Path, is_meant: Callable[[str], object]) -> None:
    """See to it that some symbols of an object count only where no other object has them."""
    with made.open("r+b") as file:
        table = elf_file(file).get_section_by_name(".symtab")
        begin, data = table["sh_offset"], bytearray(table.data())
        for place, symbol in enumerate(table.iter_symbols()):
            is_global = symbol["st_info"]["bind"] == "STB_GLOBAL"
            if is_global and symbol["st_shndx"] != "SHN_UNDEF" and is_meant(symbol.name):
                information = place * SYMBOL.size + 4
                data[information] = WEAK | data[information] & 0xF
        file.seek(begin)
        file.write(data)


# What begins before main

DYNAMIC_ENTRY = struct.Struct("<qQ")
# The functions that a loader calls, and their size: our runtime calls them in each execution.
BEGINNINGS = {25: 0x6000_4D25, 27: 0x6000_4D27}  # DT_INIT_ARRAY, DT_INIT_ARRAYSZ: runtime/startup.c
ENDINGS = {26: 0x6000_4D26, 28: 0x6000_4D28}  # DT_FINI_ARRAY, DT_FINI_ARRAYSZ


def keep_from_starting(library: Path) -> None:
    """See to it that the loader does not call what a program has to be called before main."""
    with library.open("r+b") as file:
        section = elf_file(file).get_section_by_name(".dynamic")
        begin, data = section["sh_offset"], section.data()
        for place in range(0, len(data), DYNAMIC_ENTRY.size):
            tag, value = DYNAMIC_ENTRY.unpack_from(data, place)
            if tag in BEGINNINGS or tag in ENDINGS:
                file.seek(begin + place)
                file.write(DYNAMIC_ENTRY.pack({**BEGINNINGS, **ENDINGS}[tag], value))
