"""Changes read back from what they were written as."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.changes.change import Change
from dpassay.changes.numbers import ReplaceValue, Shift
from dpassay.changes.records import FlipLabel, Replace, from_pool
from dpassay.changes.several import AnyOf, Several
from dpassay.data import Labelled
from dpassay.edits import edit_from_json
from dpassay.errors import InvalidInput, is_count, require


def change_from_json(change: dict[str, Any], pool: Labelled | None) -> Change:
    """Read back what `Change.as_json` wrote.

    Raise InvalidInput if the kind is unknown, a field is missing, or it names a record of a pool
    that is not there.
    """
    try:
        kind = change["kind"]
        if kind == "several":
            return Several(tuple(change_from_json(each, pool) for each in change["changes"]))
        if kind == "any-of":
            return AnyOf(tuple(change_from_json(each, pool) for each in change["changes"]))
        if kind == "shift":
            return Shift(tuple(change["by"]))
        if kind == "edit":
            return edit_from_json(change)
        single = _single_from_json(change, pool)
        if single is not None:
            return single
    except InvalidInput:
        raise
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"change = {change!r:.80}: cannot be read ({error})") from None
    raise InvalidInput(
        f"change = {change!r:.80}: must be of kind 'replace', 'flip-label', 'replace-value', "
        "'shift', 'edit', 'several' or 'any-of'"
    )


def _single_from_json(change: dict[str, Any], pool: Labelled | None) -> Change | None:
    """Read back the change of one record; None if it is of no such kind."""
    kind, index = change["kind"], change["index"]
    require(is_count(index, 0), "change: index", index, "an integer >= 0")
    if kind == "flip-label":
        return FlipLabel(index)
    if kind == "replace-value":
        return ReplaceValue(index, change["value"])
    if kind == "replace" and "pool" in change:
        if pool is None or not 0 <= int(change["pool"]) < len(pool):
            raise InvalidInput(
                f"change names record {change['pool']} of the pool, which the data do not have"
            )
        return from_pool(pool, index, int(change["pool"]))
    if kind == "replace":
        return Replace(index, np.array(change["x"], dtype=float), int(change["y"]))
    return None
