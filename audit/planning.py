"""Planning: how many trials a wanted detectable loss takes, and about how long they run."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from scipy.special import ndtri

from dpassay.auditee import Auditee
from dpassay.claims import Claim
from dpassay.errors import require
from dpassay.lower_bounds import Method
from dpassay.plan import Group
from dpassay.power import POWER, detectable, tight_pair
from dpassay.seeds import stream

MOST_DRAWS = 10**8


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What it takes to refute a loss with probability 0.9 at a certified cell.

    Parameters
    ----------
    detect : float
        The loss, in nats.
    draws : int
        Certification trials per side: the `--budget` to ask for.
    trials : int
        Runs of the mechanism in all, screening included.
    seconds : float
        An estimate of the time on one core, from one timed block; it is no part of any record.
    """

    detect: float
    draws: int
    trials: int
    seconds: float


def draws_needed(claim: Claim, detect: float, alpha: float, method: Method = "stouffer") -> int:
    """Smallest number of trials per side, within 1 %, at which a loss is detectable.

    Parameters
    ----------
    claim : DP
        What is claimed.
    detect : float
        The loss to be seen; above the claim's epsilon.
    alpha : float
        Error probability of the cell's lower bound.
    method : {"stouffer", "clopper-pearson", "accuracy"}
        The test; which one a cell gets is chosen by its screening.

    Returns
    -------
    int
        At least 100.

    Raises
    ------
    InvalidInput
        If the loss is not above the claim, or takes more than 100 million trials.
    """
    require(detect > claim.epsilon, "--detect", detect, f"above the claim, {claim.epsilon:g}")
    p1, p0 = tight_pair(detect, claim.delta)
    spread = math.sqrt(p1 * (1 - p1) / (p1 - claim.delta) ** 2 + (1 - p0) / p0)
    guess = (float(ndtri(POWER) - ndtri(alpha)) * spread / (detect - claim.epsilon)) ** 2
    require(guess <= MOST_DRAWS, "--detect", detect, f"so far above the claim that {MOST_DRAWS:,} trials show it")

    def enough(n: int) -> bool:
        return detectable(epsilon=claim.epsilon, delta=claim.delta, n=n, alpha=alpha, method=method) <= detect

    low, high = 99, max(100, round(guess))
    while not enough(high):
        low, high = high, math.ceil(1.3 * high)
    low = max(low, min(high - 1, round(0.7 * guess)))
    while high - low > max(1, 0.01 * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def plan(auditee: Auditee, groups: tuple[Group, ...], *, detect: float | None, alpha: float, block: int = 1000) -> list[Need]:
    """Say what a Monte Carlo audit of these pairs takes, for one loss or for a ladder of them.

    Parameters
    ----------
    auditee, groups
        What would be audited.
    detect : float or None
        The loss to be seen; None for 2, 1.5, 1.2, 1.1 and 1.05 times the claim.
    alpha : float
        Error probability of one result.
    block : int
        Trials of the block that is timed.

    Returns
    -------
    list of Need
    """
    claim = auditee.claims[0]
    queries, pairs = sum(len(group.queries) for group in groups), sum(len(group.pairs) for group in groups)
    group = groups[0]
    state = auditee.prepare(group.pairs.base)
    started = time.perf_counter()
    auditee.neighbour(group.pairs.base, state, group.pairs.changes[0])
    prepared = time.perf_counter()
    auditee.sample(state, group.queries, block, stream(0, "plan"), "the base dataset")
    sampled = time.perf_counter()
    needs = []
    for loss in (detect,) if detect is not None else [claim.epsilon * factor for factor in (2, 1.5, 1.2, 1.1, 1.05)]:
        draws = draws_needed(claim, loss, alpha / 2 / queries)
        screening = min(draws, max(100, draws * queries // pairs)) * (pairs + len(groups))
        trials = screening + draws * (min(pairs, queries) + len(groups))
        seconds = (prepared - started) * (len(groups) + pairs) + (sampled - prepared) * trials / block
        needs.append(Need(detect=loss, draws=draws, trials=trials, seconds=seconds))
    return needs
