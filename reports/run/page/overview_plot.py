"""The overview: leak ÷ claim of every result, one row for each mechanism.

A ratio has no unit, so that claims of every kind share the axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpassay.reports.run.findings import finding_of, known
from dpassay.reports.run.words import promised
from dpassay.reports.shared.figures import (
    CLAIM,
    COLUMN,
    FAINT,
    INK,
    PALETTE,
    as_svg,
    axes_in,
    despine,
    figure_of,
)
from dpassay.reports.shared.lean import Sheet, lean
from dpassay.reports.shared.numbers import clean, plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Raw = Mapping[str, Any]
Row = tuple[str, Sequence["Dot"]]

PITCH = 0.165
LEFT, RIGHT = 2.05, 0.3
LEAST, MOST = 0.02, 130.0
"""Ends of the axis; what lies beyond is drawn at the end, with its value beside it."""
TICKS = (0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How a kind of finding is drawn.

    Parameters
    ----------
    word, symbol : str
        For people; the symbol is the shape.
    told : str
        What the word means.
    slug : str
        Of its colour.
    marker : str
        For matplotlib.
    hollow : bool
    """

    word: str
    symbol: str
    slug: str
    marker: str
    hollow: bool = False
    told: str = ""


MARKS = {
    "refuted": Mark(word="refuted", symbol="▲", slug="refuted", marker="^"),
    "exceeded": Mark(
        word="exceeded",
        told="by a dataset that was not audited",
        symbol="✕",
        slug="missed",
        marker="x",
    ),
    "tight": Mark(
        word="tight",
        told="within 1 % of the claim",
        symbol="✚",
        slug="held",
        marker="P",
    ),
    "loose": Mark(word="loose", symbol="○", slug="verified", marker="o", hollow=True),
    "seen": Mark(
        word="at least",
        told="worst case not known",
        symbol="│",
        slug="soft",
        marker="|",
    ),
}
"""Every kind, the worst first. Only 'refuted' shares its shape with a status, its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One result in the overview.

    Parameters
    ----------
    result : str
    kind : str
        A key of `MARKS`.
    ratio : float
        Leak over claim; may be inf.
    """

    result: str
    kind: str
    ratio: float


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


def overview_plot(rows: Sequence[Row], *, name: str, part: str = "", sheet: Sheet = None) -> str:
    """Draw leak ÷ claim on a logarithmic axis, one row for each mechanism.

    Parameters
    ----------
    rows : sequence of (str, sequence of Dot)
        Mechanisms with their results, in order from above.
    name : str
        Id of the picture.
    part : str
        Which part of the overview it is, where it has several.

    Returns
    -------
    str
        An SVG element for inlining.
    """
    height = PITCH * max(1, len(rows)) + 0.72
    dots = sum(len(row) for _, row in rows)
    with figure_of(height, COLUMN) as figure:
        box = (LEFT, 0.42, COLUMN - LEFT - RIGHT, height - 0.66)
        axes = axes_in(figure, box, height, COLUMN)
        axes.set_xscale("log")
        axes.set_xlim(LEAST, MOST)
        axes.axvline(1, color=CLAIM, linewidth=1.2, dashes=(4, 2.5), zorder=1)
        for place, (_, row) in enumerate(rows):
            for dot in sorted(row, key=lambda dot: -list(MARKS).index(dot.kind)):
                _dot(axes, place, dot)
            for ratio in sorted({dot.ratio for dot in row}):
                _beyond(axes, place, ratio)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(
            range(len(rows)), [shorten(clean(label), 38) for label, _ in rows], fontsize=7.6
        )
        axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS], fontsize=7.6)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("leak ÷ claim", fontsize=8.5)
        axes.set_title("the claim", x=_place(1.0), fontsize=8, color=CLAIM, pad=4)
        axes.grid(visible=True, axis="y", color=FAINT, alpha=0.22, linewidth=0.5)
        despine(axes, left=True)
        axes.tick_params(which="both", length=0)
        axes.tick_params(axis="y", pad=5)
        return lean(
            as_svg(
                figure,
                name=name,
                title=f"Leak ÷ claim{part}, of every result that has one",
                description=(
                    f"{plural(len(rows), 'mechanism')}, {plural(dots, 'result')}, on a "
                    "logarithmic axis with a dashed line at 1, the claim: what lies right of it "
                    "leaks more than is claimed. The table below has the same numbers."
                ),
            ),
            sheet,
        )


def _place(ratio: float) -> float:
    """Return where a ratio lies between the ends of the axis, from 0 to 1."""
    return math.log(ratio / LEAST) / math.log(MOST / LEAST)


def _dot(axes: Axes, place: int, dot: Dot) -> None:
    mark = MARKS[dot.kind]
    colour, at = PALETTE.get(mark.slug, (CLAIM,))[0], min(max(dot.ratio, LEAST), MOST)
    axes.plot(
        at,
        place,
        mark.marker,
        markersize=7 if mark.marker == "|" else 5 if mark.marker in {"P", "x"} else 5.4,
        markerfacecolor="none" if mark.hollow else colour,
        markeredgecolor=colour,
        markeredgewidth=1.5 if mark.marker == "|" else 1.1,
        clip_on=False,
        zorder=4,
    )


def _beyond(axes: Axes, place: int, ratio: float) -> None:
    """Write what lies beyond the end of the axis beside its mark."""
    at = min(max(ratio, LEAST), MOST)
    if at != ratio:
        axes.annotate(
            "∞" if math.isinf(ratio) else f"{ratio:.2g}",
            (at, place),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.6,
            color=INK,
            annotation_clip=False,
        )
