"""Section 5: the walk one step at a time, trials of the expected error."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import expit

from dpassay.theorems.dwork_feldman_2018._distinct import best_error, expected_error
from dpassay.theorems.dwork_feldman_2018.thresholds import (
    chernoff,
    end,
    line_error,
    needed_agnostic,
    size,
)
from dpassay.theorems.dwork_feldman_2018.walk import (
    NINE,
    error,
    functions,
    least,
    overview,
    privacy,
)


def walked(labels: list[int], T: int) -> int:
    v = 0
    for y in labels:
        v = max(-T, min(T, v + 2 * y - 1))
    return v


@pytest.mark.parametrize(("mass", "low", "high"), [(0.5, 0.2, 0.9), (0.0, 0.0, 0.7), (0.3, 1, 0)])
def test_the_error_without_ties_by_all_labels(mass: float, low: float, high: float) -> None:
    """Points on a fine grid of sides: all sides, labels and places of n + 1 records."""
    n, T, epsilon, total = 4, 2, 1.5, 0.0
    for sides in itertools.product((0, 1), repeat=n + 1):
        order = sorted(sides)  # the left piece comes first
        weight = math.prod(mass if side == 0 else 1 - mass for side in sides)
        for labels in itertools.product((0, 1), repeat=n + 1):
            p = weight
            for side, y in zip(order, labels, strict=True):
                one = high if side else low
                p *= one if y else 1 - one
            for i in range(n + 1):
                logit = epsilon * walked(list(labels[:i]), T) / 2
                total += p * float(expit(-logit if labels[i] else logit)) / (n + 1)
    assert expected_error(n, T, epsilon, mass, low, high) == pytest.approx(total, abs=1e-9)


def test_the_error_of_trials() -> None:
    """New points and labels: the error of M itself, within five standard errors."""
    rng, n, T, epsilon, found = np.random.default_rng(0), 30, 4, 1.0, []
    for _ in range(4000):
        x = rng.random(n + 1)
        y = (rng.random(n + 1) < np.where(x < 0.4, 0.2, 0.9)).astype(int)
        before = [y[i] for i in np.argsort(x[:n]) if x[i] <= x[n]]
        logit = epsilon * walked(before, T) / 2
        found.append(float(expit(-logit if y[n] else logit)))
    exact = expected_error(n, T, epsilon, 0.4, 0.2, 0.9)
    assert abs(np.mean(found) - exact) < 5 * np.std(found) / math.sqrt(len(found))


def test_the_best_threshold_is_that_of_a_grid() -> None:
    for mass, low, high in itertools.product((0.0, 0.3, 0.5), (0.0, 0.4, 0.9), (0.1, 0.8)):
        cuts = [
            (min(c, mass) * low + max(c - mass, 0.0) * high)
            + (max(mass - c, 0.0) * (1 - low) + (1 - max(c, mass)) * (1 - high))
            for c in (0.0, 0.1, mass, 0.45, 0.7, 1.0)
        ]
        assert best_error(mass, low, high) == pytest.approx(min(cuts))


@pytest.mark.parametrize("traversed", ["up-to", "below"])
@pytest.mark.parametrize("labels", [NINE, [1, 0, 0, 1], [0, 0, 1, 1, 0, 1]])
def test_the_empirical_error_one_example_at_a_time(labels: list[int], traversed: str) -> None:
    n, total = len(labels), 0.0
    for i, y in enumerate(labels):
        logit = 10.0 * walked(labels[: i + (traversed == "up-to")], 1) / 2
        total += float(expit(-logit if y else logit)) / n
    found = error(list(range(n)), labels, 1, 1, 10.0, "sum", traversed)  # type: ignore[arg-type]
    assert found.lower == pytest.approx(total, abs=1e-12)
    assert found.claimed == pytest.approx(
        least(list(range(n)), labels, 1) / n + 3 / n + math.exp(-5)
    )


def test_functions_with_k_ends() -> None:
    assert [len(functions(4, k)) for k in range(7)] == [math.comb(5, k) for k in range(7)]
    assert least([0, 1, 2, 3], [0, 1, 0, 1], 1) == 1
    assert least([0, 1, 2, 3], [0, 1, 0, 1], 3) == 0


def test_line_error_by_quadrature() -> None:
    x, T, epsilon = np.sort(np.random.default_rng(1).random(9)), 3, 1.0
    labels = (x >= 0.5).astype(int)
    at = (np.arange(200_000) + 0.5) / 200_000
    values = np.array([walked(labels[:i].tolist(), T) for i in range(10)])
    logits = epsilon * values[np.searchsorted(x, at, side="right")] / 2
    wrong = expit(np.where(at >= 0.5, -logits, logits)).mean()
    assert line_error(x, 0.5, T, epsilon) == pytest.approx(wrong, abs=1e-4)


def test_by_hand() -> None:
    assert (end(0.1, 0.5), size(0.1, 0.5)) == (12, 719)
    assert (
        f"{overview([1], 0.05, 1.0).lower:.3f}" == f"{math.log((1 - 1 / (2 * math.e)) / 0.05):.3f}"
    )
    assert f"{overview([1, 0, 1], 0.05, 1.0).lower:.3f}" == "2.858"
    assert privacy(3, 1.0).lower == pytest.approx(0.727336, abs=1e-6)
    n = math.ceil(6 * math.log(2) / 0.3)
    tail = sum(math.comb(n, i) * 0.9**i * 0.1 ** (n - i) for i in range(n + 1) if i >= 0.6 * n)
    assert chernoff(0.3).lower == pytest.approx(tail, abs=1e-6)
    alpha = 0.5
    fine = min(1.0, alpha / 4)
    for best in (0.0, 0.5, 1.0):
        assert math.exp(fine) * (best + alpha / 2) <= best + alpha
    assert needed_agnostic(alpha, 1.0) == pytest.approx(
        12 * math.log(2 / (alpha / 2)) / (alpha / 2 * fine)
    )
