"""The exponential mechanism over a finite class (Dagan and Feldman 2020, section 2.1 and Lemma 4).

Choose h in H with probability proportional to exp(-n L_S(h) epsilon / 2), n L_S(h) = |{i :
h(x_i) != y_i}|; answer h(x). The chosen h itself is epsilon-differentially private "in the usual
sense"; what is released and audited here is one prediction.

Claim as printed: epsilon-private predictions; and so (section 2) (e^epsilon - 1)-stability. Both
hold. A replaced record changes each error count by 1 at most, so the weights of the h with h(x) = 1
and of the others move by factors in [e^(-epsilon / 2), e^(epsilon / 2)], and the log-odds t of the
answer by epsilon at most. The loss tends to epsilon as t -> -inf; a probability changes by
sigma(t + epsilon / 2) - sigma(t - epsilon / 2) <= tanh(epsilon / 4), which is attained at t = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw, logsumexp

from dpassay.claims import DP, Claim, Stability
from dpassay.data import Labelled
from dpassay.errors import is_count, is_real, require
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.classes import class_of
from dpassay.mechanisms.shared.function_class import MOST_FUNCTIONS, Functions
from dpassay.mechanisms.shared.hypothesis_class import RULES, HypothesisClass, Points, Rule
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds
from dpassay.mechanisms.shared.plane_classes import Halfspaces
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change, FlipLabel

MOST_POINTS = 64
"""Points per side of a grid in the plane."""
CERTAIN = 40.0
"""Log-odds below -40 lose epsilon but for less than e^-40 = 4e-18, which rounding hides."""
SHORT = "5e-18"
MOST_RECORDS = 20_000
"""Records that an own worst case may have."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """State: the dataset, and the error count n L_S(h) of each hypothesis, shape (k,)."""

    data: Labelled
    errors: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential(Mechanism):
    """Exponential mechanism A^exp over a finite class.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in nats; finite and > 0. Relation: replace-one.
    H : {"thresholds", "intervals", "corners", "halfspaces", "functions"} or HypothesisClass
        The class; see `dpassay.mechanisms.shared.hypothesis_class`. Where it is infinite, one h is
        taken for each of its labellings of the public grid G of `points` numbers (per side) from
        `low` to `high`.
    points : int
        Points of G, or of the domain {1, ..., points} (per side) of "halfspaces" and
        "functions"; >= 1.
    low, high : float
        Ends of G; low < high. Chosen without a look at the data, or nothing is private.
    feature, feature2 : int
        Columns of X; >= 0.
    representative : {"least", "greatest", "middle"}
        Which h is taken for a labelling of G.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the class has more than 65,536 members.
    """

    epsilon: float = 0.5
    H: Any = "thresholds"
    points: int = 61
    low: float = -30.0
    high: float = 30.0
    feature: int = 0
    feature2: int = 1
    representative: Rule = "least"

    exchangeable = True  # errors are counted
    family: HypothesisClass = field(init=False, repr=False, compare=False)
    grid: Points = field(init=False, repr=False, compare=False)
    members: Points = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        right = is_count(self.points) and self.points < MOST_FUNCTIONS
        allowed = f"an integer >= 1 and < {MOST_FUNCTIONS}"
        require(right, "points", self.points, allowed)
        ordered = (
            is_real(self.low) and is_real(self.high) and -math.inf < self.low < self.high < math.inf
        )
        require(ordered, "low, high", (self.low, self.high), "two finite numbers, low < high")
        allowed = f"one of {', '.join(RULES)}"
        require(self.representative in RULES, "representative", self.representative, allowed)
        family = class_of(self.H, points=self.points, feature=self.feature, feature2=self.feature2)
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "grid", self._public_grid())
        few = f"so few that the class has at most {MOST_FUNCTIONS:,} members"
        require(
            hasattr(family, "feature2") or family.growth(len(self.grid)) <= MOST_FUNCTIONS,
            "points",
            self.points,
            few,
        )
        object.__setattr__(self, "members", family.representatives(self.grid, self.representative))

    def _public_grid(self) -> Points:
        """All points of G, with columns up to the features that are used.

        Shape (points of G, columns).
        """
        side = getattr(self.family, "points", None)
        levels = (
            np.linspace(self.low, self.high, self.points)
            if side is None
            else np.arange(1.0, side + 1)
        )
        features = [
            getattr(self.family, name)
            for name in ("feature", "feature2")
            if hasattr(self.family, name)
        ]
        if len(features) == 2:
            allowed = f"at most {MOST_POINTS} for a grid in the plane"
            require(len(levels) <= MOST_POINTS, "points", self.points, allowed)
        grid = np.zeros((len(levels) ** len(features), max(features) + 1))
        for feature, values in zip(
            features, np.meshgrid(*[levels] * len(features), indexing="ij"), strict=True
        ):
            grid[:, feature] = values.ravel()
        return grid

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claims, the second where it says anything, and the gamma that is attained."""
        coins = "choice of h fresh; no other coins"
        stability = math.expm1(self.epsilon) if self.epsilon < math.log(2) else 1.0
        printed: list[Claim] = [
            DP(
                epsilon=self.epsilon,
                coins=coins,
                source="Dagan and Feldman 2020, Lemma 4",
                status="printed",
            )
        ]
        if stability < 1:
            source = (
                "Dagan and Feldman 2020, section 2: an epsilon-private algorithm is (e^epsilon - "
                "1)-stable"
            )
            printed.append(Stability(gamma=stability, coins=coins, source=source, status="printed"))
        source = "docs/findings.md, 'Lemma 4: the exponential mechanism'"
        sharp = Stability(
            gamma=math.tanh(self.epsilon / 4), coins=coins, source=source, status="corrected"
        )
        return (*printed, sharp)

    def excess_error(self, n: int) -> float:
        """Lemma 4 for n >= 1 records.

        The alpha = 2 ln|H| / (epsilon n) that the expected excess error does not exceed.
        """
        require(is_count(n), "n", n, "an integer >= 1")
        return 2 * math.log(len(self.members)) / (self.epsilon * n)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless labels are 0 and 1 and points lie in the class's domain."""
        check_binary(data)
        self.family.check(data.X)

    def prepare(self, data: Labelled) -> Counted:
        """Count the errors of every hypothesis."""
        self.check(data)
        return Counted(data=data, errors=self._errors(data).sum(axis=1))

    def update(self, state: Counted, change: Change) -> Counted:
        """Return the neighbour's state.

        The errors on the old record taken away, those on the new one added.
        """
        neighbour: Labelled = change.apply(state.data)
        old, new = state.data.take([change.index]), neighbour.take([change.index])
        self.check(new)
        return Counted(
            data=neighbour, errors=state.errors - self._errors(old)[:, 0] + self._errors(new)[:, 0]
        )

    def sample(
        self, state: Counted, queries: Points, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q).

        One h in each of them.
        """
        p = np.exp(log_selection(state.errors, self.epsilon / 2))
        chosen = rng.choice(len(p), size=size, p=p / p.sum())
        self.family.check(queries)
        labels: NDArray[np.int64] = self.family.predict(self.members, queries)[chosen].astype(
            np.int64
        )
        return labels

    def distribution(self, state: Counted, queries: Points) -> FiniteLaw:
        """Exact law: the sum of the weights of all h with h(x) = y, in the log domain."""
        self.family.check(queries)
        answers = self.family.predict(self.members, queries)
        chosen = log_selection(state.errors, self.epsilon / 2)[:, None]
        log_p = np.stack(
            [logsumexp(np.where(answers == y, chosen, -np.inf), axis=0) for y in (0, 1)], axis=1
        )
        terms = len(self.members) + self.epsilon * len(state.data) + 8
        return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=8 * UNIT_ROUNDOFF * terms)

    def pairs(self) -> tuple[WorstCase, ...]:
        """One label flipped at the query.

        Where its answer is all but impossible, and where the odds are even.
        """
        ones = self._ones()
        rare, even = int(np.argmin(ones)), self._even()
        found = []
        if self._needed(rare) <= MOST_RECORDS:
            loses = (
                f"the log-odds of label 1 change by epsilon, below -{CERTAIN:g}: its probability "
                f"changes by a factor of e^epsilon, up to an error of less than {SHORT} in the "
                "logarithm"
            )
            found.append(self._case(rare, 1 - self._needed(rare), loses))
        v = round(-2 / self.epsilon * self._base(even))
        if abs(v) < MOST_RECORDS:
            found.append(
                self._case(
                    even,
                    v,
                    "the log-odds change by epsilon around 0, where probabilities change most",
                )
            )
        return tuple(found)

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """Return what maps the class onto itself, where the domain is all that it is about.

        Errors are then those of the moved h. All functions keep it under any permutation, and under
        complements; on the grid that they are taken for, so do half-lines turned around, intervals
        reversed, and halfspaces.
        """
        kind, line = type(self.family), len(sides) == 1
        if kind is Functions and line:
            return ("points", "labels")
        if kind is Halfspaces and sides == (self.points, self.points):
            return ("reflections", "coordinates", "labels")
        whole = line and np.array_equal(self.grid[:, -1], np.arange(1, sides[0] + 1))
        if kind is Thresholds and whole:
            return ("turns",)
        return ("reflections",) if kind is Intervals and whole else ()

    def reachable(self) -> Reachable | None:
        """The two moves that are worst, where both are attained.

        Some point of the grid must be even-handed.
        """
        rare, even = int(np.argmin(self._ones())), self._even()
        n = self._needed(rare)
        if n > MOST_RECORDS or self._base(even) != 0:
            return None
        t = self._base(rare) - self.epsilon * n / 2
        return Reachable(
            states=(
                f"{n} records at the query, all labelled 0",
                f"{n} records at the query, one labelled 1 and {n - 1} labelled 0",
                "one record at a query where the odds are even without it, labelled 0",
                "one record at a query where the odds are even without it, labelled 1",
            ),
            law=bernoulli_law(np.array([t, t + self.epsilon, -self.epsilon / 2, self.epsilon / 2])),
            moves=np.array([[0, 1], [2, 3]]),
            argument=(
                "A replacement changes the log-odds by at most epsilon. Of all such changes, "
                "those around 0 change a probability most. The loss approaches epsilon as the "
                f"log-odds tend to -inf: below -{CERTAIN:g} it falls short of epsilon by less "
                f"than {SHORT}. Flipping the label of a record at the query changes the log-odds "
                "by exactly epsilon. So no dataset exceeds the four computed states by more than "
                "that."
            ),
        )

    def _errors(self, data: Labelled) -> NDArray[np.int64]:
        """Whether each hypothesis errs on each record, shape (k, n)."""
        wrong: NDArray[np.int64] = (self.family.predict(self.members, data.X) != data.y).astype(
            np.int64
        )
        return wrong

    def _ones(self) -> NDArray[np.int64]:
        """How many h answer 1 at each point of the grid.

        Where none does or all do, as many as there are.
        """
        ones: NDArray[np.int64] = self.family.predict(self.members, self.grid).sum(axis=0)
        ones[ones == 0] = len(self.members)
        return ones

    def _base(self, place: int) -> float:
        """Log-odds of label 1 at a point of the grid without data."""
        ones = int(self._ones()[place])
        return math.log(ones / (len(self.members) - ones)) if ones < len(self.members) else 0.0

    def _even(self) -> int:
        """The point of the grid where the odds are nearest to even."""
        return int(np.argmin(np.abs(2 * self._ones() - len(self.members))))

    def _needed(self, place: int) -> int:
        """How many records labelled 0 leave label 1 after the flip with log-odds below -CERTAIN."""
        return max(1, math.ceil(2 * (CERTAIN + self._base(place)) / self.epsilon) + 2)

    def _case(self, place: int, v: int, reason: str) -> WorstCase:
        """One label flipped at a crowded point: ones - zeros moves from v - 1 to v + 1."""
        n, ones = abs(v) + 1, max(0, v)
        labels = (np.arange(n) >= n - ones).astype(np.int64)
        where = self.grid[[place]]
        how = (
            f"{n} record{'s' * (n > 1)} at one point, {ones} of them labelled 1, one label flipped"
        )
        return WorstCase.of(
            Labelled(np.repeat(where, n, axis=0), labels),
            FlipLabel(0),
            how=how,
            reason=reason,
            query=where,
        )


def log_selection(errors: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
    """Log-probability of each of k hypotheses, proportional to exp(-rate * errors).

    Along the last axis.

    For at most n errors each is exact to 4 (rate n + k) units of rounding.
    """
    exponent = -rate * (errors - errors.min(axis=-1, keepdims=True))
    found: NDArray[np.float64] = exponent - np.log(np.exp(exponent).sum(axis=-1, keepdims=True))
    return found


def worst_excess(size: int, n: int, epsilon: float) -> float:
    """Largest expected excess error of the exponential mechanism over `size` hypotheses.

    Over all error counts of n records.

    One h errs least, all others k times more: max over k = 1, ..., n of (k / n) m / (1 + m),
    m = (size - 1) e^(-epsilon k / 2).
    """
    k = np.arange(1, n + 1)
    m = (size - 1) * np.exp(-epsilon * k / 2)
    return float((k * m / (1 + m)).max()) / n


def sharp_excess(size: int, n: int, epsilon: float) -> float:
    """The same over real k, for all n: (2 / (epsilon n)) W((size - 1) / e), W of Lambert.

    Lemma 4 has ln(size) for W.
    """
    return 2 / (epsilon * n) * float(lambertw((size - 1) / math.e).real)
