"""The p-value of the one-run audit in fractions (Steinke, Nasr and Jagielski 2023, Theorem 5.2).

Nothing of dpassay is used.
"""

from __future__ import annotations

import math
from fractions import Fraction


def p_value(v: int, r: int, growth: Fraction, delta: Fraction, m: int) -> Fraction:
    """P[W >= v] + 2 m delta max over i = 1..m of P[v > W >= v - i] / i.

    W ~ Bin(r, growth / (1 + growth)), growth = e^epsilon.
    """
    q = growth / (1 + growth)
    pmf = [math.comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
    tail = sum((pmf[k] for k in range(v, r + 1)), Fraction(0))
    worst = Fraction(0)
    for i in range(1, m + 1):
        between = sum((pmf[k] for k in range(max(0, v - i), v)), Fraction(0))
        worst = max(worst, between / i)
    return min(Fraction(1), tail + 2 * m * delta * worst)
