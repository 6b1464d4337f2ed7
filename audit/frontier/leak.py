"""What one answer of a mechanism loses on a data set: audited, at its own training set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.attacks.experiment.mechanisms import claim_of
from dpassay.claims import DP
from dpassay.data import points
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.frontier.splits import Split
from dpassay.pairs import replace_one
from dpassay.seeds import stream
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget

NOT_AUDITED = "not audited"
COMPUTED, SAMPLED = (200, 50), (20, 10)
"""Replaced records and query points that are looked at: where the law is known, and where not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Loss of one answer, at the worst of the examined pairs of the data, in nats.

    The claim is the first that the catalogue does not declare wrong. `worst` and `median` are
    over the query points at the claim's delta, certified lower bounds unless `exact`.
    `anywhere` is the same at the worst pair of all, the mechanism's own worst cases included,
    which need not be of the data; the verdict is about these too. `guess` is the chance that
    the best guess which of the two neighbours was trained on is right, after one answer, at the
    worst pair of the data: 1/2 if nothing leaks, None if no law is known.
    """

    claim: DP
    verdict: str  # as of an audit, or `NOT_AUDITED`: no numbers
    exact: bool = False
    worst: float = 0.0
    median: float = 0.0
    anywhere: float = 0.0
    # loss that trials would refute with probability 0.9; None: computed
    detectable: float | None = None
    guess: float | None = None
    why: str = ""  # why there is nothing, where the verdict is `error`


def leak_of(target: AuditTarget, split: Split, *, computed: bool, settings: Settings) -> Leak:
    """Audit a mechanism with a claim of kind DP on the training records of a split.

    Test records replace training records, and are asked at. `computed` says whether its law is
    known for these data.
    """
    pairs, queries = COMPUTED if computed else SAMPLED
    first = target.claims.index(claim_of(target))
    results = assay([target], group_of(split, pairs, queries, settings.seed), settings)
    return _read(list(results)[first])


def group_of(split: Split, pairs: int, queries: int, seed: int) -> Group:
    """Return random training records, each replaced by a test record, and test points to ask at."""
    every = replace_one(split.train.X, split.train.y, pool=split.test, neighbours="one", seed=seed)
    size = len(every.changes)
    drawn = stream(seed, "frontier", every.base.digest).permutation(size)[:pairs]
    chosen = replace(every, changes=tuple(every.changes[i] for i in np.sort(drawn)))
    return Group(
        pairs=chosen,
        queries=points(split.test.X[:queries], "queries"),
        kind="data",
        reason=f"{len(drawn)} of {size} training records, each replaced by a test record",
    )


def _read(result: Result) -> Leak:
    claim: Any = result.claim
    if result.evidence is None:
        return Leak(claim=claim, verdict="error", why=result.outcome.reason)
    found, exact = result.evidence, result.mode == "exact"
    losses = [cell.lower.value for cell in _of_data(found)]
    return Leak(
        claim=claim,
        verdict=result.verdict,
        exact=exact,
        worst=max(losses),
        median=float(np.median(losses)),
        anywhere=found.lower.value,
        detectable=None if exact else found.detectable,
        guess=_guess(found) if exact else None,
    )


def _of_data(found: Evidence) -> list[Cell]:
    """Return the worst cell of every query point of the data."""
    return [cell for cell in found.cells if found.groups[cell.group].kind == "data"]


def _guess(found: Evidence) -> float | None:
    """Chance of the best guess: (1 + total variation) / 2."""
    if found.other is not None:
        return (1 + max(cell.lower.value for cell in _of_data(found.other[1]))) / 2
    profiles = [cell.profile for cell in _of_data(found)]
    apart = [float(each.lower[0]) for each in profiles if each is not None]
    return (1 + max(apart)) / 2 if apart else None
