"""dataSplit (Chaudhuri and Vinterbo 2013, section 5): every parameter trained on a k-th of T of its own, with the whole budget.

Claim as printed (Theorem 5): alpha-differentially private if T and V are disjoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpassay.claims import DP, Claim
from dpassay.mechanisms.choices import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSplit(Choice):
    """alpha_i = alpha, T_i every k-th record of T, p_i proportional to e^(-alpha e_i / 2). Parameters as for `Choice`."""

    def rows(self, i: int, k: int) -> Any:
        """Records i, i + k, ...: parts whose sizes differ by at most one."""
        return slice(i, None, k)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim: a changed record is in one part, or in V."""
        coins = "training and choice fresh; the partition is fixed, the claim holds for each"
        source = "Chaudhuri and Vinterbo 2013, Theorem 5 (dataSplit)"
        return (DP(epsilon=self.alpha, coins=coins, source=source, status="printed"),)
