"""Exhaustive mode: every dataset of size n over a small domain, every neighbour, every query.

The true worst case. A domain of up to 10,000 datasets is enumerated dataset by dataset, so that
nothing is taken on trust. A larger one is too, up to a million, unless the mechanism declares that
its records are exchangeable: then by symmetry, see `dpassay.engine.domains.orbits`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.data import Labelled, points
from dpassay.engine.dataset_laws import LawsOf
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.domains.multisets import MOST_NUMBERED, multisets
from dpassay.engine.domains.orbits import CHECKED, OrbitLaws, Worst, facts, orbit_laws
from dpassay.engine.domains.states import StateLaws
from dpassay.engine.domains.symmetries import Symmetries, group_of
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.exact import any_size, check_alike, readable
from dpassay.engine.readings import Leaks
from dpassay.errors import TargetError, is_count, require
from dpassay.laws import Law
from dpassay.numerics import whole
from dpassay.pairs import Change, Pairs, Replace, Several
from dpassay.relations import records_replaced
from dpassay.stats.bounds import Bound, Computed
from dpassay.stats.methods import EXACT_LAW
from dpassay.targets.groups import DIRECTIONS, Group, Progress
from dpassay.targets.guard import AuditTarget

MAX_DATASETS = 1_000_000
"""Datasets, or representatives, whose law is computed at most."""
MAX_COMPARED = 10**9
"""Pairs of datasets, or of representatives of these, that are compared at most."""
WHOLE = 10_000
"""Up to so many datasets all are enumerated, whatever the mechanism declares."""
MOST_RECORDS = 1000
"""Records of a dataset, and half the different records of a domain reduced by symmetry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """All datasets of n records (x, y) with x in {1, ..., points}, or on a grid, and y in {0, 1}.

    Queries are the same points.

    Parameters
    ----------
    n : int
        Records in a dataset, >= 1.
    points : int or tuple of int
        Points of the line, >= 1: [N] in section 5 of Dwork and Feldman (2018); or of each side of a
        grid.

    Raises
    ------
    InvalidInput
        If a number is out of range, or no mechanism has an exhaustive mode on so many records or
        points.
    """

    n: int
    points: int | tuple[int, ...]
    sides: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sides = self.points if isinstance(self.points, tuple) else (self.points,)
        require(
            is_count(self.n) and self.n <= MOST_RECORDS,
            "--n",
            self.n,
            f"an integer >= 1 and at most {MOST_RECORDS:,}",
        )
        require(
            len(sides) > 0 and all(map(is_count, sides)),
            "--domain",
            self.points,
            "an integer >= 1, or one for each side",
        )
        object.__setattr__(self, "n", int(self.n))
        object.__setattr__(self, "sides", tuple(map(int, sides)))
        object.__setattr__(
            self, "points", self.sides if isinstance(self.points, tuple) else self.sides[0]
        )
        require(
            2 * math.prod(self.sides) <= MAX_DATASETS,
            "--domain",
            self.points,
            f"at most {MAX_DATASETS // 2:,} points",
        )

    def __str__(self) -> str:
        return f"all {self.words}"

    @property
    def words(self) -> str:
        """What it is, after 'all' or a number."""
        where = " x ".join(f"1..{side}" for side in self.sides)
        return f"datasets of {self.n} records over the points {where} with labels 0 and 1"

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Every point, the last coordinate fastest."""
        return tuple(itertools.product(*(range(1, side + 1) for side in self.sides)))

    @property
    def records(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """The 2 x points possible records."""
        return tuple(itertools.product(self.places, (0, 1)))

    @property
    def queries(self) -> NDArray[np.float64]:
        """Every point, shape (points, sides)."""
        return points(self.places, "queries")

    @property
    def datasets(self) -> int:
        """How many ordered datasets there are: (2 points)^n."""
        return int((2 * math.prod(self.sides)) ** self.n)

    def group(self, target: AuditTarget) -> Symmetries | None:
        """Return the symmetries by which the domain is reduced; None if it is enumerated in full.

        Raises
        ------
        TargetError
            If the mechanism declares symmetries that there are not.
        """
        records = 2 * math.prod(self.sides)
        few = records <= 2 * MOST_RECORDS and multisets(records, self.n) < MOST_NUMBERED
        if self.datasets <= WHOLE or not target.exchangeable or not few:
            return None
        return group_of(target, self.sides)

    def check(self, target: AuditTarget, claim: Claim) -> None:
        """Raise `InvalidInput` if there are too many datasets or neighbours for a mechanism."""
        k, records = min(records_replaced(claim.relation), self.n), 2 * math.prod(self.sides)
        given, group = ("--n, --domain", (self.n, self.points)), self.group(target)
        if group is None:
            compared = math.comb(self.n, k) * records ** (self.n + k)
            allowed = f"at most {MAX_DATASETS:,} datasets, (2 points)^n of them"
            more = (
                f", or for fewer than 2^62 of them up to the order of records, and at most "
                f"{2 * MOST_RECORDS:,} different records"
                if target.exchangeable
                else "; more are allowed if it declares exchangeable records, with at most "
                f"{MAX_DATASETS:,} representatives"
            )
            allowed = f"small enough for {allowed}{more} ({target.name})"
            require(self.datasets <= MAX_DATASETS, *given, allowed)
        else:
            compared = group.orbits(self.n - k) * multisets(records, k) ** 2
            allowed = (
                f"at most {MAX_DATASETS:,} representatives of datasets up to {group.words} "
                f"({target.name})"
            )
            few = group.orbits(self.n) <= MAX_DATASETS
            require(few, *given, f"small enough for {allowed}")
        allowed = f"small enough for at most {MAX_COMPARED:,} pairs under '{claim.relation}'"
        require(compared <= MAX_COMPARED, *given, allowed)

    def planned(self, target: AuditTarget) -> str:
        """Say whose laws a run would compute.

        Raises
        ------
        TargetError
            If the mechanism declares symmetries that there are not.
        """
        group, every = self.group(target), f"all {whole(self.datasets)} {self.words}"
        if group is None:
            return f"the laws of {every}"
        return (
            f"the laws of {group.orbits(self.n):,} representatives of {every}, up to {group.words} "
            f"(declared; checked on at most {CHECKED:,} of them)"
        )

    def dataset(self, choice: tuple[int, ...]) -> Labelled:
        """Return the dataset with these records, given by their numbers."""
        chosen = [self.records[k] for k in choice]
        return Labelled(
            np.array([x for x, _ in chosen], dtype=float), np.array([y for _, y in chosen])
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DomainLaws:
    """Laws of every dataset of a domain at every query.

    Parameters
    ----------
    table : array (R, ..., R, q, K)
        One axis per record of the dataset, R = 2 x points; then the query, and what `Law.table`
        has.
    error : float
        Bound on the numerical error of each entry.
    law : Law
        That of the first dataset: what the table means.
    """

    table: NDArray[np.float64]
    error: float
    law: Law

    def worst(self, leaks: Leaks, k: int) -> tuple[list[Worst], float, int]:
        """Find the worst neighbours of each query; see `OrbitLaws.worst`."""
        found, highest = _search(self, leaks, k)
        return found, highest, 0


def all_laws(
    target: AuditTarget,
    domain: Domain,
    seed: int,
    progress: Progress,
    laws_of: LawsOf | None = None,
) -> DomainLaws | OrbitLaws:
    """Compute the law of every dataset of the domain, or of every representative.

    Parameters
    ----------
    target, domain
    seed : int
        Of the datasets on which symmetries are checked.
    progress : callable
    laws_of : callable, optional
        Computes the laws of many datasets elsewhere; they are computed here by default.

    Raises
    ------
    TargetError
        If there is no exact law, or what the mechanism declares is found to be false.
    """
    group = domain.group(target)
    if group is None:
        return domain_laws(target, domain, progress, laws_of)
    return orbit_laws(target, domain.n, group, domain.queries, seed, progress, laws_of)


def domain_laws(
    target: AuditTarget, domain: Domain, progress: Progress, laws_of: LawsOf | None = None
) -> DomainLaws:
    """Compute the law of every dataset of the domain at every query."""
    sizes, queries = (len(domain.records),) * domain.n, domain.queries
    table = np.empty((*sizes, len(domain.places), len(target.labels) or 1))
    first: Law | None = None
    error, total = 0.0, int(np.prod(sizes))
    choices, again = itertools.tee(itertools.product(*map(range, sizes)))
    datasets = ((domain.dataset(choice), f"the dataset {choice}") for choice in again)
    here = StateLaws(target, queries)
    laws = here.each(datasets) if laws_of is None else laws_of(target, datasets, queries)
    for done, (choice, law) in enumerate(zip(choices, laws, strict=True)):
        where = f"the dataset {choice}"
        if law is None:
            raise TargetError(f"it has no exact law for {domain}; use mode monte-carlo")
        first = first or law
        check_alike(first, law, where)
        table[choice], error = law.table, max(error, law.error)
        if done % 256 == 255 or done + 1 == total:
            progress("datasets", done + 1, total)
    assert first is not None
    return DomainLaws(table=table, error=error, law=first)


def exhaustive_evidence(
    target: AuditTarget, claim: Claim, domain: Domain, laws: DomainLaws | OrbitLaws
) -> Evidence:
    """Find the true worst case of a domain, per query point and over all.

    Parameters
    ----------
    target, claim
        What is audited, and against what.
    domain, laws
        The domain and its laws, from `laws_of`.

    Returns
    -------
    Evidence
        With one group, of one pair, for every query: its worst.
    """
    leaks = readable(target, claim, laws.law)
    k = min(records_replaced(claim.relation), domain.n)
    found, highest, compared = laws.worst(leaks, k)
    groups, cells = [], []
    for query, worst in enumerate(found):
        change = _change(domain, worst)
        pair = Pairs(
            base=domain.dataset(worst.choice),
            changes=(change,),
            how=str(domain),
            relation=claim.relation,
        )
        groups.append(
            Group(
                pairs=pair,
                queries=domain.queries[query : query + 1],
                kind="domain",
                reason="enumeration",
            )
        )
        row, row0 = worst.rows
        seen = leaks.seen(row, row0, worst.loss.value)
        cells.append(
            Cell(
                group=query,
                pair=0,
                query=0,
                direction=DIRECTIONS[0],
                event=seen.event,
                p1=seen.p1,
                p0=seen.p0,
                profile=leaks.profile(row, row0, laws.error),
                lower=worst.loss.lower,
                upper=worst.loss.upper,
                exact=worst.loss,
            )
        )
    top = max(cells, key=lambda cell: cell.lower.value)
    records = len(domain.records)
    pairs = (
        domain.datasets
        * sum(math.comb(domain.n, j) * (records - 1) ** j for j in range(1, k + 1))
        // 2
    )
    return Evidence(
        mode="exhaustive",
        lower=top.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=top,
        groups=tuple(groups),
        sight=DetectionCurve(
            detectable=claim.promised + (0.0 if top.exact is None else top.exact.error)
        ),
        trials=0,
        alpha=0.0,
        searched={
            "datasets": domain.datasets,
            "pairs": pairs,
            "queries": len(domain.places),
            "cells": 2 * pairs * len(domain.places),
            "how": [str(domain)],
            "keys": [f"domain:{domain.n}:{'x'.join(map(str, domain.sides))}"],
        }
        | (
            {"symmetry": facts(laws, compared, target.declared_in)}
            if isinstance(laws, OrbitLaws)
            else {}
        ),
        domain=str(domain) if isinstance(laws, DomainLaws) else _through(domain, laws),
        any_size=any_size(target, claim),
    )


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


def _search(laws: DomainLaws, leaks: Leaks, k: int) -> tuple[list[Worst], float]:
    """Return the worst pair per query, and the most that any loss of the domain can be.

    Every ordered pair of datasets that differ in k records or fewer differs along k axes of the
    table, so for each k axes each slice is compared with all slices and both directions are
    covered.
    """
    *sizes, queries, columns = laws.table.shape
    worst: dict[int, Worst] = {}
    highest = -np.inf
    for axes in itertools.combinations(range(len(sizes)), k):
        values = list(itertools.product(range(sizes[0]), repeat=k))
        others = tuple(sizes[k:])
        table = np.moveaxis(laws.table, axes, range(k)).reshape(
            len(values), *others, queries, columns
        )
        for one, given in enumerate(values):
            loss = leaks.loss(np.broadcast_to(table[one], table.shape), table, laws.error)
            highest = max(highest, float(np.max(loss.value + loss.error)))
            certain = loss.certain.copy()
            certain[one] = -np.inf  # the dataset itself
            for query in range(queries):
                other, *place = (
                    int(i)
                    for i in np.unravel_index(np.argmax(certain[..., query]), certain.shape[:-1])
                )
                cell = (other, *place, query)
                found = Computed(
                    value=float(loss.value[cell]), error=float(loss.error[cell]), least=leaks.least
                )
                if (
                    query not in worst
                    or found.value - found.error > worst[query].loss.value - worst[query].loss.error
                ):
                    choice, neighbour = (
                        _filled(axes, each, place) for each in (given, values[other])
                    )
                    worst[query] = Worst(
                        loss=found,
                        choice=choice,
                        other=neighbour,
                        rows=(laws.table[choice][query], laws.table[neighbour][query]),
                    )
    return [worst[query] for query in range(queries)], highest


def _filled(axes: tuple[int, ...], values: tuple[int, ...], others: list[int]) -> tuple[int, ...]:
    """Return a dataset's record numbers from those at some places and all others in order."""
    given, left = dict(zip(axes, values, strict=True)), iter(others)
    return tuple(
        given[place] if place in given else next(left) for place in range(len(axes) + len(others))
    )
