"""Witnesses: pair, query, event and seed behind a number, as data that can be replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.claims import claim_from_json
from dpassay.data import Dataset, Values
from dpassay.engine.evidence import Cell, Event, Evidence, HalfLine
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput
from dpassay.numerics import lower_number, number, upper_number
from dpassay.record.files import read_document, schema_at
from dpassay.record.kinds import WITNESS
from dpassay.record.schemas import fault
from dpassay.record.witness_words import in_words
from dpassay.rows.rows import Rows
from dpassay.search.patterns import Pattern
from dpassay.stats.bounds import Bound
from dpassay.stats.scales import scale_of
from dpassay.targets.guard import AuditTarget

MAX_INLINE = 10_000
"""Datasets of more numbers than this are named by their source or their digest, not carried
along."""
Parts = Sequence[tuple[str, int]]
"""Phases of trials, and how many are of each."""


def clearest(result: Result) -> Cell | None:
    """Return the cell that breaks the claim most visibly, where that is not the worst one.

    A ratio may be largest through an answer of probability 1e-10, which nobody sees. The claim
    lets an event of probability p0 on one side have some probability on the other; the clearest
    cell exceeds that by most, and at least twice as far as the worst one. None too where the claim
    is not refuted, or not about events.
    """
    evidence, claim = result.evidence, result.claim
    if evidence is None or result.verdict != "refuted" or claim.computed or claim.coupled:
        return None
    if evidence.worst.event == ():
        return None
    allowed = scale_of(claim).allowed(claim.promised)

    def excess(cell: Cell) -> float:
        return cell.p1 - float(allowed.most(np.asarray(cell.p0)))

    breaking = [cell for cell in evidence.cells if cell.lower.value > claim.promised]
    found = max((evidence.worst, *breaking), key=excess)
    return (
        found
        if excess(found) >= 2 * excess(evidence.worst) and found is not evidence.worst
        else None
    )


def make_witness(result: Result, cell: Cell | None = None) -> dict[str, Any] | None:
    """Describe a cell of a result, by default the worst, so that `replay` can do it again.

    Data that came from a named source are named, never copied: a witness of an audit on private
    records carries none of them. A learned direction it carries; that is made of what the mechanism
    released, so it reveals no more than the mechanism's output.
    """
    evidence = result.evidence
    if evidence is None:
        return None
    cell = cell or evidence.worst
    group = evidence.groups[cell.group]
    change = group.pairs.changes[cell.pair]
    base = group.pairs.base
    if group.source is not None:
        data: dict[str, Any] = {"kind": "source", "source": group.source, "sha256": base.digest}
        if group.kind == "learned":
            data["queries"] = group.queries.tolist()
    elif base.arrays[0].size + group.queries.size <= MAX_INLINE and _can_be_written(base):
        data = _dataset_json(base) | {"queries": group.queries.tolist(), "sha256": base.digest}
    else:
        data = {"kind": "memory", "sha256": base.digest}
    return {
        "schema": WITNESS,
        "result": result.id,
        "target": result.target.address,
        "name": result.target.name,
        "parameters": result.target.parameters,
        "labels": list(result.target.labels),
        "numbers": None
        if result.target.numbers is None
        else [number(limit) for limit in result.target.numbers],
        **({"free": _free(result.target)} if result.target.mechanism.free else {}),
        "claim": result.claim.as_json(),
        "expected": result.claim.expected,
        "mode": evidence.mode,
        "data": data,
        "change": change.as_json(by_value=group.source is None),
        "query": cell.query,
        "direction": cell.direction,
        "event": event_json(cell.event),
        "loss": lower_number(cell.lower.value, result.claim.promised)
        if cell.exact is None
        else number(cell.exact.value),
        "p1": number(cell.p1),
        "p0": number(cell.p0),
        "trials": _trials(cell.lower, result.seed, evidence.parts, seeded=result.target.seeded),
        **_stopped(evidence, cell),
        "words": in_words(result, cell),
    }


def _free(target: AuditTarget) -> dict[str, Any]:
    """Return what is known of answers that may be anything."""
    declared = {} if target.output is None else {"output": target.output.as_json()}
    return {"together": int(getattr(target.mechanism, "together", 0))} | declared


def _can_be_written(base: Dataset) -> bool:
    """Return whether JSON holds a dataset: not records of the user's own types."""
    try:
        _dataset_json(base)
    except InvalidInput:
        return False
    return True


def _dataset_json(base: Dataset) -> dict[str, Any]:
    if isinstance(base, Rows):
        return {"kind": "rows"} | base.as_json()
    if isinstance(base, Values):
        return {"kind": "values", "values": base.values.tolist()}
    return {"kind": "inline", "X": base.X.tolist(), "y": base.y.tolist()}


def event_json(event: Event) -> list[int] | dict[str, Any]:
    """Write an event's labels, the threshold of a half-line, or a pattern; none for means."""
    if isinstance(event, Pattern):
        return {"pattern": event.as_json(), "words": event.words}
    if isinstance(event, HalfLine):
        return {"at_least" if event.above else "below": event.threshold}
    return list(event)


def _trials(
    bound: Bound, seed: int, parts: Parts = (), *, seeded: bool = True
) -> dict[str, Any] | None:
    """Seed, number and outcome of the trials behind a bound.

    Counts of the event, or sums of grid points; the parts that they were drawn in, if there were
    several; and how the bound was made, if the same trials cannot be drawn again.
    """
    lots: dict[str, Any] = {"parts": _parts(parts)} if parts else {}
    if not seeded:
        spreads = {} if bound.histograms is None else {"spreads": list(bound.histograms.spreads)}
        lots["own_coins"] = {"alpha": bound.alpha, "method": bound.method} | spreads
    if bound.counts is not None:
        found = {"seed": seed, "draws": bound.counts.n1, "x": bound.counts.x, "y": bound.counts.y}
        return found | lots
    if bound.histograms is None:
        return None
    sums = [
        sum(place * count for place, count in enumerate(side))
        for side in (bound.histograms.one, bound.histograms.other)
    ]
    return {"seed": seed, "draws": sum(bound.histograms.one), "x": sums[0], "y": sums[1]} | lots


def _parts(parts: Parts) -> list[dict[str, Any]]:
    return [{"phase": phase, "draws": size} for phase, size in parts]


def _stopped(evidence: Evidence, cell: Cell) -> dict[str, Any]:
    """Write down the trials by which an e-process refuted this cell, if one did."""
    stopped = evidence.stopped
    if stopped is None or (cell.group, cell.pair, cell.query) != (
        stopped.group,
        stopped.pair,
        stopped.query,
    ):
        return {}
    return {
        "stopped_early": {
            "test": stopped.test,
            "pairs": list(stopped.pairs),
            "threshold": upper_number(stopped.threshold),
            "parts": _parts(stopped.parts),
        }
    }


def witness_fault(witness: Mapping[str, Any]) -> str:
    """Return the first inconsistency of a witness, or an empty string.

    It breaks its schema, or two of its fields contradict each other.
    """
    wrong = fault(witness, "witness")
    if wrong:
        return wrong
    try:
        claim_from_json(dict(witness["claim"]), witness["expected"])
    except (InvalidInput, TypeError) as error:
        return str(error)
    labels, numbers, event, trials = (
        witness[name] for name in ("labels", "numbers", "event", "trials")
    )
    if (numbers is None) != (len(labels) >= 2 and len(set(labels)) == len(labels)):
        return "it must have either two or more labels, all different, or limits of numbers"
    if numbers is not None and not float(numbers[0]) < float(numbers[1]):
        return f"its least number, {numbers[0]}, is not below its greatest, {numbers[1]}"
    if isinstance(event, list) and not (
        set(event) <= set(labels) and len(set(event)) == len(event)
    ):
        return f"its event {event} is not made of its labels {labels}"
    if trials is not None and numbers is None and max(trials["x"], trials["y"]) > trials["draws"]:
        return "it counts more answers than trials"
    return ""


def read_witness(path: Path) -> dict[str, Any]:
    """Read a witness file."""
    witness = read_document(path, "WITNESS", WITNESS)
    wrong = witness_fault(witness)
    if wrong:
        raise InvalidInput(f"WITNESS = '{path}': is damaged: {wrong}")
    return witness


def is_witness(path: Path) -> bool:
    """Return whether a file is a witness."""
    return schema_at(path) == WITNESS
