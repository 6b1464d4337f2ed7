"""opendp/opendp 2941 (open): a cast to Float32 counts as a column of f64.

OpenDP 0.16.0. The guard of `sum` against overflow is that of f64, the running sum saturates in
single precision. Claimed: epsilon = 1, by its own map. True: without limit, an infinity on one side
where values of both signs come in a certain order.

Data: up to 11 records with a float x. Answer: a float.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
BIG, SIZE = 1e38, 11
SCHEMA: Any = {"x": pl.Float64}
DOMAIN = dp.with_margin(
    dp.lazyframe_domain([dp.series_domain("x", dp.atom_domain(T=float, nan=False))]),
    dp.polars.Margin(max_length=SIZE),
)
SPACE = DOMAIN, dp.frame_distance(dp.symmetric_distance()), dp.max_divergence()


def make(column: Any) -> Any:
    """Return the measurement that sums a column, clipped."""
    noisy = column.fill_nan(0.0).clip(-BIG, BIG).sum().dp.noise(scale=BIG)
    return dp.m.make_private_lazyframe(*SPACE, pl.LazyFrame(schema=SCHEMA).select(noisy))


M, FIXED = make(pl.col("x").cast(pl.Float32)), make(pl.col("x"))


def frame(data: Any) -> Any:
    """Return records as polars has them."""
    return pl.LazyFrame({"x": [float(each["x"]) for each in data]}, schema=SCHEMA)


def release(data: Any) -> Any:
    """Return the noisy sum."""
    return M(frame(data)).collect().item()


def control(data: Any) -> Any:
    """Sum in double precision."""
    return FIXED(frame(data)).collect().item()
