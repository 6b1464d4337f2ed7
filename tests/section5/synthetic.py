"""Two small tables with the names of the real ones."""

from __future__ import annotations

import numpy as np

from benchmarks.section5.tables import Table
from dpassay.data import Labelled
from dpassay.seeds import stream


def table(name: str, n: int, d: int) -> Table:
    """Labels that depend on the first column."""
    rng = stream("section 5 test", name)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int64)
    facts = {"records": n, "label 1": round(float(y.mean()), 4)}
    names = tuple(f"x{j}" for j in range(d))
    return Table(name=name, data=Labelled(X, y), predictors=names, facts=facts)


TABLES = table("Adult", 103, 3), table("Magic", 120, 2)
