"""Builds Mazurka: compiled by mypyc where there is a C compiler, plain Python elsewhere.

Set MAZURKA_PURE=1 to install plain Python in any case.
"""

import gc
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

# The hot parts, by name. Everything else is read by people or touched once in a check.
COMPILED = {
    "engine": (
        "clock errors event histories lanes operation order program races remembered result "
        "schedule search turns values walk"
    ),
    "explore": "naive optimal pop sampling source",
    "explore/qpor": "exploration unfolding",
    "explore/trust": "causality graph preemptions reads_from revisits visit",
    "native": "operations program",
    "python": "check early_timeouts failures operations program remembering source",
    "python/loops": "constants rounds sleeping waiting waiting_hooks",
    "python/memory": (
        "attributes cached_functions calls cells containers file_system identities matching "
        "process_state quiet shapes undo"
    ),
    "python/primitives": (
        "atomic barriers conditions counters events futures locks loop_inbox pools queues "
        "semaphores slots standard_queues threads timeouts undivided"
    ),
    "python/rewriting": "hooks",
    "python/runtime": (
        "journal names race_detector runtime standard_thread standing thread virtual_time watchdog"
    ),
}
# These call each other, and what mypyc brings along, all the time: the linker compiles them as one,
# and puts functions of one module into another. With all modules it would take a quarter longer.
AS_ONE = ("engine", "explore", "python/runtime")
LINKED_AS_ONE = ["-O3", "-flto=auto"]
# Nobody else links to them, so calls within them need not go through a table. Warnings about
# generated C help nobody, and to look for them takes a third of the compiler's time.
FLAGS = ["-fno-semantic-interposition", "-fvisibility=hidden", "-Wno-all"]


class SideBySide(build_ext):
    """Compiles the files of an extension on all cores: mypyc writes one for each module."""

    def build_extensions(self) -> None:
        compile_files = self.compiler.compile
        as_one = LINKED_AS_ONE if os.name != "nt" and compiler_works(*LINKED_AS_ONE) else []

        def compile_file(path: str, args: Sequence[Any], options: dict[str, Any]) -> list[str]:
            if is_linked_as_one(path):
                flags = [*options["extra_postargs"], *as_one]
                options = {**options, "extra_postargs": flags}
            return compile_files([path], *args, **options)

        def compile_all(sources: list[str], *args: Any, **options: Any) -> list[str]:
            if len(sources) == 1:  # it only imports from the large one
                return compile_files(sources, *args, **options)
            # The largest first, so that no core is left with one of them at the end.
            largest_first = sorted(sources, key=lambda path: -Path(path).stat().st_size)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                compiled = pool.map(lambda path: compile_file(path, args, options), largest_first)
                return [name for names in compiled for name in names]

        for extension in self.extensions:
            if len(extension.sources) > 1:
                extension.extra_link_args = [*extension.extra_link_args, *as_one]
        self.compiler.compile = compile_all
        self.parallel = os.cpu_count()
        super().build_extensions()


def is_linked_as_one(path: str) -> bool:
    """Of a C file, by its name: `__native_mazurka___engine___clock.c`."""
    name = Path(path).name
    folders = [folder.replace("/", "___") for folder in AS_ONE]
    return not name.startswith("__native_mazurka___") or any(
        name.startswith(f"__native_mazurka___{folder}___") for folder in folders
    )


def compiler_works(*link_flags: str) -> bool:
    """Whether a C extension for this Python can be compiled here, and linked with these flags."""
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler, get_python_inc

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <Python.h>\nint probe(void) { return PY_MAJOR_VERSION; }\n")
        flags, headers = list(link_flags), [get_python_inc()]
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            objects = compiler.compile([str(source)], folder, None, headers, extra_preargs=flags)
            if flags:
                compiler.link_shared_object(objects, f"{folder}/probe.so", extra_preargs=flags)
        except (CCompilerError, ExecError, PlatformError):
            return False
    return True


def extensions() -> list[object]:
    if os.environ.get("MAZURKA_PURE"):
        return []
    if "egg_info" in sys.argv or "dist_info" in sys.argv:  # only asked for the project's data
        return []
    if not compiler_works():
        print("mazurka: no working C compiler, installing plain Python", file=sys.stderr)
        return []
    from mypyc.build import mypycify

    files = [
        f"src/mazurka/{folder}/{name}.py"
        for folder, names in COMPILED.items()
        for name in names.split()
    ]
    modules = mypycify(files, opt_level="3", debug_level="0", multi_file=True)
    gc.freeze()  # what mypy knows of the program: to collect it at the end takes six seconds
    for module in modules:
        if os.name != "nt":  # its compiler has other flags, and mypyc gives them
            module.extra_compile_args = [*module.extra_compile_args, *FLAGS]
    return modules


setup(ext_modules=extensions(), cmdclass={"build_ext": SideBySide})
