"""Mechanisms that are attacked, each built so that a single answer of it loses what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.claims import DP
from dpassay.errors import InvalidInput
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import accepts, is_function, resolve, sized

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
    """Build a mechanism whose single answer loses epsilon.

    Parameters
    ----------
    name : str
        A name of the catalogue, or `module:object` of a class.
    epsilon : float
        In nats; > 0.
    parameters : mapping
        Its other parameters, as `dpassay.targets.resolve.resolve` takes them; the learner is a tree
        unless they say another.
    records : int
        In a training set.

    Raises
    ------
    InvalidInput
        If it has no such parameter, or none that epsilon could set; or it answers numbers, or
        promises no such loss.
    """
    if is_function(name):
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
    own = ({"learner": LEARNER} if accepts(name, "learner") else {}) | sized(
        name, parameters, records
    )
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
    """Return the claim about a single answer that is held against the attacks.

    The first that is not known to be wrong.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    found = [
        claim for claim in target.claims if isinstance(claim, DP) and claim.expected != "refuted"
    ]
    if not found:
        raise InvalidInput(
            f"target = '{target.name}': promises no differential privacy that is not known to be "
            "wrong"
        )
    return found[0]
