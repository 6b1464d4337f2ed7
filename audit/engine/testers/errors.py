"""Errors: claims about a number that is computed from one dataset; no trials certify it."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.claims import Accuracy
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.readings import ErrorLeaks, Leaks
from dpassay.engine.testers.interface import Effort, Kind
from dpassay.laws import Law, PointLaw
from dpassay.targets.guard import AuditTarget


@dataclass(frozen=True, slots=True)
class AboutErrors(Kind):
    """Claims about an error without coins."""

    claim: Accuracy

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:  # noqa: ARG002
        """The error itself."""
        return ErrorLeaks() if isinstance(law, PointLaw) else None

    def curve(self, target: AuditTarget, effort: Effort) -> DetectionCurve:  # noqa: ARG002
        """Any error above the claim is seen."""
        return DetectionCurve(detectable=self.claim.promised)

    def bounded(self, target: AuditTarget) -> bool:  # noqa: ARG002
        """It is not sampled."""
        return False

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """There are no coins."""
        return 0.0
