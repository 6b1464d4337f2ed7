"""The zoo: every broken mechanism with its twin."""

from __future__ import annotations

from dpassay.mechanisms.broken import (
    budgets,
    floating_point,
    geometric,
    histograms,
    noisy_max,
    randomness,
    sensitivity,
    sparse_vector,
    votes,
)
from dpassay.mechanisms.broken.specimen import Specimen

FAMILIES = (
    histograms,
    noisy_max,
    sparse_vector,
    geometric,
    floating_point,
    votes,
    sensitivity,
    budgets,
    randomness,
)


def specimens(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return all of them, the standard benchmark of the literature first.

    Parameters
    ----------
    epsilon : float, optional
        The claim, in nats, from 1e-3 to 1. By default that of each member: 1, or 0.1 for the two
        that are private at 1 (`noisy-hist-2` loses 1 / epsilon, `truncated-geometric` is wrong for
        some epsilon only). Members that are private at an epsilon are left out.
    """
    return tuple(each for family in FAMILIES for each in family.members(epsilon))
