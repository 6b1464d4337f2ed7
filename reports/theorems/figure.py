"""The picture of a growth: the true numbers and the printed slope, on a log-log scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIMED, PALETTE, Look
from dpassay.reports.shared.numbers import plain, value

Raw = Mapping[str, Any]

PRINTED = {"lambda_": "λ", "alpha": "α", "epsilon": "ε", "gamma": "γ", "bins": "1/h"}


def growth_plot(result: Raw, name: str) -> str:
    """Draw the `series` of a growth, and a line with the printed slope through the first."""
    import numpy as np

    along = result["series"]["along"]
    letter = PRINTED.get(along, along)
    x, claimed, lower, upper = np.array(
        [[float(each) for each in point] for point in result["series"]["points"]]
    ).T
    middle = np.sqrt(lower * upper)
    held = Look(PALETTE["held"], marker="o", size=3.6)
    with chart.drawing(2.6, foot=0.25) as (axes,):
        printed = claimed * middle[0] / claimed[0]
        chart.line(axes, zip(x, printed, strict=True), CLAIMED, "as printed")
        chart.spans(axes, zip(x, lower, upper, strict=True), held._replace(width=2))
        chart.line(axes, zip(x, middle, strict=True), held, "true")
        chart.frame(axes, logarithmic="xy", names=(letter, ""))
        return chart.svg(
            axes,
            name=name,
            title=f"{result['statement']['number']}: growth with {letter}",
            description=(
                f"From {x[0]:g} to {x[-1]:g}: slope {_slope(result)}. theorems.json has every "
                "point."
            ),
        )


def _slope(result: Raw) -> str:
    claimed, low, high = (value(result["worst"][name]) for name in ("claimed", "lower", "upper"))
    assert claimed is not None
    assert low is not None
    assert high is not None
    true = plain(low) if plain(low) == plain(high) else f"{plain(low)} to {plain(high)}"
    return f"claimed {result['relation']} {plain(claimed)}, true {true}"
