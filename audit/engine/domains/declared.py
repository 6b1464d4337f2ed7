"""Symmetries that a mechanism declares are checked on some representatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.domains.orbits import OrbitLaws
from dpassay.engine.domains.record_laws import LawsOfRecords, datasets_of
from dpassay.engine.domains.symmetries import Element
from dpassay.errors import TargetError
from dpassay.laws import Law
from dpassay.seeds import stream
from dpassay.targets.groups import Progress

CHECKED = 10_000
"""Representatives at most whose law is held against that of a reordered and a moved dataset."""


def chosen(representatives: int, seed: int) -> NDArray[np.int64]:
    """Return which representatives are checked: all, or so many at random."""
    if representatives <= CHECKED:
        return np.arange(representatives)
    rng = stream(seed, "symmetry", "chosen")
    return np.sort(rng.choice(representatives, size=CHECKED, replace=False))


def check_declared(
    found: OrbitLaws, laws: LawsOfRecords, chosen: NDArray[np.int64], seed: int, progress: Progress
) -> None:
    """Raise `TargetError` if a representative in a random order, or moved, has another law.

    Each is also taken in descending order, as far from its own as can be.
    """
    rng, group = stream(seed, "symmetry", "checked"), found.group
    datasets = datasets_of(found.numbering, found.numbers[chosen], found.n)
    alone = len(group.elements) == 1 and not group.whole
    still = Element(tuple(range(group.points)))
    for done, (i, records) in enumerate(zip(chosen.tolist(), datasets, strict=True), 1):
        here = found.rows[found.ids[i]]
        shuffled = rng.permutation(records).tolist()
        for order in (records[::-1], shuffled):
            if not _alike(here, laws.of(order), still, found.error):
                raise TargetError(
                    "declares exchangeable records, but has different laws on the datasets "
                    f"{tuple(records)} and {tuple(order)} (numbers of records)"
                )
        if not alone:
            element = group.drawn(rng)
            moved = element.of_records[shuffled].tolist()
            if not _alike(here, laws.of(moved), element, found.error):
                raise TargetError(
                    f"declares the symmetries {', '.join(group.keys)}, but its law does not move "
                    f"along from the dataset {tuple(records)} to {tuple(moved)} (numbers of "
                    "records)"
                )
        if done % 256 == 0 or done == len(chosen):
            progress("symmetry checks", done, len(chosen))


def _alike(here: NDArray[np.float64], there: Law, element: Element, error: float) -> bool:
    """Return whether a law, moved back, is equal within the numerical errors."""
    table = there.table[list(element.to)]
    table = table[:, ::-1] if element.exchanged else table
    with np.errstate(invalid="ignore"):
        near = np.abs(table - here) <= error + there.error
    return bool((near | (table == here)).all())
