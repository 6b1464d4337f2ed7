"""Witnesses: the pair, the query, the event and the seed behind a number, as data that can be replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from dpassay.auditee import Auditee
from dpassay.claims import DP, Claim
from dpassay.data import Labelled, load, points, split
from dpassay.documents import number
from dpassay.errors import InvalidInput, require
from dpassay.laws import UNIT_ROUNDOFF, FiniteLaw
from dpassay.loss import privacy_loss
from dpassay.pairs import Pairs, change_from_json
from dpassay.plan import DIRECTIONS, Group
from dpassay.result import Result
from dpassay.targets import resolve
from dpassay.trials import draw

SCHEMA = "dpassay/witness/1"
MAX_INLINE = 10_000
"""Datasets of more numbers than this are named by their source or their digest, not carried along."""
TOLERANCE = 1e-9


def make_witness(result: Result) -> dict[str, Any] | None:
    """Describe the worst cell of a result, so that `replay` can do it again.

    Data that came from a named source are named, never copied: a witness of an audit on private records carries none of them.

    Returns
    -------
    dict or None
        JSON values; None if the result has no evidence.
    """
    evidence = result.evidence
    if evidence is None:
        return None
    cell = evidence.worst
    group = evidence.groups[cell.group]
    change = group.pairs.changes[cell.pair]
    base = group.pairs.base
    if group.source is not None:
        data: dict[str, Any] = {"kind": "source", "source": group.source, "sha256": base.digest}
    elif base.X.size + group.queries.size <= MAX_INLINE:
        data = {
            "kind": "inline",
            "X": base.X.tolist(),
            "y": base.y.tolist(),
            "queries": group.queries.tolist(),
            "sha256": base.digest,
        }
    else:
        data = {"kind": "memory", "sha256": base.digest}
    counts = cell.lower.counts
    return {
        "schema": SCHEMA,
        "result": result.id,
        "target": result.auditee.target,
        "name": result.auditee.name,
        "parameters": result.auditee.parameters,
        "labels": list(result.auditee.labels),
        "claim": result.claim.as_json(),
        "expected": result.claim.expected,
        "mode": evidence.mode,
        "data": data,
        "change": change.as_json(by_value=group.source is None),
        "query": cell.query,
        "direction": cell.direction,
        "event": list(cell.event),
        "loss": number(cell.lower.value if cell.exact is None else cell.exact.value),
        "p1": number(cell.p1),
        "p0": number(cell.p0),
        "trials": None if counts is None else {"seed": result.seed, "draws": counts.n1, "x": counts.x, "y": counts.y},
        "words": in_words(result),
    }


def in_words(result: Result) -> str:
    """Tell the worst cell of a result in one paragraph."""
    evidence = result.evidence
    if evidence is None:
        return result.judgement.reason
    cell = evidence.worst
    group = evidence.groups[cell.group]
    change, base = group.pairs.changes[cell.pair], group.pairs.base
    named = group.source is not None or base.X.size > 24
    shown = (
        f"{len(base)} records"
        if named
        else "{"
        + ", ".join(f"({', '.join(f'{value:g}' for value in x)}; {y})" for x, y in zip(base.X, base.y, strict=True))
        + "}"
    )
    where = "data" if group.kind == "data" else group.kind
    point = "" if named else f" (x = {', '.join(f'{value:g}' for value in group.queries[cell.query])})"
    event = " or ".join(map(str, cell.event))
    sides = ("S", "S'") if cell.direction == DIRECTIONS[0] else ("S'", "S")
    counts = cell.lower.counts
    seen = (
        f"has probability {cell.p1:.6g} on {sides[0]} and {cell.p0:.6g} on {sides[1]}"
        if counts is None
        else f"came in {counts.x} of {counts.n1} runs on {sides[0]} and in {counts.y} of {counts.n0} on {sides[1]}"
    )
    reason = f" Chosen because {group.reason}." if group.kind == "own" else ""
    return f"S: {shown} ({where}). S': {change}. At query {cell.query}{point} the answer {event} {seen}.{reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay found.

    Parameters
    ----------
    loss : float
        The number found now: the exact loss, or the plug-in loss of the counts drawn again.
    reproduced : bool
        Whether it is the recorded one: the loss within 1e-9, or the same counts.
    refuted : bool
        Whether the exact loss exceeds the claim, or the recorded lower bound did and the counts are the same.
    expected : bool
        Whether the claim is declared wrong, so that a refutation is no alarm.
    words : str
        The comparison in one line.
    """

    loss: float
    reproduced: bool
    refuted: bool
    expected: bool
    words: str


NEEDED = (
    "target",
    "name",
    "parameters",
    "labels",
    "claim",
    "expected",
    "data",
    "change",
    "query",
    "direction",
    "event",
    "loss",
    "trials",
    "words",
)


def read_witness(path: Path) -> dict[str, Any]:
    """Read a witness file.

    Raises
    ------
    InvalidInput
        If there is no such file or it is no witness.
    """
    try:
        witness = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"WITNESS = '{path}': cannot be read ({error.strerror})") from None
    except ValueError:
        raise InvalidInput(f"WITNESS = '{path}': is no JSON") from None
    if not isinstance(witness, dict) or witness.get("schema") != SCHEMA:
        raise InvalidInput(f"WITNESS = '{path}': must be a file of schema {SCHEMA}")
    missing = [name for name in NEEDED if name not in witness]
    if missing:
        raise InvalidInput(f"WITNESS = '{path}': has no field '{missing[0]}'")
    return witness


def is_witness(path: Path) -> bool:
    """Whether a file is a witness."""
    try:
        read_witness(path)
    except InvalidInput:
        return False
    return True


def replay(
    witness: Mapping[str, Any], *, file: str | None = None, auditee: Auditee | None = None, group: Group | None = None
) -> Replay:
    """Run one witness again, alone.

    Parameters
    ----------
    witness : mapping
        From `make_witness`.
    file : str, optional
        Where the witness's CSV file lies now; its contents are compared by their SHA-256.
    auditee : Auditee, optional
        What to run, if the witness cannot name it.
    group : Group, optional
        The pairs and queries, if the witness neither carries nor names them.

    Returns
    -------
    Replay

    Raises
    ------
    InvalidInput
        If the witness is damaged, or the data are missing or are not the ones it was made from.
    """
    try:
        claim = _claim(witness["claim"], witness["expected"])
        subject = auditee if auditee is not None else _subject(witness, claim)
        place = group if group is not None else _group(witness, file)
        if place.pairs.base.digest != witness["data"]["sha256"]:
            raise InvalidInput("the data are not those the witness was made from: their SHA-256 differs")
        change = change_from_json(witness["change"], place.pairs.pool)
        event = np.isin(subject.labels, witness["event"])
        query, flip, trials = witness["query"], DIRECTIONS.index(witness["direction"]) == 1, witness["trials"]
        recorded = float(witness["loss"])
        require(0 <= query < len(place.queries), "query", query, f"in 0..{len(place.queries) - 1}")
        require(event.sum() == len(witness["event"]) > 0, "event", witness["event"], f"labels out of {subject.labels}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the witness is damaged: {type(error).__name__} {error}") from None

    with threadpool_limits(limits=1):
        base = place.pairs.base
        state = subject.prepare(base)
        neighbour = subject.neighbour(base, state, change)
        if trials is None:
            laws = [_law(subject, each, place, where) for each, where in ((state, "S"), (neighbour, "S'"))]
            one, other = (_in_or_out(event, law.log_p[query]) for law in (laws[::-1] if flip else laws))
            found = privacy_loss(one, other, claim.delta, max(law.error for law in laws) + UNIT_ROUNDOFF * len(event))
            value = float(found.epsilon)
            same = value == recorded or abs(value - recorded) <= TOLERANCE * max(1.0, recorded)
            words = f"loss {value:.12g}, recorded {recorded:.12g}"
            return Replay(
                loss=value,
                reproduced=same,
                refuted=float(found.certain) > claim.epsilon,
                expected=claim.expected == "refuted",
                words=words,
            )
        drawn = [
            draw(subject, each, place, side, int(trials["draws"]), phase="certify", seed=int(trials["seed"]))[query][event].sum()
            for each, side in ((state, None), (neighbour, change))
        ]
    x, y = (int(count) for count in (drawn[::-1] if flip else drawn))
    n = int(trials["draws"])
    with np.errstate(divide="ignore"):
        plug_in = float(np.log(max(x / n - claim.delta, 0.0)) - np.log(y / n)) if x else 0.0
    same = (x, y) == (trials["x"], trials["y"])
    return Replay(
        loss=plug_in,
        reproduced=same,
        refuted=same and recorded > claim.epsilon,
        expected=claim.expected == "refuted",
        words=f"{x} of {n} against {y} of {n}, recorded {trials['x']} against {trials['y']}",
    )


def _claim(facts: Mapping[str, Any], expected: Any) -> Claim:
    known = {field.name for field in fields(DP)}
    return DP(**{name: value for name, value in facts.items() if name in known}, expected=expected)


def _subject(witness: Mapping[str, Any], claim: Claim) -> Auditee:
    if witness["target"] is None:
        raise InvalidInput(f"'{witness['name']}' cannot be made again from what a witness holds: replay it from Python")
    return resolve(witness["target"], witness["parameters"], (claim,), tuple(witness["labels"]))


def _group(witness: Mapping[str, Any], file: str | None) -> Group:
    data = witness["data"]
    if data["kind"] == "inline":
        base, queries, pool = Labelled(data["X"], data["y"]), points(data["queries"], "queries"), None
    elif data["kind"] == "source":
        source, cut = data["source"], data["source"]["split"]
        table = load(file or source["name"], source.get("target"))
        parts = split(table, train=cut["train"], queries=cut["queries"], seed=cut["seed"])
        base, queries, pool = parts.train, parts.queries, parts.pool
    else:
        raise InvalidInput("the data of this witness lived in memory only: replay it from Python with the same pairs and queries")
    change = change_from_json(witness["change"], pool)
    return Group(
        pairs=Pairs(base=base, changes=(change,), how="replay", pool=pool),
        queries=queries,
        kind="data",
        reason="replay",
    )


def _in_or_out(event: NDArray[np.bool_], log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Law of whether the answer lies in the event."""
    return np.array([logsumexp(log_p[~event]), logsumexp(log_p[event])])


def _law(subject: Auditee, state: Any, place: Group, where: str) -> FiniteLaw:
    law: FiniteLaw | None = subject.law(state, place.queries, where)
    if law is None:
        raise InvalidInput(f"{subject.name} has no exact law any more for the data of this witness")
    return law
