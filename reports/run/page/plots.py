"""Pictures of one result: the leak at every query, and what the audit would have seen.

Inline SVG; the same bytes every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dpassay.numerics import UP, written
from dpassay.reports.run.queries import QueryView
from dpassay.reports.run.view import ResultView
from dpassay.reports.shared.chart import MIDDLE, WIDTH, Chart
from dpassay.reports.shared.numbers import plural
from dpassay.reports.shared.scales import Scale

HEIGHT = 180.0
LEFT, RIGHT, TOP, BOTTOM = 44.6, WIDTH - 13.0, 21.6, HEIGHT - 32.4
"""Ends of the axes, in points."""


MOST_MARKS = 200
"""More queries than that are drawn as an area: marks would hide one another."""
CROWDED = 60
"""With more queries than that, dots are smaller."""
ROOM = 2.2
"""Factor between neighbouring labels of a logarithmic axis, at least."""


def query_plot(result: ResultView, *, claimed: str, name: str) -> str:
    """Draw the leak at every query point as SVG, the worst first, with the claim as a line.

    Exact leaks are points; sampled ones are intervals from the lower to the upper bound. The
    mechanism's own worst cases are hollow. The picture has as many elements whatever the number
    of queries; its numbers are those of the per-query table.
    """
    queries = sorted(result.queries, key=lambda query: (-query.size, -query.upper))
    own = sum(query.own for query in queries)
    edge = _edge([(*_finite(query.size, query.upper), result.claimed) for query in queries])
    # at 0, or below an excess error that is less
    start = 1.12 * min((0.0, *(query.size for query in queries)))
    chart = Chart(
        Scale(least=0.2, most=len(queries) + 0.8, start=LEFT, end=RIGHT),
        Scale(least=start, most=edge, start=BOTTOM, end=TOP),
        HEIGHT,
    )
    chart.axes(x={rank: str(rank) for rank in _ranks(len(queries))})
    chart.line([(0.2, result.claimed), (len(queries) + 0.8, result.claimed)], "claim dashed")
    draw = _band if len(queries) > MOST_MARKS else _queries
    draw(chart, queries, result, edge)
    below = "queries, worst first" + (" (◇ own worst case)" if own else "")
    chart.titles(result.unit, f"┄ claim {claimed}", below)
    return chart.svg(
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
    )


def sight_plot(curve: Sequence[tuple[float, float]], *, claim: float, name: str, of: str) -> str:
    """Draw the smallest leak that the audit would have refuted, through answers of any frequency.

    The curve has the probability of an answer, and the leak that would be refuted with
    probability 0.9, or inf. `of` is the result.
    """
    known = [(point, leak) for point, leak in sorted(curve) if math.isfinite(leak)]
    blind = [point for point, leak in curve if math.isinf(leak)]
    points = [point for point, _ in curve]
    top = 1.25 * max([claim, *(leak for _, leak in known)]) or 1.0
    least, most = 0.5 * min(points), 2 * max(points)
    chart = Chart(
        Scale(least=least, most=most, start=LEFT, end=RIGHT, logarithmic=True),
        Scale(least=0.0, most=top, start=BOTTOM, end=TOP),
        HEIGHT,
    )
    chart.axes(x={point: f"{point:g}" for point, _ in _apart(sorted(curve))})
    chart.line([(least, claim), (most, claim)], "claim dashed")
    chart.line(known, "held edge")
    chart.marks("dot", known, "held dots")
    for point, leak in _apart(known):
        chart.write(written(leak, 3, UP), chart.x.at(point) + 4, chart.y.at(leak) - 5)
    chart.marks("triangle", [(point, 0.93 * top) for point in blind], "inconclusive solid")
    if blind:
        below = chart.y.at(0.93 * top) + 12 + MIDDLE
        chart.write("▲ not promised", chart.x.at(min(blind)) - 4, below, "claim")
    chart.titles(
        "smallest leak that would have been refuted", "", "probability of the answer that shows it"
    )
    return chart.svg(
        name=name,
        title=f"What the audit would have seen: {of}",
        description=(
            "The smallest leak that would have been refuted with probability 0.9, over the "
            "probability of the answer that shows it; the rarer the answer, the larger. "
            "The dashed line is the claim; an arrow means that none is promised. "
            "The table below has the same numbers."
        ),
    )


def _queries(chart: Chart, queries: Sequence[QueryView], result: ResultView, edge: float) -> None:
    """Draw a mark for every query, those of one shape together; beyond the edge an arrow."""
    slug, many = result.status.slug, " many" if len(queries) > CROWDED else ""
    ranked = list(enumerate(queries, 1))
    seen = [(rank, each) for rank, each in ranked if each.size <= edge]
    far = [(rank, edge) for rank, each in ranked if each.size > edge]
    if result.sampled:
        spans = [(rank, each.size, min(each.upper, edge)) for rank, each in seen]
        ended = [(rank, each.upper) for rank, each in seen if each.upper <= edge]
        far += [(rank, edge) for rank, each in seen if each.upper > edge]
        chart.spans(spans, f"{slug} span")
        chart.marks("dash", ended, f"{slug} span")
    dots = [(rank, each.size) for rank, each in seen if not each.own]
    chart.marks("dot", dots, f"{slug} dots{many}")
    own = [(rank, each.size) for rank, each in seen if each.own]
    chart.marks("diamond", own, f"{slug} outline")
    chart.marks("triangle", far, f"{slug} solid")


def _band(chart: Chart, queries: Sequence[QueryView], result: ResultView, edge: float) -> None:
    """Draw so many queries as an area: in each stretch of ranks from the least to the most."""
    slug = result.status.slug
    stretches = [
        queries[first:last]
        for first, last in pairwise(np.linspace(0, len(queries), MOST_MARKS + 1).astype(int))
    ]
    ranks = [int(rank) for rank in np.cumsum([len(stretch) for stretch in stretches])]
    sizes = [min(stretch[0].size, edge) for stretch in stretches]
    tops = [min(max(query.upper for query in stretch), edge) for stretch in stretches]
    if result.sampled:
        chart.band(ranks, sizes, tops, f"{slug} area")
    chart.line(zip(ranks, sizes, strict=True), f"{slug} curve")


def _apart(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return those points, the last among them, whose labels have room on a logarithmic axis."""
    kept: list[tuple[float, float]] = []
    for point in reversed(points):
        if not kept or point[0] * ROOM <= kept[-1][0]:
            kept.append(point)
    return kept


def _ranks(number: int) -> list[int]:
    """Return the ranks to label: the first, and at most four more."""
    powers = (10**power for power in range(19))
    step = next(size * power for power in powers for size in (1, 2, 5) if number < 5 * size * power)
    return sorted({1, *range(step, number + 1, step)})


def _finite(size: float | None, upper: float | None) -> tuple[float, ...]:
    """Return what the axis should show.

    All of the losses, and upper bounds that are not far beyond them.
    """
    return tuple(number for number in (size, upper) if number is not None and math.isfinite(number))


def _edge(rows: Sequence[tuple[float, ...]]) -> float:
    """Return the end of the axis.

    Room for every claim and leak, at most three times that for upper bounds; 1 if all are 0.
    """
    claims = max((row[-1] for row in rows), default=1.0)
    sizes = max((row[0] for row in rows if len(row) > 1), default=0.0)
    everything = max((max(row) for row in rows), default=1.0)
    return 1.12 * min(everything, 2 * max(claims, sizes)) or 1.0
