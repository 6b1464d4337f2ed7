"""Mechanisms that are attacked, each built so that a single answer of it loses what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.claims import DP
from dpassay.errors import InvalidInput
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import about, accepts, resolve, sized

PROTECTED = (
    "soft-majority",
    "projected-walk",
    "noisy-average",
    "pate",
    "private-knn",
    "distance-to-instability",
)
"""Attacked unless something else is named."""
PRIVACY = ("epsilon", "alpha", "gamma")
"""Parameters that the loss of a single answer is proportional to; the first that a mechanism has is
set."""
LEARNER = "tree"
"""Base learner, unless something else is said."""


def at_loss(
    name: str, epsilon: float, parameters: Mapping[str, Any], *, records: int
) -> AuditTarget:
    """Build a mechanism of the catalogue, or `module:object`, whose single answer loses epsilon."""
    if about(name).function:
        raise InvalidInput(
            f"target = '{name}': must be a class that takes epsilon; a plain function claims "
            "nothing that --epsilon could set: say --claim epsilon=1"
        )
    knob = next((each for each in PRIVACY if accepts(name, each)), None)
    if knob is None:
        raise InvalidInput(
            f"target = '{name}': has no parameter {', '.join(PRIVACY)} that --epsilon could set"
        )
    if knob in parameters:
        raise InvalidInput(
            f"-p {knob}={parameters[knob]}: has no effect, as --epsilon sets {knob} of '{name}'"
        )
    learner = {"learner": LEARNER} if accepts(name, "learner") else {}
    own = learner | sized(name, parameters, records)
    value = epsilon / claim_of(resolve(name, own | {knob: "1"})).epsilon
    found = resolve(name, own | {knob: repr(value)})
    reached = claim_of(found).epsilon
    if not abs(reached - epsilon) <= 1e-9 * epsilon:
        raise InvalidInput(
            f"--epsilon = {epsilon:g}: '{name}' with {knob} = {value:g} claims {reached:g}"
        )
    if not found.labels:
        raise InvalidInput(f"target = '{name}': answers numbers; an attack needs labels")
    return found


def claim_of(target: AuditTarget) -> DP:
    """Return the first claim about a single answer that is not known to be wrong."""
    for claim in target.claims:
        if isinstance(claim, DP) and claim.expected != "refuted":
            return claim
    wrong = "promises no differential privacy that is not known to be wrong"
    raise InvalidInput(f"target = '{target.name}': {wrong}")
