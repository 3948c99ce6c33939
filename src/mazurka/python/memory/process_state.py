"""What belongs to the whole process, and functions change that are not rewritten: settings like the
working directory, and what C code of installed packages keeps to itself.

A setting counts as an attribute of one object that all threads share. A call that changes it is a
step that writes it; every other call of code that is not seen is one that reads it, once it is
known that the program changes it at all. Where others look at a setting that nobody sees, in the
midst of a format string for example, a change is told.
"""

import codecs
import copyreg
import csv
import gc
import gettext
import locale
import logging
import os
import socket
import sys
import threading
import time
import tracemalloc
import warnings
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import LOG_SETTINGS, read, write
from mazurka.python.memory.file_system import Changed, FileUses
from mazurka.python.memory.shapes import module_of
from mazurka.python.rewriting.whose_code import TOOLS, is_within, name_of

LIMITS: tuple[tuple[Any, str], ...] = ()
if sys.platform != "win32":
    import resource

    LIMITS = ((resource, "setrlimit prlimit"),)

RANDOM: Final = "random numbers"  # of the functions of `random`, once the program has seeded them
SIGNALS: Final = "signal handlers"

# Whose functions change a setting. (A name with a space is no attribute of anything else.)
CHANGING: Final[dict[str, tuple[tuple[Any, str], ...]]] = {
    "working directory": ((os, "chdir fchdir"),),
    "umask": ((os, "umask"),),
    "nice value": ((os, "nice setpriority"),),
    "processor affinity": ((os, "sched_setaffinity"),),
    "recursion limit": ((sys, "setrecursionlimit"),),
    "switch interval": ((sys, "setswitchinterval"),),
    "longest number": ((sys, "set_int_max_str_digits"),),
    "dlopen flags": ((sys, "setdlopenflags"),),
    "garbage collection": ((gc, "enable disable set_threshold set_debug freeze unfreeze"),),
    "socket timeout": ((socket, "setdefaulttimeout"),),
    "stack size": ((threading, "stack_size"),),
    "csv dialects": ((csv, "register_dialect unregister_dialect"),),
    "text domain": ((gettext, "textdomain bindtextdomain"),),
    "memory tracing": ((tracemalloc, "start stop clear_traces reset_peak"),),
    LOG_SETTINGS: (
        (logging, "disable addLevelName setLoggerClass setLogRecordFactory captureWarnings "
                  "basicConfig"),
        (logging.Logger, "setLevel addHandler removeHandler"),
        (logging.Handler, "setLevel setFormatter"),
        (logging.Filterer, "addFilter removeFilter"),
    ),
}  # fmt: skip
SETTINGS: Final = (RANDOM, SIGNALS, *CHANGING)
# The same for settings that code looks at which calls nothing.
TOLD: Final[tuple[tuple[Any, str], ...]] = (
    (locale, "setlocale bindtextdomain textdomain resetlocale"),
    (time, "tzset"),
    (codecs, "register unregister register_error"),
    (copyreg, "pickle"),
    (csv, "field_size_limit"),
    (warnings, "simplefilter filterwarnings resetwarnings"),
    (sys, "addaudithook"),
    *LIMITS,
)


def functions_named(places: tuple[tuple[Any, str], ...]) -> list[Any]:
    """Those that this version of Python has on this platform."""
    return [
        vars(owner)[name]
        for owner, names in places
        for name in names.split()
        if name in vars(owner)
    ]


# By their ids; the functions are there too, so that nothing else gets these.
CHANGERS: Final[dict[int, tuple[str, Any]]] = {
    id(function): (setting, function)
    for setting, places in CHANGING.items()
    for function in functions_named(places)
}
TELLING: Final[dict[int, Any]] = {id(function): function for function in functions_named(TOLD)}

# Modules of the standard library that C keeps something in, and that hardly any test uses.
KEEPING: Final = {"_curses", "_curses_panel", "_dbm", "_gdbm", "readline", "syslog", "termios"}


class ProcessState:
    """The one object that stands for the process in a check."""

    def __init__(self) -> None:
        self.users: dict[str, int] = {}  # which thread has called C code of a package, by its name
        self.execution = 0  # in which that was
        self.files = FileUses()


def use_process(function: Any, arguments: tuple[Any, ...]) -> None:
    """Code that is not seen is about to be called: it may look at settings of the process, or
    change one, or what it keeps to itself."""
    check = RUNNING.check
    changer = CHANGERS.get(id(function))
    if changer is not None:
        change_setting(changer[0], f"{function.__name__}{arguments!r}")
        return
    if id(function) in TELLING and is_change(function, arguments):
        tell_of(f"{function.__module__}.{function.__name__}")
    if check.changeable.learnt:
        look_at_settings()
    if type(function) is not FunctionType and len(check.runtime.live) > 1:
        use_package(function)


def is_change(function: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether a call does more than ask."""
    if function.__name__ == "setlocale":
        return len(arguments) != 1
    return function.__name__ != "field_size_limit" or len(arguments) > 0


def tell_of(name: str) -> None:
    check = RUNNING.check
    if len(check.runtime.live) > 1:
        check.objects.opaque.setdefault(name, set()).add("the process")


def look_at_settings() -> None:
    """Read the settings that the program is known to change."""
    check = RUNNING.check
    for setting in SETTINGS:
        if setting in check.changeable.learnt and check.code is not None:
            read(check.calls.process, setting)


def change_setting(setting: str, call: str) -> None:
    check = RUNNING.check
    check.changes_process = True  # so it is put back before each execution
    if check.code is not None:
        write(check.calls.process, setting, Changed(call))


# What C code of packages keeps


def use_package(function: Any) -> None:
    """C code of an installed package may keep something that nobody sees, for all threads. Each
    call changes that; and if two threads call it, the result tells, as it cannot be put back."""
    check = RUNNING.check
    package = package_of(function)
    if not package or check.code is None or is_within(package, check.code.opaque):
        return
    process = check.calls.process
    change_setting(f"memory of {package}", function_name(function))
    if process.execution != RUNNING.executions:
        process.execution = RUNNING.executions
        process.users = {}
    thread = check.runtime.current
    assert thread is not None
    if process.users.setdefault(package, thread.id) != thread.id:
        tell_of(f"{function.__module__}.{function_name(function)}")


def function_name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def package_of(function: Any) -> str:
    """The installed package whose C code a function is; nothing if it is none."""
    module = getattr(function, "__module__", None)
    if type(function) is not BuiltinFunctionType:
        if is_of_ctypes(type(function)):
            return "ctypes"
    elif not isinstance(function.__self__, ModuleType):
        return ""  # a method: it works on its object
    package = name_of(module) if isinstance(module, str) else ""
    is_standard = package in sys.stdlib_module_names and package not in KEEPING
    return "" if is_standard or package in TOOLS or package == "mazurka" else package


def is_of_ctypes(kind: type) -> bool:
    """Whether calls of the instances of a class are calls of C, though the class is not of C."""
    return any(module_of(base) == "_ctypes" for base in kind.__mro__)
