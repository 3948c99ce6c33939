"""Lays a table of steps out in lines of text, as wide as there is room."""

import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from mazurka.report.columns import Row, Table

NARROWEST: Final = 18  # column of a thread; with less room there is one column for all
NARROWEST_SOURCE: Final = 12
WIDEST_ENDING: Final = 34
GAP: Final = 2
MARK: Final = "*"


class Piece(NamedTuple):
    """Some text of a line, and what it is."""

    text: str
    thread: str = ""  # of whom it tells
    is_strong: bool = False


Line = list[Piece]


def lines_of(table: Table, width: int) -> list[Line]:
    places = places_of(table.rows)
    margin = 2 + max((len(place) for place in places), default=0) + GAP
    names = list(table.threads)
    widths = widths_of(table, width - margin)
    if not widths:
        return list_lines(table, places, margin, width)
    lines = [headings(names, widths, margin)]
    for row, place in zip(table.rows, places, strict=True):
        lines += row_lines(row, place, names, widths, margin, width)
    return lines


def widths_of(table: Table, room: int) -> list[int]:
    """How wide the columns are; none if there is no room for all."""
    names = table.threads
    widths = [
        max([len(name), *[text_width(row) for row in table.rows if row.thread == name]])
        for name in names
    ]
    room -= GAP * (len(names) - 1)
    if not names or min(NARROWEST, max(widths)) * len(names) > room:
        return []
    while sum(widths) > room:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def text_width(row: Row) -> int:
    """The width that a row asks for. Exceptions may say much, and can take several lines."""
    return len(row.text) if row.file else min(len(row.text), WIDEST_ENDING)


def headings(names: Sequence[str], widths: Sequence[int], margin: int) -> Line:
    line = [Piece(" " * margin)]
    for name, width in zip(names, widths, strict=True):
        line.append(Piece(f"{cut(name, width):<{width + GAP}}", name, True))
    return line


def row_lines(
    row: Row, place: str, names: list[str], widths: list[int], margin: int, width: int
) -> list[Line]:
    """A row, of which the text may take several lines in its column."""
    if not row.thread:
        return [[Piece(" " * margin + row.text)]]
    column = names.index(row.thread)
    texts = textwrap.wrap(row.text, widths[column], break_on_hyphens=False) or [""]
    before = sum(widths[:column]) + GAP * column
    after = sum(widths[column + 1 :]) + GAP * (len(widths) - column)
    lines: list[Line] = []
    for number, text in enumerate(texts):
        start = margin_text(row, place, margin) if number == 0 else " " * margin
        cell = f"{text:<{widths[column]}}"
        lines.append([Piece(start + " " * before), Piece(cell, row.thread, row.deciding)])
    room = width - margin - before - widths[column] - after
    if row.source and room >= NARROWEST_SOURCE:
        lines[0].append(Piece(" " * after + cut(row.source, room)))
    return lines


def list_lines(table: Table, places: list[str], margin: int, width: int) -> list[Line]:
    """One column for all threads, with their names where they take over."""
    lines: list[Line] = []
    thread = ""
    for row, place in zip(table.rows, places, strict=True):
        if row.thread and row.thread != thread:
            lines.append([Piece(" " * margin), Piece(row.thread, row.thread, True)])
        thread = row.thread or thread
        start = margin_text(row, place, margin)
        texts = textwrap.wrap(row.text, max(width - margin - GAP, NARROWEST)) or [""]
        for number, text in enumerate(texts):
            begin = (start if number == 0 else " " * margin) + " " * (GAP if row.thread else 0)
            lines.append([Piece(begin), Piece(text, row.thread, row.deciding)])
    return lines


def margin_text(row: Row, place: str, margin: int) -> str:
    """The mark of what decides, and where a step is."""
    return f"{MARK if row.deciding else ' '} {place:>{margin - 2 - GAP}}{' ' * GAP}"


def places_of(rows: Sequence[Row]) -> list[str]:
    """Lines, with their files if there are several."""
    names = file_names([row.file for row in rows if row.file])
    if len(names) == 1:
        return [str(row.line) if row.file else "" for row in rows]
    return [f"{names[row.file]}:{row.line}" if row.file else "" for row in rows]


def file_of(table: Table) -> str:
    """The file that all lines are of, if it is one."""
    files = {row.file for row in table.rows if row.file}
    return short(files.pop()) if len(files) == 1 else ""


def file_names(files: Sequence[str]) -> dict[str, str]:
    """How to call files: without their folders, unless that is ambiguous."""
    names = Counter(os.path.basename(file) for file in set(files))
    return {
        file: os.path.basename(file) if names[os.path.basename(file)] == 1 else short(file)
        for file in files
    }


def short(file: str) -> str:
    """A path as short as it can be said from here."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
