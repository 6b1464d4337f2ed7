"""Lemmas 6.4 and 6.5: how the evaluation on new records exceeds that on the old ones.

The example. Z has N values, P is uniform, and M(S, z) is B with probability a where z is in S and
with probability a e^epsilon where it is not, and 0 otherwise. A replaced record changes whether z
is in S, so M is epsilon-DP if a e^epsilon <= 1 and 1 - a <= e^epsilon (1 - a e^epsilon). E_S is a B
for every S, and E_S' is a B (1 + (e^epsilon - 1) share), `share` of the n new records not in S.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.seeds import stream
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

Array = NDArray[np.float64]


def seen_law(n: int, N: int) -> list[Fraction]:
    """Law of the number of different values among n uniform draws from N, 0 to n."""
    law = [Fraction(1)] + [Fraction(0)] * n
    for _ in range(n):
        law = [
            law[d] * Fraction(d, N) + (law[d - 1] * Fraction(N - d + 1, N) if d else 0)
            for d in range(n + 1)
        ]
    return law


def unseen_law(n: int, N: int) -> list[Fraction]:
    """Law of how many of n new records are not among n old ones, 0 to n."""
    found = [Fraction(0)] * (n + 1)
    for d, p in enumerate(seen_law(n, N)):
        new = Fraction(max(0, N - d), N)
        for j in range(n + 1):
            found[j] += p * math.comb(n, j) * new**j * (1 - new) ** (n - j)
    return found


def moment_cases(effort: Effort) -> Iterator[Case]:
    """Sizes, moments and odds e^epsilon."""
    for n, k, odds in itertools.product((1, 2, effort.of(4, 8)), (1, 2, 3), ([11, 10], [2, 1])):
        for N in (2, 10, 1000):
            yield {"n": n, "k": k, "odds": odds, "N": N}


def moment(n: int, k: int, odds: list[int], N: int) -> Measured:
    """E[E_S'^k] against e^(k^2 epsilon) E[E_S^k] in the example, a B = 1; exact fractions."""
    factor = Fraction(*odds)
    require_private(factor)
    value = sum(
        (p * (1 + (factor - 1) * Fraction(j, n)) ** k for j, p in enumerate(unseen_law(n, N))),
        Fraction(0),
    )
    return computed(float(factor ** (k * k)), float(value), 2 * UNIT_ROUNDOFF * float(value))


def require_private(factor: Fraction) -> None:
    """Raise unless the example is epsilon-DP with a = 1 / (2 e^epsilon)."""
    a = 1 / (2 * factor)
    if factor < 1 or a * factor > 1 or 1 - a > factor * (1 - a * factor):
        raise ArithmeticError(f"the example is not private: a = {a}, e^epsilon = {factor}")


def with_delta_cases(_: Effort) -> Iterator[Case]:
    """With delta above 0."""
    for n, k, delta in itertools.product((1, 2, 4), (1, 2, 3), ([1, 10], [1, 100])):
        for odds in ([11, 10], [2, 1]):
            yield {"n": n, "k": k, "odds": odds, "delta": delta, "N": 50}


def with_delta(n: int, k: int, odds: list[int], delta: list[int], N: int) -> Measured:
    """The same with B = 1, a = 1 / (4 e^epsilon) and a e^epsilon + delta for z not in S."""
    factor, extra = Fraction(*odds), Fraction(*delta)
    a = 1 / (4 * factor)
    b = a * factor + extra
    if b > 1 or 1 - a > factor * (1 - b) + extra:
        raise ArithmeticError(f"the example is not private: {a}, {b}")
    value = sum(
        (p * (a + (b - a) * Fraction(j, n)) ** k for j, p in enumerate(unseen_law(n, N))),
        Fraction(0),
    )
    claimed = factor ** (k * k) * (a + k * extra) ** k
    return computed(float(claimed), float(value), 2 * UNIT_ROUNDOFF * float(value))


def means(table: Array, n: int) -> tuple[Array, Array]:
    """E_S for every S, shape (N^n,), and E_S' for every S and S', shape (N^n, N^n)."""
    records = np.array(list(itertools.product(range(table.shape[1]), repeat=n)))
    old = np.array([table[i, s].mean() for i, s in enumerate(records)])
    return old, table[:, records].mean(axis=2)


def private_table(table: Array, n: int, factor: float) -> Array:
    """The table M(S, z), raised as little as makes each entry at most e^epsilon times another's.

    Chances in (0, 1 - e^-epsilon] of the value B: then the value 0 is no constraint, as
    1 - q <= 1 <= e^epsilon (1 - p).
    """
    N = table.shape[1]
    records = list(itertools.product(range(N), repeat=n))
    near = np.array(
        [[sum(a != b for a, b in zip(s, t, strict=True)) for t in records] for s in records]
    )
    found: Array = (table[None, :, :] / factor ** near[:, :, None]).max(axis=1)
    return found


def searched_cases(effort: Effort) -> Iterator[Case]:
    """Hill climbing on tables from random ones, k = 2 and 3."""
    for n, N, k in effort.of(((1, 2, 2), (2, 2, 2), (2, 3, 2)), ((1, 3, 3), (2, 3, 2), (2, 3, 3))):
        rng = stream(effort.seed, "dwork-feldman-2018/lemma-6.4/search", n, N, k)
        table, most = rng.random((N**n, N)) / 3, 1 / 3
        best, step = -math.inf, 0.25
        for _ in range(effort.of(150, 1500)):
            tried = np.clip(table + step * rng.normal(size=table.shape), 2e-6, most)
            shown = [[math.floor(x * 1e6) / 1e6 for x in row] for row in tried.tolist()]
            found = searched(shown, n, k, 1.5)
            yield {"table": shown, "n": n, "k": k, "factor": 1.5}
            if found.lower / found.claimed > best:
                table, best = tried, found.lower / found.claimed
            else:
                step = max(step * 0.99, 0.01)


def searched(table: list[list[float]], n: int, k: int, factor: float) -> Measured:
    """E[E_S'^k] against e^(k^2 epsilon) E[E_S^k] for the private table next to one."""
    made = private_table(np.array(table), n, factor)
    if made.max() > 1 - 1 / factor:
        raise ArithmeticError(f"a chance of {made.max()} may not be private")
    old, new = means(made, n)
    value = float((new**k).mean())
    claimed = factor ** (k * k) * float((old**k).mean())
    return computed(claimed, value, 1e-13 * (value + claimed))


def tail_cases(_: Effort) -> Iterator[Case]:
    """The smallest n and N first; a larger beta too."""
    yield {"n": 1, "N": 2, "odds": 81, "beta": [1, 3]}
    for n, N in ((1, 3), (1, 4), (2, 16), (10, 400), (100, 40_000)):
        yield {"n": n, "N": N, "odds": 16, "beta": [1, 2]}
    yield {"n": 1, "N": 100, "odds": 16, "beta": [9, 10]}


def tail(n: int, N: int, odds: int, beta: list[int]) -> Measured:
    """Chance that E_S' >= alpha e^(2 sqrt(epsilon ln(1 / beta))), epsilon = ln(odds), from below.

    e^epsilon alpha, which no new record in S gives, is as large where epsilon >= 4 ln(1 / beta),
    that is odds beta^4 >= 1.
    """
    share = Fraction(*beta)
    require_private(Fraction(odds))
    if odds * share**4 < 1:
        raise ArithmeticError(f"e^epsilon = {odds} does not reach the threshold at beta = {share}")
    value = float(unseen_law(n, N)[n] if n <= 10 else (1 - Fraction(n, N)) ** n)
    exact = n == 1 and odds * share**4 == 1
    error = 2 * UNIT_ROUNDOFF * value
    return Measured(
        claimed=float(share), lower=value - error, upper=value + error if exact else 1.0
    )


def rare_cases(_: Effort) -> Iterator[Case]:
    """Below e^(-epsilon / 4), where the k of the proof is above 1/2; two records first."""
    yield {"n": 2, "share": 0.5, "epsilon": 10.0, "beta": 0.06}
    yield {"n": 100, "share": 0.0125, "epsilon": 8.0, "beta": 0.1}


def rare(n: int, share: float, epsilon: float, beta: float) -> Measured:
    """Chance that E_S' is as large, where Z has a rare value h and M(S, z) is 0 for the other one.

    E M(S, h) is n alpha / j, j the number of h in S, and e^epsilon n alpha for j = 0: with values 0
    and 2 e^epsilon n alpha that is epsilon-DP for epsilon >= ln 2, as neighbours' chances differ by
    a factor of 2 at most for j >= 1, and of e^epsilon for j = 0, and none is above 1/2.
    """
    if epsilon < math.log(2):
        raise ArithmeticError(f"the example is not private for epsilon = {epsilon}")
    exponent = 2 * math.sqrt(epsilon * math.log(1 / beta))
    law = scipy.stats.binom.pmf(np.arange(n + 1), n, share)
    value = 0.0
    for j, i in itertools.product(range(n + 1), range(1, n + 1)):
        log = math.log(i) + (epsilon if j == 0 else -math.log(j))
        if log >= exponent * (1 + 1e-12):
            value += float(law[j] * law[i])
    return computed(beta, value, 1e-10)


def markov_cases(_: Effort) -> Iterator[Case]:
    """Whole k, and thresholds around the largest value."""
    for n, k, odds in itertools.product((1, 2, 4), (1, 2, 3), (2, 4, 16)):
        for t in (1, 2, 4):
            yield {"n": n, "k": k, "odds": odds, "t": [t, 2]}


def markov(n: int, k: int, odds: int, t: list[int]) -> Measured:
    """Chance that E_S' >= t alpha e^(k epsilon), against t^-k or 1, in the example; exact."""
    times, factor = Fraction(*t), Fraction(odds)
    require_private(factor)
    value = sum(
        p
        for j, p in enumerate(unseen_law(n, 50))
        if 1 + (factor - 1) * Fraction(j, n) >= times * factor**k
    )
    return computed(float(min(Fraction(1), times**-k)), float(value), 2 * UNIT_ROUNDOFF)


def half_cases(_: Effort) -> Iterator[Case]:
    """With k = 1/2, as ln(1 / beta) = epsilon / 4 makes it."""
    yield {"N": 2, "odds": 81, "t": 9}
    yield {"N": 3, "odds": 16, "t": 4}
    yield {"N": 4, "odds": 16, "t": 4}
    yield {"N": 100, "odds": 256, "t": 16}


def half(N: int, odds: int, t: int) -> Measured:
    """For n = 1, k = 1/2: chance that E_S' >= t alpha e^(epsilon / 2), against t^(-1/2)."""
    require_private(Fraction(odds))
    if t * t > odds:
        raise ArithmeticError(f"e^(epsilon / 2) does not reach t = {t}")
    value = float(unseen_law(1, N)[1])
    error = 2 * UNIT_ROUNDOFF * value
    return computed(1 / math.sqrt(t), value, error)


PAPER = "dwork-feldman-2018"
LAWS = "the example of docs/findings.md, 'Lemma 6.5'; n in {1, 2, 4}"


def moment_rows(statement: str) -> tuple[Row, ...]:
    """Lemma 6.4 with delta = 0 is the bound of section 2.3."""
    return (
        Row(
            key=f"{PAPER}/{statement}/membership",
            checks="M answers e^eps times as often where z is not in S; tight for k = 1",
            quantity="E[(E_S')^k] where E_S = 1",
            method="exact",
            domain=f"{LAWS}, k in {{1, 2, 3}}, e^eps in {{1.1, 2}}, 2, 10, 1000 values",
            cases=moment_cases,
            measure=moment,
        ),
        Row(
            key=f"{PAPER}/{statement}/tables",
            checks="hill climbing over all tables of probabilities; k = 2",
            quantity="E[(E_S')^k]",
            method="search",
            domain="450 tables, n in {1, 2}, 2 or 3 values, e^eps = 1.5",
            cases=searched_cases,
            measure=searched,
            verdict="not refuted",
        ),
    )


ROWS = (
    *moment_rows("section-2.3"),
    *moment_rows("lemma-6.4"),
    Row(
        key=f"{PAPER}/lemma-6.4/delta",
        checks="delta > 0: M answers with e^eps times the probability plus delta",
        quantity="E[(E_S')^k]",
        method="exact",
        domain=f"{LAWS}, k in {{1, 2, 3}}, e^eps in {{1.1, 2}}, delta in {{.1, .01}}, 50 values",
        cases=with_delta_cases,
        measure=with_delta,
    ),
    Row(
        key=f"{PAPER}/lemma-6.5/membership",
        checks="beta >= e^(-eps/4), where the k of the proof is below 1: n = 1 first",
        quantity="probability",
        method="exact",
        domain="(e^eps, beta) in {(81, 1/3), (16, 1/2), (16, 9/10)}, n in {1, 2, 10, 100}",
        cases=tail_cases,
        measure=tail,
        verdict="refuted",
        derivation="Lemma 6.5",
    ),
    Row(
        key=f"{PAPER}/lemma-6.5/rare",
        checks="beta somewhat below e^(-eps/4): two records, and a value of Z that is rare",
        quantity="probability",
        method="exact",
        domain="(n, eps, beta) in {(2, 10, .06), (100, 8, .1)}",
        cases=rare_cases,
        measure=rare,
        verdict="refuted",
        derivation="Lemma 6.5",
    ),
    Row(
        key=f"{PAPER}/lemma-6.5-markov/half",
        checks="the step with k = 1/2, which is no number of indices",
        quantity="probability",
        method="exact",
        domain="n = 1; (e^eps, t) in {(81, 9), (16, 4), (256, 16)}",
        cases=half_cases,
        measure=half,
        verdict="refuted",
        derivation="Lemma 6.5",
    ),
    Row(
        key=f"{PAPER}/lemma-6.5-markov/whole",
        checks="the step for whole k",
        quantity="probability",
        method="exact",
        domain=f"{LAWS}, 50 values, k in {{1, 2, 3}}, e^eps in {{2, 4, 16}}, t in {{1/2, 1, 2}}",
        cases=markov_cases,
        measure=markov,
    ),
)
