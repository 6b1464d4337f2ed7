"""All plotting: inline SVG with seaborn and matplotlib, without global state.

The same bytes every time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dpassay.reports.run.queries import QueryView
from dpassay.reports.run.view import ResultView, View
from dpassay.reports.shared.figures import (
    CLAIM,
    FAINT,
    INK,
    PALETTE,
    WIDTH,
    as_svg,
    axes_in,
    figure_of,
)
from dpassay.reports.shared.numbers import plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.34
MANY = 24
"""With more query points than this, not every one is labelled."""


def interval_plot(view: View) -> str:
    """Draw one bar per result, from 0 to the loss or lower bound, with a tick at the claim.

    Returns
    -------
    str
        An SVG element for inlining; its numbers are those of the summary table, in the same order.
    """
    results = view.results
    height = ROW * max(1, len(results)) + 0.75
    with figure_of(height) as (figure, sns):
        axes = axes_in(figure, (3.55, 0.5, WIDTH - 3.75, height - 0.65), height)
        edge = _edge([_finite_numbers(result) for result in results])
        for row, result in enumerate(results):
            _interval(axes, row, result, edge)
        axes.set_xlim(_start(result.bar for result in results), edge)
        axes.set_ylim(len(results) - 0.4, -0.6)
        axes.set_yticks(range(len(results)), [shorten(result.id, 46) for result in results])
        axes.set_xlabel(" / ".join(dict.fromkeys(result.unit for result in results)))
        axes.grid(visible=True, axis="x", color=FAINT, alpha=0.25, linewidth=0.6)
        sns.despine(ax=axes, left=True)
        axes.tick_params(axis="y", length=0, pad=8)
        return as_svg(
            figure,
            name="plot-summary",
            title="Leak found and leak claimed, per result",
            description=(
                f"{plural(len(results), 'result')}, worst first. Bars end at the exact leak or at "
                "the certified lower bound, marked by the shape of the status; thin lines run to "
                "the upper bound of the certified cells; upright ticks are the claims; an arrow "
                "means that the value lies beyond the edge or is infinite. The summary table has "
                "the same numbers."
            ),
        )


def query_plot(result: ResultView) -> str:
    """Draw the loss at every query point, with the claim as a line.

    Exact losses are points; sampled ones are intervals from the lower to the upper bound. The
    mechanism's own worst cases stand apart at the right.

    Returns
    -------
    str
        An SVG element for inlining; its numbers are those of the per-query table.
    """
    data = [query for query in result.queries if not query.own]
    own = [query for query in result.queries if query.own]
    places = [*range(len(data)), *_own_places(len(data), len(own))]
    height = 2.7
    with figure_of(height) as (figure, sns):
        axes = axes_in(figure, (0.75, 0.6, WIDTH - 2.1, height - 0.85), height)
        edge = _edge(
            [(*_finite(query.size, query.upper), result.claimed) for query in result.queries]
        )
        for place, query in zip(places, [*data, *own], strict=True):
            _query(axes, place, query, result, edge)
        axes.axhline(result.claimed, color=CLAIM, linewidth=1.3, dashes=(5, 3), zorder=1)
        last = places[-1] if places else 0
        axes.set_xlim(-0.8, last + 0.8)
        axes.set_ylim(_start(query.size for query in result.queries), edge)
        axes.set_ylabel(result.unit)
        axes.annotate(
            f"claim {result.claim}",
            (1, result.claimed),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            color=CLAIM,
            annotation_clip=False,
        )
        _name_queries(axes, data, own, places)
        axes.grid(visible=True, axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
        sns.despine(ax=axes)
        return as_svg(
            figure,
            name=f"plot-{result.anchor}",
            title=f"Loss at every query point: {result.id}",
            description=(
                f"{plural(len(data), 'query')} and {plural(len(own), 'own worst case')}. "
                + (
                    "Lines run from the lower to the upper bound"
                    if result.sampled
                    else "Points are exact losses"
                )
                + "; the dashed line is the claim; an arrow means that the value lies beyond "
                "the edge or is infinite. The table of query points has the same numbers."
            ),
        )


def _interval(axes: Axes, row: int, result: ResultView, edge: float) -> None:
    colour = PALETTE[result.status.slug][0]
    axes.plot([result.claimed] * 2, [row - 0.36, row + 0.36], color=INK, linewidth=1.8, zorder=3)
    if result.bar is None:
        _mark(axes, (0, row), result, size=7)
        return
    end = min(result.bar, edge)
    axes.barh(row, end, height=0.42, color=colour, alpha=0.32, linewidth=0, zorder=2)
    if result.sampled and result.upper is not None:
        beyond = result.upper > edge
        axes.plot([end, min(result.upper, edge)], [row, row], color=colour, linewidth=1.2, zorder=2)
        axes.plot(
            min(result.upper, edge),
            row,
            ">" if beyond else "|",
            color=colour,
            markersize=6,
            clip_on=False,
            zorder=3,
        )
    if result.bar > edge:
        axes.plot(edge, row, ">", color=colour, markersize=8, clip_on=False, zorder=5)
        end = 0.97 * edge
    _mark(axes, (end, row), result, size=7)


def _query(axes: Axes, place: float, query: QueryView, result: ResultView, edge: float) -> None:
    colour = PALETTE[result.status.slug][0]
    size, end = 5.5 if len(result.queries) <= 60 else 3.5, min(query.size, edge)
    if result.sampled:
        beyond = query.upper > edge
        axes.plot(
            [place, place],
            [end, min(query.upper, edge)],
            color=colour,
            linewidth=1.2,
            alpha=0.75,
            zorder=2,
        )
        axes.plot(
            place,
            min(query.upper, edge),
            "^" if beyond else "_",
            color=colour,
            markersize=size,
            clip_on=False,
            zorder=3,
        )
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


def _mark(axes: Axes, at: tuple[float, float], result: ResultView, size: float) -> None:
    colour = PALETTE[result.status.slug][0]
    hollow = result.status.slug == "expected"
    axes.plot(
        *at,
        marker=result.status.marker,
        markersize=size + (3 if result.status.marker == "*" else 0),
        markerfacecolor="none" if hollow else colour,
        markeredgecolor=colour,
        markeredgewidth=1.4,
        clip_on=False,
        zorder=4,
    )


def _name_queries(
    axes: Axes, data: Sequence[QueryView], own: Sequence[QueryView], places: Sequence[float]
) -> None:
    step = math.ceil(max(1, len(data)) / MANY)
    named = [(place, query.label) for place, query in zip(places, data, strict=False)][::step]
    if own:
        named.append(((places[len(data)] + places[-1]) / 2, "own"))
    if own and data:
        axes.axvline((len(data) - 1 + places[len(data)]) / 2, color=FAINT, linewidth=0.8, alpha=0.6)
    axes.set_xticks([place for place, _ in named], [shorten(label, 12) for _, label in named])
    axes.set_xlabel("query point" + ("; ◇ the mechanism's own worst case" if own else ""))


def _own_places(data: int, own: int) -> list[float]:
    """Set the mechanism's own worst cases apart, as wide as the labels of the others are."""
    stride = max(1.0, data / MANY)
    return [data - 1 + stride * (2 + k) if data else float(k) for k in range(own)]


def _finite_numbers(result: ResultView) -> tuple[float, ...]:
    return (*_finite(result.bar, result.upper), result.claimed)


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
