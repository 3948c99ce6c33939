"""Whose code is seen: all Python code that a program runs, but for what is listed here."""

import functools
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES
from types import CodeType

from mazurka.python.source import PACKAGE

STANDARD_LIBRARY = tuple(
    os.path.abspath(path) + os.sep
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
)
SITE_FOLDERS = {"site-packages", "dist-packages"}

# Parts of the standard library that have models (see python/library), or that these stand on.
MODELLED = {
    "_threading_local", "asyncio", "concurrent", "contextvars", "logging", "queue",
    "random", "selectors", "signal", "socket", "threading",
}  # fmt: skip

# Standard modules that keep nothing but caches, which are safe with threads by design; and those
# that are about code rather than data. To see what they do would only multiply executions.
HARMLESS = {
    "__future__", "_bootlocale", "_compat_pickle", "_distutils_hack", "_py_abc", "_sitebuiltins",
    "_strptime", "abc", "ast", "atexit", "bdb", "cProfile", "code", "codecs",
    "codeop", "compileall", "copyreg", "dis", "doctest", "encodings", "enum", "faulthandler",
    "fnmatch", "genericpath", "gettext", "glob", "importlib", "inspect", "keyword",
    "linecache", "locale", "ntpath", "opcode", "operator", "pdb", "pkgutil", "platform",
    "posixpath", "profile", "pydoc", "re", "reprlib", "runpy", "site", "sre_compile",
    "sre_constants", "sre_parse", "stat", "sysconfig", "token", "tokenize", "trace", "traceback",
    "tracemalloc", "types", "typing", "unittest", "warnings", "zipimport",
}  # fmt: skip

OPAQUE = MODELLED | HARMLESS

# Parts of such modules that work on what they are given, and are seen.
SEEN_PARTS = {"unittest.mock"}

# Installed packages that run tests, and those that Mazurka stands on.
TOOLS = {
    "_hypothesis_pytestplugin", "_pytest", "coverage", "execnet", "greenlet", "hypothesis",
    "pluggy", "pytest", "pytest_cov", "xdist", "z3",
}  # fmt: skip


# Functions of other standard modules that make classes, or look at them alone.
ABOUT_CLASSES = {
    "_process_class", "namedtuple", "__subclasshook__", "_check_methods", "__instancecheck__",
    "__subclasscheck__",
}  # fmt: skip

COMPILED = (*EXTENSION_SUFFIXES, *BYTECODE_SUFFIXES)  # modules without source
FROZEN = "<frozen "  # what the file names of modules begin with that are part of the interpreter


def is_made_up(filename: str) -> bool:
    """Whether code has no source: it was made by `exec` or the like. (The cells of notebooks have
    no file, but source.)"""
    if not filename.startswith("<") or filename.startswith(FROZEN):
        return False
    # Since Python 3.13, "<string>" has the lines of `python -c`, whoever's code it is.
    return filename == "<string>" or not linecache.getlines(filename)


def is_seen(filename: str) -> bool:
    """Whether the functions of a file are rewritten when they are called."""
    if filename.startswith(FROZEN):
        return is_seen_standard(filename.removeprefix(FROZEN).rstrip(">"))
    if filename.startswith("<"):
        return not is_made_up(filename)
    return is_seen_path(filename)


@functools.cache
def is_seen_path(filename: str) -> bool:
    path = os.path.abspath(filename)
    if path.startswith(PACKAGE) or path.endswith(COMPILED):
        return False
    installed = installed_name(path)
    if installed is not None:
        return installed not in TOOLS
    for folder in STANDARD_LIBRARY:
        if path.startswith(folder):
            return is_seen_standard(path.removeprefix(folder))
    return True


def installed_name(path: str) -> str | None:
    """The name of the package that a file belongs to, if that is an installed one."""
    folders = path.split(os.sep)
    for folder in SITE_FOLDERS:
        if folder in folders[:-1]:
            return name_of(folders[folders.index(folder) + 1])
    return None


@functools.cache
def is_standard(filename: str) -> bool:
    """Whether a file belongs to the standard library."""
    path = os.path.abspath(filename)
    return filename.startswith(FROZEN) or (
        path.startswith(STANDARD_LIBRARY) and installed_name(path) is None
    )


def is_seen_standard(module: str) -> bool:
    """A module of the standard library, by its name or its path there."""
    is_part = module.removesuffix(".py").replace(os.sep, ".") in SEEN_PARTS
    return is_part or name_of(module) not in OPAQUE


def name_of(module: str) -> str:
    """The outermost package or module of a path, or of a dotted name."""
    return re.split(r"[./\\]", module, maxsplit=1)[0]


def is_known_code(name: str) -> bool:
    """Whether nobody needs to be told what a function does to an object that threads share, by its
    full name."""
    package = name.partition(".")[0]
    if package not in OPAQUE | TOOLS or is_within(name, SEEN_PARTS):
        return False
    path = getattr(sys.modules.get(package), "__file__", None)
    if path is None:
        return True
    return is_standard(path) or installed_name(os.path.abspath(path)) == package


def is_within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def is_modelled(name: str) -> bool:
    """The same also for an object that it is handed: what a harmless module does to that, and not
    to what it keeps itself, is another matter."""
    return name.partition(".")[0] in MODELLED and is_known_code(name)


def is_about_classes(code: CodeType) -> bool:
    return code.co_name in ABOUT_CLASSES and is_standard(code.co_filename)


def path_of(filename: str) -> str:
    """Where the source of a file is."""
    if not filename.startswith(FROZEN):
        return filename
    module = sys.modules.get(filename.removeprefix(FROZEN).rstrip(">"))
    return str(getattr(module, "__file__", filename))
