"""Score attacks once more, record by record and model by model, straight from the papers.

Nothing of dpassay is used.

`reference[i][j]` and `target[i][j]` are shares of the own label of record j in model i,
`member[i][j]` says whether j was in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Rows = Sequence[Sequence[float]]
Members = Sequence[Sequence[bool]]


def log_odds(share: float, m: int | None) -> float:
    """ln(p / (1 - p)); of m answers with half an answer more on both sides."""
    if m is None:
        p = min(max(share, 1e-12), 1 - 1e-12)
        return math.log(p / (1 - p))
    right = round(share * m)
    return math.log((right + 0.5) / (m - right + 0.5))


def kinds(reference: Rows, member: Members, j: int) -> tuple[list[float], list[float]]:
    """Shares of record j in models with it, and without it."""
    inside = [row[j] for row, who in zip(reference, member, strict=True) if who[j]]
    outside = [row[j] for row, who in zip(reference, member, strict=True) if not who[j]]
    return inside, outside


def spreads(groups: list[list[float]]) -> list[float]:
    """Deviations of records' log-odds: each its own from 32 models on, else one for all."""
    sums = []
    for group in groups:
        mean = sum(group) / len(group)
        sums.append(sum((value - mean) ** 2 for value in group))
    if min(len(group) for group in groups) >= 32:
        found = [total / len(group) for total, group in zip(sums, groups, strict=True)]
    else:
        found = [sum(sums) / sum(len(group) for group in groups)] * len(groups)
    return [max(math.sqrt(value), 1e-3) for value in found]


def lira(
    reference: Rows, member: Members, target: Rows, *, online: bool, m: int | None
) -> list[list[float]]:
    """Carlini et al. (2022), Algorithm 1, and its offline form."""
    e = len(reference[0])
    inside = [[log_odds(p, m) for p in kinds(reference, member, j)[0]] for j in range(e)]
    outside = [[log_odds(p, m) for p in kinds(reference, member, j)[1]] for j in range(e)]
    wide_out, wide_in = spreads(outside), spreads(inside) if online else []
    scores = []
    for row in target:
        line = []
        for j, share in enumerate(row):
            phi = log_odds(share, m)
            far_out = (phi - sum(outside[j]) / len(outside[j])) / wide_out[j]
            if not online:
                line.append(math.log(math.erfc(-far_out / math.sqrt(2)) / 2))
                continue
            far_in = (phi - sum(inside[j]) / len(inside[j])) / wide_in[j]
            line.append(far_out**2 / 2 - far_in**2 / 2 + math.log(wide_out[j] / wide_in[j]))
        scores.append(line)
    return scores


def rmia(
    reference: Rows,
    member: Members,
    target: Rows,
    *,
    online: bool,
    gamma: float,
    a: float,
    m: int | None,
) -> list[list[float]]:
    """Zarifzadeh, Liu and Shokri (2024).

    The share of the z with [Pr(x|model)/Pr(x)] / [Pr(z|model)/Pr(z)] >= gamma.

    In fractions: of counts of answers many of these ratios are equal.
    """

    def chance(share: float) -> Fraction:
        return (
            Fraction(max(share, 2.0**-1022))
            if m is None
            else Fraction(2 * round(share * m) + 1, 2 * m + 2)
        )

    e, part = len(reference[0]), Fraction(a).limit_denominator(100)
    prior = []
    for j in range(e):
        inside, outside = kinds(reference, member, j)
        out = sum(map(chance, outside), Fraction(0)) / len(outside)
        within = sum(map(chance, inside), Fraction(0)) / len(inside)
        prior.append((out + within) / 2 if online else (1 + part) / 2 * out + (1 - part) / 2)
    scores = []
    for row in target:
        ratio = [chance(p) / q for p, q in zip(row, prior, strict=True)]
        scores.append(
            [
                sum(ratio[x] >= Fraction(gamma) * ratio[z] for z in range(e) if z != x) / (e - 1)
                for x in range(e)
            ]
        )
    return scores


def likelihood(reference: Rows, member: Members, target: Rows, *, m: int) -> list[list[float]]:
    """Log of the mean binomial likelihood over models with the record, minus without it."""

    def mean(right: int, group: list[float]) -> float:
        terms = []
        for share in group:
            p = (round(share * m) + 0.5) / (m + 1)
            terms.append(math.comb(m, right) * p**right * (1 - p) ** (m - right))
        return sum(terms) / len(terms)

    scores = []
    for row in target:
        line = []
        for j, share in enumerate(row):
            inside, outside = kinds(reference, member, j)
            right = round(share * m)
            line.append(math.log(mean(right, inside)) - math.log(mean(right, outside)))
        scores.append(line)
    return scores


def single_record(reference: Rows, member: Members, target: Rows) -> list[list[float]]:
    """1 minus the p-value of 'not a member' (Long et al. 2018)."""
    scores = []
    for row in target:
        line = []
        for j, share in enumerate(row):
            outside = kinds(reference, member, j)[1]
            line.append(1 - (1 + sum(p >= share for p in outside)) / (1 + len(outside)))
        scores.append(line)
    return scores


def exposed(reference: Rows, member: Members, number: int) -> list[tuple[int, float]]:
    """Records with their best rule 'member from (or below) a share', and how often it is right."""
    found = []
    for j in range(len(reference[0])):
        best = 0.0
        for cut in {row[j] for row in reference}:
            hits = [row[j] >= cut for row, who in zip(reference, member, strict=True) if who[j]]
            passes = [
                row[j] < cut for row, who in zip(reference, member, strict=True) if not who[j]
            ]
            right = (
                (sum(hits) / len(hits) + sum(passes) / len(passes)) / 2 if hits and passes else 0.5
            )
            best = max(best, right, 1 - right)
        found.append((j, best))
    return sorted(found, key=lambda each: (-each[1], each[0]))[:number]


def exposure(scores: list[float], inside: list[bool], canary: int) -> float:
    """Bits of exposure of a canary that is in, among itself and those out; ties are lost."""
    rank, candidates = 1, 1
    for other in range(len(scores)):
        if inside[other]:
            continue
        candidates += 1
        if scores[other] >= scores[canary]:
            rank += 1
    return math.log2(candidates) - math.log2(rank)


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
