"""The likelihood ratio of repeated answers.

m labels with fresh coins, in reference models with and without the record.

Given a model, m answers are binomial. Over models the chance of the own label varies; the attacker
knows it for the reference models, up to the m answers that were seen of each. The likelihood of c
right answers of m is the mean of Bin(m, p_i)(c) over the reference models of a kind,
p_i = (c_i + 1/2) / (m + 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from dpassay.attacks.observed import LEAST, Array, Flags, Observed


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """Score: the log-likelihood ratio.

    Of scores (no count of answers) each score counts as one answer with that chance.
    """

    def fit(self, reference: Observed, membership: Flags) -> FittedLikelihoodRatio:
        """Keep the chances that reference models give to the own label."""
        m = reference.m
        chances = (
            np.clip(reference.own, LEAST, 1 - LEAST)
            if m is None
            else (reference.own * m + 0.5) / (m + 1)
        )
        return FittedLikelihoodRatio(chances=chances, membership=membership)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedLikelihoodRatio:
    """Chances of the own label, and who was in, shape (models, e) each."""

    chances: Array
    membership: Flags

    def score(self, target: Observed) -> Array:
        """Log of the mean likelihood with the record minus that without, shape (models, e)."""
        m = 1 if target.m is None else target.m
        right = target.own * m
        found = np.empty_like(right)
        log_p, log_q = np.log(self.chances), np.log1p(-self.chances)
        for row, into in zip(right, found, strict=True):
            each = (
                row * log_p
                + (m - row) * log_q
                + gammaln(m + 1)
                - gammaln(row + 1)
                - gammaln(m - row + 1)
            )
            into[:] = _mean(each, self.membership) - _mean(each, ~self.membership)
        return found


def _mean(each: Array, chosen: Flags) -> Array:
    """Return the logarithm of each record's mean over the chosen models, or all if none is."""
    chosen = chosen | ~chosen.any(axis=0)
    found: Array = logsumexp(np.where(chosen, each, -np.inf), axis=0) - np.log(chosen.sum(axis=0))
    return found
