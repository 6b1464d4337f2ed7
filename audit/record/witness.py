"""Witnesses: pair, query, event and seed behind a number, as data that can be replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.claims import claim_from_json
from dpassay.data import Values
from dpassay.engine.evidence import Cell, Event, HalfLine
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput
from dpassay.numerics import lower_number, number
from dpassay.record.files import read_document
from dpassay.record.kinds import WITNESS
from dpassay.record.schemas import fault
from dpassay.record.witness_words import in_words
from dpassay.rows.rows import Rows
from dpassay.search.patterns import Pattern
from dpassay.stats.bounds import Bound
from dpassay.stats.methods import of_fixed_size
from dpassay.stats.scales import scale_of
from dpassay.targets.groups import PairGroup

MAX_INLINE = 10_000
"""Datasets of more numbers than this are named by their source or their digest, not carried
along."""


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

    worst = evidence.worst
    breaking = [cell for cell in evidence.cells if cell.lower.value > claim.promised]
    found = max((worst, *breaking), key=excess)
    return found if excess(found) >= 2 * excess(worst) and found is not worst else None


def make_witness(result: Result, cell: Cell | None = None) -> dict[str, Any] | None:
    """Describe a cell of a result, by default the worst, so that `replay` can do it again.

    Data that came from a named source are named, never copied: a witness of an audit on private
    records carries none of them. A learned direction it carries; that is made of what the mechanism
    released, so it reveals no more than the mechanism's output.
    """
    evidence, target, claim = result.evidence, result.target, result.claim
    if evidence is None:
        return None
    cell = cell or evidence.worst
    group, lower = evidence.groups[cell.group], cell.lower
    free: dict[str, Any] = {"together": int(getattr(target.mechanism, "together", 0))}
    if target.output is not None:
        free["output"] = target.output.as_json()
    numbers = target.numbers and [number(limit) for limit in target.numbers]
    leak = lower_number(lower.value, claim.promised)
    return {
        "schema": WITNESS,
        "result": result.id,
        "target": target.address,
        "name": target.name,
        "parameters": target.parameters,
        "labels": list(target.labels),
        "numbers": numbers,
        **({"free": free} if target.mechanism.free else {}),
        "claim": claim.as_json(),
        "expected": claim.expected,
        "mode": evidence.mode,
        "data": _data(group),
        "change": group.pairs.changes[cell.pair].as_json(by_value=group.source is None),
        "query": cell.query,
        "direction": cell.direction,
        "event": event_json(cell.event),
        "loss": leak if cell.exact is None else number(cell.exact.value),
        "p1": number(cell.p1),
        "p0": number(cell.p0),
        "trials": _trials(result, lower),
        "words": in_words(result, cell),
    }


def _data(group: PairGroup) -> dict[str, Any]:
    """Write down where a dataset lies, or the dataset; of the user's own types JSON holds none."""
    base, asked = group.pairs.base, {"queries": group.queries.tolist()}
    held: dict[str, Any] = {"kind": "memory"}
    if group.source is not None:
        held = {"kind": "source", "source": group.source}
        held |= asked if group.kind == "learned" else {}
    elif base.arrays[0].size + group.queries.size <= MAX_INLINE:
        with suppress(InvalidInput):
            if isinstance(base, Rows):
                held = {"kind": "rows"} | base.as_json() | asked
            elif isinstance(base, Values):
                held = {"kind": "values", "values": base.values.tolist()} | asked
            else:
                held = {"kind": "inline", "X": base.X.tolist(), "y": base.y.tolist()} | asked
    return held | {"sha256": base.digest}


def event_json(event: Event) -> list[int] | dict[str, Any]:
    """Write an event's labels, the threshold of a half-line, or a pattern; none for means."""
    if isinstance(event, Pattern):
        return {"pattern": event.as_json(), "words": event.words}
    if isinstance(event, HalfLine):
        return {"at_least" if event.above else "below": event.threshold}
    return list(event)


def _trials(result: Result, bound: Bound) -> dict[str, Any] | None:
    """Return seed, number and outcome of the trials behind a bound.

    Counts of the event, or sums of grid points; the parts that they were drawn in, if there were
    several; and how the bound was made, if the same trials cannot be drawn again.
    """
    counts, histograms = bound.counts, bound.histograms
    if counts is not None:
        n, x, y = counts.n1, counts.x, counts.y
    elif histograms is not None:
        sides = (histograms.one, histograms.other)
        x, y = (sum(place * count for place, count in enumerate(side)) for side in sides)
        n = sum(histograms.one)
    else:
        return None
    found: dict[str, Any] = {"seed": result.seed, "draws": n, "x": x, "y": y}
    if result.evidence is not None and result.evidence.parts:
        found["parts"] = _parts(result.evidence.parts)
    if not result.target.seeded:
        spreads = {} if histograms is None else {"spreads": list(histograms.spreads)}
        method = of_fixed_size(bound.method, means=histograms is not None)
        found["own_coins"] = {"alpha": bound.alpha, "method": method} | spreads
    return found


def _parts(parts: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """Write down phases of trials, and how many are of each."""
    return [{"phase": phase, "draws": size} for phase, size in parts]


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
    names = ("labels", "numbers", "event", "trials")
    labels, numbers, event, trials = (witness[name] for name in names)
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
