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
    despine,
    figure_of,
)
from dpassay.reports.shared.lean import lean

HEIGHT = 4.4
LINES = 20
"""Of names that the picture has room for, one below the other."""


def frontier_plot(points: Sequence[Point], private: float, majority: float) -> str:
    """Draw every mechanism at its loss and accuracy as SVG, and join those that nothing beats.

    Dashed lines are the accuracies without privacy, and of the majority label.
    """
    best = frontier(points)
    with figure_of(HEIGHT) as figure:
        axes = axes_in(figure, (0.8, 0.65, WIDTH - 1.2, HEIGHT - 0.9), HEIGHT)
        for kind, (slug, marker) in KINDS.items():
            some = [each for each in points if _kind(each) == kind]
            axes.scatter(
                *_places(some),
                color=PALETTE[slug][0],
                marker=marker,
                s=28,
                label=kind,
            )
        axes.plot(
            *_places(best),
            color=INK,
            linewidth=0.9,
            label="frontier",
        )
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
        _named(axes, best)
        axes.set_xlabel("loss of one answer at the worst examined pair, in nats")
        axes.set_ylabel("accuracy, %")
        axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
        axes.legend(frameon=False, loc="lower right", fontsize="small")
        despine(axes)
        told = ", ".join(f"{each.name} at ε = {each.epsilon:g}" for each in best)
        svg = as_svg(
            figure,
            name="plot-frontier",
            title="Accuracy against loss",
            description=f"On the frontier: {told}. The table has the same numbers.",
        )
    return lean(svg)


EXACT, SAMPLED, REFUTED = "computed", "at least (sampled)", "loses more than ε"
KINDS = {EXACT: ("verified", "o"), SAMPLED: ("held", ">"), REFUTED: ("refuted", "^")}


def _places(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    """Return losses and accuracies in per cent of those that were audited."""
    known = [(each.loss, 100 * each.accuracy[0]) for each in points if each.loss is not None]
    return [loss for loss, _ in known], [accuracy for _, accuracy in known]


def _kind(point: Point) -> str:
    return REFUTED if point.refuted else EXACT if point.exact else SAMPLED


def _named(axes: Any, best: Sequence[Point]) -> None:
    """Write the names of the frontier beside its points, one below the other where they crowd."""
    bottom, top = axes.get_ylim()
    right, line = axes.get_xlim()[1], (top - bottom) / LINES
    height = top
    named = list(zip(best, *_places(best), strict=True))
    for each, loss, accuracy in reversed(named):
        height = min(accuracy + line / 3, height - line)
        axes.annotate(
            f"{each.name}, ε = {each.epsilon:g}",
            (loss, accuracy),
            xytext=(loss + right / 50, height),
            va="center",
            fontsize="small",
            color=INK,
            arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.5},
        )
