"""A plot of what an execution takes: a row for each program, a mark for each implementation, on a
logarithmic scale. Written as SVG, by hand: there is nothing to install, and the same figures make
the same file."""

from html import escape
from math import ceil, floor, log10

from benchmarks.comparison import Comparison
from benchmarks.paper import TABLES, all_rows

Points = dict[str, float]  # microseconds for an execution, by implementation

COLOURS = ("#b3261e", "#1f6feb", "#7d7d7d", "#b07d00", "#2e7d32", "#8e44ad")
LABELS, WIDTH, MARGIN = 190, 540, 20
ROW, TOP = 24, 64
LEAST_SECONDS = 0.05  # less says nothing: papers give hundredths


def points_of(table_name: str, comparisons: list[Comparison]) -> dict[str, Points]:
    """What is known of each program that was run: our figures, and those of the paper."""
    found: dict[str, Points] = {}
    for comparison in comparisons:
        measured = comparison.measured
        if measured is None or measured.cpu_seconds < LEAST_SECONDS:
            continue
        points = found.setdefault(str(comparison.row), paper_points(table_name, comparison))
        name = f"Mazurka, {comparison.how}"
        points[name] = 1e6 * measured.cpu_seconds / measured.executions
    return found


def paper_points(table_name: str, comparison: Comparison) -> Points:
    found: Points = {}
    for row in all_rows(table_name):
        is_same = str(row) == str(comparison.row)
        if is_same and row.seconds is not None and row.seconds >= LEAST_SECONDS and row.executions:
            found[f"{row.setting}, in the paper"] = 1e6 * row.seconds / row.executions
    return found


def plot(table_name: str, comparisons: list[Comparison]) -> str:
    """The text of an SVG file."""
    programs = points_of(table_name, comparisons)
    values = [value for points in programs.values() for value in points.values()] or [1.0]
    low, high = floor(log10(min(values))), ceil(log10(max(values) * 1.001))
    names = sorted({name for points in programs.values() for name in points}, key=ours_first)
    height = TOP + ROW * len(programs) + 48

    def across(value: float) -> float:
        return round(LABELS + (log10(value) - low) / (high - low) * WIDTH, 1)

    total = LABELS + WIDTH + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{total}" height="{height}" fill="#ffffff"/>',
        text(MARGIN, 20, TABLES[table_name].title, 'font-weight="bold"'),
    ]
    for place, name in enumerate(names):
        parts += [
            mark(place, MARGIN + 6 + place * 160, 40),
            text(MARGIN + 16 + place * 160, 44, name),
        ]
    bottom = TOP + ROW * len(programs)
    for power in range(low, high + 1):
        x = across(10.0**power)
        parts.append(f'<path d="M{x} {TOP - 6}V{bottom}" stroke="#dddddd"/>')
        parts.append(text(x, bottom + 16, time_of(power), 'text-anchor="middle"'))
    caption = "CPU time for an execution"
    parts.append(text(LABELS + WIDTH / 2, bottom + 36, caption, 'text-anchor="middle"'))
    for number, (program, points) in enumerate(programs.items()):
        y = TOP + ROW * number + ROW / 2 - 2
        parts.append(text(LABELS - 12, y + 4, program, 'text-anchor="end"'))
        ends = [across(value) for value in points.values()]
        parts.append(f'<path d="M{min(ends)} {y}H{max(ends)}" stroke="#bbbbbb"/>')
        parts += [mark(names.index(name), across(value), y) for name, value in points.items()]
    return "\n".join([*parts, "</svg>", ""])


def ours_first(name: str) -> tuple[bool, str]:
    return not name.startswith("Mazurka"), name


def time_of(power: int) -> str:
    """A power of ten of microseconds, in words."""
    for unit, digits in (("s", 6), ("ms", 3)):
        if power >= digits:
            return f"{10 ** (power - digits):,} {unit}"
    return f"{10.0**power:g} µs"


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="#222222" {more}>{escape(words)}</text>'


def mark(number: int, x: float, y: float) -> str:
    """A circle, a square or a diamond: to be told apart without colours, too."""
    colour = COLOURS[number % len(COLOURS)]
    if number % 3 == 0:
        return f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{colour}"/>'
    turned = f' transform="rotate(45 {x:g} {y:g})"' if number % 3 == 1 else ""
    return f'<rect x="{x - 4.5:g}" y="{y - 4.5:g}" width="9" height="9" fill="{colour}"{turned}/>'
