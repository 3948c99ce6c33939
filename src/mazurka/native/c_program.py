"""What a C program is made of. It is compiled when it is explored."""

import os
from collections.abc import Sequence
from pathlib import Path

from mazurka.engine.calls import Specification
from mazurka.engine.errors import MazurkaError


class CProgram:
    """A C program, for `explore`, `check` and `replay`."""

    def __init__(
        self,
        file: Path,
        flags: list[str],
        args: list[str],
        specification: Specification | None = None,
    ) -> None:
        self.specification = specification  # of the calls that it tells of
        self.file = file
        self.flags = flags
        self.args = args
        self.__qualname__ = str(file)

    def __call__(self) -> object:
        """So that a C program can be given wherever programs are, which are functions."""
        raise MazurkaError(f"{self.file} is a C program: give it to mazurka.check or explore")


def c_program(
    file: str | os.PathLike[str], flags: Sequence[str] = (), args: Sequence[str] = ()
) -> CProgram:
    """The C program that has its `main` in a file, for `mazurka.check` and the like. `flags` are
    for the compiler (other C files may be among them), `args` are what `main` gets."""
    for name, texts in (("flags", flags), ("args", args)):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise MazurkaError(f"{name} of a C program must be a list of texts, not {texts!r}")
    return CProgram(Path(file), list(flags), list(args))


C_ENDINGS = (".c", ".i")
CPP_ENDINGS = (".cc", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".cp", ".ii")


def is_c_file(file: str) -> bool:
    return file.endswith(C_ENDINGS)


def is_cpp_file(file: str) -> bool:
    return file.endswith(CPP_ENDINGS)


def is_source(file: str) -> bool:
    """Whether a file is C or C++, going by its name."""
    return is_c_file(file) or is_cpp_file(file)


def is_built(file: str | os.PathLike[str]) -> bool:
    """Whether a file is a program, or another ELF file."""
    try:
        with open(file, "rb") as opened:
            return opened.read(4) == b"\x7fELF"
    except OSError:
        return False
