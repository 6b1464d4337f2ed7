"""Exhaustive mode dataset by dataset: the law of each, and the worst of all pairs of neighbours."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.dataset_laws import LawsOf, StateLaws
from dpassay.engine.domains.domain import Domain
from dpassay.engine.domains.orbits import Worst
from dpassay.engine.readings import Leaks
from dpassay.laws import Law
from dpassay.stats.bounds import Computed
from dpassay.targets.groups import Progress
from dpassay.targets.guard import AuditTarget


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
        """Find the worst neighbours of each query; see `OrbitLaws.worst`."""
        found, highest = _search(self, leaks, k)
        return found, highest, 0


def domain_laws(
    target: AuditTarget, domain: Domain, progress: Progress, laws_of: LawsOf | None = None
) -> DomainLaws:
    """Compute the law of every dataset of the domain at every query."""
    sizes = (len(domain.records),) * domain.n
    table = np.empty((*sizes, len(domain.places), len(target.labels) or 1))
    laws = StateLaws(target=target, queries=domain.queries, among=str(domain), elsewhere=laws_of)
    choices, again = itertools.tee(itertools.product(*map(range, sizes)))
    total = domain.datasets
    for done, (choice, law) in enumerate(
        zip(choices, laws.each(map(domain.dataset, again)), strict=True), 1
    ):
        table[choice] = law.table
        if done % 256 == 0 or done == total:
            progress("datasets", done, total)
    assert laws.first is not None
    return DomainLaws(table=table, error=laws.error, law=laws.first)


def _search(laws: DomainLaws, leaks: Leaks, k: int) -> tuple[list[Worst], float]:
    """Return the worst pair per query, and the most that any loss of the domain can be.

    Every ordered pair of datasets that differ in k records or fewer differs along k axes of the
    table, so for each k axes each slice is compared with all slices and both directions are
    covered.
    """
    *sizes, queries, _ = laws.table.shape
    worst: dict[int, Worst] = {}
    highest = -np.inf
    values = list(itertools.product(range(sizes[0]), repeat=k))
    for axes in itertools.combinations(range(len(sizes)), k):
        table = _along(laws.table, axes)
        for one, given in enumerate(values):
            loss = leaks.loss(np.broadcast_to(table[one], table.shape), table, laws.error)
            highest = max(highest, float(np.max(loss.value + loss.error)))
            certain = loss.certain.copy()
            certain[one] = -np.inf  # the dataset itself
            for query in range(queries):
                seen = certain[..., query]
                other, *place = (int(i) for i in np.unravel_index(np.argmax(seen), seen.shape))
                cell = (other, *place, query)
                found = Computed(
                    value=float(loss.value[cell]), error=float(loss.error[cell]), least=leaks.least
                )
                if query not in worst or _certain(found) > _certain(worst[query].loss):
                    mine, theirs = (_filled(axes, each, place) for each in (given, values[other]))
                    rows = laws.table[mine][query], laws.table[theirs][query]
                    worst[query] = Worst(loss=found, choice=mine, other=theirs, rows=rows)
    return [worst[query] for query in range(queries)], highest


def _along(table: NDArray[np.float64], axes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a table with some axes in front, as one."""
    front = np.moveaxis(table, axes, range(len(axes)))
    return front.reshape(-1, *front.shape[len(axes) :])


def _certain(loss: Computed) -> float:
    return loss.value - loss.error


def _filled(axes: tuple[int, ...], values: tuple[int, ...], others: list[int]) -> tuple[int, ...]:
    """Return a dataset's record numbers from those at some places and all others in order."""
    given, left = dict(zip(axes, values, strict=True)), iter(others)
    return tuple(
        given[place] if place in given else next(left) for place in range(len(axes) + len(others))
    )
