"""opendp/opendp 2949 (open): a column redefined keeps its truncation.

OpenDP 0.16.0. A column that truncated the contributions of a user and is redefined then keeps its
bound. Claimed: rho = .00125, by its own map at scale 20: one row in one group. True: 12.5, a user
has up to 100 rows in one group.

Data: records with the integers id and g. Answer: an integer.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
SCHEMA: Any = {"id": pl.Int64, "g": pl.Int64}
SCALE, GROUPS = 20.0, 100
DOMAIN = dp.lazyframe_domain([dp.series_domain(c, dp.atom_domain(T="i64")) for c in SCHEMA])
USERS = dp.symmetric_id_distance(identifier=pl.col("id"))
SPACE = DOMAIN, USERS, dp.zero_concentrated_divergence()


def collapse(frame: Any) -> Any:
    """Put all rows into one group."""
    return frame.with_columns(g=pl.lit(0, dtype=pl.Int64))


def truncate(frame: Any) -> Any:
    """Keep one row of a user in a group, and 100 groups of a user."""
    first = frame.filter(pl.int_range(pl.len()).over("id", "g") < 1)
    return first.filter(pl.struct("g").rank("dense").over("id") < GROUPS + 1)


def make(*steps: Any) -> Any:
    """Return the measurement that counts the group 0 after some steps."""
    frame: Any = pl.LazyFrame(schema=SCHEMA)
    for step in steps:
        frame = step(frame)
    counts: Any = frame.group_by("g").agg(dp.len(scale=SCALE))
    query = pl.LazyFrame({"g": [0]}).join(counts, on="g", how="left")
    return dp.m.make_private_lazyframe(*SPACE, query)


M, FIXED = make(truncate, collapse), make(collapse, truncate)


def frame(data: Any) -> Any:
    """Return records as polars has them."""
    return pl.LazyFrame([(each["id"], each["g"]) for each in data], schema=SCHEMA, orient="row")


def release(data: Any) -> Any:
    """Return the noisy count."""
    return M(frame(data)).collect()["len"].item()


def control(data: Any) -> Any:
    """Collapse first, truncate then."""
    return FIXED(frame(data)).collect()["len"].item()
