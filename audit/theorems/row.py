"""One row: a statement of a paper, or a part or reading of it, as an executable check.

A row is a list of cases and a function that measures one. A case is a few numbers, JSON values
all, and everything that `measure` needs: so a case is a witness, and measuring it again replays it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dpassay.errors import require
from dpassay.theorems.effort import Effort

Case = Mapping[str, Any]
Method = Literal["exact", "certified", "search"]
Relation = Literal["at most", "at least"]
Verdict = Literal["refuted", "not refuted", "verified", "inconclusive", "error"]

ROUNDING = 1e-9
"""A computed number and its claim are equal if they are no further apart, as a part of the larger,
and its error is no larger either."""
ASKED = 1.5
"""A sampled row decides nothing if a violation by this factor could have been missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the statement allows in one case, and what is true there.

    The true number lies between `lower` and `upper`, which are proven with the numerical error
    where it is computed, and certified at `alpha` where it is sampled. `detectable` is, of
    sampled numbers, the nearest true number beyond the claim that would have been refuted with
    probability 0.9.
    """

    claimed: float
    lower: float
    upper: float
    alpha: float = 0.0  # error probability of the bounds; 0 where nothing is random
    detectable: float | None = None

    def __post_init__(self) -> None:
        require(not math.isnan(self.claimed), "claimed", self.claimed, "a number")
        require(self.lower <= self.upper, "lower", self.lower, f"at most upper = {self.upper}")


def computed(claimed: float, value: float, error: float) -> Measured:
    """Return what was computed with a proven error; 0 for whole numbers and exact fractions."""
    return Measured(claimed=claimed, lower=value - error, upper=value + error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Numbers along one name of a case, to be drawn."""

    along: str
    # values of the name, each with what was measured there
    points: tuple[tuple[float, Measured], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What came of a row."""

    verdict: Verdict  # in the words of the audit
    reason: str  # why, in one line
    cells: int = 0  # cases that were measured
    worst: Measured | None = None  # largest violation, or what comes nearest to one
    case: Case | None = None  # where the worst was measured
    witness: Case | None = None  # the first, and so smallest, case that violates the statement
    found: Measured | None = None  # what was measured at the witness
    series: Series | None = None  # of a row about growth, the numbers of the worst case


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A check of a statement.

    `method` says whether the number is computed for every case of a named domain ('exact'),
    sampled with certified bounds ('certified'), or looked for among cases that are no domain
    ('search').
    """

    key: str  # paper/statement/part, e.g. "dwork-feldman-2018/theorem-4.1/privacy"
    checks: str  # which part or reading is checked against what, in one sentence
    quantity: str  # what `claimed` and the true number are, in words
    method: Method
    domain: str  # the cases, in words
    cases: Callable[[Effort], Iterable[Case]]  # makes them, smallest first
    measure: Callable[..., Measured]  # measures one, given by keyword
    relation: Relation = "at most"  # how the true number must stand to the claimed one
    verdict: Verdict = "verified"  # at the default effort; a row's test holds it to this
    derivation: str = ""  # section of docs/findings.md, if the statement fails as printed
    # of a row about growth: the numbers of a case along one of its names
    series: Callable[..., Series] | None = None

    def __post_init__(self) -> None:
        parts = self.key.split("/")
        require(len(parts) == 3 and all(parts), "key", self.key, "paper/statement/part")
        refuted = self.verdict == "refuted"
        require(
            refuted == bool(self.derivation),
            "derivation",
            self.derivation,
            f"a section of docs/findings.md if and only if the row is refuted ({self.key})",
        )

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.key.split("/")[0]

    @property
    def statement(self) -> str:
        """The name of the statement in its paper."""
        return self.key.split("/")[1]

    def check(self, effort: Effort) -> Checked:
        """Measure every case and judge the statement by the worst.

        What a case raises passes: `dpassay.theorems.run` makes a verdict of it.
        """
        found = [(case, self.measure(**case)) for case in self.cases(effort)]
        if not found:
            return Checked(verdict="inconclusive", reason="there was no case to look at")
        violated = [each for each in found if violates(each[1], self.relation)]
        certain = bool(violated)
        case, worst = max(
            violated or found, key=lambda each: beyond(each[1], self.relation, certain=certain)
        )
        verdict, reason = judge(self, [measured for _, measured in found])
        return Checked(
            verdict=verdict,
            reason=reason,
            cells=len(found),
            worst=worst,
            case=case,
            witness=violated[0][0] if violated else None,
            found=violated[0][1] if violated else None,
            series=None if self.series is None else self.series(**case),
        )


def beyond(measured: Measured, relation: Relation, *, certain: bool) -> float:
    """Return how far the true number is beyond the claimed one; below 0 it is not.

    It is a part of the claim where that is a positive number, so that cases can be compared.
    `certain` asks by its bounds how far it is for certain, otherwise how far it may be.
    """
    claimed = measured.claimed
    true = measured.lower if certain == (relation == "at most") else measured.upper
    if claimed == true:
        return 0.0
    apart = true - claimed if relation == "at most" else claimed - true
    return apart / claimed if 0 < claimed < math.inf else apart


def violates(measured: Measured, relation: Relation) -> bool:
    """Whether a case breaks the statement for certain, and by more than rounding."""
    return beyond(measured, relation, certain=True) > 0 and not _equal(measured)


def keeps(measured: Measured, relation: Relation) -> bool:
    """Whether a case keeps the statement for certain, or is equal to it but for rounding."""
    return beyond(measured, relation, certain=False) <= 0 or _equal(measured)


def _equal(measured: Measured) -> bool:
    scale = ROUNDING * max(abs(measured.claimed), abs(measured.lower), abs(measured.upper))
    apart = max(abs(measured.lower - measured.claimed), abs(measured.upper - measured.claimed))
    return apart <= scale < math.inf


def judge(row: Row, found: Sequence[Measured]) -> tuple[Verdict, str]:
    """Return the verdict on a row and the reason, given all its cases."""
    if any(violates(each, row.relation) for each in found):
        return "refuted", f"{row.quantity}: must be {row.relation} what is claimed, and is not"
    if row.method == "exact":
        if all(keeps(each, row.relation) for each in found):
            return "verified", f"holds in all {len(found):,} cases: {row.domain}"
        return "inconclusive", "a bound on the true number reaches across the claim"
    if row.method == "search":
        return "not refuted", f"none of {len(found):,} cases violates it: {row.domain}"
    blind = max(_detectable_factor(each, row.relation) for each in found)
    if blind > ASKED:
        return "inconclusive", f"a violation by a factor of {ASKED:g} could have been missed"
    return "not refuted", f"a violation by a factor of {blind:.4g} would have been seen anywhere"


def _detectable_factor(measured: Measured, relation: Relation) -> float:
    if measured.detectable is None:
        return math.inf
    numbers = (measured.detectable, measured.claimed)
    one, other = numbers if relation == "at most" else numbers[::-1]
    return one / other if other > 0 else math.inf
