"""What an audit would have seen, in words; imports nothing heavy, so that a report can use it."""

from __future__ import annotations

import math

from dpassay.numerics import UP, written


def seen_words(quantity: str, leak: float, frequency: float | None) -> str:
    """Name what would have been seen: 'a loss of 1.2 or more, through an answer of probability 0.1 or more'."""
    seen = f"no {quantity}" if math.isinf(leak) else f"a {quantity} of {written(leak, 4, UP)} or more"
    return f"{seen} {through_words(frequency)}".rstrip()


def through_words(frequency: float | None) -> str:
    """Say through which answers a leak is seen; nothing where it does not matter."""
    return "" if frequency is None else f"through an answer of probability {frequency:g} or more"
