"""Group privacy: claims, the worst of k changes by brute force, and the sharp constant."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanisms.dwork_feldman_2018.group import Group, chained_delta, printed_delta
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import FlipLabel, Pairs, Several
from dpassay.targets.resolve import resolve
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as walk
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk_overview as bias
from tests.mechanisms.dwork_feldman_2018 import twin_soft_majority as vote
from tests.mechanisms.dwork_feldman_2018.twin_group import chain, groups_apart, worst_losses

BASES = {
    "soft-majority,r=3,learner=majority": functools.partial(
        vote.theorem, r=3, learner=vote.majority
    ),
    "soft-majority-overview,r=2,learner=majority": functools.partial(
        vote.overview, r=2, learner=vote.majority
    ),
    "projected-walk,T=2": functools.partial(walk.probability_of_one, T=2, ties="sum"),
    "projected-walk-overview,alpha=0.2,ties=index": functools.partial(
        bias.probability_of_one, alpha=0.2, ties="index"
    ),
}


@pytest.mark.parametrize(("base", "k"), list(zip(BASES, (2, 3, 5, 2), strict=True)))
def test_the_worst_of_all_groups_is_the_twins(base: str, k: int) -> None:
    law = functools.cache(functools.partial(BASES[base], epsilon=0.5))
    settings = Settings(mode="exhaustive", domain=Domain(n=3, points=2))
    expected = worst_losses(law, 3, 2, k)
    for result in assay([resolve("group", {"k": k, "base": base, "epsilon": 0.5})], None, settings):
        assert result.evidence is not None
        cells = [
            cell
            for cell in result.evidence.cells
            if result.evidence.groups[cell.group].kind == "domain"
        ]
        losses = [cell.exact.value for cell in cells if cell.exact]
        assert losses == pytest.approx(expected, abs=1e-12)
        assert result.evidence.searched["pairs"] == len(groups_apart(3, 2, k)) / 2
        for cell in cells:
            pairs = result.evidence.groups[cell.group].pairs
            differ = (pairs.base.y != (other := pairs.changes[0].apply(pairs.base)).y) | (
                pairs.base.X != other.X
            )[:, 0]
            assert 1 <= differ.sum() <= k


def sigma(t: float) -> float:
    """1 / (1 + e^-t)."""
    return 1 / (1 + math.exp(-t))


@pytest.mark.parametrize("k", [1, 3, 9])
@pytest.mark.parametrize(("base", "size"), [("soft-majority,r=25", 25), ("projected-walk,T=8", 8)])
def test_worst_case_of_any_size_is_the_hand_formula(base: str, size: int, k: int) -> None:
    """The log-odds rise from -epsilon size / 2 by epsilon per record, up to epsilon size / 2."""
    target = resolve("group", {"k": k, "base": base, "epsilon": 0.4})
    found = any_size(target, target.claims[0])
    expected = math.log(sigma(0.4 * min(size, 2 * k - size) / 2) / sigma(-0.4 * size / 2))
    assert found is not None
    assert found.loss == pytest.approx(expected, abs=1e-12)
    assert ("k replace" in found.argument) == (k > 1)


@pytest.mark.parametrize(("T", "k", "ties"), [(1, 2, "sum"), (2, 2, "index"), (2, 1, "sum")])
def test_k_replacements_move_the_walk_by_anything_up_to_2k(T: int, k: int, ties: str) -> None:
    """The argument `several` of the walk, by brute force. Three records, two points and one beyond
    the query."""
    end = {
        data: walk.walk_end(data, 2, T, ties)
        for data in itertools.product(itertools.product((1, 2, 3), (0, 1)), repeat=3)
    }
    seen = {(end[one], end[other]) for one, other in groups_apart(3, 3, k)}
    ends = range(-T, T + 1)
    assert {pair for pair in seen if pair[0] != pair[1]} == {
        (u, v) for u in ends for v in ends if 0 < abs(u - v) <= 2 * k
    }


def test_without_an_argument_for_several_records_nothing_is_said_of_any_size() -> None:
    for k in (1, 3):
        target = resolve("group", {"base": "projected-walk-overview", "k": k})
        assert target.reachable() is not None
        assert (any_size(target, target.claims[0]) is None) is (k > 1)


def facts(claim: Claim) -> tuple[Any, ...]:
    """Status, relation and numbers."""
    assert isinstance(claim, DP)
    return claim.status, claim.relation, claim.epsilon, claim.delta


def test_the_claims() -> None:
    assert [facts(claim) for claim in Group().claims] == [("printed", "replace-3", 3.0, 0.0)]
    assert [facts(claim) for claim in Group(k=1).claims] == [("printed", "replace-one", 1.0, 0.0)]
    gaussian = Group(k=2, base="stable-gaussian,delta=0.001", epsilon=0.5).claims
    assert [facts(claim) for claim in gaussian] == [
        ("printed", "replace-2", 1.0, pytest.approx(2 * math.exp(0.5) * 0.001)),
        ("corrected", "replace-2", 1.0, pytest.approx((1 + math.exp(0.5)) * 0.001)),
    ]
    assert [facts(claim) for claim in Group(k=2, base="soft-majority-overview").claims] == [
        ("printed", "replace-2", 2.0, 0.0),
        ("corrected", "replace-2", 4.0, 0.0),
    ]
    assert len(Group(k=1, base="stable-gaussian").claims) == 1


def test_what_promises_nothing_any_more_is_left_out() -> None:
    """The optimal composition of three predictions has delta' = 0.01: times e^5.9 it is above 1."""
    assert [claim.promised for claim in Group(k=3, base="interface").claims] == [9.0]
    assert [claim.status for claim in Group(k=12, base="stable-gaussian").claims] == ["corrected"]
    assert Group(k=700).claims[0].promised == 700
    with pytest.raises(InvalidInput, match=r"epsilon = 2.0: must be what the base claims, 0.25"):
        Group(base=SoftMajority(epsilon=0.25), epsilon=2.0)


@given(st.integers(1, 20), st.floats(1e-6, 5), st.floats(0, 1e-3))
def test_the_constants_are_the_lemmas_and_the_twins(k: int, epsilon: float, delta: float) -> None:
    total, slack = chain(k, epsilon, delta)
    assert total == pytest.approx(k * epsilon)
    assert chained_delta(k, epsilon, delta) == pytest.approx(slack, rel=1e-9)
    assert printed_delta(k, epsilon, delta) == pytest.approx(
        k * math.exp(epsilon * (k - 1)) * delta
    )
    assert chained_delta(k, epsilon, delta) <= printed_delta(k, epsilon, delta) * (1 + 1e-12)


@dataclass(frozen=True, kw_only=True)
class TranscriptTests:
    """Answers 1 with probability p_j, j the number of labels 1. p_0 = 0 and p_(j+1) = e^epsilon p_j
    + delta. It keeps off what it claims by a millionth, so that rounding decides nothing."""

    epsilon: float = 0.3
    delta: float = 0.01

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon, delta=self.delta, source="by hand", status="printed"),)

    def prepare(self, data: Labelled) -> float:
        p = 0.0
        for _ in range(int(data.y.sum())):
            p = math.exp(self.epsilon) * p + self.delta * (1 - 1e-6)
        return p

    def sample(
        self, state: float, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        return (rng.random((size, len(queries))) < state).astype(int)

    def distribution(self, state: float, queries: NDArray[np.float64]) -> FiniteLaw:
        if state == 0:
            return FiniteLaw(log_p=np.tile([0.0, -np.inf], (len(queries), 1)), error=0.0)
        return bernoulli_law(np.full(len(queries), math.log(state / (1 - state))))


def test_the_chains_constant_is_sharp() -> None:
    """k labels 1 against none: P[1] is p_k = delta (e^(k epsilon) - 1) / (e^epsilon - 1), or 0."""
    domain = Domain(n=4, points=1)
    assert audit(TranscriptTests(), mode="exhaustive", domain=domain).verdict == "verified"
    for k in (2, 4):
        wrapped = Group(k=k, base=TranscriptTests())
        assert wrapped.epsilon == 0.3
        printed, corrected = wrapped.claims
        assert isinstance(corrected, DP)
        for claim in (printed, corrected):
            result = audit(wrapped, claim=claim, mode="exhaustive", domain=domain)
            assert result.verdict == "verified"
        less = DP(epsilon=700.0, delta=corrected.delta * (1 - 1e-5), relation=corrected.relation)
        assert audit(wrapped, claim=less, mode="exhaustive", domain=domain).exact == math.inf


def test_own_worst_cases_flip_equal_labels_of_one_dataset() -> None:
    rare, frequent = Group(k=3, base="soft-majority,r=7").pairs()
    for case, before in ((rare, 0), (frequent, 2)):
        (change,) = case.pairs.changes
        assert case.pairs.relation == "replace-3"
        ones = case.pairs.base.y.sum(), change.apply(case.pairs.base).y.sum()
        assert ones == (before, before + 3)
    (few,) = Group(k=5, base="projected-walk,T=3").pairs()
    assert few.pairs.changes[0].apply(few.pairs.base).y.tolist() == [1, 1, 1]


def test_pairs_may_be_narrower_than_the_claim_and_no_wider() -> None:
    base, queries = Labelled(np.zeros((5, 1)), np.zeros(5, dtype=int)), [[0.0]]
    one = Pairs(base=base, changes=(FlipLabel(0),), how="one")
    both = Several((FlipLabel(0), FlipLabel(1)))
    two = Pairs(base=base, changes=(both,), how="two", relation="replace-2")
    mechanism = SoftMajority(r=5, learner="majority")
    wide, narrow = DP(epsilon=2.0, relation="replace-2"), DP(epsilon=1.0)
    assert audit(mechanism, claim=wide, pairs=one, queries=queries).verdict == "not refuted"
    found = audit(mechanism, claim=wide, pairs=two, queries=queries)
    assert found.exact == pytest.approx(math.log(sigma(-0.5) / sigma(-2.5)), abs=1e-12)
    with pytest.raises(InvalidInput, match="are neighbours under 'replace-2'; must be under"):
        audit(mechanism, claim=narrow, pairs=two, queries=queries)
    narrowed = audit(Group(k=3, base="soft-majority,r=5"), claim=narrow, pairs=one, queries=queries)
    assert narrowed.evidence is not None
    assert [group.kind for group in narrowed.evidence.groups] == ["data"]
