"""Exhaustive mode: every dataset of size n over a small domain, every neighbour, every query.

The true worst case. A domain of up to 10,000 datasets is enumerated dataset by dataset, so that
nothing is taken on trust. A larger one is too, up to a million, unless the mechanism declares that
its records are exchangeable: then by symmetry, see `dpassay.engine.domains.orbits`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.dataset_laws import LawsOf, StateLaws
from dpassay.engine.domains.domain import Domain
from dpassay.engine.domains.orbits import OrbitLaws, Worst, orbit_laws
from dpassay.engine.evidence import DetectionCurve, Evidence
from dpassay.engine.exact import any_size, exact_cell, readable
from dpassay.engine.readings import Leaks
from dpassay.laws import Law
from dpassay.numerics import whole
from dpassay.pairs import Change, Pairs, Replace, Several
from dpassay.relations import records_replaced
from dpassay.stats.bounds import Bound, Computed
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
    others = len(domain.records) - 1
    changed = sum(math.comb(domain.n, j) * others**j for j in range(1, k + 1))
    pairs = domain.datasets * changed // 2
    searched: dict[str, Any] = {
        "datasets": domain.datasets,
        "pairs": pairs,
        "queries": len(domain.places),
        "cells": 2 * pairs * len(domain.places),
        "how": [str(domain)],
        "keys": [f"domain:{domain.n}:{'x'.join(map(str, domain.sides))}"],
    }
    where = str(domain)
    if isinstance(laws, OrbitLaws):
        number = len(laws.numbers)
        searched["symmetry"] = {
            "representatives": number,
            "laws": len(laws.rows),
            "compared": compared,
            "exchangeable": True,
            "symmetries": list(laws.group.keys),
            "declared": target.declared_in,
            "checked": laws.checked,
        }
        checked = "each" if laws.checked == number else f"{laws.checked:,} of them"
        where = (
            f"all {whole(domain.datasets)} {domain.words}, through {number:,} "
            f"representatives up to {laws.group.words} (declared; checked on {checked}),"
        )
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
        searched=searched,
        domain=where,
        any_size=any_size(target, claim),
    )


def _group(domain: Domain, query: int, worst: Worst, relation: str) -> PairGroup:
    """Return the worst pair of a query, with the change that turns one dataset into the other."""
    changes: list[Change] = []
    for place, (one, other) in enumerate(zip(worst.choice, worst.other, strict=True)):
        if one != other:
            x, y = domain.records[other]
            changes.append(Replace(place, np.array(x, dtype=float), y))
    pairs = Pairs(
        base=domain.dataset(worst.choice)[0],
        changes=(changes[0] if len(changes) == 1 else Several(tuple(changes)),),
        how=str(domain),
        relation=relation,
    )
    asked = domain.queries[query : query + 1]
    return PairGroup(pairs=pairs, queries=asked, kind="domain", reason="enumeration")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DomainLaws:
    """Laws of every dataset of a domain at every query.

    The table (R, ..., R, q, K) has one axis per record of the dataset, R = 2 x points; then the
    query, and what `Law.table` has.
    """

    table: NDArray[np.float64]
    error: float  # bound on the numerical error of each entry
    law: Law  # of the first dataset: what the table means

    def worst(self, leaks: Leaks, k: int) -> tuple[list[Worst], float, int]:
        """Find the worst neighbours of each query; see `OrbitLaws.worst`.

        Every ordered pair of datasets that differ in k records or fewer differs along k axes of the
        table, so for each k axes each slice is compared with all slices and both directions are
        covered.
        """
        *sizes, queries, _ = self.table.shape
        worst: dict[int, Worst] = {}
        best, highest = np.full(queries, -np.inf), -np.inf
        values = list(itertools.product(range(sizes[0]), repeat=k))
        for axes in itertools.combinations(range(len(sizes)), k):
            front = np.moveaxis(self.table, axes, range(k))
            table = front.reshape(-1, *front.shape[k:])
            for one, given in enumerate(values):
                loss = leaks.loss(np.broadcast_to(table[one], table.shape), table, self.error)
                highest = max(highest, float(np.max(loss.value + loss.error)))
                certain = loss.certain.copy()
                certain[one] = -np.inf  # the dataset itself
                for query in range(queries):
                    seen = certain[..., query]
                    other, *place = (int(i) for i in np.unravel_index(np.argmax(seen), seen.shape))
                    cell = (other, *place, query)
                    value, error = float(loss.value[cell]), float(loss.error[cell])
                    if query in worst and not value - error > best[query]:
                        continue
                    best[query] = value - error
                    mine, theirs = (_filled(axes, each, place) for each in (given, values[other]))
                    worst[query] = Worst(
                        loss=Computed(value=value, error=error, least=leaks.least),
                        choice=mine,
                        other=theirs,
                        rows=(self.table[mine][query], self.table[theirs][query]),
                    )
        return [worst[query] for query in range(queries)], highest, 0


def domain_laws(
    target: AuditTarget, domain: Domain, progress: Progress, laws_of: LawsOf | None = None
) -> DomainLaws:
    """Compute the law of every dataset of the domain at every query."""
    sizes, total = (len(domain.records),) * domain.n, domain.datasets
    table = np.empty((*sizes, len(domain.places), len(target.labels) or 1))
    laws = StateLaws(target=target, queries=domain.queries, among=str(domain), elsewhere=laws_of)
    choices, again = itertools.tee(itertools.product(*map(range, sizes)))
    every = laws.each(map(domain.dataset, again))
    for done, (choice, law) in enumerate(zip(choices, every, strict=True), 1):
        table[choice] = law.table
        if done % 256 == 0 or done == total:
            progress("datasets", done, total)
    assert laws.first is not None
    return DomainLaws(table=table, error=laws.error, law=laws.first)


def _filled(axes: tuple[int, ...], values: tuple[int, ...], others: list[int]) -> tuple[int, ...]:
    """Return a dataset's record numbers from those at some places and all others in order."""
    given, left = dict(zip(axes, values, strict=True)), iter(others)
    places = range(len(axes) + len(others))
    return tuple(given[place] if place in given else next(left) for place in places)
