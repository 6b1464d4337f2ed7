"""Tables as data: titles, cells and which columns are numbers. Each format only draws them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of finished texts; one without rows is false, and shown nowhere."""

    caption: str
    columns: tuple[str, ...]  # titles; the first column names the row
    numeric: tuple[bool, ...]  # which columns hold numbers, to be aligned at the right
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls, caption: str, titles: str | list[str], rows: Iterable[tuple[str, ...]]
    ) -> TextTable:
        """Make a table of titles, parted by `|`; as in Markdown, a colon aligns numbers."""
        columns = titles.split(" | ") if isinstance(titles, str) else titles
        return cls(
            caption=caption,
            columns=tuple(title.removesuffix(":") for title in columns),
            numeric=tuple(title.endswith(":") for title in columns),
            rows=tuple(rows),
        )

    def only(self, wanted: Collection[str]) -> TextTable:
        """Return the same table with the columns of these titles alone."""
        kept = [place for place, title in enumerate(self.columns) if title in wanted]
        return replace(
            self,
            columns=tuple(self.columns[place] for place in kept),
            numeric=tuple(self.numeric[place] for place in kept),
            rows=tuple(tuple(row[place] for place in kept) for row in self.rows),
        )

    def without(self, *titles: str) -> TextTable:
        """Return the same table without the columns of these titles."""
        return self.only([title for title in self.columns if title not in titles])

    def __bool__(self) -> bool:
        """Return whether there are rows."""
        return bool(self.rows)
