"""Compare two records of one kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.errors import is_real, require
from dpassay.record.comparer import ALPHA, TOLERANCE, Comparer, Comparison
from dpassay.stats.lower_bounds import MOST_ALPHA

Raw = Mapping[str, Any]


def compare(
    old: Raw, new: Raw, *, tolerance: float = TOLERANCE, alpha: float = ALPHA, strict: bool = False
) -> Comparison:
    """Hold a record of a run, of attacks or of theorems against an older one of the same kind.

    A number may move by the part `tolerance` of the claim before anything is said. `alpha`, in
    (0, 0.25], is that of each bound that is made anew. If `strict`, estimates of attacks count.
    """
    is_part = is_real(tolerance) and 0 <= tolerance <= 1
    require(is_part, "tolerance", tolerance, "a number in [0, 1]")
    require(is_real(alpha) and 0 < alpha <= MOST_ALPHA, "alpha", alpha, f"in (0, {MOST_ALPHA}]")
    comparer: type[Comparer]
    # each kind imports what it needs alone
    if "subjects" in new:
        from dpassay.record.attack_compare import AttackComparer

        comparer = AttackComparer
    elif str(new.get("schema")).startswith("dpassay/theorems/"):
        from dpassay.record.theorem_compare import TheoremComparer

        comparer = TheoremComparer
    else:
        from dpassay.record.run_compare import RunComparer

        comparer = RunComparer
    return comparer(old, new, tolerance, alpha, strict).comparison()
