"""Which rise of a sampled leak would have been seen from one record to another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpassay.record.comparison.changes import RiseLimit
from dpassay.record.comparison.entries import claim_of
from dpassay.record.comparison.power import draws_of
from dpassay.record.rebound import bounds_of_cell, detectable_at_alpha, in_common

Raw = Mapping[str, Any]


def is_watched(result: Raw) -> bool:
    """Return whether a result has trials that a rise could be seen in.

    A claim that is known to be wrong is not watched.
    """
    return bool(
        result["verdict"] != "error" and result["exact"] is None and result["expected"] != "refuted"
    )


def rise_limit(old: Raw, new: Raw, tolerance: float, alpha: float) -> RiseLimit:
    """Say which rise would have been seen at the cells that both records have counted."""
    claim, (here, there) = claim_of(new), in_common(old, new)
    before, least = (0.0, math.inf), math.inf
    if here:
        every = [bounds_of_cell(old, claim, alpha, here, k) for k in range(len(here))]
        worst = max(range(len(here)), key=lambda k: every[k][0])
        before = every[worst]
        must_exceed = max(before[1], before[0] + tolerance * claim.promised)
        least = detectable_at_alpha(
            new,
            claim,
            draws_of(there[worst]),
            alpha,
            must_exceed,
            (there[worst], *there[:worst], *there[worst + 1 :]),
        )
    return RiseLimit(
        id=new["id"],
        quantity=claim.quantity,
        cells=len(here),
        of=len(old["per_query"]),
        before=before,
        least=least,
        searched="search" in new["searched"],
    )
