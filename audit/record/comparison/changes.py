"""What is found when a record is held against an older one, of whichever kind both are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Literal

from dpassay.errors import is_real, require
from dpassay.numerics import lower_number, number, upper_number

Entry = Mapping[str, Any]
"""What a record says of one thing."""
Kind = Literal[
    "refuted",
    "failed",
    "vanished",
    "repointed",
    "weakened",
    "rose",
    "blinder",
    "elsewhere",
    "fell",
    "tightened",
    "recovered",
    "reworded",
    "new",
    "estimated",
    "moved",
]

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
"""What is worth a line, and nothing else."""

TOLERANCE = 0.05
ALPHA = 5e-4
"""Error probability of every bound of an entry; a constant, so that adding a mechanism changes
nothing for the others.

What is said of an entry rests on one bound of either record, so it holds with 99.9 %, which is a
run's confidence by default.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is different.

    Parameters
    ----------
    id : str
        The result's in the new record; in the old one if it vanished.
    mechanism : str
    kind : str
        A key of `REGRESSIONS` or `NEWS`; of attacks also `estimated`, of theorems also `moved`.
    words : str
        What is different, with numbers.
    witness, replay : str
        Of a refuted claim: the witness in words, and the file that `dpassay replay` takes, with
        `--trust` after it where that is needed; else empty.
    size : float or None
        How bad it is, in the units of the claim, where that is a number: the leak that is certified
        now (refuted, rose), or the smallest that would still be seen (blinder).
    renamed : tuple of (str, str), or None
        Where this looks like a new name and nothing else: the old name and the new one, of the
        mechanism (vanished) or of what it stands for (repointed).
    """

    id: str
    mechanism: str
    kind: Kind
    words: str
    witness: str = ""
    replay: str = ""
    size: float | None = None
    renamed: tuple[str, str] | None = None

    @property
    def is_regression(self) -> bool:
        """Whether it turns a pipeline red."""
        return self.kind in REGRESSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class RiseLimit:
    """Which rise of a sampled entry's leak would have been seen.

    Parameters
    ----------
    id : str
        The result's in the new record.
    quantity : str
        What the claim is about, in words.
    cells, of : int
        So many of the cells that the old record lists have fresh counts in the new one.
    before : tuple of float
        Bounds in the old record on the leak of that of those cells which has the highest lower
        bound, in the units of the claim.
    least : float
        The smallest leak of that cell that would have been called a rise with probability 0.9; inf
        where none would.
    searched : bool
        Whether the pairs of the new record were searched for, so that each run may find others.
    noun : str
        What cells are called: `cell`, or of attacks `number`.
    """

    id: str
    quantity: str
    cells: int
    of: int
    before: tuple[float, float]
    least: float
    searched: bool = False
    noun: str = "cell"

    def as_json(self) -> dict[str, Any]:
        """Every field, for programs."""
        before = [lower_number(self.before[0]), upper_number(self.before[1])]
        return asdict(self) | {"before": before, "least": upper_number(self.least)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A record held against an older one.

    Parameters
    ----------
    changes : tuple of Change
        Regressions first, in the order of the new record.
    unchanged : tuple of str
        Ids of the results of the new record that nothing is said of.
    tolerance : float
        Part of the claim by which a bound may move.
    alpha : float
        Error probability of every bound of an entry.
    rise_limits : tuple of RiseLimit
        What would have been seen of each sampled entry that both records hold.
    schema : str
        Of the document that `as_json` makes.
    """

    changes: tuple[Change, ...]
    unchanged: tuple[str, ...]
    tolerance: float
    alpha: float
    rise_limits: tuple[RiseLimit, ...] = ()
    schema: str = "dpassay/comparison/1"

    @property
    def blind(self) -> tuple[RiseLimit, ...]:
        """Entries of which no cell of the old record was counted again.

        No rise of theirs could have been seen.
        """
        return tuple(limit for limit in self.rise_limits if not limit.cells)

    @property
    def regressions(self) -> tuple[Change, ...]:
        """What turns a pipeline red."""
        return tuple(change for change in self.changes if change.is_regression)

    @property
    def news(self) -> tuple[Change, ...]:
        """The rest."""
        return tuple(change for change in self.changes if not change.is_regression)

    def as_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "schema": self.schema,
            "tolerance": self.tolerance,
            "alpha": self.alpha,
            "regressions": [_json(change) for change in self.regressions],
            "news": [_json(change) for change in self.news],
            "unchanged": list(self.unchanged),
            "rise_limits": [limit.as_json() for limit in self.rise_limits],
        }


def _json(change: Change) -> dict[str, Any]:
    size = None if change.size is None else number(change.size)
    renamed = None if change.renamed is None else list(change.renamed)
    return asdict(change) | {"size": size, "renamed": renamed}


def require_tolerance(tolerance: float) -> None:
    """Raise `InvalidInput` unless a tolerance is a part of a claim."""
    require(
        is_real(tolerance) and 0 <= tolerance <= 1, "tolerance", tolerance, "a number in [0, 1]"
    )


def entry_by_entry(
    before: Mapping[str, Entry],
    after: Mapping[str, Entry],
    *,
    both: Callable[[Entry, Entry], Iterable[Change]],
    new: Callable[[Entry], Iterable[Change]],
    gone: Callable[[Entry], Change],
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Say of every entry of two records what is different.

    Parameters
    ----------
    before, after : mapping
        Entries of the older and of the newer record, by what they are known by in every record.
    both, new, gone : callable
        What is said of an entry that both hold, the new one alone, the old one alone.

    Returns
    -------
    (tuple of Change, tuple of str)
        What is different, regressions first; and the keys of what nothing is said of.
    """
    found = {
        key: [*(both(before[key], entry) if key in before else new(entry))]
        for key, entry in after.items()
    }
    vanished = (gone(entry) for key, entry in before.items() if key not in after)
    changes = sorted(chain(*found.values(), vanished), key=lambda change: not change.is_regression)
    return tuple(changes), tuple(key for key, said in found.items() if not said)
