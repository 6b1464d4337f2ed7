"""Exponential projected walk ExpPW(T, epsilon) for thresholds and unions of intervals.

Source: Dwork and Feldman (2018), section 5.

The pseudo-code (figure 1) is missing from our copy of the paper; this is how it is reconstructed:

* "the examples are sorted ... traverses the examples on points smaller than x in increasing order"
  (section 2.2), and "for x < x_i removal of (x_i, y_i) does not affect the output; for x >= x_i ...
  an additional step of length at most 1 at index i" (proof of Lemma 5.1): the walk makes one step
  for each example with x_i <= x, the query's own point included.
* "for y_i = 0 the projected walk makes a -1 step and then projects to [-T, T]" (proof of Lemma
  5.2), +1 for y_i = 1.
* "starting from bias 1/2" (section 2.2): v_0 = 0.
* "output 1 with probability e^(epsilon V / 2) / (1 + e^(epsilon V / 2))" (proof of Lemma 5.1), V
  the last value.

Ties. The text assumes a sorted sequence and says nothing about equal x, where "the walk at x_i" of
Lemma 5.2 is not defined. Three readings are built in. `ties="index"` makes a step and a projection
per example, equal x in the order given; it keeps Lemma 5.1 as long as the changed record keeps its
place, but the answer depends on the storage order, and Lemma 5.2 fails (docs/findings.md, 'Ties in
the projected walk'). `ties="label"` does the same with the records sorted by (x, y), so that labels
1 come last; Lemma 5.2 and Theorem 5.3 fail. `ties="sum"`, the default, makes one step of sum(2
y_i - 1) for all examples at a point and projects once. It is the same algorithm where all x differ,
needs no order, and keeps both lemmas: Lemma 5.1 because a removed record changes one step by 1 and
projection does not expand; Lemma 5.2 because two opposite examples at one point cost one error for
both M and every f, and after cancelling them the rest are copies of one example, whose walk ends
where all of them are evaluated, on the side of their label.

"Smaller than x" alone, x_i < x, is `traversed="below"`: the answer at x is then that just below it,
so Lemma 5.1 holds, and Lemma 5.2 does not (docs/findings.md, 'Points smaller than x').

Claim as printed (Lemma 5.1): epsilon-differentially private prediction for any n, T >= 1 and
epsilon > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import check_column
from dpassay.mechanisms.shared.ranges import check_positive, check_word
from dpassay.pairs import FlipLabel

Ties = Literal["sum", "index", "label"]
Traversed = Literal["up-to", "below"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk:
    """State: the distinct points, ascending; the walk's start, and its value after each point.

    Parameters
    ----------
    xs : array (m,)
        Distinct points of the chosen feature.
    values : int array (m + 1,)
        v before the first point, then after each point.
    """

    xs: NDArray[np.float64]
    values: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedWalk(Mechanism):
    """ExpPW(T, epsilon).

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. Relation: replace-one.
    T : int
        The walk stays in [-T, T]; >= 1. Theorem 5.3 takes T = ceil(2 ln(2 / alpha) / epsilon) for
        error alpha (`bound_for`).
    feature : int
        Which column of X is the line; >= 0. Nothing else of a record is used.
    ties : {"sum", "index", "label"}
        How examples with equal x step; see the module's docstring.
    traversed : {"up-to", "below"}
        Which examples the walk at x goes through: those with x_i <= x, or those with x_i < x.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    T: int = 8
    feature: int = 0
    ties: Ties = "sum"
    traversed: Traversed = "up-to"

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        require(isinstance(self.T, int) and self.T >= 1, "T", self.T, "an integer >= 1")
        right = isinstance(self.feature, int) and self.feature >= 0
        allowed = "an integer >= 0"
        require(right, "feature", self.feature, allowed)
        check_word("sum", "index", "label", ties=self.ties)
        check_word("up-to", "below", traversed=self.traversed)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (
            DP(
                epsilon=self.epsilon,
                coins="answer fresh; no other coins",
                source="Dwork and Feldman 2018, Lemma 5.1",
                status="printed",
            ),
        )

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter: they are sorted, ties included."""
        return self.ties != "index"

    def bound_for(self, alpha: float) -> int:
        """Return T = ceil(2 ln(2 / alpha) / epsilon), Theorem 5.3's bound for error alpha.

        T bounds the walk; alpha lies in (0, 1).
        """
        require(0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")
        return math.ceil(2 * math.log(2 / alpha) / self.epsilon)

    def excess_error(self, n: int, k: int) -> float:
        """Lemma 5.2: how far the empirical error may exceed the best of unions with k ends.

        Unions of intervals.

        Parameters
        ----------
        n : int
            Number of examples, >= 1.
        k : int
            Number of interval ends, >= 1: k = 1 are the thresholds, k = 2 one interval.

        Returns
        -------
        float
            (k + 2) T / n + e^(-epsilon T / 2).
        """
        require(n >= 1, "n", n, "an integer >= 1")
        require(k >= 1, "k", k, "an integer >= 1")
        return (k + 2) * self.T / n + math.exp(-self.epsilon * self.T / 2)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1 and the feature exists."""
        check_column(data, self.feature)

    def prepare(self, data: Labelled) -> Walk:
        """Sort and walk."""
        self.check(data)
        x, step = data.X[:, self.feature], 2 * data.y - 1
        order = np.lexsort((step, x)) if self.ties == "label" else np.argsort(x, kind="stable")
        x, step = x[order], step[order]
        first = np.concatenate([[True], x[1:] != x[:-1]])
        if self.ties == "sum":
            values = projected_walk(np.add.reduceat(step, np.flatnonzero(first)), self.T)
        else:
            last = np.concatenate([first[1:], [True]])
            values = projected_walk(step, self.T)[np.concatenate([[True], last])]
        return Walk(xs=x[first], values=values)

    def sample(
        self, state: Walk, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q)."""
        return (rng.random((size, len(queries))) < expit(self.logit(state, queries))).astype(
            np.int64
        )

    def distribution(self, state: Walk, queries: NDArray[np.float64]) -> FiniteLaw:
        """Exact law: P[1] = sigma(epsilon V(S, x) / 2)."""
        return bernoulli_law(self.logit(state, queries))

    def pairs(self) -> tuple[WorstCase, ...]:
        """T examples labelled 0 at one point, one label flipped: V moves from -T to 2 - T."""
        data = Labelled(np.ones((self.T, 1 + self.feature)), np.zeros(self.T, dtype=int))
        reason = f"the walk ends at {2 - self.T} instead of {-self.T}, where label 1 is rarest"
        beyond = 0.0 if self.traversed == "up-to" else 1.0
        return (
            WorstCase.of(
                data,
                FlipLabel(0),
                how=f"{self.T} examples labelled 0 at one point, one label flipped",
                reason=reason,
                query=data.X[:1] + beyond,
            ),
        )

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:  # noqa: ARG002
        """With the labels every step changes its sign, and so does V: of steps that are sums."""
        return ("labels",) if self.ties == "sum" else ()

    def reachable(self) -> Reachable:
        """End values -T, ..., T; a replaced example moves the end by at most 2."""
        ends = np.arange(-self.T, self.T + 1)
        states = np.arange(len(ends))
        return Reachable(
            states=tuple(f"V = {v}" for v in ends),
            law=bernoulli_law(self.epsilon * ends / 2),
            moves=np.concatenate(
                [np.stack([states[:-step], states[step:]], axis=1) for step in (1, 2)]
            ),
            argument=(
                "Removing an example changes one step by 1, and later steps never increase the "
                "distance. A replacement is a removal and an insertion, so it changes the end by "
                "at most 2. |v| equal labels end at v without touching the border: flipping one "
                "changes the end by 2, moving one beyond the query by 1."
            ),
            several=(
                "k replacements change the end by at most 2k. Let |v| >= |u|: |v| equal labels "
                "end at v, and flipping |u - v| / 2 of them ends at u; if u - v is odd, the last "
                "half is one of them moved beyond the query."
            ),
        )

    def logit(self, state: Walk, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of label 1 at each query: epsilon V / 2, shape (q,)."""
        reached = np.searchsorted(
            state.xs,
            queries[:, self.feature],
            side="right" if self.traversed == "up-to" else "left",
        )
        return self.epsilon * state.values[reached] / 2


def projected_walk(steps: NDArray[np.int64], T: int) -> NDArray[np.int64]:
    """Values v_0 = 0, v_i = Proj_[-T, T](v_(i-1) + step_i), shape (len(steps) + 1,)."""
    values, v = [0], 0
    for step in steps.tolist():
        v = min(T, max(-T, v + step))
        values.append(v)
    return np.array(values, dtype=np.int64)
