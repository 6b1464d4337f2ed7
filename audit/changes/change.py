"""What a change is: it turns a dataset into its neighbour."""

from __future__ import annotations

from typing import Any, Protocol


class Change(Protocol):
    """What turns a dataset into its neighbour, by one record unless it is `Several`."""

    @property
    def index(self) -> int:
        """Place of the changed record, which it keeps."""
        ...

    def at(self, index: int) -> Change:
        """Return the same change for the record at another place (inside a block, say)."""
        ...

    def apply(self, data: Any) -> Any:
        """Return the neighbour; the dataset itself is left as it is."""
        ...

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description that `change_from_json` reads back; with `by_value` it needs no pool."""
        ...

    def __str__(self) -> str: ...
