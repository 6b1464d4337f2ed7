"""Exhaustive mode by symmetry: the numbers of enumeration, and false declarations are caught."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from dpassay.claims import DP, GDP, RDP, Stability, zCDP
from dpassay.data import Labelled
from dpassay.engine.domains import orbits
from dpassay.engine.domains.domain import WHOLE, Domain
from dpassay.engine.domains.orbits import orbit_laws
from dpassay.engine.domains.symmetries import group_of
from dpassay.engine.exhaustive import DomainLaws, all_laws, domain_laws, exhaustive_evidence
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.engine.wording import SYMMETRIES
from dpassay.errors import InvalidInput, TargetError
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.targets.groups import silent
from dpassay.targets.guard import AuditTarget
from tests.core.toys import target_of
from tests.engine.domains.reduced import compare
from tests.engine.domains.symmetric_toys import (
    Symmetric,
    by_count,
    by_first_of_equals,
    by_last,
    by_ones,
    by_place,
)
from tests.engine.recorded import evidence_of


def reduced(target: AuditTarget, domain: Domain, seed: int = 0) -> Any:
    group = group_of(target, domain.sides)
    return orbit_laws(target, domain, group, seed, silent)


LINE = Domain(n=3, points=3)


@pytest.mark.parametrize(
    ("mechanism", "domain"),
    [
        (Symmetric(), LINE),
        (Symmetric(relation="replace-2"), LINE),
        (Symmetric(declared=("points", "labels"), relation="replace-3"), LINE),
        (Symmetric(declared=("points", "labels"), relation="replace-9"), LINE),
        (Symmetric(declared=("reflections",)), LINE),
        (Symmetric(declared=("reflections",), relation="replace-2"), LINE),
        (Symmetric(declared=("turns",), relation="replace-3"), LINE),
        (Symmetric(declared=("turns",)), LINE),
        (Symmetric(declared=("reflections", "coordinates", "labels")), Domain(n=2, points=(2, 2))),
        (Symmetric(declared=("turns",)), Domain(n=2, points=(2, 2))),
        (Symmetric(declared=("points",), labels=(0, 1, 2)), Domain(n=3, points=2)),
        (Symmetric(score=by_ones), LINE),
        (Symmetric(score=by_place), LINE),
    ],
)
def test_the_same_as_dataset_by_dataset(mechanism: Symmetric, domain: Domain) -> None:
    compare(target_of(mechanism), domain)


CLAIMS = (
    DP(epsilon=0.5, delta=0.01), DP(epsilon=0.1, delta=0.3), GDP(mu=0.5), Stability(gamma=0.1),
    zCDP(rho=0.1), RDP(alpha=3.0, epsilon=0.5),
)  # fmt: skip


@pytest.mark.parametrize("score", [by_place, by_ones, by_count])
def test_between_the_outermost_laws_nothing_leaks_more(score: Any) -> None:
    compare(replace(target_of(Symmetric(score=score)), claims=CLAIMS), Domain(n=3, points=(3, 1)))


@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2)])
def test_many_laws_are_read_without_a_memory(
    labels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orbits, "FEW_LAWS", 1)
    monkeypatch.setattr(orbits, "AT_ONCE", 500)
    target = target_of(Symmetric(score=by_place, labels=labels, relation="replace-2"))
    laws = compare(target, LINE)
    assert len(laws.rows) == 19


FALSE = {
    "order: the last record": (by_last, ()),
    "order: among equal points": (by_first_of_equals, ()),
    "points": (by_place, ("points",)),
    "reflections": (by_place, ("reflections",)),
    "coordinates": (by_place, ("coordinates",)),
    "labels": (by_ones, ("labels",)),
    "turns": (by_ones, ("turns",)),
}


@pytest.mark.parametrize(("score", "declared"), FALSE.values(), ids=FALSE)
def test_what_is_declared_falsely_ends_as_an_error(score: Any, declared: tuple[str, ...]) -> None:
    domain = Domain(n=5, points=(2, 2))
    assert domain.datasets > WHOLE
    mechanism = Symmetric(score=score, declared=declared)
    settings = Settings(mode="exhaustive", domain=domain)
    (result,) = assay([target_of(mechanism)], None, settings)
    assert result.verdict == "error"
    assert "declares" in result.outcome.reason
    assert (declared or ("exchangeable",))[0] in result.outcome.reason


def test_every_symmetry_has_a_false_declaration() -> None:
    assert {key for _, declared in FALSE.values() for key in declared} == set(SYMMETRIES)


def test_small_domains_are_enumerated_whatever_is_declared() -> None:
    """Where nothing is to be won nothing is taken on trust."""
    target = target_of(Symmetric(score=by_last, declared=("points",)))
    domain = Domain(n=3, points=3)
    assert domain.datasets <= WHOLE
    assert isinstance(all_laws(target, domain, 0, silent), DomainLaws)


def test_what_was_covered_is_said() -> None:
    """Ten records at two points: 4^10 datasets, 286 multisets, 146 up to an exchange of labels."""
    domain = Domain(n=10, points=2)
    settings = Settings(mode="exhaustive", domain=domain)
    target = target_of(Symmetric(declared=("labels",)))
    (result,) = assay([target], None, settings)
    assert result.verdict == "verified"
    found = evidence_of(result).searched
    assert found["datasets"] == 4**10 > 1_000_000
    assert found["pairs"] == 4**10 * 10 * 3 // 2
    # 286 multisets, of which the exchange keeps those of 5 pairs: C(6, 1)
    assert found["symmetry"] == {
        "representatives": (286 + 6) // 2,
        "laws": 21,
        "compared": found["symmetry"]["compared"],
        "exchangeable": True,
        "symmetries": ["labels"],
        "declared": "tests.engine.domains.symmetric_toys:Symmetric",
        "checked": 146,
    }
    assert 21 <= found["symmetry"]["compared"] <= 21**2
    loss = math.log((1 + math.exp(10 / 4)) / (1 + math.exp(8 / 4)))
    assert result.exact == pytest.approx(loss, abs=1e-12)
    assert (
        "over all 1,048,576 datasets of 10 records over the points 1..2 with labels 0 and 1, "
        "through 146 representatives up to the order of records and an exchange of the labels "
        "(declared; checked on each), is "
    ) in result.outcome.reason


def test_no_more_than_some_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orbits, "CHECKED", 30)
    laws = reduced(target_of(Symmetric()), Domain(n=3, points=3))
    assert (len(laws.numbers), laws.checked) == (math.comb(8, 3), 30)


def test_a_state_is_asked_for_its_law_once() -> None:
    asked: list[int] = []

    @dataclass(frozen=True, kw_only=True)
    class Ones(Symmetric):
        def prepare(self, data: Labelled) -> Any:
            return int(data.y.sum())

        def distribution(self, state: Any, queries: Any) -> FiniteLaw:
            asked.append(state)
            return bernoulli_law(np.full(len(queries), state / 4))

    for laws in (reduced, lambda target, domain: domain_laws(target, domain, silent)):
        asked.clear()
        laws(target_of(Ones()), Domain(n=4, points=2))
        assert sorted(asked) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("mechanism", "n", "points", "message"),
    [
        (Symmetric(exchangeable=False), 20, 1,
         r"1,000,000 datasets, .* allowed if it declares exchangeable records, .* \(toy\)"),
        (Symmetric(), 8, 10,
         "at most 1,000,000 representatives of datasets up to the order of records "),
        (Symmetric(declared=("points",)), 60, 60,
         "or for fewer than 2\\^62 of them up to the order of records, and at most 2,000 "),
        (Symmetric(relation="replace-5"), 7, 10, "at most 1,000,000,000 pairs under 'replace-5'"),
    ],
)  # fmt: skip
def test_domains_that_are_too_large(mechanism: Any, n: int, points: int, message: str) -> None:
    settings = Settings(mode="exhaustive", domain=Domain(n=n, points=points))
    with pytest.raises(InvalidInput, match=message):
        next(assay([target_of(mechanism)], None, settings))


def test_a_broken_declaration_is_the_mechanisms_error() -> None:
    domain = Domain(n=14, points=1)
    settings = Settings(mode="exhaustive", domain=domain)
    good, bad = target_of(Symmetric()), target_of(Symmetric(declared=("mirror",)))
    found = list(assay([bad, good], None, settings))
    assert [each.verdict for each in found] == ["error", "verified"]
    assert "'mirror'" in found[0].outcome.reason
    with pytest.raises(TargetError, match="mirror"):
        domain.planned(bad)
    assert domain.planned(good) == (
        "the laws of 15 representatives of all 16,384 datasets of 14 records over the points 1..1 "
        "with labels 0 and 1, up to the order of records (declared; checked on at most 10,000 of "
        "them)"
    )


def test_no_seed_makes_other_evidence() -> None:
    target, domain = target_of(Symmetric(declared=("turns",))), Domain(n=6, points=3)
    one, other = (
        exhaustive_evidence(target, target.claims[0], domain, reduced(target, domain, seed))
        for seed in (1, 2)
    )
    assert one.searched == other.searched
    assert [cell.exact for cell in one.cells] == [cell.exact for cell in other.cells]
