"""Changes told by the lines of the file that the records were read from."""

from __future__ import annotations

from dataclasses import replace

from dpassay.changes.change import Change
from dpassay.changes.records import FlipLabel, Replace
from dpassay.changes.several import AnyOf, Several
from dpassay.data import Lines


def in_file(change: Change, lines: Lines | None) -> Change:
    """Return the same change, told by the lines of a file instead of the places of records.

    Without lines it is told by places again. A change of a user's own class stays as it is.
    """
    if isinstance(change, (Several, AnyOf)):
        return type(change)(tuple(in_file(each, lines) for each in change.changes))
    if isinstance(change, FlipLabel):
        return replace(change, line=None if lines is None else int(lines.train[change.index]))
    if isinstance(change, Replace):
        if lines is None:
            return replace(change, line=None, new_line=None)
        new = None if change.pool is None else int(lines.pool[change.pool])
        return replace(change, line=int(lines.train[change.index]), new_line=new)
    return change


def changed_lines(change: Change) -> tuple[int, ...]:
    """Return the lines in which the changed records begin; empty where they are of no file."""
    each_line = (getattr(each, "line", None) for each in getattr(change, "changes", (change,)))
    return tuple(line for line in each_line if line is not None)
