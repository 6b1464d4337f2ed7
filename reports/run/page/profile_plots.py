"""The privacy profile and the trade-off function of one pair and query, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from dpassay.reports.run.page.plots import TITLE, short
from dpassay.reports.run.profiles import ProfileView
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
from dpassay.reports.shared.numbers import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curves = Mapping[str, Sequence[float]]

HEIGHT = 2.9
BOX = (0.62, 0.45, COLUMN - 0.8, HEIGHT - 0.75)
EXACT = 1e-6
"""A band that is nowhere wider than this is drawn as one line."""
SMALL = 0.05
"""Below this a claimed delta, or the corner of the claimed trade-off, needs a logarithmic axis."""
_DASHES, _DOTS = (5, 3), (1, 2.5)


def profile_plot(
    view: ProfileView, *, slug: str, name: str, title: str, sheet: Sheet = None
) -> str:
    """Draw what is known about delta(epsilon), with the claim.

    The axis of delta is logarithmic where the claimed delta is small, but not 0.

    Parameters
    ----------
    view : ProfileView
    slug : str
        Status of the result, which gives the colour.
    name : str
        Unique among the plots of a page; for ids.
    title : str
        What the curves belong to: result and query.

    Returns
    -------
    str
        An SVG element for inlining. A band is filled between its bounds; where they agree it is a
        single line.
    """
    profile: Curves = view.profile
    curved, colour = view.claimed.get("delta"), PALETTE[slug][0]
    exact, epsilon, delta = _is_exact(profile), view.epsilon, view.delta
    claim = f"{'on the claimed curve' if curved else 'claim'} ({plain(epsilon)}, {plain(delta)})"
    with figure_of(HEIGHT, COLUMN) as figure:
        axes = axes_in(figure, BOX, HEIGHT, COLUMN)
        small = 0 < delta < SMALL
        floor = delta / 100 if small else 0.0
        top = (3 if small else 1.15) * max(*profile["upper"], delta, 1e-3)
        if small:
            axes.set_yscale("log")
            profile = _from(profile, floor)
        _curves(axes, profile, "epsilon", colour, "computed" if exact else "certified band")
        line = (profile["epsilon"], curved) if curved else ([epsilon, epsilon], [delta, top])
        axes.plot(*line, color=CLAIM, linewidth=1.3, dashes=_DASHES, zorder=1)
        axes.plot(epsilon, delta, "X", color=INK, markersize=8, markeredgewidth=0, clip_on=False)
        end = max(*profile["epsilon"], epsilon)
        axes.annotate(
            claim,
            (epsilon, delta),
            (-6 if epsilon > end / 2 else 6, 6),
            textcoords="offset points",
            ha="right" if epsilon > end / 2 else "left",
            va="bottom",
            color=CLAIM,
        )
        axes.set_xlim(0, end)
        axes.set_ylim(floor, min(top, 2.0) if small else top)
        axes.set_xlabel("ε in nats")
        axes.set_title("δ(ε)", loc="left", fontsize=9, color=INK, y=TITLE, pad=0)
        _finish(axes)
        return lean(
            as_svg(
                figure,
                name=name,
                title=f"Privacy profile: {title}",
                description=(
                    "The least delta for which this pair and query is (epsilon, delta)-private; "
                    f"the cross is the {'point ' if curved else ''}{claim}, which is wrong where "
                    f"the curve runs above it.{' The axis of delta is logarithmic.' * small} "
                    f"{_of(exact=exact)}"
                ),
            ),
            sheet,
        )


def trade_off_plot(
    view: ProfileView, *, slug: str, name: str, title: str, sheet: Sheet = None
) -> str:
    """Draw what is known about the trade-off function, with the least that the claim allows.

    Both axes are logarithmic where the corner of the claim lies near 0. Parameters and result are
    those of `profile_plot`.
    """
    trade_off: Curves = view.trade_off
    colour = PALETTE[slug][0]
    exact, curved = _is_exact(trade_off), "delta" in view.claimed
    corner = (1 - view.delta) / (1 + math.exp(min(view.epsilon, 700.0)))
    small = 0 < corner < SMALL
    allowed = (trade_off["false_positive"], view.claimed["false_negative"])
    with figure_of(HEIGHT, COLUMN) as figure:
        axes = axes_in(figure, BOX, HEIGHT, COLUMN)
        if small:
            axes.set_xscale("log")
            axes.set_yscale("log")
            grid = [10 ** (math.log10(corner / 10) * (1 - k / 30)) for k in range(31)]
            trade_off = _over(trade_off, grid, corner / 10)
            if curved:
                allowed = (grid, _between(*allowed, grid))
        if not curved:
            levels = trade_off["false_positive"]
            more = [] if small else [corner, 1 - view.delta]
            levels = sorted({*levels, *more})
            allowed = (levels, _allowed(view.epsilon, view.delta, levels))
        _curves(axes, trade_off, "false_positive", colour, "computed" if exact else "certified")
        axes.plot(*allowed, color=CLAIM, linewidth=1.3, dashes=_DASHES, zorder=3, label="claim")
        guess = trade_off["false_positive"] if small else [0, 1]
        axes.plot(
            guess,
            [1 - each for each in guess],
            color=FAINT,
            linewidth=1,
            dashes=_DOTS,
            zorder=1,
            label="guessing",
        )
        least = corner / 10 if small else 0.0
        axes.set_xlim(least, 1)
        axes.set_ylim(least, 1)
        axes.set_xlabel("false positives")
        axes.set_title("least false negatives", loc="left", fontsize=9, color=INK, y=TITLE, pad=0)
        where: Literal["lower left", "upper right"] = "lower left" if small else "upper right"
        axes.legend(loc=where, frameon=False, borderaxespad=0.3, labelcolor=CLAIM, fontsize=8)
        _finish(axes)
        return lean(
            as_svg(
                figure,
                name=name,
                title=f"Trade-off function: {title}",
                description=(
                    "The least false negative rate of a test that tells the two datasets apart, "
                    "at each false positive rate; the claim is wrong where the curve falls below "
                    "the dashed line; the dotted line is guessing."
                    f"{' Both axes are logarithmic.' * small} {_of(exact=exact)}"
                ),
            ),
            sheet,
        )


def _of(*, exact: bool) -> str:
    told = "is computed" if exact else "is a band that holds everywhere at once"
    return f"The curve {told}. The table below has the same numbers."


def _finish(axes: Axes) -> None:
    axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
    axes.tick_params(which="both", length=0, pad=5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(short)
        axis.set_minor_formatter("")
    despine(axes)


def _from(curves: Curves, floor: float) -> Curves:
    """Lift what a logarithmic axis cannot show to its lower end."""
    return {
        name: values if name == "epsilon" else [max(each, floor) for each in values]
        for name, values in curves.items()
    }


def _over(curves: Curves, grid: Sequence[float], floor: float) -> Curves:
    """Read a trade-off function off at other false positive rates, on its chords."""
    return {"false_positive": grid} | {
        side: [max(each, floor) for each in _between(curves["false_positive"], curves[side], grid)]
        for side in ("lower", "upper")
    }


def _between(x: Sequence[float], y: Sequence[float], at: Sequence[float]) -> list[float]:
    import numpy as np

    return [float(each) for each in np.interp(at, x, y)]


def _curves(axes: Axes, curves: Curves, over: str, colour: str, label: str | None = None) -> None:
    """Draw a band, or one line where its two sides agree."""
    x, lower, upper = curves[over], curves["lower"], curves["upper"]
    if _is_exact(curves):
        axes.plot(x, upper, color=colour, linewidth=1.8, zorder=4, clip_on=False, label=label)
        return
    axes.fill_between(x, lower, upper, color=colour, alpha=0.32, linewidth=0, zorder=2, label=label)
    for side in (lower, upper):
        axes.plot(x, side, color=colour, linewidth=1.2, zorder=4, clip_on=False)


def _allowed(epsilon: float, delta: float, levels: Sequence[float]) -> list[float]:
    """Return the claim's trade-off function: two lines that meet at the diagonal, then 0."""
    steep = math.exp(min(epsilon, 700.0))
    return [max(0.0, 1 - delta - steep * level, (1 - delta - level) / steep) for level in levels]


def _is_exact(curves: Curves) -> bool:
    return all(
        upper - lower <= EXACT
        for lower, upper in zip(curves["lower"], curves["upper"], strict=True)
    )
