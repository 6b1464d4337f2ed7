"""A domain: all datasets of so many records over a few points, and whether they are too many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.data import Labelled, points
from dpassay.engine.domains.symmetries import MOST_NUMBERED, Symmetries, group_of, multisets
from dpassay.errors import is_count, require
from dpassay.numerics import whole
from dpassay.relations import records_replaced
from dpassay.targets.guard import AuditTarget

MAX_DATASETS = 1_000_000
"""Datasets, or representatives, whose law is computed at most."""
MAX_COMPARED = 10**9
"""Pairs of datasets, or of representatives of these, that are compared at most."""
WHOLE = 10_000
"""Up to so many datasets all are enumerated, whatever the mechanism declares."""
CHECKED = 10_000
"""Representatives at most whose law is held against that of a reordered and a moved dataset."""
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
        few = is_count(self.n) and self.n <= MOST_RECORDS
        require(few, "--n", self.n, f"an integer >= 1 and at most {MOST_RECORDS:,}")
        counts = len(sides) > 0 and all(map(is_count, sides))
        require(counts, "--domain", self.points, "an integer >= 1, or one for each side")
        sides = tuple(map(int, sides))
        object.__setattr__(self, "n", int(self.n))
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "points", sides if isinstance(self.points, tuple) else sides[0])
        few = 2 * math.prod(sides) <= MAX_DATASETS
        require(few, "--domain", self.points, f"at most {MAX_DATASETS // 2:,} points")

    def __str__(self) -> str:
        return f"all {self.words}"

    @property
    def words(self) -> str:
        """Return what it is, after 'all' or a number."""
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
        """Return how many ordered datasets there are: (2 points)^n."""
        return int((2 * math.prod(self.sides)) ** self.n)

    def group(self, target: AuditTarget) -> Symmetries | None:
        """Return the symmetries by which the domain is reduced; None if it is enumerated in full.

        Raise TargetError if the mechanism declares symmetries that there are not.
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
            compared, few = math.comb(self.n, k) * records ** (self.n + k), self.datasets
            more = (
                ", or for fewer than 2^62 of them up to the order of records, and at most "
                f"{2 * MOST_RECORDS:,} different records"
                if target.exchangeable
                else "; more are allowed if it declares exchangeable records, with at most "
                f"{MAX_DATASETS:,} representatives"
            )
            what = f"datasets, (2 points)^n of them{more}"
        else:
            few = group.orbits(self.n)
            compared = group.orbits(self.n - k) * multisets(records, k) ** 2
            what = f"representatives of datasets up to {group.words}"
        allowed = f"small enough for at most {MAX_DATASETS:,} {what} ({target.name})"
        require(few <= MAX_DATASETS, *given, allowed)
        allowed = f"small enough for at most {MAX_COMPARED:,} pairs under '{claim.relation}'"
        require(compared <= MAX_COMPARED, *given, allowed)

    def planned(self, target: AuditTarget) -> str:
        """Say whose laws a run would compute.

        Raise TargetError if the mechanism declares symmetries that there are not.
        """
        group, every = self.group(target), f"all {whole(self.datasets)} {self.words}"
        if group is None:
            return f"the laws of {every}"
        return (
            f"the laws of {group.orbits(self.n):,} representatives of {every}, up to {group.words} "
            f"(declared; checked on at most {CHECKED:,} of them)"
        )

    def dataset(self, choice: Sequence[int]) -> tuple[Labelled, str]:
        """Return the dataset with these records, given by their numbers, and its name."""
        numbers = np.array(choice)
        places = 1 + np.stack(np.unravel_index(numbers // 2, self.sides), axis=-1)
        return Labelled(places.astype(float), numbers % 2), f"the dataset {tuple(choice)}"
