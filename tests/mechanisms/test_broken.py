"""Every broken mechanism violates its claim by as much as it says, and its twin keeps it.

The numbers come from `broken_laws`, not from the mechanisms; draws are held against them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.data import Labelled
from dpassay.mechanisms.broken import randomness
from dpassay.mechanisms.broken.specimen import Specimen
from dpassay.mechanisms.broken.zoo import specimens
from dpassay.search.spaces import Answers, Scalars
from tests.mechanisms import broken_laws as exact
from tests.mechanisms.broken_laws import above, below

SPECIMENS = {each.name: each for each in specimens()}
SMALL = {each.name: each for each in specimens(0.1)}
BOTH = [
    pytest.param(each, id=f"{each.name}-{each.claim.epsilon:g}")
    for each in (*SPECIMENS.values(), *SMALL.values())
]
DICE = np.random.default_rng(0)
TRIALS = 4000
FALSE_ALARM = 1e-6
"""Of one count: outside this exact region it is not what the law says."""


@dataclass(frozen=True)
class Seen:
    """An event `(answers, epsilon)`, and its probability on a dataset and its neighbour.

    None: it has no closed form, but is not 0. `pair` is the known one unless another tells more.
    """

    event: Callable[[Any, float], Any]
    chances: Callable[[float], tuple[float | None, float]]
    pair: tuple[Any, Any] | None = None


def a(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def first(end: int, transcript: tuple[int, ...]) -> Callable[[Any, float], Any]:
    return lambda y, _: (y[:, :end] == np.array(transcript)).all(axis=1)


def label_1(y: np.ndarray, _: float) -> np.ndarray:
    return y[:, 0] == 1


def low(y: np.ndarray, _: float) -> np.ndarray:
    return y <= 0


def all_low(level: float) -> Callable[[Any, float], Any]:
    return lambda y, _: (y <= level).all(axis=1)


def three_below_then(value: float) -> Callable[[Any, float], Any]:
    return lambda y, _: (y[:, :3] == -np.inf).all(axis=1) & np.isfinite(y[:, 3]) & (y[:, 3] <= value)


def fine_bits(y: np.ndarray, _: float) -> np.ndarray:
    return (np.abs(y) <= 0.5) & (y * 2.0**53 != np.rint(y * 2.0**53))


EQUAL, FOURTH = a(*[1] * 10), a(2, 2, 2, 0, *[2] * 6)
THREE_BELOW = (0, 0, 0, 1, *[-1] * 6)
LIFTED = a(1, 1, 1, 1, 1), a(2, 0, 0, 0, 0)


def fourth(rho: float, nu: float) -> tuple[float, float]:
    one, other = (exact.transcripts(q, rho, nu, 1)[THREE_BELOW] for q in (EQUAL, FOURTH))
    return one, other


def votes(*k: int, r: int, weight: float = 0.5) -> Callable[[float], tuple[float, float]]:
    """Chances of label 1 with these votes of r."""
    return lambda e: tuple(float(expit(weight * e * (2 * each - r))) for each in k)  # type: ignore


def moved_noise(by: float, scale: float, times: int = 1) -> tuple[float, float]:
    """Chances that noise on 0 and on `by` is at most 0, so many times."""
    return 0.5**times, float(below(-by, scale)) ** times


BROKEN: dict[str, Seen] = {
    "noisy-hist-2": Seen(lambda y, _: y[:, 0] >= 2, lambda e: (float(above(1, e)), 0.5)),
    "noisy-max-3": Seen(lambda y, _: y <= 1, lambda e: moved_noise(1, 2 / e, 5)),
    "noisy-max-4": Seen(
        lambda y, e: y < 20 / e + 1,
        lambda e: (-math.expm1(-e / 2) * (-math.expm1(-10 - e / 2)) ** 4, 0.0),
    ),
    "svt-3": Seen(
        three_below_then(4.0),
        lambda e: (
            exact.valued(EQUAL, 2 / e, 2 / e, 3, 4.0),
            exact.valued(FOURTH, 2 / e, 2 / e, 3, 4.0),
        ),
    ),
    "svt-4": Seen(first(10, THREE_BELOW), lambda e: fourth(4 / e, 4 / (3 * e))),
    "svt-5": Seen(
        lambda y, _: y.min(axis=1) != y.max(axis=1), lambda e: (0.0, -math.expm1(-e / 2))
    ),
    "svt-6": Seen(
        lambda y, _: (y[:, :2] == 0).all(axis=1) & (y[:, 8:] == 1).all(axis=1),
        lambda e: tuple(  # type: ignore[arg-type,return-value]
            exact.transcripts(q, 2 / e, 2 / e, None)[0, 0, 1, 1] for q in ((1,) * 4, (2, 2, 0, 0))
        ),
    ),
    "truncated-geometric": Seen(lambda y, _: y <= 2, lambda _: (9 / 17, 8 / 17)),
    "naive-laplace": Seen(fine_bits, lambda _: (None, 0.0)),
    "rounded-noise": Seen(lambda y, _: y == np.rint(y), lambda _: (1.0, 0.0)),
    "partition-by-content": Seen(label_1, votes(0, 2, r=5)),
    "partition-by-order": Seen(label_1, votes(0, 5, r=5)),
    "votes-counted-twice": Seen(label_1, votes(0, 1, r=3, weight=1.0)),
    "ties-by-index": Seen(label_1, lambda e: (0.0, float(expit(e)))),
    "early-return": Seen(label_1, lambda e: (0.0, float(expit(-1.5 * e)))),
    "half-the-scale": Seen(lambda y, _: y >= 1, lambda e: (float(above(2, 1 / e)), 0.5)),
    "mean-of-known": Seen(low, lambda e: moved_noise(1, 1 / (4 * e))),
    "clipped-last": Seen(low, lambda e: moved_noise(3, 1 / e)),
    "scale-from-data": Seen(lambda y, _: y == 0, lambda _: (1.0, 0.0)),
    "epsilon-once": Seen(all_low(1), lambda e: moved_noise(1, 1 / e, 5)),
    "budget-per-asker": Seen(all_low(0), lambda e: moved_noise(1, 1 / e, 3)),
    "fixed-sample": Seen(low, lambda e: moved_noise(1, 1 / exact.amplified(e))),
    "cached-noise": Seen(lambda y, _: y[:, 1] == y[:, 0], lambda _: (1.0, 0.0)),
    "seed-from-data": Seen(
        lambda y, e: y == randomness.seed_from_data(a(0), 1, DICE, epsilon=e),
        lambda _: (1.0, 0.0),
    ),
}
"""What each broken mechanism shows on its known pair."""

TWINS: dict[str, Seen] = {
    "noisy-hist-2": Seen(lambda y, _: y[:, 0] >= 2, lambda e: (float(above(1, 5 / e)), 0.5)),
    "noisy-max-3": Seen(
        lambda y, _: y == 0,
        lambda e: tuple(exact.laplace_winner(q, 2 / e)[0] for q in LIFTED),  # type: ignore
        LIFTED,
    ),
    "noisy-max-4": Seen(
        lambda y, _: y == 0,
        lambda e: tuple(exact.exponential_winner(q, 2 / e)[0] for q in LIFTED),  # type: ignore
        LIFTED,
    ),
    "svt-3": Seen(
        three_below_then(4.0),
        lambda e: tuple(  # type: ignore[arg-type,return-value]
            p * float(below(4 - q[3], 3 / e))
            for p, q in zip(fourth(3 / e, 6 / e), (EQUAL, FOURTH), strict=True)
        ),
    ),
    "svt-4": Seen(first(10, THREE_BELOW), lambda e: fourth(2 / e, 4 / e)),
    "svt-5": Seen(first(10, THREE_BELOW), lambda e: fourth(2 / e, 4 / e), (EQUAL, FOURTH)),
    "svt-6": Seen(first(10, THREE_BELOW), lambda e: fourth(2 / e, 4 / e), (EQUAL, FOURTH)),
    "truncated-geometric": Seen(lambda y, _: y <= 2, lambda _: (33 / 65, 32 / 65)),
    "naive-laplace": Seen(
        low,
        lambda e: tuple(  # type: ignore[arg-type,return-value]
            float(sum(exact.grid_law(x, e)[z] for z in range(33))) for x in (0.0, 1.0)
        ),
    ),
    "rounded-noise": Seen(low, lambda e: (float(below(0.5, 1 / e)), 0.5)),
    "partition-by-content": Seen(label_1, votes(1, 2, r=5)),
    "partition-by-order": Seen(label_1, votes(2, 3, r=5)),
    "votes-counted-twice": Seen(label_1, votes(0, 1, r=3)),
    "ties-by-index": Seen(label_1, votes(2, 3, r=4)),
    "early-return": Seen(label_1, votes(0, 1, r=5)),
    "half-the-scale": Seen(lambda y, _: y >= 1, lambda e: (float(above(2, 2 / e)), 0.5)),
    "mean-of-known": Seen(low, lambda e: moved_noise(1, 1 / e)),
    "clipped-last": Seen(low, lambda e: moved_noise(1, 1 / e)),
    "scale-from-data": Seen(low, lambda e: moved_noise(1, 1 / e)),
    "epsilon-once": Seen(all_low(1), lambda e: moved_noise(1, 5 / e, 5)),
    "budget-per-asker": Seen(all_low(0), lambda e: moved_noise(1, 3 / e, 3)),
    "fixed-sample": Seen(
        low, lambda e: (0.5, 0.25 + float(below(-1, 1 / exact.amplified(e))) / 2)
    ),
    "cached-noise": Seen(all_low(0), lambda e: (1 / 8, float(below(-1, 3 / e)) / 4)),
    "seed-from-data": Seen(low, lambda e: moved_noise(1, 1 / e)),
}


def answers(data: np.ndarray) -> np.ndarray:
    return data


def one_by_one(scale: float) -> Callable[[float], float]:
    """The scale of noise, as a function of epsilon."""
    return lambda e: scale / e


PLACE = exact.by_place
LOSSES: dict[str, tuple[Callable[..., float] | None, Callable[..., float]]] = {
    "noisy-hist-2": (
        exact.moved_numbers(answers, lambda e: e),
        exact.moved_numbers(answers, one_by_one(5)),
    ),
    "noisy-max-3": (exact.value_of_largest, exact.index_of_largest(exact.laplace_winner)),
    "noisy-max-4": (None, exact.index_of_largest(exact.exponential_winner)),
    "svt-3": (exact.sparse_with_compared_value, exact.sparse_with_fresh_value),
    "svt-4": (exact.sparse(4, 4 / 3, 1), exact.sparse(2, 4, 1)),
    "svt-5": (None, exact.sparse(2, 4, 1)),
    "svt-6": (exact.sparse(2, 2, None), exact.sparse(2, 4, 1)),
    "truncated-geometric": (
        exact.geometric(lambda e: math.ceil(math.log(2 / e))),
        exact.geometric(lambda e: math.ceil(math.log2(2 / e))),
    ),
    "naive-laplace": (None, exact.grid_loss),
    "rounded-noise": (None, exact.rounded),
    "partition-by-content": (exact.voted(exact.by_content, 5), exact.voted(PLACE, 5)),
    "partition-by-order": (exact.voted(exact.by_order, 5), exact.voted(PLACE, 5)),
    "votes-counted-twice": (exact.voted(PLACE, 3, 1.0), exact.voted(PLACE, 3)),
    "ties-by-index": (None, exact.voted(PLACE, 4)),
    "early-return": (None, exact.voted(PLACE, 5)),
    "half-the-scale": (
        exact.moved_numbers(np.sum, one_by_one(1)),
        exact.moved_numbers(np.sum, one_by_one(2)),
    ),
    "mean-of-known": (
        # the noise has the same scale on both sides: lists of one size are neighbours
        lambda base, other, e, _: (
            len(base) * e * abs(exact.known_mean(base) - exact.known_mean(other))
        ),
        exact.moved_numbers(exact.known_mean, one_by_one(1)),
    ),
    "clipped-last": (
        exact.clipped_sum(answers),
        exact.clipped_sum(lambda data: np.clip(data, 0, 1)),
    ),
    "scale-from-data": (None, exact.moved_numbers(np.sum, one_by_one(1))),
    "epsilon-once": (
        exact.moved_numbers(answers, one_by_one(1)),
        exact.moved_numbers(answers, one_by_one(5)),
    ),
    "budget-per-asker": (
        exact.moved_numbers(np.sum, one_by_one(1), copies=3),
        exact.moved_numbers(np.sum, one_by_one(3), copies=3),
    ),
    "fixed-sample": (
        exact.moved_numbers(exact.fixed_sum, lambda e: 1 / exact.amplified(e)),
        exact.sampled_sum,
    ),
    "cached-noise": (None, exact.moved_numbers(answers, one_by_one(3))),
    "seed-from-data": (None, exact.moved_numbers(answers, one_by_one(1))),
}
"""Exact loss of each broken mechanism, None where it is infinite, and of its twin, on any pair."""


def known(specimen: Specimen) -> tuple[Any, Any, Any]:
    return *specimen.known_pair, specimen.known_query


def neighbours(specimen: Specimen, number: int) -> Iterator[tuple[Any, Any, Any]]:
    """Random neighbours of the data of a member, most of them at the limits, and a query."""
    rng, data = np.random.default_rng(17), specimen.data
    for _ in range(number):
        if isinstance(data, Answers):
            base = rng.integers(0, 4, data.size) * rng.choice([0.0, 1.0, 10.0])
            yield base, base + rng.choice([-1, -1, 0.5, 1, 1], data.size), None
        elif isinstance(data, Scalars):
            size = int(rng.integers(1, data.size + 1))
            base = rng.choice([data.low, data.high, rng.uniform(data.low, data.high)], size)
            other = base.copy()
            place = rng.integers(size)
            other[place] = data.low if base[place] > data.low else data.high
            yield base, other, None
        else:
            size = int(rng.integers(2, 13))
            X, y = rng.integers(0, 20, (size, 1)) / 20 + 0.01, rng.integers(0, 2, size)
            other_X, other_y = X.copy(), y.copy()
            place = rng.integers(size)
            other_X[place], other_y[place] = rng.integers(0, 20) / 20 + 0.01, 1 - y[place]
            query = rng.integers(0, 20, (1, 1)) / 20 + 0.003
            yield Labelled(X, y), Labelled(other_X, other_y), query


def draw(function: Any, data: Any, query: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    arguments = (data,) if query is None else (data, query)
    return function(*arguments, TRIALS, rng)


def test_every_member_is_here() -> None:
    assert list(SPECIMENS) == list(BROKEN) == list(TWINS) == list(LOSSES)
    assert list(SMALL) == list(SPECIMENS)


@pytest.mark.parametrize("specimen", BOTH)
def test_it_violates_its_claim(specimen: Specimen) -> None:
    e = specimen.claim.epsilon
    one, other = BROKEN[specimen.name].chances(e)
    if one is None or min(one, other) == 0:
        assert one is None or max(one, other) > 0
        assert specimen.known_loss == specimen.true_loss == math.inf
        return
    lost = abs(math.log(one / other))
    assert e < lost <= specimen.known_loss * (1 + 1e-9)
    assert specimen.known_loss <= specimen.true_loss * (1 + 1e-12)


@pytest.mark.parametrize("specimen", BOTH)
def test_the_loss_on_the_known_pair(specimen: Specimen) -> None:
    if math.isfinite(specimen.known_loss):
        found = LOSSES[specimen.name][0]
        assert found is not None
        lost = found(*specimen.known_pair, specimen.claim.epsilon, specimen.known_query)
        assert lost == pytest.approx(specimen.known_loss, rel=1e-9)


@pytest.mark.parametrize("specimen", BOTH)
def test_no_pair_loses_more(specimen: Specimen) -> None:
    e, (broken, twin) = specimen.claim.epsilon, LOSSES[specimen.name]
    pairs = list(neighbours(specimen, 12))
    lost = [twin(*pair, e, query) for *pair, query in (*pairs, known(specimen))]
    assert max(lost) <= specimen.twin_loss * (1 + 1e-9)
    assert specimen.twin_loss <= e
    assert max(lost) >= 0.6 * specimen.twin_loss
    if broken is not None:
        lost = [broken(*pair, e, query) for *pair, query in pairs]
        assert max(lost) <= specimen.true_loss * (1 + 1e-9)


@pytest.mark.parametrize("specimen", BOTH)
@pytest.mark.parametrize("which", ["function", "twin"])
def test_draws_follow_the_law(specimen: Specimen, which: str) -> None:
    e, seen = specimen.claim.epsilon, (BROKEN if which == "function" else TWINS)[specimen.name]
    query = specimen.known_query
    for side, data in enumerate(seen.pair or specimen.known_pair):
        drawn = draw(getattr(specimen, which), data, query, seed=side)
        assert len(drawn) == TRIALS
        count, chance = int(seen.event(drawn, e).sum()), seen.chances(e)[side]
        if chance is None:
            assert count > 0
        else:
            least, most = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], TRIALS, chance)
            assert least <= count <= most
