"""Kinds: what is done with a claim, found by its kind.

A new one is a class of claims and one line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpassay.claims import DP, GDP, Accuracy, Claim, PredictionStability, ScoreStability, Stability
from dpassay.engine.evidence import DetectionCurve
from dpassay.engine.readings import ErrorLeaks, Leaks
from dpassay.engine.testers.events import Events
from dpassay.engine.testers.means import Predictions
from dpassay.engine.testers.proportions import Shares
from dpassay.engine.testers.tester import CellEffort, Finalist, Tester
from dpassay.laws import Law, PointLaw
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins


@dataclass(frozen=True, kw_only=True)
class Errors(Tester):
    """Claims about an error without coins, computed from one dataset; no trials certify it."""

    @property
    def bounded(self) -> bool:
        """Return False: it is not sampled."""
        return False

    def leaks(self, law: Law) -> Leaks | None:
        """Return the error itself."""
        return ErrorLeaks() if isinstance(law, PointLaw) else None

    def sight(self, effort: CellEffort, finalists: Sequence[Finalist] = ()) -> DetectionCurve:  # noqa: ARG002
        """Return that any error above the claim is seen."""
        return DetectionCurve(detectable=self.promised)

    def spread(self, leak: float) -> float:  # noqa: ARG002
        """Return 0: there are no coins."""
        return 0.0


TESTERS: dict[str, type[Tester]] = {
    DP.kind: Events,
    GDP.kind: Events,
    Stability.kind: Events,
    PredictionStability.kind: Predictions,
    ScoreStability.kind: Shares,
    Accuracy.kind: Errors,
}
"""How each kind of claim is read, tested, planned and bounded anew."""


def kind_of(claim: Claim, target: AuditTarget | None = None, bins: tuple[Bins, ...] = ()) -> Tester:
    """Return all that is done with a claim, about the answers of a mechanism."""
    if target is None:
        return TESTERS[claim.kind](claim=claim)
    return TESTERS[claim.kind](claim=claim, labels=target.labels, numbers=target.numbers, bins=bins)


def leaks_of(claim: Claim, law: Law, labels: tuple[int, ...]) -> Leaks | None:
    """Return how a claim reads laws of this kind; None where it cannot."""
    return TESTERS[claim.kind](claim=claim, labels=labels).leaks(law)
