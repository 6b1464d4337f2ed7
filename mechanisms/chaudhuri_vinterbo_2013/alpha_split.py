"""alphaSplit (Chaudhuri and Vinterbo 2013, section 5).

Every parameter trained on all of T, with a k-th of the budget.

Claim as printed (Theorem 5): alpha-differentially private if T and V are disjoint, each training
being private with what it is run with. Over a base that claims more the claim is computed from
that.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.claims import Claim
from dpassay.mechanisms.chaudhuri_vinterbo_2013.choices import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaSplit(Choice):
    """alpha_i = alpha / k, T_i = T, p_i proportional to e^(-alpha e_i / 2).

    Parameters as for `Choice`.
    """

    def budget(self, k: int) -> float:
        """Alpha / k."""
        return self.alpha / k

    @property
    def claims(self) -> tuple[Claim, ...]:
        """A record of T is in k releases, each of what the base claims for alpha / k.

        One of V in one choice of alpha.
        """
        return self.composed(
            printed="Chaudhuri and Vinterbo 2013, Theorem 5 (alphaSplit)",
            chosen=self.alpha,
            summed=True,
        )
