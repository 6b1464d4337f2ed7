"""The law of every representative of a domain is computed, what is declared is checked on them."""

from __future__ import annotations

from itertools import tee

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.dataset_laws import LawsOf
from dpassay.engine.domains.declared import check_declared, chosen
from dpassay.engine.domains.leak_reader import Ids
from dpassay.engine.domains.multisets import Numbering
from dpassay.engine.domains.orbits import OrbitLaws
from dpassay.engine.domains.record_laws import DifferentRows, LawsOfRecords, datasets_of
from dpassay.engine.domains.states import StateLaws
from dpassay.engine.domains.symmetries import Symmetries
from dpassay.targets.groups import Progress
from dpassay.targets.guard import AuditTarget


def orbit_laws(
    target: AuditTarget,
    n: int,
    group: Symmetries,
    places: NDArray[np.float64],
    seed: int,
    progress: Progress,
    laws_of: LawsOf | None = None,
) -> OrbitLaws:
    """Compute the law of every representative, and check what the mechanism declares on them.

    It declares that its records are exchangeable, and the symmetries. The `places` (points,
    sides) are the points, which are also the queries; the seed is that of the datasets that are
    checked. `laws_of` computes the laws of the representatives elsewhere, but not those for the
    check. A mechanism without an exact law, or with a false declaration, raises `TargetError`.
    """
    numbering = Numbering.of(2 * group.points, n)
    numbers = group.representatives(n, numbering)
    assert len(numbers) == group.orbits(n), "Burnside's lemma"
    laws, rows = LawsOfRecords(StateLaws(target, places), places), DifferentRows()
    ids = np.empty((len(numbers), group.points), dtype=np.int32)
    every, again = tee(datasets_of(numbering, numbers, n))
    datasets = map(laws.dataset, again)
    each = laws.laws.each(datasets) if laws_of is None else laws_of(target, datasets, places)
    for i, (records, law) in enumerate(zip(every, each, strict=True)):
        ids[i] = rows.ids(laws.taken(law, records).table)
        if i % 256 == 255 or i + 1 == len(numbers):
            progress("representatives", i + 1, len(numbers))
    exchanged = _exchanged(group, rows)
    assert laws.first is not None
    checked = chosen(len(numbers), seed)
    found = OrbitLaws(
        n=n,
        group=group,
        numbering=numbering,
        numbers=numbers,
        ids=ids,
        rows=np.stack(rows.each),
        exchanged=exchanged,
        error=laws.error,
        law=laws.first,
        checked=len(checked),
    )
    check_declared(found, laws, checked, seed, progress)
    return found


def _exchanged(group: Symmetries, rows: DifferentRows) -> Ids:
    """Return the number of each row with the two answers exchanged, where an element does that."""
    if not any(each.exchanged for each in group.elements):
        return np.arange(len(rows.each))
    rows.ids(np.stack(rows.each)[:, ::-1])  # some of them may be new
    return np.array(rows.ids(np.stack(rows.each)[:, ::-1]))
