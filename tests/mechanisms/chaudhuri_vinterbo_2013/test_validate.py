"""Algorithms 1 and 2 and the alternatives, against naive sums and a trainer worked out by hand."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.claims import DP, Claim, ScoreStability
from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput
from dpassay.mechanisms.chaudhuri_vinterbo_2013.control import Control
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import selection_log_p
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate import Validate, sample_one
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate_train import ValidateTrain
from dpassay.pairs import FlipLabel
from dpassay.targets.resolve import resolve

Array = NDArray[np.float64]
QUERY = points([[1.0]], "queries")


@dataclass(frozen=True, kw_only=True)
class Share:
    """Releases theta times the share of ones in T, which is the score too. Noise moves nothing."""

    alpha: float = 1.0
    m: int = 1
    delta: float = 0.01
    thetas: tuple[float, ...] = (1.0, -1.0)
    claims: tuple[Claim, ...] = (ScoreStability(beta1=1.0, beta2=1.0), DP(epsilon=1.0))

    def check(self, data: Labelled) -> None:
        """Take everything."""

    def sizes(self, data: Labelled) -> tuple[int, int]:
        return len(data) - self.m, self.m

    def noise(self, size: int, rng: np.random.Generator) -> Array:
        return rng.random((size, 1))

    def apply(self, data: Labelled, theta: float, R: Array) -> Array:
        return np.full((len(R), 1), theta * float(data.y[: len(data) - self.m].mean()))

    def score(self, trained: Array, data: Labelled) -> tuple[Array, float]:
        return trained[:, 0], 0.0

    def margins(self, trained: Array, X: Array) -> Array:
        found: Array = trained @ X[:, :1].T
        return found


def line(n: int, ones: int, m: int = 1) -> Labelled:
    """n training records, some with label 1, and m of validation with label 1."""
    return Labelled(np.ones((n + m, 1)), np.array([1] * ones + [0] * (n - ones) + [1] * m))


def test_the_index_follows_scores_with_exponential_noise() -> None:
    """Scores 1/2 and -1/2 at scale 2 beta / alpha_2 with beta = max(1/4, 1/1) = 1."""
    mechanism = Validate(base=Share(), alpha2=0.5, m=1)
    data = line(4, 2)
    law = mechanism.distribution(mechanism.prepare(data), QUERY)
    assert law is not None
    assert mechanism.scale(data) == pytest.approx(4.0)
    assert law.p[0, 1] == pytest.approx(math.exp(-1 / 4.0) / 2, abs=1e-12)


RUNS = 600
LEVEL = 1e-3


def test_the_law_is_that_of_algorithm_1_as_printed_and_not_with_half_the_noise() -> None:
    """Exact binomial regions for the number of runs of `sample_one` that choose each index."""
    base, alpha2 = "output-perturbation,lambdas=0.1;1;10", 3.0
    mechanism = Validate(base=base, coins="fresh", m=4, alpha1=2.0, alpha2=alpha2)
    X = np.linspace(-1, 1, 24)[:, None]
    data = Labelled(X, (X[:, 0] + 0.3 * np.sin(40 * X[:, 0]) > 0).astype(int))
    law, wrong = (
        each.distribution(each.prepare(data), QUERY)
        for each in (mechanism, replace(mechanism, alpha2=2 * alpha2))
    )
    assert law is not None
    assert wrong is not None
    beta1, beta2 = mechanism.betas
    rng = np.random.default_rng(15)
    given: dict[str, Any] = {"beta1": beta1, "beta2": beta2, "alpha2": alpha2, "rng": rng}
    counts = np.bincount(
        [sample_one(mechanism.trainer, data, **given) for _ in range(RUNS)],
        minlength=len(mechanism.labels),
    )
    share = LEVEL / (2 * len(counts))

    def inside(p: Array) -> NDArray[np.bool_]:
        tails = np.minimum(binom.cdf(counts, RUNS, p), binom.sf(counts - 1, RUNS, p))
        return np.asarray(tails > share)

    assert inside(law.p[0]).all()
    assert not inside(wrong.p[0]).all()


def test_fresh_coins_have_the_same_law_where_noise_moves_nothing() -> None:
    fresh, frozen = (Validate(base=Share(), m=1, coins=coins) for coins in ("fresh", "frozen"))
    data, size = line(4, 3), 40_000
    drawn = fresh.sample(fresh.prepare(data), QUERY, size, np.random.default_rng(0)).mean()
    law = frozen.distribution(frozen.prepare(data), QUERY)
    assert law is not None
    assert fresh.distribution(fresh.prepare(data), QUERY) is None
    assert drawn == pytest.approx(law.p[0, 1], abs=5 * 0.5 / math.sqrt(size))


def test_theorem_3_the_chosen_score_is_close_to_the_best() -> None:
    """P[q(h_i*) < max q - 2 beta ln(k / delta_0) / alpha_2] <= delta_0."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        k, scale = int(rng.integers(2, 12)), float(rng.uniform(0.1, 3))
        q = rng.normal(size=k)
        p = np.exp(selection_log_p(q, scale)[0])
        for delta_0 in (0.5, 0.1, 0.01):
            far = q < q.max() - scale * math.log(k / delta_0)
            assert p[far].sum() <= delta_0


def test_a_changed_validation_record_trains_nothing_again() -> None:
    trained: list[int] = []

    class Counting(Share):
        def apply(self, data: Labelled, theta: float, R: Array) -> Array:
            trained.append(1)
            return super().apply(data, theta, R)

    mechanism = Validate(base=Counting(), m=1)
    state = mechanism.prepare(line(4, 2))
    assert len(trained) == 2
    mechanism.update(state, FlipLabel(4))
    assert len(trained) == 2
    mechanism.update(state, FlipLabel(0))
    assert len(trained) == 4


def signs(trainer: Any, data: Labelled, theta: float, size: int, seed: int) -> float:
    """Share of positive weights among many that are trained."""
    noise = trainer.noise(size, np.random.default_rng(seed))
    return float((trainer.apply(data, theta, noise)[:, 0] >= 0).mean())


@pytest.mark.parametrize("name", ["alpha-split", "data-split", "random-choice"])
def test_choices_follow_the_naive_sum_over_signs(name: str) -> None:
    """Errors depend on signs alone: their chance times that of the choice, one by one."""
    base, m, size = "objective-perturbation,oplr=true,lambdas=0.2;1", 3, 20_000
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-1, 1, size=(11, 1)), rng.integers(2, size=11)
    data = Labelled(X, y)
    n, k = 8, 2
    parts = [
        [i + j * k for j in range(n // k)] if name == "data-split" else list(range(n))
        for i in range(k)
    ]
    alpha = 0.5 if name == "alpha-split" else 1.0
    trainer = ObjectivePerturbation(oplr=True, alpha=alpha, m=m)
    subsets = [
        Labelled(np.concatenate([X[part], X[n:]]), np.concatenate([y[part], y[n:]]))
        for part in parts
    ]
    up = [
        signs(trainer, subset, theta, size, i)
        for i, (subset, theta) in enumerate(zip(subsets, (0.2, 1.0), strict=True))
    ]
    expected = {release: np.zeros((2, 2)) for release in ("prediction", "index")}
    for pattern in itertools.product((-1, 1), repeat=k):
        chance = math.prod(up[i] if sign > 0 else 1 - up[i] for i, sign in enumerate(pattern))
        errors = [
            sum((sign * x >= 0) != (label == 1) for x, label in zip(X[n:, 0], y[n:], strict=True))
            for sign in pattern
        ]
        odds = [1.0 if name == "random-choice" else math.exp(-each / 2) for each in errors]
        for i, sign in enumerate(pattern):
            for row, x in enumerate((0.7, -0.4)):
                p = chance * odds[i] / sum(odds)
                expected["index"][row, i] += p
                expected["prediction"][row, int(sign * x >= 0)] += p
    queries = points([[0.7], [-0.4]], "queries")
    for release, table in expected.items():
        mechanism: Any = resolve(name, {"release": release, "base": base, "m": m}).mechanism
        law = mechanism.distribution(mechanism.prepare(data), queries)
        np.testing.assert_allclose(law.p, table, atol=4 * k * 0.5 / math.sqrt(size))


def test_algorithm_2_trains_with_the_parameter_that_algorithm_1_chose() -> None:
    """Label 1 for the first parameter, label 0 for the second."""
    mechanism = ValidateTrain(base=Share(), m=1)
    data, size = line(4, 4), 40_000
    state = mechanism.prepare(data)
    labels = mechanism.sample(state, QUERY, size, np.random.default_rng(0)).mean()
    chosen = Validate(base=Share(), m=1)
    law = chosen.distribution(chosen.prepare(data), QUERY)
    assert law is not None
    assert labels == pytest.approx(law.p[0, 0], abs=5 * 0.5 / math.sqrt(size))
    assert (mechanism.claims[0].epsilon, mechanism.claims[0].delta) == (2.0, 0.01)  # type: ignore[union-attr]


def test_control_takes_the_best_score() -> None:
    mechanism = Control(base=Share(thetas=(-1.0, 1.0)), m=1)
    state = mechanism.prepare(line(4, 2))
    assert (mechanism.sample(state, QUERY, 9, np.random.default_rng(0)) == 1).all()


def test_any_trainer_with_a_score_is_validated_but_only_weights_are_released() -> None:
    """Over the histogram, with the noise that Theorem 6 asks for."""
    base = "histogram,n=300"
    mechanism = Validate(base=base, m=4)
    (printed, _) = (
        claim for claim in mechanism.trainer.claims if isinstance(claim, ScoreStability)
    )
    assert mechanism.betas == (printed.beta1, printed.beta2)
    data = Labelled(np.linspace(-2, 25, 300)[:, None], np.zeros(300, dtype=int))
    law = mechanism.distribution(mechanism.prepare(data), QUERY)
    assert law is not None
    assert law.p.shape == (1, len(mechanism.labels))
    index = ValidateTrain(base=base, m=4, release="index")
    drawn = index.sample(index.prepare(data), QUERY, 3, np.random.default_rng(0))
    assert drawn.shape == (3, 1)
    with pytest.raises(InvalidInput, match="margins"):
        ValidateTrain(base=base, m=4)


def test_there_must_be_records_to_train_on() -> None:
    with pytest.raises(InvalidInput, match="m = 5"):
        Validate(base=Share(m=5), m=5).check(line(0, 0, 5))
