"""Pictures of one result, and the tables of their numbers.

The leak at every query, what the audit would have seen, the privacy profile, and the trade-off
function.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpassay.numerics import DOWN, NEAREST, UP, written
from dpassay.reports.run.tables import ProfileView, QueryView
from dpassay.reports.run.view import FullView
from dpassay.reports.shared.chart import (
    CLAIM,
    CLAIMED,
    GUESSING,
    PALETTE,
    Look,
    band,
    beside,
    drawing,
    frame,
    line,
    marks,
    note,
    rule,
    spans,
    svg,
)
from dpassay.reports.shared.numbers import plain, plural
from dpassay.reports.shared.tables import TextTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curves = Mapping[str, Sequence[float]]

HEIGHT = 2.6  # of a picture, in inches
MOST_MARKS = 200  # more queries than that are drawn as an area: marks would hide one another
CROWDED = 60  # with more queries than that, dots are smaller
ROOM = 2.2  # factor between neighbouring labels of a logarithmic axis, at least
BELOW = 0.012  # part of an upright axis that lies below 0, so that a line there is seen
EXACT = 1e-6  # bounds that are nowhere farther apart are drawn, and written, as one curve
SMALL = 0.05  # a claimed delta or corner below this needs a logarithmic axis
DECADES = 30  # stretches of a logarithmic axis, at the ends of which a curve is read off
DIGITS = 4  # of the numbers in the tables; bounds are rounded outwards
SAME_NUMBERS = "The table below has the same numbers."


def query_plot(result: FullView, *, claimed: str, name: str) -> str:
    """Draw the leak at every query point as SVG, the worst first, with the claim as a line.

    Exact leaks are points; sampled ones are intervals from the lower to the upper bound. The
    mechanism's own worst cases are hollow. Its numbers are those of the per-query table.
    """
    queries = sorted(result.queries, key=lambda query: (-query.size, -query.upper))
    own, number = sum(query.own for query in queries), len(queries)
    # room for the claim and every leak, at most three times that for upper bounds; 1 if all are 0
    sizes = [result.promised, *(each.size for each in queries if math.isfinite(each.size))]
    uppers = [each.upper for each in queries if math.isfinite(each.upper)]
    edge = 1.12 * min(max(sizes + uppers), 2 * max(sizes)) or 1.0
    # the first rank has a label, and at most four more
    powers = (10**power for power in range(19))
    step = next(size * power for power in powers for size in (1, 2, 5) if number < 5 * size * power)
    ranks = sorted({1, *range(step, number + 1, step)})
    how = "Points are computed leaks"
    how = "Lines run from the lower to the upper bound" if result.sampled else how
    # just below 0, or below an excess error that is less
    start = 1.12 * min((-BELOW * edge, *(query.size for query in queries)))
    with drawing(HEIGHT) as (axes,):
        frame(
            axes,
            (0.2, number + 0.8),
            (start, edge),
            x_ticks={rank: str(rank) for rank in ranks},
            names=("queries, worst first" + (" (◇ own worst case)" if own else ""), ""),
            title=result.unit,
            claim=f"┄ claim {claimed}",
        )
        axes.grid(visible=False, axis="x")
        rule(axes, result.promised, CLAIMED)
        draw = _area if len(queries) > MOST_MARKS else _queries
        draw(axes, queries, result, edge)
        return svg(
            axes,
            name=name,
            title=f"{result.unit.capitalize()} at every query: {result.id}",
            description=(
                f"{plural(number - own, 'query')} and {plural(own, 'own worst case')}, worst "
                f"first. {how}; the dashed line is the claim; an arrow means that the value lies "
                f"beyond the edge or is infinite. {SAME_NUMBERS}"
            ),
        )


def _queries(axes: Axes, queries: Sequence[QueryView], result: FullView, edge: float) -> None:
    """Draw a mark for every query; beyond the edge an arrow."""
    colour, size = PALETTE[result.status.slug], 5.4 if len(queries) <= CROWDED else 3.4
    ranked = list(enumerate(queries, 1))
    inside = [(rank, each) for rank, each in ranked if each.size <= edge]
    far = [(rank, edge) for rank, each in ranked if each.size > edge]
    if result.sampled:
        intervals = [(rank, each.size, min(each.upper, edge)) for rank, each in inside]
        spans(axes, intervals, Look(colour, width=1.2))
        ended = [(rank, each.upper) for rank, each in inside if each.upper <= edge]
        marks(axes, ended, Look(colour, marker="_", size=size, width=1.2))
        far += [(rank, edge) for rank, each in inside if each.upper > edge]
    dots = [(rank, each.size) for rank, each in inside if not each.own]
    marks(axes, dots, Look(colour, marker="o", size=size))
    own = [(rank, each.size) for rank, each in inside if each.own]
    marks(axes, own, Look(colour, marker="D", hollow=True, size=4.8, width=1.1))
    marks(axes, far, Look(colour, marker="^", size=6.4))


def _area(axes: Axes, queries: Sequence[QueryView], result: FullView, edge: float) -> None:
    """Draw so many queries as an area: in each stretch of ranks from the least to the most."""
    colour = PALETTE[result.status.slug]
    stretches = [
        queries[first:last]
        for first, last in pairwise(np.linspace(0, len(queries), MOST_MARKS + 1).astype(int))
    ]
    ranks = [float(rank) for rank in np.cumsum([len(stretch) for stretch in stretches])]
    sizes = [min(stretch[0].size, edge) for stretch in stretches]
    if result.sampled:
        tops = [min(max(query.upper for query in stretch), edge) for stretch in stretches]
        band(axes, ranks, sizes, tops, colour)
    line(axes, zip(ranks, sizes, strict=True), Look(colour, width=1.8))


def sight_plot(curve: Sequence[tuple[float, float]], *, claim: float, name: str, of: str) -> str:
    """Draw the smallest leak that the audit would have refuted, through answers of any frequency.

    The curve has the probability of an answer, and the leak that would be refuted with
    probability 0.9, or inf. `of` is the result.
    """
    found = [(point, leak) for point, leak in sorted(curve) if math.isfinite(leak)]
    blind = [point for point, leak in curve if math.isinf(leak)]
    points, colour = [point for point, _ in curve], PALETTE["held"]
    top = 1.25 * max([claim, *(leak for _, leak in found)]) or 1.0
    with drawing(HEIGHT) as (axes,):
        frame(
            axes,
            (0.5 * min(points), 2 * max(points)),
            (0.0, top),
            logarithmic="x",
            x_ticks={point: f"{point:g}" for point, _ in _apart(sorted(curve))},
            names=("probability of the answer that shows it", ""),
            title="smallest leak that would have been refuted",
        )
        axes.grid(visible=False, axis="x")
        rule(axes, claim, CLAIMED)
        line(axes, found, Look(colour, width=1.2, marker="o"))
        for point, leak in _apart(found):
            beside(axes, written(leak, 3, UP), (point, leak), (4, 5))
        arrow = Look(PALETTE["inconclusive"], marker="^", size=6.4)
        marks(axes, [(point, 0.93 * top) for point in blind], arrow)
        if blind:
            beside(axes, "▲ not promised", (min(blind), 0.93 * top), (-4, -14), color=CLAIM)
        return svg(
            axes,
            name=name,
            title=f"What the audit would have seen: {of}",
            description=(
                "The smallest leak that would have been refuted with probability 0.9, over the "
                "probability of the answer that shows it; the rarer the answer, the larger. "
                "The dashed line is the claim; an arrow means that none is promised. "
                f"{SAME_NUMBERS}"
            ),
        )


def sight_table(points: Sequence[tuple[float, float]]) -> TextTable:
    """Return the smallest leaks that would have been refuted, as drawn."""
    caption = "Smallest leak that would have been refuted with probability 0.9"
    told = ("not promised" if math.isinf(leak) else written(leak, DIGITS, UP) for _, leak in points)
    rows = zip([f"{point:g}" for point, _ in points], told, strict=True)
    return TextTable.of(caption, "probability of the answer: | leak:", rows)


def profile_plot(view: ProfileView, *, slug: str, name: str, title: str) -> str:
    """Draw what is known about delta(epsilon) as SVG, with the claim.

    The axis of delta is logarithmic if the claimed delta is small, but not 0. A band is filled
    between its bounds; where they agree it is a single line. `slug` is the status of the
    result, which gives the colour.
    """
    profile, curved = view.profile, view.claimed.get("delta")
    epsilon, delta = view.epsilon, view.delta
    claim = f"{'on the claimed curve' if curved else 'claim'} ({plain(epsilon)}, {plain(delta)})"
    small = 0 < delta < SMALL
    floor = delta / 100 if small else 0.0
    top = (3 if small else 1.15) * max(*profile["upper"], delta, 1e-3)
    top = min(top, 2.0) if small else top
    with drawing(HEIGHT) as (axes,):
        frame(
            axes,
            (0.0, max(*profile["epsilon"], epsilon)),
            (floor or -BELOW * top, top),
            logarithmic="y" * small,
            names=("ε in nats", ""),
            title="δ(ε)",
            claim=f"✕ {claim}",
        )
        _curves(axes, profile, "epsilon", floor, slug)
        claimed = zip(profile["epsilon"], curved, strict=True) if curved else ()
        line(axes, claimed or ((epsilon, delta), (epsilon, top)), CLAIMED)
        marks(axes, [(epsilon, delta)], Look(marker="x", width=2))
        return svg(
            axes,
            name=name,
            title=f"Privacy profile: {title}",
            description=(
                "The least delta for which this pair and query is (epsilon, delta)-private; "
                f"the cross is the {'point ' if curved else ''}{claim}, which is wrong where "
                f"the curve runs above it.{' The axis of delta is logarithmic.' * small} "
                f"{_kind_words(profile)}"
            ),
        )


def profile_table(view: ProfileView) -> TextTable:
    """Return the privacy profile as drawn."""
    return _curve_table(f"Privacy profile{view.of}", "ε", "δ(ε)", view.profile, "epsilon")


def trade_off_plot(view: ProfileView, *, slug: str, name: str, title: str) -> str:
    """Draw what is known about the trade-off function, with the least that the claim allows.

    Both axes are logarithmic where the corner of the claim lies near 0. Parameters and result are
    those of `profile_plot`.
    """
    trade_off: Curves = view.trade_off
    known, delta = trade_off["false_positive"], view.delta
    steep = math.exp(min(view.epsilon, 700.0))
    corner = (1 - delta) / (1 + steep)
    small = 0 < corner < SMALL
    least = corner / 10 if small else 0.0
    grid = np.geomspace(least, 1.0, DECADES + 1).tolist() if small else []
    with drawing(HEIGHT) as (axes,):
        frame(
            axes,
            (least, 1.0),
            (least or -BELOW, 1.0),
            logarithmic="xy" * small,
            names=("false positives", ""),
            title="least false negatives",
        )
        line(axes, [(each, 1 - each) for each in grid or (0.0, 1.0)], GUESSING)
        # the claim's trade-off function: as it is known, or its two lines, then 0
        levels = grid or sorted({*known, corner, 1 - delta})
        allowed = [max(0.0, 1 - delta - steep * a, (1 - delta - a) / steep) for a in levels]
        if "delta" in view.claimed:
            levels, allowed = grid or known, view.claimed["false_negative"]
            allowed = np.interp(grid, known, allowed).tolist() if grid else allowed
        curves = trade_off
        if small:
            sides = "lower", "upper"
            curves = {side: np.interp(grid, known, trade_off[side]).tolist() for side in sides}
            curves = {"false_positive": grid, **curves}
        _curves(axes, curves, "false_positive", least, slug)
        line(axes, zip(levels, allowed, strict=True), CLAIMED)
        known_words = "━ computed" if _is_exact(trade_off) else "■ certified"
        words = f"{known_words}\u2002– – claim\u2002··· guessing"
        place = ((0.02, 0.04), "left") if small else ((0.98, 0.92), "right")
        note(axes, words, *place)
        return svg(
            axes,
            name=name,
            title=f"Trade-off function: {title}",
            description=(
                "The least false negative rate of a test that tells the two datasets apart, "
                "at each false positive rate; the claim is wrong where the curve falls below "
                "the dashed line; the dotted line is guessing."
                f"{' Both axes are logarithmic.' * small} {_kind_words(trade_off)}"
            ),
        )


def trade_off_table(view: ProfileView) -> TextTable:
    """Return the trade-off function as drawn, with that of the claim."""
    names, caption = ("false positives", "false negatives"), f"Trade-off function{view.of}"
    claimed = view.claimed["false_negative"]
    return _curve_table(caption, *names, view.trade_off, "false_positive", claimed)


def _apart(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return those points, the last among them, whose labels have room on a logarithmic axis."""
    kept: list[tuple[float, float]] = []
    for point in reversed(points):
        if not kept or point[0] * ROOM <= kept[-1][0]:
            kept.append(point)
    return kept


def _curves(axes: Axes, curves: Curves, over: str, floor: float, slug: str) -> None:
    """Draw a band, or one line where its two sides agree; nothing lies below the floor."""
    lower, upper = ([max(each, floor) for each in curves[side]] for side in ("lower", "upper"))
    x, colour = curves[over], PALETTE[slug]
    if _is_exact(curves):
        line(axes, zip(x, upper, strict=True), Look(colour, width=1.8))
        return
    band(axes, x, lower, upper, colour)
    for side in (lower, upper):
        line(axes, zip(x, side, strict=True), Look(colour, width=1.2))


def _is_exact(curves: Curves) -> bool:
    return all(
        upper - lower <= EXACT
        for lower, upper in zip(curves["lower"], curves["upper"], strict=True)
    )


def _kind_words(curves: Curves) -> str:
    told = "is computed" if _is_exact(curves) else "is a band that holds everywhere at once"
    return f"The curve {told}. {SAME_NUMBERS}"


def _curve_table(
    caption: str, x: str, y: str, curves: Curves, over: str, claimed: Sequence[float] = ()
) -> TextTable:
    titles, columns = f"{x}: | {y}:", [(curves["upper"], NEAREST)]
    if not _is_exact(curves):
        titles, columns = f"{x}: | {y} at least: | at most:", [(curves["lower"], DOWN)]
        columns.append((curves["upper"], UP))
    if claimed:
        titles, columns = f"{titles} | the claim's:", [*columns, (claimed, DOWN)]
    numbers = [[written(each, DIGITS, way) for each in side] for side, way in columns]
    points = [f"{each:.4g}" for each in curves[over]]
    return TextTable.of(caption, titles, zip(points, *numbers, strict=True))
