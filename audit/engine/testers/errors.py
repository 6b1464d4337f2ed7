"""Errors: claims about a number that is computed from one dataset; no trials certify it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from dpassay.claims import Accuracy
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.readings import ErrorLeaks, Leaks
from dpassay.engine.testers.interface import Effort, Recorded
from dpassay.errors import InvalidInput
from dpassay.laws import Law, PointLaw
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins


@dataclass(frozen=True, slots=True)
class AboutErrors:
    """Claims about an error without coins."""

    claim: Accuracy

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:  # noqa: ARG002
        """The error itself."""
        return ErrorLeaks() if isinstance(law, PointLaw) else None

    def tester(self, target: AuditTarget, bins: tuple[Bins, ...]) -> NoReturn:  # noqa: ARG002
        """There is none."""
        raise InvalidInput(NOT_SAMPLED)

    def curve(self, target: AuditTarget, effort: Effort) -> DetectionCurve:  # noqa: ARG002
        """Any error above the claim is seen."""
        return DetectionCurve(detectable=self.claim.promised)

    def bounded(self, target: AuditTarget) -> bool:  # noqa: ARG002
        """It is not sampled."""
        return False

    def sees(self, target: AuditTarget, effort: Effort, leak: float) -> bool:  # noqa: ARG002
        """Any error above the claim is seen."""
        return leak >= self.claim.promised

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """There are no coins."""
        return 0.0

    def lower(self, cell: Recorded, alpha: float) -> NoReturn:  # noqa: ARG002
        """No record has a sampled one."""
        raise InvalidInput(NOT_SAMPLED)

    def upper(self, cell: Recorded, alpha: float, floor: float) -> NoReturn:  # noqa: ARG002
        """No record has a sampled one."""
        raise InvalidInput(NOT_SAMPLED)

    def detectable(
        self,
        cell: Recorded,  # noqa: ARG002
        limit: float,  # noqa: ARG002
        effort: Effort,  # noqa: ARG002
        *,
        through: bool,  # noqa: ARG002
    ) -> NoReturn:
        """No record has a sampled one."""
        raise InvalidInput(NOT_SAMPLED)


NOT_SAMPLED = "was not sampled; only sampled bounds have an error probability"
