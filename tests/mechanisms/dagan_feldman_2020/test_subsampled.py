"""Lemma 5: laws and worst cases by brute force, where claims are tight, and the order of T."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanisms.dagan_feldman_2020.subsampled import Subsampled, amplified
from dpassay.mechanisms.dagan_feldman_2020.subset_laws import walk_masses
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.pairs import FlipLabel, Pairs, Replace
from dpassay.targets.resolve import resolve
from tests.mechanisms.dagan_feldman_2020 import twin_subsampled as twin
from tests.mechanisms.dagan_feldman_2020.twin_subsampled import Law
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as walk
from tests.mechanisms.dwork_feldman_2018 import twin_soft_majority as vote
from tests.mechanisms.test_exhaustive_twins import compare

EPSILON = 0.8


def walk_of(T: int) -> Law:
    return functools.partial(walk.probability_of_one, epsilon=EPSILON, T=T, ties="sum")


def vote_of(r: int, learner: vote.Learner) -> Law:
    return functools.partial(vote.theorem, epsilon=EPSILON, r=r, learner=learner)


CASES = [
    ("projected-walk,T=1", "random", 3, 2, 2, walk_of(1)),
    ("projected-walk,T=3", "kept", 4, 3, 2, walk_of(3)),
    ("soft-majority,r=2,learner=majority", "random", 3, 2, 2, vote_of(2, vote.majority)),
    ("soft-majority,r=2,learner=majority", "kept", 4, 3, 1, vote_of(2, vote.majority)),
    ("soft-majority,r=1,learner=tree", "random", 3, 2, 2, vote_of(1, vote.splitting_at_the_middle)),
]


@pytest.mark.parametrize(("base", "order", "n", "size", "place", "law"), CASES)
def test_every_law_and_the_worst_case_are_the_twins(
    base: str, order: str, n: int, size: int, place: int, law: Law
) -> None:
    drawn = twin.kept if order == "kept" else twin.shuffled
    parameters = {"base": base, "order": order, "n": n, "eta": size / n, "epsilon": EPSILON}
    mixed = functools.partial(drawn, size=size, base=functools.cache(law))
    results = compare("subsampled", parameters, n, place, mixed)
    for result in results:
        assert result.verdict == "verified" or result.claim.status == "printed"
    claims = [result.claim for result in results]
    assert claims[0].status == "printed"
    assert claims[0].promised == pytest.approx(2 * EPSILON * size / n)
    assert len(claims) == (1 if base.startswith("soft") and order == "kept" else 2)


@pytest.mark.parametrize(("n", "size", "T"), [(9, 4, 2), (8, 7, 3), (7, 3, 5)])
def test_the_walk_is_counted_through_ties(n: int, size: int, T: int) -> None:
    rng = np.random.default_rng(n)
    for places in (1, 2, 4, 50):
        X, y = rng.integers(1, places + 1, size=n), rng.integers(2, size=n)
        masses = walk_masses(X.astype(float), y, size, T)
        queries = np.arange(places + 1)
        law = masses.law(queries.astype(float), EPSILON / 2)
        data = tuple(zip(X.tolist(), y.tolist(), strict=True))
        expected = [twin.kept(data, int(query), size, walk_of(T)) for query in queries]
        np.testing.assert_allclose(law.p[:, 1], expected, rtol=1e-13, atol=0)
        assert (np.abs(masses.mass.sum(axis=1) - 1) <= masses.error).all()


@pytest.mark.parametrize(("epsilon", "n", "r"), [(0.1, 50, 25), (0.99, 4, 1), (2.0, 50, 25)])
def test_single_records_attain_the_amplified_loss_of_the_vote(
    epsilon: float, n: int, r: int
) -> None:
    """ln(1 + eta (e^l - 1)) for the true loss l of r votes, over all datasets of n records."""
    parameters = {"base": f"soft-majority,r={r}", "n": n, "eta": r / n, "epsilon": epsilon}
    target = resolve("subsampled", parameters)
    single = any_size(resolve("soft-majority", {"r": r, "epsilon": epsilon}), DP(epsilon=epsilon))
    found = any_size(target, target.claims[-1])
    assert single is not None
    assert found is not None
    assert found.loss == pytest.approx(math.log1p(r / n * math.expm1(single.loss)), rel=1e-12)
    assert found.loss <= target.claims[-1].promised
    assert len(target.claims) == (2 if epsilon < 1 else 1)


def test_one_answer_attains_the_corrected_claim() -> None:
    """The overview's vote of one record loses its epsilon exactly; k of n labels are 1."""
    parameters = {"base": "soft-majority-overview,r=1", "n": 5, "eta": 0.2, "epsilon": 0.9}
    target = resolve("subsampled", parameters)
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss == pytest.approx(amplified(0.9, 0.2), abs=1e-14)
    assert set(found.states) in (
        {"1 of 5 labels are 1", "0 of 5 labels are 1"},
        {"4 of 5 labels are 1", "5 of 5 labels are 1"},
    )


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """Answers 1 with probability e^(-epsilon w) / 2, w of the first k x not being their place."""

    epsilon: float
    k: int

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon, source="made by hand", status="printed"),)

    def prepare(self, data: Labelled) -> float:
        wrong = (data.X[: self.k, 0] != np.arange(1, self.k + 1)).sum()
        return float(math.exp(-self.epsilon * wrong) / 2)

    def sample(
        self, state: float, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        return (rng.random((size, len(queries))) < state).astype(int)

    def distribution(self, state: float, queries: NDArray[np.float64]) -> FiniteLaw:
        return bernoulli_law(np.full(len(queries), math.log(state / (1 - state))))


def test_a_base_that_looks_at_the_order_loses_no_more_in_a_random_one() -> None:
    base, domain = Prefix(epsilon=0.9, k=2), Domain(n=3, points=2)
    mixed = Subsampled(base=base, epsilon=0.9, n=3, eta=2 / 3)
    for mechanism, claim in ((base, base.claims[0]), *((mixed, each) for each in mixed.claims)):
        found = audit(mechanism, claim=claim, mode="exhaustive", domain=domain)
        assert found.verdict == "verified"


@pytest.mark.parametrize("order", ["kept", "random"])
def test_a_subset_in_the_order_of_the_data_loses_more(order: Any) -> None:
    """x = 1, 2, 3 against 4, 2, 3; two of three are drawn."""
    mechanism = Subsampled(base=Prefix(epsilon=0.9, k=2), epsilon=0.9, n=3, eta=2 / 3, order=order)
    base = Labelled(np.array([[1.0], [2.0], [3.0]]), np.zeros(3, dtype=int))
    pairs = Pairs(base=base, changes=(Replace(0, np.array([4.0]), 0),), how="the first replaced")
    bound = DP(epsilon=amplified(0.9, 2 / 3))
    result = audit(mechanism, claim=bound, pairs=pairs, queries=[[0.0]])
    assert result.verdict == ("refuted" if order == "kept" else "not refuted")
    assert [claim.status for claim in mechanism.claims] == (
        ["printed"] if order == "kept" else ["printed", "corrected"]
    )
    if order == "kept":
        e = math.exp(-0.9)
        assert result.exact == pytest.approx(math.log((1 + e + e * e) / (e + 2 * e * e)), abs=1e-12)


def test_the_claims_follow_those_of_the_base() -> None:
    def facts(**parameters: Any) -> list[Any]:
        claims: Any = Subsampled(n=10, eta=0.2, **parameters).claims
        return [(claim.status, claim.promised, claim.delta) for claim in claims]

    assert facts() == [
        ("printed", pytest.approx(0.2), 0.0),
        ("corrected", pytest.approx(math.log1p(0.2 * math.expm1(0.5))), 0.0),
    ]
    assert facts(base="soft-majority-overview,r=2", epsilon=0.4) == [
        ("printed", pytest.approx(0.16), 0.0),
        ("corrected", pytest.approx(math.log1p(0.2 * math.expm1(0.8))), 0.0),
    ]
    assert facts(base="stable-gaussian,r=2,delta=0.001") == [
        ("corrected", pytest.approx(math.log1p(0.2 * math.expm1(0.5))), pytest.approx(0.0002))
    ]
    assert Subsampled(base=ProjectedWalk(epsilon=0.25)).epsilon == 0.25


def test_a_base_with_a_number_of_records_is_told_how_many_it_gets() -> None:
    mechanism = Subsampled(base="subsampled,eta=0.5", n=20, eta=0.5)
    data = Labelled(np.arange(20.0)[:, None], np.arange(20) % 2)
    assert mechanism.prepare(data).data is data


def test_an_update_prepares_only_what_holds_the_record() -> None:
    data = Labelled(np.arange(6.0)[:, None], np.arange(6) % 2)
    mechanism = Subsampled(base="projected-walk-overview", n=6, eta=1 / 3)
    state = mechanism.prepare(data)
    updated = mechanism.update(state, FlipLabel(2))
    assert state.members is not None
    assert updated.members is not None
    same = [one is other for one, other in zip(state.members, updated.members, strict=True)]
    assert same == [2 not in pair for pair in itertools.combinations(range(6), 2)]
