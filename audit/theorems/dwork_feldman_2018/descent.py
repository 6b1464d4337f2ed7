"""Theorem 4.12 and Corollary 4.13: one pass of projected gradient descent, and noise.

Excess losses are those of R = L_f = L_l = 1, n records at x = 1, labels drawn at random, and the
absolute loss with its kink rounded over h = eta / 2, the shortest that the theorem allows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled, points
from dpassay.mechanisms.dwork_feldman_2018.losses import Kink
from dpassay.mechanisms.dwork_feldman_2018.psgd import PSGD
from dpassay.mechanisms.dwork_feldman_2018.psgd_laplace import PsgdLaplace, loss_between_mixtures
from dpassay.theorems.dwork_feldman_2018._own_pair import own_change
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

Array = NDArray[np.float64]
ERROR = 1e-12
"""A few roundings of each of some ten steps, all below 1, as a part of 1."""
SHARES = (0.0, 0.1, 0.3, 0.45, 0.5)


def rate_cases(average: str, order: str, sizes: tuple[int, ...]) -> Iterator[Case]:
    """Sizes, by one reading."""
    for n in sizes:
        yield {"n": n, "average": average, "order": order}


def rate(
    n: int, average: Literal["before", "after"], order: Literal["fixed", "random"]
) -> Measured:
    """Change of the (mean) prediction by the lone record; no dataset has more than the other."""
    psgd = PSGD(n=n, average=average, order=order)
    printed, most = (claim.promised for claim in psgd.claims)
    change, error = own_change(psgd)
    return Measured(claimed=printed, lower=min(change - error, most), upper=most)


def climb_cases(_: Effort) -> Iterator[Case]:
    """The lone record, then records that are alike; from the last size that holds on."""
    for which, loss, sizes in ((0, "smooth-hinge", (2, 3)), (1, "squared", (4, 5, 12))):
        for n in sizes:
            yield {"n": n, "loss": loss, "which": which}


def climb(n: int, loss: str, which: int) -> Measured:
    """Change of the prediction by the first of n records, with the printed sign."""
    psgd = PSGD(n=n, loss=loss, sign="+")
    change, error = own_change(psgd, which)
    return Measured(claimed=psgd.claims[0].promised, lower=change - error, upper=math.inf)


def fixed_loss_cases(_: Effort) -> Iterator[Case]:
    """Sizes from 1 on; before its update one record changes nothing."""
    for epsilon in (0.5, 1.0):
        yield {"n": 1, "average": "after", "epsilon": epsilon}
    for n, average, epsilon in itertools.product((2, 3, 10), ("before", "after"), (0.5, 1.0)):
        yield {"n": n, "average": average, "epsilon": epsilon}


def fixed_loss(n: int, average: Literal["before", "after"], epsilon: float) -> Measured:
    """Loss in nats of the prediction in the order given, with noise for the printed rate."""
    found = rate(n, average, "fixed")
    times = epsilon / found.claimed
    return Measured(claimed=epsilon, lower=found.lower * times, upper=found.upper * times)


def random_loss_cases(_: Effort) -> Iterator[Case]:
    """Records alike, or two half as far."""
    for x, epsilon in (([1.0] * 3, 5.0), ([1.0] * 3, 20.0), ([1.0, 1.0, 0.5, 0.5], 20.0)):
        yield {"x": x, "epsilon": epsilon}


def random_loss(x: list[float], epsilon: float) -> Measured:
    """Loss in nats in a secret random order, all labels 0 and the first one flipped."""
    n = len(x)
    psgd, found = PsgdLaplace(n=n, epsilon=epsilon, order="random"), []
    error = 0.0
    for first in (0, 1):
        data = Labelled(np.array(x)[:, None], np.array([first] + [0] * (n - 1)))
        state: Any = psgd.prepare(data)
        found.append(psgd.predictions_by_order(state, points([[1.0]], "queries"))[:, 0])
        error += 2 * psgd.rounding(state) / psgd.noise.scale
    value = loss_between_mixtures(found[0], found[1], psgd.noise.scale)
    return computed(epsilon, value, error + ERROR * epsilon)


def small_random_loss_cases(effort: Effort) -> Iterator[Case]:
    """Three records on a grid, the first label flipped; epsilon at which none is known to fail."""
    places = (-1.0, -0.5, 0.0, 0.5, 1.0)
    for epsilon in (0.5, 1.0):
        for x in itertools.product(places, repeat=effort.of(3, 4)):
            yield {"x": list(x), "epsilon": epsilon}


def average_iterates(n: int, *, sign: int, after: bool) -> tuple[Array, Array]:
    """The average iterate for every sequence of n labels -1, 1, shape (2^n,); labels 1 in each."""
    eta = 1 / math.sqrt(n)
    loss = Kink(one_sided=False, h=eta / 2)
    y: Array = ((np.arange(2**n)[:, None] >> np.arange(n) & 1) * 2 - 1).astype(np.float64)
    w: Array = np.zeros(2**n)
    total: Array = np.zeros(2**n)
    for i in range(n):
        total += 0 if after else w
        w = np.clip(w + sign * eta * loss.slope(w, y[:, i]), -1.0, 1.0)
        total += w if after else 0
    return total / n, (y > 0).sum(axis=1).astype(float)


def risk(w: Array, share: float, n: int) -> Array:
    """Expected loss of predictions w."""
    loss = Kink(one_sided=False, h=1 / (2 * math.sqrt(n)))
    one = np.ones_like(w)
    return share * loss.value(w, one) + (1 - share) * loss.value(w, -one)


def least_risk(share: float, n: int) -> float:
    """The least on [-1, 1]: convex, and piecewise quadratic with pieces of length h at the ends.

    Near -1 it is (1 - p) t^2 / (2 h) + p (2 - h / 2 - t), t = w + 1 <= h, p the share of 1:
    least at t = h p / (1 - p), which is at most h for p <= 1/2.
    """
    h = 1 / (2 * math.sqrt(n))
    t = h * share / (1 - share)
    return (1 - share) * t**2 / (2 * h) + share * (2 - h / 2 - t)


def noise_cost(w: Array, share: float, b: float, h: float) -> Array:
    """What Laplace noise of scale b adds: curvature 1 / h within h of each target."""
    total = np.zeros_like(w)
    for y, p in ((1.0, share), (-1.0, 1 - share)):
        above, below = (y + h - w) / b, (y - h - w) / b
        total += p * b**2 / h * (_mass(above) - _mass(below))
    return total


def _mass(z: Array) -> Array:
    """Distribution function of Laplace noise of scale 1."""
    found: Array = np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
    return found


def mean_over(n: int, ones: Array, share: float, values: Array) -> float:
    """Mean over sequences of labels."""
    return float((share**ones * (1 - share) ** (n - ones)) @ values)


def excess_cases(*, sign: int, after: bool, sizes: tuple[int, ...]) -> Iterator[Case]:
    """Sizes and label shares."""
    for n, share in itertools.product(sizes, SHARES):
        yield {"n": n, "share": share, "sign": sign, "after": after}


def excess(n: int, share: float, sign: int, after: bool) -> Measured:
    """Expected excess loss, over all samples, against 2 / sqrt(n)."""
    w, ones = average_iterates(n, sign=sign, after=after)
    value = mean_over(n, ones, share, risk(w, share, n)) - least_risk(share, n)
    return computed(2 / math.sqrt(n), value, ERROR)


def noisy_cases(effort: Effort) -> Iterator[Case]:
    """The same with noise."""
    sizes = effort.of((2, 3, 5, 8, 12), (2, 3, 4, 5, 6, 8, 10, 12, 16))
    for n, share, epsilon in itertools.product(sizes, SHARES, (0.1, 1.0, 10.0)):
        yield {"n": n, "share": share, "epsilon": epsilon}


def noisy_excess(n: int, share: float, epsilon: float) -> Measured:
    """Expected excess loss with noise for the printed rate."""
    w, ones = average_iterates(n, sign=-1, after=False)
    h, b = 1 / (2 * math.sqrt(n)), 1 / (math.sqrt(n) * epsilon)
    over = risk(w, share, n) + noise_cost(w, share, b, h)
    value = mean_over(n, ones, share, over) - least_risk(share, n)
    return computed(2 / math.sqrt(n) + 1 / h / (n * epsilon**2), value, ERROR * (1 + b**2 / h))


def terms_cases(_: Effort) -> Iterator[Case]:
    """Decades of n."""
    for n in (1, 16, 10**4, 10**8):
        yield {"n": n}


def terms(n: int) -> Measured:
    """The term of the noise against the statistical one, epsilon = n^(-1/4), all constants 1."""
    value = 1 / (n * (n**-0.25) ** 2)
    return computed(2 / math.sqrt(n), value, 1e-14 * value)


PAPER = "dwork-feldman-2018"
SMALL = (2, 3, 4, 10, 100)
ORDERED = (2, 3, 4, 5, 6)
ROWS = (
    Row(
        key=f"{PAPER}/theorem-4.12/fixed-before",
        checks="records in the order given, average of the iterates before each update",
        quantity="change of a prediction",
        method="exact",
        domain="n in {2, 3, 4, 10, 100}, smooth hinge loss",
        cases=lambda _: rate_cases("before", "fixed", SMALL),
        measure=rate,
        verdict="refuted",
        derivation="Theorem 4.12",
    ),
    Row(
        key=f"{PAPER}/theorem-4.12/fixed-after",
        checks="records in the order given, average of the iterates after each update",
        quantity="change of a prediction",
        method="exact",
        domain="n in {1, 2, 3, 4, 10, 100}, smooth hinge loss",
        cases=lambda _: rate_cases("after", "fixed", (1, *SMALL)),
        measure=rate,
        verdict="refuted",
        derivation="Theorem 4.12",
    ),
    Row(
        key=f"{PAPER}/theorem-4.12/random-before",
        checks="records in random order, iterates before each update: the mean prediction",
        quantity="change of the mean prediction",
        method="exact",
        domain="n = 2, ..., 6, smooth hinge loss, by the largest rate all datasets",
        cases=lambda _: rate_cases("before", "random", ORDERED),
        measure=rate,
    ),
    Row(
        key=f"{PAPER}/theorem-4.12/random-after",
        checks="records in random order, iterates after each update: the mean prediction",
        quantity="change of the mean prediction",
        method="exact",
        domain="n = 1, ..., 6, smooth hinge loss",
        cases=lambda _: rate_cases("after", "random", (1, *ORDERED)),
        measure=rate,
        verdict="refuted",
        derivation="Theorem 4.12",
    ),
    Row(
        key=f"{PAPER}/theorem-4.12/plus-sign",
        checks="the update with + eta, as printed",
        quantity="change of a prediction",
        method="exact",
        domain="smooth hinge, n in {2, 3}; squared loss, n in {4, 5, 12}, labels in turn",
        cases=climb_cases,
        measure=climb,
        verdict="refuted",
        derivation="The sign in the update",
    ),
    Row(
        key=f"{PAPER}/theorem-4.12-loss/before",
        checks="descent, average of the iterates before each update",
        quantity="expected excess loss",
        method="exact",
        domain="n in {2, 3, 5, 8, 12}, labels 1 in 0 to 50 %, all samples",
        cases=lambda effort: excess_cases(
            sign=-1, after=False, sizes=effort.of((2, 3, 5, 8, 12), tuple(range(2, 17)))
        ),
        measure=excess,
    ),
    Row(
        key=f"{PAPER}/theorem-4.12-loss/after",
        checks="descent, average of the iterates after each update",
        quantity="expected excess loss",
        method="exact",
        domain="n in {2, 3, 5, 8, 12}, labels 1 in 0 to 50 %, all samples",
        cases=lambda effort: excess_cases(
            sign=-1, after=True, sizes=effort.of((2, 3, 5, 8, 12), tuple(range(2, 17)))
        ),
        measure=excess,
    ),
    Row(
        key=f"{PAPER}/theorem-4.12-loss/plus-sign",
        checks="the update with + eta, as printed: it climbs",
        quantity="expected excess loss",
        method="exact",
        domain="n in {2, 3, 4, 10}, labels 1 in 0 to 50 %, all samples",
        cases=lambda _: excess_cases(sign=1, after=False, sizes=(2, 3, 4, 10)),
        measure=excess,
        verdict="refuted",
        derivation="The sign in the update: the loss",
    ),
    Row(
        key=f"{PAPER}/corollary-4.13/privacy-fixed",
        checks="records in the order given, noise for the printed rate",
        quantity="loss in nats",
        method="exact",
        domain="n in {2, 3, 10}, after also 1; eps in {.5, 1}, averages before and after",
        cases=fixed_loss_cases,
        measure=fixed_loss,
        verdict="refuted",
        derivation="Theorem 4.12",
    ),
    Row(
        key=f"{PAPER}/corollary-4.13/privacy-random",
        checks="records in a secret random order, noise for the printed rate",
        quantity="loss in nats",
        method="exact",
        domain="three and four records, eps in {5, 20}",
        cases=random_loss_cases,
        measure=random_loss,
        verdict="refuted",
        derivation="Corollary 4.13 in a random order",
    ),
    Row(
        key=f"{PAPER}/corollary-4.13/privacy-random-small",
        checks="the same for eps up to 1",
        quantity="loss in nats",
        method="search",
        domain="three records on {-1, -1/2, 0, 1/2, 1}, labels 0, one flipped, eps in {.5, 1}",
        cases=small_random_loss_cases,
        measure=random_loss,
        verdict="not refuted",
    ),
    Row(
        key=f"{PAPER}/corollary-4.13/excess-loss",
        checks="descent, iterates before each update, noise for the printed rate",
        quantity="expected excess loss",
        method="exact",
        domain="n in {2, 3, 5, 8, 12}, labels 1 in 0 to 50 %, eps in {.1, 1, 10}, all samples",
        cases=noisy_cases,
        measure=noisy_excess,
    ),
    Row(
        key=f"{PAPER}/section-4.4-rate/terms",
        checks="at eps = n^(-1/4) the term of the noise is half of the statistical one",
        quantity="term of the noise",
        method="exact",
        domain="n in {1, 16, 1e4, 1e8}; R, L_f, L_l, sigma_l = 1",
        cases=terms_cases,
        measure=terms,
    ),
)
