"""Kinds: what is done with a claim, found by its kind.

A new one is a class of claims and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.claims import DP, GDP, Accuracy, Claim, PredictionStability, ScoreStability, Stability
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.readings import ErrorLeaks, Leaks
from dpassay.engine.testers.events import AboutEvents
from dpassay.engine.testers.interface import CellEffort, ClaimKind
from dpassay.engine.testers.means import AboutMeans
from dpassay.engine.testers.proportions import AboutStrings
from dpassay.laws import Law, PointLaw
from dpassay.targets.guard import AuditTarget


@dataclass(frozen=True, slots=True)
class AboutErrors(ClaimKind):
    """Claims about an error without coins, computed from one dataset; no trials certify it."""

    claim: Accuracy

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:  # noqa: ARG002
        """The error itself."""
        return ErrorLeaks() if isinstance(law, PointLaw) else None

    def curve(self, target: AuditTarget, effort: CellEffort) -> DetectionCurve:  # noqa: ARG002
        """Any error above the claim is seen."""
        return DetectionCurve(detectable=self.claim.promised)

    def bounded(self, target: AuditTarget) -> bool:  # noqa: ARG002
        """It is not sampled."""
        return False

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """There are no coins."""
        return 0.0


TESTERS: dict[str, Callable[[Any], ClaimKind]] = {
    DP.kind: AboutEvents,
    GDP.kind: AboutEvents,
    Stability.kind: AboutEvents,
    PredictionStability.kind: AboutMeans,
    ScoreStability.kind: AboutStrings,
    Accuracy.kind: AboutErrors,
}
"""How each kind of claim is read, tested, planned and bounded anew."""


def kind_of(claim: Claim) -> ClaimKind:
    """Return all that is done with a claim."""
    return TESTERS[claim.kind](claim)


def leaks_of(claim: Claim, law: Law, labels: tuple[int, ...]) -> Leaks | None:
    """Return how a claim reads laws of this kind; None where it cannot."""
    return kind_of(claim).leaks(law, labels)
