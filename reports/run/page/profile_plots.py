"""The privacy profile and the trade-off function of one pair and query, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dpassay.reports.run.profiles import ProfileView
from dpassay.reports.shared.chart import WIDTH, Chart
from dpassay.reports.shared.numbers import plain
from dpassay.reports.shared.scales import Scale

Curves = Mapping[str, Sequence[float]]

HEIGHT = 208.8
LEFT, RIGHT, TOP, BOTTOM = 44.6, WIDTH - 13.0, 21.6, HEIGHT - 32.4
"""Ends of the axes, in points."""
EXACT = 1e-6
"""A band that is nowhere wider than this is drawn as one line."""
SMALL = 0.05
"""Below this a claimed delta, or the corner of the claimed trade-off, needs a logarithmic axis."""
DECADES = 30
"""Stretches of a logarithmic axis, at the ends of which a curve is read off."""


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
    chart = _chart(
        (0.0, max(*profile["epsilon"], epsilon)),
        (floor, min(top, 2.0) if small else top),
        small=(False, small),
    )
    _curves(chart, _from(profile, floor), "epsilon", slug)
    line = zip(profile["epsilon"], curved, strict=True) if curved else ()
    chart.line(line or ((epsilon, delta), (epsilon, top)), "claim dashed")
    chart.marks("cross", [(epsilon, delta)], "bold")
    chart.titles("δ(ε)", f"✕ {claim}", "ε in nats")
    return chart.svg(
        name=name,
        title=f"Privacy profile: {title}",
        description=(
            "The least delta for which this pair and query is (epsilon, delta)-private; "
            f"the cross is the {'point ' if curved else ''}{claim}, which is wrong where "
            f"the curve runs above it.{' The axis of delta is logarithmic.' * small} "
            f"{_of(exact=_is_exact(profile))}"
        ),
    )


def trade_off_plot(view: ProfileView, *, slug: str, name: str, title: str) -> str:
    """Draw what is known about the trade-off function, with the least that the claim allows.

    Both axes are logarithmic where the corner of the claim lies near 0. Parameters and result are
    those of `profile_plot`.
    """
    trade_off: Curves = view.trade_off
    exact = _is_exact(trade_off)
    corner = (1 - view.delta) / (1 + math.exp(min(view.epsilon, 700.0)))
    small = 0 < corner < SMALL
    least = corner / 10 if small else 0.0
    grid = (
        [10 ** (math.log10(least) * (1 - k / DECADES)) for k in range(DECADES + 1)] if small else ()
    )
    chart = _chart((least, 1.0), (least, 1.0), small=(small, small))
    guess = grid or (0.0, 1.0)
    chart.line([(each, 1 - each) for each in guess], "dotted")
    levels, allowed = _claimed(view, grid, corner)
    _curves(chart, _over(trade_off, grid, least) if grid else trade_off, "false_positive", slug)
    chart.line(zip(levels, allowed, strict=True), "claim dashed")
    chart.titles("least false negatives", "", "false positives")
    words = f"{'━ computed' if exact else '■ certified'}\u2002– – claim\u2002··· guessing"
    if small:
        chart.write(words, LEFT + 4, BOTTOM - 6, "title claim")
    else:
        chart.write(words, RIGHT - 4, TOP + 14, "title claim end")
    return chart.svg(
        name=name,
        title=f"Trade-off function: {title}",
        description=(
            "The least false negative rate of a test that tells the two datasets apart, "
            "at each false positive rate; the claim is wrong where the curve falls below "
            "the dashed line; the dotted line is guessing."
            f"{' Both axes are logarithmic.' * small} {_of(exact=exact)}"
        ),
    )


def _chart(x: tuple[float, float], y: tuple[float, float], *, small: tuple[bool, bool]) -> Chart:
    chart = Chart(
        Scale(least=x[0], most=x[1], start=LEFT, end=RIGHT, logarithmic=small[0]),
        Scale(least=y[0], most=y[1], start=BOTTOM, end=TOP, logarithmic=small[1]),
        HEIGHT,
    )
    chart.axes()
    return chart


def _of(*, exact: bool) -> str:
    told = "is computed" if exact else "is a band that holds everywhere at once"
    return f"The curve {told}. The table below has the same numbers."


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


def _curves(chart: Chart, curves: Curves, over: str, slug: str) -> None:
    """Draw a band, or one line where its two sides agree."""
    x, lower, upper = curves[over], curves["lower"], curves["upper"]
    if _is_exact(curves):
        chart.line(zip(x, upper, strict=True), f"{slug} curve")
        return
    chart.band(x, lower, upper, f"{slug} area")
    for side in (lower, upper):
        chart.line(zip(x, side, strict=True), f"{slug} edge")


def _claimed(
    view: ProfileView, grid: Sequence[float], corner: float
) -> tuple[Sequence[float], Sequence[float]]:
    """Return the claim's trade-off function: as it is known, or its two lines, then 0."""
    levels: Sequence[float] = view.trade_off["false_positive"]
    if "delta" in view.claimed:
        allowed = view.claimed["false_negative"]
        return (grid, _between(levels, allowed, grid)) if grid else (levels, allowed)
    levels = grid or sorted({*levels, corner, 1 - view.delta})
    steep, delta = math.exp(min(view.epsilon, 700.0)), view.delta
    return levels, [
        max(0.0, 1 - delta - steep * level, (1 - delta - level) / steep) for level in levels
    ]


def _is_exact(curves: Curves) -> bool:
    return all(
        upper - lower <= EXACT
        for lower, upper in zip(curves["lower"], curves["upper"], strict=True)
    )
