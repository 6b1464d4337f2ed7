"""The mean of votes, noise on it, and the label made from it, against slow twins. Written from the
paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
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
from dpassay.mechanisms.dwork_feldman_2018.stable_gaussian import StableGaussian, largest_shift
from dpassay.mechanisms.dwork_feldman_2018.stable_laplace import StableLaplace

ORIGIN = np.array([[0.0]])
Laws = tuple[dict[int, float], dict[int, float]]


def mean_vote(labels: tuple[int, ...], r: int) -> float:
    """Lemma 4.6 on records at one point. Each block votes with its majority, ties for 0 as the
    learner `majority` has it."""
    votes = [sum(block) * 2 > len(block) for block in (labels[j::r] for j in range(r))]
    return sum(votes) / r


def expected_projection(v: float, b: float) -> float:
    """E of v + Laplace(b) projected to [0, 1], by quadrature."""
    density: Callable[[float], float] = lambda t: math.exp(-abs(t - v) / b) / (2 * b)  # noqa: E731
    inside = sum(
        quad(lambda t: t * density(t), *ends)[0] for ends in ((0, v), (v, 1)) if ends[0] < ends[1]
    )
    above = 0.5 * math.exp(-(1 - v) / b)
    return float(inside + above)


def datasets(n: int, r: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every dataset of n labels at one point with every replacement of one of them."""
    every = list(itertools.product((0, 1), repeat=n))
    return [(one, (*one[:i], 1 - one[i], *one[i + 1 :])) for one in every for i in range(n)]


@pytest.mark.parametrize(("n", "r"), [(3, 1), (4, 2), (5, 2), (6, 3)])
def test_averages_of_all_small_datasets(n: int, r: int) -> None:
    mechanism = Averaged(r=r, learner="majority")
    worst = 0.0
    for one, other in datasets(n, r):
        found = []
        for labels in (one, other):
            data = Labelled(np.zeros((n, 1)), np.array(labels))
            found.append(mechanism.distribution(mechanism.prepare(data), ORIGIN).values[0])
            assert found[-1] == pytest.approx(mean_vote(labels, r), abs=1e-15)
        worst = max(worst, abs(found[0] - found[1]))
    assert worst == pytest.approx(1 / r, abs=1e-15)
    assert audit(mechanism, mode="exhaustive", domain=Domain(n=n, points=1)).verdict == "verified"


def test_an_average_below_the_claim_is_refuted() -> None:
    result = audit(Averaged(r=4, learner="majority"), claim=PredictionStability(gamma=0.2))
    assert result.verdict == "refuted"
    assert result.exact == pytest.approx(0.25, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("r", [1, 2, 5, 25])
def test_the_label_of_the_noisy_vote(epsilon: float, r: int) -> None:
    mechanism = NoisyAverage(epsilon=epsilon, r=r, learner="majority")
    probability = []
    for ones in range(r + 1):
        data = Labelled(np.zeros((r, 1)), (np.arange(r) < ones).astype(int))
        p = mechanism.distribution(mechanism.prepare(data), ORIGIN).p[0]
        assert p[1] == pytest.approx(expected_projection(ones / r, 1 / (r * epsilon)), rel=1e-7)
        assert p.sum() == pytest.approx(1, abs=1e-14)
        probability.append(p)
    ratios = [
        math.log(one[label] / other[label])
        for one, other in [*itertools.pairwise(probability), *itertools.pairwise(probability[::-1])]
        for label in (0, 1)
    ]
    assert max(ratios) == pytest.approx(mechanism.exact_loss(), rel=1e-10)
    assert mechanism.exact_loss() < epsilon
    assert mechanism.claims[1].promised == mechanism.exact_loss()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_exhaustive_domains(n: int) -> None:
    for mechanism in (
        NoisyAverage(r=2, learner="majority"),
        NoisyAverageNumber(r=2, learner="majority"),
        StableLaplace(r=2),
    ):
        for points in (1, 2):
            result = audit(mechanism, mode="exhaustive", domain=Domain(n=n, points=points))
            assert result.verdict == "verified"
            assert result.evidence is not None
            assert result.evidence.any_size is not None
            assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("r", [1, 3, 25])
def test_laplace_noise_is_exactly_as_wide_as_needed(epsilon: float, r: int) -> None:
    for kind in (StableLaplace, NoisyAverageNumber):
        result = audit(kind(epsilon=epsilon, r=r))
        assert result.exact == pytest.approx(epsilon, rel=1e-12)
        assert result.verdict == "not refuted"


def test_the_scale_as_printed() -> None:
    refuted = audit(StableLaplace(epsilon=0.5, r=1, scale="printed"))
    assert refuted.verdict == "refuted"
    assert refuted.exact == pytest.approx(2.0, rel=1e-12)
    noisy = audit(StableLaplace(epsilon=1.0, r=25, scale="printed"))
    assert noisy.exact == pytest.approx(1 / 625, rel=1e-12)


@pytest.mark.parametrize(("sigma", "excess"), [(2.0, 2.0), (0.5, 0.5)])
def test_a_smooth_loss(sigma: float, excess: float) -> None:
    """sigma (a - y)^2 / 2 is sigma-smooth. Noise adds sigma E zeta^2 / 2 = sigma (gamma /
    epsilon)^2 exactly."""
    mechanism = StableLaplace(epsilon=1.0, r=1)
    b = mechanism.noise.scale
    added = quad(lambda z: sigma * z * z / 2 * math.exp(-z / b) / b, 0, 60 * b)[0]
    assert added == pytest.approx(excess, rel=1e-9)
    assert mechanism.excess_loss_smooth(sigma) == pytest.approx(added, rel=1e-9)
    assert (added <= sigma**2 * (mechanism.rate / mechanism.epsilon) ** 2 + 1e-9) is (sigma >= 1)
    assert mechanism.excess_loss(1.0) == pytest.approx(
        quad(lambda z: z * math.exp(-z / b) / b, 0, 60 * b)[0], rel=1e-9
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.1])
def test_gaussian_noise_for_every_epsilon(epsilon: float, delta: float) -> None:
    s = largest_shift(epsilon, delta)
    hockey_stick = norm.cdf(s / 2 - epsilon / s) - math.exp(epsilon) * norm.cdf(
        -s / 2 - epsilon / s
    )
    assert hockey_stick <= delta * (1 + 1e-9)
    assert hockey_stick == pytest.approx(delta, rel=1e-6)
    result = audit(StableGaussian(epsilon=epsilon, delta=delta, r=3))
    assert result.verdict == "not refuted"
    assert result.exact == pytest.approx(epsilon, rel=1e-6)


def test_the_classic_calibration_fails_at_large_epsilon() -> None:
    assert audit(StableGaussian(epsilon=0.9, calibration="classic")).verdict == "not refuted"
    assert audit(StableGaussian(epsilon=10.0, calibration="classic")).verdict == "refuted"


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
    assert (
        audit(
            StableLaplace(predictor=boolean, gamma=None),
            claim=DP(epsilon=1.0),
            pairs=None,
            mode="exhaustive",
            domain=Domain(n=1, points=1),
        ).exact
        == 1.0
    )


@pytest.mark.parametrize("epsilon", [1e-10, 1e-4, 1.1e-3, 30.0, 600.0])
@pytest.mark.parametrize("r", [1, 3, 25])
def test_the_label_at_extreme_epsilon(epsilon: float, r: int) -> None:
    mechanism = NoisyAverage(epsilon=epsilon, r=r, learner="majority")
    for claim in mechanism.claims:
        # rounding
        assert audit(mechanism, claim=claim).verdict == (
            "not refuted" if epsilon > 1e-9 else "inconclusive"
        )
    assert 0 < mechanism.exact_loss() < epsilon + 1e-14


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-3, 1e-9), (1e-10, 1e-15), (1e-12, 1e-15), (0.5, 1e-12)]
)
def test_gaussian_noise_is_never_too_narrow(epsilon: float, delta: float) -> None:
    """delta is the integral of the normal density at t/2 - epsilon/t for t from 0 to s. Nothing
    cancels there."""
    s = largest_shift(epsilon, delta)
    found, error = quad(
        lambda t: norm.pdf(t / 2 - epsilon / t) if t else 0.0,
        0,
        s,
        epsabs=0,
        epsrel=1e-11,
        limit=500,
    )
    assert found - error <= delta * (1 + 1e-10)
    assert found >= 0.1 * delta
