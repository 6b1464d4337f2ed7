"""Single-record tests on models that generalise well (Long et al. 2018).

How unusual is what is seen of a non-member.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class SingleRecord:
    """Score: 1 minus the p-value of 'not a member', from the reference models without the record.

    No shape is assumed.

    The p-value is (1 + number of such models that show the own label as strongly) / (1 + number of
    such models).
    """

    def fit(self, reference: Observed, membership: Flags) -> FittedSingleRecord:
        """Keep what models without each record show; each record needs one."""
        if membership.all(axis=0).any():
            raise InvalidInput("reference = models: must be one at least without each record")
        return FittedSingleRecord(
            own=np.sort(np.where(membership, -np.inf, reference.own), axis=0),
            outside=(~membership).sum(axis=0),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSingleRecord:
    """The own label's shares in reference models, ascending, and how many are without the record.

    A share is -inf where the record was in.
    """

    own: Array
    outside: Array

    def score(self, target: Observed) -> Array:
        """1 minus the p-value, shape (models, e); in [0, 1)."""
        shown = target.own
        as_strong = np.stack([(self.own >= row).sum(axis=0) for row in shown])
        return 1 - (1 + as_strong) / (1 + self.outside)
