"""The one signature of all score attacks: fit on reference models, score target models.

Higher score = member.
"""

from __future__ import annotations

from typing import Protocol

from dpassay.attacks.observed import Array, Flags, Observed


class Fitted(Protocol):
    """An attack that has seen its reference models."""

    def score(self, target: Observed) -> Array:
        """Score every record against every target model, shape (models, e); higher means member.

        Models are scored one by one: the scores of one do not depend on the others.
        """
        ...


class Attack(Protocol):
    """A membership-inference attack."""

    def fit(self, reference: Observed, membership: Flags) -> Fitted:
        """Learn from reference models what members look like.

        The attacker trained them, and saw them through the same interface as the target, at
        the same records. Membership is (models, e). An attack that needs more models is
        refused.
        """
        ...
