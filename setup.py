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
    "engine": "clock event operation order program races result search values",
    "explore": "naive optimal pop sampling source",
    "explore/qpor": "exploration unfolding",
    "explore/trust": "causality preemptions reads_from visit",
    "python": "check failures operations program source",
    "python/loops": "constants rounds sleeping waiting waiting_hooks",
    "python/memory": (
        "attributes cached_functions calls cells containers identities matching shapes undo"
    ),
    "python/primitives": (
        "atomic barriers conditions counters events locks loop_inbox queues semaphores threads "
        "timeouts undivided"
    ),
    "python/rewriting": "hooks",
    "python/runtime": "names race_detector runtime scheduling standard_thread thread watchdog",
}
# Nobody else links to them, so calls within them need not go through a table.
FLAGS = ["-fno-semantic-interposition", "-fvisibility=hidden"]


def compiler_works() -> bool:
    """Whether a C extension for this Python can be compiled here."""
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler, get_python_inc

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <Python.h>\nint probe(void) { return PY_MAJOR_VERSION; }\n")
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            compiler.compile([str(source)], output_dir=folder, include_dirs=[get_python_inc()])
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
    for module in modules:
        module.extra_compile_args += FLAGS
    return modules


setup(ext_modules=extensions())
