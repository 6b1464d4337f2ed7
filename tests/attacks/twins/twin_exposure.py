"""Exposure with plain loops, straight from the definition; imports nothing of the package."""

from __future__ import annotations

import math


def exposure(scores: list[float], inside: list[bool], canary: int) -> float:
    """Exposure in bits of one canary that is in, among itself and the canaries that are out.

    Ties are lost.
    """
    rank, candidates = 1, 1
    for other in range(len(scores)):
        if inside[other]:
            continue
        candidates += 1
        if scores[other] >= scores[canary]:
            rank += 1
    return math.log2(candidates) - math.log2(rank)
