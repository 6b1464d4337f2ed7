"""Section 4.1 and Theorem 4: closed formulas against the mechanisms and against naive ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import SCORES
from dpassay.mechanisms.chaudhuri_vinterbo_2013.output_perturbation import OutputPerturbation
from dpassay.targets.resolve import resolve
from dpassay.theorems.chaudhuri_vinterbo_2013.linear_privacy import (
    hinge,
    objective,
    output,
    slope,
    zero_one,
)
from dpassay.theorems.chaudhuri_vinterbo_2013.theorem_4 import (
    bad_hinge,
    bad_logistic,
    length,
    max_apart,
    norm,
    printed_beta2,
    ramp,
    trained,
)

LAMBDA, N, DELTA, ALPHA = 2.0, 100, 0.01, 1.0


def test_the_hinge_loss_as_the_catalogue_computes_it() -> None:
    mechanism: Any = resolve("algorithm-3-hinge-loss").mechanism
    found = audit(mechanism, claim=DP(epsilon=1.0), mode="exact")
    assert found.exact == pytest.approx(hinge(0.1, 1.0, 1e-3).lower, abs=1e-6)


def test_the_hinge_loss_by_integrals_of_the_noise() -> None:
    def density(r: float) -> float:
        return math.exp(-abs(r)) / 2

    t = 0.5
    first, second = (
        quad(density, low, high)[0]
        for low, high in ((0.1, 0.1 * (1 + t) + 0.5), (1.1, 0.1 * (1 + t) + 1))
    )
    assert hinge(0.1, 1.0, t).lower == pytest.approx(math.log(first / second))


@pytest.mark.parametrize(("of", "g"), [(bad_hinge, "hinge"), (bad_logistic, "logistic")])
@pytest.mark.parametrize(("lambda_", "n", "delta"), [(2.0, 100, 0.01), (4.0, 10, 0.1)])
def test_bad_strings_one_by_one(of: Any, g: str, lambda_: float, n: int, delta: float) -> None:
    """Every R of a fine grid, through the mechanism's weights and the score."""
    mechanism = OutputPerturbation(
        n=n + 1, m=1, alpha=1.0, lambda_=lambda_, lambdas=str(lambda_), loss="huber", g=g
    )
    edges = np.linspace(-30, 30, 120_001)
    R = (edges[1:] + edges[:-1]) / 2
    w = mechanism.weights(np.ones((n, 1)), lambda_, R[:, None])[:, 0]
    score = SCORES[g].g
    bad = np.abs(score(w) - score(-w)) > printed_beta2(lambda_, n, 1.0, delta)
    chance = float((np.exp(-np.abs(R)) / 2 * np.diff(edges))[bad].sum())
    assert of(lambda_, n, delta, 1.0).lower == pytest.approx(chance, abs=1e-3)


@pytest.mark.parametrize(("d", "k", "delta"), [(1, 3, 0.1), (2, 1, 0.99), (4, 10, 0.5)])
def test_lengths_by_the_density(d: int, k: int, delta: float) -> None:
    edge = d * math.log(d * k / delta)
    value, _ = quad(lambda r: r ** (d - 1) * math.exp(-r) / math.gamma(d), edge, edge + 80)
    assert length(d, k, delta).lower == pytest.approx(value, rel=1e-6)


def test_trained_weights_of_the_huber_loss() -> None:
    """Two records 1 and lambda = 4: 1/4 as long as that is below 1 - h; R = 1 adds 2 R/(4 * 2)."""
    (output, _), (objective, _) = trained("huber", 4.0, 2, 4)
    R = np.linspace(-6.0, 6.0, 25).tolist().index(1.0)
    assert output[-1, -1, R] == pytest.approx(0.25 + 0.25)
    # the noise pushes down: lambda w - 1 + R = 0 at R = 1
    assert objective[-1, -1, R] == pytest.approx(0.0, abs=1e-9)


def test_trained_weights_are_minimal_on_a_grid() -> None:
    _, (objective, _) = trained("logistic", 0.5, 2, 4)
    w = np.linspace(-12, 12, 24_001)
    total = 0.25 * w**2 + (np.logaddexp(0, -0.5 * w) + np.logaddexp(0, w)) / 2 + 3.0 * w / 1
    # records 1/2 and -1, R = 3: (2/(alpha n)) R w = 3 w
    R = np.linspace(-6.0, 6.0, 25).tolist().index(3.0)
    assert objective[3, 0, R] == pytest.approx(w[total.argmin()], abs=1e-3)


def test_the_largest_difference_along_an_axis() -> None:
    values = np.array([[[0.0], [5.0]], [[1.0], [7.0]]])
    assert max_apart(values, 2) == 6.0


def test_a_norm_where_the_loss_bends() -> None:
    with pytest.raises(ArithmeticError, match="bends"):
        norm(4, 1.0, 1, 1.0)


def test_slopes() -> None:
    assert slope("logistic", 40).upper < 1 + 1e-9
    assert zero_one(7.0).lower == pytest.approx(14)
    assert ramp(1.0, 0.25).upper == pytest.approx(0.25)


def test_two_records_by_hand() -> None:
    """The pair of 'Algorithm 3': 1 + ln 2, where 1 + 2 ln 2 is claimed."""
    found = objective(2, 2, "huber", 0.5, 1.0)
    assert found.claimed == pytest.approx(1 + 2 * math.log(2))
    assert found.upper == pytest.approx(1 + math.log(2), abs=1e-3)


def test_a_lone_record_moves_the_minimiser_by_two_over_lambda_n() -> None:
    """Huber loss, lambda n (1 - h) >= 1: all of alpha; all records at once less."""
    assert output(4, 2, "huber", 0.5, 1.0).upper == pytest.approx(1.0)
    assert output(2, 2, "huber", 0.5, 1.0).upper == pytest.approx(0.75)
