"""What a chart draws: lines end at the axes, marks of a shape are one element."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reports.shared.chart import SHAPES, Chart
from dpassay.reports.shared.scales import Scale

SVG = "{http://www.w3.org/2000/svg}"
PLACES = st.tuples(st.floats(-2, 3), st.floats(-2, 3))


def chart() -> Chart:
    """Its numbers from 0 to 1 lie from 0 to 100, upwards from 100."""
    return Chart(
        Scale(least=0.0, most=1.0, start=0.0, end=100.0),
        Scale(least=0.0, most=1.0, start=100.0, end=0.0),
        110.0,
    )


def paths(made: Chart) -> list[str]:
    root = ET.fromstring(made.svg(name="c", title="A", description="B"))
    return [path.attrib["d"] for path in root.iter(f"{SVG}path")]


def strokes(path: str) -> list[list[tuple[float, float]]]:
    found = []
    for stroke in path.split("M")[1:]:
        numbers = [float(each) for each in stroke.split()]
        found.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return found


@given(st.lists(PLACES, min_size=2, max_size=6))
def test_a_line_is_drawn_where_it_lies_between_the_axes(points: list[tuple[float, float]]) -> None:
    """Held against many points on the line: each within the axes has a stroke beside it."""
    made = chart()
    made.line(points, "a")
    drawn = [each for path in paths(made) for each in strokes(path)]
    assert all(0 <= x <= 100 and 0 <= y <= 100 for each in drawn for x, y in each)
    told_apart = max(math.dist(points[0], each) for each in points) > 0.01
    for (x, y), (right, up) in pairwise(points):
        for part in (k / 50 for k in range(51)):
            at = 100 * (x + part * (right - x)), 100 - 100 * (y + part * (up - y))
            if told_apart and all(1 < place < 99 for place in at):
                assert min(_beside(at, each) for each in drawn) < 0.3


def _beside(at: tuple[float, float], stroke: list[tuple[float, float]]) -> float:
    """Return how far a place is from a line of straight pieces."""
    return min(_apart(at, *piece) for piece in pairwise(stroke))


def _apart(at: tuple[float, float], one: tuple[float, float], other: tuple[float, float]) -> float:
    across, up = other[0] - one[0], other[1] - one[1]
    part = ((at[0] - one[0]) * across + (at[1] - one[1]) * up) / (across**2 + up**2)
    part = min(max(part, 0.0), 1.0)
    return math.dist(at, (one[0] + part * across, one[1] + part * up))


@pytest.mark.parametrize("shape", SHAPES)
def test_marks_of_a_shape_are_one_element(shape: str) -> None:
    made = chart()
    made.marks(shape, [(0.1, 0.1), (0.5, 0.25), (1.0, 1.0)], "held solid")
    (path,) = paths(made)
    assert re.findall(r"M([-\d.]+ [-\d.]+)", path) == ["10 90", "50 75", "100 0"]
    assert path.count(SHAPES[shape]) == 3


def test_nothing_is_no_element() -> None:
    made = chart()
    made.marks("dot", [], "held dots")
    made.line([(2.0, 2.0), (3.0, 3.0)], "claim")
    made.spans([], "held")
    made.write("", 1.0, 1.0)
    assert paths(made) == []
    assert "<text" not in made.svg(name="c", title="A", description="B")


def test_foreign_letters_are_quoted() -> None:
    made = chart()
    made.write("<b>&", 1.0, 1.0)
    text = made.svg(name="c", title="<i>\x1b", description="&")
    root = ET.fromstring(text)
    assert [element.text for element in root] == ["<i>\N{REPLACEMENT CHARACTER}", "&", "<b>&"]
