"""Claims about the probability of an answer: what reads, plans and bounds anew."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.claims import Claim
from dpassay.engine.detection.alternatives import Answers, answers_of
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.detection.design import Design, is_seen, sight, usual_frequency
from dpassay.engine.readings import LabelLeaks, Leaks, NoiseLeaks
from dpassay.engine.testers.events import Events, half_lines, label_events
from dpassay.engine.testers.interface import NOT_SAMPLED, Effort, Kind, Recorded
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, Law, NoiseLaw
from dpassay.stats.binomial import leak_upper
from dpassay.stats.bounds import Counts
from dpassay.stats.inversion import upper as combined_upper
from dpassay.stats.lower_bounds import NAMES, Method, lower_bound
from dpassay.stats.power import detectable
from dpassay.stats.scales import Scale, scale_of
from dpassay.stats.stouffer import STOUFFER
from dpassay.stats.upper_bounds import accuracy_upper
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins


@dataclass(frozen=True, slots=True)
class AboutEvents(Kind):
    """Claims that compare the probabilities of events.

    These are the ones that `scale_of` knows: the loss, the Gaussian distance, the change of a
    label's probability.
    """

    claim: Claim

    @property
    def scale(self) -> Scale:
        """Return how a leak is measured."""
        return scale_of(self.claim)

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:
        """Return labels by their law, or a number with noise, whose events are all meant.

        Without coins there is no useful loss.
        """
        if isinstance(law, FiniteLaw):
            return LabelLeaks(claim=self.claim, labels=labels)
        return (
            NoiseLeaks(claim=self.claim, noise=law.noise)
            if isinstance(law, NoiseLaw) and self.claim.profiled
            else None
        )

    def tester(self, target: AuditTarget, bins: tuple[Bins, ...]) -> Events:
        """Half-lines of numbers, or sets of labels."""
        if bins:
            return half_lines(self.scale, self.claim.promised, bins)
        return label_events(self.scale, self.claim.promised, target.labels)

    def curve(self, target: AuditTarget, effort: Effort) -> DetectionCurve:
        """At the frequency that is assumed."""
        return sight(self._design(target, effort), None)

    def bounded(self, target: AuditTarget) -> bool:
        """Labels, unless they have more unions than are looked at; of numbers nothing is."""
        if target.numbers is not None:
            return False
        return label_events(self.scale, self.claim.promised, target.labels).bounded

    def sees(self, target: AuditTarget, effort: Effort, leak: float) -> bool:
        """At the frequency that is assumed."""
        design = self._design(target, effort)
        return is_seen(design, usual_frequency(design), leak)

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """At the claim's worst face."""
        return self.scale.spread(*self.scale.allowed(leak).tight)

    def lower(self, cell: Recorded, alpha: float) -> float:
        """By the same test."""
        method, counts = _counted(cell)
        return lower_bound(method, counts, scale=self.scale, alpha=alpha).value

    def upper(self, cell: Recorded, alpha: float, floor: float) -> float:
        """Bound by the accuracy test, or face by face.

        Each face is bounded by limits and by Stouffer's test, at half of alpha each.
        """
        counts, scale, highest = _counted(cell)[1], self.scale, floor
        if scale.by_accuracy:
            return max(floor, accuracy_upper(counts.x, counts.y, counts.n1, alpha=alpha))
        # an event and its complement, in both directions
        one, other = (counts.x, counts.n1), (counts.y, counts.n0)
        rest, other_rest = (counts.n1 - counts.x, counts.n1), (counts.n0 - counts.y, counts.n0)
        faces = (*one, *other), (*other, *one), (*rest, *other_rest), (*other_rest, *rest)
        for x, n1, y, n0 in faces:
            plain = float(leak_upper(x, n1, y, n0, scale=scale, alpha=alpha / 2))
            if plain > highest:
                sharp = combined_upper(
                    STOUFFER, x, n1, y, n0, scale=scale, alpha=alpha / 2, floor=highest
                )
                highest = min(plain, sharp)
        return highest

    def detectable(self, cell: Recorded, limit: float, effort: Effort, *, through: bool) -> float:
        """Nothing is screened; else at the claim's worst face."""
        seen = cell.counts if through else None
        frequency = 1.0 if seen is None else seen.x / seen.n1
        return detectable(
            scale=self.scale, promised=limit, n=effort.n, alpha=effort.alpha, frequency=frequency
        )

    def _design(self, target: AuditTarget, effort: Effort) -> Design:
        labels = len(target.labels) if target.numbers is None else 0
        return Design(
            scale=self.scale,
            promised=self.claim.promised,
            answers=answers_of(self.scale, labels) if labels else Answers(labels=0),
            n=effort.n,
            alpha=effort.alpha,
            screening=effort.screening,
        )


def _counted(cell: Recorded) -> tuple[Method, Counts]:
    methods = [method for method in NAMES if method == cell.method]
    if cell.counts is None or not methods:
        raise InvalidInput(NOT_SAMPLED)
    return methods[0], cell.counts
