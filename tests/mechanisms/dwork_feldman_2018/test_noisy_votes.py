"""The mean of votes, noise on it, and the label made from it, against slow twins."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpassay import DP, Domain, Labelled, PredictionStability, audit, replace_one
from dpassay.errors import InvalidInput
from dpassay.laws import PointLaw
from dpassay.mechanisms.dwork_feldman_2018.averaged import Averaged
from dpassay.mechanisms.dwork_feldman_2018.boolean import Boolean
from dpassay.mechanisms.dwork_feldman_2018.noisy_average import NoisyAverage
from dpassay.mechanisms.dwork_feldman_2018.noisy_average_number import (
    NoisyAverageNumber,
    blocks_for,
)
from dpassay.mechanisms.dwork_feldman_2018.stable_gaussian import largest_shift
from dpassay.mechanisms.dwork_feldman_2018.stable_laplace import StableLaplace

ORIGIN = np.array([[0.0]])


def mean_vote(labels: tuple[int, ...], r: int) -> float:
    """Lemma 4.6 on records at one point: each block votes with its majority, ties for 0."""
    return sum(sum(labels[j::r]) * 2 > len(labels[j::r]) for j in range(r)) / r


def expected_projection(v: float, b: float) -> float:
    """E of v + Laplace(b) projected to [0, 1], by quadrature."""

    def part(t: float) -> float:
        return t * math.exp(-abs(t - v) / b) / (2 * b)

    return float(quad(part, 0, v)[0] + quad(part, v, 1)[0] + 0.5 * math.exp(-(1 - v) / b))


@pytest.mark.parametrize(("n", "r"), [(3, 1), (5, 2), (6, 3)])
def test_averages_of_all_small_datasets(n: int, r: int) -> None:
    mechanism = Averaged(r=r, learner="majority")
    for labels in itertools.product((0, 1), repeat=n):
        data = Labelled(np.zeros((n, 1)), np.array(labels))
        found = mechanism.distribution(mechanism.prepare(data), ORIGIN).values[0]
        assert found == pytest.approx(mean_vote(labels, r), abs=1e-15)
    result = audit(mechanism, mode="exhaustive", domain=Domain(n=n, points=1))
    assert result.verdict == "verified"
    assert result.exact == pytest.approx(1 / r, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("r", [1, 2, 25])
def test_the_label_of_the_noisy_vote(epsilon: float, r: int) -> None:
    mechanism = NoisyAverage(epsilon=epsilon, r=r, learner="majority")
    probability = []
    for ones in range(r + 1):
        data = Labelled(np.zeros((r, 1)), (np.arange(r) < ones).astype(int))
        p = mechanism.distribution(mechanism.prepare(data), ORIGIN).p[0]
        assert p[1] == pytest.approx(expected_projection(ones / r, 1 / (r * epsilon)), rel=1e-7)
        assert p.sum() == pytest.approx(1, abs=1e-14)
        probability.append(p)
    losses = np.abs(np.diff(np.log(probability), axis=0))
    assert losses.max() == pytest.approx(mechanism.exact_loss(), rel=1e-10)
    assert mechanism.exact_loss() < epsilon
    assert mechanism.claims[1].promised == mechanism.exact_loss()


@pytest.mark.parametrize("n", [2, 3])
def test_exhaustive_domains(n: int) -> None:
    for mechanism in (
        NoisyAverage(r=2, learner="majority"),
        NoisyAverageNumber(r=2, learner="majority"),
        StableLaplace(r=2),
    ):
        result = audit(mechanism, mode="exhaustive", domain=Domain(n=n, points=2))
        assert result.verdict == "verified"
        assert result.evidence is not None
        assert result.evidence.any_size is not None
        assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)


@pytest.mark.parametrize(("sigma", "excess"), [(2.0, 2.0), (0.5, 0.5)])
def test_a_smooth_loss(sigma: float, excess: float) -> None:
    """Noise adds sigma E zeta^2 / 2 = sigma (gamma / epsilon)^2 to sigma (a - y)^2 / 2."""
    mechanism = StableLaplace(epsilon=1.0, r=1)
    b = mechanism.noise.scale
    added = quad(lambda z: sigma * z * z / 2 * math.exp(-z / b) / b, 0, 60 * b)[0]
    assert added == pytest.approx(excess, rel=1e-9)
    assert mechanism.excess_loss_smooth(sigma) == pytest.approx(added, rel=1e-9)
    assert (added <= sigma**2 * (mechanism.rate / mechanism.epsilon) ** 2 + 1e-9) is (sigma >= 1)
    assert mechanism.excess_loss(1.0) == pytest.approx(
        quad(lambda z: z * math.exp(-z / b) / b, 0, 60 * b)[0], rel=1e-9
    )


def test_blocks_of_the_corollary() -> None:
    assert blocks_for(0.1, 0.5) == 40
    for alpha in (0.0, 1.5, math.nan):
        with pytest.raises(InvalidInput, match="alpha"):
            blocks_for(alpha, 1.0)


class Half:
    """A predictor of its own kind: half the share of ones; no update, no pairs, no states."""

    numbers = (0.0, 0.5)
    claims = (PredictionStability(gamma=0.125),)

    def check(self, data: Labelled) -> None:
        assert len(data)

    def prepare(self, data: Labelled) -> float:
        return float(data.y.mean()) / 2

    def distribution(self, state: float, queries: np.ndarray) -> PointLaw:
        return PointLaw(values=np.full(len(queries), state), error=1e-16)


def test_any_predictor() -> None:
    pairs = replace_one(np.zeros((4, 1)), [0, 0, 1, 1])
    for mechanism, exact in (
        (StableLaplace(predictor=Half()), 1.0),
        (NoisyAverageNumber(predictor=Half(), epsilon=0.5), 0.5),
        (StableLaplace(predictor=Half(), gamma=0.25), 0.5),
    ):
        result = audit(mechanism, pairs=pairs, queries=ORIGIN)
        assert result.exact == pytest.approx(exact, rel=1e-12)
    average = Averaged(r=2, predictor=Half())
    assert average.gamma == 0.0625
    assert average.reachable() is None
    assert audit(average, pairs=pairs, queries=ORIGIN).exact == pytest.approx(0.125, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "it has no claims"),
        (StableLaplace(), "claim PredictionStability first"),
        ("a", "module:object"),
    ],
)
def test_what_is_no_predictor(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        StableLaplace(predictor=given)


def test_a_predictor_whose_answers_leave_the_unit_interval() -> None:
    class Wide(Half):
        numbers = (-1.0, 1.0)

    with pytest.raises(InvalidInput, match=r"predictor = .*: must be one that answers in \[0, 1\]"):
        NoisyAverageNumber(predictor=Wide())


def test_a_classifier_as_a_number() -> None:
    boolean = Boolean(learner="majority")
    data = Labelled(np.zeros((3, 1)), np.array([1, 1, 0]))
    state = boolean.prepare(data)
    assert boolean.distribution(state, ORIGIN).values.tolist() == [1.0]
    assert boolean.sample(state, ORIGIN, 2, np.random.default_rng(0)).tolist() == [[1.0], [1.0]]
    assert boolean.claims[0].promised == 1
    noisy, domain = StableLaplace(predictor=boolean, gamma=None), Domain(n=1, points=1)
    assert audit(noisy, claim=DP(epsilon=1.0), mode="exhaustive", domain=domain).exact == 1.0


@pytest.mark.parametrize("epsilon", [1e-10, 1e-4, 1.1e-3, 600.0])
@pytest.mark.parametrize("r", [1, 25])
def test_the_label_at_extreme_epsilon(epsilon: float, r: int) -> None:
    mechanism = NoisyAverage(epsilon=epsilon, r=r, learner="majority")
    verdict = "not refuted" if epsilon > 1e-9 else "inconclusive"  # rounding
    for claim in mechanism.claims:
        assert audit(mechanism, claim=claim).verdict == verdict
    assert 0 < mechanism.exact_loss() < epsilon + 1e-14


@pytest.mark.parametrize(
    ("epsilon", "delta", "share"),
    [
        *((1e-3, 1e-9, 0.1), (1e-10, 1e-15, 0.1), (1e-12, 1e-15, 0.1), (0.5, 1e-12, 0.1)),
        *((0.01, 1e-9, 1 - 1e-6), (1.0, 1e-5, 1 - 1e-6), (50.0, 0.1, 1 - 1e-6)),
    ],
)
def test_gaussian_noise_is_never_too_narrow(epsilon: float, delta: float, share: float) -> None:
    """delta is the integral of the density at t/2 - epsilon/t from 0 to s. Nothing cancels."""

    def density(t: float) -> float:
        return float(norm.pdf(t / 2 - epsilon / t)) if t else 0.0

    s = largest_shift(epsilon, delta)
    found, error = quad(density, 0, s, epsabs=0, epsrel=1e-11, limit=500)
    assert found - error <= delta * (1 + 1e-10)
    assert found >= share * delta
