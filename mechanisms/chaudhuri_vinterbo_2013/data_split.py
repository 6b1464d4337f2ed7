"""dataSplit (Chaudhuri and Vinterbo 2013, section 5).

Every parameter trained on a k-th of T of its own, with the whole budget.

Claims as printed (Theorem 5): alpha-differentially private "if T and V are disjoint"; 2 alpha if
they are not. A record in both moves one training and the errors on V: 2 alpha is approached, so
alpha does not hold without the condition (docs/findings.md, 'dataSplit with a record in T and V').
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dpassay.claims import Claim
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.choices import Choice

PLACES = ("apart", "shared", "overlooked")
TAIL = 4
"""Labels by which a part is for the wrong sign: two would be enough for the whole of alpha with the
Huber loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSplit(Choice):
    """alpha_i = alpha, T_i every k-th record of T, p_i proportional to e^(-alpha e_i / 2).

    Parameters
    ----------
    alpha, base, m, release, public
        As for `Choice`.
    V : {"apart", "shared", "overlooked"}
        Where the last m records are: not in T; in T too, which is all records; in T too, and alpha
        is held against it, by somebody who overlooks that Theorem 5 asks for disjoint sets.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, see `Choice`.
    """

    V: Literal["apart", "shared", "overlooked"] = "apart"

    def __post_init__(self) -> None:
        super(DataSplit, self).__post_init__()
        require(self.V in PLACES, "V", self.V, f"one of {', '.join(PLACES)}")

    def rows(self, i: int, k: int) -> Any:
        """Records i, i + k, ...: parts whose sizes differ by at most one."""
        return slice(i, None, k)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """A changed record counts for what the base claims of its part, or is in V.

        In both it moves the choice besides.
        """
        coins = "training and choice fresh; partition fixed (the claim holds for every partition)"
        source = "Chaudhuri and Vinterbo 2013, Theorem 5 (dataSplit)"
        apart = self.composed(
            printed=source, chosen=self.alpha, parts=len(self.thetas), coins=coins
        )
        if self.V == "apart":
            return apart
        said = ", T and V not disjoint"
        both = tuple(
            replace(each, epsilon=each.epsilon + self.alpha, source=each.source + said)
            for each in apart
        )
        without = (
            "not printed: Chaudhuri and Vinterbo 2013, Theorem 5 (dataSplit) without its "
            "condition that T and V are disjoint"
        )
        return (
            (*both, replace(apart[0], source=without, status="own"))
            if self.V == "overlooked"
            else both
        )

    def check(self, data: Labelled) -> None:
        """As for `Choice`, of T with V behind it."""
        super(DataSplit, self).check(self._in_order(data))

    def prepare(self, data: Labelled) -> Labelled:
        """Keep T with V behind it: where V is shared its records are there twice."""
        self.check(data)
        return self._in_order(data)

    def _in_order(self, data: Labelled) -> Labelled:
        n = len(data)
        return data if self.V == "apart" else data.take(np.r_[0:n, max(0, n - self.m) : n])

    def pairs(self) -> tuple[WorstCase, ...]:
        """Those of `Choice`; with shared V, few and many records, V's first label flipped."""
        if self.V == "apart":
            return super(DataSplit, self).pairs()
        k, m = len(self.thetas), self.m
        few, many = np.zeros(max(k, m) + 1, dtype=np.int64), np.zeros(16 * m * k, dtype=np.int64)
        part = np.arange(len(many))[self.rows((len(many) - m) % k, k)]
        many[part[: (len(part) - TAIL) // 2]] = 1
        one = (
            "the flip makes a wrong sign likelier for the weight of one part, and lowers the "
            "errors of such a weight"
        )
        rare = (
            "one part has the wrong sign more often than the others; the flip makes that likelier, "
            "removes one of the errors that come with it, and adds one to the right sign's"
        )
        return self._flipped(few, one), self._flipped(many, rare)

    def _flipped(self, y: Any, reason: str) -> WorstCase:
        """All records at one point with labels y, that of the first of V flipped."""
        case = self._case(y[: len(y) - self.m], len(y) - self.m, 1.0, reason)
        base = Labelled(case.pairs.base.X, y)
        return replace(case, pairs=replace(case.pairs, base=base))
