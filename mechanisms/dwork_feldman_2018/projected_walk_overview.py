"""The projected walk as section 2.2 of Dwork and Feldman (2018) words it.

"Starting from bias 1/2 the algorithm increases or decreases the current bias by a factor of
(roughly) e^epsilon for each example it traverses. The bias is increased if the label of the example
is 1 and decreased otherwise. Importantly, the bias is projected back to the interval [alpha,
1 - alpha] after each update. The algorithm outputs 1 with probability obtained at the end of this
process." Built is exactly that, without the "roughly": p is multiplied by e^epsilon or e^-epsilon,
so ln p makes steps of epsilon between ln alpha and ln(1 - alpha). Section 5 makes steps of
epsilon / 2 of the log-odds (`projected-walk`).

"The examples on points smaller than x" are traversed: here those with x_i <= x, as in
`projected-walk` and as the proof of Lemma 5.1 has it. Read as x_i < x, every answer here is that at
a query just above x; no worst case changes.

Ties. `ties="sum"`, the default: the examples at a point are one update, by e^(epsilon
(ones - zeros)), and one projection. `ties="index"`: an update and a projection per example, equal x
in the order given. Where all x differ both are the text; the first does not depend on the storage
order (see `projected-walk`). The worst loss is the same.

Claim as printed (section 2.2, before Theorem 2.4): "We give an epsilon-differentially private
prediction algorithm". It is false unless epsilon >= ln((1 - alpha) / alpha), where no law on
[alpha, 1 - alpha] can lose more. The true worst loss over all datasets of any size is
ln((1 - p') / alpha) with p' = max(alpha, (1 - alpha) e^(-2 epsilon)), that of label 0 between
p = 1 - alpha and p'; docs/findings.md, 'The projected walk of the overview', derives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import check_column
from dpassay.mechanisms.shared.ranges import check_positive, check_word
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel

LEAST_ALPHA = 1e-6
"""Below it a rounding error of p at 1 - alpha is no small part of 1 - p any more."""
MAX_STATES = 2000
"""Reachable states are listed up to this number, and pairs of them searched."""

Place = tuple[str, int]
"""Where ln p stands: steps of epsilon away from 1/2, alpha or 1 - alpha, whichever it was at
last."""
HALF, LOW, HIGH = "1/2", "alpha", "1 - alpha"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BiasWalk:
    """State: the distinct points in ascending order, and ln p after each, with its start in front.

    Parameters
    ----------
    xs : array (m,)
        Distinct points of the chosen feature.
    log_p : array (m + 1,)
        ln p before the first point, then after each point.
    """

    xs: NDArray[np.float64]
    log_p: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedWalkOverview(Mechanism):
    """The walk of the bias itself.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. Relation: replace-one.
    alpha : float
        The bias stays in [alpha, 1 - alpha]; in [1e-6, 1/2).
    feature : int
        Which column of X is the line; >= 0. Nothing else of a record is used.
    ties : {"sum", "index"}
        How examples with equal x step; see the module's docstring.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    alpha: float = 0.05
    feature: int = 0
    ties: Literal["sum", "index"] = "sum"

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        known = is_real(self.alpha) and LEAST_ALPHA <= self.alpha < 0.5
        require(known, "alpha", self.alpha, f"a number in [{LEAST_ALPHA:g}, 1/2)")
        right = isinstance(self.feature, int) and self.feature >= 0
        allowed = "an integer >= 0"
        require(right, "feature", self.feature, allowed)
        check_word("sum", "index", ties=self.ties)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim, and the smallest epsilon that holds."""
        coins = "answer fresh; no other coins"
        source = (
            "Dwork and Feldman 2018, section 2.2, read as in docs/findings.md, 'The projected walk "
            "of the overview'"
        )
        printed = DP(epsilon=self.epsilon, coins=coins, source=source, status="printed")
        source = "docs/findings.md, 'The projected walk of the overview'"
        return printed, DP(
            epsilon=self.exact_loss(), coins=coins, source=source, status="corrected"
        )

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter: updates at a point are one."""
        return self.ties == "sum"

    def exact_loss(self) -> float:
        """Largest loss over all datasets of any size.

        ln((1 - p') / alpha), p' = max(alpha, (1 - alpha) e^(-2 epsilon)).
        """
        log_p = max(math.log(self.alpha), math.log1p(-self.alpha) - 2 * self.epsilon)
        return math.log(-math.expm1(log_p)) - math.log(self.alpha)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1 and the feature exists."""
        check_column(data, self.feature)

    def prepare(self, data: Labelled) -> BiasWalk:
        """Sort and walk."""
        self.check(data)
        x, step = data.X[:, self.feature], 2 * data.y - 1
        order = np.argsort(x, kind="stable")
        x, step = x[order], step[order]
        first = np.concatenate([[True], x[1:] != x[:-1]])
        if self.ties == "sum":
            places = self._places(np.add.reduceat(step, np.flatnonzero(first)).tolist())
        else:
            last = np.concatenate([first[1:], [True]])
            every = self._places(step.tolist())
            places = [every[0], *(every[i + 1] for i in np.flatnonzero(last))]
        return BiasWalk(xs=x[first], log_p=self._log_p(places))

    def sample(
        self, state: BiasWalk, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q)."""
        return (rng.random((size, len(queries))) < np.exp(self._at(state, queries))).astype(
            np.int64
        )

    def distribution(self, state: BiasWalk, queries: NDArray[np.float64]) -> FiniteLaw:
        """Exact law: P[1] = p."""
        return self._law(self._at(state, queries))

    def pairs(self) -> tuple[WorstCase, ...]:
        """Ones up to the border, then a zero and a one, and this last label flipped.

        p is 1 - alpha, or p'.

        At most 2,000 ones; where the border is farther away, less is lost.
        """
        ones = min(1 + self._limits()[HALF][1], MAX_STATES)
        x = np.array([1.0] * ones + [2.0, 3.0])
        data = Labelled(np.tile(x[:, None], (1, 1 + self.feature)), np.array([1] * ones + [0, 1]))
        how = (
            f"{ones + 2} examples at ascending points, labelled 1 except for the second to last; "
            "the last label flipped"
        )
        after = "one label 1" if ones == 1 else f"{ones} labels 1"
        high, low = (self._places([1] * ones + [-1, step])[-1] for step in (1, -1))
        two = low == (high[0], high[1] - 2)
        moves = "by two factors of e^-epsilon" if two else "from 1 - alpha to alpha"
        rarest = ", where label 0 is rarest" if high == (HIGH, 0) else ""
        reason = f"p changes {moves} after {after}{rarest}"
        return (WorstCase.of(data, FlipLabel(ones + 1), how=how, reason=reason, query=data.X[-1:]),)

    def reachable(self) -> Reachable | None:
        """Whole steps from 1/2, from alpha and from 1 - alpha.

        None where these are more than 2,000.
        """
        limits = self._limits()
        if sum(1 + high - low for low, high in limits.values()) > MAX_STATES:
            return None
        places = [
            (origin, k) for origin, (low, high) in limits.items() for k in range(low, high + 1)
        ]
        number = {place: i for i, place in enumerate(places)}
        moves = {
            tuple(sorted((number[one], number[other])))
            for one, other in self._neighbours(places)
            if one != other
        }
        return Reachable(
            states=tuple(
                f"p = ({origin}) e^({k:+d} epsilon)" if k else f"p = {origin}"
                for origin, k in places
            ),
            law=self._law(self._log_p(places)),
            moves=np.array(sorted(moves), dtype=np.int64).reshape(-1, 2),
            argument=(
                "ln p is a whole number of steps of epsilon away from ln(1/2), or from the border "
                "that the walk touched last, and two runs of equal labels reach every such "
                "place. Neighbours "
                "differ in one record each: their walks make the same steps except at these two "
                "records. All pairs of places that this allows were enumerated. A larger step at "
                "a point with several records is a sequence of single steps."
            ),
        )

    def _limits(self) -> dict[str, tuple[int, int]]:
        """Least and greatest number of steps from each origin that stay between the borders.

        Exact for the floats given.
        """
        at = {origin: Fraction(value) for origin, value in self._origins().items()}
        step = Fraction(self.epsilon)
        return {
            origin: (math.ceil((at[LOW] - o) / step), math.floor((at[HIGH] - o) / step))
            for origin, o in at.items()
        }

    def _origins(self) -> dict[str, float]:
        return {HALF: math.log(0.5), LOW: math.log(self.alpha), HIGH: math.log1p(-self.alpha)}

    def _places(self, steps: list[int]) -> list[Place]:
        """Places before the first step and after each of them."""
        limits, places = self._limits(), [(HALF, 0)]
        for step in steps:
            places.append(_moved(places[-1], step, limits))
        return places

    def _neighbours(self, places: list[Place]) -> set[tuple[Place, Place]]:
        """Pairs of places in which two neighbours can end, each at least in one order.

        With `ties="index"` each of them makes one step of its own. With "sum" a record may also
        take one away from a longer step that both make.
        """
        limits = self._limits()

        def together(pairs: Iterable[tuple[Place, Place]]) -> set[tuple[Place, Place]]:
            """All pairs that common steps lead to."""
            found, todo = set(pairs), list(pairs)
            while todo:
                one, other = todo.pop()
                for step in (1, -1):
                    pair = _moved(one, step, limits), _moved(other, step, limits)
                    if pair not in found:
                        found.add(pair)
                        todo.append(pair)
            return found

        parted = together(
            {(_moved(place, step, limits), place) for place in places for step in (1, -1)}
        )
        both = {(one, _moved(other, step, limits)) for one, other in parted for step in (1, -1)}
        if self.ties == "sum":
            both |= {
                (_moved(one, step, limits), other) for one, other in parted for step in (1, -1)
            }
        return parted | together(both)

    def _log_p(self, places: list[Place]) -> NDArray[np.float64]:
        origins = self._origins()
        sums = [origins[origin] + k * self.epsilon for origin, k in places]
        # they are rounded
        return np.array([min(max(log_p, origins[LOW]), origins[HIGH]) for log_p in sums])

    def _at(self, state: BiasWalk, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ln p at each query."""
        return state.log_p[np.searchsorted(state.xs, queries[:, self.feature], side="right")]

    def _law(self, log_p: NDArray[np.float64]) -> FiniteLaw:
        """Law with P[1] = p, and a bound on its error.

        The walk is made with rounded borders and start; as projection does not expand, that moves
        no ln p by more than the largest of their errors, however long the walk. An error e of ln p
        is an error of at most e p / (1 - p) of ln(1 - p), with the largest p in question.
        """
        origins = self._origins()
        error = 8 * UNIT_ROUNDOFF * -origins[LOW]
        nearest = np.minimum(log_p + error, origins[HIGH])
        steepest = max(1.0, float(np.max(1 / np.expm1(-nearest))))
        log_q = np.log(-np.expm1(log_p))
        rounding = 8 * UNIT_ROUNDOFF * (1 + float(np.max(np.abs(log_q))))
        return FiniteLaw(log_p=np.stack([log_q, log_p], axis=1), error=error * steepest + rounding)


def _moved(place: Place, steps: int, limits: dict[str, tuple[int, int]]) -> Place:
    """Return where so many steps lead.

    One that would leave [alpha, 1 - alpha] ends at its border.
    """
    origin, k = place
    low, high = limits[origin]
    if k + steps > high:
        return HIGH, 0
    return (LOW, 0) if k + steps < low else (origin, k + steps)
