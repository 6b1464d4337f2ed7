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
        The claim, in nats, from 1e-3 to 1. By default that of each member: 1, or 0.1 for two whose
        mistake makes no difference at 1 (`noisy-hist-2` takes epsilon for 1 / epsilon, a logarithm
        of `truncated-geometric` is rounded up). They are left out where it makes none.
    """
    return tuple(each for family in FAMILIES for each in family.members(epsilon))
