"""What is to be audited: groups of pairs with the queries that go with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import digest
from dpassay.pairs import NOTHING_ASKED, AnyOf, Pairs, change_key, replace_several
from dpassay.relations import answers_moved, records_replaced, within
from dpassay.targets.guard import AuditTarget

Progress = Callable[[str, int, int], None]
"""Called with (what, done, total) as work goes on; with (work, seconds, 0) before it begins."""

DIRECTIONS = ("S to S'", "S' to S")
"""The loss of an event E is ln((P[M(S) in E] - delta) / P[M(S') in E]) in the first, with S and S'
exchanged in the second."""


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


def foretell(progress: Progress, runs: int, pace: float, seconds: float) -> None:
    """Report that `runs` runs of `pace` seconds each take at most so many seconds in all."""
    progress(f"{runs:,} runs of {1000 * pace:,.1f} ms at most, guards aside", round(seconds), 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class PairGroup:
    """Pairs with one base dataset, and the queries (q, d) asked of all of them.

    `kind` is 'data' (the user's), 'own' (the mechanism's worst case), 'learned' (a pair of these
    with a direction that was learned for it) or 'searched' (a pair that a search has proposed).
    """

    pairs: Pairs
    queries: NDArray[np.float64]  # (q, d); read-only, so that a mechanism may know them by identity
    kind: str
    reason: str  # why these pairs
    # where the data came from, if a witness can name it instead of carrying the data
    source: dict[str, Any] | None = None
    asked: bool = True  # False where what is looked at depends on no query; one stands for them
    # of a pair that a search made up: the rows in it that are the user's own, and their places
    # there; None where there may be more of the user's in it
    mine: dict[bytes, int] | None = None
    digest: str = field(init=False)  # SHA-256 of the base before anybody has worked with it

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", self.pairs.base.digest)

    @property
    def key(self) -> str:
        """Return how the pairs were chosen, for programs; the words that say it may change.

        An own worst case is known by its dataset, changes and queries, those of data by how they
        were drawn and how many.
        """
        if self.kind == "learned":
            return self.kind
        if self.kind != "own":
            return f"{self.kind}:{self.pairs.key}"
        changes = [change_key(change, self.pairs.pool) for change in self.pairs.changes]
        told = json.dumps([self.digest, changes, digest(self.queries)])
        return f"{self.kind}:{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def groups_for(target: AuditTarget, data: PairGroup | None) -> tuple[PairGroup, ...]:
    """Return the user's pairs, if any, followed by the mechanism's own worst cases.

    Pairs made of a data set that is named are made as wide as the claims allow; own worst cases
    that are no neighbours under a claim are left out, and so are the user's where the mechanism is
    `alone`. A mechanism that says that it is `without_query` is asked nothing, and one with
    `one_query` at the first query of each group.
    """
    relations = {claim.relation for claim in target.claims}
    own = tuple(
        PairGroup(pairs=case.pairs, queries=case.queries, kind="own", reason=case.reason)
        for case in target.worst_cases()
        if all(within(case.pairs.relation, relation) for relation in relations)
    )
    of_records = all(answers_moved(relation) is None for relation in relations)
    if data is not None and data.source is not None and of_records:
        k = min(map(records_replaced, relations))
        pairs = replace_several(data.pairs, k)
        data = data if k == 1 else replace(data, pairs=pairs, reason=pairs.how)
    groups = own if data is None or target.alone else (data, *own)
    return tuple(as_asked(target, group) for group in groups)


def as_asked(target: AuditTarget, group: PairGroup) -> PairGroup:
    """Return a group with the queries that a mechanism is asked at: none, one, or all of them."""
    if target.mechanism.without_query:
        return replace(group, queries=NOTHING_ASKED, asked=False)
    if target.mechanism.one_query:
        return replace(group, queries=group.queries[:1], asked=False)
    return group


def searched(groups: tuple[PairGroup, ...]) -> dict[str, object]:
    """Return what was looked at, for the record.

    Where nothing is asked, each group has one point in the place of its queries.
    """
    pairs = sum(len(group.pairs) for group in groups if group.kind != "learned")
    cells = sum(2 * len(group.pairs) * len(group.queries) for group in groups)
    titles = {"own": "own worst case", "learned": "learned direction"}
    how = [
        f"{titles[group.kind]}: {group.reason}" if group.kind in titles else group.pairs.how
        for group in groups
    ]
    keys = [group.key for group in groups]
    queries = sum(len(group.queries) for group in groups)
    asked = {} if any(group.asked for group in groups) else {"asked": False}
    parts = list(map(_part, groups))
    return {
        "pairs": pairs,
        "queries": queries,
        "cells": cells,
        "how": how,
        "keys": keys,
        "parts": parts,
    } | asked


def _part(group: PairGroup) -> dict[str, object]:
    """Return a group's part of what was searched; `together` if a pair is all others at once."""
    first, several = group.pairs.changes[0], len(group.pairs) > 1
    together = (
        {"together": True}
        if several and isinstance(first, AnyOf) and len(first.changes) > 1
        else {}
    )
    return {"kind": group.kind, "pairs": len(group.pairs), "queries": len(group.queries)} | together
