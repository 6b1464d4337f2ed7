"""What a search has found, in short: the two datasets, and the event with its two frequencies.

No record of the user's stands in them: a row of the user's is named by its place, and only what a
search made up is written down.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dpassay.numerics import DOWN
from dpassay.reports.run.seen_cell import shares
from dpassay.reports.shared.numbers import clean, plural

if TYPE_CHECKING:
    from dpassay.data import Dataset
    from dpassay.engine.result import Result

MOST_SHOWN = 24
"""Datasets of more numbers are told by their size and by what was changed."""
MOST_NAMED = 6
"""Columns that are named."""


def found_lines(result: Result) -> tuple[str, ...]:
    """Say what refutes a searched claim: how pairs are told apart, at which, and by which event."""
    from dpassay.engine.verdicts import apart  # with NumPy

    lines = []
    for number, each in enumerate(result.findings):
        also = f"{each.claim.quantity} at least {apart(each.lower, each.claim.promised, DOWN)[0]}"
        if number or each.certain:
            lines.append(f"{'also' if number else 'certain'}: {each.certain or also}")
        lines += [f"{name}: {told}" for name, told in found(each).items()]
    return tuple(lines)


def found(result: Result) -> dict[str, str]:
    """Return at which two datasets a searched claim is refuted, and through which event.

    By 'S', "S'" and 'event', with the shares of the event in the order of the sides; empty if
    the claim is not refuted, or nothing was searched for.
    """
    from dpassay.data import Values  # these import NumPy
    from dpassay.engine.evidence import VALUES
    from dpassay.record.witness_words import event_words
    from dpassay.rows.rows import Rows
    from dpassay.targets.groups import DIRECTIONS

    evidence = result.evidence
    if evidence is None or result.verdict != "refuted":
        return {}
    cell = evidence.worst
    forth = cell.direction == DIRECTIONS[0]
    one, other = shares(*((cell.p1, cell.p0) if forth else (cell.p0, cell.p1)))
    group = evidence.groups[cell.group]
    base, change = group.pairs.base, group.pairs.changes[cell.pair]
    neighbour, relation = change.apply(base), group.pairs.relation
    few = max(each.arrays[0].size for each in (base, neighbour)) <= MOST_SHOWN
    event = event_words(result, cell.event, group.queries[cell.query])
    told = f"{clean(event)}; {one} on S, {other} on S'"
    if few and group.mine is not None:
        sides = (written(each, relation, group.mine) for each in (base, neighbour))
        return dict(zip(("S", "S'"), sides, strict=True)) | {"event": told}
    size = plural(len(base), "number" if isinstance(base, Values) else "record")
    changed = re.sub(VALUES, "", str(change))
    if isinstance(base, Rows) and len(base) == len(neighbour) > 1:
        size += f", {len({row.tobytes() for row in base.values}):,} different"
        moved = (base.values != neighbour.values).any(axis=0)
        columns = [name for name, each in zip(base.form.names, moved, strict=True) if each]
        more = f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else ""
        changed += f" (in {', '.join(columns[:MOST_NAMED])}{more})"
    return {"S": size, "S'": clean(f"the same, {changed}"), "event": told}


def written(data: Dataset, relation: str, mine: dict[bytes, int]) -> str:
    """Write a dataset down, but for the user's own records."""
    from dpassay.data import Values
    from dpassay.record.witness_words import contents
    from dpassay.relations import answers_moved
    from dpassay.rows.rows import Rows

    if isinstance(data, Values):
        what = "numbers" if answers_moved(relation) is None else "answers"
        return f"{what} {contents(data)}"
    if not isinstance(data, Rows):
        return f"records {contents(data)}"
    rows = (
        f"your row {mine[row.tobytes()]}"
        if row.tobytes() in mine
        else data.form.words(row.tolist())
        for row in data.values
    )
    return clean(f"records {{{', '.join(rows)}}}") if len(data) else "no records"
