"""What a witness names, made again: target, claim, data, change and how answers are counted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.changes import Change, change_from_json
from dpassay.claims import Claim, claim_from_json
from dpassay.data import Dataset, Labelled, Values, load, points, split
from dpassay.engine.preflight import CAN_FORK
from dpassay.errors import InvalidInput, require
from dpassay.pairs import Pairs
from dpassay.record.trust import foreign
from dpassay.rows.rows import rows_from_json
from dpassay.search.declared import output_from_json
from dpassay.search.patterns import pattern_from_json
from dpassay.stats.betting import GRID
from dpassay.targets.coupled import as_audited
from dpassay.targets.groups import DIRECTIONS, PairGroup, as_asked
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import AnswerKind, resolve
from dpassay.trials.encoders import Bins, Coding, Labels, Rounded
from dpassay.trials.isolation.introduce import introduced
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.kept import Matches

DAMAGES = (
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a damaged witness raises, wherever it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCase:
    """A witness, and what it names."""

    witness: Mapping[str, Any]
    subject: AuditTarget
    claim: Claim
    place: PairGroup
    change: Change
    coding: Coding
    weights: NDArray[np.int64]  # of the symbols: 1 inside the event
    query: int
    flipped: bool  # whether the leak is from the neighbour to the dataset
    trials: Mapping[str, Any] | None  # None where the law was computed
    recorded: float


def case_of(
    witness: Mapping[str, Any],
    file: str | None,
    target: AuditTarget | None,
    group: PairGroup | None,
    stack: ExitStack,
) -> ReplayCase:
    """Make again what a witness names; arguments are those of `dpassay.record.replay.replay`."""
    try:
        return _case(witness, file, target, group, stack)
    except DAMAGES as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the witness is damaged: {type(error).__name__} {error}") from None


def _case(
    witness: Mapping[str, Any],
    file: str | None,
    target: AuditTarget | None,
    group: PairGroup | None,
    stack: ExitStack,
) -> ReplayCase:
    claim = claim_from_json(witness["claim"], witness["expected"])
    subject = target if target is not None else _subject(witness, claim, stack)
    place = as_asked(subject, group if group is not None else _group(witness, file))
    if place.pairs.base.digest != witness["data"]["sha256"]:
        raise InvalidInput(
            "the data are not those the witness was made from: their SHA-256 differs"
        )
    if group is None:
        change = place.pairs.changes[0]
    else:
        change = change_from_json(witness["change"], place.pairs.pool)
    Pairs(
        base=place.pairs.base, changes=(change,), how="replay", relation=claim.relation
    )  # it must be a change of these data
    change.apply(place.pairs.base)
    coding, weights = _counted(subject, witness["event"], len(place.queries))
    found = ReplayCase(
        witness=witness,
        subject=subject,
        claim=claim,
        place=place,
        change=change,
        coding=coding,
        weights=weights,
        query=witness["query"],
        flipped=DIRECTIONS.index(witness["direction"]) == 1,
        trials=witness["trials"],
        recorded=float(witness["loss"]),
    )
    queries = len(place.queries)
    require(0 <= found.query < queries, "query", found.query, f"in 0..{queries - 1}")
    return found


def _subject(witness: Mapping[str, Any], claim: Claim, stack: ExitStack) -> AuditTarget:
    """Build what a witness names: a user's own in another process, which ends with the stack."""
    if witness["target"] is None:
        raise InvalidInput(
            f"'{witness['name']}' cannot be made again from what a witness holds: replay it from "
            "Python"
        )
    numbers = witness["numbers"]
    free = witness.get("free")
    answers = AnswerKind(
        labels=tuple(witness["labels"]),
        numbers=None if numbers is None else (float(numbers[0]), float(numbers[1])),
        free=free is not None,
        together=0 if free is None else free["together"],
        output=None if free is None else output_from_json(free.get("output")),
    )
    build = partial(
        resolve, witness["target"], witness["parameters"], (claim,), answers, name=witness["name"]
    )
    if CAN_FORK and foreign(witness):
        known = {"address": witness["target"], "parameters": witness["parameters"]}
        elsewhere = introduced(witness["name"], build, Limits(), **known)
        stack.callback(elsewhere.hosts.close)
        return as_audited(replace(elsewhere, claims=(claim,)), claim)
    return as_audited(build(), claim)


def _group(witness: Mapping[str, Any], file: str | None) -> PairGroup:
    data = witness["data"]
    pool = lines = None
    base: Dataset
    if data["kind"] in ("inline", "values", "rows"):
        base, queries = _dataset(data), points(data["queries"], "queries")
    elif data["kind"] == "source":
        source, cut = data["source"], data["source"]["split"]
        table = load(file or source["name"], source.get("target"))
        sizes = {
            "train": cut["train"],
            "queries": cut["queries"],
            "train_queries": cut.get("train_queries", 0),
        }
        parts = split(table, **sizes, seed=cut["seed"])
        base, pool, lines = parts.train, parts.pool, parts.lines
        queries = points(data["queries"], "queries") if "queries" in data else parts.queries
    else:
        raise InvalidInput(
            "the data of this witness lived in memory only: replay it from Python with the same "
            "pairs and queries"
        )
    change = change_from_json(witness["change"], pool)
    pairs = Pairs(
        base=base,
        changes=(change,),
        how="replay",
        pool=pool,
        relation=witness["claim"]["relation"],
    )
    return PairGroup(
        pairs=pairs.in_file(lines),
        queries=queries,
        kind="data",
        reason="replay",
    )


def _counted(subject: AuditTarget, event: Any, queries: int) -> tuple[Coding, NDArray[np.int64]]:
    """Return how answers are counted, and the symbols' weights, 1 inside the event."""
    if isinstance(event, dict) and "pattern" in event:
        pattern = pattern_from_json(event["pattern"])
        return Matches(pattern=pattern, by_query=subject.by_query), np.array([0, 1])
    if isinstance(event, dict):
        ((kind, threshold),) = event.items()
        require(kind in ("at_least", "below"), "event", event, "at_least or below a threshold")
        above = kind == "at_least"
        return Bins(np.full((queries, 1), float(threshold))), np.array(
            [not above, above], dtype=np.int64
        )
    if subject.numbers is not None:
        require(event == [], "event", event, "a half-line, or empty where the claim is about means")
        return Rounded(*subject.numbers), np.arange(GRID + 1)
    inside = np.isin(subject.labels, event)
    require(inside.sum() == len(event) > 0, "event", event, f"labels out of {subject.labels}")
    return Labels(subject.labels), inside.astype(np.int64)


def _dataset(data: Mapping[str, Any]) -> Dataset:
    if data["kind"] == "rows":
        return rows_from_json(data)
    return Values(data["values"]) if data["kind"] == "values" else Labelled(data["X"], data["y"])
