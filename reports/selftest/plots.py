"""Figures of the self-test.

Errors against their limit, false alarms in their region, the power curve with what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIM, CLAIMED, INK, PALETTE, Look
from dpassay.reports.shared.numbers import plural

Raw = Mapping[str, Any]

GOOD, BAD = PALETTE["verified"], PALETTE["refuted"]
LINES = (
    Look(PALETTE["held"]),
    Look(PALETTE["inconclusive"], "--"),
    Look(PALETTE["error"], ":"),
    Look(PALETTE["missed"], "-."),
)
LIMIT = 0.05


def error_plot(points: Sequence[Raw]) -> str:
    """Draw the worst-case error of every test at every claim as SVG, one panel per test.

    The limit is a dashed line. Points have `method`, `n`, `epsilon`, `delta` and `at_most`, and
    all are of one n.
    """
    tests = list(dict.fromkeys(point["method"] for point in points))
    top = 1.15 * max(LIMIT, *(point["at_most"] for point in points))
    losses = sorted({point["epsilon"] for point in points})
    deltas = sorted({point["delta"] for point in points})
    with chart.drawing(2.9, panels=len(tests)) as panels:
        for axes, test in zip(panels, tests, strict=True):
            for point in points:
                if point["method"] != test:
                    continue
                aside = 0.3 * (deltas.index(point["delta"]) - (len(deltas) - 1) / 2)
                place, error = losses.index(point["epsilon"]) + aside, point["at_most"]
                good = error <= LIMIT
                look = Look(
                    GOOD if good else BAD,
                    marker="o" if good else "^",
                    width=1.2,
                    hollow=point["delta"] > 0,
                )
                chart.spans(axes, [(place, 0, error)], look)
                chart.marks(axes, [(place, error)], look)
            chart.rule(axes, LIMIT, CLAIMED)
            chart.frame(
                axes,
                (-0.6, len(losses) - 0.4),
                (0, top),
                x_ticks={k: f"{loss:g}" for k, loss in enumerate(losses)},
                names=("claimed ε", "worst-case error"),
                title=test,
            )
            axes.grid(visible=False, axis="x")
        return chart.svg(
            panels[0],
            name=f"plot-error-{points[0]['n']}",
            title=f"Worst-case error of each test, {points[0]['n']} trials a side",
            description=(
                f"{plural(len(tests), 'test')}, one panel each; the dashed line is the promised "
                f"{LIMIT}. The table has the same numbers."
            ),
        )


def calibration_plot(points: Sequence[Raw]) -> str:
    """Draw the number of false alarms at every claim inside the region that is to be expected.

    Points have `claim`, `runs`, `refuted`, `upper_missed`, `alpha` and `limit`.
    """
    import seaborn as sns

    wrong = [point["refuted"] + point["upper_missed"] for point in points]
    rates = [100 * found / point["runs"] for found, point in zip(wrong, points, strict=True)]
    limits = [100 * point["limit"] / point["runs"] for point in points]
    height = 0.42 * len(points) + 0.75
    with chart.drawing(height, left=1.75, across=chart.WIDE) as (axes,):
        sns.barplot(
            x=limits, y=list(range(len(points))), orient="h", width=0.56, ax=axes, color=GOOD,
            saturation=1, alpha=0.18, linewidth=0, errorbar=None,
        )  # fmt: skip
        for row, (found, rate, point) in enumerate(zip(wrong, rates, points, strict=True)):
            good = found <= point["limit"]
            look = Look(GOOD if good else BAD, marker="o" if good else "^", size=8)
            tick = Look(CLAIM, marker="|", size=18, width=1.4)
            chart.marks(axes, [(100 * point["alpha"], row)], tick)
            chart.marks(axes, [(rate, row)], look)
            chart.beside(axes, f"{found} of {point['runs']}", (rate, row), (8, 0), va="center")
        chart.frame(
            axes,
            (0, 1.2 * max(*limits, *rates)),
            (len(points) - 0.5, -0.5),
            y_ticks={k: point["claim"] for k, point in enumerate(points)},
            names=("false alarms, per cent of audits", ""),
        )
        axes.grid(visible=False)
        return chart.svg(
            axes,
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
    with chart.drawing(3.4, foot=0.4, across=chart.WIDE) as (axes,):
        tests = dict.fromkeys(point["method"] for point in curve)
        for test, look in zip(tests, LINES * len(tests), strict=False):
            own = [(point["factor"], point["power"]) for point in curve if point["method"] == test]
            chart.line(axes, own, look, f"promised by {test}")
        for kind, marker, label in (
            ("observed", "o", "audits"),
            ("detectable", "D", "at the detectable loss"),
        ):
            marked = [point for point in seen if point["kind"] == kind]
            bars = [(point["factor"], point["low"], point["high"]) for point in marked]
            chart.spans(axes, bars, Look(INK, width=1.2))
            places = [(point["factor"], point["rate"]) for point in marked]
            chart.marks(axes, places, Look(INK, marker=marker, size=6), label)
        chart.rule(axes, 0.9, CLAIMED)
        chart.frame(
            axes,
            (0.97, 1.02 * max(point["factor"] for point in (*seen, *curve))),
            (0, 1.02),
            names=("true loss / claimed loss", "refuted"),
        )
        axes.grid(visible=False, axis="x")
        return chart.svg(
            axes,
            name="plot-power",
            title="Rate of refutations against the true loss",
            description=(
                "Marks are audits with exact 95 % intervals, lines the promised power of each "
                "test, the dashed line 0.9. The tables have the same numbers."
            ),
        )
