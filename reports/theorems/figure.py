"""The picture of a growth: the true numbers and the printed slope, on a log-log scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpassay.reports.shared.figures import (
    CLAIM,
    COLUMN,
    FAINT,
    PALETTE,
    as_svg,
    axes_in,
    despine,
    figure_of,
)
from dpassay.reports.shared.lean import lean
from dpassay.reports.shared.numbers import plain, value

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axis import Axis
    from numpy.typing import NDArray

Raw = Mapping[str, Any]

HEIGHT = 2.6
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
    with figure_of(HEIGHT, COLUMN) as figure:
        axes = axes_in(figure, (0.75, 0.6, COLUMN - 0.9, HEIGHT - 0.75), HEIGHT, COLUMN)
        axes.loglog(x, claimed * middle[0] / claimed[0], "--", color=CLAIM, label="as printed")
        axes.vlines(x, lower, upper, color=PALETTE["held"][0], linewidth=2)
        axes.loglog(x, middle, "o-", color=PALETTE["held"][0], label="true", markersize=3)
        _ticks(axes.xaxis, x)
        _ticks(axes.yaxis, np.concatenate([claimed * middle[0] / claimed[0], middle]))
        axes.set_xlabel(letter)
        axes.grid(visible=True, color=FAINT, alpha=0.25, linewidth=0.6)
        axes.legend(frameon=False, fontsize="small")
        despine(axes)
        slope = f"slope {_slope(result)}"
        svg = as_svg(
            figure,
            name=name,
            title=f"{result['statement']['number']}: growth with {letter}",
            description=f"From {x[0]:g} to {x[-1]:g}: {slope}. theorems.json has every point.",
        )
    return lean(svg)


def _ticks(axis: Axis, drawn: NDArray[np.float64]) -> None:
    """Mark powers of ten, and 2 and 5 between them where there are few, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    wide = drawn.max() > 30 * drawn.min()
    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())


def _slope(result: Raw) -> str:
    claimed, low, high = (value(result["worst"][name]) for name in ("claimed", "lower", "upper"))
    assert claimed is not None
    assert low is not None
    assert high is not None
    true = plain(low) if plain(low) == plain(high) else f"{plain(low)} to {plain(high)}"
    return f"claimed {result['relation']} {plain(claimed)}, true {true}"
