"""A count with truncated geometric noise, drawn with whole numbers.

Source: Balcer and Vadhan (2018), Differential Privacy on Finite Computers, Algorithm GeoSample. A
count c of n people is answered by z in 0, ..., n with probability proportional to r^|z - c|, where
what would fall outside is put on the ends: P[z' <= z] = r^(c - z) / (1 + r) for z < c and
1 - r^(z - c + 1) / (1 + r) for c <= z < n. With r = 2^k / (2^k + 1) all of these are whole numbers
of d = (2^(k+1) + 1) (2^k + 1)^(n-1), so that one uniform whole number decides, and no float is
rounded. It loses ln(1 + 2^-k) exactly.

k is the least whole number that is at least log2(2 / epsilon): then ln(1 + 2^-k) <= epsilon / 2.
The implementation that comes with DP-Sniper takes the natural logarithm: k = 3 where 5 is right for
epsilon = 0.1, and the loss is ln(9/8) = 0.118. For most epsilon that is still enough.

Noise that is redrawn until the answer is in range (made for the zoo) divides by Z_c, the sum of
r^|z - c| over 0, ..., n, and that depends on the count: between 0 and 1 it loses
epsilon + ln(Z_1 / Z_0).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers

PEOPLE = 5
"""n, as in the published comparisons."""
TENTH = 0.1


def geometric_natural_log(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = TENTH
) -> NDArray[np.int64]:
    """Take k from the natural logarithm: broken."""
    return _draw(_count(data), math.ceil(math.log(2 / epsilon)), size, rng)


def geometric(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = TENTH
) -> NDArray[np.int64]:
    """Take k from the binary logarithm: private."""
    return _draw(_count(data), math.ceil(math.log2(2 / epsilon)), size, rng)


def _count(data: Numbers) -> int:
    """Return the answer as a count; answers at most 1 apart give counts at most 1 apart."""
    return int(np.clip(np.floor(data[0]), 0, PEOPLE))


def _draw(count: int, k: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    up, down = 2**k, 2**k + 1
    whole = (2 * up + 1) * down ** (PEOPLE - 1)
    under = [up ** (count - z) * down ** (PEOPLE - count + z) for z in range(count)]
    over = [
        whole - up ** (z - count + 1) * down ** (PEOPLE - 1 - z + count)
        for z in range(count, PEOPLE)
    ]
    drawn = rng.integers(1, whole + 1, size=size)
    return np.searchsorted(np.array(under + over), drawn, side="left")


def redrawn_noise(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.int64]:
    """Geometric noise, redrawn until the answer is in 0, ..., n: broken."""
    weights = np.exp(-epsilon * np.abs(np.arange(PEOPLE + 1) - _count(data)))
    drawn: NDArray[np.int64] = rng.choice(PEOPLE + 1, size=size, p=weights / weights.sum())
    return drawn


def clamped_noise(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.int64]:
    """Geometric noise, the answer moved to the nearest number in range: private."""
    up, down = rng.geometric(-math.expm1(-epsilon), size=(2, size))
    clamped: NDArray[np.int64] = np.clip(_count(data) + up - down, 0, PEOPLE)
    return clamped


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return both; the first at 0.1, or at another epsilon unless it is private there."""
    return (*_natural_log(epsilon), _redrawn(epsilon))


def _redrawn(epsilon: float | None) -> Specimen:
    e = 1.0 if epsilon is None else epsilon
    sums = [sum(math.exp(-e * abs(z - c)) for z in range(PEOPLE + 1)) for c in (0, 1)]
    lost = e + math.log(sums[1] / sums[0])
    return Specimen(
        name="redrawn-noise",
        function=at(redrawn_noise, epsilon),
        twin=at(clamped_noise, epsilon),
        data=Answers(1),
        claim=DP(epsilon=e),
        true_loss=lost,
        twin_loss=e,
        known_pair=(numbers(0), numbers(1)),
        known_loss=lost,
        source="made for the zoo",
        wrong="noise is redrawn until the answer is in range; how often depends on the answer",
    )


def _natural_log(epsilon: float | None) -> tuple[Specimen, ...]:
    e = TENTH if epsilon is None else epsilon
    k = math.ceil(math.log(2 / e))
    if math.log1p(2.0**-k) <= e or k < 0:
        return ()
    return (
        Specimen(
            name="truncated-geometric",
            function=at(geometric_natural_log, epsilon),
            twin=at(geometric, epsilon),
            data=Answers(1),
            claim=DP(epsilon=e),
            true_loss=math.log1p(2.0**-k),
            twin_loss=math.log1p(2.0 ** -math.ceil(math.log2(2 / e))),
            known_pair=(numbers(2), numbers(3)),
            known_loss=math.log1p(2.0**-k),
            source="Balcer and Vadhan 2018, GeoSample, as implemented with DP-Sniper",
            wrong="natural logarithm taken where the binary one is meant: too little noise",
        ),
    )
