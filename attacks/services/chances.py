"""Chances of coincidences between answers with coins of their own, whatever their law.

Each is exact, or an upper bound, given what came how often: no law has to be known or estimated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np


def block_probability(blocks: Iterable[Hashable], size: int) -> float:
    """Return the chance that exchangeable values fall into constant blocks.

    It is T! / prod b_k! over (T size)! / prod (size b_k)! for b_k blocks of the k-th value, of
    T: the share of the orders of all values in which every block is constant.
    """
    counts = Counter(blocks).values()
    log = math.lgamma(sum(counts) + 1) - math.lgamma(size * sum(counts) + 1)
    return math.exp(
        min(0.0, log + sum(math.lgamma(size * b + 1) - math.lgamma(b + 1) for b in counts))
    )


def apart_probability(still: int, moved: int, different: int) -> float:
    """Return the probability that every value other than the mode was moved.

    The values, still + moved, are exchangeable.
    """
    if different == 0:
        return 1.0
    return math.comb(moved, different) / math.comb(still + moved, different)


def pairing_probability(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return the chance that as many places of two lists (T,) agree, were one put in random order.

    If the values of one list are independent of those of the other, and the places of a list
    alike, every order of the second is equally likely, whatever both laws: the two laws need
    not be the same. It is P[as many agreements or more], exactly: with R_k ways to choose k
    places of both that hold equal values, the k-th factorial moment of the agreements is k! R_k
    / (T (T-1) ... (T-k+1)).
    """
    size = len(one)
    seen = sum(a == b for a, b in zip(one, other, strict=True))
    if seen == 0:
        return 1.0
    ways, mine, theirs = [1], Counter(one), Counter(other)
    for value in mine.keys() & theirs.keys():
        p, q = mine[value], theirs[value]
        factor = [
            math.comb(p, j) * math.comb(q, j) * math.factorial(j) for j in range(min(p, q) + 1)
        ]
        product = [0] * (len(ways) + len(factor) - 1)
        for i, a in enumerate(ways):
            for j, b in enumerate(factor):
                product[i + j] += a * b
        ways = product
    left = [way * math.factorial(size - k) for k, way in enumerate(ways)]  # orders with k chosen
    total = sum(
        (-1) ** (k - m) * math.comb(k, m) * left[k]
        for m in range(seen, len(left))
        for k in range(m, len(left))
    )
    return float(Fraction(total, math.factorial(size)))


def repeat_probability(transcripts: Sequence[tuple[Hashable, ...]]) -> tuple[int, float]:
    """Return how many transcripts repeat an earlier one, and bound the chance of that many or more.

    Each transcript is of answers at one point with coins of their own, so that every order of
    the same answers is equally likely. Given which answers each has, transcript i repeats an
    earlier one with probability at most (earlier ones with the same answers) / (orders of these
    answers), whatever came before. So the repeats are at most a sum of independent events with
    these probabilities, and the tail of that sum is computed.
    """
    earlier: Counter[frozenset[tuple[Hashable, int]]] = Counter()
    seen: set[tuple[Hashable, ...]] = set()
    chances, repeats = [], 0
    for transcript in transcripts:
        counts = Counter(transcript)
        kind = frozenset(counts.items())
        orders = math.factorial(len(transcript))
        for number in counts.values():
            orders //= math.factorial(number)
        chances.append(min(1.0, earlier[kind] / orders))
        repeats += transcript in seen
        earlier[kind] += 1
        seen.add(transcript)
    return repeats, _tail(chances, repeats)


def _tail(chances: Sequence[float], least: int) -> float:
    """P[at least so many of independent events]; the law is kept below `least`, the rest added."""
    if least == 0:
        return 1.0
    law, above = np.zeros(least), 0.0
    law[0] = 1.0
    for chance in chances:
        if chance == 0:
            continue
        above += float(law[-1]) * chance
        law[1:] = law[1:] * (1 - chance) + law[:-1] * chance
        law[0] *= 1 - chance
    return min(1.0, above)
