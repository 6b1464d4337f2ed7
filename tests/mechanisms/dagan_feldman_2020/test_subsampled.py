"""Lemma 5: laws and worst cases by brute force, and where the claims are tight, and what the order
of T has to do with it."""

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
from dpassay.data import Labelled, points
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size, two_sided
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanisms.dagan_feldman_2020.subsampled import Subsampled, amplified
from dpassay.mechanisms.dagan_feldman_2020.subset_laws import count_masses, walk_masses
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.pairs import FlipLabel, Pairs, Replace
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve
from tests.mechanisms.dagan_feldman_2020 import twin_subsampled as twin
from tests.mechanisms.dagan_feldman_2020.twin_subsampled import Law
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as walk
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk_overview as bias
from tests.mechanisms.dwork_feldman_2018 import twin_soft_majority as vote
from tests.mechanisms.test_exhaustive_twins import compare

EPSILON = 0.8
WALK = functools.partial(walk.probability_of_one, epsilon=EPSILON, T=1, ties="sum")
LONG_WALK = functools.partial(walk.probability_of_one, epsilon=EPSILON, T=3, ties="sum")
VOTE = functools.partial(vote.theorem, epsilon=EPSILON, r=2, learner=vote.majority)
DOUBLE = functools.partial(vote.overview, epsilon=EPSILON, r=2, learner=vote.majority)
BIAS = functools.partial(bias.probability_of_one, epsilon=EPSILON, alpha=0.2, ties="sum")
ONE_BLOCK = functools.partial(
    vote.theorem, epsilon=EPSILON, r=1, learner=vote.splitting_at_the_middle
)
CASES = [
    pytest.param("projected-walk,T=1", "random", 4, 2, 2, WALK, id="walk"),
    pytest.param("projected-walk,T=3", "kept", 4, 3, 2, LONG_WALK, id="long-walk"),
    pytest.param("soft-majority,r=2,learner=majority", "random", 4, 2, 2, VOTE, id="vote"),
    pytest.param(
        "soft-majority-overview,r=2,learner=majority", "kept", 4, 2, 2, DOUBLE, id="double-vote"
    ),
    pytest.param("soft-majority,r=2,learner=majority", "kept", 4, 3, 1, VOTE, id="blocks-kept"),
    pytest.param("soft-majority,r=1,learner=tree", "random", 4, 2, 2, ONE_BLOCK, id="one-block"),
    pytest.param("projected-walk-overview,alpha=0.2", "random", 4, 2, 2, BIAS, id="bias"),
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
    assert len(claims) == (
        1 if (base, order) == ("soft-majority,r=2,learner=majority", "kept") and size == 3 else 2
    )


@pytest.mark.parametrize(("n", "size", "T"), [(9, 4, 2), (8, 3, 1), (8, 7, 3), (7, 3, 5)])
def test_the_walk_is_counted_through_ties(n: int, size: int, T: int) -> None:
    rng = np.random.default_rng(n)
    for places in (1, 2, 4, 50):
        X, y = rng.integers(1, places + 1, size=n), rng.integers(2, size=n)
        masses = walk_masses(X.astype(float), y, size, T)
        queries = np.arange(places + 1)
        law = masses.law(queries.astype(float), EPSILON / 2)
        base = functools.partial(walk.probability_of_one, epsilon=EPSILON, T=T, ties="sum")
        data = tuple(zip(X.tolist(), y.tolist(), strict=True))
        expected = [twin.kept(data, int(query), size, base) for query in queries]
        np.testing.assert_allclose(law.p[:, 1], expected, rtol=1e-13, atol=0)
        assert (np.abs(masses.mass.sum(axis=1) - 1) <= masses.error).all()


def test_counts_are_hypergeometric() -> None:
    """5 records, 2 ones, 3 drawn: 1, 6, 3 of 10 subsets have 0, 1, 2 ones, v = -3, -1, 1."""
    np.testing.assert_array_equal(count_masses(5, 2, 3).mass[0], [0.1, 0, 0.6, 0, 0.3, 0, 0])


@pytest.mark.parametrize(
    ("base", "order"),
    [("projected-walk,T=2", "kept"), ("soft-majority,r=5,learner=nearest", "random")],
)
def test_what_is_drawn_is_the_law(base: str, order: str) -> None:
    """For the walk, the quick way against the law. The vote against the walk of the base on every
    subset."""
    rng = np.random.default_rng(5)
    data = Labelled(rng.normal(size=(25, 2)).round(1), rng.integers(2, size=25))
    queries = points(rng.normal(size=(6, 2)), "queries")
    mechanism = Subsampled(
        base=base, order="kept" if order == "kept" else "random", n=25, eta=0.2, epsilon=2.0
    )
    state = mechanism.prepare(data)
    law, draws = (
        mechanism.distribution(state, queries),
        mechanism.sample(state, queries, 30_000, rng),
    )
    assert law is not None
    counts = np.stack([(draws == label).sum(axis=0) for label in (0, 1)], axis=1)
    p_values = two_sided(counts, 30_000, law)
    assert p_values.min() * p_values.size >= 1e-3


@pytest.mark.parametrize("epsilon", [0.1, 0.99, 2.0])
@pytest.mark.parametrize(("n", "r"), [(4, 1), (50, 25)])
def test_single_records_attain_the_amplified_loss_of_the_vote(
    epsilon: float, n: int, r: int
) -> None:
    """ln(1 + eta (e^l - 1)) for the true loss l of r votes, over all datasets of n records."""
    target = resolve(
        "subsampled", {"base": f"soft-majority,r={r}", "n": n, "eta": r / n, "epsilon": epsilon}
    )
    single = any_size(resolve("soft-majority", {"r": r, "epsilon": epsilon}), DP(epsilon=epsilon))
    found = any_size(target, target.claims[-1])
    assert single is not None
    assert found is not None
    assert found.loss == pytest.approx(math.log1p(r / n * math.expm1(single.loss)), rel=1e-12)
    assert found.loss <= target.claims[-1].promised
    case = target.worst_cases()[0]
    own = audit(target.mechanism, claim=target.claims[-1], pairs=case.pairs, queries=case.queries)
    assert own.exact == pytest.approx(found.loss, abs=1e-14)
    assert len(target.claims) == (2 if epsilon < 1 else 1)


def test_one_answer_attains_the_corrected_claim() -> None:
    """The overview's vote of one record loses its epsilon exactly. k of n labels are 1, and one is
    drawn."""
    target = resolve(
        "subsampled", {"base": "soft-majority-overview,r=1", "n": 5, "eta": 0.2, "epsilon": 0.9}
    )
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss == pytest.approx(amplified(0.9, 0.2), abs=1e-14)
    assert set(found.states) in (
        {"1 of 5 labels are 1", "0 of 5 labels are 1"},
        {"4 of 5 labels are 1", "5 of 5 labels are 1"},
    )


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """Answers 1 with probability e^(-epsilon w) / 2. w counts the places among the first k at which
    x is not the place itself."""

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


def test_the_base_that_looks_at_the_order_keeps_its_claim() -> None:
    found = audit(Prefix(epsilon=0.9, k=2), mode="exhaustive", domain=Domain(n=3, points=4))
    assert found.verdict == "verified"


@pytest.mark.parametrize("order", ["kept", "random"])
def test_a_subset_in_the_order_of_the_data_loses_more(order: Any) -> None:
    """x = 1, 2, 3 against 4, 2, 3; two of three are drawn."""
    mechanism = Subsampled(base=Prefix(epsilon=0.9, k=2), epsilon=0.9, n=3, eta=2 / 3, order=order)
    base = Labelled(np.array([[1.0], [2.0], [3.0]]), np.zeros(3, dtype=int))
    pairs = Pairs(
        base=base, changes=(Replace(0, np.array([4.0]), 0),), how="the first record replaced"
    )
    bound = DP(epsilon=amplified(0.9, 2 / 3))
    result = audit(mechanism, claim=bound, pairs=pairs, queries=[[0.0]])
    assert result.verdict == ("refuted" if order == "kept" else "not refuted")
    assert [claim.status for claim in mechanism.claims] == (
        ["printed"] if order == "kept" else ["printed", "corrected"]
    )
    if order == "kept":
        e = math.exp(-0.9)
        assert result.exact == pytest.approx(math.log((1 + e + e * e) / (e + 2 * e * e)), abs=1e-12)


def test_no_base_that_looks_at_the_order_loses_more_in_a_random_one() -> None:
    domain = Domain(n=3, points=4)
    mechanism = Subsampled(base=Prefix(epsilon=0.9, k=2), epsilon=0.9, n=3, eta=2 / 3)
    target = AuditTarget(
        name="subsampled", address=None, parameters={}, mechanism=mechanism, claims=mechanism.claims
    )
    for result in assay([target], None, Settings(mode="exhaustive", domain=domain)):
        assert result.verdict == "verified"


def test_the_claims_follow_those_of_the_base() -> None:
    def facts(**parameters: Any) -> list[Any]:
        claims = Subsampled(n=10, eta=0.2, **parameters).claims
        return [
            (claim.status, claim.promised, claim.delta) for claim in claims if isinstance(claim, DP)
        ]

    assert facts() == [
        ("printed", pytest.approx(0.2), 0.0),
        ("corrected", pytest.approx(math.log1p(0.2 * math.expm1(0.5))), 0.0),
    ]
    doubled = facts(base="soft-majority-overview,r=2", epsilon=0.4)
    assert doubled == [
        ("printed", pytest.approx(0.16), 0.0),
        ("corrected", pytest.approx(math.log1p(0.2 * math.expm1(0.8))), 0.0),
    ]
    noisy = facts(base="stable-gaussian,r=2,delta=0.001")
    assert noisy == [
        ("corrected", pytest.approx(math.log1p(0.2 * math.expm1(0.5))), pytest.approx(0.0002))
    ]
    assert Subsampled(base=ProjectedWalk(epsilon=0.25)).epsilon == 0.25


def test_numbers_are_passed_through_and_sampled() -> None:
    target = resolve("subsampled", {"base": "noisy-average-number,r=2", "n": 8, "eta": 0.5})
    assert target.numbers == (0.0, 1.0)
    data = Labelled(np.zeros((8, 1)), np.arange(8) % 2)
    draws = target.mechanism.sample(
        target.prepare(data), points([[0.0]], "q"), 50, np.random.default_rng(0)
    )
    assert draws.shape == (50, 1)
    assert len(np.unique(draws)) > 10
    assert target.law(target.prepare(data), points([[0.0]], "q"), "S") is None


def test_a_base_with_a_number_of_records_is_told_how_many_it_gets() -> None:
    mechanism = Subsampled(base="subsampled,eta=0.5", n=20, eta=0.5)
    data = Labelled(np.arange(20.0)[:, None], np.arange(20) % 2)
    assert mechanism.prepare(data).data is data
    with pytest.raises(InvalidInput, match="n = 20: must be the number of records, 19"):
        mechanism.check(data.take(slice(19)))


def test_an_update_prepares_only_what_holds_the_record() -> None:
    data = Labelled(np.arange(6.0)[:, None], np.arange(6) % 2)
    mechanism = Subsampled(base="projected-walk-overview", n=6, eta=1 / 3)
    state = mechanism.prepare(data)
    updated = mechanism.update(state, FlipLabel(2))
    assert state.members is not None
    assert updated.members is not None
    same = [one is other for one, other in zip(state.members, updated.members, strict=True)]
    assert same == [2 not in pair for pair in itertools.combinations(range(6), 2)]
