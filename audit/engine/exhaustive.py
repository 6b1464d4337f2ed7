"""Exhaustive mode: every dataset of size n over a small domain, every neighbour, every query.

The true worst case. A domain of up to 10,000 datasets is enumerated dataset by dataset, so that
nothing is taken on trust. A larger one is too, up to a million, unless the mechanism declares that
its records are exchangeable: then by symmetry, see `dpassay.engine.domains.orbits`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpassay.claims import Claim
from dpassay.engine.dataset_laws import LawsOf
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.domains.domain import Domain
from dpassay.engine.domains.every_dataset import DomainLaws, domain_laws
from dpassay.engine.domains.orbits import OrbitLaws, Worst, facts
from dpassay.engine.domains.representatives import orbit_laws
from dpassay.engine.evidence import Evidence
from dpassay.engine.exact import any_size, exact_cell, readable
from dpassay.numerics import whole
from dpassay.pairs import Change, Pairs, Replace, Several
from dpassay.relations import records_replaced
from dpassay.stats.bounds import Bound
from dpassay.stats.methods import EXACT_LAW
from dpassay.targets.groups import PairGroup, Progress
from dpassay.targets.guard import AuditTarget


def all_laws(
    target: AuditTarget,
    domain: Domain,
    seed: int,
    progress: Progress,
    laws_of: LawsOf | None = None,
) -> DomainLaws | OrbitLaws:
    """Compute the law of every dataset of the domain, or of every representative.

    The seed is that of the datasets on which symmetries are checked; `laws_of` may compute the laws
    of many datasets elsewhere. Raise TargetError if there is no exact law, or what the mechanism
    declares is found to be false.
    """
    group = domain.group(target)
    if group is None:
        return domain_laws(target, domain, progress, laws_of)
    return orbit_laws(target, domain, group, seed, progress, laws_of)


def exhaustive_evidence(
    target: AuditTarget, claim: Claim, domain: Domain, laws: DomainLaws | OrbitLaws
) -> Evidence:
    """Find the true worst case of a domain, per query point and over all.

    The evidence has one group, of one pair, for every query: its worst. `laws` are from `laws_of`.
    """
    leaks = readable(target, claim, laws.law)
    k = min(records_replaced(claim.relation), domain.n)
    found, highest, compared = laws.worst(leaks, k)
    # the worst of a query is in a group of its own
    cells = [
        exact_cell(leaks, worst.rows, worst.loss, laws.error, (query, 0, 0, 0))
        for query, worst in enumerate(found)
    ]
    top = max(cells, key=lambda cell: cell.lower.value)
    error = 0.0 if top.exact is None else top.exact.error
    symmetry, where = dict[str, Any](), str(domain)
    if isinstance(laws, OrbitLaws):
        symmetry = {"symmetry": facts(laws, compared, target.declared_in)}
        where = _through(domain, laws)
    return Evidence(
        mode="exhaustive",
        lower=top.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=top,
        groups=tuple(
            _group(domain, query, worst, claim.relation) for query, worst in enumerate(found)
        ),
        sight=DetectionCurve(detectable=claim.promised + error),
        trials=0,
        alpha=0.0,
        searched=_searched(domain, k) | symmetry,
        domain=where,
        any_size=any_size(target, claim),
    )


def _group(domain: Domain, query: int, worst: Worst, relation: str) -> PairGroup:
    pair = Pairs(
        base=domain.dataset(worst.choice)[0],
        changes=(_change(domain, worst),),
        how=str(domain),
        relation=relation,
    )
    asked = domain.queries[query : query + 1]
    return PairGroup(pairs=pair, queries=asked, kind="domain", reason="enumeration")


def _searched(domain: Domain, k: int) -> dict[str, Any]:
    """Return what a record says of the pairs that were looked at."""
    others = len(domain.records) - 1
    changed = sum(math.comb(domain.n, j) * others**j for j in range(1, k + 1))
    pairs = domain.datasets * changed // 2
    return {
        "datasets": domain.datasets,
        "pairs": pairs,
        "queries": len(domain.places),
        "cells": 2 * pairs * len(domain.places),
        "how": [str(domain)],
        "keys": [f"domain:{domain.n}:{'x'.join(map(str, domain.sides))}"],
    }


def _through(domain: Domain, laws: OrbitLaws) -> str:
    """Say which datasets were covered, and by what."""
    checked = "each" if laws.checked == len(laws.numbers) else f"{laws.checked:,} of them"
    return (
        f"all {whole(domain.datasets)} {domain.words}, through {len(laws.numbers):,} "
        f"representatives up to {laws.group.words} (declared; checked on {checked}),"
    )


def _change(domain: Domain, worst: Worst) -> Change:
    """Return what turns the first dataset into the other."""
    changes = []
    for place, (one, other) in enumerate(zip(worst.choice, worst.other, strict=True)):
        if one != other:
            x, y = domain.records[other]
            changes.append(Replace(place, np.array(x, dtype=float), y))
    return changes[0] if len(changes) == 1 else Several(tuple(changes))
