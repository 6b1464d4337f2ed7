"""Which privacy profiles a record keeps: a profile is 20 times as long as the cell it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Raw = Mapping[str, Any]

WITNESSED = ("query", "direction", "event", "p1", "p0")
"""What a witness and its own cell have in common."""


def with_few_profiles(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of a record whose cells have a profile only where it tells something.

    The profiles of these cells stay, and so does whatever a report says of profiles:

    * the cells of its witnesses, else the one of the largest leak;
    * the one that is known to need the largest delta at the claimed epsilon;
    * own worst cases that leak nothing at the claimed delta, as only the profile shows that they
      leak at all.
    """
    cells: Sequence[Raw] = result["per_query"]
    kept = {id(cell) for cell in _telling(result, [cell for cell in cells if cell["profile"]])}
    return dict(result) | {
        "per_query": [cell if id(cell) in kept else {**cell, "profile": None} for cell in cells]
    }


def _telling(result: Raw, known: Sequence[Raw]) -> Iterator[Raw]:
    if not known:
        return
    for witness in filter(None, (result["witness"], result.get("clearest"))):
        yield from (
            cell for cell in known if all(cell[name] == witness[name] for name in WITNESSED)
        )
    yield max(known, key=_leak)
    own = (cell for cell in known if cell["group"] == "own" and cell["exact"] == 0)
    yield from (cell for cell in own if any(cell["profile"]["lower"]))
    named = [cell for cell in known if cell["exact"] != 0 or cell["group"] == "own"]
    if named:
        yield max(named, key=_delta)


def _leak(cell: Raw) -> tuple[float, float]:
    """Return what is known of a leak from below, and from above."""
    return float(cell["lower"] if cell["exact"] is None else cell["exact"]), float(cell["upper"])


def _delta(cell: Raw) -> float:
    """Return the delta needed at the claimed epsilon, at a third of the grid; see `grid_for`."""
    lower: Sequence[float] = cell["profile"]["lower"]
    return lower[(len(lower) - 1) // 3]
