"""What m answers lose together: advanced and optimal composition."""

from __future__ import annotations

import math

import numpy as np

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import privacy_loss


def advanced_composition(epsilon: float, m: int, delta_prime: float) -> float:
    """Return sqrt(2 m ln(1 / delta')) epsilon + m epsilon (e^epsilon - 1).

    Theorem 3.20 of Dwork and Roth (2014).

    Parameters
    ----------
    epsilon : float
        Loss of each answer in nats, > 0 and at most 700.
    m : int
        Number of answers, >= 1.
    delta_prime : float
        In (0, 1); it is added to delta.

    Returns
    -------
    float
        In nats.
    """
    return math.sqrt(2 * m * math.log(1 / delta_prime)) * epsilon + m * epsilon * math.expm1(
        epsilon
    )


def optimal_composition(epsilon: float, m: int, delta_prime: float) -> float:
    """Least e for which m answers, each epsilon-private, are (e, delta')-private.

    However adaptively they are asked.

    It is what m answers of randomised response lose, of which every other answer can be made; see
    docs/findings.md, 'Composition: the interface', and Kairouz, Oh and Viswanath (2015) for
    algorithms that answer anything.

    Parameters
    ----------
    epsilon, m, delta_prime
        As for `advanced_composition`; at most m epsilon = 700.

    Returns
    -------
    float
        In nats, rounded up; 0 where delta' alone is enough.
    """
    right = np.arange(m + 1)
    ways = np.array([math.log(math.comb(m, k)) for k in right.tolist()])
    scale = m * np.logaddexp(0.0, epsilon)
    loss = privacy_loss(
        ways + right * epsilon - scale, ways + (m - right) * epsilon - scale, delta_prime
    )
    slack = 8 * UNIT_ROUNDOFF * (1 + m * epsilon)
    return 0.0 if loss.value == 0 else float(loss.value + loss.error + slack)
