"""Codings: symbols and counts of labels and of numbers, and the pilot that places the bins."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.trials.encoders import LEVELS, Bins, Coding, Labels, Pilot, Rounded, bins_from

RNG = np.random.default_rng(1)
NUMBERS = RNG.normal(size=(1000, 3))


def test_labels_are_counted() -> None:
    draws = np.array([[0, 7], [7, 7], [0, 3]])
    counts, mark = Labels((0, 3, 7)).count(draws)
    assert counts.tolist() == [[2, 0, 1], [0, 1, 2]]
    assert mark == Labels((0, 3, 7)).count(draws)[1] != Labels((0, 3, 7)).count(draws[::-1])[1]


@pytest.mark.parametrize("kind", [bool, np.int8, np.int64, float])
@pytest.mark.parametrize("shape", [(1, 1), (700, 1), (2049, 3), (256, 1024), (600, 1500)])
def test_labels_are_counted_as_fast_as_bytes_are_added(kind: type, shape: tuple[int, int]) -> None:
    """Short rows stand side by side, and no byte overflows."""
    draws: NDArray[Any] = (np.random.default_rng(2).random(shape) < 0.999).astype(kind)
    counts, mark = Labels((0, 1)).count(draws)
    assert np.array_equal(counts, np.stack([(draws == k).sum(axis=0) for k in (0, 1)], axis=1))
    turned = np.asfortranarray(draws)
    again, same = Labels((0, 1)).count(turned)
    assert np.array_equal(again, counts)
    assert same == mark


def test_an_answer_on_an_edge_lies_above_it() -> None:
    counts, _ = Bins(np.array([[0.0, 1.0]])).count(
        np.array([[-1.0], [0.0], [0.5], [1.0], [2.0], [-0.0]])
    )
    assert counts.tolist() == [[1, 3, 2]]


@pytest.mark.parametrize(
    "coding", [Bins(np.tile(np.linspace(-2, 2, 9), (3, 1))), Rounded(-9.0, 9.0), Pilot()], ids=str
)
def test_every_answer_is_counted_once(coding: Coding) -> None:
    count = partial(coding.round, rng=RNG) if coding.rounds else coding.count
    counts, mark = count(NUMBERS)
    assert counts.shape == (3, coding.size)
    assert counts.dtype == (np.int64 if coding.additive else np.float64), (
        "floats were handed on as whole numbers"
    )
    if coding.additive:
        assert counts.sum(axis=1).tolist() == [1000] * 3
        assert mark
        assert count(NUMBERS)[1] == mark
        assert count(NUMBERS + 1)[1] != mark


def test_keys_tell_codings_apart() -> None:
    every: list[Coding] = [
        Labels((0, 1)), Labels((0, 2)), Bins(np.zeros((1, 1))), Bins(np.ones((1, 1))),
        Rounded(0, 1), Rounded(0, 2), Pilot(),
    ]  # fmt: skip
    assert len({coding.key for coding in every}) == len(every)


def test_rounding_keeps_the_mean() -> None:
    values = np.full((200_000, 1), 0.3137)
    counts, _ = Rounded(0.0, 1.0).round(values, RNG)
    assert np.count_nonzero(counts) == 2
    mean = counts[0] @ np.arange(65) / 64 / 200_000
    assert mean == pytest.approx(0.3137, abs=5 * 0.5 / 64 / np.sqrt(200_000))


def pilot_of(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The edges that a pilot of these answers leads to, of the first query."""
    counts, _ = Pilot().count(draws)
    return np.asarray(bins_from(counts).edges[0])


def test_the_edges_are_quantiles() -> None:
    edges = pilot_of(NUMBERS)
    assert edges[0] == NUMBERS[:, 0].min()
    assert edges[-1] == np.nextafter(NUMBERS[:, 0].max(), np.inf)
    assert (np.diff(edges) > 0).all()
    assert len(edges) == 2 * len(LEVELS)
    assert np.median(NUMBERS[:, 0]) == pytest.approx(edges[len(LEVELS) - 1], abs=0.01)


def test_a_value_with_a_probability_of_its_own_is_parted_from_both_sides() -> None:
    """Of clipped numbers half are 0; the events '< 0', '>= 0', '> 0' are all there."""
    edges = pilot_of(np.maximum(NUMBERS, 0))
    assert edges[0] == 0.0
    assert edges[1] == np.nextafter(0.0, 1.0)
    assert (np.diff(edges) >= 0).all()
    counts, _ = Bins(edges[None]).count(np.array([[-1.0], [0.0], [1e-9]]))
    assert counts[0, :2].tolist() == [1, 1]


def test_an_answer_beyond_all_of_the_pilot_has_its_own_symbol() -> None:
    edges = pilot_of(NUMBERS)
    counts, _ = Bins(edges[None]).count(np.array([[99.0], [-99.0], [NUMBERS[:, 0].max()]]))
    assert counts[0, -1] == counts[0, 0] == counts[0, -2] == 1
