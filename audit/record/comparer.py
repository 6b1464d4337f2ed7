"""What has become worse, or better, from one record to another, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpassay.config.mechanisms import KINDS
from dpassay.numerics import lower_number, number, upper_number
from dpassay.record.kinds import kind_of_record

Raw = Mapping[str, Any]
Span = tuple[float, float]
"""Lower and upper bound on a number."""

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
    kind: str  # of `KINDS`, or what is only reported; see `dpassay compare --help`
    words: str
    witness: str = ""
    replay: str = ""
    size: float | None = None  # the leak certified now, or the smallest that would still be seen
    renamed: tuple[str, str] | None = None  # old and new name, where nothing else may have changed

    @property
    def is_regression(self) -> bool:
        """Return whether it turns a pipeline red."""
        return self.kind in KINDS

    def as_json(self) -> dict[str, Any]:
        """Return every field, for programs."""
        size = None if self.size is None else number(self.size)
        return asdict(self) | {"size": size, "renamed": self.renamed and list(self.renamed)}


def difference(
    entry: Raw, kind: str, words: str, size: float | None = None, **more: Any
) -> Difference:
    """Return what is different of an entry; attacks and theorems have no other name than the id."""
    mechanism = entry.get("mechanism", entry["id"])
    return Difference(
        id=entry["id"], mechanism=mechanism, kind=kind, words=words, size=size, **more
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RiseLimit:
    """Which rise of a sampled entry's leak would have been seen."""

    id: str
    quantity: str
    cells: int  # so many of the old record's have fresh counts in the new one
    of: int
    before: Span  # bounds on the leak of the worst of those in the old record
    least: float  # the smallest leak there that would be called a rise with probability 0.9
    searched: bool = False
    noun: str = "cell"

    def as_json(self) -> dict[str, Any]:
        """Return every field, for programs."""
        before = [lower_number(self.before[0]), upper_number(self.before[1])]
        return asdict(self) | {"before": before, "least": upper_number(self.least)}


def lies_above(one: Span, other: Span, margin: float) -> bool:
    """Return whether an interval lies above another, and starts by more than the margin higher."""
    return one[0] > other[1] and one[0] - other[0] > margin


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

    A kind of record says what its entries claim, and what there is to say of one in both records.
    """

    schema = "dpassay/comparison/1"

    def __init__(self, old: Raw, new: Raw, tolerance: float, alpha: float, strict: bool) -> None:
        self.old, self.new, self.kind = old, new, kind_of_record(new)
        self.tolerance, self.alpha, self.strict = tolerance, alpha, strict
        self.before, self.after = self.entries(old), self.entries(new)

    def entries(self, record: Raw) -> dict[str, Raw]:
        """Return the entries of a record, by what each is known by in every record."""
        return {each["id"]: each for each in self.kind.entries(record)}

    def others(self) -> Iterable[Difference]:
        """Yield what is to be said of no entry; it comes first."""
        return ()

    def claim(self, entry: Raw) -> str:  # noqa: ARG002
        """Return the claim of an entry, for the beginning of a sentence."""
        return ""

    def promises(self, entry: Raw) -> tuple[float, ...]:  # noqa: ARG002
        """Return what a claim promises: the larger, the weaker."""
        return ()

    def refuted(self, entry: Raw) -> Difference:
        """Say that, and by what, a claim is refuted."""
        raise NotImplementedError

    def both(self, old: Raw, new: Raw) -> Iterable[Difference]:
        """Yield what else is different of an entry that both records have."""
        raise NotImplementedError

    def rise_limits(self) -> Iterable[RiseLimit]:
        """Yield which rises would have been seen, of entries with counts."""
        return ()

    def _own(self, entry: Raw) -> Iterator[Difference]:
        """Yield what no baseline excuses: a refutation or a failure that nobody expects."""
        verdict, known = entry["verdict"], entry["expected"] == "refuted"
        failed = entry.get("failed") or (entry["reason"] if verdict == "error" else "")
        if verdict == "refuted" and not known:
            yield self.refuted(entry)
        if failed:
            words = self._said(entry, f"could not be {self.kind.done}: {failed}")
            yield difference(entry, "failed", words)
        elif known and verdict != "refuted":
            words = "is known to be wrong and was not refuted: the audit is blind"
            yield difference(entry, "failed", self._said(entry, words))

    def _said(self, entry: Raw, words: str) -> str:
        return f"{self.claim(entry)} {words}".lstrip()

    def gone(self, entry: Raw) -> Difference:
        """Say that an entry is gone."""
        words = f"was {entry['verdict']}, and is not {self.kind.done} any more"
        return difference(entry, "vanished", self._said(entry, words))

    def restated(self, old: Raw, new: Raw, more: str = "") -> Iterator[Difference]:
        """Yield that a claim promises more or less than it did."""
        before, after = self.promises(old), self.promises(new)
        if before != after:
            tighter = all(one <= other for one, other in zip(after, before, strict=True))
            now, was = (self.claim(each) or "none" for each in (new, old))
            words = f"the claim is {now} and was {was}{more}"
            yield difference(new, "tightened" if tighter else "weakened", words)

    def comparison(self) -> Comparison:
        """Say of every entry what is different."""
        changes, unchanged = [*self.others()], []
        for key, entry in self.after.items():
            old, said = self.before.get(key), [*self._own(entry)]
            if old is None:
                about = ", ".join(filter(None, (self.claim(entry), entry["verdict"])))
                words = f"was not {self.kind.done} before: {about}"
                said.append(difference(entry, "new", words))
            else:
                verdict, known = old["verdict"], old["expected"] == "refuted"
                if not said and (verdict == "error" or (verdict == "refuted") != known):
                    words = self._said(old, f"was {verdict}: {old['reason']}")
                    said.append(difference(entry, "recovered", words))
                said += self.both(old, entry)
            changes += said
            unchanged += [] if said else [entry["id"]]
        changes += [self.gone(old) for key, old in self.before.items() if key not in self.after]
        return Comparison(
            changes=tuple(sorted(changes, key=lambda change: not change.is_regression)),
            unchanged=tuple(unchanged),
            tolerance=self.tolerance,
            alpha=self.alpha,
            rise_limits=tuple(self.rise_limits()),
            schema=self.schema,
        )
