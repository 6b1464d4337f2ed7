"""Lemma 11 is tight: one record of a crowd changes its place and its label."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpassay.data import Labelled
from dpassay.mechanisms.dagan_feldman_2020.relabelled import Relabelled
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed


def cases(effort: Effort) -> Iterator[Case]:
    """Crowds of growing size."""
    for n in effort.of((20, 40, 80), (20, 40, 80, 160)):
        yield {"n": n}


def crowd(n: int) -> Measured:
    """Loss at 2 for T = {1}, thresholds, n blocks of one record, eta = 1 / n, against 3 / (eta n).

    H_T has h = 1 from 1 on and h = 0. A quarter of the records is at 1, nine twentieths are
    labelled 1; one labelled 0 at 3 becomes one labelled 1 at 2. Then h = 1 has an error less and a
    vote more, and h = 0 an error more.
    """
    x = np.array([3.0] + [1.0] * (n // 4) + [3.0] * (n - 1 - n // 4))[:, None]
    y = (np.arange(n) >= 1).astype(np.int64) * (np.arange(n) <= 9 * n // 20)
    moved, labels = x.copy(), y.copy()
    moved[0], labels[0] = 2.0, 1
    learner = Relabelled(n=n, n_prime=1, eta=1 / n, r=n)
    at, T = np.array([[2.0]]), np.ones((1, 1))
    p, q = (
        float(learner.given(Labelled(each, marks), T, at)[1, 0])
        for each, marks in ((x, y), (moved, labels))
    )
    return computed(3 * learner.rate, math.log(q / p), 1e-12)


ROWS = (
    Row(
        key="dagan-feldman-2020/lemma-11/crowd",
        checks="h_(S,T) <= e^(3 eps) h_(S',T) in a case that comes near it, eps = 1/(eta n) = 1",
        quantity="privacy loss for a fixed T",
        method="exact",
        domain="thresholds, crowds of n = 20, 40, 80 records, eta = 1/n, r = n",
        cases=cases,
        measure=crowd,
    ),
)
