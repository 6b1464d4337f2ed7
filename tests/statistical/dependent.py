"""Functions whose rows are not independent trials, or look as if not, audited as wholes.

Every maker returns a function with memory of its own. But for the memory all of them are randomised
response on the label of record 0, or its label plus Laplace noise, and lose EPSILON; `weak` loses
twice that and draws as it should.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from tests.core.toys import Function, response

Rng = np.random.Generator
Points = NDArray[np.float64]

EPSILON = 1.0
Answers = Any

plain, weak = response(EPSILON), response(2 * EPSILON)


def noisy(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return data.y[0] + rng.laplace(0, 1 / EPSILON, size=(size, len(queries)))


def never(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return np.zeros((size, len(queries)), dtype=int)


# Rows that share coins, or calls that share memory.


def one_coin_per_call(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return np.tile(plain(data, queries, 1, rng), (size, 1))


def one_noise_per_call(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return np.tile(noisy(data, queries, 1, rng), (size, 1))


def one_model_per_call(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    """A share of ones, released once per call with noise, drives all rows of the call."""
    share = np.clip(data.y[0] + rng.laplace(0, 1 / EPSILON), 0.05, 0.95)
    return (rng.random((size, len(queries))) < share).astype(int)


def cached_label() -> Function:
    kept: dict[str, Answers] = {}

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
        if data.digest not in kept:
            kept[data.digest] = plain(data, queries, 1, rng)
        return np.tile(kept[data.digest], (size, 1))

    return answer


def cached_noise_with_jitter() -> Function:
    kept: dict[str, float] = {}

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
        noise = kept.setdefault(data.digest, float(rng.laplace(0, 1 / EPSILON)))
        return data.y[0] + noise + rng.normal(0, 0.05, size=(size, len(queries)))

    return answer


def drifting(per_call: float = 0.01) -> Function:
    """The answer 1 becomes likelier with every call, whatever the data."""
    calls = [0]

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
        calls[0] += 1
        kept = rng.random((size, len(queries))) < np.exp(-per_call * calls[0])
        return np.where(kept, plain(data, queries, size, rng), 1)

    return answer


def warming_up(calls: int = 30) -> Function:
    """The first calls answer 0."""
    left = [calls]

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
        left[0] -= 1
        return (plain if left[0] < 0 else never)(data, queries, size, rng)

    return answer


def stopping(answers: int = 15_000) -> Function:
    """After so many answers all are 0: the service has no budget left."""
    left = [answers]

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
        left[0] -= size * len(queries)
        return (plain if left[0] > 0 else never)(data, queries, size, rng)

    return answer


def noise_for_many_rows_only(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return plain(data, queries, size, rng) if size > 1 else np.full((1, len(queries)), data.y[0])


def global_coins(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    coins = np.random.random((size, len(queries)))  # noqa: NPY002
    return np.where(coins < 1 / (1 + np.exp(-EPSILON)), data.y[0], 1 - data.y[0])


def own_seed(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return plain(data, queries, size, np.random.default_rng(5))


# Rows that are trials of their own, or whose counts are as if they were.


def in_order(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return np.sort(plain(data, queries, size, rng), axis=0)


def balanced(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    """Stratified: one coin in each of `size` equal parts of [0, 1]. Every row has the right law,
    the rows balance one another."""
    parts = rng.permuted(np.tile(np.arange(size)[:, None], len(queries)), axis=0)
    coins = (parts + rng.random((size, len(queries)))) / size
    return np.where(coins < 1 / (1 + np.exp(-EPSILON)), data.y[0], 1 - data.y[0])


def rare(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    return (rng.random((size, len(queries))) < 0.001 * np.exp(EPSILON * data.y[0])).astype(int)


def slow_api(data: Labelled, queries: Points, size: int, rng: Rng) -> Answers:
    """Asked for one fresh row a call."""

    def one_row() -> Answers:
        time.sleep(1e-5)
        return plain(data, queries, 1, rng)[0]

    return np.stack([one_row() for _ in range(size)])
