"""Builds Mazurka: compiled by mypyc where there is a C compiler, plain Python elsewhere.

Set MAZURKA_PURE=1 to install plain Python in any case.
"""

import os
import sys
import tempfile
from glob import glob
from pathlib import Path

from setuptools import setup
from setuptools.errors import CCompilerError, ExecError, PlatformError

# The hot parts. Everything else is read by people or touched once in a check.
COMPILED = ["core/*.py", "explore/*.py", "program/*.py"]
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

    root = Path("src/mazurka")
    files = sorted(
        file
        for pattern in COMPILED
        for file in glob(str(root / pattern))
        if not file.endswith("__init__.py")
    )
    modules = mypycify(files, opt_level="3", debug_level="0")
    for module in modules:
        module.extra_compile_args += FLAGS
    return modules


setup(ext_modules=extensions())
