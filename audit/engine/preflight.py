"""Checks before anything is run.

Whether mechanism, claims, data and settings can go together at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from dpassay.claims import Claim
from dpassay.engine.apart import apart
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, TargetError
from dpassay.relations import within
from dpassay.search.proposals.proposal import Space
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget


def check(
    targets: Sequence[AuditTarget], data: PairGroup | Space | None, settings: Settings
) -> None:
    """Raise `InvalidInput` if mechanism, data and settings can never match; nothing is drawn."""
    sampled = [each for each in targets if settings.mode == "monte-carlo" or not each.has_law]
    claims = [claim for target in sampled for claim in target.claims]
    if settings.stop_early and claims and not any(claim.stops_early for claim in claims):
        raise InvalidInput(
            f"stop_early = True: has no effect on {claims[0]}; no proven test stops trials of a "
            "claim about means"
        )
    for target in targets:
        space = target.space or (data if isinstance(data, Space) else None)
        if space is not None:
            _check_search(target, space, settings)
        else:
            _check_pairs(target, data if isinstance(data, PairGroup) else None, settings)


def _check_pairs(target: AuditTarget, data: PairGroup | None, settings: Settings) -> None:
    """Raise `InvalidInput` if a mechanism and the pairs that it is looked at on cannot go together.

    These are the user's pairs, its own, or those of a domain.
    """
    if settings.mode in ("exact", "exhaustive") and not target.has_law:
        raise InvalidInput(
            f"mode '{settings.mode}': {target.name} has no exact law (no method "
            "distribution); use monte-carlo"
        )
    for claim in target.claims:
        _check_claim(target, claim, settings)
        if settings.mode == "exhaustive" and settings.domain is not None:
            with suppress(TargetError):  # the mechanism's fault, which ends its result only
                settings.domain.check(target, claim)
        elif data is not None and not within(data.pairs.relation, claim.relation):
            raise InvalidInput(
                f"pairs: are neighbours under '{data.pairs.relation}'; must be under "
                f"'{claim.relation}', of which the claim {claim} of {target.name} speaks"
            )
    if settings.mode == "exhaustive" and settings.domain is not None:
        _check_data(target, settings.domain.dataset((0,) * settings.domain.n)[0], settings)
    elif data is not None and not target.alone:
        _check_data(target, data.pairs.base, settings)
    elif data is None and not target.has_worst_cases:
        raise InvalidInput(
            f"{target.name}: no pairs to audit; it names no worst cases of its own, so give it data"
        )


def _check_data(target: AuditTarget, data: Any, settings: Settings) -> None:
    """Raise `InvalidInput` if the mechanism says, where it is called, that it cannot take them."""
    with apart(target, None, settings) as there:
        there.check(data)


def _check_search(target: AuditTarget, space: Space, settings: Settings) -> None:
    """Raise `InvalidInput` if pairs of a space cannot be held against the claims."""
    if settings.mode in ("exact", "exhaustive"):
        raise InvalidInput(
            f"mode '{settings.mode}': pairs are searched for ({target.name}); use auto, which "
            "computes where there is an exact law, or monte-carlo"
        )
    for claim in target.claims:
        if not claim.of_events:
            raise InvalidInput(
                f"{target.name}: {claim}: a search goes with claims of kind DP, GDP and Stability"
            )
        if not within(space.relation, claim.relation):
            raise InvalidInput(
                f"search: proposes neighbours under '{space.relation}'; must be under "
                f"'{claim.relation}', of which the claim {claim} of {target.name} speaks"
            )
        _check_claim(target, claim, settings)
    own = getattr(space, "rows", None)
    if own is not None:
        _check_data(target, own, settings)


def _check_claim(target: AuditTarget, claim: Claim, settings: Settings) -> None:
    sampled = settings.mode == "monte-carlo" or not target.has_law
    if sampled and claim.computed:
        raise InvalidInput(
            f"{target.name}: {claim} is held against computed errors only; use mode exact or "
            "exhaustive"
        )
    if sampled and claim.means and not all(map(math.isfinite, target.numbers or ())):
        raise InvalidInput(
            f"{target.name}: answers without limits have no certified mean; say numbers=(least, "
            "greatest)"
        )
    if sampled and claim.means and math.isinf(target.most(claim)):
        raise InvalidInput(
            f"numbers = {target.numbers}: range too wide: upper - lower overflows ({target.name})"
        )
    if (
        settings.detect is not None
        and settings.mode in ("auto", "monte-carlo")
        and claim.promised < target.most(claim)
    ):
        target.check_detect(claim, settings.detect)
