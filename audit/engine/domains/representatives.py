"""The law of every representative of a domain is computed, what is declared is checked on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.dataset_laws import LawsOf, StateLaws
from dpassay.engine.domains.domain import CHECKED, Domain
from dpassay.engine.domains.orbits import Ids, OrbitLaws
from dpassay.engine.domains.symmetries import (
    AT_ONCE,
    Element,
    Numbering,
    Symmetries,
    sorted_records,
)
from dpassay.errors import TargetError
from dpassay.laws import Law
from dpassay.seeds import stream
from dpassay.targets.groups import Progress
from dpassay.targets.guard import AuditTarget


def orbit_laws(
    target: AuditTarget,
    domain: Domain,
    group: Symmetries,
    seed: int,
    progress: Progress,
    laws_of: LawsOf | None = None,
) -> OrbitLaws:
    """Compute the law of every representative, and check what the mechanism declares on them.

    It declares that its records are exchangeable, and the symmetries. The seed is that of the
    datasets that are checked. `laws_of` computes the laws of the representatives elsewhere, but not
    those for the check. A mechanism without an exact law, or with a false declaration, raises
    `TargetError`.
    """
    n, numbering = domain.n, Numbering.of(2 * group.points, domain.n)
    numbers = group.representatives(n, numbering)
    assert len(numbers) == group.orbits(n), "Burnside's lemma"
    laws = StateLaws(target=target, queries=domain.queries, among=str(domain), elsewhere=laws_of)
    known: dict[bytes, int] = {}
    ids = np.empty((len(numbers), group.points), dtype=np.int32)
    for i, law in enumerate(laws.each(map(domain.dataset, _records(numbering, numbers, n)))):
        ids[i] = _ids(known, law.table)
        if i % 256 == 255 or i + 1 == len(numbers):
            progress("representatives", i + 1, len(numbers))
    exchanged = np.arange(len(known))
    if any(each.exchanged for each in group.elements):
        _ids(known, _rows(known)[:, ::-1])  # some of them may be new
        exchanged = np.array(_ids(known, _rows(known)[:, ::-1]))
    assert laws.first is not None
    checked = _chosen(len(numbers), seed)
    found = OrbitLaws(
        n=n,
        group=group,
        numbering=numbering,
        numbers=numbers,
        ids=ids,
        rows=_rows(known),
        exchanged=exchanged,
        error=laws.error,
        law=laws.first,
        checked=len(checked),
    )
    _check(found, domain, laws, checked, seed, progress)
    return found


def _records(numbering: Numbering, numbers: NDArray[np.int64], n: int) -> Iterator[list[int]]:
    """Yield the sorted records of multisets."""
    portion = max(1, AT_ONCE // len(numbering.table))
    for start in range(0, len(numbers), portion):
        yield from map(sorted_records, numbering.counts(numbers[start : start + portion], n))


def _ids(known: dict[bytes, int], table: NDArray[np.float64]) -> list[int]:
    """Return the number of each row of laws, a new one if it was not met before."""
    return [known.setdefault(row.tobytes(), len(known)) for row in table + 0.0]  # no -0.0


def _rows(known: dict[bytes, int]) -> NDArray[np.float64]:
    """Return the different rows of laws by their numbers."""
    return np.frombuffer(b"".join(known)).reshape(len(known), -1)


def _chosen(representatives: int, seed: int) -> Ids:
    """Return which representatives are checked: all, or so many at random."""
    if representatives <= CHECKED:
        return np.arange(representatives)
    rng = stream(seed, "symmetry", "chosen")
    return np.sort(rng.choice(representatives, size=CHECKED, replace=False))


def _check(
    found: OrbitLaws, domain: Domain, laws: StateLaws, chosen: Ids, seed: int, progress: Progress
) -> None:
    """Raise `TargetError` if a representative in a random order, or moved, has another law.

    Each is also taken in descending order, as far from its own as can be.
    """
    rng, group = stream(seed, "symmetry", "checked"), found.group
    datasets = _records(found.numbering, found.numbers[chosen], found.n)
    alone = len(group.elements) == 1 and not group.whole
    still = Element(tuple(range(group.points)))
    for done, (i, records) in enumerate(zip(chosen.tolist(), datasets, strict=True), 1):
        here = found.rows[found.ids[i]]
        shuffled = rng.permutation(records).tolist()
        for order in (records[::-1], shuffled):
            if not _alike(here, laws.of(*domain.dataset(order)), still, found.error):
                raise TargetError(
                    "declares exchangeable records, but has different laws on the datasets "
                    f"{tuple(records)} and {tuple(order)} (numbers of records)"
                )
        if not alone:
            element = group.drawn(rng)
            moved = element.of_records[shuffled].tolist()
            if not _alike(here, laws.of(*domain.dataset(moved)), element, found.error):
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
