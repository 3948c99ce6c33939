"""C programs: what they are compiled from, and how.

A program becomes a shared object of its own: its sources, compiled so that each access calls a hook
(-fsanitize=thread), and our runtime, which has the hooks. The runtime is compiled once for each
compiler, and kept.
"""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mazurka.engine.errors import MazurkaError
from mazurka.native.c_program import CProgram, is_c_file
from mazurka.native.debug_information import DebugInformation, symbols_of

RUNTIME = Path(__file__).parent / "runtime"
PLAIN_PARTS = (
    *("run", "tell", "fibers", "memory", "heap", "hooks", "crashes", "threads", "spins", "races"),
)
SEEN_PARTS = ("libc",)  # compiled as programs are

HOOKED = ["-fsanitize=thread"]
ALWAYS = [
    *("-fPIC", "-g", "-fno-builtin", "-fno-omit-frame-pointer", "-pthread"),
    "-U_FORTIFY_SOURCE",
]
RUNTIME_FLAGS = ["-O2", "-std=gnu11", "-fvisibility=hidden"]
# The runtime must not call the program's memcpy, which is seen: flags that gcc needs for that.
IF_KNOWN = ["-fno-tree-loop-distribute-patterns", "-minline-all-stringops"]
LINKED = ["-shared", "-Wl,-z,now", "-Wl,-Bsymbolic", "-Wl,--no-undefined", "-pthread", "-lm"]


@dataclass(frozen=True)
class Compiled:
    """A program that was compiled."""

    library: Path
    objects: list[Path]  # of its sources
    runtime: list[Path]  # the objects of our runtime
    sources: list[Path]

    @cached_property
    def debug(self) -> DebugInformation:
        return DebugInformation(self.library)


def compiled(program: CProgram, folder: Path) -> Compiled:
    """Compile a program. A MazurkaError says why it cannot be."""
    require_machine()
    sources = [program.file, *[Path(flag) for flag in program.flags if is_c_file(flag)]]
    flags = [flag for flag in program.flags if not is_c_file(flag)]
    for source in sources:
        require_source(source)
    compiler = compiler_here()
    runtime = runtime_objects(compiler)
    objects = [folder / f"{place}.o" for place in range(len(sources))]
    for source, made in zip(sources, objects, strict=True):
        command = [*compiler, "-O0", *flags, *HOOKED, *ALWAYS, "-c", str(source)]
        call([*command, "-o", str(made)], f"{source} does not compile")
    library = folder / "program.so"
    if not any("main" in symbols_of(made).defined for made in objects):
        raise MazurkaError(f"{program.file} has no function main, which is what is run")
    inputs = [str(part) for part in [*objects, *runtime]]
    libraries = [flag for flag in flags if flag.startswith(("-l", "-L", "-Wl,"))]
    call(
        [*compiler, *inputs, *libraries, *LINKED, "-o", str(library)],
        f"{program.file} cannot be linked",
    )
    return Compiled(library, objects, runtime, sources)


def require_machine() -> None:
    machine, system = platform.machine(), platform.system()
    if machine != "x86_64" or system != "Linux":
        raise MazurkaError(
            f"C programs can be checked on Linux on x86-64 only so far: this is {system}, {machine}"
        )


def require_source(source: Path) -> None:
    if not source.is_file():
        what = "is a directory" if source.is_dir() else "does not exist"
        raise MazurkaError(f"{source} {what}: give the path of a C file")
    if not is_c_file(str(source)):
        raise MazurkaError(
            f"{source} is not a C file: its name does not end in .c (C++ cannot be checked yet)"
        )


def compiler_here() -> list[str]:
    """The command of the user's C compiler."""
    command = shlex.split(os.environ.get("CC", ""))
    candidates = command[:1] or ["cc", "gcc", "clang"]
    for name in candidates:
        path = shutil.which(name)
        if path:
            return [path, *command[1:]]
    raise MazurkaError(
        f"there is no C compiler ({' or '.join(candidates)}): install gcc or clang, or set CC"
    )


def call(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise MazurkaError(f"{what}:\n\n{done.stderr.strip() or ' '.join(command)}")


# The runtime


def runtime_objects(compiler: list[str]) -> list[Path]:
    """The runtime's objects, which are made when they are first needed."""
    folder = cache_folder() / f"runtime-{fingerprint(compiler)}"
    names = [f"{part}.o" for part in (*PLAIN_PARTS, *SEEN_PARTS)]
    if not folder.is_dir():
        build_runtime(compiler, folder)
    return [folder / name for name in names]


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "mazurka"


def fingerprint(compiler: list[str]) -> str:
    """Of all that the runtime is made from."""
    found = os.stat(compiler[0])
    flags = [*RUNTIME_FLAGS, *IF_KNOWN, *ALWAYS]
    text = f"{compiler} {found.st_size} {found.st_mtime_ns} {flags} {RUNTIME}".encode()
    sources = [path.read_bytes() for path in sorted(RUNTIME.glob("*.[ch]"))]
    return hashlib.sha256(b"\0".join([text, *sources])).hexdigest()[:16]


def knows(compiler: list[str], flag: str) -> bool:
    """Whether a compiler has a flag."""
    command = [*compiler, flag, "-x", "c", "-fsyntax-only", os.devnull]
    return subprocess.run(command, capture_output=True).returncode == 0


def build_runtime(compiler: list[str], folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
    except OSError as error:
        raise MazurkaError(
            f"the runtime for C programs cannot be kept in {folder.parent} ({error.strerror}): "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    flags = [*RUNTIME_FLAGS, *[flag for flag in IF_KNOWN if knows(compiler, flag)], *ALWAYS]
    for part in (*PLAIN_PARTS, *SEEN_PARTS):
        hooks = HOOKED if part in SEEN_PARTS else []
        source, result = str(RUNTIME / f"{part}.c"), str(made / f"{part}.o")
        command = [*compiler, *flags, *hooks, "-c", source, "-o", result]
        call(command, "Mazurka's runtime for C programs does not compile")
    try:
        made.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(made)
