"""Several changes of one record each: all of them made, or the worst of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dpassay.changes.change import Change
from dpassay.errors import require

SHOWN = 5
"""Of more changes than this the others are only counted."""


@dataclass(frozen=True, slots=True, eq=False)
class _Together:
    """What lists of changes have in common."""

    kind: ClassVar[str]
    between: ClassVar[str]
    beyond: ClassVar[str]
    """Words between two changes, and for those that are only counted."""

    changes: tuple[Change, ...]

    @property
    def index(self) -> int:
        """Place of the first record that is changed; the others have places of their own."""
        return min(change.index for change in self.changes)

    def at(self, index: int) -> Self:
        """Return the same changes moved along together, the first of them to this place."""
        moved = (change.at(change.index - self.index + index) for change in self.changes)
        return type(self)(tuple(moved))

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description of each change."""
        changes = [change.as_json(by_value=by_value) for change in self.changes]
        return {"kind": self.kind, "changes": changes}

    def __str__(self) -> str:
        left = len(self.changes) - SHOWN
        more = self.beyond.format(left) if left > 0 else ""
        return self.between.join(map(str, self.changes[:SHOWN])) + more


@dataclass(frozen=True, slots=True, eq=False)
class Several(_Together):
    """At least two changes, of one record each and of different records, all made."""

    kind: ClassVar[str] = "several"
    between: ClassVar[str] = ", "
    beyond: ClassVar[str] = ", and {} more"

    def __post_init__(self) -> None:
        single = not any(isinstance(change, Several) for change in self.changes)
        allowed = "at least two changes of one record each"
        require(len(self.changes) >= 2 and single, "changes", self.changes, allowed)
        places = [change.index for change in self.changes]
        require(len(set(places)) == len(places), "changes", places, "changes of different records")

    def apply(self, data: Any) -> Any:
        """Return the dataset with all the records changed."""
        for change in self.changes:
            data = change.apply(data)
        return data


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """A dataset S and some neighbours, one record changed in each, under one random string.

    See `dpassay.targets.coupled`.
    """

    base: Any
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf(_Together):
    """One of several changes of one record, whichever is worst once the random string is known."""

    kind: ClassVar[str] = "any-of"
    between: ClassVar[str] = " or "
    beyond: ClassVar[str] = ", or one of {} more"

    def __post_init__(self) -> None:
        single = not any(isinstance(change, _Together) for change in self.changes)
        allowed = "at least one change, of one record each"
        require(len(self.changes) > 0 and single, "changes", self.changes, allowed)

    def apply(self, data: Any) -> Compared:
        """Return the dataset beside its neighbours."""
        return Compared(base=data, changes=self.changes)


def one_by_one(change: Change) -> tuple[Change, ...]:
    """Return the changes of one record each that make up a change."""
    return change.changes if isinstance(change, Several) else (change,)
