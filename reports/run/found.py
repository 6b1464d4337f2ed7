"""What a search has found, in two short lines: the pair, and the event with its two frequencies.

No record of the user's stands in them: datasets are written down only where the search made them up
from a description of the data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dpassay.reports.run.seen_cell import shares
from dpassay.reports.shared.numbers import clean, plural

if TYPE_CHECKING:
    from dpassay.data import Dataset
    from dpassay.engine.result import Result
    from dpassay.targets.groups import Group

MOST_SHOWN = 24
"""Datasets of more numbers are told by their size and by what was changed."""


def found_lines(result: Result) -> tuple[str, ...]:
    """Say at which pair a searched claim is refuted, and through which event.

    Returns
    -------
    tuple of str
        Two lines, 'at: ...' and 'event: ...', the first side of the pair first in both; none where
        the claim is not refuted, or nothing was searched for.
    """
    from dpassay.search.patterns import Pattern  # with NumPy
    from dpassay.targets.groups import DIRECTIONS

    evidence = result.evidence
    if evidence is None or result.verdict != "refuted":
        return ()
    cell = evidence.worst
    if not isinstance(cell.event, Pattern):
        return ()
    forth = cell.direction == DIRECTIONS[0]
    one, other = shares(*((cell.p1, cell.p0) if forth else (cell.p0, cell.p1)))
    group = evidence.groups[cell.group]
    family = f"(family '{clean(group.reason)}')"
    return (
        f"at: {_pair(group, cell.pair)} {family}",
        f"event: {clean(cell.event.words)}; {one} against {other}",
    )


def _pair(group: Group, pair: int) -> str:
    """Write both sides down, or say how large the first is and what was changed."""
    from dpassay.data import Values
    from dpassay.engine.result import VALUES
    from dpassay.relations import answers_moved

    base, change = group.pairs.base, group.pairs.changes[pair]
    if group.made_up and isinstance(base, Values) and len(base) <= MOST_SHOWN:
        what = "numbers" if answers_moved(group.pairs.relation) is None else "answers"
        return f"{what} {_written(base)} against {_written(change.apply(base))}"
    size = plural(len(base), "number" if isinstance(base, Values) else "record")
    return f"{size}, {re.sub(VALUES, '', str(change))}"


def _written(base: Dataset) -> str:
    return f"({', '.join(f'{value:.6g}' for value in base.arrays[0].ravel())})"
