"""PATE: the noisy plurality of teachers with Laplace noise.

Source: Papernot et al. (2017), arXiv 1610.05755.

Train r teachers on disjoint blocks, count their votes n_j(x), answer argmax_j
{n_j(x) + Lap(1/gamma)}.

Claim as printed (Theorem 2): (2 gamma, 0)-differential privacy, where the counts of neighbours
differ by at most 1 in each coordinate. They do when one record is replaced: one vote leaves a label
and goes to another. The claims that depend on the data are those of `pate-data-dependent`.

The paper's text is not among our sources. That the plurality is (2 gamma, 0)-private where one
count goes up by one and another down is what the authors' analysis says (tensorflow/privacy,
research/pate_2017/analysis.py, `logmgf_from_counts`); the number of the theorem is that of public
restatements. The claim was derived anew (docs/findings.md, 'PATE: the noisy plurality').
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpassay.claims import DP, Claim
from dpassay.mechanisms.relatives.votes import COINS, TeacherVotes
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.mechanisms.shared.ranges import check_positive

THEOREM = "Papernot et al. 2017, Theorem 2, known from restatements only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pate(TeacherVotes):
    """Noisy plurality of r teachers, Laplace noise.

    Parameters
    ----------
    gamma : float
        The noise has scale 1 / gamma, in votes; finite and > 0. The claim is 2 gamma.
    r, K, learner
        See `Teachers`.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    gamma: float = 0.5
    r: int = 25
    K: int = 2
    learner: Any = "logistic"
    block_learner: BlockLearner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(gamma=self.gamma)
        super(Pate, self).__post_init__()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (DP(epsilon=2 * self.gamma, coins=COINS, source=THEOREM, status="printed"),)

    @property
    def noisy_max(self) -> NoisyMax:
        """The plurality with Laplace noise of scale 1 / gamma."""
        return NoisyMax(kind="laplace", scale=1 / self.gamma)
