"""Corollary 1: laws and worst cases by brute force with fractions, and what is claimed of bases."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import Claim
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size
from dpassay.engine.exhaustive import domain_laws
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.bagged import Bagged
from dpassay.mechanisms.dagan_feldman_2020.label_flip import LabelFlip
from dpassay.targets.groups import silent
from dpassay.targets.resolve import resolve
from tests.mechanisms.dagan_feldman_2020 import twin_bagged as twin
from tests.mechanisms.test_exhaustive_twins import exhaust

NOISES = {Fraction(1, 5): 5.0, Fraction(9, 10): 1.2}
"""Probabilities of a flip, and an epsilon for which a half is stable enough."""


def facts(claims: tuple[Claim, ...]) -> list[tuple[str, str, float]]:
    """Kind, status and number."""
    return [(claim.kind, claim.status, claim.promised) for claim in claims]


@pytest.mark.parametrize("alpha", NOISES)
@pytest.mark.parametrize(
    ("base", "vote"),
    [("bagged,r=2,learner=threshold", twin.disjoint), ("bagged,r=2,how=subset", twin.subset)],
)
def test_every_law_and_the_worst_case_are_the_twins(base: str, vote: Any, alpha: Fraction) -> None:
    n, place = 4, 2
    parameters = {"base": base, "alpha": float(alpha), "epsilon": NOISES[alpha], "n": n}

    @functools.cache
    def flipped(dataset: twin.Dataset, query: Any) -> Fraction:
        return twin.flipped(vote(dataset, query, r=2, learner=twin.threshold), alpha)

    places = list(range(1, place + 1))
    laws = domain_laws(resolve("label-flip", parameters), Domain(n=n, points=place), silent)
    every = itertools.product([(x, y) for x in places for y in (0, 1)], repeat=n)
    expected = [[float(flipped(dataset, query)) for query in places] for dataset in every]
    np.testing.assert_allclose(
        np.exp(laws.table).reshape(-1, place, 2)[:, :, 1], expected, rtol=1e-14, atol=0
    )
    worst = twin.worst_changes(flipped, n, places)
    results = exhaust("label-flip", parameters, n, place)
    assert len(results) == 4
    for result in results:
        false = alpha > 0.5 and result.claim.kind == "DP" and result.claim.status == "printed"
        assert result.verdict == ("refuted" if false else "verified")
        assert result.evidence is not None
        found = [cell.exact.value for cell in result.evidence.cells if cell.exact is not None]
        number = [
            float(gamma) if result.claim.kind == "Stability" else loss for gamma, loss in worst
        ]
        assert found == pytest.approx(number, abs=1e-13)
    corrected = [result for result in results if result.claim.status == "corrected"]
    assert [result.exact for result in corrected] == pytest.approx(
        [result.claim.promised for result in corrected], abs=1e-13
    )


@pytest.mark.parametrize(
    ("epsilon", "alpha", "r"),
    [(0.1, 0.4, 50), (3.0, 0.01, 100), (0.5, 0.8, 5), (0.1, 0.9, 23)],
)
def test_votes_attain_the_corrected_claims(epsilon: float, alpha: float, r: int) -> None:
    """Above one half 1/r is at most epsilon alpha / 2, and the printed epsilon is refuted where
    what is attained is above it."""
    attained = math.log1p(abs(2 * alpha - 1) / r / min(alpha, 1 - alpha))
    parameters = {"epsilon": epsilon, "alpha": alpha, "base": f"bagged,r={r}"}
    target = resolve("label-flip", parameters)
    for claim in target.claims:
        result, found = audit(target.mechanism, claim=claim, mode="exact"), any_size(target, claim)
        assert found is not None
        assert result.exact == pytest.approx(found.loss, abs=1e-12)
        if claim.kind == "DP":
            assert result.exact == pytest.approx(attained, abs=1e-12)
        if claim.status == "corrected":
            assert result.exact == pytest.approx(claim.promised, abs=1e-12)
        false = claim.kind == "DP" and claim.status == "printed" and attained > epsilon
        assert result.verdict == ("refuted" if false else "not refuted")
    assert alpha < 0.5 or attained <= loss_above_one_half(epsilon, alpha, 0.5)


def loss_above_one_half(epsilon: float, alpha: float, share: float) -> float:
    """Of a flip with alpha > 1/2 of a label whose probability falls by gamma as printed."""
    return math.log1p((2 * alpha - 1) * share * epsilon * alpha / (1 - alpha))


@pytest.mark.parametrize(
    ("share", "always", "never"), [(0.5, 0.7808, 0.8363), (1.0, 0.7071, 0.7646)]
)
def test_the_domain_of_the_printed_claim(share: float, always: float, never: float) -> None:
    """It holds up to `always` for every epsilon in (0, 1), from `never` on for none."""
    epsilons = [1e-6, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9]
    for alpha in np.arange(5001, 10000) / 10000:
        holds = [loss_above_one_half(epsilon, alpha, share) <= epsilon for epsilon in epsilons]
        assert all(holds) or alpha > always - 1e-4
        assert not all(holds) or alpha < always + 1e-4
        assert any(holds) or alpha > never - 1e-4
        assert not any(holds) or alpha < never + 1e-4
    # alpha (2 alpha - 1) = c (1 - alpha)
    for root, c in ((always, 1 / share), (never, (math.e - 1) / share)):
        assert root == pytest.approx((1 - c + math.sqrt((c - 1) ** 2 + 8 * c)) / 4, abs=5e-5)


def test_the_claims() -> None:
    corollary = LabelFlip(epsilon=1.0, alpha=0.1, base="bagged,r=20").claims
    assert facts(corollary) == [
        ("DP", "printed", 1.0),
        ("Stability", "printed", 0.05),
        ("DP", "corrected", pytest.approx(math.log(1.4))),
        ("Stability", "corrected", pytest.approx(0.04)),
    ]
    overview = LabelFlip(epsilon=1.0, alpha=0.1, base="bagged,r=10", calibration="overview").claims
    assert facts(overview) == [
        ("DP", "printed", 1.0),
        ("DP", "corrected", pytest.approx(math.log(1.8))),
        ("Stability", "corrected", pytest.approx(0.08)),
    ]
    large = LabelFlip(epsilon=30.0, alpha=0.1, base="bagged,r=2").claims
    assert [claim.kind for claim in large] == ["DP", "DP", "Stability"]


def test_the_least_stability_that_is_known_counts() -> None:
    """49 records, one of them is drawn: 1/49 and not 1/25. An object has one of its own."""
    rounded = LabelFlip(epsilon=1.0, alpha=0.1, base="bagged,r=25,how=subset", n=49)
    assert rounded.claims[-1].promised == pytest.approx(0.8 / 49)
    assert LabelFlip(base=Bagged(r=40), alpha=0.1).claims[-1].promised == pytest.approx(0.8 / 40)


def test_a_base_is_given_gamma_n_and_alpha() -> None:
    mechanism: Any = LabelFlip(epsilon=1.0, alpha=0.25, n=60, base="stable-learner,H=intervals")
    base = mechanism.built.mechanism
    assert (base.gamma, base.n, base.alpha, base.H) == (0.125, 60, 0.25, "intervals")
    assert "gamma" not in mechanism.base
    again = resolve("label-flip", {"epsilon": 1.0, "alpha": 0.25, "n": 60, "base": mechanism.base})
    assert again.claims == mechanism.claims


def test_what_is_impossible_becomes_alpha_exactly() -> None:
    law = LabelFlip(base="bagged").flipped(FiniteLaw(log_p=np.array([[0.0, -np.inf]]), error=0.0))
    np.testing.assert_allclose(law.p, [[0.8, 0.2]], rtol=1e-15)
