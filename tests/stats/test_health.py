"""Health: every statistic has an expectation of at most 1 under independent trials. By enumeration;
and it sees what it is for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.stats.health import COMPARED, log_average, log_copied, log_uneven, log_varied


def expectation(statistic: object, sizes: tuple[int, ...], law: tuple[float, ...]) -> float:
    """E of exp(statistic) where calls of these sizes have independent trials. With this law, over
    all outcomes."""
    columns = [
        [each for each in itertools.product(range(n + 1), repeat=len(law)) if sum(each) == n]
        for n in sizes
    ]
    total = 0.0
    for calls in itertools.product(*columns):
        weights = [
            math.factorial(sum(each)) / math.prod(map(math.factorial, each)) for each in calls
        ]
        chance = math.prod(weights) * math.prod(
            p**k for each in calls for p, k in zip(law, each, strict=True)
        )
        total += chance * math.exp(
            float(statistic(np.array(calls)[:, None, :])[0])  # type: ignore[operator]
        )
    return total


@pytest.mark.parametrize("statistic", [log_uneven, log_varied, log_copied])
@pytest.mark.parametrize(
    ("sizes", "law"),
    [
        ((3, 3, 3, 3), (0.5, 0.5)), ((4, 4, 4), (0.9, 0.1)), ((1, 1, 1, 1, 1, 1), (0.3, 0.7)),
        ((6, 2, 2, 1), (0.999, 0.001)), ((2, 2, 2), (0.2, 0.3, 0.5)), ((3, 1, 2), (0.0, 0.6, 0.4)),
        ((9, 1), (0.5, 0.5)),
    ],
)  # fmt: skip
def test_no_statistic_exceeds_one_on_average(
    statistic: object, sizes: tuple[int, ...], law: tuple[float, ...]
) -> None:
    assert expectation(statistic, sizes, law) <= 1 + 1e-9


def partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Every way in which n trials agree: which came first of those that are like each of them."""
    grown: list[tuple[int, ...]] = [()]
    for _ in range(n):
        grown = [(*each, k) for each in grown for k in range(max(each, default=-1) + 2)]
    yield from grown


@pytest.mark.parametrize("labels", [2, 400, 10**5])
@pytest.mark.parametrize("statistic", [log_uneven, log_varied, log_copied])
@pytest.mark.parametrize("sizes", [(1,) * 6, (2, 2, 2), (3, 1, 2), (1, 5)])
def test_no_statistic_exceeds_one_on_average_whatever_the_number_of_labels(
    statistic: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    sizes: tuple[int, ...],
    labels: int,
) -> None:
    """Exactly, for labels that are equally likely: what counts is which trials agree."""
    call = np.repeat(np.arange(len(sizes)), sizes)
    total = whole = 0.0
    for alike in partitions(sum(sizes)):
        counts = np.zeros((len(sizes), 1, max(alike) + 1), dtype=np.int64)
        np.add.at(counts[:, 0], (call, np.array(alike)), 1)
        chance = math.perm(labels, max(alike) + 1) / labels ** sum(sizes)
        whole += chance
        total += chance * math.exp(statistic(counts)[0]) if chance else 0.0
    assert whole == pytest.approx(1)
    assert total <= 1 + 1e-9


@pytest.mark.parametrize("labels", [400, 1000, 10**5])
def test_calls_that_are_all_different_speak_against_copies_however_unlikely_each_is(
    labels: int,
) -> None:
    """Of 20 calls of 1,000 rows: a call's own chance, far below 1e-300, makes no copy of it."""
    rng = np.random.default_rng(labels)
    drawn = rng.multinomial(1000, np.full(labels, 1 / labels), size=20)[:, None]
    assert len(np.unique(drawn, axis=0)) == 20
    assert log_copied(drawn)[0] == pytest.approx(-19 * math.log(2), abs=1e-9)
    assert log_varied(drawn)[0] < 5
    copies = np.concatenate([drawn[:10], drawn[:10]])
    assert log_copied(copies)[0] > 1000


def test_labels_that_never_came_have_no_part_in_anything() -> None:
    drawn = np.random.default_rng(3).multinomial(50, np.full(7, 1 / 7), size=(6, 2))
    among = np.zeros((6, 2, 300), dtype=np.int64)
    among[..., 5:12] = drawn
    for statistic in (log_uneven, log_varied, log_copied):
        assert statistic(among) == pytest.approx(statistic(drawn), abs=1e-9)


def test_an_urn_gives_every_sequence_a_probability() -> None:
    """The same numbers by hand: two stretches of two, one symbol each way round."""
    apart, mixed = np.array([[[2, 0]], [[0, 2]]]), np.array([[[1, 1]], [[1, 1]]])
    found = []
    for stretches in (apart, mixed):
        each = []
        for s in (1.0, 10.0, 100.0, 1e3, 1e4):
            a = s / 2
            urn = {2: a * (a + 1), 1: a * a, 0: a * (a + 1)}
            each.append(math.prod(urn[int(one[0, 0])] / (s * (s + 1)) for one in stretches))
        found.append(math.log(np.mean(each) * 6))
    assert [float(log_uneven(each)[0]) for each in (apart, mixed)] == pytest.approx(found, abs=1e-9)


def calls(p: NDArray[np.float64], rows: int, seed: int = 0) -> NDArray[np.int64]:
    ones = np.random.default_rng(seed).binomial(rows, p)
    return np.stack([rows - ones, ones], axis=1)[:, None, :]


def test_what_is_uneven_is_seen_and_what_is_not_is_not() -> None:
    level = np.full(20, 0.7)
    for seed in range(20):
        honest = calls(level, 100, seed)
        assert log_varied(honest)[0] < 5
        assert log_copied(honest)[0] < 6
    assert log_varied(calls(level, 1) * 100)[0] > 100, "one coin for all rows of a call"
    assert log_varied(calls(np.linspace(0.6, 0.8, 20), 1000))[0] > 50, "a drift"
    assert log_varied(calls(np.repeat([0.1, 0.7], [3, 17]), 100))[0] > 50, "a warm-up"
    assert log_copied(np.repeat(calls(level[:1], 1000), 20, axis=0))[0] > 40, (
        "the same again and again"
    )


def test_only_so_many_calls_are_compared() -> None:
    many = np.concatenate([calls(np.full(COMPARED, 0.5), 1000), np.full((500, 1, 2), 500)])
    assert log_copied(many)[0] == log_copied(many[:COMPARED])[0]


def test_datasets_that_were_not_drawn_count_as_nothing() -> None:
    found = [np.array([3.0, 1.0]), np.array([2.0, -5.0])]
    by_hand = np.mean([math.e**3, math.e, math.e**2, math.e**-5]) * 2 / 7
    assert log_average(found, 7) == pytest.approx(math.log(by_hand))
    assert log_average([], 7) == -np.inf
    assert float(logsumexp(found[0])) > log_average(found, 7)
