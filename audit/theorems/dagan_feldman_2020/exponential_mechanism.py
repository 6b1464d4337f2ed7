"""The exponential mechanism: Lemma 4, Equation 2 and the parameter of section 4.1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.exponential import Exponential, worst_excess
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import privacy_loss
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 64 * UNIT_ROUNDOFF
SIZES = (2, 3, 32, 1024, 2**20)
CLASSES = (("thresholds", 3), ("thresholds", 61), ("functions", 3), ("halfspaces", 3))


def privacy_cases(effort: Effort) -> Iterator[Case]:
    """Classes and epsilons; more than one is not excluded."""
    epsilons = effort.of((0.1, 0.5, 1.0, 4.0), (0.02, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0))
    for (H, points), epsilon in itertools.product(CLASSES, epsilons):
        yield {"H": H, "points": points, "epsilon": epsilon}


def privacy(H: str, points: int, epsilon: float) -> Measured:
    """Largest loss over datasets of any size, by the mechanism's own argument."""
    reached = Exponential(H=H, points=points, epsilon=epsilon).reachable()
    if reached is None or not isinstance(reached.law, FiniteLaw):
        raise ArithmeticError("the worst states are not known")
    before, after = (reached.law.log_p[each] for each in reached.moves.T)
    value = max(
        float(privacy_loss(p, q).value.max()) for p, q in ((before, after), (after, before))
    )
    return computed(epsilon, value, 2 * reached.law.error + SMALL * epsilon)


def stable_cases(_: Effort) -> Iterator[Case]:
    """Epsilons from small to large."""
    for epsilon in (0.001, 0.1, 0.5, 0.69, 1.0, 4.0):
        yield {"epsilon": epsilon}


def stable(epsilon: float) -> Measured:
    """Largest p - q with p <= e^eps q, 1 - q <= e^eps (1 - p): randomised response attains it.

    docs/findings.md, 'Lemma 4: the exponential mechanism'.
    """
    return computed(math.expm1(epsilon), math.tanh(epsilon / 2), SMALL * epsilon)


def error_cases(effort: Effort) -> Iterator[Case]:
    """Sizes of H, of S, and epsilons."""
    n = effort.of((1, 10, 400), (1, 2, 3, 10, 100, 400, 10_000))
    for size, records, epsilon in itertools.product(SIZES, n, (0.01, 0.5, 2.0, 10.0)):
        yield {"size": size, "n": records, "epsilon": epsilon}


def error(size: int, n: int, epsilon: float) -> Measured:
    """Largest expected excess error over all error counts, against 2 ln|H| / (epsilon n)."""
    value = worst_excess(size, n, epsilon)
    return computed(2 * math.log(size) / (epsilon * n), value, SMALL * (1 + epsilon * n) * value)


def third_cases(_: Effort) -> Iterator[Case]:
    """Sizes of H_T, gammas and alphas."""
    for size, gamma, alpha in itertools.product(SIZES, (0.01, 0.5, 0.99), (0.9, 0.3, 0.01)):
        yield {"size": size, "gamma": gamma, "alpha": alpha}


def third(size: int, gamma: float, alpha: float) -> Measured:
    """Equation 2: excess error on S for |S| = ceil(24 ln|H_T| / (gamma alpha)), against alpha / 3.

    24 is Lemma 4's 2 with gamma / 4 for epsilon and alpha / 3 for alpha.
    """
    n = math.ceil(24 * math.log(size) / (gamma * alpha))
    value = worst_excess(size, n, gamma / 4)
    return computed(alpha / 3, value, SMALL * (1 + gamma * n) * value)


def parameter_cases(effort: Effort) -> Iterator[Case]:
    """Constants C, each with an alpha so small that C alpha is exceeded."""
    some = ((3, 0.1), (7, 0.01), (12, 0.001))
    for C, alpha in effort.of(some, (*some, (16, 1e-4))):
        yield {"C": C, "alpha": alpha}


def parameter(C: float, alpha: float) -> Measured:
    """Excess error on S with the privacy parameter d / (alpha |S|), thresholds (d = 1).

    |T| = ceil(ln(1 / alpha) / alpha), about what a net needs, and |S| = 2 |T|, so epsilon = 1/2:
    then d / (alpha |S|) is the smaller one of the two. One threshold has no error, the |T| others
    have k each.
    """
    T = math.ceil(math.log(1 / alpha) / alpha)
    n = 2 * T
    if 1 / (alpha * n) > 1 / 4:
        raise ArithmeticError("epsilon / 2 is the smaller one")
    value = worst_excess(T + 1, n, 1 / (alpha * n))
    return computed(C * alpha, value, SMALL / alpha * value)


ROWS = (
    Row(
        key="dagan-feldman-2020/section-2-stable/tanh",
        checks="an eps-private answer moves by at most e^eps - 1; the truth is tanh(eps/2)",
        quantity="change of a label's probability, attained by randomised response",
        method="exact",
        domain="six eps from .001 to 4",
        cases=stable_cases,
        measure=stable,
    ),
    Row(
        key="dagan-feldman-2020/lemma-4/loss",
        checks="eps-private, over datasets of any size",
        quantity="privacy loss",
        method="exact",
        domain="thresholds on 3 and 61 points, functions on 3, halfspaces; eps in {.1, .5, 1, 4}",
        cases=privacy_cases,
        measure=privacy,
    ),
    Row(
        key="dagan-feldman-2020/lemma-4-error/excess",
        checks="excess error at most 2 ln|H|/(eps n), over all error counts",
        quantity="largest expected excess error on S",
        method="exact",
        domain="|H| in {2, 3, 32, 2^10, 2^20}, n in {1, 10, 400}, eps in {.01, .5, 2, 10}",
        cases=error_cases,
        measure=error,
    ),
    Row(
        key="dagan-feldman-2020/equation-2/excess",
        checks="with |S| = 24 ln|H_T|/(gamma alpha), which Lemma 4 gives for O(.)",
        quantity="largest expected excess error on S",
        method="exact",
        domain="|H_T| in {2, 3, 32, 2^10, 2^20}, gamma in {.01, .5, .99}, alpha in {.9, .3, .01}",
        cases=third_cases,
        measure=third,
    ),
    Row(
        key="dagan-feldman-2020/section-4.1-parameter/excess",
        checks=(
            "with d/(alpha |S|), the smaller one, the step 'as in the analysis of the stable "
            "algorithm' has an excess error on S of at most C alpha"
        ),
        quantity="largest expected excess error on S",
        method="exact",
        domain="C in {3, 7, 12} with alpha = .1, .01, .001; thresholds, |T| = ln(1/alpha)/alpha",
        cases=parameter_cases,
        measure=parameter,
        verdict="refuted",
        derivation="The privacy parameter of section 4.1",
    ),
)
