"""Attribute inference as membership inference.

The two records of a pair are one record with two values of an attribute.

The coin of a pair says which value is in the training set, and a guess at the coin is a guess at
the value. Training sets that differ in a coin differ in one replaced record, so guesses, the
one-run audit and certified bounds are those of membership. The attacker knows the rest of the
record and both values, and without the answers is right with probability 1/2.

About half of the values in a training set are made up, so the models are not those of the natural
data: with the label as the attribute they learn noise, and a learner that fits every record gives
every label away. What is told is what such a training set loses, the worst case of label privacy
rather than its everyday.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.data import Labelled, Table
from dpassay.errors import InvalidInput, require
from dpassay.seeds import stream


def columns_of(table: Table, name: str) -> tuple[int, ...] | None:
    """Return the encoded columns of an attribute; None is the label.

    The attribute is named by a column of the file, the name of its label, `label`, or the
    number of an encoded column, from 0. A one-hot encoded column has several.
    """
    if name in table.columns:
        return table.columns[name]
    if name in ("label", table.source.get("target")):
        return None
    if name.isdecimal():
        for columns in table.columns.values():
            if int(name) in columns:
                return columns
    few = ", ".join(list(table.columns)[:8])
    raise InvalidInput(
        f"--attribute = '{name}': no such column; there are label, {few}"
        + (", ..." * (len(table.columns) > 8))
    )


def twins(records: Labelled, columns: Sequence[int] | None, *, seed: int) -> Labelled:
    """Put behind every record its twin, with another value of the attribute.

    The twin takes it from a random record that has another one. The columns are those of
    `columns_of`; None is the label.
    """
    values = records.y[:, None] if columns is None else records.X[:, list(columns)]
    kinds, codes = np.unique(values, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    require(
        len(kinds) >= 2,
        "--attribute",
        "one value in all the records drawn",
        "a column with at least two values",
    )
    rng = stream(seed, "twins", records.digest)
    donors = [int(rng.choice(np.flatnonzero(codes != code))) for code in codes]
    X, y = np.repeat(records.X, 2, axis=0), np.repeat(records.y, 2)
    if columns is None:
        y[1::2] = records.y[donors]
    else:
        X[1::2, list(columns)] = records.X[donors][:, list(columns)]
    return Labelled(X, y)
