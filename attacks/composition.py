"""What a claim allows several answers about one record to lose together."""

from __future__ import annotations

from scipy.special import expit

from dpassay.claims import DP


def composed(claim: DP, m: int | None) -> tuple[float, float]:
    """Return the epsilon and delta that m answers with fresh coins may lose together.

    Basic composition gives (m epsilon, m delta), delta at most 1. Of a claim that is a curve it
    is the point with epsilon > 0 of the composed curve that allows the fewest right guesses. An
    m of None is one answer that shows all, such as scores.
    """
    m = m or 1
    basic = m * claim.epsilon, min(1.0, m * claim.delta)
    known = () if claim.curve is None else claim.curve.composed(m)
    return min((basic, *(each for each in known if each[0] > 0)), key=_allowed_guesses)


def _allowed_guesses(point: tuple[float, float]) -> float:
    """Return how probable a right guess at a fair coin may be at a point."""
    epsilon, delta = point
    return delta + (1 - delta) * float(expit(epsilon))
