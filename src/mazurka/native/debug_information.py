"""What the compiler says about a program: which symbols it needs, names of variables, lines."""

import bisect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mazurka.engine.errors import MazurkaError


def elf_file(file: Any) -> Any:
    try:
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise MazurkaError(
            "C programs need the package pyelftools: pip install 'mazurka[c]'"
        ) from error
    return ELFFile(file)


class Symbols(NamedTuple):
    defined: set[str]
    undefined: set[str]


def symbols_of(path: Path) -> Symbols:
    """The global symbols that an object file has and needs."""
    with path.open("rb") as file:
        table = elf_file(file).get_section_by_name(".symtab")
        found = Symbols(set(), set())
        for symbol in table.iter_symbols():
            if symbol["st_info"]["bind"] != "STB_LOCAL" and symbol.name:
                is_undefined = symbol["st_shndx"] == "SHN_UNDEF"
                (found.undefined if is_undefined else found.defined).add(symbol.name)
    return found


def functions_exported_by(library: Path) -> set[str]:
    """The functions of a shared library. Some are chosen as it is loaded: pyelftools has no name
    for that."""
    with library.open("rb") as file:
        table = elf_file(file).get_section_by_name(".dynsym")
        return {
            symbol.name
            for symbol in table.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF"
            and symbol["st_info"]["type"] in ("STT_FUNC", "STT_LOOS")
        }


TLS_RELOCATIONS = {23: "R_X86_64_TPOFF32", 22: "R_X86_64_GOTTPOFF", 34: "R_X86_64_GOTPC32_TLSDESC"}


def fixed_thread_locals(path: Path) -> bool:
    """Whether an object has thread-local variables at fixed places, where we cannot be asked."""
    with path.open("rb") as file:
        for section in elf_file(file).iter_sections():
            if section["sh_type"] == "SHT_RELA":
                for relocation in section.iter_relocations():
                    if relocation["r_info_type"] in TLS_RELOCATIONS:
                        return True
    return False


class Variable(NamedTuple):
    address: int
    size: int
    name: str


class DebugInformation:
    """Names and lines of a shared object. What takes long to read is read when it is asked for."""

    def __init__(self, library: Path) -> None:
        self.library = library
        self.functions: dict[int, str] = {}
        self.function_sizes: dict[int, int] = {}
        self.variables = sorted(self.read_symbols())
        self.addresses = [variable.address for variable in self.variables]
        self.by_name: dict[str, Variable] = {}
        for variable in self.variables:
            self.by_name.setdefault(variable.name, variable)
        self.lines: list[tuple[int, str, int]] | None = None
        self.types: dict[str, Any] | None = None
        self.file: Any = None

    def read_symbols(self) -> Iterator[Variable]:
        """Notes the functions, and gives the variables. Two of one name are told apart."""
        names: set[str] = set()
        with self.library.open("rb") as file:
            table = elf_file(file).get_section_by_name(".symtab")
            for symbol in table.iter_symbols():
                kind, address = symbol["st_info"]["type"], symbol["st_value"]
                if kind == "STT_FUNC":
                    self.functions[address] = symbol.name
                    self.function_sizes[address] = symbol["st_size"]
                elif kind == "STT_OBJECT" and symbol["st_size"]:
                    name = f"{symbol.name}@{address}" if symbol.name in names else symbol.name
                    names.add(name)
                    yield Variable(address, symbol["st_size"], name)

    def begin_of(self, function: str) -> int:
        """Where the code of a function begins."""
        return next(address for address, name in self.functions.items() if name == function)

    def code_of(self, names: re.Pattern[str]) -> list[tuple[int, int]]:
        """Where the code of some functions begins and ends."""
        return [
            (address, address + self.function_sizes[address])
            for address, name in self.functions.items()
            if names.match(name)
        ]

    def variable_at(self, offset: int) -> Variable | None:
        """The global or static variable at an offset in the object."""
        place = bisect.bisect_right(self.addresses, offset) - 1
        if place >= 0:
            variable = self.variables[place]
            if offset < variable.address + variable.size:
                return variable
        return None

    # Lines

    def line_at(self, offset: int) -> tuple[str, int]:
        """The file and line of a place in the code; an empty name if that is not known."""
        if self.lines is None:
            self.lines = sorted(self.read_lines())
        place = bisect.bisect_right(self.lines, (offset, "\U0010ffff", 0)) - 1
        if place < 0 or not self.lines[place][1]:
            return "", 0
        return self.lines[place][1], self.lines[place][2]

    def read_lines(self) -> Iterator[tuple[int, str, int]]:
        """Where the code of each line begins. Where a sequence ends, there is no line."""
        with self.library.open("rb") as file:
            information = elf_file(file).get_dwarf_info()
            for unit in information.iter_CUs():
                program = information.line_program_for_CU(unit)
                if program is None:
                    continue
                files = files_of(program, unit)
                for entry in program.get_entries():
                    state = entry.state
                    if state is None:
                        continue
                    if state.end_sequence:
                        yield state.address, "", 0
                    elif state.line:
                        yield state.address, files.get(state.file, ""), state.line

    # Parts of variables

    def part_name(self, variable: Variable, offset: int) -> str:
        """Which element or field of a variable lies at an offset in it, such as [3].next."""
        if self.types is None:
            self.types = dict(self.read_types())
        entry = self.types.get(variable.name)
        return type_part(entry, offset) if entry is not None else plus(offset)

    def read_types(self) -> Iterator[tuple[str, Any]]:
        """The types of the variables that are outside of functions, or static."""
        self.file = self.library.open("rb")  # types are read from it later, too
        for unit in elf_file(self.file).get_dwarf_info().iter_CUs():
            for entry in unit.iter_DIEs():
                is_variable = (
                    entry.tag == "DW_TAG_variable" and "DW_AT_location" in entry.attributes
                )
                if is_variable and "DW_AT_name" in entry.attributes:
                    name = entry.attributes["DW_AT_name"].value.decode(errors="replace")
                    if "DW_AT_type" in entry.attributes:
                        yield name, entry.get_DIE_from_attribute("DW_AT_type")


def bit_fields(library: Path) -> list[str]:
    """Where the program has bit-fields, but for those of the system."""
    found = []
    with library.open("rb") as file:
        information = elf_file(file).get_dwarf_info()
        for unit in information.iter_CUs():
            entries = [one for one in unit.iter_DIEs() if "DW_AT_bit_size" in one.attributes]
            if not entries:
                continue
            files = files_of(information.line_program_for_CU(unit), unit)
            for entry in entries:
                attributes = entry.attributes
                where = files.get(attributes["DW_AT_decl_file"].value, "")
                if not where.startswith("/usr/"):
                    found.append(f"{where}:{attributes['DW_AT_decl_line'].value}")
    return found


def by_value(library: Path) -> list[str]:
    """Where functions of a program take or give structures by value."""
    found = []
    with library.open("rb") as file:
        information = elf_file(file).get_dwarf_info()
        for unit in information.iter_CUs():
            entries = [one for one in unit.get_top_DIE().iter_children() if moves_structures(one)]
            if not entries:
                continue
            files = files_of(information.line_program_for_CU(unit), unit)
            for entry in entries:
                attributes = entry.attributes
                where = files.get(attributes["DW_AT_decl_file"].value, "")
                if not where.startswith("/usr/"):
                    found.append(f"{where}:{attributes['DW_AT_decl_line'].value}")
    return found


def global_variables(code: Path) -> set[str]:
    """The variables outside of functions that an object file has or uses, but for constant ones."""
    with code.open("rb") as file:
        return {
            entry.attributes["DW_AT_name"].value.decode(errors="replace")
            for unit in elf_file(file).get_dwarf_info().iter_CUs()
            for entry in unit.get_top_DIE().iter_children()
            if entry.tag == "DW_TAG_variable" and may_be_written(entry)
        }


def may_be_written(variable: Any) -> bool:
    """Whether a variable that has a name is not constant."""
    attributes = variable.attributes
    if "DW_AT_name" not in attributes or "DW_AT_type" not in attributes:
        return False
    return bool(variable.get_DIE_from_attribute("DW_AT_type").tag != "DW_TAG_const_type")


def moves_structures(entry: Any) -> bool:
    """Whether a function that was compiled has a parameter or a result that is a structure."""
    if entry.tag != "DW_TAG_subprogram" or "DW_AT_low_pc" not in entry.attributes:
        return False
    if "DW_AT_decl_file" not in entry.attributes:
        return False
    parameters = [one for one in entry.iter_children() if one.tag == "DW_TAG_formal_parameter"]
    types = [
        plain_type(one.get_DIE_from_attribute("DW_AT_type"))
        for one in [entry, *parameters]
        if "DW_AT_type" in one.attributes
    ]
    structures = ("DW_TAG_structure_type", "DW_TAG_union_type")
    return any(one is not None and one.tag in structures for one in types)


def files_of(program: Any, unit: Any) -> dict[int, str]:
    """The names of the files of a unit, by their numbers."""
    header = program.header
    top = unit.get_top_DIE().attributes
    base = top["DW_AT_comp_dir"].value.decode() if "DW_AT_comp_dir" in top else ""
    is_new = header["version"] >= 5
    folders = header.include_directory
    names = {}
    for place, entry in enumerate(header["file_entry"]):
        folder_number = entry["dir_index"]
        if is_new:
            folder = folders[folder_number] if folder_number < len(folders) else b""
        else:
            folder = folders[folder_number - 1] if folder_number else b""
        path = os.path.join(base, folder.decode(), entry["name"].decode())
        names[place if is_new else place + 1] = shown_path(path)
    return names


def shown_path(path: str) -> str:
    """A path as people like to read it: from where they are, if it lies below."""
    path = os.path.normpath(path)
    here = os.getcwd() + os.sep
    return path.removeprefix(here)


def type_part(entry: Any, offset: int) -> str:
    """The part of a type at an offset, in the words of C."""
    entry = plain_type(entry)
    if entry is None:
        return plus(offset)
    if entry.tag == "DW_TAG_array_type" and "DW_AT_type" in entry.attributes:
        element = entry.get_DIE_from_attribute("DW_AT_type")
        return array_part(entry, element, offset)
    if entry.tag in ("DW_TAG_structure_type", "DW_TAG_class_type"):
        return field_part(entry, offset)
    return plus(offset)


def plain_type(entry: Any) -> Any:
    """A type without its names and qualifiers; None where nothing is left."""
    wrappers = ("typedef", "volatile_type", "const_type", "atomic_type", "restrict_type")
    while entry is not None and entry.tag in [f"DW_TAG_{word}" for word in wrappers]:
        has_type = "DW_AT_type" in entry.attributes
        entry = entry.get_DIE_from_attribute("DW_AT_type") if has_type else None
    return entry


def size_of(entry: Any) -> int:
    entry = plain_type(entry)
    if entry is None:
        return 0
    if entry.tag == "DW_TAG_array_type":
        size = size_of(entry.get_DIE_from_attribute("DW_AT_type"))
        for count in counts_of(entry):
            size *= count
        return size
    return int(entry.attributes["DW_AT_byte_size"].value) if has_size(entry) else 0


def has_size(entry: Any) -> bool:
    return "DW_AT_byte_size" in entry.attributes


def counts_of(entry: Any) -> list[int]:
    """How many elements an array has, in each dimension; 0 where that is not known."""
    counts = []
    for child in entry.iter_children():
        if child.tag == "DW_TAG_subrange_type":
            if "DW_AT_count" in child.attributes:
                counts.append(int(child.attributes["DW_AT_count"].value))
            elif "DW_AT_upper_bound" in child.attributes:
                bound = child.attributes["DW_AT_upper_bound"].value
                counts.append(bound + 1 if isinstance(bound, int) else 0)
            else:
                counts.append(0)
    return counts


def array_part(entry: Any, element: Any, offset: int) -> str:
    size = size_of(element)
    counts = counts_of(entry)
    if not size or not all(counts[1:]):
        return plus(offset)
    index, offset = divmod(offset, size)
    indices = []
    for count in reversed(counts[1:]):
        index, inner = divmod(index, count)
        indices.append(inner)
    numbers = "".join(f"[{number}]" for number in [index, *reversed(indices)])
    return numbers + type_part(element, offset)


def field_part(entry: Any, offset: int) -> str:
    for child in entry.iter_children():
        attributes = child.attributes
        if child.tag != "DW_TAG_member" or "DW_AT_data_member_location" not in attributes:
            continue
        begin = attributes["DW_AT_data_member_location"].value
        kind = child.get_DIE_from_attribute("DW_AT_type")
        if isinstance(begin, int) and begin <= offset < begin + size_of(kind):
            name = attributes["DW_AT_name"].value.decode() if "DW_AT_name" in attributes else ""
            inner = type_part(kind, offset - begin)
            return f".{name}{inner}" if name else inner
    return plus(offset)


def plus(offset: int) -> str:
    return f"+{offset}" if offset else ""
