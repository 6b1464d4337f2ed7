"""Tables as data: titles, cells and which columns are numbers. Each format only draws them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of finished texts; one without rows is false, and shown nowhere."""

    caption: str
    columns: tuple[str, ...]  # titles; the first column names the row
    numeric: tuple[bool, ...]  # which columns hold numbers, to be aligned at the right
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, caption: str, titles: str, rows: Iterable[tuple[str, ...]]) -> Table:
        """Make a table of titles that `|` separates; as in Markdown, a colon aligns numbers."""
        columns = titles.split(" | ")
        return cls(
            caption=caption,
            columns=tuple(title.removesuffix(":") for title in columns),
            numeric=tuple(title.endswith(":") for title in columns),
            rows=tuple(rows),
        )

    def __bool__(self) -> bool:
        """Return whether there are rows."""
        return bool(self.rows)
