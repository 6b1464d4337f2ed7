"""Small charts as SVG: few elements, as a page of the catalogue has many of them.

Marks of one shape and colour are one path, letters are text, and all colours and widths are classes
of `templates/chart.css`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.scales import Scale, tick_label

WIDTH = 331.2
"""Of a picture in points: a telephone shows it whole, wide screens show two side by side."""
SHAPES = {
    "dot": "h0",
    "ring": "m-2.7 0a2.7 2.7 0 1 0 5.4 0 2.7 2.7 0 1 0-5.4 0z",
    "diamond": "m0-3.4 3.4 3.4-3.4 3.4-3.4-3.4z",
    "triangle": "m0-3.6 3.4 6.2h-6.8z",
    "plus": "m-2.7 0h5.4m-2.7-2.7v5.4",
    "cross": "m-2.7-2.7 5.4 5.4m0-5.4-5.4 5.4",
    "bar": "m0-3.5v7",
    "dash": "m-2.5 0h5",
}
"""Paths of the marks, from their middle; a dot is a round pen put down once."""
MIDDLE = 3.2
"""From the middle of a line of text down to where its letters stand."""
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class Chart:
    """A chart, its height in points, drawn from below: what comes later covers the rest."""

    def __init__(self, x: Scale, y: Scale, height: float) -> None:
        self.x, self.y, self.height = x, y, height
        self._parts: list[str] = []

    def axes(
        self,
        x: Mapping[float, str] | None = None,
        y: Mapping[float, str] | None = None,
        *,
        upright: bool = True,
    ) -> None:
        """Draw the grid and the axes, and label their ticks, by default round numbers.

        `upright` says whether there is a vertical axis, and where x has round numbers, a
        vertical grid.
        """
        left, bottom, right, top = self.x.start, self.y.start, self.x.end, self.y.end
        across = _labels(self.x) if x is None else x
        up = _labels(self.y) if y is None else y
        grid = [f"M{_number(left)} {_number(self.y.at(tick))}H{_number(right)}" for tick in up]
        if upright and x is None:
            grid += [
                f"M{_number(self.x.at(tick))} {_number(bottom)}V{_number(top)}" for tick in across
            ]
        self._path("".join(grid), "grid")
        corner = (
            f"M{_number(left)} {_number(top)}V{_number(bottom)}"
            if upright
            else f"M{_number(left)} {_number(bottom)}"
        )
        self._path(f"{corner}H{_number(right)}", "axis")
        for tick, label in across.items():
            self.write(label, self.x.at(tick), bottom + 13, "middle")
        for tick, label in up.items():
            self.write(label, left - 5, self.y.at(tick) + MIDDLE, "end")

    def line(self, points: Iterable[Point], style: str) -> None:
        """Draw lines through points, as far as they lie between the axes."""
        places = [(self.x.at(x), self.y.at(y)) for x, y in points]
        box = (self.x.start, self.y.end, self.x.end, self.y.start)
        self._path("".join(map(_stroke, _clipped(places, box))), style)

    def band(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], style: str
    ) -> None:
        """Fill the area between two curves that lie between the axes."""
        around = [*zip(x, lower, strict=True), *zip(reversed(x), reversed(upper), strict=True)]
        self._path(f"{_stroke((self.x.at(x), self.y.at(y)) for x, y in around)}z", style)

    def marks(self, shape: str, points: Iterable[Point], style: str) -> None:
        """Draw marks of one of the `SHAPES`, all as one element; nothing if there are none."""
        self._path(
            "".join(
                f"M{_number(self.x.at(x))} {_number(self.y.at(y))}{SHAPES[shape]}"
                for x, y in points
            ),
            style,
        )

    def spans(self, spans: Iterable[tuple[float, float, float]], style: str) -> None:
        """Draw vertical lines, each at a number from one height to another, as one element."""
        self._path(
            "".join(
                f"M{_number(self.x.at(x))} {_number(self.y.at(low))}V{_number(self.y.at(high))}"
                for x, low, high in spans
            ),
            style,
        )

    def write(self, text: str, x: float, y: float, style: str = "") -> None:
        """Write text at a place of the picture; nothing if it is empty."""
        if not text:
            return
        kind = f' class="{style}"' if style else ""
        self._parts.append(f'<text x="{_number(x)}" y="{_number(y)}"{kind}>{escape(text)}</text>')

    def titles(self, left: str, right: str, below: str) -> None:
        """Write above the axes what is drawn and what is claimed, and below what runs across."""
        above = self.y.end - 6
        self.write(left, self.x.start, above, "title")
        self.write(right, self.x.end, above, "title claim end")
        self.write(below, (self.x.start + self.x.end) / 2, self.height - 4, "middle below")

    def svg(self, *, name: str, title: str, description: str, style: str = "chart") -> str:
        """Return the SVG element, with an id, a title, a description, and classes of its own."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" class="plot {style}" role="img" '
            f'aria-labelledby="{name}-title {name}-desc" '
            f'viewBox="0 0 {_number(WIDTH)} {_number(self.height)}">'
            f'<title id="{name}-title">{escape(clean(title))}</title>'
            f'<desc id="{name}-desc">{escape(clean(description))}</desc>'
            f"{''.join(self._parts)}</svg>\n"
        )

    def _path(self, path: str, style: str) -> None:
        if path:
            self._parts.append(f'<path class="{style}" d="{path}"/>')


def _labels(scale: Scale) -> dict[float, str]:
    return {tick: tick_label(tick) for tick in scale.ticks()}


def _number(place: float) -> str:
    text = f"{place:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _stroke(places: Iterable[Point]) -> str:
    """Return the path through some places, those left out that cannot be told from the last."""
    texts = [f"{_number(x)} {_number(y)}" for x, y in places]
    kept = [text for last, text in pairwise(["", *texts]) if text != last]
    return f"M{' '.join(kept)}" if len(kept) > 1 else ""


def _clipped(places: Sequence[Point], box: Box) -> list[list[Point]]:
    """Cut a line of several pieces to a box: the lines that are left."""
    lines: list[list[Point]] = []
    for one, other in pairwise(places):
        inside = _inside(one, other, box)
        if inside is None:
            continue
        if lines and lines[-1][-1] == inside[0]:
            lines[-1].append(inside[1])
        else:
            lines.append([*inside])
    return lines


def _inside(one: Point, other: Point, box: Box) -> tuple[Point, Point] | None:
    """Return the part of a straight line within a box, after Liang and Barsky (1984)."""
    (x, y), (left, top, right, bottom) = one, box
    dx, dy = other[0] - x, other[1] - y
    first, last = 0.0, 1.0
    for speed, room in ((-dx, x - left), (dx, right - x), (-dy, y - top), (dy, bottom - y)):
        if speed == 0:
            if room < 0:
                return None
        elif speed < 0:
            first = max(first, room / speed)
        else:
            last = min(last, room / speed)
    if first > last:
        return None
    start = one if first == 0 else (x + first * dx, y + first * dy)
    return start, other if last == 1 else (x + last * dx, y + last * dy)
