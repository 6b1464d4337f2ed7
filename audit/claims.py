"""Claims: what an algorithm promises, about which neighbours, outputs and coins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Self

from dpassay.errors import InvalidInput, require
from dpassay.numerics import allowance
from dpassay.privacy_curves import Curve, Points, Renyi, ZeroConcentrated, curve_from_json, usual
from dpassay.promise import Promise, Range

# a larger epsilon is no claim: its factor is next to the largest number; nor is a smaller one
# that is not 0: noise made for it would have no finite scale; nor is a larger mu: normal laws so
# far apart are told apart but once in 10^50 times
LARGEST, LEAST, LARGEST_MU = 700.0, 1e-100, 30.0
PROPORTION: Range = (lambda delta: 0 <= delta < 1), "a number in [0, 1)"
POSITIVE: Range = (lambda number: 0 < number < math.inf), "a finite number > 0"
BETA: Range = (lambda beta: 0 <= beta < math.inf), "a finite number >= 0"


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
        See `Promise`. A number out of its range raises InvalidInput.
    """

    kind: ClassVar[str] = "DP"
    named: ClassVar[str] = "loss"
    letter: ClassVar[str] = "epsilon"
    promises: ClassVar[str] = "epsilon"
    profiled: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {
        "epsilon": (
            lambda epsilon: epsilon == 0 or LEAST <= epsilon <= LARGEST,
            f"0 or a number in [{LEAST:g}, {LARGEST:g}]",
        ),
        "delta": PROPORTION,
    }

    epsilon: float
    delta: float = 0.0
    curve: Curve | None = None

    def __str__(self) -> str:
        if self.curve is not None:
            return str(self.curve)
        return f"DP({self.epsilon:g}, {self.delta:g})" if self.delta else f"DP({self.epsilon:g})"

    @property
    def quantity(self) -> str:
        """Return the loss; of a curve, at which delta."""
        return self.named if self.curve is None else self.amount

    @property
    def amount(self) -> str:
        """Return the loss, and at which delta."""
        return f"{self.named} at δ = {allowance(self.delta)}" if self.delta else self.named

    @property
    def points(self) -> tuple[Self, ...]:
        """Return the points of its curve, itself first."""
        if self.curve is None:
            return (self,)
        known = dict.fromkeys([(self.epsilon, self.delta), *self.curve.points()])
        return tuple(replace(self, epsilon=epsilon, delta=delta) for epsilon, delta in known)

    @property
    def decided(self) -> bool:
        """Return False where a curve is given by a formula."""
        return self.curve is None or isinstance(self.curve, Points)

    def as_json(self) -> dict[str, Any]:
        """Return every field; the curve only where there is one."""
        # a slotted dataclass is made twice: plain super() has the wrong class
        facts = super(DP, self).as_json()
        del facts["curve"]
        return facts if self.curve is None else facts | {"curve": self.curve.as_json()}

    def beside(self) -> Stability:
        """Return the change of a label's probability."""
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
        See `Promise`. A number out of its range raises InvalidInput.
    """

    kind: ClassVar[str] = "GDP"
    named: ClassVar[str] = "Gaussian distance"
    letter: ClassVar[str] = "mu"
    promises: ClassVar[str] = "mu"
    profiled: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {
        "mu": (lambda mu: LEAST <= mu <= LARGEST_MU, f"a number in [{LEAST:g}, {LARGEST_MU:g}]")
    }

    mu: float


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
        See `Promise`. A number out of its range raises InvalidInput.
    """

    kind: ClassVar[str] = "Stability"
    named: ClassVar[str] = "change of a label's probability"
    letter: ClassVar[str] = "gamma"
    promises: ClassVar[str] = "gamma"
    share: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {
        "gamma": (lambda gamma: 0 < gamma <= 1, "a number in (0, 1]")
    }

    gamma: float

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """Return that it is about labels."""
        wrong = f"is about labels, {name} answers numbers; say PredictionStability(...)"
        return "" if numbers is None else wrong

    def beside(self) -> DP:
        """Return the privacy loss."""
        return DP(epsilon=LARGEST, **self.as_measured())


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionStability(Promise):
    """Uniform replace-one prediction stability of a real prediction.

    A(S, x) and A(S', x) differ by at most gamma: Definition 4.4 of Dwork and Feldman (2018).
    Where the prediction is randomised the means are compared, which is what adding noise and
    averaging rest on.

    Parameters
    ----------
    gamma : float
        Claimed change of a prediction, in the units of the prediction; finite and > 0.
    relation, unit, coins, source, status, expected
        See `Promise`. A number out of its range raises InvalidInput.
    """

    kind: ClassVar[str] = "PredictionStability"
    named: ClassVar[str] = "change of the prediction"
    promises: ClassVar[str] = "gamma"
    means: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {"gamma": POSITIVE}

    gamma: float

    def most(self, numbers: tuple[float, float] | None) -> float:
        """Return the range of the predictions."""
        low, high = numbers or (0.0, 1.0)
        return high - low

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """Return that it is about numbers."""
        wrong = f"is about real predictions, {name} answers labels; say Stability(...)"
        return wrong if numbers is None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Promise):
    """An error computed from one dataset S alone is at most `bound`, whatever S is.

    Theorems about learning promise such numbers: an empirical error beyond that of the best
    function of a class, say. The neighbour relation says only which datasets are looked at; every
    one of them is held against the bound by itself. A mechanism that claims it answers the error,
    as a number without coins, and is audited in exact or exhaustive mode.

    Parameters
    ----------
    bound : float
        Claimed largest error, in the units of the answer; finite and > 0.
    excess : bool
        Whether the number is an excess: an error minus what it is compared with, so that it may be
        below 0.
    relation, unit, coins, source, status, expected
        See `Promise`. A number out of its range raises InvalidInput.
    """

    kind: ClassVar[str] = "Accuracy"
    named: ClassVar[str] = "error"
    promises: ClassVar[str] = "bound"
    computed: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {"bound": POSITIVE}

    bound: float
    excess: bool = False

    @property
    def quantity(self) -> str:
        """Return an error, or an excess error."""
        return f"excess {self.named}" if self.excess else self.named

    def most(self, numbers: tuple[float, float] | None) -> float:
        """Return the largest error that can be answered."""
        return max(0.0, (numbers or (0.0, 1.0))[1])

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """Return that an error is a number."""
        return f"is about an error, {name} answers labels, not numbers" if numbers is None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreStability(Promise):
    """(beta1, beta2, delta)-stability of a validation score.

    Source: Chaudhuri and Vinterbo (2013), Definition 2.

    All but a share delta of the random strings R are good: with the same R on both sides, no change
    of one of n training records moves the score by more than beta1 / n, and no change of one of m
    validation records by more than beta2 / m.

    Parameters
    ----------
    beta1, beta2 : float
        In units of the score, times n and m; finite and >= 0.
    delta : float
        Claimed proportion of bad R; in [0, 1). Theorems 4 and 6 promise delta / k for each of k
        parameters: say that here.
    relation, unit, coins, source, status, expected
        See `Promise`. A number out of its range raises InvalidInput.
    """

    kind: ClassVar[str] = "ScoreStability"
    named: ClassVar[str] = "proportion of bad random strings"
    promises: ClassVar[str] = "delta"
    share: ClassVar[bool] = True
    coupled: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {"beta1": BETA, "beta2": BETA, "delta": PROPORTION}

    beta1: float
    beta2: float
    delta: float = 0.0


def zCDP(rho: float, **promise: Any) -> DP:
    """Return the claim of rho-zero-concentrated differential privacy.

    The Renyi divergence of every order alpha > 1 is at most rho alpha: Bun and Steinke (2016),
    Definition 1.1. What is held against it are events: (epsilon, delta) at the delta where it is
    most clearly broken, chosen by other trials than those that certify.

    Parameters
    ----------
    rho : float
        In (0, 300].
    promise
        `relation`, `unit` and so on, see `Promise`. A number out of its range raises InvalidInput.

    Examples
    --------
    >>> print(zCDP(0.5))
    zCDP(0.5)
    """
    return _of_curve(ZeroConcentrated(rho), promise)


def RDP(alpha: float | Mapping[float, float], epsilon: float | None = None, **promise: Any) -> DP:
    """Return the claim of Renyi differential privacy: Mironov (2017), Definition 4.

    Parameters
    ----------
    alpha : float or mapping
        The order, > 1; or orders with their epsilons.
    epsilon : float, optional
        Largest divergence of that order in nats, > 0.
    promise
        `relation`, `unit` and so on, see `Promise`. A number out of its range raises InvalidInput.

    Examples
    --------
    >>> print(RDP(8, 1.5))
    RDP(8, 1.5)
    """
    if isinstance(alpha, Mapping):
        require(epsilon is None, "epsilon", epsilon, "left out where orders have their own")
        return _of_curve(Renyi(tuple(alpha.items())), promise)
    require(epsilon is not None, "epsilon", epsilon, "a number in (0, 1e6]")
    return _of_curve(Renyi(((alpha, epsilon or 0.0),)), promise)


def Profile(points: Iterable[tuple[float, float]], **promise: Any) -> DP:
    """Return the claim of (epsilon, delta)-differential privacy at up to 64 points at once.

    They are pairs of epsilon and delta, as an accountant gives them. `promise`: see `Promise`.

    Examples
    --------
    >>> print(Profile([(1.0, 1e-2), (4.0, 1e-6)]))
    Profile of 2 points
    """
    curve = Points(tuple((epsilon, delta) for epsilon, delta in points))
    for epsilon, delta in curve.known:
        DP(epsilon=epsilon, delta=delta)
    return _of_curve(curve, promise)


def _of_curve(curve: Curve, promise: Mapping[str, Any]) -> DP:
    known = curve.points()
    require(len(known) > 0, "claim", str(curve), "one that forbids something")
    epsilon, delta = usual(known)
    return DP(epsilon=epsilon, delta=delta, curve=curve, **promise)


Claim = DP | GDP | Stability | PredictionStability | ScoreStability | Accuracy
"""Every kind of claim there is."""
KINDS: dict[str, type[Claim]] = {
    kind.kind: kind for kind in (DP, GDP, Stability, PredictionStability, ScoreStability, Accuracy)
}
"""Each kind by the name that a record knows it by."""
SPELLINGS = tuple(
    frozenset(names.split())
    for names in ("epsilon", "epsilon delta", "mu", "rho", "alpha epsilon", "gamma")
)
"""Numbers by which a claim is named on a command line or in a file."""
SPELLED = "epsilon=E, or epsilon=E,delta=D, or mu=M, or rho=R, or alpha=A,epsilon=E, or gamma=G"
"""The same in words."""


def spelled(numbers: Mapping[str, float], source: str, *, labels: bool) -> Claim:
    """Return the claim of one of the `SPELLINGS`; gamma is of labels or real predictions."""
    if "rho" in numbers:
        return zCDP(numbers["rho"], source=source)
    if "alpha" in numbers:
        return RDP(numbers["alpha"], numbers["epsilon"], source=source)
    gamma = Stability if labels else PredictionStability
    kind: Any = DP if "epsilon" in numbers else GDP if "mu" in numbers else gamma
    claim: Claim = kind(**numbers, source=source)
    return claim


def claim_from_json(facts: dict[str, Any], expected: Any = None) -> Claim:
    """Read back what `as_json` wrote; refuse unknown kinds and numbers of another kind."""
    require(facts.get("kind") in KINDS, "claim", facts.get("kind"), f"of kind {', '.join(KINDS)}")
    kind: Any = KINDS[facts["kind"]]
    own = {field.name for field in fields(kind)}
    known = {name: value for name, value in facts.items() if name in own}
    others = {field.name for each in KINDS.values() for field in fields(each)} - set(known)
    for name in sorted(others & facts.keys()):
        require(facts[name] is None, name, facts[name], f"null in a claim of kind {kind.__name__}")
    for field in fields(kind):
        if field.default is MISSING and field.name not in known:
            raise InvalidInput(f"{field.name} is missing: a claim of {kind.__name__} needs it")
    if known.get("curve") is not None:
        known["curve"] = curve_from_json(known["curve"])
    claim: Claim = kind(**known, expected=expected)
    return claim
