"""The example of section 6.1 against its slow twins. Privacy, what the exponential mechanism does
to the score, what holds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit

from dpassay import DP, Domain, Labelled, ScoreStability, audit
from dpassay.errors import InvalidInput
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61 import (
    difference_outside,
    logistic_between,
)
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


def data_of(records: Any) -> Labelled:
    return Labelled(np.array(records, dtype=float), np.zeros(len(records), dtype=int))


def printed_share(n: float, alpha: float) -> float:
    """The bound on delta in section 6.1."""
    e, a = math.exp(n * alpha / 8), math.exp(alpha / 2)
    return e * (a - 1) / ((e + 1) * (e + a))


@pytest.mark.parametrize("l", [2, 3])
def test_releases_and_scores_are_the_twins(l: int) -> None:  # noqa: E741
    rng = np.random.default_rng(5)
    for _ in range(100):
        records = [tuple(map(int, rng.integers(2, size=l))) for _ in range(6)]
        alpha, data = float(rng.choice([0.3, 1.0, 4.0])), data_of(records)
        first, second = (
            Example61Exponential(l=l, n=6, alpha=alpha, **BITS),
            Example61NoisyMax(l=l, n=6, alpha=alpha, **BITS),
        )
        R0, R = rng.random((1, 1)), rng.laplace(size=(1, l))
        cases: list[tuple[Any, Any, Any]] = [
            (first, np.concatenate([R0, R], axis=1), twin.f_a), (second, R, twin.f_a_prime),
        ]  # fmt: skip
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
    for index, mechanism in (
        (True, Example61Exponential(l=l, n=5, **BITS)),
        (False, Example61NoisyMax(l=l, n=5, **BITS)),
    ):
        law = mechanism.distribution(mechanism.prepare(data_of(records)), queries)
        assert law is not None
        for row, query in zip(law.p, queries, strict=True):
            for (chosen, *pattern), p in twin.probabilities(
                records, 1.0, tuple(map(int, query)), index
            ).items():
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


def test_exhaustive_mode_finds_nothing_against_the_printed_claims() -> None:
    for mechanism in (
        Example61Exponential(n=3, m=0, cut=1.5),
        Example61NoisyMax(n=3, m=0, cut=1.5),
    ):
        result = audit(
            mechanism,
            claim=mechanism.claims[0],
            mode="exhaustive",
            domain=Domain(n=3, points=(2, 2)),
        )
        assert result.verdict == "not refuted"  # of thresholds of the t_i
        assert result.exact == pytest.approx(
            audit(mechanism, claim=mechanism.claims[0], mode="exact").exact, abs=1e-12
        )


def exponential_loss(n: int, l: int, alpha: float) -> float:  # noqa: E741
    """Index: candidate 1 from 0 of n to 1 of n, the others from n to n - 1. And all values by 1/n,
    away from all others."""
    w = (l - 1) * math.exp(n * alpha / 4)
    return (
        math.log(math.exp(alpha / 4) * (1 + w) / (math.exp(alpha / 4) + w * math.exp(-alpha / 4)))
        + alpha / 2
    )


@pytest.mark.parametrize(("n", "l"), [(3, 2), (20, 2), (5, 4), (390, 2)])
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


@pytest.mark.parametrize(("scale", "each"), [("printed", 1 / math.sqrt(2)), ("noisy-max", 1.0)])
def test_other_noise_breaks_the_claim(scale: Any, each: float) -> None:
    mechanism = Example61Exponential(n=400, m=10, scale=scale)
    printed, corrected = mechanism.claims
    assert audit(mechanism, claim=printed, mode="exact").verdict == "refuted"
    assert audit(mechanism, claim=corrected, mode="exact").verdict == "not refuted"
    assert corrected.promised == pytest.approx(0.5 + each)


@pytest.mark.parametrize("beta1", [0.5, 1.0, 3.0, 7.0])
@pytest.mark.parametrize("together", [False, True])
def test_shares_of_bad_strings_against_trials(beta1: float, together: bool) -> None:
    """40,000 strings, the changes alone and together; four standard errors."""
    mechanism = Example61Exponential(n=21, **BITS)
    base = data_of([(1, 0)] * 9 + [(0, 1)] * 8 + [(1, 1)] * 3 + [(0, 0)])
    others = [
        Replace(place, np.array(x), 0)
        for place, x in ((0, (0.0, 1.0)), (10, (1.0, 0.0)), (20, (1.0, 1.0)))
    ]
    groups = [tuple(others)] if together else [(other,) for other in others]
    R = mechanism.noise(40_000, np.random.default_rng(7))
    before = mechanism.score(mechanism.apply(base, 1.0, R), base)[0]
    for group in groups:
        bad = np.zeros(len(R), dtype=bool)
        for change in group:
            moved = change.apply(base)
            bad |= (
                np.abs(mechanism.score(mechanism.apply(moved, 1.0, R), moved)[0] - before)
                > beta1 / 21 + 1e-12
            )
        known = mechanism.bad_share(
            Compared(base=base, changes=group), ScoreStability(beta1=beta1, beta2=0.0)
        )
        assert known is not None
        share, error = known
        assert error < 1e-9
        assert bad.mean() == pytest.approx(
            share, abs=4 * math.sqrt(share * (1 - share) / len(R)) + 1e-9
        )


@pytest.mark.parametrize("n", [10, 100, 390])
def test_the_share_of_section_6_1(n: int) -> None:
    """The printed pair: the index moves for the printed share of R_0. The score by more than 1/3
    for most of those."""
    mechanism = Example61Exponential(n=n, **BITS)
    case = mechanism.pairs()[1]
    assert case.pairs.base.X.shape == (n, 2)
    np.testing.assert_array_equal(mechanism.prepare(case.pairs.base), [n, n // 2])
    np.testing.assert_array_equal(
        mechanism.prepare(case.pairs.changes[0].apply(case.pairs.base)), [n - 1, n // 2 + 1]
    )
    known = mechanism.bad_share(
        Compared(base=case.pairs.base, changes=case.pairs.changes),
        ScoreStability(beta1=n / 3, beta2=0.0),
    )
    assert known is not None
    # |t_1 - t_2'| >= 1/3, where t_1 - t_2' = 1/2 - 1/n + 4 X / (alpha n)
    gap = n / 2 - 1
    inside = difference_outside((-n / 3 - gap) / 4, (n / 3 - gap) / 4)
    assert known[0] == pytest.approx(printed_share(n, 1.0) * inside, rel=1e-9)


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


def test_differences_of_laplace_and_logistic_numbers() -> None:
    assert difference_outside(-math.inf, math.inf) == 0
    assert difference_outside(-1.0, 1.0) == pytest.approx(1.5 * math.exp(-1))
    assert difference_outside(1.0, 2.0) == pytest.approx(1 - 0.75 * math.exp(-1) + math.exp(-2))
    assert logistic_between(-math.inf, math.inf) == 1
    assert logistic_between(-50.0, -49.0) == pytest.approx(math.exp(-49) - math.exp(-50), rel=1e-12)
    assert logistic_between(logit(0.2), logit(0.7)) == pytest.approx(0.5, abs=1e-15)


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
    """2 alpha / l: candidate 1 up and the others down. Close to it for many records, never
    above."""
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
    change = Example61Exponential(n=6, m=3, cut=0.5).pairs()[0].pairs.changes[0].at(4)
    for each in (mechanism, Example61NoisyMax(n=6, m=3, cut=0.5)):
        known = each.bad_share(
            Compared(base=base, changes=(change,)), ScoreStability(beta1=0.0, beta2=0.0)
        )
        assert known is not None
        assert known[0] == 0
    assert Example61Exponential(l=3, n=6, **BITS).bad_share(
        Compared(base=base, changes=(change,)), ScoreStability(beta1=0.0, beta2=0.0)
    ) is None  # fmt: skip


def test_data_that_do_not_fit() -> None:
    data = Labelled(np.zeros((400, 2)), np.zeros(400, dtype=int))
    for parameters, text in (
        ({"l": 3}, "feature"),
        ({"n": 401}, "n = 401: must be the number of records, 400"),
    ):
        with pytest.raises(InvalidInput, match=text):
            Example61NoisyMax(**parameters).check(data)  # type: ignore[arg-type]
