"""Private prediction from a stable one, by flipping labels (Dagan and Feldman 2020, Corollary 1).

"1. Run the gamma-stable algorithm from Theorem 1 with gamma = epsilon alpha / 2 and approximation
parameter alpha, and let h' be the output hypothesis. 2. Given a point x in X, predict h'(x) with
probability 1 - alpha and 1 - h'(x) with probability alpha" (section 3). The introduction takes
gamma = epsilon alpha: "the additive guarantee of epsilon alpha implies a multiplicative guarantee
of at most (alpha + epsilon alpha) / alpha = 1 + epsilon <= e^epsilon".

Claims as printed: epsilon-private prediction; for the first calibration also "epsilon
alpha / 2-stable". Corollary 1, and Theorem 1 that step 1 runs, have alpha in (0, 1).

What holds. If h' answers y with probability p, the label y comes with probability alpha + (1 - 2
alpha) p, which moves by at most |1 - 2 alpha| gamma, and is nowhere below min(alpha, 1 - alpha). So
the loss is at most

    ln(1 + |1 - 2 alpha| gamma / min(alpha, 1 - alpha)),

attained if the base can go from p = 0 to gamma, for alpha > 1/2 from 1 - gamma to 1. It is at most
epsilon for alpha <= 1/2; above 1/2 "Pr[A(S)(x) = y] >= alpha" is false, and the first calibration
is epsilon-private exactly where alpha (2 alpha - 1) / (2 - 2 alpha) is at most
(e^epsilon - 1) / epsilon: for every epsilon up to alpha = 0.7808, for none in (0, 1) from 0.8363
on. docs/findings.md, 'Corollary 1' and 'Corollary 1 above one half'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim, Stability
from dpassay.errors import InvalidInput, is_count, is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.shared.bases import Member, Wrapper, stable_base_of
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.targets.guard import AuditTarget

SHARES = {"corollary": 0.5, "overview": 1.0}
"""gamma in units of epsilon alpha."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFlip(Wrapper):
    """A stable algorithm whose answer is flipped with probability alpha.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. The corollary is stated for
        epsilon < 1. Relation: replace-one.
    alpha : float
        Probability of a flip, in (0, 1) and not 1/2, where nothing but a fair coin would be left;
        the error grows by at most as much. What is printed is false for large alpha, see above.
    base : str or Mechanism
        The stable algorithm: a name of the catalogue or `module:object`, its parameters behind it
        (`bagged,r=30,learner=tree`), or an object. A base that has the parameters gamma, n or alpha
        is given those of here; any other must claim Stability(gamma) by itself, with gamma at most
        what the calibration asks for. Parameters that are left out are filled in.
    calibration : {"corollary", "overview"}
        gamma = epsilon alpha / 2 as in section 3, or epsilon alpha as in the introduction.
    n : int
        Number of records, >= 1, for a base that has that parameter.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the base answers other labels than 0 and 1 or is not
        known to be so stable.
    """

    epsilon: float = 1.0
    alpha: float = 0.2
    base: Any = "stable-learner"
    calibration: Literal["corollary", "overview"] = "corollary"
    n: int = 100
    built: AuditTarget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        possible = is_real(self.alpha) and 0 < self.alpha < 1 and self.alpha != 0.5
        allowed = "a number in (0, 1), but not 1/2, which makes every answer a fair coin"
        require(possible, "alpha", self.alpha, allowed)
        allowed = "'corollary' or 'overview'"
        require(self.calibration in SHARES, "calibration", self.calibration, allowed)
        require(is_count(self.n), "n", self.n, "an integer >= 1")
        given = {"gamma": min(self.gamma, 1.0), "n": self.n, "alpha": self.alpha}
        base, built = stable_base_of(self.base, given, "label-flip")
        least = known_stability(built).gamma
        if least > self.gamma * (1 + 4 * UNIT_ROUNDOFF):
            raise InvalidInput(
                f"base = {self.base!r}: is Stability({least:g}); must be "
                f"Stability({self.gamma:g}) for epsilon = {self.epsilon:g} and alpha = "
                f"{self.alpha:g}: raise one of these, or r of a bagged base"
            )
        allowed = "an algorithm that answers labels 0 and 1"
        require(built.labels == (0, 1), "base", self.base, allowed)
        for name, value in {"base": base, "built": built}.items():
            object.__setattr__(self, name, value)

    @property
    def gamma(self) -> float:
        """Stability that the calibration asks for, as printed."""
        return SHARES[self.calibration] * self.epsilon * self.alpha

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claims, and what flipping makes of the base's least known stability."""
        known = known_stability(self.built)
        coins = f"flip fresh; for the base: {known.coins}"
        told = {
            "corollary": "Dagan and Feldman 2020, section 3, steps 1 and 2 (proof of Corollary 1)",
            "overview": (
                "Dagan and Feldman 2020, introduction (overview of the proof of Corollary 1)"
            ),
        }[self.calibration]
        told += "" if self.epsilon < 1 else "; Corollary 1 itself is for epsilon < 1"
        printed: list[Claim] = [
            DP(epsilon=self.epsilon, coins=coins, source=told, status="printed")
        ]
        if self.calibration == "corollary" and self.gamma <= 1:
            printed.append(Stability(gamma=self.gamma, coins=coins, source=told, status="printed"))
        section = "Corollary 1" if self.alpha < 0.5 else "Corollary 1 above one half"
        found = f"{known.source}; docs/findings.md, '{section}'"
        moved, least = abs(1 - 2 * self.alpha) * known.gamma, min(self.alpha, 1 - self.alpha)
        return (
            *printed,
            DP(epsilon=math.log1p(moved / least), coins=coins, source=found, status="corrected"),
            Stability(gamma=moved, coins=coins, source=found, status="corrected"),
        )

    @property
    def fixed_n(self) -> int | None:
        """The only number of records that it takes: that of the base."""
        return self.built.mechanism.fixed_n

    def sample(
        self, state: Member, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q).

        Each is flipped by a coin of its own.
        """
        answers = np.asarray(
            super(LabelFlip, self).sample(state, queries, size, rng), dtype=np.int64
        )
        flips: NDArray[np.bool_] = rng.random(answers.shape) < self.alpha
        return answers ^ flips

    def distribution(self, state: Member, queries: NDArray[np.float64]) -> FiniteLaw | None:
        """Exact law, from that of the base; None where it has none."""
        law = super(LabelFlip, self).distribution(state, queries)
        return self.flipped(law) if isinstance(law, FiniteLaw) else None

    def flipped(self, law: FiniteLaw) -> FiniteLaw:
        """Law of the flipped label: alpha + (1 - 2 alpha) p for each.

        Its logarithm moves by no more than that of p.
        """
        kept = law.p if self.alpha < 0.5 else law.p[:, ::-1]
        # of two labels: to flip with 1 - alpha is to exchange them and flip with alpha
        alpha = min(self.alpha, 1 - self.alpha)
        log_p = np.log(alpha + (1 - 2 * alpha) * kept)
        return FiniteLaw(log_p=log_p, error=law.error + 8 * UNIT_ROUNDOFF * (1 - math.log(alpha)))

    def pairs(self) -> tuple[WorstCase, ...]:
        """Those of the base; what is largest for its law need not be so after the flip."""
        return tuple(
            replace(case, reason=f"for the base: {case.reason}")
            for case in super(LabelFlip, self).pairs()
        )

    def reachable(self) -> Reachable | None:
        """States of the base, where it knows them, with the flipped law."""
        known = super(LabelFlip, self).reachable()
        if known is None or not isinstance(known.law, FiniteLaw):
            return None
        return replace(known, law=self.flipped(known.law))


def known_stability(built: AuditTarget) -> Stability:
    """Return the least stability that a base is known to have.

    A corrected claim, or else one that is not known to be wrong.
    """
    claims = [
        claim for claim in built.claims if isinstance(claim, Stability) and claim.expected is None
    ]
    corrected = [claim for claim in claims if claim.status == "corrected"]
    return min(corrected or claims, key=lambda claim: claim.gamma)
