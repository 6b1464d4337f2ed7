"""What the best of many attacks reaches if nothing leaks.

The highest of many AUCs is above 1/2 by chance. If the scores do not depend on the coins, the coins
can be tossed again: every toss is as likely as the one that was, so that its AUCs have the law that
they would have had. All attacks are given the same tosses, which keeps what they have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from dpassay.attacks.observed import Array
from dpassay.seeds import stream

TOSSES = 400
"""New tosses of all coins."""
AT_ONCE = 1 << 16
"""Coins that are tossed in one go."""
HIGH = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class NoLeak:
    """The highest AUC of several attacks if nothing leaks; estimates, over `TOSSES` tosses."""

    attacks: int  # how many AUCs the highest is of
    middle: float  # median
    high: float  # 95 % quantile


def tossed_again(scores: Array) -> Array:
    """Return AUCs of an attack under new tosses of the coins, shape (TOSSES,).

    The scores are (models, e), without NaN; records 2 j and 2 j + 1 are a pair of which one is
    a member.
    """
    ranks = scipy.stats.rankdata(scores)
    moves = (ranks.reshape(-1, 2) @ [1.0, -1.0]) / (2 * (scores.size / 2) ** 2)
    found, rng = np.full(TOSSES, 0.5), stream(0, "coins tossed again")
    for first in range(0, len(moves), AT_ONCE):
        part = moves[first : first + AT_ONCE]
        drawn = np.frombuffer(rng.bytes(TOSSES * (-(-len(part) // 8))), dtype=np.uint8)
        heads = np.unpackbits(drawn.reshape(TOSSES, -1), axis=1, count=len(part))
        found += 2 * (heads @ part) - part.sum()
    return found


def best_of(again: Sequence[Array]) -> NoLeak:
    """Return what the highest of some AUCs is, from `tossed_again` of each."""
    highest = np.max(again, axis=0)
    return NoLeak(
        attacks=len(again),
        middle=float(np.median(highest)),
        high=float(np.quantile(highest, HIGH)),
    )
