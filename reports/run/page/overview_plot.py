"""The overview: leak ÷ claim of every result, one row for each mechanism.

A ratio has no unit, so that claims of every kind share the axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dpassay.reports.run.findings import known
from dpassay.reports.run.view import FullView
from dpassay.reports.shared.chart import (
    CLAIM,
    CLAIMED,
    PALETTE,
    Look,
    beside,
    drawing,
    frame,
    marks,
    rule,
    svg,
)
from dpassay.reports.shared.numbers import clean, plural, shorten

PITCH = 0.165  # of a row of the overview, in inches
LEAST, MOST = 0.02, 130.0
"""Ends of the overview's axis; what lies beyond is drawn there, with its value beside it."""
RATIOS = (0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


class Mark(NamedTuple):
    """How a kind of finding is drawn."""

    word: str
    symbol: str  # the shape, for people
    slug: str  # of its colour
    told: str  # what the word means
    style: dict[str, Any]

    @property
    def look(self) -> Look:
        """Return the style in the colour of its slug."""
        return Look(PALETTE.get(self.slug, CLAIM), **self.style)


_TALL = {"marker": "|", "size": 7, "width": 1.2}
_BEYOND = "by a dataset that was not audited"
MARKS = {
    "refuted": Mark("refuted", "▲", "refuted", "", {"marker": "^", "size": 6.4}),
    "exceeded": Mark("exceeded", "✕", "missed", _BEYOND, {"marker": "x", "width": 1.1}),
    "tight": Mark("tight", "✚", "held", "within 1 % of the claim", {"marker": "+", "width": 2}),
    "loose": Mark("loose", "○", "verified", "", {"marker": "o", "hollow": True, "width": 1.1}),
    "seen": Mark("at least", "│", "soft", "worst case not known", _TALL),
}
"""Every kind, the worst first. Only 'refuted' shares its shape with a status, its own."""


class Dot(NamedTuple):
    """One result in the overview."""

    kind: str  # a key of `MARKS`
    ratio: float  # leak over claim; may be inf


def dot_of(r: FullView) -> Dot | None:
    """Return the place of a result; None where nothing is known of its leak, or claimed."""
    found = known(r.raw)
    leak = 0.0 if found is None else max(0.0, found[0])
    if found is None or not (r.promised or leak):
        return None
    ratio = leak / r.promised if r.promised else math.inf
    return Dot(kind="seen" if r.finding is None else r.finding.kind, ratio=ratio)


def overview_plot(rows: Sequence[tuple[str, Sequence[Dot]]], *, name: str, part: str = "") -> str:
    """Draw leak ÷ claim on a logarithmic axis as SVG, one row for each mechanism from above.

    `part` says which part of the overview it is, if it has several.
    """
    dots = [(place, dot) for place, (_, row) in enumerate(rows) for dot in row]
    with drawing(PITCH * max(1, len(rows)) + 0.75, left=2.05) as (axes,):
        frame(
            axes,
            (LEAST, MOST),
            (len(rows) - 0.4, -0.6),
            logarithmic="x",
            x_ticks={tick: f"{tick:g}" for tick in RATIOS},
            y_ticks={place: shorten(clean(label), 38) for place, (label, _) in enumerate(rows)},
            names=("leak ÷ claim", ""),
        )
        axes.grid(visible=False, axis="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(labelsize=7.6)
        axes.xaxis.label.set_fontsize(8.5)
        rule(axes, 1.0, CLAIMED, upright=True)
        for kind, mark in reversed(MARKS.items()):
            those = [(_within(dot.ratio), place) for place, dot in dots if dot.kind == kind]
            marks(axes, those, mark.look)
        small = {"fontsize": 7.6}
        for place, ratio in sorted({(place, dot.ratio) for place, dot in dots}):
            if _within(ratio) != ratio:  # beyond the end of the axis
                told = "∞" if math.isinf(ratio) else f"{ratio:.2g}"
                beside(axes, told, (_within(ratio), place), (6, 0), va="center", **small)
        beside(axes, "the claim", (1.0, -0.6), (0, 4), ha="center", color=CLAIM, **small)
        return svg(
            axes,
            name=name,
            title=f"Leak ÷ claim{part}, of every result that has one",
            description=(
                f"{plural(len(rows), 'mechanism')}, {plural(len(dots), 'result')}, on a "
                "logarithmic axis with a dashed line at 1, the claim: what lies right of it "
                "leaks more than is claimed. The table below has the same numbers."
            ),
        )


def _within(ratio: float) -> float:
    return min(max(ratio, LEAST), MOST)
