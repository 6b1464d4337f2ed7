"""Health: whether trials vary from call to call as independent ones do.

Told from counts at a proven false-alarm rate.

Under the hypothesis that all trials of a dataset are independent and of one law, and given how
often each symbol came in all, every order of the symbols is equally likely. Let Q be any
probability on sequences of symbols. Then E = Q(sequence) / P(sequence | totals) has an expectation
of at most 1, and so has every average of such numbers, dependent or not. By Markov's inequality an
average reaches 1/alpha with a probability of at most alpha, whatever the law and the number of
trials. Two choices of Q are made here: stretches of trials with a law of their own, and calls that
repeat an earlier one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

Array = NDArray[np.float64]
Calls = NDArray[np.int64]

ALARM = 1e-6
"""Probability that a run with mechanisms that draw as they should ends with any alarm at all, at
most."""
CONCENTRATIONS = np.array([1.0, 10.0, 100.0, 1e3, 1e4])
"""How close to one another the laws of stretches lie: two trials of a stretch correlate by
1 / (1 + concentration)."""
COMPARED = 50
"""Calls that are looked for among the earlier ones, at most."""


def log_uneven(stretches: Calls) -> Array:
    """Return ln E (q,) against stretches of trials with a law of their own each, per query.

    `stretches` (b, q, K) count each symbol, stretch by stretch. Q is a Polya urn per stretch that
    begins with the shares of the symbols in all trials, times a concentration; it is averaged over
    `CONCENTRATIONS`.
    """
    symbols = _by_symbol(stretches)
    totals, lengths = symbols.sum(axis=1), symbols.sum(axis=0)
    if (lengths == lengths[:, :1]).all():  # every query was asked as often
        lengths = lengths[:, :1]
    start = np.where(totals, totals, 1) / totals.sum(axis=0)  # an urn's 0 of 0 draws is no matter
    urns = _rising(CONCENTRATIONS[:, None, None], lengths).sum(axis=1)
    came = np.stack([_rising(c * start[:, None], symbols).sum(axis=(0, 1)) for c in CONCENTRATIONS])
    mixed: Array = logsumexp(came - urns, axis=0) - np.log(len(CONCENTRATIONS))
    mixed -= _orders(totals)
    return mixed


def log_varied(calls: Calls) -> Array:
    """Return ln E against calls that vary too much, per query.

    One by one, or in runs of 2, 4, 8, ... in the order of time.

    `calls` (c, q, K): counts, call by call.
    """
    found, runs = [log_uneven(calls)], calls
    while len(runs) > 2:
        runs = np.add.reduceat(runs, np.arange(0, len(runs), 2), axis=0)
        found.append(log_uneven(runs))
    mixed: Array = logsumexp(found, axis=0) - np.log(len(found))
    return mixed


def log_copied(calls: Calls) -> Array:
    """Return ln E against calls that repeat the counts of an earlier one, half of them, per query.

    Shape (c, q, K) to (q,).

    Only the first `COMPARED` calls are looked at. Rows in order, or calls that all balance, do not
    matter: only equal counts do.
    """
    symbols = _by_symbol(calls[:COMPARED])
    gone = np.cumsum(np.insert(symbols, 0, 0, axis=1), axis=1)
    left = _orders(gone[:, -1:] - gone)
    chances = left[:-1] - _orders(symbols) - left[1:]
    found = np.zeros(calls.shape[1])
    for place in range(1, symbols.shape[1]):
        same = (symbols[:, :place] == symbols[:, place, None]).all(axis=0)
        with np.errstate(divide="ignore"):  # a call like no other: its own chance is of no matter
            repeated = np.log(same.mean(axis=0))
        found += np.logaddexp(0.0, repeated - chances[place]) - math.log(2)
    return found


def log_average(found: Iterable[Array], of: int) -> float:
    """Return ln of the average of E over queries and the `of` datasets that could have been.

    Those that were not drawn count as 0: so datasets may be chosen by what was seen of them, at no
    cost but this.
    """
    each = [float(np.logaddexp.reduce(one)) - math.log(len(one)) for one in found]
    return float(np.logaddexp.reduce(each)) - math.log(of) if each else -math.inf


def _rising(start: Array, count: Calls) -> Array:
    """Return ln of start (start + 1) ... (start + count - 1)."""
    rising: Array = gammaln(start + count) - gammaln(start)
    return rising


def _by_symbol(calls: Calls) -> Calls:
    """Return counts (c, q, K) as (K', c, q), without the symbols that never came.

    These have no part in anything. Sums over a last axis of two take long.
    """
    return np.ascontiguousarray(np.moveaxis(calls[..., calls.any(axis=(0, 1))], 2, 0))


def _orders(counts: Calls) -> Array:
    """Return minus ln of how many orders symbols can stand in that come so often, without axis 0.

    Of calls drawn from a box without putting back, these of what is in it, less those of the call
    and of what is left, are the ln of the probability.
    """
    orders: Array = gammaln(counts + 1).sum(axis=0) - gammaln(counts.sum(axis=0) + 1)
    return orders
