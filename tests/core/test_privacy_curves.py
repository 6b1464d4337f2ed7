"""Privacy curves: what they imply about (epsilon, delta), held against naive twins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dpassay import DP, RDP, Profile, zCDP
from dpassay.claims import claim_from_json
from dpassay.errors import InvalidInput
from dpassay.privacy_curves import Renyi, ZeroConcentrated, curve_from_json, most

RHOS = (0.00125, 0.05, 0.5, 2.0, 12.0)


def divergence(p: float, q: float, alpha: float) -> float:
    """Renyi divergence of an event, as it is defined."""
    return math.log(p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)) / (
        alpha - 1
    )


@pytest.mark.parametrize("rho", RHOS)
def test_gaussian_noise_obeys_every_point(rho: float) -> None:
    mu = math.sqrt(2 * rho)
    for epsilon, delta in ZeroConcentrated(rho).points():
        true = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(
            -mu / 2 - epsilon / mu
        )
        assert true <= delta


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomised_response_obeys_every_point(epsilon: float) -> None:
    # epsilon-DP is epsilon^2 / 2 -zCDP: Bun and Steinke (2016), Proposition 1.4
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    for at, delta in ZeroConcentrated(epsilon**2 / 2).points():
        assert p <= math.exp(at) * (1 - p) + delta


@pytest.mark.parametrize("rho", RHOS)
def test_no_conversion_by_formula_is_smaller(rho: float) -> None:
    # Canonne, Kamath and Steinke (2020), Proposition 12; orders are a grid, hence 0.2 %
    above = np.logspace(-4, 6, 100_001)
    for epsilon, delta in ZeroConcentrated(rho).points():
        if epsilon > 0:
            told = -math.log(delta) + (1 + above) * np.log(above / (1 + above)) - np.log(above)
            assert epsilon <= 1.002 * float(((1 + above) * rho + told / above).min())


@pytest.mark.parametrize("orders", [((2.0, 0.3),), ((8.0, 2.0),), ((1.5, 0.2), (20.0, 1.0))])
def test_points_are_those_of_the_naive_twin(orders: tuple[tuple[float, float], ...]) -> None:
    """Enumerate probabilities of events: none that is allowed lies above a point, one touches."""
    allowed = [
        (p, q)
        for q in np.geomspace(1e-12, 0.9, 300)
        for p in (*np.geomspace(q, 0.5, 200), *np.linspace(q, 1 - 1e-9, 200))
        if p >= q and all(max(divergence(p, q, a), divergence(q, p, a)) <= e for a, e in orders)
    ]
    for epsilon, delta in Renyi(orders).points():
        over = max(p - math.exp(epsilon) * q - delta for p, q in allowed)
        assert -0.01 <= over <= 1e-9


@given(log_q=st.floats(-600, -1e-9), alpha=st.floats(1.01, 100), epsilon=st.floats(1e-3, 50))
def test_the_largest_probability_is_at_the_limit(
    log_q: float, alpha: float, epsilon: float
) -> None:
    p = most(np.array([log_q]), ((alpha, epsilon),)).item()
    assert p >= math.exp(log_q) * (1 - 1e-9)
    if 1e-6 < p < 1 - 1e-6 and log_q > -20:
        q = math.exp(log_q)
        there = max(divergence(p, q, alpha), divergence(q, p, alpha))
        assert there == pytest.approx(epsilon, rel=1e-6, abs=1e-9)


def test_a_zcdp_claim_reads_as_its_usual_point_and_knows_all() -> None:
    claim = zCDP(rho=0.5, relation="add-remove")
    assert str(claim) == "zCDP(0.5)"
    assert claim.delta == 0.01
    assert claim.points[0] == claim
    assert {0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6} < {p.delta for p in claim.points}
    assert all(point.relation == "add-remove" for point in claim.points)
    least = min(claim.points, key=lambda point: point.epsilon)
    assert least.epsilon == 0
    assert least.delta >= 2 * norm.cdf(0.5) - 1  # total variation of the Gaussian mechanism
    assert DP(epsilon=1.0).points == (DP(epsilon=1.0),)


@pytest.mark.parametrize(
    "claim", [zCDP(0.5), RDP(8, 1.5), RDP({2: 0.3, 8: 1.5}), Profile([(4.0, 1e-6), (1.0, 0.01)])]
)
def test_claims_are_read_back(claim: DP) -> None:
    assert claim_from_json(claim.as_json()) == claim
    assert {point.curve for point in claim.points} == {claim.curve}


def test_a_claim_without_a_curve_is_recorded_as_before() -> None:
    assert "curve" not in DP(epsilon=1.0).as_json()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zCDP(0.0), r"rho = 0.0: must be a number in \(0, 300\]"),
        (lambda: zCDP(math.nan), "rho = nan"),
        (lambda: RDP(1.0, 2.0), r"alpha = 1.0: must be a number in \(1, 1e6\]"),
        (lambda: RDP(2.0, -1.0), "epsilon = -1.0"),
        (lambda: RDP(2.0), "epsilon = None"),
        (lambda: RDP({2.0: 1.0}, 3.0), "epsilon = 3.0: must be left out"),
        (lambda: RDP({}), "at least one order"),
        (lambda: Profile([]), "points = 0: must be 1 to 64 pairs"),
        (lambda: Profile([(1.0, 2.0)]), r"delta = 2.0: must be a number in \[0, 1\)"),
        (lambda: curve_from_json({"kind": "f-DP"}), "curve = 'f-DP': must be of kind zCDP, RDP"),
        (lambda: curve_from_json({"kind": "RDP", "orders": [1]}), "a list of pairs of numbers"),
        (lambda: curve_from_json({"kind": "zCDP"}), "rho = nan"),
    ],
)
def test_wrong_numbers_are_named(make: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make()
