"""DP-SGD: its steps, its claims, and the mistakes that people make with it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay import DP, GDP, Labelled, audit
from dpassay.engine.result import Result
from dpassay.mechanisms.relatives.dp_sgd import DPSGD, profile, sampled_epsilon
from dpassay.noise import Noise
from tests.docs.findings_pages import FINDINGS

Array = NDArray[np.float64]
X = np.array([[3.0, -1.0], [0.2, 0.1], [0.0, 0.0], [-4.0, 2.0]])
DATA = Labelled(X, np.array([1, 0, 1, 0]))


def summed_once(w: Array, data: Labelled, C: float) -> Array:
    """Algorithm 1 as it is printed, record by record."""
    total = np.zeros(len(w))
    for x, y in zip(data.X, data.y, strict=True):
        g = (1 / (1 + np.exp(-w @ x)) - y) * x
        total += g / max(1.0, float(np.linalg.norm(g)) / C)
    return total


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
def test_gradients_are_clipped_one_by_one(C: float) -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(20, 2))
    found = DPSGD(C=C).summed(w, DATA, rng)
    wanted = [summed_once(each, DATA, C) for each in w]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_one_round_adds_the_noise_that_the_claim_counts_on() -> None:
    mechanism = DPSGD(T=1, C=0.5, sigma=3.0, eta=2.0)
    w = mechanism.trained(DATA, 40_000, np.random.default_rng(0))
    assert w.shape == (40_000, 2)
    mean = -2.0 * summed_once(np.zeros(2), DATA, 0.5) / 4
    deviation = 2.0 * 3.0 * 0.5 / 4
    np.testing.assert_allclose(w.mean(axis=0), mean, atol=5 * deviation / 200)
    np.testing.assert_allclose(w.std(axis=0), deviation, rtol=0.02)


def test_a_lot_has_every_record_with_its_probability() -> None:
    long = Labelled(np.array([[8.0]]), np.array([0]))
    rng, sampled = np.random.default_rng(0), DPSGD(q=0.3)
    sums = sampled.summed(np.zeros((20_000, 1)), long, rng)
    assert set(np.unique(sums)) == {0.0, 1.0}
    assert sums.mean() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(("q", "sigma", "delta"), [(0.5, 2.0, 0.05), (0.1, 1.0, 1e-3)])
def test_one_sampled_round_is_a_gaussian_in_a_share_of_the_runs(
    q: float, sigma: float, delta: float
) -> None:
    """Then delta(epsilon) is q times that of the Gaussian, which `Noise` knows by another way."""
    found = sampled_epsilon(1, sigma, q, delta)
    wanted, _ = Noise(kind="gaussian", scale=sigma).loss(np.asarray(2 / sigma), delta / q, 1e-15)
    assert found == pytest.approx(float(wanted), rel=1e-6)
    assert found >= float(wanted)


def test_the_sampled_claim_grows_up_to_that_of_all_records() -> None:
    claims = [sampled_epsilon(5, 4.0, q, 1e-3) for q in (0.05, 0.2, 0.6, 0.999999)]
    assert claims == sorted(claims)
    (claim,) = DPSGD(T=9, sigma=3.0).claims
    assert isinstance(claim, GDP)
    assert claim.mu == 2.0
    (sampled,) = DPSGD(T=9, sigma=3.0, q=0.5, delta=0.01).claims
    assert isinstance(sampled, DP)
    assert sampled.delta == 0.01
    mu = np.asarray(DPSGD(T=5, sigma=4.0).mu)
    whole, _ = Noise(kind="gaussian", scale=1.0).loss(mu, 1e-3, 1e-15)
    assert claims[-1] == pytest.approx(float(whole), rel=1e-4)
    assert claims[-1] < float(whole) * (1 + 1e-6)
    assert sampled_epsilon(1, 4.0, 0.001, 0.5) == 1e-12
    assert profile(0.0, np.zeros(1)).tolist() == [0.0]


def test_the_page_has_these_claims() -> None:
    row = r"^\| dp-sgd \| (\d+)" + r" \| ([\d.e-]+)" * 4 + r" \|$"
    rows = re.findall(row, FINDINGS, re.MULTILINE)
    assert len(rows) == 5
    for T, *numbers in rows:
        sigma, q, delta, claimed = map(float, numbers)
        assert sampled_epsilon(int(T), sigma, q, delta) == pytest.approx(claimed, abs=1e-6)


def held(mechanism: DPSGD, **more: Any) -> Result:
    return audit(mechanism, budget=5000, **more)


class Unclipped(DPSGD):
    def summed(self, w: Array, data: Labelled, rng: np.random.Generator) -> Array:
        sums: Array = (1 / (1 + np.exp(-w @ data.X.T)) - data.y) @ data.X
        return sums


class ClippedLonger(DPSGD):
    def summed(self, w: Array, data: Labelled, rng: np.random.Generator) -> Array:
        return DPSGD(C=2 * self.C).summed(w, data, rng)


class NoiseOnce(DPSGD):
    def _run(self, data: Labelled, runs: int, rng: np.random.Generator) -> Array:
        w = np.zeros((runs, data.X.shape[1]))
        for _ in range(self.T):
            w = w - self.eta * self.summed(w, data, rng) / len(data)
        noise = rng.normal(scale=self.sigma * self.C, size=w.shape)
        return w - self.eta * noise / len(data)


def test_the_worst_case_reaches_the_claim() -> None:
    found = held(DPSGD(release="label"))
    assert found.verdict == "not refuted"
    assert found.claim.promised == pytest.approx(2**0.5)
    assert 0.9 * found.claim.promised < found.lower <= found.claim.promised


@pytest.mark.parametrize("flawed", [Unclipped, ClippedLonger, NoiseOnce])
def test_a_planted_flaw_is_refuted(flawed: type[DPSGD]) -> None:
    found = held(flawed(release="label"))
    assert found.verdict == "refuted"
    assert found.lower > found.claim.promised


def test_a_claim_for_added_records_does_not_hold_for_replaced_ones() -> None:
    mechanism = DPSGD(release="label")
    assert held(mechanism, claim=GDP(mu=mechanism.mu / 2)).verdict == "refuted"


def test_lots_are_audited_too() -> None:
    mechanism = DPSGD(T=1, q=0.5, sigma=2.0, delta=0.05, release="label")
    found = held(mechanism)
    assert found.verdict != "refuted"
    assert 0 < found.lower < found.claim.promised
    nothing = DP(epsilon=0.05, delta=0.05)
    assert held(mechanism, claim=nothing).verdict == "refuted"


def test_scores_are_numbers() -> None:
    scores = DPSGD().sample(DATA, X, 3, np.random.default_rng(0))
    labels = DPSGD(release="label").sample(DATA, X, 3, np.random.default_rng(0))
    assert ((scores > 0) == labels).all()
    assert DPSGD().trained(DATA, 0, np.random.default_rng(0)).shape == (0, 2)
