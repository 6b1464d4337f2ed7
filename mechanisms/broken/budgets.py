"""Budgets that are spent more than once, or amplified by a sample that is no secret.

Made for the zoo. k answers with noise of scale s, each of which moves by 1, lose k / s together:
noise of several answers is independent, so losses add up (Dwork and Roth 2014, Theorem 3.14).
"""

from __future__ import annotations

import math

import numpy as np

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers, Scalars

QUERIES = 5
ASKERS = 3
"""Accounts that ask the same question."""
PEOPLE = 10
"""Records, of which half are in the sample."""


def epsilon_once(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """All the answers, each with noise of scale 1 / epsilon: broken."""
    noisy: Numbers = data + rng.laplace(scale=1 / epsilon, size=(size, len(data)))
    return noisy


def epsilon_divided(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """All k answers, each with noise of scale k / epsilon: private."""
    noisy: Numbers = data + rng.laplace(scale=len(data) / epsilon, size=(size, len(data)))
    return noisy


def budget_per_asker(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """One count, asked for by three accounts, each with a budget of its own: broken."""
    noisy: Numbers = data.sum() + rng.laplace(scale=1 / epsilon, size=(size, ASKERS))
    return noisy


def budget_in_total(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """One count, asked for by three accounts that share a budget: private."""
    noisy: Numbers = data.sum() + rng.laplace(scale=ASKERS / epsilon, size=(size, ASKERS))
    return noisy


def fixed_sample(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum over half of the records, the same in every run, with noise for a secret half: broken."""
    half = data[: len(data) // 2]
    noisy: Numbers = half.sum() + rng.laplace(scale=1 / amplified(epsilon), size=size)
    return noisy


def fresh_sample(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum over half of the records, drawn anew in every run: private."""
    shuffled = rng.permuted(np.tile(data, (size, 1)), axis=1)
    half = shuffled[:, : len(data) // 2]
    noisy: Numbers = half.sum(axis=1) + rng.laplace(scale=1 / amplified(epsilon), size=size)
    return noisy


def amplified(epsilon: float) -> float:
    """Return what a sum may lose on a secret half, if epsilon may be lost on the whole.

    A fresh sample of a share q of the records turns e0 into ln(1 + q (e^e0 - 1)) (Balle, Barthe and
    Gaboardi 2018, Theorem 9, replacement); this is e0 for q = 1/2.
    """
    return math.log1p(2 * math.expm1(epsilon))


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return the three; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    source, claim = "made for the zoo", DP(epsilon=e)
    nobody = numbers(*[0.0] * PEOPLE)
    return (
        Specimen(
            name="epsilon-once",
            function=at(epsilon_once, epsilon),
            twin=at(epsilon_divided, epsilon),
            data=Answers(QUERIES),
            claim=claim,
            true_loss=QUERIES * e,
            twin_loss=e,
            known_pair=(numbers(1, 1, 1, 1, 1), numbers(2, 2, 2, 2, 2)),
            known_loss=QUERIES * e,
            source=source,
            wrong="epsilon is spent once for five queries",
        ),
        Specimen(
            name="budget-per-asker",
            function=at(budget_per_asker, epsilon),
            twin=at(budget_in_total, epsilon),
            data=Scalars(0.0, 1.0, size=5),
            claim=claim,
            true_loss=ASKERS * e,
            twin_loss=e,
            known_pair=(numbers(0, 0, 0, 0, 0), numbers(1, 0, 0, 0, 0)),
            known_loss=ASKERS * e,
            source=source,
            wrong="the budget is kept by account, not in total; three accounts can collude",
        ),
        Specimen(
            name="fixed-sample",
            function=at(fixed_sample, epsilon),
            twin=at(fresh_sample, epsilon),
            data=Scalars(0.0, 1.0, size=PEOPLE),
            claim=claim,
            true_loss=amplified(e),
            twin_loss=e,
            known_pair=(nobody, numbers(1, *[0.0] * (PEOPLE - 1))),
            known_loss=amplified(e),
            source="made for the zoo, after Balle, Barthe and Gaboardi 2018",
            wrong="amplification is claimed for a sample that is the same in every run",
        ),
    )
