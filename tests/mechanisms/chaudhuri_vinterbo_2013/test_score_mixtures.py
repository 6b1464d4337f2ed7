"""Fresh coins: the law of the index against sums over random strings and over scores."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.data import Labelled, points
from dpassay.mechanisms.chaudhuri_vinterbo_2013.score_mixtures import (
    Mixture,
    fresh_log_p,
    located,
    mixture_log_p,
    score_mixture,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import selection_log_p
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate import Validate
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate_train import ValidateTrain

Array = NDArray[np.float64]
QUERY = points([[1.0]], "queries")
BASES = [
    "output-perturbation,lambdas=0.1;1,g=ramp",
    "output-perturbation,lambdas=0.3;2,g=hinge,loss=huber",
    "objective-perturbation,lambdas=0.1;1,g=logistic",
    "objective-perturbation,lambdas=0.05;1,g=ramp,loss=huber,oplr=true",
]


def records(seed: int, n: int = 7, m: int = 3) -> Labelled:
    """Mixed labels, one validation record at the origin."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n + m, 1))
    X[-1] = 0.0
    return Labelled(X, rng.integers(2, size=n + m))


def noises(size: int) -> Array:
    """Middle quantiles of standard Laplace noise, each with chance 1 / size."""
    p = (np.arange(size) + 0.5) / size
    return np.where(p < 0.5, np.log(2 * p), -np.log(2 * (1 - p)))[:, None]


def twin(mechanism: Validate, data: Labelled, size: int = 2000) -> Array:
    """P[i wins] for two parameters: a plain sum over pairs of random strings."""
    trainer: Any = mechanism.trainer
    first, second = (
        trainer.score(trainer.apply(data, theta, noises(size)), data)[0] for theta in trainer.thetas
    )
    d = np.subtract.outer(first, second) / mechanism.scale(data)
    behind = np.exp(-np.abs(d)) / 2
    p = float(np.where(d > 0, 1 - behind, behind).mean())
    return np.array([p, 1 - p])


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("half_width", [pytest.param(0.05, marks=pytest.mark.slow), 2.5e-4])
def test_two_parameters_follow_the_sum_over_random_strings(base: str, half_width: float) -> None:
    """Scaled noise 30 times smaller than the scores need makes the index tell much."""
    data = records(3)
    mechanism = Validate(base=base, m=3, coins="fresh", alpha2=30.0)
    trainer, scale = mechanism.trainer, mechanism.scale(data)
    found = fresh_log_p(trainer, data, located(trainer, data), scale, half_width)
    assert found is not None
    log_p, error = found
    assert error <= max(2.01 * half_width, 0.01) + 1e-6
    assert np.abs(log_p - np.log(twin(mechanism, data))).max() <= error + 2e-5


@pytest.mark.parametrize("base", BASES)
def test_bins_hold_the_scores_that_they_stand_for(base: str) -> None:
    """Dvoretzky, Kiefer and Wolfowitz: of the empirical shares of scores."""
    data, size = records(4), 100_000
    trainer: Any = Validate(base=base, m=3).trainer
    found = score_mixture(trainer, data, 1.0, trainer.locate(data, 1.0), 0.01)
    assert found is not None
    assert np.exp(found.log_p).sum() == pytest.approx(1, abs=1e-9)
    assert found.astray <= 1e-15
    R = trainer.noise(size, np.random.default_rng(0))
    drawn, _ = trainer.score(trainer.apply(data, 1.0, R), data)
    slack = math.sqrt(math.log(2 / 1e-6) / (2 * size))
    for t in np.linspace(drawn.min(), drawn.max(), 41):
        share = float((drawn <= t).mean())
        below, above = (
            np.exp(found.log_p[found.values <= t + step]).sum()
            for step in (-found.half_width, found.half_width)
        )
        assert below - slack <= share <= above + slack


def mixture(rng: np.random.Generator, size: int) -> Mixture:
    p = rng.dirichlet(np.ones(size))
    return Mixture(values=np.sort(rng.normal(size=size)), log_p=np.log(p))


@pytest.mark.parametrize(("k", "size"), [(1, 3), (2, 5), (3, 6), (5, 4)])
@pytest.mark.parametrize("scale", [0.03, 20.0])
def test_mixtures_follow_the_sum_over_all_combinations(k: int, size: int, scale: float) -> None:
    rng = np.random.default_rng(k)
    mixtures = [mixture(rng, size) for _ in range(k)]
    expected = np.zeros(k)
    for choice in itertools.product(range(size), repeat=k):
        chance = math.exp(sum(each.log_p[i] for each, i in zip(mixtures, choice, strict=True)))
        q = np.array([each.values[i] for each, i in zip(mixtures, choice, strict=True)])
        expected += chance * np.exp(selection_log_p(q, scale)[0])
    found = mixture_log_p(mixtures, scale)
    assert found is not None
    assert found[1] <= 1e-9
    assert np.abs(found[0] - np.log(expected)).max() <= found[1] + 1e-10


@pytest.mark.parametrize("k", [2, 20])
def test_scores_that_are_certain_have_the_law_of_frozen_strings(k: int) -> None:
    q = 3 * np.random.default_rng(k).normal(size=k)
    found = mixture_log_p([Mixture(values=q[[j]], log_p=np.zeros(1)) for j in range(k)], 0.7)
    expected, error = selection_log_p(q, 0.7)
    assert found is not None
    assert np.abs(found[0] - expected).max() <= found[1] + error
    assert found[1] <= 1e-8


def test_what_is_astray_is_counted() -> None:
    """Two equal scores, a tenth of one anywhere: chances of a half may be wrong by that tenth."""
    sure, vague = (
        Mixture(values=np.zeros(1), log_p=np.zeros(1), astray=astray) for astray in (0.0, 0.1)
    )
    found = mixture_log_p([sure, vague], 1.0)
    assert found is not None
    assert found[1] == pytest.approx(-math.log(0.8), abs=1e-9)
    lost = Mixture(values=np.zeros(1), log_p=np.zeros(1), astray=0.3)
    assert mixture_log_p([sure, lost], 1.0) is None
    assert mixture_log_p([sure] * 21, 1.0) is None


@pytest.mark.parametrize("base", ["output-perturbation,d=2,lambdas=0.1;1", "histogram,n=40"])
def test_more_dimensions_or_too_many_bins_have_no_law(base: str) -> None:
    mechanism: Validate | ValidateTrain = Validate(
        base=BASES[1], m=3, coins="fresh", beta1=1e-7, beta2=1e-7
    )
    assert mechanism.distribution(mechanism.prepare(records(1)), QUERY) is None
    data = Labelled(np.random.default_rng(0).uniform(size=(40, 2)), np.array([0, 1] * 20))
    for mechanism in (
        Validate(base=base, m=3, coins="fresh"),
        ValidateTrain(base=base, m=3, release="index"),
    ):
        assert mechanism.distribution(mechanism.prepare(data), QUERY) is None


def test_a_label_is_that_of_the_chosen_parameter_trained_afresh() -> None:
    """For two parameters: chances of the index times those of a sign among the strings."""
    data, base, size = records(5), "output-perturbation,lambdas=0.1;1", 4000
    mechanism = ValidateTrain(base=base, m=3, alpha2=20.0)
    law = mechanism.distribution(mechanism.prepare(data), points([[0.5], [-0.2], [0.0]], "queries"))
    assert law is not None
    trainer: Any = mechanism.validation.trainer
    index = twin(mechanism.validation, data)
    positive = np.array(
        [(trainer.apply(data, theta, noises(size)) >= 0).mean() for theta in trainer.thetas]
    )
    up = float(index @ positive)
    assert law.p[:, 1] == pytest.approx([up, 1 - up, 1.0], abs=1 / size + 2 * law.error)
    assert law.error <= 1e-3
    vector = ValidateTrain(base=base, m=3, release="vector")
    assert vector.distribution(vector.prepare(data), QUERY) is None


@pytest.mark.parametrize(
    "base",
    ["output-perturbation,lambdas=0.01;0.1;1", "objective-perturbation,lambdas=0.01;0.1;1,g=hinge"],
)
def test_a_law_of_three_parameters_is_close(base: str) -> None:
    mechanism = Validate(base=base, coins="fresh")
    rng = np.random.default_rng(0)
    state = mechanism.prepare(Labelled(rng.normal(size=(400, 1)), rng.integers(2, size=400)))
    law = mechanism.distribution(state, QUERY)
    assert law is not None
    assert law.error <= 1e-3
