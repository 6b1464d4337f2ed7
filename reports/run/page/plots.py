"""Pictures of one result: the leak at every query, and what the audit would have seen.

Inline SVG with matplotlib, without global state; the same bytes every time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpassay.numerics import UP, written
from dpassay.reports.run.queries import QueryView
from dpassay.reports.run.view import ResultView
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
from dpassay.reports.shared.numbers import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 2.5
BOX = (0.62, 0.45, COLUMN - 0.8, HEIGHT - 0.75)
"""Left, bottom, width and height of the axes, in inches."""


MOST_MARKS = 200
"""More queries than that are drawn as an area: marks would hide one another."""
ROOM = 2.2
"""Factor between neighbouring labels of a logarithmic axis, at least."""
TITLE = 1.05
"""Where the title of the axes stands, over their height."""


def query_plot(result: ResultView, *, claimed: str, name: str, sheet: Sheet = None) -> str:
    """Draw the leak at every query point, the worst first, with the claim as a line.

    Exact leaks are points; sampled ones are intervals from the lower to the upper bound. The
    mechanism's own worst cases are hollow.

    Parameters
    ----------
    result : ResultView
        With query points.
    claimed : str
        The claimed number.
    name : str
        Id of the picture.

    Returns
    -------
    str
        An SVG element for inlining; its numbers are those of the per-query table.
    """
    queries = sorted(result.queries, key=lambda query: (-query.size, -query.upper))
    own = sum(query.own for query in queries)
    with figure_of(HEIGHT, COLUMN) as figure:
        axes = axes_in(figure, BOX, HEIGHT, COLUMN)
        edge = _edge([(*_finite(query.size, query.upper), result.claimed) for query in queries])
        if len(queries) > MOST_MARKS:
            _band(axes, queries, result, edge)
        else:
            for place, query in enumerate(queries, 1):
                _query(axes, place, query, result, edge)
        axes.axhline(result.claimed, color=CLAIM, linewidth=1.3, dashes=(5, 3), zorder=1)
        axes.set_xlim(0.2, len(queries) + 0.8)
        axes.set_ylim(_start(query.size for query in queries), edge)
        axes.set_title(result.unit, loc="left", fontsize=9, color=INK, y=TITLE, pad=0)
        axes.set_title(f"┄ claim {claimed}", loc="right", fontsize=9, color=CLAIM, y=TITLE, pad=0)
        axes.set_xticks(_ranks(len(queries)))
        axes.set_xlabel("queries, worst first" + (" (◇ own worst case)" if own else ""))
        axes.grid(visible=True, axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
        despine(axes)
        axes.tick_params(which="both", length=0, pad=5)
        axes.yaxis.set_major_formatter(short)
        return lean(
            as_svg(
                figure,
                name=name,
                title=f"{result.unit.capitalize()} at every query: {result.id}",
                description=(
                    f"{plural(len(queries) - own, 'query')} and {plural(own, 'own worst case')}, "
                    "worst first. "
                    + (
                        "Lines run from the lower to the upper bound"
                        if result.sampled
                        else "Points are computed leaks"
                    )
                    + "; the dashed line is the claim; an arrow means that the value lies beyond "
                    "the edge or is infinite. The table below has the same numbers."
                ),
            ),
            sheet,
        )


def sight_plot(
    curve: Sequence[tuple[float, float]], *, claim: float, name: str, of: str, sheet: Sheet = None
) -> str:
    """Draw the smallest leak that the audit would have refuted, through answers of any frequency.

    Parameters
    ----------
    curve : sequence of (float, float)
        Probability of an answer, and the leak that would be refuted with probability 0.9; inf
        where none would.
    claim : float
    name : str
        Id of the picture.
    of : str
        The result.
    """
    known = [(point, leak) for point, leak in sorted(curve) if math.isfinite(leak)]
    blind = [point for point, leak in curve if math.isinf(leak)]
    with figure_of(HEIGHT, COLUMN) as figure:
        axes = axes_in(figure, BOX, HEIGHT, COLUMN)
        top = 1.25 * max([claim, *(leak for _, leak in known)]) or 1.0
        colour = PALETTE["held"][0]
        if known:
            axes.plot(*zip(*known, strict=True), "o-", color=colour, linewidth=1.6, markersize=4.5)
            for point, leak in _apart(known):
                axes.annotate(
                    written(leak, 3, UP),
                    (point, leak),
                    (4, 5),
                    textcoords="offset points",
                    ha="left",
                    color=INK,
                    fontsize=8,
                )
        for point in blind:
            axes.plot(point, 0.93 * top, "^", color=PALETTE["inconclusive"][0], clip_on=False)
        if blind:
            axes.annotate(
                "▲ none, however large",
                (min(blind), 0.93 * top),
                (-4, -9),
                textcoords="offset points",
                va="top",
                fontsize=8,
                color=CLAIM,
            )
        axes.axhline(claim, color=CLAIM, linewidth=1.3, dashes=(5, 3), zorder=1)
        points = [point for point, _ in curve]
        axes.set_xscale("log")
        axes.set_xlim(0.5 * min(points), 2 * max(points))
        axes.set_ylim(0, top)
        ticks = [point for point, _ in _apart(sorted(curve))]
        axes.set_xticks(ticks, [f"{point:g}" for point in ticks])
        axes.set_xticks([], minor=True)
        axes.set_title(
            "smallest leak that would have been refuted", loc="left", fontsize=9, y=TITLE, pad=0
        )
        axes.set_xlabel("probability of the answer that shows it")
        axes.grid(visible=True, axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
        despine(axes)
        axes.tick_params(which="both", length=0, pad=5)
        axes.yaxis.set_major_formatter(short)
        return lean(
            as_svg(
                figure,
                name=name,
                title=f"What the audit would have seen: {of}",
                description=(
                    "The smallest leak that would have been refuted with probability 0.9, over the "
                    "probability of the answer that shows it; the rarer the answer, the larger. "
                    "The dashed line is the claim; an arrow means that no leak, however large, "
                    "would have been refuted. The table below has the same numbers."
                ),
            ),
            sheet,
        )


def short(number: float, _: float) -> str:
    """Write the label of a tick."""
    return f"{number:.3g}"


def _query(axes: Axes, place: float, query: QueryView, result: ResultView, edge: float) -> None:
    colour = PALETTE[result.status.slug][0]
    size, end = 5.0 if len(result.queries) <= 60 else 3.0, min(query.size, edge)
    if result.sampled:
        top, beyond = min(query.upper, edge), query.upper > edge
        axes.plot([place, place], [end, top], color=colour, linewidth=1.2, alpha=0.75, zorder=2)
        marker = "^" if beyond else "_"
        axes.plot(place, top, marker, color=colour, markersize=size, clip_on=False, zorder=3)
    if query.size > edge:
        axes.plot(place, edge, "^", color=colour, markersize=size + 1, clip_on=False, zorder=4)
        return
    axes.plot(
        place,
        end,
        marker="D" if query.own else "o",
        markersize=size,
        markerfacecolor="none" if query.own else colour,
        markeredgecolor=colour,
        markeredgewidth=1.2,
        clip_on=False,
        zorder=4,
    )


def _band(axes: Axes, queries: Sequence[QueryView], result: ResultView, edge: float) -> None:
    """Draw so many queries as an area: in each stretch of ranks from the least to the most."""
    colour = PALETTE[result.status.slug][0]
    stretches = [
        queries[first:last]
        for first, last in pairwise(np.linspace(0, len(queries), MOST_MARKS + 1).astype(int))
    ]
    ranks = np.cumsum([len(stretch) for stretch in stretches])
    sizes = [min(stretch[0].size, edge) for stretch in stretches]
    tops = [min(max(query.upper for query in stretch), edge) for stretch in stretches]
    if result.sampled:
        axes.fill_between(ranks, sizes, tops, color=colour, alpha=0.35, linewidth=0, zorder=2)
    axes.plot(ranks, sizes, color=colour, linewidth=1.6, zorder=4)


def _apart(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return those points, the last among them, whose labels have room on a logarithmic axis."""
    kept: list[tuple[float, float]] = []
    for point in reversed(points):
        if not kept or point[0] * ROOM <= kept[-1][0]:
            kept.append(point)
    return kept


def _ranks(number: int) -> list[int]:
    """Return a handful of ranks to label."""
    step = next(step for step in (1, 5, 10, 25, 50, 100, 1000, 10**6) if number <= 6 * step)
    return sorted({1, *range(step, number + 1, step)})


def _finite(size: float | None, upper: float | None) -> tuple[float, ...]:
    """Return what the axis should show.

    All of the losses, and upper bounds that are not far beyond them.
    """
    return tuple(number for number in (size, upper) if number is not None and math.isfinite(number))


def _start(sizes: Iterable[float | None]) -> float:
    """Return where the axis begins: at 0, or below an excess error that is less."""
    return 1.12 * min((size for size in sizes if size is not None and size < 0), default=0.0)


def _edge(rows: Sequence[tuple[float, ...]]) -> float:
    """Return the end of the axis.

    Room for every claim and leak, at most three times that for upper bounds; 1 if all are 0.
    """
    claims = max((row[-1] for row in rows), default=1.0)
    sizes = max((row[0] for row in rows if len(row) > 1), default=0.0)
    everything = max((max(row) for row in rows), default=1.0)
    return 1.12 * min(everything, 2 * max(claims, sizes)) or 1.0
