"""Ranges of parameters: what is refused by name, with the value and what is allowed."""

from __future__ import annotations

import math
from typing import Any

from dpassay.errors import is_real, require


def check_positive(**numbers: Any) -> None:
    """Refuse what is no finite number > 0."""
    for name, value in numbers.items():
        require(is_real(value) and 0 < value < math.inf, name, value, "a finite number > 0")


def check_proportion(**numbers: Any) -> None:
    """Refuse what is no number between 0 and 1."""
    for name, value in numbers.items():
        require(is_real(value) and 0 < value < 1, name, value, "a number in (0, 1)")


def check_word(*words: str, **given: Any) -> None:
    """Refuse what is none of two words or more."""
    allowed = f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}"
    for name, value in given.items():
        require(value in words, name, value, allowed)
