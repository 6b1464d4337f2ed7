"""The example of section 6.1 against its slow twins: privacy, scores, what holds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from dpassay import DP, Labelled, ScoreStability, audit
from dpassay.errors import InvalidInput
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_exponential import (
    Example61Exponential,
    quantile,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_noisy_max import (
    Example61NoisyMax,
)
from dpassay.pairs import Compared, Replace
from tests.mechanisms.chaudhuri_vinterbo_2013 import twin_example61 as twin

BITS: dict[str, Any] = {"cut": 0.5, "m": 0}
BOTH: tuple[Any, ...] = (Example61Exponential, Example61NoisyMax)


def data_of(records: Any) -> Labelled:
    return Labelled(np.array(records, dtype=float), np.zeros(len(records), dtype=int))


@pytest.mark.parametrize("l", [2, 3])
def test_releases_and_scores_are_the_twins(l: int) -> None:  # noqa: E741
    rng = np.random.default_rng(5)
    for _ in range(100):
        records = [tuple(map(int, rng.integers(2, size=l))) for _ in range(6)]
        alpha, data = float(rng.choice([0.3, 1.0, 4.0])), data_of(records)
        first = Example61Exponential(l=l, n=6, alpha=alpha, **BITS)
        second = Example61NoisyMax(l=l, n=6, alpha=alpha, **BITS)
        R0, R = rng.random((1, 1)), rng.laplace(size=(1, l))
        cases: list[tuple[Any, Any, Any]] = [
            (first, np.concatenate([R0, R], axis=1), twin.f_a),
            (second, R, twin.f_a_prime),
        ]
        for mechanism, string, expected in cases:
            released = mechanism.apply(data, 1.0, string)
            index, t = expected(records, alpha, string[0].tolist())
            assert released.index[0] == index
            np.testing.assert_allclose(released.t[0], t, rtol=0, atol=1e-13)
            assert mechanism.score(released, data)[0][0] == pytest.approx(t[index], abs=1e-13)


@pytest.mark.parametrize("l", [2, 3])
def test_laws_are_the_twins(l: int) -> None:  # noqa: E741
    rng = np.random.default_rng(6)
    records = [tuple(map(int, rng.integers(2, size=l))) for _ in range(5)]
    queries = np.array(list(itertools.product((0.0, 1.0), repeat=l)))
    for kind in BOTH:
        mechanism = kind(l=l, n=5, **BITS)
        law = mechanism.distribution(mechanism.prepare(data_of(records)), queries)
        assert law is not None
        for row, query in zip(law.p, queries, strict=True):
            bits, index = tuple(map(int, query)), kind is Example61Exponential
            for (chosen, *pattern), p in twin.probabilities(records, 1.0, bits, index).items():
                answer = chosen * 2**l + sum(bit << i for i, bit in enumerate(pattern))
                assert row[answer] == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize(("n", "l"), [(2, 2), (3, 2), (2, 3)])
def test_the_own_worst_case_is_the_worst_of_all_datasets(
    n: int,
    l: int,  # noqa: E741
    index: bool,
) -> None:
    mechanism = (Example61Exponential if index else Example61NoisyMax)(l=l, n=n, **BITS)
    result = audit(mechanism, claim=DP(epsilon=1.0), mode="exact")
    assert result.exact == pytest.approx(twin.worst_loss(n, l, 1.0, index), rel=0, abs=1e-12)


def exponential_loss(n: int, l: int, alpha: float) -> float:  # noqa: E741
    """Index: candidate 1 from 0 of n to 1, the others from n to n - 1; and all values by 1/n."""
    w = (l - 1) * math.exp(n * alpha / 4)
    return (
        math.log(math.exp(alpha / 4) * (1 + w) / (math.exp(alpha / 4) + w * math.exp(-alpha / 4)))
        + alpha / 2
    )


@pytest.mark.parametrize(("n", "l"), [(3, 2), (5, 4), (390, 2)])
def test_losses_by_formula(n: int, l: int) -> None:  # noqa: E741
    mechanism = Example61Exponential(n=n, l=l, **BITS)
    both = audit(mechanism, claim=DP(epsilon=1.0), mode="exact").exact
    assert both == pytest.approx(exponential_loss(n, l, 1.0), abs=1e-9)
    index = Example61Exponential(n=n, l=l, release="index", **BITS)
    alone = audit(index, claim=index.claims[1], mode="exact")
    assert alone.exact == pytest.approx(exponential_loss(n, l, 1.0) - 0.5, abs=1e-9)
    assert (alone.claim.promised, alone.verdict) == (0.5, "not refuted")
    noisy = audit(Example61NoisyMax(n=n, l=l, **BITS), claim=DP(epsilon=1.0), mode="exact")
    assert noisy.exact == pytest.approx(1.0, abs=1e-12)
    scales: tuple[Any, ...] = ("printed", "noisy-max")
    corrected = [Example61Exponential(scale=scale).claims[1].promised for scale in scales]
    assert corrected == pytest.approx([0.5 + 1 / math.sqrt(2), 1.5])


@pytest.mark.parametrize("beta1", [0.5, 1.0, 7.0])
@pytest.mark.parametrize("together", [False, True])
def test_shares_of_bad_strings_against_trials(beta1: float, together: bool) -> None:
    """40,000 strings, the changes alone and together; four standard errors."""
    mechanism = Example61Exponential(n=21, **BITS)
    base = data_of([(1, 0)] * 9 + [(0, 1)] * 8 + [(1, 1)] * 3 + [(0, 0)])
    moves = ((0, (0.0, 1.0)), (10, (1.0, 0.0)), (20, (1.0, 1.0)))
    others = [Replace(place, np.array(x), 0) for place, x in moves]
    groups = [tuple(others)] if together else [(other,) for other in others]
    R = mechanism.noise(40_000, np.random.default_rng(7))
    before = mechanism.score(mechanism.apply(base, 1.0, R), base)[0]
    for group in groups:
        bad = np.zeros(len(R), dtype=bool)
        for change in group:
            moved = change.apply(base)
            after = mechanism.score(mechanism.apply(moved, 1.0, R), moved)[0]
            bad |= np.abs(after - before) > beta1 / 21 + 1e-12
        claim = ScoreStability(beta1=beta1, beta2=0.0)
        known = mechanism.bad_share(Compared(base=base, changes=group), claim)
        assert known is not None
        share, error = known
        assert error < 1e-9
        slack = 4 * math.sqrt(share * (1 - share) / len(R)) + 1e-9
        assert bad.mean() == pytest.approx(share, abs=slack)


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6, 1e-12])
def test_the_quantile_is_one(delta: float) -> None:
    """P[|L + X| > q] by quadrature: at most delta, and more a little below."""

    def outside(q: float) -> float:
        density: Any = lambda x: (1 + abs(x)) * math.exp(-abs(x)) / 4 * expit(x - q)  # noqa: E731
        edges = [-80.0, 0.0, q, q + 80.0]
        return 2 * sum(
            quad(density, *ends, epsabs=0, epsrel=1e-11)[0] for ends in itertools.pairwise(edges)
        )

    q = quantile(delta)
    assert outside(q) <= delta < outside(q - 2e-3)


def test_noisy_max_is_stable_with_beta_1_and_no_less() -> None:
    mechanism = Example61NoisyMax(n=50, m=10)
    (claim,) = (claim for claim in mechanism.claims if isinstance(claim, ScoreStability))
    assert audit(mechanism, claim=claim, mode="exact").exact == 0
    less = audit(mechanism, claim=ScoreStability(beta1=0.99, beta2=0.0), budget=1000)
    assert (less.verdict, less.mode) == ("refuted", "monte-carlo")
    assert less.lower > 0.9


def three_winners(counts: tuple[int, ...], alpha: float) -> float:
    """P[i* = 1] for three values with noise of l / alpha = 3 / alpha counts, by quadrature."""
    scale = 3 / alpha

    def integrand(t: float) -> float:
        below = math.prod(twin.above((c - t) / scale) for c in counts[1:])
        return math.exp(-abs(t - counts[0]) / scale) / (2 * scale) * below

    edges = [min(counts) - 60 * scale, *sorted(map(float, set(counts))), max(counts) + 60 * scale]
    return sum(
        quad(integrand, *ends, epsabs=0, epsrel=1e-10)[0] for ends in itertools.pairwise(edges)
    )


def test_the_index_alone_of_three_loses_two_thirds() -> None:
    """2 alpha / l: candidate 1 up and the others down, close to it for many records."""
    mechanism = Example61NoisyMax(l=3, n=20, release="index", **BITS)
    assert [claim.promised for claim in mechanism.claims[:2]] == [1.0, pytest.approx(2 / 3)]
    losses = [
        math.log(three_winners((1, n - 1, n - 1), 1.0) / three_winners((0, n, n), 1.0))
        for n in (3, 20, 100)
    ]
    assert losses == sorted(losses)
    assert 0.6 < losses[-1] < 2 / 3
    assert mechanism.distribution(np.array([1, 2, 3]), np.zeros((1, 3))) is None
    two = Example61NoisyMax(n=20, release="index", **BITS)
    law = two.distribution(np.array([3, 9]), np.zeros((1, 2)))
    assert law is not None
    assert law.p[0, 0] == pytest.approx((2 + 3) / 4 * math.exp(-3), rel=1e-12)


def test_only_changes_of_the_training_records_count() -> None:
    mechanism = Example61Exponential(n=6, m=3, cut=0.5)
    base = data_of([(1, 0), (0, 1), (1, 1), (0, 0), (0, 0), (0, 0)])
    change = mechanism.pairs()[0].pairs.changes[0].at(4)
    compared = Compared(base=base, changes=(change,))
    claim = ScoreStability(beta1=0.0, beta2=0.0)
    for each in (mechanism, Example61NoisyMax(n=6, m=3, cut=0.5)):
        known = each.bad_share(compared, claim)
        assert known is not None
        assert known[0] == 0
    assert Example61Exponential(l=3, n=6, **BITS).bad_share(compared, claim) is None


def test_data_that_do_not_fit() -> None:
    data = Labelled(np.zeros((400, 2)), np.zeros(400, dtype=int))
    for parameters, text in (
        ({"l": 3}, "feature"),
        ({"n": 401}, "n = 401: must be the number of records, 400"),
    ):
        with pytest.raises(InvalidInput, match=text):
            Example61NoisyMax(**parameters).check(data)  # type: ignore[arg-type]
