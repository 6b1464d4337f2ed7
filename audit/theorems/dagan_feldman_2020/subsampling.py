"""Stability as a definition, averaging, and amplification by subsampling (Lemma 5)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.bagged import Bagged
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import label_difference, privacy_loss
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 64 * UNIT_ROUNDOFF


def definition_cases(effort: Effort) -> Iterator[Case]:
    """A grid of probabilities of label 1 on two neighbours, in parts of `of`."""
    of = effort.of(12, 60)
    for p, q in itertools.permutations(range(of + 1), 2):
        yield {"p": p, "q": q, "of": of}


def definition(p: int, q: int, of: int) -> Measured:
    """Least delta of (0, delta)-DP, over all events and directions, against |p - q|."""
    one, other = Fraction(p, of), Fraction(q, of)
    apart = (one - other, other - one)
    events: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (0, 1))
    delta = max(abs(sum((apart[y] for y in event), Fraction(0))) for event in events)
    return computed(float(abs(one - other)), float(delta), 0.0)


def changes(how: str, k: int, n: int) -> tuple[float, float, float]:
    """Largest change of a probability, largest loss, and their error, of `bagged` with k parts.

    Blocks: over datasets of any size. Subsets: of its worst pair, where the bound n' / n is met.
    """
    bagged = Bagged(r=k, n=n, how="disjoint" if how == "disjoint" else "subset")
    reached = bagged.reachable()
    if reached is not None:
        law, (i, j) = reached.law, reached.moves.T
        if not isinstance(law, FiniteLaw):
            raise ArithmeticError("labels have a finite law")
        pairs, error = (law.log_p[i], law.log_p[j]), law.error
    else:
        (case,) = bagged.pairs()
        laws = [
            bagged.distribution(bagged.prepare(each), case.queries)
            for each in (case.pairs.base, case.pairs.changes[0].apply(case.pairs.base))
        ]
        first, second = laws
        if first is None or second is None:
            raise ArithmeticError("the law of the worst pair is not known")
        pairs, error = (first.log_p, second.log_p), first.error + second.error
    ways = (pairs, pairs[::-1])
    moved = max(float(label_difference(a, b).value.max()) for a, b in ways)
    lost = max(float(privacy_loss(a, b).value.max()) for a, b in ways)
    return moved, lost, 2 * error + SMALL


def averaging_cases(_: Effort) -> Iterator[Case]:
    """Parts that divide n, and parts that do not."""
    sizes = ((2, 2), (2, 3), (3, 10), (10, 100), (25, 49))
    for how, (k, n) in itertools.product(("disjoint", "subset"), sizes):
        yield {"how": how, "k": k, "n": n}


def averaging(how: str, k: int, n: int) -> Measured:
    """Stability against 1 / k: models are 1-stable."""
    moved, _, error = changes(how, k, n)
    return computed(1 / k, moved, error)


def no_better(how: str, k: int, n: int) -> Measured:
    """Privacy loss after averaging against the one before: a learner of labels has none finite."""
    _, lost, _ = changes(how, k, n)
    return Measured(claimed=math.inf, lower=lost, upper=lost)


def amplified_cases(effort: Effort) -> Iterator[Case]:
    """Shares and epsilons below 1."""
    etas = effort.of((0.001, 0.1, 0.5, 0.9, 0.999), (1e-6, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999))
    for eta, epsilon in itertools.product(etas, (0.001, 0.1, 0.5, 0.9, 0.999)):
        yield {"eta": eta, "epsilon": epsilon}


def amplified(eta: float, epsilon: float) -> Measured:
    """ln(1 + eta (e^eps - 1)), the largest loss over all A', against 2 eps eta."""
    value = math.log1p(eta * math.expm1(epsilon))
    return computed(2 * epsilon * eta, value, SMALL * value)


def kept_cases(effort: Effort) -> Iterator[Case]:
    """From the smallest n where one was found that refutes it."""
    few = {"n": 12, "size": 3, "sets": [[1, 1], [2, 3], [3, 7]], "epsilon": 0.999}
    yield {"n": 3, "size": 2, "sets": [[1, 1], [2, 2]], "epsilon": 0.999}
    yield few
    for n in effort.of((26, 40), (26, 40, 100)):
        size = round(0.4 * n)
        sets = [[place, place] for place in range(1, size + 1)]
        yield {"n": n, "size": size, "sets": sets, "epsilon": 0.999}


def ones(n: int, size: int, sets: list[list[int]], epsilon: float, *, replaced: bool) -> float:
    """P[1] of A' on a random subset that keeps the order of S; `replaced`: record 1 is in no set.

    The sum over all subsets is one over increasing sequences, made record by record.
    """
    wrong = math.exp(-epsilon)
    ways = [1.0, *[0.0] * size]
    for record in range(1, n + 1):
        for place in range(min(record, size), 0, -1):
            low, high = sets[place - 1] if place <= len(sets) else (1, n)
            missed = not low <= record <= high or (replaced and record == 1)
            ways[place] += ways[place - 1] * (wrong if missed else 1.0)
    return ways[size] / math.comb(n, size) / 2


def kept(n: int, size: int, sets: list[list[int]], epsilon: float) -> Measured:
    """Loss of A' when the first record is replaced, against 2 eps eta.

    A' counts the places p of T whose record is not one of the p-th set of records, w, and answers 1
    with probability e^(-eps w) / 2. One replacement in T moves w by 1 at most, so it is eps-private
    for label 1, and for label 0 because (1 - e^-eps / 2) / (1/2) = 2 - e^-eps <= e^eps.
    """
    numbers = [ones(n, size, sets, epsilon, replaced=each) for each in (False, True)]
    value = math.log(numbers[0] / numbers[1])
    return computed(2 * epsilon * size / n, value, SMALL * (n + 4))


ROWS = (
    Row(
        key="dagan-feldman-2020/section-1-stability/forth",
        checks="(0, delta)-DP prediction is delta-stable and no better: delta <= |p - q|",
        quantity="least delta over all events of the label",
        method="exact",
        domain="P[1] on two neighbours in twelfths",
        cases=definition_cases,
        measure=definition,
    ),
    Row(
        key="dagan-feldman-2020/section-1-stability/back",
        checks="and no worse: delta >= |p - q|",
        quantity="least delta over all events of the label",
        method="exact",
        domain="P[1] on two neighbours in twelfths",
        cases=definition_cases,
        measure=definition,
        relation="at least",
    ),
    Row(
        key="dagan-feldman-2020/section-1-averaging/stability",
        checks="k disjoint blocks, and a random subset of floor(n/k) records, are 1/k-stable",
        quantity="change of a label's probability, attained",
        method="exact",
        domain="(k, n) in {(2, 2), (2, 3), (3, 10), (10, 100), (25, 49)}, both ways",
        cases=averaging_cases,
        measure=averaging,
    ),
    Row(
        key="dagan-feldman-2020/section-1-averaging/epsilon",
        checks="'naive averaging does not improve the eps parameter': it stays infinite",
        quantity="privacy loss",
        method="exact",
        domain="(k, n) in {(2, 2), (2, 3), (3, 10), (10, 100), (25, 49)}, both ways",
        cases=averaging_cases,
        measure=no_better,
        relation="at least",
    ),
    Row(
        key="dagan-feldman-2020/lemma-5/random-order",
        checks="T in a random order: the largest loss over all A' is at most 2 eps eta",
        quantity="privacy loss, attained",
        method="exact",
        domain="eta in {.001, .1, .5, .9, .999}, eps in {.001, .1, .5, .9, .999}",
        cases=amplified_cases,
        measure=amplified,
    ),
    Row(
        key="dagan-feldman-2020/lemma-5/kept-order",
        checks="T in the order of S, as a subset of a sequence may be read",
        quantity="privacy loss of one eps-private A'",
        method="exact",
        domain="n in {3, 12, 26, 40}, eps = .999, the first record replaced",
        cases=kept_cases,
        measure=kept,
        verdict="refuted",
        derivation="Lemma 5 with twelve records in order",
    ),
)
