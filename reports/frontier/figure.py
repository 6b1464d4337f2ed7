"""The picture of a comparison: accuracy against what is lost, with the frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpassay.reports.frontier.view import Point, frontier
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
from dpassay.reports.shared.lean import lean

HEIGHT = 4.4


def frontier_plot(points: Sequence[Point], private: float, majority: float) -> str:
    """Draw every mechanism at its loss and accuracy, and join those that nothing beats.

    Parameters
    ----------
    points : sequence of Point
    private, majority : float
        Accuracy without privacy, and of the majority label: dashed lines.

    Returns
    -------
    str
        An SVG element for inlining.
    """
    best = frontier(points)
    with figure_of(HEIGHT) as (figure, sns):
        axes = axes_in(figure, (0.8, 0.65, WIDTH - 1.2, HEIGHT - 0.9), HEIGHT)
        for kind, (slug, marker) in KINDS.items():
            some = [each for each in points if _kind(each) == kind]
            axes.scatter(
                [each.loss for each in some],
                [100 * each.accuracy[0] for each in some],
                color=PALETTE[slug][0],
                marker=marker,
                s=28,
                label=kind,
            )
        axes.plot(
            [each.loss for each in best],
            [100 * each.accuracy[0] for each in best],
            color=INK,
            linewidth=0.9,
            label="frontier",
        )
        _named(axes, best)
        for height, text in ((private, "no privacy"), (majority, "majority label")):
            axes.axhline(100 * height, color=CLAIM, linestyle="--", linewidth=0.8)
            axes.annotate(
                text,
                (1, 100 * height),
                xycoords=("axes fraction", "data"),
                xytext=(-2, 3),
                textcoords="offset points",
                ha="right",
                fontsize="small",
            )
        axes.set_xlim(left=0)
        axes.set_xlabel("loss of one answer at the worst examined pair, in nats")
        axes.set_ylabel("accuracy, %")
        axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
        axes.legend(frameon=False, loc="lower right", fontsize="small")
        sns.despine(ax=axes)
        told = ", ".join(f"{each.name} at ε = {each.epsilon:g}" for each in best)
        svg = as_svg(
            figure,
            name="plot-frontier",
            title="Accuracy against loss",
            description=f"On the frontier: {told}. The table has the same numbers.",
        )
    return lean(svg)


EXACT, SAMPLED, REFUTED = "computed", "at least (sampled)", "loses more than it claims"
KINDS = {EXACT: ("verified", "o"), SAMPLED: ("held", ">"), REFUTED: ("refuted", "^")}


def _kind(point: Point) -> str:
    return REFUTED if point.refuted else EXACT if point.exact else SAMPLED


def _named(axes: Any, best: Sequence[Point]) -> None:
    """Write the names of the frontier, in turn above and below it."""
    for place, each in enumerate(best):
        axes.annotate(
            f"{each.name}, ε = {each.epsilon:g}",
            (each.loss, 100 * each.accuracy[0]),
            xytext=(6, 7 if place % 2 == 0 else -11),
            textcoords="offset points",
            fontsize="small",
            color=INK,
        )
