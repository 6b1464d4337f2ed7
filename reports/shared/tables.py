"""Tables as data: titles, cells and which columns are numbers. Each format only draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of finished texts."""

    caption: str
    columns: tuple[str, ...]  # titles; the first column names the row
    numeric: tuple[bool, ...]  # which columns hold numbers, to be aligned at the right
    rows: tuple[tuple[str, ...], ...]
