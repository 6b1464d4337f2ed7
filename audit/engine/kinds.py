"""Kinds: what is done with a claim, found by its kind.

A new one is a class of claims and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpassay.claims import DP, GDP, Accuracy, Claim, PredictionStability, ScoreStability, Stability
from dpassay.engine.readings import Leaks
from dpassay.engine.testers.about_events import AboutEvents
from dpassay.engine.testers.errors import AboutErrors
from dpassay.engine.testers.interface import Kind
from dpassay.engine.testers.means import AboutMeans
from dpassay.engine.testers.proportions import AboutStrings
from dpassay.laws import Law

TESTERS: dict[str, Callable[[Any], Kind]] = {
    DP.kind: AboutEvents,
    GDP.kind: AboutEvents,
    Stability.kind: AboutEvents,
    PredictionStability.kind: AboutMeans,
    ScoreStability.kind: AboutStrings,
    Accuracy.kind: AboutErrors,
}
"""How each kind of claim is read, tested, planned and bounded anew."""


def kind_of(claim: Claim) -> Kind:
    """Return all that is done with a claim."""
    return TESTERS[claim.kind](claim)


def leaks_of(claim: Claim, law: Law, labels: tuple[int, ...]) -> Leaks | None:
    """Return how a claim reads laws of this kind; None where it cannot."""
    return kind_of(claim).leaks(law, labels)
