"""Claims about the probabilities of answers: differential privacy, and stability of a label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from dpassay.claims.promise import Promise, keep_number
from dpassay.numerics import allowance
from dpassay.privacy_curves import Curve, Points

LARGEST = 700.0
"""No larger epsilon is a claim: a factor of e to this is next to the largest number there is."""
LEAST = 1e-100
"""No smaller epsilon is a claim: noise made for it would have no finite scale."""
LARGEST_MU = 30.0
"""No larger mu is a claim: normal laws so far apart are told apart but once in 10^50 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DP(Promise):
    """(epsilon, delta)-differential privacy of one answer.

    P[M(S) in E] <= e^epsilon P[M(S') in E] + delta.

    Definition 1.2 of Dwork and Feldman (2018) when the answer is a prediction at a fixed query
    point.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss in nats; 0, or in [1e-100, 700]. 0 says that nothing leaks but with
        probability delta.
    delta : float
        Claimed additive slack; in [0, 1). 0 is pure differential privacy.
    curve : Curve, optional
        The privacy curve of which this is a point; `zCDP`, `RDP` and `Profile` give such claims.
        An audit may hold the algorithm against another point of it.
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "DP"
    named: ClassVar[str] = "loss"
    letter: ClassVar[str] = "epsilon"
    profiled: ClassVar[bool] = True

    epsilon: float
    delta: float = 0.0
    curve: Curve | None = None

    def __post_init__(self) -> None:
        # a slotted dataclass is made twice: plain super() has the wrong class
        super(DP, self).__post_init__()
        keep_number(
            self,
            "epsilon",
            lambda epsilon: (epsilon == 0 and self.epsilon == 0) or LEAST <= epsilon <= LARGEST,
            f"0 or a number in [{LEAST:g}, {LARGEST:g}]",
        )
        keep_number(self, "delta", lambda delta: 0 <= delta < 1, "a number in [0, 1)")

    def __str__(self) -> str:
        if self.curve is not None:
            return str(self.curve)
        return f"DP({self.epsilon:g}, {self.delta:g})" if self.delta else f"DP({self.epsilon:g})"

    @property
    def promised(self) -> float:
        """epsilon, in nats."""
        return self.epsilon

    @property
    def quantity(self) -> str:
        """The loss; of a curve, at which delta."""
        return self.named if self.curve is None else self.amount

    @property
    def amount(self) -> str:
        """The loss, and at which delta."""
        return f"{self.named} at δ = {allowance(self.delta)}" if self.delta else self.named

    @property
    def points(self) -> tuple[Self, ...]:
        """The points that an audit may hold the algorithm against, itself first."""
        if self.curve is None:
            return (self,)
        known = dict.fromkeys([(self.epsilon, self.delta), *self.curve.points()])
        return tuple(replace(self, epsilon=epsilon, delta=delta) for epsilon, delta in known)

    @property
    def decided(self) -> bool:
        """Not where a curve is given by a formula."""
        return self.curve is None or isinstance(self.curve, Points)

    def as_json(self) -> dict[str, Any]:
        """Every field; the curve only where there is one."""
        found = super(DP, self).as_json()
        del found["curve"]
        return found if self.curve is None else found | {"curve": self.curve.as_json()}

    def beside(self) -> Stability:
        """The change of a label's probability."""
        return Stability(gamma=1.0, **self.as_measured())


@dataclass(frozen=True, slots=True, kw_only=True)
class GDP(Promise):
    """mu-Gaussian differential privacy.

    P[M(S) in E] <= Phi(Phi^-1(P[M(S') in E]) + mu) for every event E.

    No test tells S and S' apart better than it tells N(0, 1) and N(mu, 1) apart. Dong, Roth and Su,
    'Gaussian differential privacy' (2022), section 2. What is measured is the largest Phi^-1(P[M(S)
    in E]) - Phi^-1(P[M(S') in E]).

    Parameters
    ----------
    mu : float
        Claimed distance of the two normal laws, in standard deviations; in [1e-100, 30].
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "GDP"
    named: ClassVar[str] = "Gaussian distance"
    letter: ClassVar[str] = "mu"
    profiled: ClassVar[bool] = True

    mu: float

    def __post_init__(self) -> None:
        super(GDP, self).__post_init__()
        keep_number(
            self,
            "mu",
            lambda mu: LEAST <= mu <= LARGEST_MU,
            f"a number in [{LEAST:g}, {LARGEST_MU:g}]",
        )

    def __str__(self) -> str:
        return f"GDP({self.mu:g})"

    @property
    def promised(self) -> float:
        """mu, a distance in standard deviations."""
        return self.mu


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability(Promise):
    """gamma-uniform stability of a label.

    P[M(S, x) = y] <= P[M(S', x) = y] + gamma for every label y.

    Section 2 of Dagan and Feldman (2020). For two labels it is the same as (0, gamma)-differential
    privacy.

    Parameters
    ----------
    gamma : float
        Claimed change of a probability; in (0, 1].
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "Stability"
    named: ClassVar[str] = "change of a label's probability"
    letter: ClassVar[str] = "gamma"
    share: ClassVar[bool] = True

    gamma: float

    def __post_init__(self) -> None:
        super(Stability, self).__post_init__()
        keep_number(self, "gamma", lambda gamma: 0 < gamma <= 1, "a number in (0, 1]")

    def __str__(self) -> str:
        return f"Stability({self.gamma:g})"

    @property
    def promised(self) -> float:
        """gamma, a difference of probabilities."""
        return self.gamma

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """It is about labels."""
        return (
            ""
            if numbers is None
            else f"is about labels, {name} answers numbers; say PredictionStability(...)"
        )

    def beside(self) -> DP:
        """The privacy loss."""
        return DP(epsilon=LARGEST, **self.as_measured())
