"""The Bayes-optimal attacker where the laws of the answers are known: the ceiling of all attacks.

For one answer, or m independent answers at one query, the likelihood ratio is optimal (Neyman and
Pearson 1933).

An attacker who may choose each query after seeing the answers before plays a game that is solved
backwards: a transcript t that ends with log-likelihood ratio L adds max(0, P[t] - e^epsilon
Q[t]) = P[t] max(0, 1 - e^(epsilon - L)), and the best next query depends on the past through the
counts of (query, label) alone; counts of equal losses are added up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from dpassay.attacks.observed import Array
from dpassay.errors import InvalidInput, is_count, is_real, require
from dpassay.stats.divergence import privacy_loss

MOST_STATES = 400_000
"""No larger table of counts is made."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimal:
    """What the best attacker reaches, who sees answers of law P of members and Q of others.

    `fpr` and `tpr` are the corners of the trade-off curve, from (0, 0) to (1, 1); it is
    straight between them, by coins.
    """

    fpr: Array
    tpr: Array
    auc: float  # at least 1/2
    advantage: float  # largest TPR - FPR, which is the total variation


def optimal(log_p: ArrayLike, log_q: ArrayLike) -> Optimal:
    """Return the best attacker on one draw from P or Q, given the logs of their masses (K,)."""
    log_p, log_q = table(log_p, log_q)
    require(log_p.ndim == 1, "log_p", log_p.shape, "of shape (K,)")
    possible = ~(np.isneginf(log_p) & np.isneginf(log_q))
    one, other = log_p[possible], log_q[possible]
    order = np.argsort(-(one - other), kind="stable")
    tpr, fpr = (np.concatenate([[0.0], np.cumsum(np.exp(each[order]))]) for each in (one, other))
    tpr, fpr = tpr / tpr[-1], fpr / fpr[-1]
    area = float(np.sum((tpr[1:] + tpr[:-1]) / 2 * np.diff(fpr)))
    return Optimal(
        fpr=fpr, tpr=tpr, auc=min(1.0, area), advantage=float(np.clip((tpr - fpr).max(), 0.0, 1.0))
    )


def table(log_p: ArrayLike, log_q: ArrayLike) -> tuple[Array, Array]:
    """Check two laws of one shape."""
    one, other = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
    same = one.shape == other.shape and one.size > 0
    require(same, "log_q", f"shape {other.shape}", f"of shape {one.shape}, not empty")
    return one, other


def answers(log_p: ArrayLike, log_q: ArrayLike, m: int) -> tuple[Array, Array]:
    """Return the laws of the counts of labels in m independent answers at one query."""
    log_p, log_q = table(log_p, log_q)
    require(log_p.ndim == 1, "log_p", log_p.shape, "of shape (K,)")
    require(is_count(m), "m", m, "an integer >= 1")
    counts = compositions(m, log_p.size)
    ways = gammaln(m + 1) - gammaln(counts + 1).sum(axis=1)
    with np.errstate(invalid="ignore"):
        one, other = (
            ways + np.where(counts > 0, counts * each, 0.0).sum(axis=1) for each in (log_p, log_q)
        )
    return np.minimum(one, 0.0), np.minimum(other, 0.0)


def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Return all vectors of `parts` counts >= 0 with this sum, a row each."""
    number = math.comb(total + parts - 1, parts - 1)
    few = f"small enough for {MOST_STATES:,} counts of {parts} answers"
    require(number <= MOST_STATES, "m", total, few)
    places = list(combinations(range(total + parts - 1), parts - 1))
    bars = np.array(places, dtype=np.int64).reshape(number, parts - 1)
    ends = np.full((number, 1), total + parts - 1)
    return np.diff(np.concatenate([np.full((number, 1), -1), bars, ends], axis=1), axis=1) - 1


def ceiling(log_p: ArrayLike, log_q: ArrayLike, m: int = 1) -> Optimal:
    """Return the best attacker on m independent answers at one query; see `answers`."""
    return optimal(*answers(log_p, log_q, m))


MOST_PLAYED = 20_000
"""No more counts after m answers are played through."""
CLOSE = 12
"""Losses of labels that agree in so many decimals are one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strategy:
    """The best adaptive strategy at one epsilon.

    Answers (query, label) with one log-likelihood ratio are of one kind. Kinds -1 and -2 are
    those that S' or S never gives: the first ends the game, the second does not happen.
    """

    delta: float  # P[E] - e^epsilon Q[E], the largest over strategies and events E
    hit: float  # P[E] of the event that reaches it
    alarm: float  # Q[E] of it
    kinds: NDArray[np.int64]  # (q, K)
    # (states, kinds) by the number of answers given: how often each kind came
    states: tuple[NDArray[np.int64], ...]
    choices: tuple[NDArray[np.int64], ...]  # (states,): the query that is asked then


def best_strategy(log_p: ArrayLike, log_q: ArrayLike, m: int, epsilon: float) -> Strategy:
    """Return the best adaptive choice of m queries, by dynamic programming over counts of answers.

    The counts are of pairs (query, label), and the programme runs backwards. `log_p` and
    `log_q` (q, K) are the laws of an answer at each candidate query on S and S'; every answer
    has fresh coins. An epsilon of 0 gives the total variation, which is the best advantage.
    More than 20,000 states after m answers are refused.
    """
    log_p, log_q = table(log_p, log_q)
    require(log_p.ndim == 2, "log_p", log_p.shape, "of shape (q, K)")
    require(is_count(m), "m", m, "an integer >= 1")
    finite = is_real(epsilon) and 0 <= epsilon < math.inf
    require(finite, "epsilon", epsilon, "a finite number >= 0")
    p, impossible = np.exp(log_p), np.isneginf(log_p)
    endless = np.isneginf(log_q) & ~impossible
    with np.errstate(invalid="ignore"):
        loss = np.round(log_p - log_q, CLOSE)
    losses = np.unique(loss[~impossible & ~endless])
    kinds = np.searchsorted(losses, np.where(np.isfinite(loss), loss, 0.0))
    kinds = np.where(impossible, -2, np.where(endless, -1, kinds))
    # of these answers S' gives none: nothing is left to learn
    sure = np.where(endless, p, 0.0).sum(axis=1)
    if losses.size == 0:
        none = np.zeros((1, 0), dtype=np.int64)
        return Strategy(
            delta=1.0,
            hit=1.0,
            alarm=0.0,
            kinds=kinds,
            states=(none,),
            choices=(np.zeros(1, dtype=np.int64),),
        )
    weights = np.zeros((len(p), losses.size))  # P[kind | query]
    for j, d in np.argwhere(kinds >= 0):
        weights[j, kinds[j, d]] += p[j, d]
    number = math.comb(m + losses.size - 1, losses.size - 1)
    few = f"small enough for {MOST_PLAYED:,} counts of {losses.size} losses"
    require(number <= MOST_PLAYED, "m", m, few)
    states = tuple(compositions(t, losses.size) for t in range(m + 1))
    final = states[m] @ losses
    inside = final > epsilon
    gain = np.where(inside, -np.expm1(np.minimum(epsilon - final, 0.0)), 0.0)
    hit, alarm = inside.astype(float), np.where(inside, np.exp(-np.maximum(final, 0.0)), 0.0)
    choices: list[NDArray[np.int64]] = []
    for now, later in zip(states[-2::-1], states[:0:-1], strict=True):
        # the successors of the states after so many answers, shape (states, kinds)
        place = {tuple(row): i for i, row in enumerate(later.tolist())}
        after = np.array(
            [
                [place[*row[:d], row[d] + 1, *row[d + 1 :]] for d in range(len(row))]
                for row in now.tolist()
            ]
        )
        gains = gain[after] @ weights.T + sure
        choice = gains.argmax(axis=1)
        rows = np.arange(len(now))
        gain = gains[rows, choice]
        hit = (hit[after] @ weights.T + sure)[rows, choice]
        alarm = (alarm[after] @ weights.T)[rows, choice]
        choices.append(choice)
    return Strategy(
        delta=float(np.clip(gain[0], 0.0, 1.0)),
        hit=float(min(hit[0], 1.0)),
        alarm=float(min(alarm[0], 1.0)),
        kinds=kinds,
        states=states[:-1],
        choices=tuple(reversed(choices)),
    )


def privacy_spent(log_p: ArrayLike, log_q: ArrayLike, m: int, delta: float = 0.0) -> float:
    """Return epsilon_m(delta) in nats, from S to S'.

    It is the least epsilon at which the best adaptive strategy reaches no more than delta, and
    inf if S' cannot answer what S does, beyond delta. delta_m is convex in e^epsilon, as the
    largest of straight lines P[E] - e^epsilon Q[E]; Newton's steps from epsilon = 0 climb to
    where it crosses delta, and stay below. At delta = 0 it is m times the largest loss of an
    answer, and nobody needs to adapt.
    """
    log_p, log_q = table(log_p, log_q)
    require(is_real(delta) and 0 <= delta < 1, "delta", delta, "a number in [0, 1)")
    if delta == 0:
        return m * float(privacy_loss(log_p, log_q).value.max())
    if len(log_p) == 1:  # there is nothing to choose
        return float(privacy_loss(*answers(log_p[0], log_q[0], m), delta).value)
    epsilon = 0.0
    for _ in range(10_000):
        found = best_strategy(log_p, log_q, m, epsilon)
        if found.delta <= delta or found.hit <= delta:
            return epsilon
        if found.alarm == 0:
            return math.inf
        step = math.log((found.hit - delta) / found.alarm)
        if step <= epsilon + 1e-13:
            return epsilon
        epsilon = step
    raise InvalidInput(f"delta = {delta}: no loss was found to fit")  # pragma: no cover


def composition(epsilon: float, m: int, delta_prime: float) -> tuple[float, float]:
    """Return what the advanced and the optimal theorem promise of m answers that lose epsilon each.

    The losses are at delta'. Advanced is sqrt(2 m ln(1 / delta')) epsilon + m epsilon
    (e^epsilon - 1) (Dwork and Roth 2014, Theorem 3.20); optimal is the least that holds for all
    such answers (Kairouz, Oh and Viswanath 2015): what m answers of randomised response lose.
    Epsilon is at most 700 nats.
    """
    inside = is_real(delta_prime) and 0 < delta_prime < 1
    require(is_real(epsilon) and 0 < epsilon <= 700, "epsilon", epsilon, "a number in (0, 700]")
    require(inside, "delta_prime", delta_prime, "a number in (0, 1)")
    advanced = math.sqrt(2 * m * math.log(1 / delta_prime)) * epsilon
    right = -np.logaddexp(0.0, [-epsilon, epsilon])
    lost = privacy_loss(*answers(right, right[::-1], m), delta_prime)
    return advanced + m * epsilon * math.expm1(epsilon), float(lost.value)
