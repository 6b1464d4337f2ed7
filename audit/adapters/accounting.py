"""dp-accounting: the claim of an accountant, or of an event that one can account for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpassay.adapters import library
from dpassay.claims import DP, LARGEST, Profile
from dpassay.errors import InvalidInput, as_real, require
from dpassay.privacy_curves import DELTAS
from dpassay.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT

EXTRA = "dp-accounting"
RELATIONS = {
    "ADD_OR_REMOVE_ONE": ADD_REMOVE,
    "REPLACE_ONE": REPLACE_ONE,
    "REPLACE_SPECIAL": ZERO_OUT,
}
"""What an accountant calls the relations."""


def claim(accounted: Any, *, deltas: Sequence[float] = DELTAS, relation: str = ADD_REMOVE) -> DP:
    """Return what an accountant has found, as a privacy profile with its relation.

    `accounted` is a PrivacyAccountant that has composed what is released, or a DpEvent, which the
    accountant of privacy loss distributions composes, or else the one of Renyi divergences. The
    profile is read at `deltas` in (0, 1), at most 64 of them. `relation` ('add-remove',
    'replace-one' or 'zero-out') is what an event is accounted for; an accountant says its own.
    Raise InvalidInput if it is neither, no accountant takes the event, or it claims nothing at
    these deltas.
    """
    package = library("dp_accounting", EXTRA)
    for delta in deltas:
        require(0 < as_real(delta) < 1, "deltas", delta, "numbers in (0, 1)")
    if isinstance(accounted, package.DpEvent):
        accounted = _composed(accounted, relation)
    known = isinstance(accounted, package.PrivacyAccountant)
    name = type(accounted).__name__
    require(known, "accounted", name, "a PrivacyAccountant or DpEvent of dp_accounting")
    points = [(float(accounted.get_epsilon(delta)), float(delta)) for delta in deltas]
    told = [each for each in points if math.isfinite(each[0]) and each[0] <= LARGEST]
    require(bool(told), "accounted", name, f"one whose epsilon is at most {LARGEST:g}")
    kept = RELATIONS[accounted.neighboring_relation.name]
    return Profile(told, relation=kept, source=f"{name} of dp-accounting")


def _composed(event: Any, relation: str) -> Any:
    """Return the first accountant that takes an event, with it composed."""
    package = library("dp_accounting", EXTRA)
    names = {kept: name for name, kept in RELATIONS.items()}
    require(relation in names, "relation", relation, " or ".join(map(repr, names)))
    for name in ("pld.PLDAccountant", "rdp.RdpAccountant"):
        module, kind = name.split(".")
        found = getattr(library(f"dp_accounting.{module}", EXTRA), kind)
        accountant = found(neighboring_relation=package.NeighboringRelation[names[relation]])
        if accountant.supports(event):
            return accountant.compose(event)
    raise InvalidInput(
        f"accounted = {event!r:.80}: no accountant takes it with relation '{relation}'"
    )
