"""The privacy profile and the trade-off function of one pair and query, in one inline SVG.

They stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
from dpassay.reports.shared.numbers import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curves = Mapping[str, Sequence[float]]

HEIGHT = 3.5
SQUARE = 2.7
"""Side of the right panel in inches: the datasets may be exchanged, so both of its axes are
alike."""
EXACT = 1e-6
"""A band that is nowhere wider than this is drawn as one line."""
_DASHES, _DOTS = (5, 3), (1, 2.5)


def profile_plot(
    profile: Curves,
    trade_off: Curves,
    *,
    epsilon: float,
    delta: float,
    slug: str,
    name: str,
    title: str,
    claimed: Curves | None = None,
) -> str:
    """Draw what is known about delta(epsilon) and about the trade-off function.

    The first at the left, the other at the right, with the claim in both.

    Parameters
    ----------
    profile : mapping
        `epsilon`, `lower` and `upper`, as the record has them.
    trade_off : mapping
        `false_positive`, `lower` and `upper`.
    epsilon, delta : float
        The claim; where it is a curve, a point of it.
    slug : str
        Status of the result, which gives the colour.
    name : str
        Unique among the plots of a page; for ids.
    title : str
        What the curves belong to: result and query.
    claimed : mapping, optional
        Of a claim that is a curve: `delta` at each epsilon, and `false_negative` at each false
        positive rate.

    Returns
    -------
    str
        An SVG element for inlining. A band is filled between its bounds; where they agree it is a
        single line.
    """
    colour = PALETTE[slug][0]
    exact = _is_exact(profile) and _is_exact(trade_off)
    curved = claimed if claimed is not None and "delta" in claimed else None
    allowed = (
        (trade_off["false_positive"], curved["false_negative"])
        if curved
        else _allowed(epsilon, delta)
    )
    claim = f"{'on the claimed curve' if curved else 'claim'} ({plain(epsilon)}, {plain(delta)})"
    with figure_of(HEIGHT) as (figure, sns):
        left = axes_in(figure, (0.75, 0.6, WIDTH - SQUARE - 1.8, SQUARE), HEIGHT)
        right = axes_in(figure, (WIDTH - SQUARE - 0.2, 0.6, SQUARE, SQUARE), HEIGHT)
        top = 1.15 * max(*profile["upper"], delta, 1e-3)
        _curves(left, profile, "epsilon", colour, "computed" if exact else "certified band")
        line = (
            ([epsilon, epsilon], [delta, top])
            if not curved
            else (profile["epsilon"], curved["delta"])
        )
        left.plot(*line, color=CLAIM, linewidth=1.3, dashes=_DASHES, zorder=1)
        left.plot(
            epsilon,
            delta,
            "X",
            color=INK,
            markersize=8,
            markeredgewidth=0,
            linewidth=0,
            clip_on=False,
            zorder=5,
        )
        left.annotate(
            claim, (epsilon, top), (5, -2), textcoords="offset points", va="top", color=CLAIM
        )
        left.set_xlim(0, max(*profile["epsilon"], epsilon))
        left.set_ylim(0, top)
        left.set_xlabel("ε in nats")
        left.set_ylabel("δ(ε)")
        _curves(right, trade_off, "false_positive", colour)
        right.plot(
            *allowed,
            color=CLAIM,
            linewidth=1.3,
            dashes=_DASHES,
            zorder=3,
            label="least that the claim allows",
        )
        right.plot(
            [0, 1], [1, 0], color=FAINT, linewidth=1, dashes=_DOTS, zorder=1, label="guessing"
        )
        right.set_xlim(0, 1)
        right.set_ylim(0, 1)
        right.set_xlabel("false positives")
        right.set_ylabel("least false negatives")
        for axes in (left, right):
            axes.legend(loc="upper right", frameon=False, borderaxespad=0, labelcolor=CLAIM)
            axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
            sns.despine(ax=axes)
        return as_svg(
            figure,
            name=name,
            title=f"Privacy profile and trade-off function: {title}",
            description=(
                "Left: the least delta for which this pair and query is (epsilon, "
                f"delta)-private; the cross is the {'point ' if curved else ''}{claim}, which is "
                "wrong where the curve runs above it. Right: the least false negative rate of a "
                "test that tells the two datasets apart, at each false positive rate; the claim "
                "is wrong where the curve falls below the dashed line; the dotted line is "
                "guessing. "
                + (
                    "The curves are computed."
                    if exact
                    else "The bands, from lower to upper bound, hold everywhere at once."
                )
            ),
        )


def _curves(axes: Axes, curves: Curves, over: str, colour: str, label: str | None = None) -> None:
    """Draw a band, or one line where its two sides agree."""
    x, lower, upper = curves[over], curves["lower"], curves["upper"]
    if _is_exact(curves):
        axes.plot(x, upper, color=colour, linewidth=1.8, zorder=4, clip_on=False, label=label)
        return
    axes.fill_between(x, lower, upper, color=colour, alpha=0.32, linewidth=0, zorder=2, label=label)
    for side in (lower, upper):
        axes.plot(x, side, color=colour, linewidth=1.2, zorder=4, clip_on=False)


def _allowed(epsilon: float, delta: float) -> tuple[Sequence[float], Sequence[float]]:
    """Return the corners of the claim's trade-off function.

    Two lines that meet at the diagonal, then 0.
    """
    corner = (1 - delta) / (1 + math.exp(epsilon))
    return [0, corner, 1 - delta, 1], [1 - delta, corner, 0, 0]


def _is_exact(curves: Curves) -> bool:
    return all(
        upper - lower <= EXACT
        for lower, upper in zip(curves["lower"], curves["upper"], strict=True)
    )
