"""A whole labelled data set, with the facts that find it again, and its split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data.datasets import Labelled
from dpassay.errors import InvalidInput, require
from dpassay.seeds import stream


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A whole labelled data set with the facts a witness needs to find it again.

    Labels of `data` are coded 0, 1, ... in sorted order of their names. `source` is a JSON
    description: kind, name, target, label names, number of records and columns, SHA-256. `columns`
    are those of `data.X` that hold a column of the file: of a text, one for each category. `lines`
    are those in which the records begin, the first line being 1; None where there is no file.
    `numbers` are what the codes stand for where the label is a real number; None where it is a
    class.
    """

    data: Labelled
    source: dict[str, Any]
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None
    numbers: NDArray[np.float64] | None = None


def table_of(
    data: Labelled,
    columns: Mapping[str, tuple[int, ...]],
    lines: NDArray[np.int64] | None = None,
    numbers: NDArray[np.float64] | None = None,
    **facts: Any,
) -> Table:
    """Return a data set with its size and digest among its facts."""
    return Table(
        data=data,
        columns=columns,
        lines=lines,
        numbers=numbers,
        source=facts | {"records": len(data), "columns": data.X.shape[1], "sha256": data.digest},
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """Lines of a file, counted from 1, in which the records of a split begin, in their order."""

    train: NDArray[np.int64]
    pool: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """A table cut into training records S, a pool of replacements and held-out query points (q, d).

    The three do not overlap, but for the first training records where they were wanted as queries.
    `source` is the table's with the sizes and the seed that make this split again; `lines` is None
    where the records come from no file.
    """

    train: Labelled
    pool: Labelled
    queries: NDArray[np.float64]
    source: dict[str, Any]
    lines: Lines | None = None


def split(table: Table, *, train: int, queries: int, seed: int, train_queries: int = 0) -> Split:
    """Cut a table of at least 3 records at random, by a permutation that depends on the seed alone.

    At most so many records train and at most so many points are asked at; of a small table at most
    70 % and 10 % are used. Up to `train` of the remaining records make the pool. The points of the
    first `train_queries` training records are asked at besides.
    """
    n = len(table.data)
    least = {
        "--train": (train, 1),
        "--queries": (queries, 1),
        "--train-queries": (train_queries, 0),
    }
    for option, (value, low) in least.items():
        require(value >= low, option, value, f"an integer >= {low}")
    if n < 3:
        raise InvalidInput(
            f"--data = '{table.source['name']}': has {n} record{'' if n == 1 else 's'}; must have "
            "at least 3 records: one to train on, one to replace it, one to query"
        )
    queries = min(queries, max(1, n // 10))
    train = min(train, max(1, 7 * n // 10), n - queries - 1)
    order = stream(seed, "split", table.source["sha256"]).permutation(n)
    held, trained, pool = np.split(order[: queries + 2 * train], [queries, queries + train])
    sizes = {"seed": seed, "train": train, "pool": len(pool), "queries": queries}
    train_queries = min(train_queries, train)
    if train_queries:
        sizes["train_queries"] = train_queries
    held_out = table.data.X[np.concatenate([held, trained[:train_queries]])]
    held_out.flags.writeable = False
    lines = table.lines
    return Split(
        train=table.data.take(trained),
        pool=table.data.take(pool),
        queries=held_out,
        source=table.source | {"split": sizes},
        lines=None if lines is None else Lines(train=lines[trained], pool=lines[pool]),
    )
