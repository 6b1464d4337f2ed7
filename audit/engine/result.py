"""The result on one claim of one mechanism: what `audit` returns and a record lists."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpassay.claims import Claim
from dpassay.engine.evidence import VALUES, DetectionCurve, Evidence, Mode, told_apart
from dpassay.engine.verdicts import Verdict, apart
from dpassay.engine.wording import seen_words, through_words
from dpassay.numerics import DOWN, UP, written
from dpassay.targets.guard import AuditTarget

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDTH = 80
"""Columns of a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Result:
    """Verdict and evidence on one claim; printed as lines that hold no record of the user's.

    It prints three lines; where a search found what refutes the claim, the pair and the event
    besides. `id` is unique in a run: mechanism, status of the claim, mode. `mode` is 'exact',
    'exhaustive' or 'monte-carlo'; it and `evidence` are None if the mechanism failed before. `seed`
    is the root seed of the trials, `draws` the certification trials per side, 0 where the law was
    computed.
    """

    id: str
    target: AuditTarget
    claim: Claim
    mode: Mode | None
    outcome: Verdict
    evidence: Evidence | None
    seed: int
    draws: int

    def __repr__(self) -> str:
        head, numbers, reason = self._lines()
        notes = () if self.evidence is None else self.evidence.searched.get("notes", ())
        lines = (numbers, *_found_by("found_lines", self, ()), reason, *notes)
        return "\n".join([head, *map(_wrapped, lines)])

    def _repr_html_(self) -> str:
        """The card that a notebook shows."""
        return str(_shown_by("card", self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the leak at every query point on `ax`, the worst first, with the claim."""
        drawn: Axes = _shown_by("plot", self, ax)
        return drawn

    def _lines(self) -> tuple[str, str, str]:
        """Return verdict, numbers and reason, but no record that a change names by its values."""
        how = "" if self.mode is None else f" ({self.mode})"
        reason = re.sub(VALUES, "", " ".join(self.outcome.reason.split()))
        if self.evidence is None:
            head = f"{self.claim} of {self.target.name}: {self.verdict}{how}"
            return head, f"cause: {reason}", "what the mechanism said, and where: .outcome.detail"
        head = f"{self.claim} of {self.target.name}: {self.verdict}{how}"
        claimed, exact = self.claim.promised, self.evidence.worst.exact
        numbers = f"{self.claim.quantity} "
        if exact is not None:
            numbers += f"{written(exact.value)}, computed from the exact law (claimed: at most "
            return head, f"{numbers}{claimed:g})", f"because {reason}"
        least, allowed = apart(self.lower, claimed, DOWN)
        where = f", at most {written(self.upper, way=UP)} at the certified cells"
        if "search" in self.evidence.searched:
            where = " at the pair that a search found"
        numbers += f"at least {least}{where} (claimed: at most {allowed})"
        through = through_words(self.sight.frequency)
        seen = f"; detectable: {written(self.detectable, way=UP)} {through}".rstrip()
        return head, f"{numbers}{seen}", f"because {reason}"

    @property
    def verdict(self) -> str:
        """One of `refuted`, `not refuted`, `verified`, `inconclusive`, `error`."""
        return self.outcome.word

    @property
    def as_expected(self) -> bool:
        """Return whether a claim that is declared wrong was refuted, or any other was not."""
        return (self.verdict == "refuted") == (self.claim.expected == "refuted")

    @property
    def measured(self) -> Result | None:
        """The notion that the claim is not about, on the same pairs and queries.

        Known where the law is known; nobody promised it.
        """
        if self.evidence is None or self.evidence.other is None:
            return None
        claim, evidence = self.evidence.other
        return replace(self, id=f"{self.id}.{claim.letter}", claim=claim, evidence=evidence)

    @property
    def lower(self) -> float:
        """Return the certified lower bound on the leak in the claim's units, 0 if there is none."""
        return 0.0 if self.evidence is None else self.evidence.lower.value

    @property
    def upper(self) -> float:
        """Certified upper bound on the largest leak of the certified cells.

        In the units of the claim; inf if there is none.
        """
        return float("inf") if self.evidence is None else self.evidence.upper.value

    @property
    def exact(self) -> float | None:
        """The true largest leak of the audited cells where it was computed, else None."""
        exact = None if self.evidence is None else self.evidence.worst.exact
        return None if exact is None else exact.value

    @property
    def detectable(self) -> float:
        """Smallest true leak that would have been refuted with probability 0.9.

        In the units of the claim.

        It holds for an answer of the probability that `sight` states, at one of the pairs that were
        looked at.
        """
        return float("inf") if self.evidence is None else self.evidence.detectable

    @property
    def sight(self) -> DetectionCurve:
        """Return what would be refuted with probability 0.9, by how frequent the answer is."""
        if self.evidence is None:
            return DetectionCurve(detectable=float("inf"))
        return self.evidence.sight

    @property
    def seen(self) -> str:
        """The same in words: a leak of so much or more, through an answer at least so probable."""
        return seen_words(self.claim.quantity, self.sight.detectable, self.sight.frequency)

    @property
    def still(self) -> bool:
        """Return whether answers were sampled and no certified cell shows that they move."""
        return self.evidence is not None and self.evidence.still and self.verdict == "inconclusive"

    @property
    def certain(self) -> str:
        """Return how a pair is told apart for certain, if that refutes the claim; else empty."""
        refuted = self.evidence is not None and self.verdict == "refuted"
        events = refuted and not self.claim.coupled
        return told_apart(self.evidence) if self.evidence is not None and events else ""

    @property
    def findings(self) -> tuple[Result, ...]:
        """Return what refutes the claim: this, and what a search found beyond a certainty.

        Each has a witness of its own, and their bounds hold all together.
        """
        if self.evidence is None or self.verdict != "refuted":
            return ()
        found = [self]
        for n, each in enumerate(self.evidence.others, 2):
            claim = each.point or self.claim
            found.append(replace(self, id=f"{self.id}.finding-{n}", claim=claim, evidence=each))
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """All cells as a table: group, pair, query, direction, and the leak or its bounds.

        Direction 0 is from S to S'. Where a search found what refutes the claim: the two datasets,
        the event, and how often it happened on each. Of what is `measured` beside a claim no cells
        are kept.
        """
        import pandas as pd

        cells = {} if self.evidence is None else dict(self.evidence.table)
        return pd.DataFrame(cells | _found_by("found", self, {}))


def _found_by(name: str, result: Result, nothing: Any) -> Any:
    """Say what a search has found, where it refutes the claim; in words of the reports."""
    if result.evidence is None or "search" not in result.evidence.searched:
        return nothing
    return getattr(import_module("dpassay.reports.run.notebook"), name)(result)


def _wrapped(line: str) -> str:
    """Break a long line between words, for a terminal of 80 columns."""
    return textwrap.fill(
        line,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shown_by(name: str, *arguments: Any) -> Any:
    """Ask the reports to show a result: the one place where an arrow of the tree points back.

    A notebook asks the object itself for its picture, so it cannot wait above.
    """
    return getattr(import_module("dpassay.reports.run.notebook"), name)(*arguments)
