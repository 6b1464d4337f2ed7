"""The remark after Corollary 4.13: each of Corollaries 4.11 and 4.13 by the way of the other.

Bounds are in units of R L_f L_l / sqrt(n), which is the rate of Theorem 4.12 times L_l; `noise` is
sigma_l R L_f / (L_l sqrt(n) epsilon^2), the second term of Corollary 4.13 in that unit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

ERROR = 32 * UNIT_ROUNDOFF


def smooth_cases(_: Effort) -> Iterator[Case]:
    """The term of the noise, from nothing to far more than the other one."""
    for noise in (0.0, 0.01, 1.0, 100.0, 1e6):
        yield {"noise": noise}


def smooth(noise: float) -> Measured:
    """Corollary 4.11's way for smooth losses, lambda = 2 L_f L_l / (R sqrt(n)), against 4 times.

    The regulariser costs 2, the excess loss of Theorem 4.9 is 2, and its rate is twice that of
    Theorem 4.12: Lemma 4.5(2), as its proof ends, makes 4 times the noise of it.
    """
    value = 2 + 2 + 4 * noise
    return computed(4 * (2 + noise), value, ERROR * value)


def regularised(epsilon: float) -> float:
    """The bound of Corollary 4.11."""
    return 4 * math.sqrt(1 + 1 / epsilon)


def printed_cases(_: Effort) -> Iterator[Case]:
    """Constants, and for each an epsilon that is too small for it."""
    for C in (1, 2, 10, 100):
        yield {"C": C, "epsilon": 1 / (16 * C * C)}


def printed_step(C: int, epsilon: float) -> Measured:
    """Theorem 4.12 as printed and Lemma 4.5(1): 2, and the rate over epsilon."""
    value = 2 + 1 / epsilon
    return computed(C * regularised(epsilon), value, ERROR * value)


def own_cases(_: Effort) -> Iterator[Case]:
    """Epsilon over decades."""
    for exponent, times in itertools.product(range(-6, 3), (1, 3)):
        yield {"epsilon": times * 10.0**exponent}


def own_step(epsilon: float) -> Measured:
    """The same where the step is s times the printed one, s = 1 / sqrt(1 + 4 / epsilon).

    One pass of descent has the excess loss 1 / (2 s) + s / 2, and its rate is 2 s in a fixed order.
    """
    s = 1 / math.sqrt(1 + 4 / epsilon)
    value = 1 / (2 * s) + s / 2 + 2 * s / epsilon
    return computed(regularised(epsilon), value, ERROR * value)


STATEMENT = "dwork-feldman-2018/section-4.4-other-bounds"
ROWS = (
    Row(
        key=f"{STATEMENT}/smooth",
        checks="Corollary 4.11's way with a sigma_l-smooth loss: 4 times Corollary 4.13 at most",
        quantity="bound on the excess loss, in units of R L_f L_l/sqrt(n)",
        method="exact",
        domain="the term of the noise from 0 to 1e6 times the unit",
        cases=smooth_cases,
        measure=smooth,
    ),
    Row(
        key=f"{STATEMENT}/printed-step",
        checks="Corollary 4.13's way without it, with the step as printed: some C times "
        "Corollary 4.11",
        quantity="bound on the excess loss, in units of R L_f L_l/sqrt(n)",
        method="exact",
        domain="C in {1, 2, 10, 100}, eps = 1/(16 C^2)",
        cases=printed_cases,
        measure=printed_step,
        verdict="refuted",
        derivation="The bounds of section 4.4 without smoothness",
    ),
    Row(
        key=f"{STATEMENT}/own-step",
        checks="the same with a step made for eps: at most Corollary 4.11, in a fixed order too",
        quantity="bound on the excess loss, in units of R L_f L_l/sqrt(n)",
        method="exact",
        domain="eps in {1, 3} times 1e-6, ..., 1e2",
        cases=own_cases,
        measure=own_step,
    ),
)
