"""What an audit looked at, and would have seen, in words.

Imports nothing heavy, so that a report can use it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpassay.numerics import UP, written


def query_label(
    kind: str,
    query: int,
    *,
    own: int = 0,
    several: bool = False,
    point: Sequence[float] | None = None,
) -> str:
    """Name a query point as tables, sentences and witnesses all do."""
    if kind == "own":
        return f"own {own}" + (f", query {query}" if several else "")
    if point is not None:
        return f"x = {', '.join(f'{value:.6g}' for value in point)}"
    return "learned" if kind == "learned" else str(query)


def query_words(label: str) -> str:
    """Name a query point within a sentence, by its label."""
    if label.startswith("own "):
        return label.replace("own ", "own worst case ", 1)
    return label if "query" in label else f"query {label}"


def seen_words(quantity: str, leak: float, frequency: float | None) -> str:
    """Name what would be seen, such as 'a loss of 1.2 or more, through an answer of ...'."""
    size = "a size that is not promised" if math.isinf(leak) else f"{written(leak, 4, UP)} or more"
    return f"a {quantity} of {size} {through_words(frequency)}".rstrip()


def through_words(frequency: float | None) -> str:
    """Say through which answers a leak is seen; nothing where it does not matter."""
    return "" if frequency is None else f"through an answer of probability {frequency:g} or more"


SYMMETRIES = {
    "points": "permutations of the points",
    "reflections": "reversals of each side",
    "coordinates": "exchanges of equally long sides",
    "labels": "an exchange of the labels",
    "turns": "a reversal of all sides with an exchange of the labels",
}
"""Key of a symmetry -> what is done to a dataset and a query; the law of the answers follows."""


def order_and(keys: Sequence[str]) -> str:
    """Name the order of records and some symmetries, after 'up to'."""
    told = ["the order of records", *(SYMMETRIES[key] for key in keys)]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
