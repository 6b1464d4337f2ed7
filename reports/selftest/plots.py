"""Figures of the self-test.

Errors against their limit, false alarms in their region, the power curve with what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from dpassay.reports.shared.numbers import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Raw = Mapping[str, Any]

GOOD, BAD = PALETTE["verified"][0], PALETTE["refuted"][0]
LINES = (
    (PALETTE["held"][0], "-"),
    (PALETTE["inconclusive"][0], "--"),
    (PALETTE["error"][0], ":"),
    (PALETTE["missed"][0], "-."),
)
LIMIT = 0.05


def error_plot(points: Sequence[Raw]) -> str:
    """Draw the worst-case error of every test at every claim as SVG, one panel per test.

    The limit is a dashed line. Points have `method`, `n`, `epsilon`, `delta` and `at_most`, and
    all are of one n.
    """
    tests = list(dict.fromkeys(point["method"] for point in points))
    n, height, left, gap = points[0]["n"], 2.9, 0.75, 0.25
    wide = (WIDTH - left - 0.15 - gap * (len(tests) - 1)) / len(tests)
    top = 1.15 * max(LIMIT, *(point["at_most"] for point in points))
    with figure_of(height) as figure:
        for k, test in enumerate(tests):
            axes = axes_in(figure, (left + k * (wide + gap), 0.6, wide, height - 1.0), height)
            _errors(axes, [point for point in points if point["method"] == test])
            axes.set_ylim(0, top)
            axes.set_title(test, fontsize="medium", loc="left")
            axes.set_xlabel("claimed ε")
            axes.grid(visible=True, axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
            despine(axes)
            if k:
                axes.tick_params(axis="y", labelleft=False)
            else:
                axes.set_ylabel("worst-case error")
        return as_svg(
            figure,
            name=f"plot-error-{n}",
            title=f"Worst-case error of each test, {n} trials a side",
            description=(
                f"{plural(len(tests), 'test')}, one panel each; the dashed line is the promised "
                f"{LIMIT}. The table has the same numbers."
            ),
        )


def calibration_plot(points: Sequence[Raw]) -> str:
    """Draw the number of false alarms at every claim inside the region that is to be expected.

    Points have `claim`, `runs`, `refuted`, `upper_missed`, `alpha` and `limit`.
    """
    height = 0.5 * len(points) + 0.9
    with figure_of(height) as figure:
        axes = axes_in(figure, (1.75, 0.6, WIDTH - 1.95, height - 0.75), height)
        for row, point in enumerate(points):
            found, runs = point["refuted"] + point["upper_missed"], point["runs"]
            good = found <= point["limit"]
            axes.barh(
                row,
                100 * point["limit"] / runs,
                height=0.56,
                color=GOOD,
                alpha=0.18,
                linewidth=0,
                zorder=1,
            )
            axes.plot(
                [100 * point["alpha"]] * 2,
                [row - 0.28, row + 0.28],
                color=CLAIM,
                linewidth=1.4,
                zorder=2,
            )
            axes.plot(
                100 * found / runs,
                row,
                marker="o" if good else "^",
                color=GOOD if good else BAD,
                markersize=8,
                clip_on=False,
                zorder=4,
            )
            axes.annotate(
                f"{found} of {runs}",
                (100 * found / runs, row),
                (8, 0),
                textcoords="offset points",
                va="center",
                color=INK,
            )
        axes.set_ylim(len(points) - 0.5, -0.5)
        axes.set_xlim(
            0,
            1.2
            * max(
                max(point["limit"], point["refuted"] + point["upper_missed"]) * 100 / point["runs"]
                for point in points
            ),
        )
        axes.set_yticks(range(len(points)), [point["claim"] for point in points])
        axes.set_xlabel("false alarms, per cent of audits")
        axes.tick_params(axis="y", length=0, pad=8)
        despine(axes, left=True)
        return as_svg(
            figure,
            name="plot-calibration",
            title="False alarms of whole audits",
            description=(
                f"{plural(len(points), 'claim')} that hold exactly. Marks are the audits that "
                "were wrong; they must lie in the shaded region. The table has the same numbers."
            ),
        )


def power_plot(seen: Sequence[Raw], curve: Sequence[Raw]) -> str:
    """Draw the rate of refutations against the loss, with the promised power of each test.

    `seen` has `kind` ("observed" or "detectable"), `factor`, `rate`, `low` and `high`; the
    curve has `method`, `factor` and `power`.
    """
    height = 3.4
    with figure_of(height) as figure:
        axes = axes_in(figure, (0.75, 0.6, WIDTH - 0.95, height - 0.75), height)
        tests = dict.fromkeys(point["method"] for point in curve)
        for test, (colour, dashes) in zip(tests, LINES * len(tests), strict=False):
            line = [(point["factor"], point["power"]) for point in curve if point["method"] == test]
            axes.plot(
                *zip(*line, strict=True),
                dashes,
                color=colour,
                linewidth=1.6,
                label=f"promised by {test}",
                zorder=2,
            )
        for kind, marker, label in (
            ("observed", "o", "audits"),
            ("detectable", "D", "at the detectable loss"),
        ):
            marks = [point for point in seen if point["kind"] == kind]
            for point in marks:
                axes.plot(
                    [point["factor"]] * 2,
                    [point["low"], point["high"]],
                    color=INK,
                    linewidth=1.2,
                    zorder=3,
                )
            places = [point["factor"] for point in marks], [point["rate"] for point in marks]
            axes.plot(
                *places, marker, color=INK, markersize=6, clip_on=False, label=label, zorder=4
            )
        axes.axhline(0.9, color=CLAIM, linewidth=1, dashes=(5, 3), zorder=1)
        axes.set_ylim(0, 1.02)
        axes.set_xlim(0.97, 1.02 * max(point["factor"] for point in (*seen, *curve)))
        axes.set_xlabel("true loss / claimed loss")
        axes.set_ylabel("refuted")
        axes.legend(loc="lower right", frameon=False, bbox_to_anchor=(1, 0.06))
        axes.grid(visible=True, axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
        despine(axes)
        return as_svg(
            figure,
            name="plot-power",
            title="Rate of refutations against the true loss",
            description=(
                "Marks are audits with exact 95 % intervals, lines the promised power of each "
                "test, the dashed line 0.9. The tables have the same numbers."
            ),
        )


def _errors(axes: Axes, points: Sequence[Raw]) -> None:
    losses = sorted({point["epsilon"] for point in points})
    deltas = sorted({point["delta"] for point in points})
    for point in points:
        place = losses.index(point["epsilon"]) + 0.3 * (
            deltas.index(point["delta"]) - (len(deltas) - 1) / 2
        )
        good = point["at_most"] <= LIMIT
        colour = GOOD if good else BAD
        axes.plot(
            [place] * 2, [0, point["at_most"]], color=colour, linewidth=1.6, alpha=0.5, zorder=2
        )
        axes.plot(
            place,
            point["at_most"],
            marker="o" if good else "^",
            markersize=5.5,
            markeredgecolor=colour,
            markerfacecolor="none" if point["delta"] else colour,
            clip_on=False,
            zorder=3,
        )
    axes.axhline(LIMIT, color=CLAIM, linewidth=1.3, dashes=(5, 3), zorder=1)
    axes.set_xticks(range(len(losses)), [f"{loss:g}" for loss in losses])
    axes.set_xlim(-0.6, len(losses) - 0.4)
