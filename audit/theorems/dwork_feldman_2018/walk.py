"""Section 5: Lemmas 5.1 and 5.2 of the projected walk, its class, and the walk of the overview."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.special import log_expit

from dpassay.data import Labelled
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import Ties, Traversed, projected_walk
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_error import ProjectedWalkError
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview import ProjectedWalkOverview
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import privacy_loss
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

NINE = [1, 0, 1, 0, 1, 0, 0, 1, 1]


def privacy_cases(effort: Effort) -> Iterator[Case]:
    """Every T up to a size."""
    for T, epsilon in itertools.product(range(1, effort.of(60, 600)), (0.1, 0.5, 1.0, 3.0)):
        yield {"T": T, "epsilon": epsilon}


def privacy(T: int, epsilon: float) -> Measured:
    """Largest loss of a label between any two ends of the walk that are at most 2 apart."""
    logits = epsilon / 2 * np.arange(-T, T + 1)
    log_p = np.stack([log_expit(logits), log_expit(-logits)], axis=1)
    value = max(float(np.abs(log_p[step:] - log_p[:-step]).max()) for step in (1, 2))
    return computed(epsilon, value, 16 * UNIT_ROUNDOFF * (1 + epsilon * T))


def steps_cases(effort: Effort) -> Iterator[Case]:
    """Every sequence of labels up to a length."""
    for n, T in itertools.product(range(1, effort.of(9, 13)), (1, 2, 3)):
        yield {"n": n, "T": T}


def steps(n: int, T: int) -> Measured:
    """Largest |V(S, x) - V(S^-i, x)| over all labels of n points, i and x; no two points equal."""
    walks = {
        labels: projected_walk(2 * np.array(labels, dtype=np.int64) - 1, T)
        for size in (n - 1, n)
        for labels in itertools.product((0, 1), repeat=size)
    }
    worst = 0
    for labels in itertools.product((0, 1), repeat=n):
        for i in range(n):
            fewer = walks[labels[:i] + labels[i + 1 :]]
            worst = max(worst, int(np.abs(walks[labels][i + 1 :] - fewer[i:]).max()))
    return computed(1, worst, 0)


def error(
    x: list[int], y: list[int], T: int, k: int, epsilon: float, ties: Ties, traversed: Traversed
) -> Measured:
    """Empirical error of M on the dataset, against the bound of Lemma 5.2, Opt_S included."""
    mechanism = ProjectedWalkError(
        n=len(y), T=T, k=k, epsilon=epsilon, ties=ties, traversed=traversed
    )
    data = Labelled(np.array(x, dtype=float)[:, None], np.array(y))
    law = mechanism.distribution(mechanism.prepare(data), data.X[:1])
    best = least(x, y, k) / len(y)
    return computed(mechanism.claims[0].promised + best, float(law.values[0]) + best, law.error)


def least(x: list[int], y: list[int], k: int) -> int:
    """Fewest examples that a function with k ends labels wrongly, by trying all of them.

    Ends lie at the points and behind the last; some may be left out, as in unions.least_error.
    """
    places = [*sorted(set(x)), max(x) + 1]
    found = len(y)
    for size in range(min(k, len(places)) + 1):
        for ends in itertools.combinations(places, size):
            wrong = sum(
                sum(end <= at for end in ends) % 2 != label for at, label in zip(x, y, strict=True)
            )
            found = min(found, wrong)
    return found


def tied_cases(ties: Ties) -> Iterator[Case]:
    """Eight examples at one point."""
    y = [1] * 6 + [0] * 2 if ties == "index" else [0] * 6 + [1] * 2
    for T, epsilon in ((1, 10.0), (1, 20.0)):
        yield {"x": [1] * 8, "y": y, "T": T, "k": 1, "epsilon": epsilon} | {
            "ties": ties,
            "traversed": "up-to",
        }


def below_cases(_: Effort) -> Iterator[Case]:
    """Four examples at two points, and nine at different ones."""
    for x, y in (([1, 2, 2, 2], [0, 1, 1, 1]), (list(range(9)), NINE)):
        yield {"x": x, "y": y, "T": 1, "k": 1, "epsilon": 10.0} | {
            "ties": "sum",
            "traversed": "below",
        }


def all_cases(effort: Effort) -> Iterator[Case]:
    """Parameters of Lemma 5.2."""
    for n, T, k in itertools.product(range(1, effort.of(8, 11)), (1, 2), (1, 2)):
        for epsilon in (1.0, 10.0):
            yield {"n": n, "T": T, "k": k, "epsilon": epsilon}


def different(n: int, T: int, k: int, epsilon: float) -> Measured:
    """The worst of all labels of n different points."""
    found = [
        error(list(range(n)), list(y), T, k, epsilon, "sum", "up-to")
        for y in itertools.product((0, 1), repeat=n)
    ]
    return max(found, key=lambda each: each.upper - each.claimed)


def together_cases(effort: Effort) -> Iterator[Case]:
    """The same for datasets on two points."""
    for case in all_cases(effort):
        if case["n"] <= effort.of(6, 9):
            yield case


def together(n: int, T: int, k: int, epsilon: float) -> Measured:
    """The worst of all multisets of n labelled examples at two points, one step a point."""
    found = []
    for records in itertools.combinations_with_replacement(
        list(itertools.product((0, 1), repeat=2)), n
    ):
        x, y = [each[0] for each in records], [each[1] for each in records]
        found.append(error(x, y, T, k, epsilon, "sum", "up-to"))
    return max(found, key=lambda each: each.upper - each.claimed)


def overview_cases(_: Effort) -> Iterator[Case]:
    """One record, and the three that are the worst."""
    for alpha, epsilon in ((0.05, 1.0), (0.05, 0.1), (0.4, 0.1)):
        for y in ([1], [1, 0, 1]):
            yield {"y": y, "alpha": alpha, "epsilon": epsilon}


def overview(y: list[int], alpha: float, epsilon: float) -> Measured:
    """Loss in nats where the last label is flipped, asked at the last point."""
    mechanism = ProjectedWalkOverview(epsilon=epsilon, alpha=alpha)
    x = np.arange(len(y), dtype=float)[:, None]
    laws = [
        mechanism.distribution(mechanism.prepare(Labelled(x, np.array(labels))), x[-1:])
        for labels in (y, [*y[:-1], 1 - y[-1]])
    ]
    losses = [
        privacy_loss(laws[one].log_p, laws[1 - one].log_p, 0.0, max(law.error for law in laws))
        for one in (0, 1)
    ]
    worst = max(losses, key=lambda loss: float(loss.value[0]))
    return computed(epsilon, float(worst.value[0]), float(worst.error[0]))


def class_cases(effort: Effort) -> Iterator[Case]:
    """Every N and k up to a size."""
    for N in range(1, effort.of(9, 13)):
        yield {"N": N}


def functions(N: int, k: int) -> set[tuple[int, ...]]:
    """Thr_(N,k) by its definition, as labels of 1, ..., N."""
    return {
        tuple(sum(end <= x for end in ends) % 2 for x in range(1, N + 1))
        for ends in itertools.combinations(range(1, N + 2), k)
    }


def size(N: int) -> Measured:
    """Number of different thresholds."""
    return computed(N + 1, len(functions(N, 1)), 0)


def best_cases(effort: Effort) -> Iterator[Case]:
    """Samples of one point, on which both constants are thresholds."""
    for n, tenths in itertools.product((1, 2, 3, 10, effort.of(50, 500)), (0, 1, 3, 5)):
        yield {"n": n, "tenths": tenths}


def best(n: int, tenths: int) -> Measured:
    """E[Opt_S] = E[min(K, n - K)]/n, K binomial, against min(p, 1 - p); exact fractions."""
    p = Fraction(tenths, 10)
    mean = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) * min(k, n - k) for k in range(n + 1))
    value = float(mean / n)
    return computed(float(min(p, 1 - p)), value, UNIT_ROUNDOFF * value)


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/section-2.2-walk/privacy",
        checks="the bias times e^(+-eps) at each example, projected to [alpha, 1 - alpha]: eps-DP",
        quantity="loss in nats",
        method="exact",
        domain="alpha in {.05, .4}, eps in {.1, 1}, one record and three",
        cases=overview_cases,
        measure=overview,
        verdict="refuted",
        derivation="The projected walk of the overview",
    ),
    Row(
        key=f"{PAPER}/theorem-5.3-best/one-point",
        checks="thresholds on one point: the best error on a sample, in the mean, against P",
        quantity="E[Opt_S(C)]",
        method="exact",
        domain="n in {1, 2, 3, 10, 50}, labels 1 in 0, 10, 30, 50 %",
        cases=best_cases,
        measure=best,
    ),
    Row(
        key=f"{PAPER}/section-5-class/at-most",
        checks="there are N + 1 thresholds over [N], no more",
        quantity="number of functions",
        method="exact",
        domain="N = 1, ..., 8",
        cases=class_cases,
        measure=size,
    ),
    Row(
        key=f"{PAPER}/section-5-class/at-least",
        checks="there are N + 1 thresholds over [N], no fewer",
        quantity="number of functions",
        method="exact",
        domain="N = 1, ..., 8",
        cases=class_cases,
        measure=size,
        relation="at least",
    ),
    Row(
        key=f"{PAPER}/lemma-5.1/privacy",
        checks="the label is eps-DP, for every dataset of any size",
        quantity="loss in nats",
        method="exact",
        domain="all ends of the walk up to 2 apart, T = 1, ..., 59, eps in {.1, .5, 1, 3}",
        cases=privacy_cases,
        measure=privacy,
    ),
    Row(
        key=f"{PAPER}/lemma-5.1/steps",
        checks="a record that is removed moves the walk by 1 at most, at every x",
        quantity="change of the walk",
        method="exact",
        domain="all labels of up to 8 different points, T in {1, 2, 3}",
        cases=steps_cases,
        measure=steps,
    ),
    Row(
        key=f"{PAPER}/lemma-5.2/different-points",
        checks="no two points equal",
        quantity="empirical error",
        method="exact",
        domain="all labels of up to 7 points, T in {1, 2}, k in {1, 2}, eps in {1, 10}",
        cases=all_cases,
        measure=different,
    ),
    Row(
        key=f"{PAPER}/lemma-5.2/ties-together",
        checks="equal points make one step together",
        quantity="empirical error",
        method="exact",
        domain="all datasets of up to 6 examples at two points, T, k in {1, 2}, eps in {1, 10}",
        cases=together_cases,
        measure=together,
    ),
    Row(
        key=f"{PAPER}/lemma-5.2/ties-in-order",
        checks="equal points make a step each, in the order given",
        quantity="empirical error",
        method="exact",
        domain="eight examples at one point, eps in {10, 20}",
        cases=lambda _: tied_cases("index"),
        measure=error,
        verdict="refuted",
        derivation="Ties in the projected walk",
    ),
    Row(
        key=f"{PAPER}/lemma-5.2/ties-by-label",
        checks="equal points make a step each, those labelled 1 last",
        quantity="empirical error",
        method="exact",
        domain="eight examples at one point, eps in {10, 20}",
        cases=lambda _: tied_cases("label"),
        measure=error,
        verdict="refuted",
        derivation="Ties in the projected walk",
    ),
    Row(
        key=f"{PAPER}/lemma-5.2/smaller-points",
        checks="the walk goes through x_i < x, as the overview says, not x_i <= x",
        quantity="empirical error",
        method="exact",
        domain="four examples at two points, nine at different ones; eps = 10",
        cases=below_cases,
        measure=error,
        verdict="refuted",
        derivation="Points smaller than x",
    ),
)
