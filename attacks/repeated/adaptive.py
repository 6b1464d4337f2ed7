"""The best adaptive choice of queries, by dynamic programming.

What m answers lose, next to the composition theorems.

An attacker who may choose each query after seeing the answers before plays a game that is solved
backwards: a transcript t that ends with log-likelihood ratio L adds max(0, P[t] - e^epsilon
Q[t]) = P[t] max(0, 1 - e^(epsilon - L)), and the best next query depends on the past through the
counts of (query, label) alone; counts of equal losses are added up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.attacks.repeated.optimal import answers, compositions, table
from dpassay.errors import InvalidInput, is_count, is_real, require
from dpassay.stats.divergence import privacy_loss

MOST_STATES = 20_000
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
    require(
        is_real(epsilon) and 0 <= epsilon < math.inf, "epsilon", epsilon, "a finite number >= 0"
    )
    p, impossible = np.exp(log_p), np.isneginf(log_p)
    endless = np.isneginf(log_q) & ~impossible
    with np.errstate(invalid="ignore"):
        loss = np.round(log_p - log_q, CLOSE)
    losses = np.unique(loss[~impossible & ~endless])
    kinds = np.where(
        impossible,
        -2,
        np.where(endless, -1, np.searchsorted(losses, np.where(np.isfinite(loss), loss, 0.0))),
    )
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
    require(
        number <= MOST_STATES,
        "m",
        m,
        f"small enough for {MOST_STATES:,} counts of {losses.size} losses",
    )
    states = tuple(compositions(t, losses.size) for t in range(m + 1))
    final = states[m] @ losses
    inside = final > epsilon
    gain = np.where(inside, -np.expm1(np.minimum(epsilon - final, 0.0)), 0.0)
    hit, alarm = inside.astype(float), np.where(inside, np.exp(-np.maximum(final, 0.0)), 0.0)
    choices: list[NDArray[np.int64]] = []
    for now, after in _steps(states):
        gains = gain[after] @ weights.T + sure
        choice = gains.argmax(axis=1)
        rows = np.arange(len(now))
        gain = gains[rows, choice]
        hit, alarm = (
            (hit[after] @ weights.T + sure)[rows, choice],
            (alarm[after] @ weights.T)[rows, choice],
        )
        choices.append(choice)
    return Strategy(
        delta=float(np.clip(gain[0], 0.0, 1.0)),
        hit=float(min(hit[0], 1.0)),
        alarm=float(min(alarm[0], 1.0)),
        kinds=kinds,
        states=states[:-1],
        choices=tuple(reversed(choices)),
    )


def _steps(
    states: tuple[NDArray[np.int64], ...],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Backwards: the states after t answers and their successors, shape (states, kinds)."""
    for t in range(len(states) - 2, -1, -1):
        place = {tuple(row): i for i, row in enumerate(states[t + 1].tolist())}
        after = [
            [place[*row[:d], row[d] + 1, *row[d + 1 :]] for d in range(len(row))]
            for row in states[t].tolist()
        ]
        yield states[t], np.array(after)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What the composition theorems promise of m answers, each epsilon-private.

    `basic` is m epsilon, at delta' = 0 (Dwork and Roth 2014, Theorem 3.16); `advanced` is
    sqrt(2 m ln(1 / delta')) epsilon + m epsilon (e^epsilon - 1) (Theorem 3.20); `optimal` is
    the least that holds for all such answers (Kairouz, Oh and Viswanath 2015): what m answers
    of randomised response lose.
    """

    basic: float
    advanced: float
    optimal: float
    delta_prime: float


def composition(epsilon: float, m: int, delta_prime: float) -> Composition:
    """Return what the theorems promise of m answers that lose epsilon each, at most 700 nats."""
    require(is_real(epsilon) and 0 < epsilon <= 700, "epsilon", epsilon, "a number in (0, 700]")
    require(
        is_real(delta_prime) and 0 < delta_prime < 1,
        "delta_prime",
        delta_prime,
        "a number in (0, 1)",
    )
    right = -np.logaddexp(0.0, [-epsilon, epsilon])
    one, other = answers(right, right[::-1], m)
    return Composition(
        basic=m * epsilon,
        advanced=math.sqrt(2 * m * math.log(1 / delta_prime)) * epsilon
        + m * epsilon * math.expm1(epsilon),
        optimal=float(privacy_loss(one, other, delta_prime).value),
        delta_prime=delta_prime,
    )
