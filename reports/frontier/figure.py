"""The picture of a comparison: accuracy against what is lost, with the frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpassay.reports.frontier.view import Point, frontier
from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIM, FAINT, PALETTE, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = 20
"""Of names that the picture has room for, one below the other."""
EXACT, SAMPLED, REFUTED = "computed", "at least (sampled)", "loses more than ε"
KINDS = {
    EXACT: Look(PALETTE["verified"], marker="o"),
    SAMPLED: Look(PALETTE["held"], marker=">"),
    REFUTED: Look(PALETTE["refuted"], marker="^", size=6.4),
}


def frontier_plot(points: Sequence[Point], private: float, majority: float) -> str:
    """Draw every mechanism at its loss and accuracy as SVG, and join those that nothing beats.

    Dashed lines are the accuracies without privacy, and of the majority label.
    """
    best = frontier(points)
    with chart.drawing(4, left=0.8, foot=0.4, across=chart.WIDE) as (axes,):
        for kind, look in KINDS.items():
            chart.marks(axes, _places([each for each in points if _kind(each) == kind]), look, kind)
        chart.line(axes, _places(best), Look(width=0.9), "frontier")
        for height, text in ((private, "no privacy"), (majority, "majority label")):
            chart.rule(axes, 100 * height, Look(CLAIM, "--", width=0.8))
            at = 1, 100 * height
            axes.text(*at, text, transform=axes.get_yaxis_transform(), ha="right", va="bottom")
        names = "loss of one answer at the worst examined pair, in nats", "accuracy, %"
        chart.frame(axes, names=names)
        axes.set_xlim(left=0)
        _write_names(axes, best)
        told = ", ".join(f"{each.name} at ε = {each.epsilon:g}" for each in best)
        return chart.svg(
            axes,
            name="plot-frontier",
            title="Accuracy against loss",
            description=f"On the frontier: {told}. The table has the same numbers.",
        )


def _places(points: Sequence[Point]) -> list[tuple[float, float]]:
    """Return losses and accuracies in per cent of those that were audited."""
    return [(each.loss, 100 * each.accuracy[0]) for each in points if each.loss is not None]


def _kind(point: Point) -> str:
    return REFUTED if point.refuted else EXACT if point.exact else SAMPLED


def _write_names(axes: Axes, best: Sequence[Point]) -> None:
    """Write the names of the frontier beside its points, one below the other where they crowd."""
    bottom, top = axes.get_ylim()
    right, line = axes.get_xlim()[1], (top - bottom) / LINES
    height = top
    for each, (loss, accuracy) in reversed(list(zip(best, _places(best), strict=True))):
        height = min(accuracy + line / 3, height - line)
        axes.annotate(
            f"{each.name}, ε = {each.epsilon:g}",
            (loss, accuracy),
            xytext=(loss + right / 50, height),
            va="center",
            arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.5},
        )
