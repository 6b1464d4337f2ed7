"""Laws of datasets that are given by the numbers of their records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.engine.domains.multisets import Numbering, sorted_records
from dpassay.engine.domains.states import StateLaws
from dpassay.engine.domains.symmetries import AT_ONCE
from dpassay.engine.exact import check_alike
from dpassay.errors import TargetError
from dpassay.laws import Law


@dataclass(slots=True, eq=False)
class LawsOfRecords:
    """Laws of datasets given by their records, all of one kind."""

    laws: StateLaws
    places: NDArray[np.float64]
    first: Law | None = None
    error: float = 0.0

    def dataset(self, records: list[int]) -> tuple[Labelled, str]:
        """Return the dataset with these records in this order, and its name in messages."""
        numbers = np.array(records)
        return Labelled(self.places[numbers // 2], numbers % 2), f"the dataset {tuple(records)}"

    def of(self, records: list[int]) -> Law:
        """Return the law of the dataset with these records in this order."""
        return self.taken(self.laws.of(*self.dataset(records)), records)

    def taken(self, law: Law | None, records: list[int]) -> Law:
        """Take note of the law of a dataset."""
        where = f"the dataset {tuple(records)}"
        if law is None:
            raise TargetError(f"it has no exact law for {where}; use mode monte-carlo")
        self.first = self.first or law
        check_alike(self.first, law, where)
        self.error = max(self.error, law.error)
        return law


def datasets_of(numbering: Numbering, numbers: NDArray[np.int64], n: int) -> Iterator[list[int]]:
    """Yield the sorted records of multisets."""
    portion = max(1, AT_ONCE // len(numbering.table))
    for start in range(0, len(numbers), portion):
        yield from map(sorted_records, numbering.counts(numbers[start : start + portion], n))


@dataclass(frozen=True, slots=True, eq=False)
class DifferentRows:
    """Different rows of laws, each kept once."""

    known: dict[bytes, int] = field(default_factory=dict)
    each: list[NDArray[np.float64]] = field(default_factory=list)

    def ids(self, table: NDArray[np.float64]) -> list[int]:
        """Return the number of each row, a new one if it was not met before."""
        return [self._id(row) for row in table + 0.0]  # no -0.0

    def _id(self, row: NDArray[np.float64]) -> int:
        found = self.known.setdefault(row.tobytes(), len(self.each))
        if found == len(self.each):
            self.each.append(row)
        return found
