"""Projected stochastic gradient descent, one pass, average iterate.

Source: Dwork and Feldman (2018), Theorem 4.12 and Corollary 4.13.

    w_1 = 0,   eta = R / (L_f L_l sqrt(n)),
    w_(i+1) = Proj_K(w_i - eta l'(<w_i, phi(x_i)>, y_i) phi(x_i)) for i = 1, ..., n,
    A(S, x) = <(w_1 + ... + w_n) / n, phi(x)>

K is the ball of radius R. This is the predictor alone: the noise that makes a private prediction of
it is another mechanism's.

How the text is read (derivations and numbers in docs/findings.md, 'Theorem 4.12'):

* The update is printed with + eta. That climbs; descent has - eta, as in the work cited, and only
  that is non-expansive. `sign="+"` builds the other; the printed rate is false for it
  (docs/findings.md, 'The sign in the update').
* "Starting from w_0 being the origin" the printed updates make w_2, ..., w_(n+1) of w_1, and the
  average is over w_1, ..., w_n: w_0 is in neither. `average="before"`, the default, takes the
  origin for w_1: the average is over the iterates at which gradients are taken, as the accuracy
  guarantee needs, and the last record does not matter. `average="after"` shifts the index of the
  updates instead: the average is over the iterates after each update.
* The records are taken "for every i in [n]", in the order given: `order="fixed"`. The work cited
  takes them in random order; `order="random"` is a uniformly random order, secret and fresh in
  every trial. Then the answer has coins, and its stability is that of its mean.

Claims: prediction stability at the printed rate R L_f / sqrt(n), and at the largest one there can
be,

    fixed, before   2 (n - 1) / n R L_f / sqrt(n)    random, before   (n - 1) / n R L_f / sqrt(n)
    fixed, after    2 R L_f / sqrt(n)                random, after    (n + 1) / n R L_f / sqrt(n)

so that the printed rate holds for a random order and the average before the updates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PredictionStability
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, is_real, require
from dpassay.laws import PointLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.dwork_feldman_2018.losses import ROUNDED, SMOOTH, Loss
from dpassay.mechanisms.shared.linear import LinearPredictor, gamma, targets
from dpassay.mechanisms.shared.ranges import check_word
from dpassay.pairs import Change, FlipLabel, Pairs

Array = NDArray[np.float64]

MAX_ORDERED: Final = 7
"""Largest n for which all n! orders are run."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Descent:
    """State: the dataset, and the way through it where the order is fixed.

    Parameters
    ----------
    data : Labelled
        What is learnt from.
    phi : array (n, d)
        Its features.
    iterates : array (n + 1, d), optional
        w_1, ..., w_(n+1) in the order given; None under a random order.
    """

    data: Labelled
    phi: Array
    iterates: Array | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PSGD(LinearPredictor):
    """Projected stochastic gradient descent for a linear predictor.

    Parameters
    ----------
    n, R, L_f, feature_scale
        See `LinearPredictor`; n >= 2 for the average `before`, which one record alone leaves at
        the origin.
    loss : {"logistic", "squared", "huber", "smooth-hinge"}
        See `dpassay.mechanisms.dwork_feldman_2018.losses`. It must be sigma-smooth in w with
        sigma = sigma_l L_f^2 <= 2 / eta.
    L_l : float, optional
        Lipschitz constant that the step is made for, at least the loss's on the predictions that
        there can be; that by default.
    h : float, optional
        Length over which the kink of `huber` and `smooth-hinge` is rounded; finite and > 0. By
        default eta L_f^2 / 2, the shortest that the theorem allows.
    order : {"fixed", "random"}
        See the module's docstring.
    average : {"before", "after"}
        Likewise.
    sign : {"-", "+"}
        Of eta in the update.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the loss is not as smooth as the theorem asks.
    """

    loss: str = "smooth-hinge"
    L_l: float | None = None
    h: float | None = None
    order: Literal["fixed", "random"] = "fixed"
    average: Literal["before", "after"] = "before"
    sign: Literal["-", "+"] = "-"

    def __post_init__(self) -> None:
        LinearPredictor.__post_init__(self)
        require(self.loss in SMOOTH, "loss", self.loss, f"one of {', '.join(SMOOTH)}")
        check_word("fixed", "random", order=self.order)
        check_word("before", "after", average=self.average)
        check_word("-", "+", sign=self.sign)
        require(self.n >= 2 or self.average == "after", "n", self.n, "an integer >= 2")
        given = self.h is None or (is_real(self.h) and 0 < self.h < math.inf)
        allowed = "a finite number > 0, or None for the shortest that the theorem allows"
        require(given, "h", self.h, allowed)
        if self.h is not None and self.loss not in ROUNDED:
            raise InvalidInput(
                f"h = {self.h}: changes nothing with the loss '{self.loss}'; it goes with "
                f"{' and '.join(ROUNDED)}"
            )
        least = self._lipschitz
        enough = self.L_l is None or (is_real(self.L_l) and least <= self.L_l < math.inf)
        allowed = f"a finite number >= {least:g}, the Lipschitz constant of the {self.loss} loss"
        require(enough, "L_l", self.L_l, allowed)
        sigma, most = self.loss_function.smoothness * self.L_f**2, 2 / self.eta
        if sigma > most * (1 + 1e-12):
            raise InvalidInput(
                f"loss = '{self.loss}': is {sigma:g}-smooth in w; Theorem 4.12 needs sigma <= 2 / "
                f"eta = {most:g}"
            )

    @property
    def _lipschitz(self) -> float:
        return SMOOTH[self.loss](1.0).lipschitz(self.R * self.L_f)

    @property
    def eta(self) -> float:
        """Length of a step per unit of gradient: R / (L_f L_l sqrt(n))."""
        L_l = self._lipschitz if self.L_l is None else self.L_l
        return self.R / (self.L_f * L_l * math.sqrt(self.n))

    @property
    def loss_function(self) -> Loss:
        """The loss with its h."""
        return SMOOTH[self.loss](self._rounded)

    @property
    def _rounded(self) -> float:
        """The h in force."""
        return self.eta * self.L_f**2 / 2 if self.h is None else self.h

    @property
    def derived_parameters(self) -> dict[str, float]:
        """L_l, and h where the loss has a kink to be rounded."""
        known = {"L_l": self._lipschitz if self.L_l is None else self.L_l}
        return known | ({"h": self._rounded} if self.loss in ROUNDED else {})

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed rate, and the largest change that there can be in descent.

        The first is exceeded in a fixed order.
        """
        rate = self.R * self.L_f / math.sqrt(self.n)
        # of the first record, in which its change is felt
        steps = self.n - 1 if self.average == "before" else self.n
        largest = (
            2 * steps / self.n
            if self.order == "fixed"
            else 1 + (1 if self.average == "after" else -1) / self.n
        )
        coins = (
            "there are none"
            if self.order == "fixed"
            else "order fresh; the claim is about the mean over all orders"
        )
        source = "Dwork and Feldman 2018, Theorem 4.12"
        printed = PredictionStability(gamma=rate, coins=coins, source=source, status="printed")
        if self.sign == "+":
            return (printed,)
        return (
            printed,
            replace(
                printed,
                gamma=largest * rate,
                source="docs/findings.md, 'Theorem 4.12'",
                status="corrected",
            ),
        )

    def prepare(self, data: Labelled) -> Descent:
        """Go through the records once; a random order leaves that to the trials."""
        self.check(data)
        phi = self.features(data.X)
        if self.order == "random":
            return Descent(data=data, phi=phi, iterates=None)
        way = [np.zeros(phi.shape[1]), *self._steps(phi, targets(data), np.arange(self.n))]
        return Descent(data=data, phi=phi, iterates=np.stack(way))

    def update(self, state: Descent, change: Change) -> Descent:
        """Return the neighbour's state, going again only from the changed record on."""
        data, i = change.apply(state.data), change.index
        self.check(data)
        phi = state.phi.copy()
        phi[i] = self.features(data.X[i : i + 1])[0]
        if state.iterates is None:
            return Descent(data=data, phi=phi, iterates=None)
        known = state.iterates[: i + 1]
        again = self._steps(phi, targets(data), np.arange(self.n), start=known[-1], first=i)
        return Descent(data=data, phi=phi, iterates=np.concatenate([known, np.stack(list(again))]))

    def sample(self, state: Descent, queries: Array, size: int, rng: np.random.Generator) -> Array:
        """Predictions of `size` independent trials at q queries, shape (size, q).

        Without coins `size` times the same.
        """
        if state.iterates is not None:
            return np.tile(self.predictions(self._average(state.iterates), queries), (size, 1))
        return self._in_order(
            state, rng.permuted(np.tile(np.arange(self.n), (size, 1)), axis=1), queries
        )

    def distribution(self, state: Descent, queries: Array) -> PointLaw | None:
        """The prediction and its error by rounding; None under a random order."""
        if state.iterates is None:
            return None
        return self.law(self._average(state.iterates), self._distance(state), queries)

    def rounding(self, state: Descent) -> float:
        """Bound on the error by rounding of a prediction, in any order."""
        return self.L_f * self._distance(state) + gamma(state.phi.shape[1] + 2) * self.R * self.L_f

    def _distance(self, state: Descent) -> float:
        """Bound on how far rounding takes the average iterate.

        A step is non-expansive, so that the rounding of one step is never more than that later on;
        it is that of a product with features, of a sum and of a projection, all below 4 d + 64
        roundings of R. Climbing, a step makes it larger by a factor of 1 + eta sigma at most.
        """
        grown = (
            1.0
            if self.sign == "-"
            else (1 + self.eta * self.loss_function.smoothness * self.L_f**2) ** self.n
        )
        return (self.n * gamma(4 * state.phi.shape[1] + 64) * grown + gamma(self.n + 1)) * self.R

    def predictions_by_order(self, state: Descent, queries: Array) -> Array:
        """The prediction in each of the n! equally likely orders, shape (n!, q).

        In the order of `itertools.permutations`.

        Raises
        ------
        InvalidInput
            If n is above 7.
        """
        allowed = f"at most {MAX_ORDERED}, for all orders to be run"
        require(self.n <= MAX_ORDERED, "n", self.n, allowed)
        return self._in_order(state, np.array(list(itertools.permutations(range(self.n)))), queries)

    def pairs(self) -> tuple[WorstCase, ...]:
        """The lone record, the first of all.

        Its step turns round, and no other record makes up for it.

        Climbing also all records at one point, where later steps may take the two ways further
        apart.
        """
        whose = "first record" if self.order == "fixed" else "record, whenever it comes"
        reason = (
            f"the flip reverses the step of the {whose}, and all later iterates stay that far apart"
        )
        lone = self.lone_record(reason)
        if self.sign == "-":
            return (lone,)
        data = Labelled(np.tile(lone.pairs.base.X[:1], (self.n, 1)), np.arange(self.n) % 2)
        how = (
            f"{self.n} records with the same features of norm {self.L_f:g}, labelled 0 and 1 in "
            "turn, the first label flipped"
        )
        reason = "all steps are along one line, and with this sign none goes down the loss"
        return lone, replace(
            lone, pairs=Pairs(base=data, changes=(FlipLabel(0),), how=how), reason=reason
        )

    def reachable(self) -> Reachable | None:
        """The two states of the lone record in a fixed order.

        For losses whose slope at 0 is L_l: none are further apart.
        """
        largest = self.claims[-1].promised
        if (
            self.sign == "+"
            or self.order == "random"
            or self.loss not in ROUNDED
            or self.L_l is not None
            or self._rounded > 1
        ):
            return None
        argument = (
            "No replacement changes a prediction by more than that (docs/findings.md, 'Theorem "
            "4.12'). Flipping the label of the first record, of norm L_f and with all others at "
            "the origin, changes it by exactly that."
        )
        return self.opposite(largest, argument)

    def _steps(
        self,
        phi: Array,
        y: Array,
        order: NDArray[np.int64],
        start: Array | None = None,
        first: int = 0,
    ) -> Iterator[Array]:
        """Yield w_2, ..., w_(n+1), shape (..., d), for orders (..., n).

        Or those after w_(first+1) = `start`.
        """
        w = np.zeros((*order.shape[:-1], phi.shape[1])) if start is None else start
        loss, eta = self.loss_function, self.eta if self.sign == "-" else -self.eta
        for t in range(first, self.n):
            record = order[..., t]
            features = phi[record]
            slope = loss.slope(np.vecdot(features, w), y[record])
            w = w - np.asarray(eta * slope)[..., None] * features
            w = w * np.asarray(self.R / np.maximum(self.R, np.sqrt(np.vecdot(w, w))))[..., None]
            yield w

    def _average(self, iterates: Array) -> Array:
        kept = iterates[:-1] if self.average == "before" else iterates[1:]
        mean: Array = kept.mean(axis=0)
        return mean

    def _in_order(self, state: Descent, orders: NDArray[np.int64], queries: Array) -> Array:
        """Predictions (m, q) for m orders (m, n), a step of all of them at a time."""
        total = np.zeros((len(orders), state.phi.shape[1]))
        kept = self.n - 1 if self.average == "before" else self.n  # the origin adds nothing
        for w in itertools.islice(self._steps(state.phi, targets(state.data), orders), kept):
            total += w
        return self.predictions(total / self.n, queries)
