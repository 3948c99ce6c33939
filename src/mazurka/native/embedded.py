"""What `mazurka cc` leaves in objects and programs, for checking.

A section has one record behind the other: a mark, a length, and JSON that is followed by an object
file. So records that a linker has put together can be told apart.
"""

import json
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mazurka.engine.errors import MazurkaError
from mazurka.native.c_program import CProgram, is_built
from mazurka.native.compiling import Parts
from mazurka.native.debug_information import elf_file

SECTION = ".mazurka"
MARK = b"\nMazurka record 1\n"
LENGTH = struct.Struct("<QQ")  # of the JSON, and of the object


@dataclass(frozen=True)
class Record:
    """An object that was compiled for checking, or a note on what was linked."""

    about: dict[str, Any]
    code: bytes


def object_record(code: bytes, source: str, is_cpp: bool, unseen: list[str], trouble: str) -> bytes:
    about = {"source": source, "is_cpp": is_cpp, "unseen": unseen, "trouble": trouble}
    return packed(about, zlib.compress(code, 1))


def link_record(linked: list[str], is_cpp: bool) -> bytes:
    return packed({"linked": linked, "is_cpp": is_cpp}, b"")


def packed(about: dict[str, Any], code: bytes) -> bytes:
    text = json.dumps(about).encode()
    return MARK + LENGTH.pack(len(text), len(code)) + text + code


def records_of(path: Path) -> list[Record]:
    """What a file carries: nothing if `mazurka cc` has not made it."""
    if not is_built(path):
        return []
    with path.open("rb") as file:
        section = elf_file(file).get_section_by_name(SECTION)
        return unpacked(section.data()) if section is not None else []


def unpacked(data: bytes) -> list[Record]:
    found: list[Record] = []
    place = data.find(MARK)
    while place >= 0:
        begin = place + len(MARK) + LENGTH.size
        text, code = LENGTH.unpack_from(data, place + len(MARK))
        about = json.loads(data[begin : begin + text])
        own = data[begin + text : begin + text + code]
        found.append(Record(about, zlib.decompress(own) if own else b""))
        place = data.find(MARK, begin + text + code)
    return found


NOT_OURS = (
    '{file} was not built for checking. Build it with CC="mazurka cc" (and '
    'CXX="mazurka c++") in the place of your compiler, as in: make clean && '
    'CC="mazurka cc" make'
)


def parts_of_built(program: CProgram, folder: Path) -> Parts:
    """The parts of a program that `mazurka cc` has built, and of its own libraries."""
    if program.flags:
        raise MazurkaError(f"{program.file} is built already: flags are for C and C++ files")
    records = records_of(program.file)
    if not any(record.code for record in records):
        raise MazurkaError(NOT_OURS.format(file=program.file))
    linked: list[str] = []
    for record in records:
        for argument in record.about.get("linked", ()):
            inner = records_of(Path(argument)) if is_built(argument) else []
            records.extend(one for one in inner if one not in records)  # the loop comes to these
            if not inner:
                linked.append(argument)
    objects: list[Path] = []
    unseen: list[str] = []
    for record in records:
        if "source" not in record.about:
            continue
        if record.about["trouble"]:
            source, why = record.about["source"], record.about["trouble"]
            raise MazurkaError(f"{source} did not compile for checking:\n\n{why}")
        unseen.extend(record.about["unseen"])
        objects.append(folder / f"{len(objects)}.o")
        objects[-1].write_bytes(record.code)
    is_cpp = any(record.about["is_cpp"] for record in records)
    return Parts(objects, linked, is_cpp, unseen)
