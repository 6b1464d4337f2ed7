"""How many fresh answers about a chosen record certify 85 % of a claim that is just kept."""

from __future__ import annotations

from dpassay.attacks.composition import composed
from dpassay.attacks.experiment.boundary import guesses_for, renyi_guesses_for
from dpassay.attacks.experiment.renyi import renyi_claim
from dpassay.attacks.experiment.subjects import Protected, Subject, View
from dpassay.claims import DP

LEAST, MOST = 20_000, 100_000
"""Answers about a record: what its claim takes if that is at most MOST, LEAST otherwise."""
LARGEST = 30.0
"""Losses above it are not planned for: more than ten million guesses certify less."""


def asked_again(subject: Subject, claim: DP | None) -> View | None:
    """Return the view that fresh answers are asked for in: that of the fewest answers.

    None where there are none: without a claim, and of what does not answer labels, makes one answer
    a call, runs outside of Python, or draws coins of its own, which may be those of its training.
    """
    if claim is None or not isinstance(subject, Protected):
        return None
    light = subject.target.seeded and not subject.target.slow
    return subject.views[0] if light else None


def fresh_guesses(view: View, claim: DP, *, alpha: float, targets: int) -> int:
    """Return how many guesses at one record are made besides those at the targets.

    With the targets they certify 85 % of the claim by the median, on randomised response, if
    this takes at most 100,000 answers; otherwise they use 20,000 answers. `alpha` is that of
    the bound of one record.
    """
    m = view.m or 1
    needed = _needed(claim, m, alpha)
    if not 0 < needed * m <= MOST:
        needed = LEAST // m
    return max(0, needed - targets)


def _needed(claim: DP, m: int, alpha: float) -> int:
    """Return the guesses that certify 85 % of what m answers may lose; 0 where it is not known."""
    promised = renyi_claim(claim, m)
    if promised is not None:
        return renyi_guesses_for(promised, alpha=alpha)
    epsilon, delta = composed(claim, m)
    possible = 0 < epsilon <= LARGEST and delta < 1
    return guesses_for(epsilon, delta=delta, alpha=alpha) if possible else 0
