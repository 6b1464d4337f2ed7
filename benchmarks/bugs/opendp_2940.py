"""opendp/opendp 2940 (open): x % 0 is null.

OpenDP 0.16.0. So the count of a column that still has nulls is released without noise. Claimed:
epsilon = 0, by its own map. True: without limit, the answer is deterministic.

Data: up to 16 records with integers n and m, which may be missing. Answer: an integer.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
SIZE = 16
SCHEMA: Any = {"n": pl.Int64, "m": pl.Int64}
DOMAIN = dp.with_margin(
    dp.lazyframe_domain(
        [dp.series_domain(c, dp.option_domain(dp.atom_domain(T="i64"))) for c in "nm"]
    ),
    dp.polars.Margin(max_length=SIZE, invariant="lengths"),
)
SPACE = DOMAIN, dp.frame_distance(dp.symmetric_distance()), dp.max_divergence()


def make(expression: Any) -> Any:
    """Return the measurement that counts an expression."""
    plan = pl.LazyFrame(schema=SCHEMA).select(expression.count().dp.noise())
    return dp.m.make_private_lazyframe(*SPACE, plan, global_scale=1.0)


EXPRESSION = pl.col("n").fill_null(0) % pl.col("m").fill_null(0)
M, FIXED = make(EXPRESSION), make(EXPRESSION.fill_null(0))


def frame(data: Any) -> Any:
    """Return records as polars has them."""
    return pl.LazyFrame([(each["n"], each["m"]) for each in data], schema=SCHEMA, orient="row")


def release(data: Any) -> Any:
    """Return the count."""
    return M(frame(data)).collect().item()


def control(data: Any) -> Any:
    """Fill the nulls of the expression before they are counted."""
    return FIXED(frame(data)).collect().item()
