"""Lemmas 1 to 3: slow twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpassay.mechanisms.shared.line_classes import Thresholds
from dpassay.mechanisms.shared.vc import is_net
from dpassay.theorems.dagan_feldman_2020.growth import classes
from dpassay.theorems.dagan_feldman_2020.nets import missing
from dpassay.theorems.dagan_feldman_2020.uniform_convergence import sample_size, single, thresholds


def test_one_function_and_four_examples() -> None:
    assert sample_size(0, 0.25, 0.975, 9.0) == 4
    assert single(9.0, 0.25, 0.975).lower == pytest.approx(14 / 16, rel=1e-12)


@pytest.mark.parametrize("replaced", [True, False])
def test_nets_by_every_draw(replaced: bool) -> None:
    N, m, alpha = 5, 3, 0.4
    X = np.arange(N, dtype=float)[:, None]
    draws = (
        list(itertools.product(range(N), repeat=m))
        if replaced
        else list(itertools.combinations(range(N), m))
    )
    bad = sum(not is_net(Thresholds(), X[list(draw)], X, alpha) for draw in draws)
    assert missing(N, m, alpha, replaced=replaced) == pytest.approx(bad / len(draws), abs=1e-12)


def test_classes_by_hand() -> None:
    """All four functions on two points shatter them; the constants have d = 1, and one has 0."""
    assert (classes(2, 0b1111).claimed, classes(2, 0b1111).lower) == (4, 4)
    assert (classes(2, 0b1001).claimed, classes(2, 0b1001).lower) == (3, 2)
    assert (classes(2, 0b0001).claimed, classes(2, 0b0001).lower) == (1, 1)


def test_a_constant_that_is_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(d: int, alpha: float, beta: float, C: float) -> int:
        return sample_size(d, alpha, beta, C / 16)

    monkeypatch.setattr("dpassay.theorems.dagan_feldman_2020.uniform_convergence.sample_size", few)
    measured = thresholds(0.1, 0.1, 2000, 0)
    assert measured.lower > measured.claimed
