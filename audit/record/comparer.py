"""What has become worse, or better, from one record to another, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpassay.numerics import lower_number, number, upper_number

Raw = Mapping[str, Any]

REGRESSIONS: dict[str, str] = {
    "refuted": "a claim is refuted",
    "failed": "an entry could not be audited, or a claim that is known to be wrong was not refuted",
    "vanished": "an entry is not there any more",
    "repointed": "an entry's name stands for another target",
    "weakened": "a claim promises less than it did",
    "rose": (
        "the leak rose, at cells that both records have certified, by more than the tolerance and "
        "significantly"
    ),
    "blinder": "the audit lost power: it looks at less or elsewhere, or sees less",
}
"""What turns a pipeline red."""
NEWS: dict[str, str] = {
    "elsewhere": (
        "a cell that the old record had not certified leaks more than those it had; that it rose "
        "is not certified"
    ),
    "fell": (
        "the leak fell, at cells that both records have certified, by more than the tolerance and "
        "significantly"
    ),
    "tightened": "a claim promises more than it did",
    "recovered": "a claim is not refuted any more, or could be audited again",
    "reworded": (
        "a claim's unit or coins are described in other words; if more changed, the bounds cannot "
        "be compared"
    ),
    "new": "an entry was not there before",
}
"""What is worth a line, and nothing else; of attacks `estimated`, of theorems `moved` too."""

TOLERANCE = 0.05
ALPHA = 5e-4
"""Error probability of every bound of an entry; a constant, so that adding a mechanism changes
nothing for the others. What is said of an entry rests on one bound of either record, so it holds
with 99.9 %, which is a run's confidence by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is different."""

    id: str
    mechanism: str
    kind: str  # of `REGRESSIONS` or `NEWS`
    words: str
    witness: str = ""
    replay: str = ""
    size: float | None = None  # the leak certified now, or the smallest that would still be seen
    renamed: tuple[str, str] | None = None  # old and new name, where nothing else may have changed

    @property
    def is_regression(self) -> bool:
        """Return whether it turns a pipeline red."""
        return self.kind in REGRESSIONS

    def as_json(self) -> dict[str, Any]:
        """Return every field, for programs."""
        size = None if self.size is None else number(self.size)
        return asdict(self) | {"size": size, "renamed": self.renamed and list(self.renamed)}


def difference(
    entry: Raw, kind: str, words: str, size: float | None = None, **more: Any
) -> Difference:
    """Return what is different of an entry; attacks and theorems have no other name than the id."""
    name = entry["id"]
    return Difference(
        id=name,
        mechanism=entry.get("mechanism", name),
        kind=kind,
        words=words,
        size=size,
        **more,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RiseLimit:
    """Which rise of a sampled entry's leak would have been seen."""

    id: str
    quantity: str
    cells: int  # so many of the old record's have fresh counts in the new one
    of: int
    before: tuple[float, float]  # bounds on the leak of the worst of those in the old record
    least: float  # the smallest leak there that would be called a rise with probability 0.9
    searched: bool = False
    noun: str = "cell"

    def as_json(self) -> dict[str, Any]:
        """Return every field, for programs."""
        before = [lower_number(self.before[0]), upper_number(self.before[1])]
        return asdict(self) | {"before": before, "least": upper_number(self.least)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A record held against an older one."""

    changes: tuple[Difference, ...]  # regressions first
    unchanged: tuple[str, ...]
    tolerance: float
    alpha: float
    rise_limits: tuple[RiseLimit, ...] = ()
    schema: str = "dpassay/comparison/1"

    @property
    def blind(self) -> tuple[RiseLimit, ...]:
        """Return entries without a cell counted again: no rise of theirs could be seen."""
        return tuple(limit for limit in self.rise_limits if not limit.cells)

    @property
    def regressions(self) -> tuple[Difference, ...]:
        """Return what turns a pipeline red."""
        return tuple(change for change in self.changes if change.is_regression)

    def as_json(self) -> dict[str, Any]:
        """Return everything, for programs."""
        news = [each.as_json() for each in self.changes if not each.is_regression]
        return {
            "schema": self.schema,
            "tolerance": self.tolerance,
            "alpha": self.alpha,
            "regressions": [change.as_json() for change in self.regressions],
            "news": news,
            "unchanged": list(self.unchanged),
            "rise_limits": [limit.as_json() for limit in self.rise_limits],
        }


class Comparer:
    """Holds the entries of a record against those of an older one, of the same kind.

    A kind of record says what its entries are and what there is to say of one.
    """

    schema = "dpassay/comparison/1"

    def __init__(self, old: Raw, new: Raw, tolerance: float, alpha: float, strict: bool) -> None:
        self.old, self.new = old, new
        self.tolerance, self.alpha, self.strict = tolerance, alpha, strict
        self.before, self.after = self.entries(old), self.entries(new)

    def entries(self, record: Raw) -> dict[str, Raw]:
        """Return the entries of a record, by what each is known by in every record."""
        return {each["id"]: each for each in record["results"]}

    def others(self) -> Iterable[Difference]:
        """Yield what is to be said of no entry; it comes first."""
        return ()

    def own(self, entry: Raw) -> Iterable[Difference]:
        """Yield what is to be said whatever was before: no baseline excuses it."""
        raise NotImplementedError

    def came(self, entry: Raw) -> str:
        """Say that an entry is new."""
        raise NotImplementedError

    def went(self, entry: Raw) -> Difference:
        """Say that an entry is gone."""
        raise NotImplementedError

    def recovered(self, old: Raw, new: Raw) -> str:
        """Say that the verdict is as it should be again."""
        raise NotImplementedError

    def both(self, old: Raw, new: Raw) -> Iterable[Difference]:
        """Yield what else is different of an entry that both records have."""
        raise NotImplementedError

    def rise_limits(self) -> Iterable[RiseLimit]:
        """Yield which rises would have been seen, of entries with counts."""
        return ()

    def comparison(self) -> Comparison:
        """Say of every entry what is different."""
        changes, unchanged = [*self.others()], []
        for key, entry in self.after.items():
            old, said = self.before.get(key), [*self.own(entry)]
            if old is None:
                said.append(difference(entry, "new", self.came(entry)))
            else:
                if not said and _unexpected(old):
                    said.append(difference(entry, "recovered", self.recovered(old, entry)))
                said += self.both(old, entry)
            changes += said
            unchanged += [] if said else [entry["id"]]
        changes += [self.went(old) for key, old in self.before.items() if key not in self.after]
        return Comparison(
            changes=tuple(sorted(changes, key=lambda change: not change.is_regression)),
            unchanged=tuple(unchanged),
            tolerance=self.tolerance,
            alpha=self.alpha,
            rise_limits=tuple(self.rise_limits()),
            schema=self.schema,
        )


def _unexpected(entry: Raw) -> bool:
    """Return whether a verdict is not the declared one; attacks have none."""
    verdict = entry.get("verdict")
    return verdict == "error" or (verdict == "refuted") != (entry.get("expected") == "refuted")
