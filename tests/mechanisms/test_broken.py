"""Every broken mechanism violates its claim by as much as it says, and its twin keeps it."""

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
from tests.mechanisms.broken_laws import Array, Loss, above, below

SPECIMENS = {each.name: each for each in specimens()}
SMALL = {each.name: each for each in specimens(0.1)}
BOTH = [
    pytest.param(each, id=f"{each.name}-{each.claim.epsilon:g}")
    for each in (*SPECIMENS.values(), *SMALL.values())
]
DICE = np.random.default_rng(0)
TRIALS = 20_000
PAIRS = 6
FALSE_ALARM = 1e-6
"""Of one count: outside this exact region it is not what the law says."""


@dataclass(frozen=True)
class Seen:
    """An event `(answers, epsilon)`, and its probability on either side; None: some, but not 0."""

    event: Callable[[Any, float], Any]
    chances: Callable[[float], tuple[float | None, ...]]
    pair: tuple[Any, Any] | None = None  # the known one, unless another tells more


def a(*values: float) -> Array:
    return np.array(values, dtype=float)


def first(end: int, transcript: tuple[int, ...]) -> Callable[[Any, float], Any]:
    return lambda y, _: (y[:, :end] == np.array(transcript)).all(axis=1)


def label_1(y: Array, _: float) -> Any:
    return y[:, 0] == 1


def low(y: Array, _: float) -> Any:
    return y <= 0


def all_low(level: float) -> Callable[[Any, float], Any]:
    return lambda y, _: (y <= level).all(axis=1)


def three_below_then(value: float) -> Callable[[Any, float], Any]:
    def seen(y: Array, _: float) -> Any:
        then = np.isfinite(y[:, 3]) & (y[:, 3] <= value)
        return (y[:, :3] == -np.inf).all(axis=1) & then

    return seen


def fine_bits(y: Array, _: float) -> Any:
    return (np.abs(y) <= 0.5) & (y * 2.0**53 != np.rint(y * 2.0**53))


SPREAD = a(-5, -3, 0, 2, -1, 4, -4, 3, 0, 7)
"""Answers on which the scales of a sparse vector matter."""
EQUAL, FOURTH = a(*[1] * 10), a(2, 2, 2, 0, *[2] * 6)
THREE_BELOW = (0, 0, 0, 1, *[-1] * 6)
LIFTED = a(1, 1, 1, 1, 1), a(2, 0, 0, 0, 0)


def fourth(rho: float, nu: float) -> tuple[float, ...]:
    return tuple(exact.transcripts(q, rho, nu, 1)[THREE_BELOW] for q in (EQUAL, FOURTH))


def votes(*k: int, r: int, weight: float = 0.5) -> Callable[[float], tuple[float, ...]]:
    """Chances of label 1 with these votes of r."""
    return lambda e: tuple(float(expit(weight * e * (2 * each - r))) for each in k)


def moved_noise(by: float, scale: float, times: int = 1) -> tuple[float, ...]:
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
        lambda e: tuple(
            exact.transcripts(q, 2 / e, 2 / e, None)[0, 0, 1, 1] for q in ((1,) * 4, (2, 2, 0, 0))
        ),
    ),
    "truncated-geometric": Seen(lambda y, _: y <= 2, lambda _: (9 / 17, 8 / 17)),
    "redrawn-noise": Seen(
        lambda y, _: y == 0, lambda e: tuple(exact.redrawn(c, e)[0] for c in (0, 1))
    ),
    "naive-laplace": Seen(fine_bits, lambda _: (None, 0.0)),
    "rounded-noise": Seen(lambda y, _: y == np.rint(y), lambda _: (1.0, 0.0)),
    "partition-by-content": Seen(label_1, votes(0, 2, r=5)),
    "partition-by-order": Seen(label_1, votes(0, 5, r=5)),
    "votes-counted-twice": Seen(label_1, votes(0, 1, r=3, weight=1.0)),
    "ties-by-index": Seen(label_1, lambda e: (0.0, float(expit(e)))),
    "early-return": Seen(label_1, lambda e: (0.0, float(expit(-1.5 * e)))),
    "rare-refusal": Seen(lambda y, _: y[:, 0] == 2, lambda _: (0.01, 0.0)),
    "half-the-scale": Seen(lambda y, _: y >= 1, lambda e: (float(above(2, 1 / e)), 0.5)),
    "mean-of-known": Seen(low, lambda e: moved_noise(1, 1 / (4 * e))),
    "clipped-last": Seen(low, lambda e: moved_noise(3, 1 / e)),
    "scale-from-data": Seen(lambda y, _: y == 0, lambda _: (1.0, 0.0)),
    "epsilon-once": Seen(all_low(1), lambda e: moved_noise(1, 1 / e, 5)),
    "budget-per-asker": Seen(all_low(0), lambda e: moved_noise(1, 1 / e, 3)),
    "fixed-sample": Seen(low, lambda e: moved_noise(1, 1 / exact.amplified(e))),
    "cached-noise": Seen(lambda y, _: y[:, 1] == y[:, 0], lambda _: (1.0, 0.0)),
    "seed-from-data": Seen(
        lambda y, e: y == randomness.seed_from_data(a(0), 1, DICE, epsilon=e), lambda _: (1.0, 0.0)
    ),
}
"""What each broken mechanism shows on its known pair."""

WORDS: dict[str, str] = {
    "noisy-hist-2": "the first count is at least 2",
    "noisy-max-3": "the value is at most 1",
    "noisy-max-4": "the value is below 21",
    "svt-3": "three times 'below', then a value of at most 4",
    "svt-4": "three times 'below', then 'above'",
    "svt-5": "not all answers are the same",
    "svt-6": "the first two answers are 'below', the last two 'above'",
    "truncated-geometric": "the answer is at most 2",
    "redrawn-noise": "the answer is 0",
    "naive-laplace": "at most 1/2 in size, and no whole multiple of 2^-53",
    "rounded-noise": "a whole number",
    "partition-by-content": "label 1",
    "partition-by-order": "label 1",
    "votes-counted-twice": "label 1",
    "ties-by-index": "label 1",
    "early-return": "label 1",
    "rare-refusal": "label 2, 'no answer'",
    "half-the-scale": "the sum is at least 1",
    "mean-of-known": "the mean is at most 0",
    "clipped-last": "the sum is 0",
    "scale-from-data": "the sum is 0",
    "epsilon-once": "all answers are at most 1",
    "budget-per-asker": "all answers are at most 0",
    "fixed-sample": "the sum is at most 0",
    "cached-noise": "the first two answers are equal",
    "seed-from-data": "the answer that these data have",
}
"""The events of `BROKEN`, as docs/zoo.md says them."""

TWINS: dict[str, Seen] = {
    "noisy-hist-2": Seen(lambda y, _: y[:, 0] >= 2, lambda e: (float(above(1, 5 / e)), 0.5)),
    "noisy-max-3": Seen(
        lambda y, _: y == 0,
        lambda e: tuple(exact.laplace_winner(q, 2 / e)[0] for q in LIFTED),
        LIFTED,
    ),
    "noisy-max-4": Seen(
        lambda y, _: y == 0,
        lambda e: tuple(exact.exponential_winner(q, 2 / e)[0] for q in LIFTED),
        LIFTED,
    ),
    "svt-3": Seen(
        three_below_then(4.0),
        lambda e: tuple(
            p * float(below(4 - q[3], 3 / e))
            for p, q in zip(fourth(3 / e, 6 / e), (EQUAL, FOURTH), strict=True)
        ),
    ),
    "svt-4": Seen(first(10, THREE_BELOW), lambda e: fourth(2 / e, 4 / e)),
    "svt-5": Seen(first(10, THREE_BELOW), lambda e: fourth(2 / e, 4 / e), (EQUAL, FOURTH)),
    "svt-6": Seen(first(10, THREE_BELOW), lambda e: fourth(2 / e, 4 / e), (EQUAL, FOURTH)),
    "truncated-geometric": Seen(lambda y, _: y <= 2, lambda _: (33 / 65, 32 / 65)),
    "redrawn-noise": Seen(
        lambda y, _: y == 0, lambda e: tuple(exact.clamped(c, e)[0] for c in (0, 1))
    ),
    "naive-laplace": Seen(
        low,
        lambda e: tuple(float(sum(exact.grid_law(x, e)[z] for z in range(33))) for x in (0.0, 1.0)),
    ),
    "rounded-noise": Seen(low, lambda e: (float(below(0.5, 1 / e)), 0.5)),
    "partition-by-content": Seen(label_1, votes(1, 2, r=5)),
    "partition-by-order": Seen(label_1, votes(2, 3, r=5)),
    "votes-counted-twice": Seen(label_1, votes(0, 1, r=3)),
    "ties-by-index": Seen(label_1, votes(2, 3, r=4)),
    "early-return": Seen(label_1, votes(0, 1, r=5)),
    "rare-refusal": Seen(label_1, votes(0, 0, r=5)),
    "half-the-scale": Seen(lambda y, _: y >= 1, lambda e: (float(above(2, 2 / e)), 0.5)),
    "mean-of-known": Seen(low, lambda e: moved_noise(1, 1 / e)),
    "clipped-last": Seen(low, lambda e: moved_noise(1, 1 / e)),
    "scale-from-data": Seen(low, lambda e: moved_noise(1, 1 / e)),
    "epsilon-once": Seen(all_low(1), lambda e: moved_noise(1, 5 / e, 5)),
    "budget-per-asker": Seen(all_low(0), lambda e: moved_noise(1, 3 / e, 3)),
    "fixed-sample": Seen(low, lambda e: (0.5, 0.25 + float(below(-1, 1 / exact.amplified(e))) / 2)),
    "cached-noise": Seen(all_low(0), lambda e: (1 / 8, float(below(-1, 3 / e)) / 4)),
    "seed-from-data": Seen(low, lambda e: moved_noise(1, 1 / e)),
}


def answers(data: Array) -> Array:
    return data


def one_by_one(scale: float) -> Callable[[float], float]:
    """The scale of noise, as a function of epsilon."""
    return lambda e: scale / e


PLACE = exact.by_place
LOSSES: dict[str, tuple[Loss | None, Loss]] = {
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
    "redrawn-noise": (
        exact.finite(lambda data, e: exact.redrawn(data[0], e)),
        exact.finite(lambda data, e: exact.clamped(data[0], e)),
    ),
    "naive-laplace": (None, exact.grid_loss),
    "rounded-noise": (None, exact.rounded),
    "partition-by-content": (exact.voted(exact.by_content, 5), exact.voted(PLACE, 5)),
    "partition-by-order": (exact.voted(exact.by_order, 5), exact.voted(PLACE, 5)),
    "votes-counted-twice": (exact.voted(PLACE, 3, 1.0), exact.voted(PLACE, 3)),
    "ties-by-index": (None, exact.voted(PLACE, 4)),
    "early-return": (None, exact.voted(PLACE, 5)),
    "rare-refusal": (None, exact.voted(PLACE, 5)),
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


Common = tuple[Callable[[Any, Any], Any], Callable[[Any], float]]
"""An event `(answers, data)` that is neither rare nor sure, and its probability on some data."""


def noise_of(
    scale: float, answer: Callable[[Any], Any] = np.sum, several: bool = False
) -> list[Common]:
    """Half of all Laplace noise is at most scale ln 2 away, on the first and on the last answer."""

    def near(place: int) -> Common:
        def seen(y: Array, data: Any) -> Any:
            moved = y.reshape(TRIALS, -1)[:, place] - np.atleast_1d(answer(data))[place]
            return np.abs(moved) <= scale * math.log(2)

        return seen, lambda _: 0.5

    first, last = near(0), near(-1)
    both: Common = (lambda y, data: first[0](y, data) == last[0](y, data), lambda _: 0.5)
    return [first, last, both] if several else [first, last]


def stopped_at(end: int) -> tuple[int, ...]:
    return (0,) * min(end, 10) + (1,) * (end < 10) + (-1,) * (9 - end)


def whole(rho: float, nu: float, numbers: bool = False) -> list[Common]:
    """Each transcript of a sparse vector that stops at once."""

    def ends(end: int) -> Common:
        def seen(y: Array, _: Any) -> Any:
            codes = np.where(np.isfinite(y), 1, np.where(np.isnan(y), -1, 0)) if numbers else y
            return (codes == stopped_at(end)).all(axis=1)

        return seen, lambda data: exact.transcripts(data, rho, nu, 1)[stopped_at(end)]

    return [ends(end) for end in range(11)]


def fresh_value(y: Array, data: Any) -> Any:
    """The value of numerical sparse vector is near its answer; unlike y, nan is near nothing."""
    return (np.abs(np.where(np.isfinite(y), y, np.nan) - data) <= 3 * math.log(2)).any(axis=1)


def counted(k: int) -> list[Common]:
    """Each answer of the truncated geometric mechanism."""

    def answered(z: int) -> Common:
        return lambda y, _: y == z, lambda data: float(exact.geometric_law(data[0], k)[z])

    return [answered(z) for z in range(6)]


def near_nothing(data: Array) -> float:
    """P[|sum over a fresh half + noise| <= scale ln 2], one number at most being 1."""
    scale = 1 / exact.amplified(1.0)
    ends = scale * math.log(2) - data.sum(), -scale * math.log(2) - data.sum()
    return 0.25 + float(below(ends[0], scale) - below(ends[1], scale)) / 2


COMMON: dict[tuple[str, str], list[Common]] = {
    ("noisy-hist-2", "function"): noise_of(0.1, answers, several=True),
    ("noisy-hist-2", "twin"): noise_of(50, answers, several=True),
    ("noisy-max-3", "function"): [
        (lambda y, _: y <= 4, lambda data: float(below(4 - data, 2).prod()))
    ],
    ("svt-3", "function"): whole(2, 2, numbers=True),
    ("svt-3", "twin"): [
        *whole(3, 6, numbers=True),
        (fresh_value, lambda data: (1 - exact.transcripts(data, 3, 6, 1)[stopped_at(10)]) / 2),
    ],
    ("svt-4", "function"): whole(4, 4 / 3),
    **{(name, "twin"): whole(2, 4) for name in ("svt-4", "svt-5", "svt-6")},
    ("svt-6", "function"): [
        (
            lambda y, _: (y[:, 0] == 0) & (y[:, 9] == 1),
            lambda data: exact.transcripts(data[[0, 9]], 2, 2, None)[0, 1],
        )
    ],
    ("truncated-geometric", "function"): counted(3),
    ("truncated-geometric", "twin"): counted(5),
    ("rare-refusal", "function"): [
        (
            lambda y, _: y[:, 0] == 1,
            lambda data: (0.99 if data.X[0, 0] == 0.5 else 1.0) * float(expit(-2.5)),
        )
    ],
    ("naive-laplace", "function"): noise_of(1),
    ("rounded-noise", "function"): [(lambda y, data: y == data[0], lambda _: -math.expm1(-0.5))],
    ("scale-from-data", "function"): [
        (
            lambda y, data: np.abs(y - data.sum()) <= math.log(2),
            lambda data: 0.5 if np.ptp(data) else 1.0,
        )
    ],
    ("epsilon-once", "function"): noise_of(1, answers, several=True),
    ("epsilon-once", "twin"): noise_of(5, answers, several=True),
    ("budget-per-asker", "function"): noise_of(1, several=True),
    ("budget-per-asker", "twin"): noise_of(3, several=True),
    ("fixed-sample", "twin"): [
        (lambda y, _: np.abs(y) <= math.log(2) / exact.amplified(1.0), near_nothing)
    ],
    ("cached-noise", "function"): noise_of(3, answers),
    ("cached-noise", "twin"): noise_of(3, answers, several=True),
}
"""More of the law, where the event that shows the loss says little of the noise."""


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
            size = int(rng.integers(1, (data.size or 0) + 1))
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
    assert list(SPECIMENS) == list(BROKEN) == list(TWINS) == list(LOSSES) == list(WORDS)
    assert list(SMALL) == list(SPECIMENS)
    left_out = {"noisy-hist-2", "truncated-geometric"}
    assert [each.name for each in specimens(1.0)] == [
        name for name in SPECIMENS if name not in left_out
    ]


@pytest.mark.parametrize("e", [1e-3, 0.03, 1.0])
def test_whole_weights_keep_every_claim(e: float) -> None:
    answers = (-9.0, -7.9, -0.3, 0.0, 6.9, 7.4)
    lost = [exact.grid_loss(a(x), a(x + 1), e, None) for x in answers]
    assert 0.999 * e < max(lost) <= e


@pytest.mark.parametrize("specimen", BOTH)
def test_the_known_pair_are_neighbours(specimen: Specimen) -> None:
    (base, neighbour), data = specimen.known_pair, specimen.data
    if isinstance(data, Answers):
        assert base.shape == neighbour.shape == (data.size,)
        assert 0 < np.abs(base - neighbour).max() <= data.sensitivity
        return
    assert len(base) == len(neighbour)
    if isinstance(data, Scalars):
        assert data.low <= min(*base, *neighbour) <= max(*base, *neighbour) <= data.high
        assert len(base) <= (data.size or 0)
        differ = base != neighbour
    else:
        assert isinstance(data, Labelled)
        assert specimen.known_query is not None
        differ = (base.X != neighbour.X).any(axis=1) | (base.y != neighbour.y)
    assert differ.sum() == 1


@pytest.mark.parametrize("specimen", BOTH)
def test_it_violates_its_claim(specimen: Specimen) -> None:
    e = specimen.claim.epsilon
    one, other = BROKEN[specimen.name].chances(e)
    assert other is not None
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
        base, neighbour, query = known(specimen)
        lost = found(base, neighbour, specimen.claim.epsilon, query)
        assert lost == pytest.approx(specimen.known_loss, rel=1e-9)


@pytest.mark.parametrize("specimen", BOTH)
def test_no_pair_loses_more(specimen: Specimen) -> None:
    e, (broken, twin) = specimen.claim.epsilon, LOSSES[specimen.name]
    pairs = list(neighbours(specimen, PAIRS))
    lost = [twin(one, two, e, query) for one, two, query in (*pairs, known(specimen))]
    assert max(lost) <= specimen.twin_loss * (1 + 1e-9)
    assert specimen.twin_loss <= e
    assert max(lost) >= 0.6 * specimen.twin_loss
    if broken is not None:
        lost = [broken(one, two, e, query) for one, two, query in pairs]
        assert max(lost) <= specimen.true_loss * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "base", "moved", "share"),
    [
        ("svt-3", [1] * 10, [1] * 10, 1 - 1e-9),  # attained
        ("svt-4", [9] * 9 + [-5], [1] * 9 + [-1], 1 - 1e-9),
        ("svt-6", [40] * 5 + [-40] * 5, [1] * 5 + [-1] * 5, 1 - 1e-6),
    ],
)
def test_a_supremum_is_approached(
    name: str, base: list[float], moved: list[float], share: float
) -> None:
    found = LOSSES[name][0]
    assert found is not None
    true = SPECIMENS[name].true_loss
    assert share * true <= found(a(*base), a(*base) + a(*moved), 1.0, None) <= true * (1 + 1e-9)


@pytest.mark.parametrize("specimen", SPECIMENS.values(), ids=list(SPECIMENS))
@pytest.mark.parametrize("which", ["function", "twin"])
def test_draws_follow_the_law(specimen: Specimen, which: str) -> None:
    e, name = specimen.claim.epsilon, specimen.name
    seen = (BROKEN if which == "function" else TWINS)[name]
    for side, data in enumerate(seen.pair or specimen.known_pair):
        drawn = draw(getattr(specimen, which), data, specimen.known_query, seed=side)
        assert len(drawn) == TRIALS
        count, chance = int(seen.event(drawn, e).sum()), seen.chances(e)[side]
        assert count > 0 if chance is None else within(count, chance)
        check_common(name, which, data, drawn)
    if name.startswith("svt"):
        drawn = draw(getattr(specimen, which), SPREAD, None, seed=2)
        check_common(name, which, SPREAD, drawn)


def check_common(name: str, which: str, data: Any, drawn: Any) -> None:
    for event, often in COMMON.get((name, which), ()):
        assert within(int(event(drawn, data).sum()), often(data))


def within(count: int, chance: float) -> bool:
    least, most = (binom.ppf(p, TRIALS, chance) for p in (FALSE_ALARM / 2, 1 - FALSE_ALARM / 2))
    return bool(least <= count <= most)
