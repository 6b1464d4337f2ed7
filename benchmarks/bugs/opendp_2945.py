"""opendp/opendp 2945 (open): a margin halves the largest change of a group.

OpenDP 0.16.0. `Margin.max_length` is taken for the largest change in a group; under the symmetric
distance it is twice that, as all rows may go and as many others come. Claimed: epsilon = 1 for
three records replaced, by its own map. True: 2.

Data: three records with a text A and an integer B. Answer: an integer.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
SCHEMA: Any = {"A": pl.String, "B": pl.Int32}
DOMAIN = dp.with_margin(
    dp.lazyframe_domain(
        [
            dp.series_domain("A", dp.atom_domain(T=str)),
            dp.series_domain("B", dp.atom_domain(T=int)),
        ]
    ),
    dp.polars.Margin(by=["A"], max_length=3, max_groups=1, invariant="keys"),
)


def make(scale: float) -> Any:
    """Return the measurement that sums B, clipped to [-10, 10]."""
    plan = pl.LazyFrame(schema=SCHEMA).group_by("A").agg(pl.col("B").dp.sum((-10, 10), scale=scale))
    return dp.m.make_private_lazyframe(DOMAIN, dp.symmetric_distance(), dp.max_divergence(), plan)


M, FIXED = make(30.0), make(60.0)


def frame(data: Any) -> Any:
    """Return records as polars has them."""
    return pl.LazyFrame([(each["A"], each["B"]) for each in data], schema=SCHEMA, orient="row")


def release(data: Any) -> Any:
    """Return the noisy sum."""
    return M(frame(data)).collect()["B"].item()


def control(data: Any) -> Any:
    """Add twice the noise."""
    return FIXED(frame(data)).collect()["B"].item()
