"""The tables under the pictures: the numbers that are drawn, in four significant digits.

Bounds are rounded outwards; the record has every number in full.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpassay.numerics import DOWN, UP, written
from dpassay.reports.run.profiles import ProfileView
from dpassay.reports.shared.tables import Table

DIGITS = 4
EXACT = 1e-6
"""Bounds that are nowhere farther apart are drawn, and written, as one curve."""


def profile_table(view: ProfileView) -> Table:
    """Return the privacy profile as drawn."""
    return _curve(view.tables[0].caption, "ε", "δ(ε)", view.profile, "epsilon")


def trade_off_table(view: ProfileView) -> Table:
    """Return the trade-off function as drawn, with that of the claim."""
    names = "false positives", "false negatives"
    table = _curve(view.tables[1].caption, *names, view.trade_off, "false_positive")
    claimed = (written(each, DIGITS, DOWN) for each in view.claimed["false_negative"])
    return replace(
        table,
        columns=(*table.columns, "the claim's"),
        numeric=(*table.numeric, True),
        rows=tuple((*row, each) for row, each in zip(table.rows, claimed, strict=True)),
    )


def sight_table(points: Sequence[tuple[float, float]]) -> Table:
    """Return the smallest leaks that would have been refuted, as drawn."""
    return Table(
        caption="Smallest leak that would have been refuted with probability 0.9",
        columns=("probability of the answer", "leak"),
        numeric=(True, True),
        rows=tuple(
            (f"{point:g}", "not promised" if math.isinf(leak) else written(leak, DIGITS, UP))
            for point, leak in points
        ),
    )


def _curve(caption: str, x: str, y: str, curves: dict[str, Sequence[float]], over: str) -> Table:
    lower = [written(each, DIGITS, DOWN) for each in curves["lower"]]
    upper = [written(each, DIGITS, UP) for each in curves["upper"]]
    points = [f"{each:.4g}" for each in curves[over]]
    if all(high - low <= EXACT for low, high in zip(curves["lower"], curves["upper"], strict=True)):
        computed = [written(each, DIGITS) for each in curves["upper"]]
        rows: tuple[tuple[str, ...], ...] = tuple(zip(points, computed, strict=True))
        return Table(caption=caption, columns=(x, y), numeric=(True, True), rows=rows)
    return Table(
        caption=caption,
        columns=(x, f"{y} at least", "at most"),
        numeric=(True, True, True),
        rows=tuple(zip(points, lower, upper, strict=True)),
    )
