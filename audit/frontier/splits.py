"""Cuts of a data set: records that count as public, records to train on, records to ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from dpassay.data import Labelled
from dpassay.errors import InvalidInput, require
from dpassay.seeds import stream

PUBLIC, TRAIN, TEST = 100, 4000, 2000
"""Records at most: to standardise with, to train on, to ask for."""
LEAST = 3 * PUBLIC
LARGEST = 1e30
"""Numbers may be so large; those of a column that the public records hardly spread in are divided
by little, and squared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Records to train on and to ask for, standardised by others that count as public.

    Each standardised column is divided by the square root of the number of columns, so that a
    typical record has norm 1.
    """

    train: Labelled
    test: Labelled
    feature: int  # the column that goes best with the label among the public records


def split_of(name: str, data: Labelled, k: int, *, seed: int = 0) -> Split:
    """Cut at least 300 records at random, for the k-th time, by name, k and seed alone."""
    if len(data) < LEAST:
        raise InvalidInput(f"--data: has {len(data)} records; must have at least {LEAST}")
    largest = float(np.abs(data.X).max(initial=0.0))
    require(largest <= LARGEST, "--data", largest, f"numbers of at most {LARGEST:g} in size")
    key = (k, "accuracy", name) if seed == 0 else (k, "accuracy", name, seed)
    order = stream(*key).permutation(len(data))
    test = min(TEST, 3 * len(data) // 10)
    public, rest = data.take(order[:PUBLIC]), order[PUBLIC:]
    scaler = StandardScaler().fit(public.X)

    def made(rows: NDArray[np.int64]) -> Labelled:
        chosen = data.take(rows)
        return Labelled(scaler.transform(chosen.X) / math.sqrt(data.X.shape[1]), chosen.y)

    covariance = scaler.transform(public.X).T @ (public.y - public.y.mean())
    return Split(
        train=made(rest[test:][:TRAIN]),
        test=made(rest[:test]),
        feature=int(np.abs(covariance).argmax()),
    )
