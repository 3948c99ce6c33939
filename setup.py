"""Builds Mazurka: compiled by mypyc where there is a C compiler, plain Python elsewhere.

Set MAZURKA_PURE=1 to install plain Python in any case.
"""

import os
import sys
import tempfile
from pathlib import Path

from setuptools import setup
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
        "attributes cached_functions calls cells containers identities matching process_state "
        "quiet shapes undo"
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
# Nobody else links to them, so calls within them need not go through a table. Warnings about
# generated C help nobody, and to look for them takes a third of the compiler's time.
FLAGS = ["-fno-semantic-interposition", "-fvisibility=hidden", "-Wno-all"]
# mypyc writes one large C file. So the linker compiles it in parts, on all cores, and still inlines
# the functions of one part in another.
IN_PARALLEL = ["-flto=auto"]


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
    modules = mypycify(files, opt_level="3", debug_level="0")
    in_parallel = IN_PARALLEL if os.name != "nt" and compiler_works(*IN_PARALLEL) else []
    for module in modules:
        if os.name == "nt":  # its compiler has other flags, and mypyc gives them
            continue
        module.extra_compile_args = [*module.extra_compile_args, *FLAGS]
        if module.name.endswith("__mypyc"):  # the large one: the others only import from it
            module.extra_compile_args += in_parallel
            module.extra_link_args += in_parallel
    return modules


setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count()}})
