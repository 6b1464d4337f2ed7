"""Exhaustive mode: the domain, what it enumerates, and how its worst case is named."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.engine.domains.domain import MAX_DATASETS, Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from tests.core.toys import Sampled, TableMechanism, target_of
from tests.engine.recorded import evidence_of

LOPSIDED = ((0.9, 0.1), (0.5, 0.5))


def enumerated(mechanism: Any, domain: Domain) -> Result:
    (result,) = assay([target_of(mechanism)], None, Settings(mode="exhaustive", domain=domain))
    return result


def test_records_queries_and_datasets() -> None:
    domain = Domain(n=2, points=2)
    assert domain.records == (((1,), 0), ((1,), 1), ((2,), 0), ((2,), 1))
    assert domain.queries.tolist() == [[1], [2]]
    data = domain.dataset((1, 2))[0]
    assert (data.X.tolist(), data.y.tolist()) == ([[1], [2]], [1, 0])


@pytest.mark.parametrize(
    ("n", "points", "message"),
    [
        (0, 1, "--n = 0: must be an integer >= 1"),
        (1, 0, "--domain = 0"),
        (1, (), "--domain"),
        (1, (2, 0), "--domain"),
        (1, (2, 1.5), "--domain"),
        (1001, 1, "--n = 1001: must be an integer >= 1 and at most 1,000"),
        (1, 500_001, "--domain = 500001: must be at most 500,000 points"),
    ],
)
def test_domains_that_are_refused(n: int, points: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Domain(n=n, points=points)


def test_a_domain_is_enumerated_up_to_a_million_datasets() -> None:
    target = target_of(TableMechanism(table=LOPSIDED))
    largest, larger = Domain(n=7, points=3), Domain(n=20, points=1)
    assert largest.datasets <= MAX_DATASETS < larger.datasets
    largest.check(target, target.claims[0])
    with pytest.raises(InvalidInput, match="small enough for at most 1,000,000 datasets"):
        larger.check(target, target.claims[0])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_worst_pair_is_where_it_must_be(n: int) -> None:
    """Only the label of record 0 matters, so every worst pair changes it to the other one."""
    result = enumerated(TableMechanism(table=LOPSIDED, epsilon=2.0), Domain(n=n, points=2))
    assert result.verdict == "verified"
    assert result.exact == pytest.approx(math.log(5), abs=1e-12)
    assert len(evidence_of(result).cells) == 2
    for cell in evidence_of(result).cells:
        group = evidence_of(result).groups[cell.group]
        base, change = group.pairs.base, group.pairs.changes[0]
        assert change.index == 0
        assert (int(base.y[0]), int(change.apply(base).y[0])) == (1, 0)
        assert cell.event == (1,)
        assert (cell.p1, cell.p0) == pytest.approx((0.5, 0.1))
    assert [group.queries.tolist() for group in evidence_of(result).groups] == [[[1]], [[2]]]


def test_delta_is_taken_off() -> None:
    result = enumerated(TableMechanism(table=LOPSIDED, delta=0.2), Domain(n=1, points=1))
    assert result.exact == pytest.approx(math.log(0.3 / 0.1), abs=1e-12)
    assert result.verdict == "refuted"


def test_what_has_no_law_cannot_be_enumerated() -> None:
    with pytest.raises(InvalidInput, match=r"exhaustive.*: toy has no exact law"):
        enumerated(Sampled(table=LOPSIDED), Domain(n=1, points=1))


def test_the_mode_needs_a_domain() -> None:
    with pytest.raises(InvalidInput, match="go together"):
        Settings(mode="exhaustive")


@dataclass(frozen=True, kw_only=True)
class Counting:
    """Answers 1 with probability (1 + the number of labels 1) / 10."""

    relation: str

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=2.0, relation=self.relation),)

    def prepare(self, data: Labelled) -> int:
        return int(data.y.sum())

    def sample(self, state: int, queries: Any, size: int, rng: np.random.Generator) -> Any:
        return (rng.random((size, len(queries))) < (1 + state) / 10).astype(int)

    def distribution(self, state: int, queries: Any) -> FiniteLaw:
        p = (1 + state) / 10
        return FiniteLaw(log_p=np.log(np.tile([1 - p, p], (len(queries), 1))), error=1e-15)


@pytest.mark.parametrize(
    ("relation", "k"), [("replace-one", 1), ("replace-2", 2), ("replace-3", 3), ("replace-9", 3)]
)
def test_as_many_records_as_the_claim_speaks_of(relation: str, k: int) -> None:
    """Of three records; ln of 2/10, 3/10 or 4/10 against 1/10. 64 datasets. 9, 27 and 27 neighbours
    at distance 1, 2 and 3."""
    result = enumerated(Counting(relation=relation), Domain(n=3, points=2))
    assert result.verdict == "verified"
    assert result.exact == pytest.approx(math.log(1 + k), abs=1e-12)
    assert evidence_of(result).searched["pairs"] == 64 * [9, 36, 63][k - 1] // 2
    for group in evidence_of(result).groups:
        (change,) = group.pairs.changes
        assert group.pairs.relation == relation
        base = group.pairs.base
        assert {int(base.y.sum()), int(change.apply(base).y.sum())} == {0, k}


def test_what_cannot_be_compared_in_time_is_refused() -> None:
    told = r"--n, --domain = \(6, 4\): must be small enough for .* pairs under 'replace-3'"
    with pytest.raises(InvalidInput, match=told):
        enumerated(Counting(relation="replace-3"), Domain(n=6, points=4))


def test_a_grid_is_enumerated_point_by_point() -> None:
    domain = Domain(n=2, points=(2, 3))
    assert domain.queries.tolist() == [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]]
    assert len(domain.records) == 12
    assert (
        str(domain) == "all datasets of 2 records over the points 1..2 x 1..3 with labels 0 and 1"
    )
    result = enumerated(SoftMajority(r=2, learner="nearest"), domain)
    assert result.verdict == "verified"
    any_size = evidence_of(result).any_size
    assert any_size is not None
    assert result.exact == pytest.approx(any_size.loss, abs=1e-12)


def test_a_domain_that_is_too_small_to_show_it_does_not_verify_a_false_claim() -> None:
    walk, domain = ProjectedWalk(epsilon=1.0, T=8), Domain(n=3, points=1)
    result = audit(walk, claim=DP(epsilon=0.9), mode="exhaustive", domain=domain)
    assert result.verdict == "refuted"
    assert result.lower == pytest.approx(0.969563, abs=1e-6)
    found = evidence_of(result)
    assert found.groups[found.worst.group].kind == "own"
    assert enumerated(walk, domain).verdict == "verified"
