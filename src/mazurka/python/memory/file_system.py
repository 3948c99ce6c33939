"""Files, which any thread may look at and change.

What is done to files is no step as long as threads use different ones. Once two of them use one
file, and one changes it, files count as one object of the process: the search begins anew, and
whatever looks at a file is a step that reads that object, and what changes one a step that writes.

Functions that are rewritten, of `shutil` and `tempfile` for example, call those that are told here.
"""

import codecs
import contextlib
import genericpath
import io
import os
import posixpath
from types import TracebackType
from typing import Any, Final

from mazurka.engine.operation import JOIN
from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import read, write

SETTING: Final = "file system"  # (a name with a space is no attribute of anything else)

# What functions do to the paths that they are given, or to the files of descriptors.
LOOKS: Final = 0
LISTS: Final = 1
CHANGES: Final = 2


def functions_named(owner: Any, names: str) -> list[Any]:
    return [vars(owner)[name] for name in names.split() if name in vars(owner)]


LOOKING: Final = [
    *functions_named(os, "stat lstat access readlink getxattr listxattr statvfs fstat fstatvfs "
                         "pathconf read pread readv preadv lseek"),
    *functions_named(genericpath, "exists isfile isdir islink lexists getsize getmtime getatime "
                                  "getctime samefile isjunction"),
    *functions_named(posixpath, "lexists islink ismount realpath samefile isjunction"),
]  # fmt: skip
LISTING: Final = functions_named(os, "listdir scandir walk fwalk")
CHANGING: Final = functions_named(
    os,
    "mkdir makedirs rmdir removedirs remove unlink rename renames replace link symlink truncate "
    "ftruncate chmod lchmod fchmod chown lchown fchown utime mkfifo mknod setxattr removexattr "
    "write pwrite writev pwritev sendfile copy_file_range splice",
)
# By their ids; the functions are there too, so that nothing else gets these.
EFFECTS: Final[dict[int, tuple[int, Any]]] = {
    id(function): (effect, function)
    for effect, functions in ((LOOKS, LOOKING), (LISTS, LISTING), (CHANGES, CHANGING))
    for function in functions
}
LATE: Final = (os.walk, os.fwalk)  # they look when they are asked for more
WITH_TWO: Final = {
    "rename", "renames", "replace", "link", "symlink", "samefile", "sendfile", "copy_file_range",
    "splice",
}  # fmt: skip
PATHS: Final = ("path", "src", "dst", "fd", "file", "top")
DIRECTORIES: Final = ("dir_fd", "src_dir_fd", "dst_dir_fd")
FOR_CHANGES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

KINDS: Final = (
    io.FileIO,
    io.BufferedReader,
    io.BufferedWriter,
    io.BufferedRandom,
    io.TextIOWrapper,
)
# Their methods that have nothing to do with what is in them.
QUIET: Final = {"fileno", "isatty", "readable", "seekable", "writable"}
STANDARD: Final = 2  # the last of the descriptors that a process begins with


class Changed:
    """What a setting is after a call."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        return self.what


class Use:
    """What a thread did to a file, in the running execution."""

    def __init__(self, path: str, effect: int, thread: int) -> None:
        self.path = path
        self.effect = effect
        self.thread = thread


class FileUses:
    """All of these, until it is known that threads share files."""

    def __init__(self) -> None:
        self.execution = 0
        self.uses: dict[tuple[str, int, int], Use] = {}

    def note(self, path: str, effect: int, thread: int) -> bool:
        """Whether another thread uses the same, and one of them changes it."""
        if self.execution != RUNNING.executions:
            self.execution = RUNNING.executions
            self.uses = {}
        key = (path, effect, thread)
        if key in self.uses:
            return False
        new = self.uses[key] = Use(path, effect, thread)
        return any(
            use.thread != thread and conflict(use, new) and not has_joined(use.thread)
            for use in self.uses.values()
        )


def conflict(one: Use, other: Use) -> bool:
    """Whether one use of a path may tell the other."""
    if one.effect != CHANGES and other.effect != CHANGES:
        return False
    if one.path == other.path:
        return True
    if one.effect == CHANGES and is_inside(other.path, one.path):
        return True
    if other.effect == CHANGES and is_inside(one.path, other.path):
        return True
    return (one.effect == LISTS and is_inside(other.path, one.path)) or (
        other.effect == LISTS and is_inside(one.path, other.path)
    )


def is_inside(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip(os.sep) + os.sep)


def has_joined(thread: int) -> bool:
    """Whether the running thread has waited for the end of another one."""
    runtime = RUNNING.check.runtime
    here = runtime.current
    return here is not None and any(
        event.kind == JOIN and event.choice == thread and event.thread == here.id
        for event in runtime.events[: runtime.position]
    )


# What calls do


def use_files(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Code that is not seen is about to be called."""
    effect = effect_of(function, arguments)
    if effect >= 0:
        for path in paths_in(function, arguments, named):
            use_path(path, effect)
        if function in LATE and SETTING in RUNNING.check.changeable.learnt:
            RUNNING.check.objects.opaque.setdefault(f"os.{function.__name__}", set()).add("files")
        return
    owner = getattr(function, "__self__", None)
    if isinstance(owner, KINDS) and function.__name__ not in QUIET:
        use_file(owner)
    for argument in (*arguments, *named.values()):
        if isinstance(argument, KINDS):
            use_file(argument)


def effect_of(function: Any, arguments: tuple[Any, ...]) -> int:
    found = EFFECTS.get(id(function))
    if found is not None:
        return found[0]
    if function is not os.open and function is not codecs.open:
        return -1
    how = arguments[1] if len(arguments) > 1 else "r"
    changes = how & FOR_CHANGES if isinstance(how, int) else changes_file(how)
    return CHANGES if changes else LOOKS


def paths_in(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """The paths and descriptors of files that a function is given."""
    found = [*arguments[: 2 if function.__name__ in WITH_TWO else 1]]
    found += [named[name] for name in PATHS if named.get(name) is not None]
    directories = [named[name] for name in DIRECTORIES if named.get(name) is not None]
    if directories:  # in which the paths are
        return [
            path for path in found if isinstance(path, int) or os.path.isabs(path)
        ] + directories
    return found or [os.curdir]


def changes_file(mode: object) -> bool:
    return not isinstance(mode, str) or "+" in mode or mode.strip("b") not in ("r", "rt", "tr", "")


def use_opened(file: object, mode: object) -> None:
    """`open` is about to be called."""
    use_path(file, CHANGES if changes_file(mode) else LOOKS)


def use_file(file: Any) -> None:
    """Something is about to be done with a file that is open."""
    try:
        path = file.name
        effect = CHANGES if file.writable() else LOOKS
        is_standard = file.fileno() <= STANDARD
    except (ValueError, OSError, AttributeError):  # it is closed, or none of the system's
        return
    if not is_standard:
        use_path(path, effect)


def use_path(given: Any, effect: int) -> None:
    check = RUNNING.check
    runtime = check.runtime
    thread = runtime.current
    if thread is None or check.code is None or runtime.is_elsewhere() or runtime.cancelling:
        return
    if len(runtime.live) <= 1:  # what comes before all other threads is no matter
        return
    if SETTING in check.changeable.learnt:
        if effect == CHANGES:
            write(check.calls.process, SETTING, Changed(f"a new {name_of(given)}"))
        else:
            read(check.calls.process, SETTING)
        return
    path = whole_path(given)
    if path and check.calls.process.files.note(path, effect, thread.id):
        write(check.calls.process, SETTING, Changed(path))  # the search begins anew


def name_of(given: Any) -> str:
    """A path or descriptor, for people."""
    try:
        return os.path.basename(os.fsdecode(os.fspath(given))) or "folder"
    except TypeError:
        return "file"


def whole_path(given: Any) -> str:
    """Where a path leads, without a look at what is there; nothing for what is no file."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        if isinstance(given, int):
            given = os.readlink(f"/proc/self/fd/{given}")
        path = os.fsdecode(os.fspath(given))
        directory, name = os.path.split(os.path.abspath(path))
        return os.path.join(os.path.realpath(directory), name)
    return ""


class OpenFile:
    """A file in a `with` statement: its end may change the file."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def __enter__(self) -> Any:
        return self.file.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> object:
        use_file(self.file)
        return self.file.__exit__(kind, error, traceback)
