"""The overview: leak ÷ claim of every result, one row for each mechanism.

A ratio has no unit, so that claims of every kind share the axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.reports.run.findings import finding_of, known
from dpassay.reports.run.words import promised
from dpassay.reports.shared.chart import MIDDLE, WIDTH, Chart
from dpassay.reports.shared.numbers import clean, plural, shorten
from dpassay.reports.shared.scales import Scale

Raw = Mapping[str, Any]
Row = tuple[str, Sequence["Dot"]]

PITCH = 11.9
LEFT, RIGHT, TOP, BELOW = 147.6, WIDTH - 21.6, 17.3, 34.5
"""Of a row; ends of the axes, and the room under them, in points."""
LEAST, MOST = 0.02, 130.0
"""Ends of the axis; what lies beyond is drawn at the end, with its value beside it."""
TICKS = (0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How a kind of finding is drawn."""

    word: str
    symbol: str  # the shape, for people
    slug: str  # of its colour
    shape: str  # of `dpassay.reports.shared.chart`
    style: str  # classes of the same
    told: str = ""  # what the word means


MARKS = {
    "refuted": Mark(
        word="refuted", symbol="▲", slug="refuted", shape="triangle", style="refuted solid"
    ),
    "exceeded": Mark(
        word="exceeded",
        told="by a dataset that was not audited",
        symbol="✕",
        slug="missed",
        shape="cross",
        style="missed outline",
    ),
    "tight": Mark(
        word="tight",
        told="within 1 % of the claim",
        symbol="✚",
        slug="held",
        shape="plus",
        style="held bold",
    ),
    "loose": Mark(
        word="loose", symbol="○", slug="verified", shape="ring", style="verified outline"
    ),
    "seen": Mark(
        word="at least",
        told="worst case not known",
        symbol="│",
        slug="soft",
        shape="bar",
        style="claim edge",
    ),
}
"""Every kind, the worst first. Only 'refuted' shares its shape with a status, its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One result in the overview."""

    result: str
    kind: str  # a key of `MARKS`
    ratio: float  # leak over claim; may be inf


def dot_of(result: Raw) -> Dot | None:
    """Return the place of a result in the overview; None where nothing is known of its leak.

    Nor has nothing a place where nothing is claimed.
    """
    found = known(result)
    if found is None:
        return None
    finding, claimed = finding_of(result), promised(result["claim"])
    leak = max(0.0, found[0])
    if not claimed and not leak:
        return None
    ratio = leak / claimed if claimed else math.inf
    return Dot(result=result["id"], kind="seen" if finding is None else finding.kind, ratio=ratio)


def overview_plot(rows: Sequence[Row], *, name: str, part: str = "") -> str:
    """Draw leak ÷ claim on a logarithmic axis as SVG, one row for each mechanism from above.

    `part` says which part of the overview it is, if it has several.
    """
    height = PITCH * max(1, len(rows)) + TOP + BELOW
    dots = [(place, dot) for place, (_, row) in enumerate(rows) for dot in row]
    chart = Chart(
        Scale(least=LEAST, most=MOST, start=LEFT, end=RIGHT, logarithmic=True),
        Scale(least=len(rows) - 0.4, most=-0.6, start=height - BELOW, end=TOP),
        height,
    )
    labels = {float(place): shorten(clean(label), 38) for place, (label, _) in enumerate(rows)}
    chart.axes({tick: f"{tick:g}" for tick in TICKS}, labels, upright=False)
    chart.line([(1.0, len(rows) - 0.4), (1.0, -0.6)], "claim dashed")
    for kind, mark in reversed(MARKS.items()):
        chart.marks(
            mark.shape,
            [(_within(dot.ratio), place) for place, dot in dots if dot.kind == kind],
            mark.style,
        )
    for place, ratio in sorted({(place, dot.ratio) for place, dot in dots}):
        if _within(ratio) != ratio:  # beyond the end of the axis
            text = "∞" if math.isinf(ratio) else f"{ratio:.2g}"
            at = chart.x.at(_within(ratio)) + 6, chart.y.at(place) + MIDDLE
            chart.write(text, *at)
    chart.write("the claim", chart.x.at(1.0), TOP - 5, "middle claim")
    chart.write("leak ÷ claim", (LEFT + RIGHT) / 2, height - 6, "middle below")
    return chart.svg(
        name=name,
        style="chart dense",
        title=f"Leak ÷ claim{part}, of every result that has one",
        description=(
            f"{plural(len(rows), 'mechanism')}, {plural(len(dots), 'result')}, on a "
            "logarithmic axis with a dashed line at 1, the claim: what lies right of it "
            "leaks more than is claimed. The table below has the same numbers."
        ),
    )


def _within(ratio: float) -> float:
    return min(max(ratio, LEAST), MOST)
