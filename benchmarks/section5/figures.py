"""Figures 1 and 2 of Chaudhuri and Vinterbo (2013), redrawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.section5.settings import ALPHAS, METHODS, PAPERS, RUNS, TABLES, Run
from benchmarks.section5.summary import Found, bootstrap, student, values

MARKERS: Final = dict(zip(METHODS, "o^s+X", strict=True))
TICKS: Final = {
    "AUC": (0.6, 0.7, 0.8),
    "MSE": (0.18, 0.20, 0.22, 0.24),
    "index": tuple(range(1, 11)),
}
"""Of the paper's y-axes; those of Figure 2 are not in the text that was read."""
NAMES: Final = {"index": "index of λ in Θ", "error": "0/1 error"}
FIGURES: Final[dict[str, tuple[Run, tuple[str, ...]]]] = {
    "section5_figure1": (PAPERS, ("AUC", "MSE")),
    "section5_figure2": (PAPERS, ("index",)),
    "section5_cut_back": (RUNS[1], ("AUC", "MSE", "index")),
    "section5_huber": (RUNS[2], ("AUC", "error", "index")),
}
"""What is drawn, by the file's name."""
APART: Final = 1.015
"""Factor between neighbouring methods on the x-axis, in place of the paper's jitter."""


def draw(found: Found, run: Run, measures: Sequence[str], paths: Sequence[Path]) -> None:
    """Draw a row for each measure, a column for each table.

    Bands: Student's intervals over the repetitions. Bars: bootstrap over all rounds.
    """
    import seaborn as sns
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style = {"svg.hashsalt": "section5", "svg.fonttype": "none", **sns.axes_style("whitegrid")}
    with rc_context(style):
        figure = Figure(figsize=(9, 0.6 + 2.9 * len(measures)), layout="constrained")
        grid = figure.subplots(len(measures), len(TABLES), sharex=True, sharey="row", squeeze=False)
        for row, measure in zip(grid, measures, strict=True):
            for axes, table in zip(row, TABLES, strict=True):
                for i, method in enumerate(METHODS):
                    curve(axes, found, (run, table, measure, method), i)
                dress(axes, measure)
            row[0].set_ylabel(NAMES.get(measure, measure))
        for axes, table in zip(grid[0], TABLES, strict=True):
            axes.set_title(table)
        for axes in grid[-1]:
            axes.set_xlabel("α")
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(METHODS))
        for path in paths:
            dated = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            figure.savefig(path, metadata=dated, dpi=110)


def curve(axes: Any, found: Found, what: tuple[Run, str, str, str], place: int) -> None:
    """One method: its means, bars and band."""
    import seaborn as sns

    colour = sns.color_palette("colorblind", len(METHODS))[place]
    x = np.array(ALPHAS) * APART ** (place - (len(METHODS) - 1) / 2)
    each = values(found, *what)
    bars, bands = [bootstrap(v) for v in each], [student(v.mean(axis=1)) for v in each]
    mean = np.array([bar.mean for bar in bars])
    reach = np.array([[bar.mean - bar.low, bar.high - bar.mean] for bar in bars]).T
    method = what[-1]
    axes.errorbar(
        x,
        mean,
        reach,
        color=colour,
        marker=MARKERS[method],
        markersize=5,
        linewidth=1,
        label=method,
    )
    if np.isfinite([band.low for band in bands]).all():
        low, high = [band.low for band in bands], [band.high for band in bands]
        axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)


def dress(axes: Any, measure: str) -> None:
    """The paper's axes: alpha on a log scale with its six values; y holds the paper's ticks."""
    axes.set_xscale("log")
    axes.set_xticks(ALPHAS, [f"{alpha:.1f}" for alpha in ALPHAS])
    axes.minorticks_off()
    ticks = TICKS.get(measure)
    if ticks:
        low, high = axes.get_ylim()
        pad = (ticks[-1] - ticks[0]) / 20
        axes.set_ylim(min(low, ticks[0] - pad), max(high, ticks[-1] + pad))
    if measure == "index":
        axes.set_yticks(TICKS["index"])
