"""A domain reduced by symmetry, held against the same domain dataset by dataset."""

from __future__ import annotations

import pytest

from dpassay.claims import Claim
from dpassay.engine.domains.domain import Domain
from dpassay.engine.domains.orbits import OrbitLaws, orbit_laws
from dpassay.engine.domains.symmetries import group_of
from dpassay.engine.evidence import Evidence
from dpassay.engine.exact import readable
from dpassay.engine.exhaustive import domain_laws, exhaustive_evidence
from dpassay.pairs import one_by_one
from dpassay.targets.groups import silent
from dpassay.targets.guard import AuditTarget

TOLERANCE = 1e-11


def compare(target: AuditTarget, domain: Domain) -> OrbitLaws:
    """Assert that symmetry finds what enumeration finds, and that its witnesses leak as much."""
    group = group_of(target, domain.sides)
    assert target.exchangeable
    full = domain_laws(target, domain, silent)
    laws = orbit_laws(target, domain, group, 0, silent)
    assert laws.checked == len(laws.numbers) == group.orbits(domain.n)
    for claim in (point for each in target.claims for point in each.points):
        found = exhaustive_evidence(target, claim, domain, laws)
        expected = exhaustive_evidence(target, claim, domain, full)
        told = dict(found.searched)
        del told["symmetry"]
        assert told == expected.searched
        losses, others = (
            [cell.exact.value for cell in each.cells if cell.exact is not None]
            for each in (found, expected)
        )
        assert losses == pytest.approx(others, rel=0, abs=TOLERANCE)
        assert found.upper.value == pytest.approx(expected.upper.value, rel=0, abs=TOLERANCE)
        _check_witnesses(target, claim, domain, found)
    return laws


def _check_witnesses(target: AuditTarget, claim: Claim, domain: Domain, found: Evidence) -> None:
    """Compute the leak of each witness anew, from its two datasets."""
    for cell in found.cells:
        group = found.groups[cell.group]
        base, (change,) = group.pairs.base, group.pairs.changes
        assert len(base) == domain.n
        laws = []
        for data in (base, change.apply(base)):
            law = target.law(target.prepare(data), group.queries, "a witness")
            assert law is not None
            laws.append(law)
        leaks = readable(target, claim, laws[0])
        loss = leaks.loss(laws[0].table, laws[1].table, max(each.error for each in laws))
        assert cell.exact is not None
        assert float(loss.value[0]) == pytest.approx(cell.exact.value, rel=0, abs=TOLERANCE)
        assert len({each.index for each in one_by_one(change)}) <= domain.n
