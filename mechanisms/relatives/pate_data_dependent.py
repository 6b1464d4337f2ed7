"""PATE with what it claims for the dataset at hand.

Source: Papernot et al. (2017), arXiv 1610.05755, Theorem 3 and Lemma 4.

The algorithm is `pate`. The claim is for one dataset d whose plurality o* leads every other label
by `lead` votes. With

    q = (K - 1) (2 + gamma lead) / (4 e^(gamma lead)) >= Pr[M(d) != o*]                (Lemma 4)

and q < (e^(2 gamma) - 1) / (e^(4 gamma) - 1), the moment of d against any neighbour d' is, for
every l,

    alpha(l; d, d') <= ln((1 - q) ((1 - q) / (1 - e^(2 gamma) q))^l + q e^(2 gamma l))  (Theorem 3)

and at most 2 gamma^2 l (l + 1) in any case (Theorem 2), so that epsilon = min over l of
(alpha(l) + ln(1/delta)) / l (Theorem 1).

It holds for this dataset only, and from d to its neighbours only: alpha(l; d', d) may be larger. It
is no promise of differential privacy, which speaks of every dataset; and the number itself differs
between neighbours and says so. Here it is held against all datasets, as any claim is, and fails:
the finding is that it must not be read so. What holds of every dataset is Theorem 2.

The paper's text is not among our sources. The formulas are those of the authors' analysis, which
names Theorem 3 and Lemma 4 (tensorflow/privacy, research/pate_2017/analysis.py and
research/pate_2018/core.py, `rdp_pure_eps` and `compute_logq_laplace`). It also takes alpha(l) <= 2
gamma l, which is less only where q is too large for Theorem 3. The claim was derived anew
(docs/findings.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.claims import DP, Claim
from dpassay.errors import require
from dpassay.mechanisms.relatives.pate import Pate
from dpassay.mechanisms.relatives.votes import COINS
from dpassay.mechanisms.shared.ranges import check_proportion

MOMENTS = 1000
"""Moments l = 1, ..., so many are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PateDataDependent(Pate):
    """Noisy plurality of r teachers, Laplace noise, with the claim that depends on the data.

    Parameters
    ----------
    gamma, r, K, learner
        See `Pate`.
    lead : int, optional
        Votes by which the plurality leads every other label on the dataset that the claim is for;
        from 1 to r, and r (all teachers agree) unless given.
    delta : float
        Additive slack of the claim; in (0, 1).

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    lead: int | None = None
    delta: float = 1e-3

    def __post_init__(self) -> None:
        super(PateDataDependent, self).__post_init__()
        known = self.lead is None or (isinstance(self.lead, int) and 1 <= self.lead <= self.r)
        require(known, "lead", self.lead, f"an integer from 1 to r = {self.r}")
        check_proportion(delta=self.delta)

    @property
    def derived_parameters(self) -> dict[str, int]:
        """Votes by which the plurality leads on the dataset that the claim is for."""
        return {"lead": self.r if self.lead is None else self.lead}

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim for one dataset, held against all of them, and what holds of all."""
        lead = self.r if self.lead is None else self.lead
        return (
            DP(
                epsilon=dependent_epsilon(self.gamma, self.K, lead, self.delta),
                delta=self.delta,
                unit=(
                    f"single prediction, of a dataset whose plurality leads by {lead} of {self.r} "
                    "votes; tested on all datasets"
                ),
                coins=(
                    f"{COINS}; claimed for such datasets only, and the number itself may leak; "
                    "tested here on all datasets"
                ),
                source=(
                    "Papernot et al. 2017, Theorem 3 and Lemma 4 (known from the authors' code), "
                    "for one dataset only"
                ),
                status="printed",
            ),
            DP(
                epsilon=2 * self.gamma,
                coins=COINS,
                source="docs/findings.md, 'PATE: claims that depend on the data'",
                status="corrected",
            ),
        )


def miss(gamma: float, K: int, lead: int) -> float:
    """Return Lemma 4's bound on Pr[M(d) != o*] where the plurality leads by `lead` votes.

    It leads every other of K labels by so many.

    Exact for K = 2.
    """
    return (K - 1) * (2 + gamma * lead) / 4 * math.exp(-gamma * lead)


def log_moment(gamma: float, q: float, l: int) -> float:  # noqa: E741  (the paper's letter)
    """Return Theorem 3's bound on alpha(l), or Theorem 2's where that is smaller or q too large."""
    anyway, c = 2 * gamma**2 * l * (l + 1), math.exp(2 * gamma)
    if q >= 1 / (1 + c):  # (c - 1) / (c^2 - 1)
        return anyway
    usual, rare = (
        math.log1p(-q) + l * (math.log1p(-q) - math.log1p(-c * q)),
        math.log(q) + 2 * gamma * l,
    )
    return min(anyway, float(np.logaddexp(usual, rare)))


def dependent_epsilon(gamma: float, K: int, lead: int, delta: float) -> float:
    """Return the epsilon that Theorems 1, 3 and Lemma 4 give a dataset with a lead of `lead`.

    The plurality leads by so many votes.
    """
    q = miss(gamma, K, lead)
    return min(
        (log_moment(gamma, q, l) - math.log(delta)) / l
        for l in range(  # noqa: E741
            1, MOMENTS + 1
        )
    )
