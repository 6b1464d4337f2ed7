"""Noisy histogram: noise on each of five counts.

Source: Ding, Wang, Wang, Zhang and Kifer (2018), Detecting Violations of Differential Privacy, CCS,
Algorithms 9 and 10. In their histograms one record changes one count by 1, and Algorithm 9, with
noise of scale 1 / epsilon, is private. Algorithm 10 takes epsilon for the scale: it loses
1 / epsilon, ten times as much as its claim at epsilon = 0.1 (at epsilon = 1 both are the same).

`Answers` describes vectors of which a neighbour may move every coordinate. There Algorithm 10 loses
5 / epsilon, and Algorithm 9 five times its claim: it is no twin for such data. So the twin divides
epsilon among the counts. The known pair moves one count, as the published comparisons do.
"""

from __future__ import annotations

import numpy as np

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers

COUNTS = 5
TENTH = 0.1


def noisy_hist_1(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = TENTH
) -> Numbers:
    """Algorithm 9, scale 1 / epsilon: private where one record changes one count by 1."""
    noisy: Numbers = data + rng.laplace(scale=1 / epsilon, size=(size, len(data)))
    return noisy


def noisy_hist_2(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = TENTH
) -> Numbers:
    """Algorithm 10, scale epsilon: broken."""
    noisy: Numbers = data + rng.laplace(scale=epsilon, size=(size, len(data)))
    return noisy


def noisy_answers(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = TENTH
) -> Numbers:
    """Noise of scale k / epsilon on each of k counts: private where a record changes them all."""
    return noisy_hist_1(data, size, rng, epsilon=epsilon / len(data))


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return the broken one at epsilon 0.1; nothing from 1 on, where 1 / epsilon is no more."""
    e = TENTH if epsilon is None else epsilon
    if e >= 1:
        return ()
    return (
        Specimen(
            name="noisy-hist-2",
            function=at(noisy_hist_2, epsilon),
            twin=at(noisy_answers, epsilon),
            data=Answers(COUNTS),
            claim=DP(epsilon=e),
            true_loss=COUNTS / e,
            twin_loss=e,
            known_pair=(numbers(1, 1, 1, 1, 1), numbers(2, 1, 1, 1, 1)),
            known_loss=1 / e,
            source="Ding et al. 2018, Algorithm 10",
            wrong="the scale of the noise is epsilon, not 1 / epsilon",
        ),
    )
