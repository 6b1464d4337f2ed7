"""opendp/opendp 2944 (open): bins are numbered in order of appearance.

OpenDP 0.16.0. `cut().to_physical()` is taken for a function of each row. Claimed: epsilon = 1, by
its own map. True: up to 100, as one record in front of 100 others changes what all of them count.

Data: up to 101 records with a float x. Answer: an integer.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
SIZE = 101
SCHEMA: Any = {"x": pl.Float64}
DOMAIN = dp.with_margin(
    dp.lazyframe_domain([dp.series_domain("x", dp.atom_domain(T=float, nan=False))]),
    dp.polars.Margin(max_length=SIZE),
)
SPACE = DOMAIN, dp.frame_distance(dp.symmetric_distance()), dp.max_divergence()


def make(expression: Any) -> Any:
    """Return the measurement that sums bins."""
    noisy = expression.dp.sum((0, 1), scale=1.0)
    return dp.m.make_private_lazyframe(*SPACE, pl.LazyFrame(schema=SCHEMA).select(noisy))


M = make(pl.col("x").cut([1.0]).to_physical())
FIXED = make((pl.col("x") > 1.0).cast(pl.UInt32))


def frame(data: Any) -> Any:
    """Return records as polars has them."""
    return pl.LazyFrame({"x": [float(each["x"]) for each in data]}, schema=SCHEMA)


def release(data: Any) -> Any:
    """Return the noisy number of records in the upper bin."""
    return M(frame(data)).collect().item()


def control(data: Any) -> Any:
    """Find the bin by a comparison."""
    return FIXED(frame(data)).collect().item()
