"""Claims: what an algorithm promises, about which neighbours, outputs and coins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, cast

from dpassay.errors import as_real, require
from dpassay.numerics import allowance
from dpassay.privacy_curves import Curve, Points, Renyi, ZeroConcentrated, curve_from_json, usual
from dpassay.relations import REPLACE_ONE, check_relation

SINGLE = "single prediction"
"""The unit of a claim that is about one answer at one query."""

Status = Literal["printed", "corrected", "own", "measured"]


LARGEST = 700.0
"""No larger epsilon is a claim: a factor of e to this is next to the largest number there is."""
LEAST = 1e-100
"""No smaller epsilon is a claim: noise made for it would have no finite scale."""
LARGEST_MU = 30.0
"""No larger mu is a claim: normal laws so far apart are told apart but once in 10^50 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What every kind of claim says besides its number.

    Parameters
    ----------
    relation : str
        The neighbour relation: `replace-one`, which is the one the papers use, or `replace-k` with
        k = 2, 3, ...: datasets that differ in at most k records; or `answers-D` with a number D:
        vectors of true answers, each of which differs by at most D; or `answers-D-in-m`, where at
        most m of them differ.
    unit : str
        What is released: `single prediction`, a transcript, a value.
    coins : str
        Which coins are fresh in every trial, and which are frozen.
    source : str
        Paper and theorem, or where the promise was made.
    status : {"printed", "corrected", "own", "measured"}
        As printed in the source; corrected by a derivation in docs/findings.md; the user's own; or
        no promise at all, but a notion that is measured beside what is promised, see `beside`.
    expected : {"refuted"}, optional
        Declared for catalogue claims that are known to be wrong: the refutation is then a finding,
        not an alarm.
    """

    kind: ClassVar[str]
    """The name that records know it by."""
    named: ClassVar[str]
    """What claims of the kind bound, in words."""
    profiled: ClassVar[bool] = False
    """Whether it speaks of all events, so that there is a privacy profile; the band of one takes a
    part of alpha."""
    share: ClassVar[bool] = False
    """Whether what is bounded is a probability, or a difference of two."""
    means: ClassVar[bool] = False
    """Whether it speaks of a real prediction or its mean, not of the probability of an answer."""
    computed: ClassVar[bool] = False
    """Whether it is held against computed numbers only: trials certify nothing about it."""
    coupled: ClassVar[bool] = False
    """Whether both datasets are run with the same coins; such a claim is about strings of them, and
    may see none move."""
    letter: ClassVar[str] = ""
    """Its number in the name of a result that is measured beside a claim."""

    relation: str = REPLACE_ONE
    unit: str = SINGLE
    coins: str = "all fresh"
    source: str = "declared by the user"
    status: Status = "own"
    expected: Literal["refuted"] | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)

    @property
    def quantity(self) -> str:
        """What is bounded, in words."""
        return self.named

    @property
    def promised(self) -> float:
        """The number that what is found is held against."""
        raise NotImplementedError

    @property
    def of_answers(self) -> bool:
        """Whether it is about the probabilities of answers."""
        return not (self.means or self.computed or self.coupled)

    @property
    def stops_early(self) -> bool:
        """Whether an e-process may refute it before all trials are drawn."""
        return not (self.means or self.computed)

    @property
    def amount(self) -> str:
        """What is measured, in words, with what it depends on."""
        return self.quantity

    @property
    def points(self) -> tuple[Claim, ...]:
        """The claims of which an audit may choose one to hold the algorithm against: itself."""
        return (cast("Claim", self),)

    def most(self, numbers: tuple[float, float] | None) -> float:  # noqa: ARG002
        """Largest leak that there can be, in the units of the claim.

        `numbers` are the limits of real answers.
        """
        return 1.0 if self.share else math.inf

    @property
    def of_events(self) -> bool:
        """Whether it is about events, so that a search can be held against it."""
        return not (self.computed or self.means or self.coupled)

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:  # noqa: ARG002
        """Why it cannot be about what `name` answers, numbers in such limits or labels (None).

        Empty where it can.
        """
        return ""

    def beside(self) -> Claim | None:
        """The notion for labels that it is not about, to be measured beside it.

        None for claims about anything else.

        Its number is the largest there is, so that nothing finite exceeds it.
        """
        return None

    def as_measured(self) -> dict[str, Any]:
        """The fields that every kind has, for a notion that nobody claims."""
        shared = {field.name: getattr(self, field.name) for field in fields(Promise)}
        return shared | {"source": "measured, not claimed", "status": "measured", "expected": None}

    def as_json(self) -> dict[str, Any]:
        """Every field of the claim for the record; parameters of other kinds of claim are null."""
        own = asdict(self)
        del own["expected"]
        return {
            "kind": self.kind,
            **dict.fromkeys(("epsilon", "delta", "gamma", "beta1", "beta2")),
        } | own


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
        epsilon, delta = as_real(self.epsilon), as_real(self.delta)
        require(
            (epsilon == 0 and self.epsilon == 0) or LEAST <= epsilon <= LARGEST,
            "epsilon",
            self.epsilon,
            f"0 or a number in [{LEAST:g}, {LARGEST:g}]",
        )
        require(0 <= delta < 1, "delta", self.delta, "a number in [0, 1)")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    def __str__(self) -> str:
        if self.curve is not None:
            return str(self.curve)
        return (
            f"DP({self.epsilon:g})" if self.delta == 0 else f"DP({self.epsilon:g}, {self.delta:g})"
        )

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
    def points(self) -> tuple[DP, ...]:
        """The points that an audit may hold the algorithm against, itself first."""
        if self.curve is None:
            return (self,)
        known = dict.fromkeys([(self.epsilon, self.delta), *self.curve.points()])
        return tuple(replace(self, epsilon=epsilon, delta=delta) for epsilon, delta in known)

    def as_json(self) -> dict[str, Any]:
        """Every field; the curve only where there is one."""
        found = super(DP, self).as_json()
        del found["curve"]
        return found if self.curve is None else found | {"curve": self.curve.as_json()}

    def beside(self) -> Claim:
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
        mu = as_real(self.mu)
        require(
            LEAST <= mu <= LARGEST_MU, "mu", self.mu, f"a number in [{LEAST:g}, {LARGEST_MU:g}]"
        )
        object.__setattr__(self, "mu", mu)

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
        gamma = as_real(self.gamma)
        require(0 < gamma <= 1, "gamma", self.gamma, "a number in (0, 1]")
        object.__setattr__(self, "gamma", gamma)

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

    def beside(self) -> Claim:
        """The privacy loss."""
        return DP(epsilon=LARGEST, **self.as_measured())


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionStability(Promise):
    """Uniform replace-one prediction stability of a real prediction: |A(S, x) - A(S', x)| <= gamma.

    Definition 4.4 of Dwork and Feldman (2018). Where the prediction is randomised it is held
    against the difference of the means, which is what adding noise and averaging rest on.

    Parameters
    ----------
    gamma : float
        Claimed change of a prediction, in the units of the prediction; finite and > 0.
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "PredictionStability"
    named: ClassVar[str] = "change of the prediction"
    means: ClassVar[bool] = True

    gamma: float

    def __post_init__(self) -> None:
        super(PredictionStability, self).__post_init__()
        gamma = as_real(self.gamma)
        require(0 < gamma < math.inf, "gamma", self.gamma, "a finite number > 0")
        object.__setattr__(self, "gamma", gamma)

    def __str__(self) -> str:
        return f"PredictionStability({self.gamma:g})"

    @property
    def promised(self) -> float:
        """gamma, a difference of predictions."""
        return self.gamma

    def most(self, numbers: tuple[float, float] | None) -> float:
        """The range of the predictions."""
        low, high = numbers or (0.0, 1.0)
        return high - low

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """It is about numbers."""
        return (
            f"is about real predictions, {name} answers labels; say Stability(...)"
            if numbers is None
            else ""
        )


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
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "ScoreStability"
    named: ClassVar[str] = "proportion of bad random strings"
    share: ClassVar[bool] = True
    coupled: ClassVar[bool] = True

    beta1: float
    beta2: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        super(ScoreStability, self).__post_init__()
        for name in ("beta1", "beta2"):
            value = as_real(getattr(self, name))
            require(0 <= value < math.inf, name, getattr(self, name), "a finite number >= 0")
            object.__setattr__(self, name, value)
        delta = as_real(self.delta)
        require(0 <= delta < 1, "delta", self.delta, "a number in [0, 1)")
        object.__setattr__(self, "delta", delta)

    def __str__(self) -> str:
        return f"ScoreStability({self.beta1:g}, {self.beta2:g}, {self.delta:g})"

    @property
    def promised(self) -> float:
        """delta, a proportion of random strings."""
        return self.delta


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
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "Accuracy"
    named: ClassVar[str] = "error"
    computed: ClassVar[bool] = True

    bound: float
    excess: bool = False

    def __post_init__(self) -> None:
        super(Accuracy, self).__post_init__()
        bound = as_real(self.bound)
        require(0 < bound < math.inf, "bound", self.bound, "a finite number > 0")
        object.__setattr__(self, "bound", bound)

    def __str__(self) -> str:
        return f"Accuracy({self.bound:g})"

    @property
    def quantity(self) -> str:
        """An error, or an excess error."""
        return f"excess {self.named}" if self.excess else self.named

    @property
    def promised(self) -> float:
        """The bound, an error."""
        return self.bound

    def most(self, numbers: tuple[float, float] | None) -> float:
        """The largest error that can be answered."""
        return max(0.0, (numbers or (0.0, 1.0))[1])

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """An error is a number."""
        return f"is about an error, {name} answers labels, not numbers" if numbers is None else ""


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
        `relation`, `unit`, `source` and so on, see `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

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
        `relation`, `unit`, `source` and so on, see `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

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
    """Return the claim of (epsilon, delta)-differential privacy at several points at once.

    Parameters
    ----------
    points : iterable of (float, float)
        Pairs of epsilon and delta, at most 64; as an accountant gives them.
    promise
        `relation`, `unit`, `source` and so on, see `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

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


SPELLINGS = (
    frozenset({"epsilon"}),
    frozenset({"epsilon", "delta"}),
    frozenset({"mu"}),
    frozenset({"rho"}),
    frozenset({"alpha", "epsilon"}),
    frozenset({"gamma"}),
)
"""Numbers by which a claim is named on a command line or in a file."""
SPELLED = "epsilon=E, or epsilon=E,delta=D, or mu=M, or rho=R, or alpha=A,epsilon=E, or gamma=G"
"""The same in words."""


def spelled(numbers: Mapping[str, float], source: str, *, labels: bool) -> Claim:
    """Return the claim of one of the `SPELLINGS`.

    gamma is about labels, or about real predictions.
    """
    if "rho" in numbers:
        return zCDP(numbers["rho"], source=source)
    if "alpha" in numbers:
        return RDP(numbers["alpha"], numbers["epsilon"], source=source)
    if "epsilon" in numbers:
        return DP(epsilon=numbers["epsilon"], delta=numbers.get("delta", 0.0), source=source)
    if "mu" in numbers:
        return GDP(mu=numbers["mu"], source=source)
    return (Stability if labels else PredictionStability)(gamma=numbers["gamma"], source=source)


def claim_from_json(facts: dict[str, Any], expected: Any = None) -> Claim:
    """Read back what `as_json` wrote.

    Raises
    ------
    InvalidInput
        If the kind is unknown, a number is out of range, or one belongs to another kind.
    """
    require(facts.get("kind") in KINDS, "claim", facts.get("kind"), f"of kind {', '.join(KINDS)}")
    kind = KINDS[facts["kind"]]
    known = {
        name: value
        for name, value in facts.items()
        if name in {field.name for field in fields(kind)}
    }
    others = {field.name for each in KINDS.values() for field in fields(each)} - set(known)
    for name in sorted(others & facts.keys()):
        require(facts[name] is None, name, facts[name], f"null in a claim of kind {kind.__name__}")
    if known.get("curve") is not None:
        known["curve"] = curve_from_json(known["curve"])
    return kind(**known, expected=expected)
