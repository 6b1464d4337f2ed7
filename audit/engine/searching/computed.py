"""The search among pairs whose exact laws are known: nothing is sampled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.claims import Claim
from dpassay.engine.evidence import Evidence
from dpassay.engine.exact import (
    Laws,
    both_directions,
    exact_evidence,
    goodness_of_fit,
    group_laws,
    readable,
)
from dpassay.engine.searching.deadline import Deadline
from dpassay.engine.searching.drawing import mine
from dpassay.engine.searching.search import FIRST, SURVIVORS
from dpassay.errors import TargetError
from dpassay.search.proposals.proposal import Space
from dpassay.seeds import stream
from dpassay.targets.groups import PairGroup, Progress, as_asked, groups_for, silent
from dpassay.targets.guard import AuditTarget


def computed_evidence(
    target: AuditTarget,
    space: Space,
    progress: Progress,
    seed: int,
    seconds: float | None,
    among: dict[str, Any],
) -> Callable[[Claim], Evidence] | None:
    """Return what holds the worst pairs of a search, and the mechanism's own, against a claim.

    None where one of the datasets has no exact law. A dataset that the mechanism refuses is passed
    over, unless it is the user's own. `among` says in a record what was searched among.
    """
    deadline = Deadline(seconds=seconds)
    proposals = space.first(stream(seed, target.name, "search"), FIRST)
    found: list[tuple[PairGroup, Laws]] = []
    failed = 0
    for number, each in enumerate(proposals):
        if number and deadline.stops():
            break
        made = PairGroup(
            pairs=replace(each.pairs, how=f"family '{each.family}'"),
            queries=each.queries,
            kind="searched",
            reason=each.family,
            mine=mine(space, each),
        )
        group = as_asked(target, made)
        try:
            laws = group_laws(target, group, silent)
        except TargetError as error:
            own = space.own is not None and each.base.digest == space.own.digest
            if error.fatal or own:
                raise
            failed += 1
            continue
        if laws is None:
            return None
        found.append((group, laws))
        progress("pairs", number + 1, len(proposals))
    cases = [(group, group_laws(target, group, silent)) for group in groups_for(target, None)]
    own_laws = [(group, laws) for group, laws in cases if laws is not None]
    if not found or len(own_laws) < len(cases):
        return None
    fit = goodness_of_fit(target, found[0][0], seed)

    def worst(claim: Claim, laws: Laws) -> float:
        return float(np.max(both_directions(laws, readable(target, claim, laws.law)).certain))

    def hold(claim: Claim) -> Evidence:
        ranked = sorted(found, key=lambda each: -worst(claim, each[1]))
        groups, laws = zip(*ranked[: SURVIVORS[-1]], *own_laws, strict=True)
        evidence = exact_evidence(target, claim, groups, laws, fit)
        looked = {
            "round": 0,
            "pairs": len(found),
            "draws": 0,
            "families": dict(Counter(group.reason for group, _ in found)),
            "best": ranked[0][0].reason,
            "failed": failed,
        }
        said = {"search": [looked]} | deadline.as_json() | among
        return replace(evidence, searched=evidence.searched | said)

    return hold
