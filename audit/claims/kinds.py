"""Every kind of claim: by the name that a record knows it by, and as it is spelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dpassay.claims.answers import DP, GDP, Stability
from dpassay.claims.curves import RDP, zCDP
from dpassay.claims.numbers import Accuracy, PredictionStability
from dpassay.claims.scores import ScoreStability
from dpassay.errors import require
from dpassay.privacy_curves import curve_from_json

Claim = DP | GDP | Stability | PredictionStability | ScoreStability | Accuracy
"""Every kind of claim there is."""

KINDS: dict[str, type[Claim]] = {
    kind.kind: kind for kind in (DP, GDP, Stability, PredictionStability, ScoreStability, Accuracy)
}
"""Each kind by the name that a record knows it by."""


SPELLINGS = (
    frozenset({"epsilon"}),
    frozenset({"epsilon", "delta"}),
    frozenset({"mu"}),
    frozenset({"rho"}),
    frozenset({"alpha", "epsilon"}),
    frozenset({"gamma"}),
)
"""Numbers by which a claim is named on a command line or in a file."""
SPELLED = "epsilon=E, or epsilon=E,delta=D, or mu=M, or rho=R, or alpha=A,epsilon=E, or gamma=G"
"""The same in words."""


def spelled(numbers: Mapping[str, float], source: str, *, labels: bool) -> Claim:
    """Return the claim of one of the `SPELLINGS`; gamma is of labels or real predictions."""
    if "rho" in numbers:
        return zCDP(numbers["rho"], source=source)
    if "alpha" in numbers:
        return RDP(numbers["alpha"], numbers["epsilon"], source=source)
    if "epsilon" in numbers:
        return DP(epsilon=numbers["epsilon"], delta=numbers.get("delta", 0.0), source=source)
    if "mu" in numbers:
        return GDP(mu=numbers["mu"], source=source)
    return (Stability if labels else PredictionStability)(gamma=numbers["gamma"], source=source)


def claim_from_json(facts: dict[str, Any], expected: Any = None) -> Claim:
    """Read back what `as_json` wrote.

    Raise InvalidInput if the kind is unknown, a number is out of range, or one belongs to another
    kind.
    """
    require(facts.get("kind") in KINDS, "claim", facts.get("kind"), f"of kind {', '.join(KINDS)}")
    kind = KINDS[facts["kind"]]
    known = {
        name: value
        for name, value in facts.items()
        if name in {field.name for field in fields(kind)}
    }
    others = {field.name for each in KINDS.values() for field in fields(each)} - set(known)
    for name in sorted(others & facts.keys()):
        require(facts[name] is None, name, facts[name], f"null in a claim of kind {kind.__name__}")
    if known.get("curve") is not None:
        known["curve"] = curve_from_json(known["curve"])
    return kind(**known, expected=expected)
