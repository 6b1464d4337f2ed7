"""Tables as data: titles, cells and which columns are numbers. Each format only draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of finished texts.

    Parameters
    ----------
    caption : str
    columns : tuple of str
        Titles; the first column names the row.
    numeric : tuple of bool
        Which columns hold numbers, to be aligned at the right.
    rows : tuple of tuple of str
    """

    caption: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
