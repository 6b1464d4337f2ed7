"""Section 3 and the first lemmas of section 6: the divergence, groups, post-processing, means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.special import log_expit

from dpassay.mechanisms.dwork_feldman_2018.group import chained_delta, printed_delta
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import privacy_loss
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

Weights = tuple[int, ...]
DELTAS = (Fraction(0), Fraction(1, 100), Fraction(1, 7), Fraction(1, 2))


def laws(outcomes: int, parts: int) -> list[Weights]:
    """All laws on so many outcomes by `parts`-ths, as numerators."""
    return [w for w in itertools.product(range(parts + 1), repeat=outcomes) if sum(w) == parts]


def ratio(p: Weights, q: Weights, delta: Fraction) -> Fraction | None:
    """The largest (P[O] - delta) / Q[O] over O with P[O] > delta; None where Q[O] = 0, exact."""
    parts, worst = sum(p), Fraction(0)
    for chosen in itertools.product((False, True), repeat=len(p)):
        above = Fraction(sum(itertools.compress(p, chosen)), parts) - delta
        below = sum(itertools.compress(q, chosen))
        if above > 0 and below == 0:
            return None
        if above > 0:
            worst = max(worst, above * parts / below)
    return worst


def definition_cases(effort: Effort) -> Iterator[Case]:
    """Outcomes and how finely their probabilities are divided."""
    for outcomes, parts in effort.of(((2, 6), (3, 4), (4, 3)), ((2, 20), (3, 6), (4, 4))):
        for numerator, denominator in ((0, 1), (1, 100), (1, 7), (1, 2)):
            yield {"outcomes": outcomes, "parts": parts} | {
                "delta": [numerator, denominator],
            }


def definition(outcomes: int, parts: int, delta: list[int]) -> Measured:
    """How far the least epsilon of the (epsilon, delta) condition is from the supremum over events.

    The least epsilon is that of `stats.divergence`, which looks at nested events only; the other
    is the printed one, over all events in exact fractions, and 0 where it is negative. Both
    infinite or both finite, or this raises.
    """
    share, worst, error = Fraction(*delta), 0.0, 0.0
    for p, q in itertools.product(laws(outcomes, parts), repeat=2):
        with np.errstate(divide="ignore"):
            log_p, log_q = np.log(np.array(p) / parts), np.log(np.array(q) / parts)
        least = privacy_loss(log_p, log_q, float(share), 4 * UNIT_ROUNDOFF)
        exact = ratio(p, q, share)
        if (exact is None) != math.isinf(float(least.value)):
            raise ArithmeticError(f"{p} against {q}: {exact} and {float(least.value)}")
        if exact is not None:
            printed = max(0.0, math.log(exact)) if exact else 0.0
            worst = max(worst, abs(printed - float(least.value)))
            error = max(error, float(least.error))
    return Measured(claimed=error + 64 * UNIT_ROUNDOFF, lower=worst, upper=worst)


def group_cases(effort: Effort) -> Iterator[Case]:
    """Soft majority of r predictors, k flipped labels."""
    for r, k in itertools.product((1, 3, 25, effort.of(50, 500)), (1, 2, 3, 10)):
        for epsilon in (0.1, 1.0):
            yield {"r": r, "k": k, "epsilon": epsilon}


def group(r: int, k: int, epsilon: float) -> Measured:
    """Largest loss between numbers of votes that are k apart at most."""
    logits = epsilon / 2 * (2 * np.arange(r + 1) - r)
    log_p = np.stack([log_expit(logits), log_expit(-logits)], axis=1)
    value = max(float(np.abs(log_p[t:] - log_p[:-t]).max()) for t in range(1, min(k, r) + 1))
    return computed(k * epsilon, value, 16 * UNIT_ROUNDOFF * (1 + epsilon * r))


def delta_cases(_: Effort) -> Iterator[Case]:
    """(epsilon, delta) with delta_k <= 1 - e^(-epsilon), so that the example is private."""
    for k, epsilon, delta in itertools.product(
        (1, 2, 3, 10), (0.01, 0.1, math.log(2), 1.0), (1e-2, 1e-5, 1e-9)
    ):
        if chained_delta(k, epsilon, delta) <= -math.expm1(-epsilon):
            yield {"k": k, "epsilon": epsilon, "delta": delta}


def delta_of_a_group(k: int, epsilon: float, delta: float) -> Measured:
    """P[1] with k labels 1, which no label 1 never gives: the delta that no epsilon spares.

    p_0 = 0, p_(j+1) = e^epsilon p_j + delta. Checked to be (epsilon, delta)-DP at every step. By
    the chain of section 'Lemma 3.1' no M needs more.
    """
    p = [0.0]
    for _ in range(k):
        p.append(math.exp(epsilon) * p[-1] + delta)
    small = 8 * k * UNIT_ROUNDOFF
    for few, more in itertools.pairwise(p):
        if 1 - few > math.exp(epsilon) * (1 - more) + delta + small or more > 1:
            raise ArithmeticError(f"not private: {few} and {more}")
    return computed(printed_delta(k, epsilon, delta), p[-1], small * p[-1])


def printed_group_cases(_: Effort) -> Iterator[Case]:
    """From k = 2 and epsilon = 2 on; delta small enough for the example to be private."""
    for k, epsilon in itertools.product((2, 3, 10), (2.0, 3.0)):
        yield {"k": k, "epsilon": epsilon, "delta": 1e-15}


def printed_group(k: int, epsilon: float, delta: float) -> Measured:
    """The delta that k records need, against k e^(k - 1) delta: no epsilon in the exponent."""
    needed = delta_of_a_group(k, epsilon, delta)
    return Measured(claimed=k * math.exp(k - 1) * delta, lower=needed.lower, upper=needed.upper)


def evaluation_cases(_: Effort) -> Iterator[Case]:
    """Soft majority, evaluated by the disagreement with a label."""
    for r, epsilon in itertools.product((1, 2, 3, 25), (0.1, 1.0, 3.0)):
        yield {"r": r, "epsilon": epsilon}


def evaluation(r: int, epsilon: float) -> Measured:
    """Largest loss of |M(S, x) - y| over z = (x, y) and one replaced record, by its law on {0, 1}.

    A replaced record moves one vote; y exchanges the two values.
    """
    worst = 0.0
    for y, votes in itertools.product((0, 1), range(r)):
        near, far = (epsilon / 2 * (2 * k - r) * (1 - 2 * y) for k in (votes, votes + 1))
        one = np.array([log_expit(-near), log_expit(near)])  # |M - y| = 0, 1
        other = np.array([log_expit(-far), log_expit(far)])
        worst = max(worst, float(np.abs(one - other).max()))
    return computed(epsilon, worst, 16 * UNIT_ROUNDOFF * (1 + epsilon * r))


def processed_cases(effort: Effort) -> Iterator[Case]:
    """Laws on three answers, every delta."""
    for parts in range(1, effort.of(6, 9)):
        for delta in DELTAS:
            yield {"parts": parts, "delta": [delta.numerator, delta.denominator]}


def processed(parts: int, delta: list[int]) -> Measured:
    """Largest e^loss(after) / e^loss(before), at one delta, where a loss merges some answers."""
    share, worst = Fraction(*delta), Fraction(0)
    merges = [(0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0), (2, 0, 1)]
    for p, q in itertools.product(laws(3, parts), repeat=2):
        before = ratio(p, q, share)
        if before is None:
            continue
        for merge in merges:
            after = ratio(merged(p, merge), merged(q, merge), share)
            if after is None:
                raise ArithmeticError(f"{p} against {q}: infinite after {merge}")
            worst = max(worst, after / before if before else Fraction(0))
    return computed(1.0, float(worst), 0.0)


def merged(p: Weights, merge: Weights) -> Weights:
    """The law of the value of a loss at each answer."""
    return tuple(sum(p[i] for i in range(3) if merge[i] == value) for value in range(3))


def means_cases(effort: Effort) -> Iterator[Case]:
    """Laws on 0, B / 2 and B."""
    for parts in range(1, effort.of(7, 11)):
        for delta in DELTAS:
            yield {"parts": parts, "delta": [delta.numerator, delta.denominator]}


def means(parts: int, delta: list[int]) -> Measured:
    """Largest E[U] / (e^epsilon E[V] + delta B), B = 1, epsilon the least that there is, >= 0."""
    share, worst = Fraction(*delta), Fraction(0)
    values = (Fraction(0), Fraction(1, 2), Fraction(1))
    for p, q in itertools.product(laws(3, parts), repeat=2):
        factor = ratio(p, q, share)
        if factor is None:
            continue
        one, other = (
            sum((Fraction(w, parts) * v for w, v in zip(law, values, strict=True)), Fraction(0))
            for law in (p, q)
        )
        allowed = max(factor, Fraction(1)) * other + share
        if one > 0 and allowed == 0:
            raise ArithmeticError(f"{p} against {q}: nothing is allowed")
        worst = max(worst, one / allowed if allowed else Fraction(0))
    return computed(1.0, float(worst), 0.0)


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/section-3-divergence/condition",
        checks="it is the least epsilon of the (epsilon, delta) condition, delta = 0 included",
        quantity="difference of the two, as the allowed one is rounding",
        method="exact",
        domain="all pairs of laws on 2, 3, 4 outcomes by sixths, quarters, thirds; four deltas",
        cases=definition_cases,
        measure=definition,
    ),
    Row(
        key=f"{PAPER}/lemma-3.1/epsilon",
        checks="delta = 0: k flipped labels lose k eps at most; soft majority comes close to it",
        quantity="loss in nats",
        method="exact",
        domain="soft majority, r in {1, 3, 25, 50}, k in {1, 2, 3, 10}, eps in {.1, 1}, all votes",
        cases=group_cases,
        measure=group,
    ),
    Row(
        key=f"{PAPER}/lemma-3.1/delta",
        checks="the printed delta is enough; delta_k = delta (e^(k eps) - 1)/(e^eps - 1) is needed",
        quantity="delta that k records need",
        method="exact",
        domain="k in {1, 2, 3, 10}, eps in {.01, .1, ln 2, 1}, delta in {1e-2, 1e-5, 1e-9}",
        cases=delta_cases,
        measure=delta_of_a_group,
    ),
    Row(
        key=f"{PAPER}/lemma-6.4-group/printed",
        checks="a step of the proof: k e^(k - 1) delta is enough for k records",
        quantity="delta that k records need",
        method="exact",
        domain="k in {2, 3, 10}, eps in {2, 3}, delta = 1e-15",
        cases=printed_group_cases,
        measure=printed_group,
        verdict="refuted",
        derivation="Two steps of proofs",
    ),
    Row(
        key=f"{PAPER}/definition-6.1/disagreement",
        checks="the disagreement of soft majority with y is an eps-DP evaluation, for every (x, y)",
        quantity="loss in nats",
        method="exact",
        domain="every number of votes, r in {1, 2, 3, 25}, eps in {.1, 1, 3}, both y",
        cases=evaluation_cases,
        measure=evaluation,
    ),
    Row(
        key=f"{PAPER}/lemma-6.2/merged-answers",
        checks="no loss function raises the divergence of two laws, at any delta",
        quantity="e^(divergence after - before)",
        method="exact",
        domain="all pairs of laws on 3 answers by up to fifths, all ways to merge them, 4 deltas",
        cases=processed_cases,
        measure=processed,
    ),
    Row(
        key=f"{PAPER}/lemma-6.3/three-values",
        checks="E[U] against e^eps E[V] + delta B, eps the least that there is, and >= 0",
        quantity="E[U] as a part of what is allowed",
        method="exact",
        domain="all pairs of laws on {0, B/2, B} by up to sixths, delta in {0, .01, 1/7, 1/2}",
        cases=means_cases,
        measure=means,
    ),
)
