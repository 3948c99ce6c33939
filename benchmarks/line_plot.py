"""Lines as an SVG picture, from 0 to 1 over numbers that double."""

import math
from dataclasses import dataclass

from benchmarks.plot import COLOURS, text

WIDTH, HEIGHT = 900, 480
LEFT, RIGHT, TOP, BOTTOM = 60, 330, 20, 50  # the margins; names are on the right
DASHES = ("2 4", "8 4", "")
MIDDLE = 'text-anchor="middle"'
STEP = 26  # from one name to the next


@dataclass(frozen=True)
class Line:
    name: str
    points: list[tuple[int, float]]
    colour: int
    dash: int


def as_svg(across: str, upwards: str, lines: list[Line]) -> str:
    places = sorted({at for line in lines for at, _ in line.points})
    first, last = math.log2(places[0]), max(math.log2(places[-1]), math.log2(places[0]) + 1)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(at: float) -> float:
        return LEFT + (right - LEFT) * (math.log2(at) - first) / (last - first)

    def y(value: float) -> float:
        return bottom - (bottom - TOP) * value

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for at in places:
        parts.append(text(x(at), bottom + 20, f"{at:,}", MIDDLE))
    for tenth in range(0, 11, 2):
        height = y(tenth / 10)
        parts.append(f'<path d="M{LEFT} {height:.1f}H{right}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, height + 4, f"{tenth / 10:.1f}", 'text-anchor="end"'))
    parts.append(text((LEFT + right) / 2, HEIGHT - 10, across, MIDDLE))
    middle = (TOP + bottom) / 2
    turned = f'transform="rotate(-90 15 {middle})"'
    parts.append(text(15, middle, upwards, f"{MIDDLE} {turned}"))
    for place, line in enumerate(lines):
        path = "L".join([f"{x(at):.1f} {y(value):.1f}" for at, value in line.points])
        height = TOP + STEP * place + 10
        style = (
            f'fill="none" stroke="{COLOURS[line.colour % len(COLOURS)]}" stroke-width="2" '
            f'stroke-dasharray="{DASHES[line.dash % len(DASHES)]}"'
        )
        parts.append(f'<path d="M{path}" {style}/>')
        parts.append(f'<path d="M{right + 20} {height}h40" {style}/>')
        parts.append(text(right + 68, height + 4, line.name))
    return "\n".join([*parts, "</svg>", ""])
