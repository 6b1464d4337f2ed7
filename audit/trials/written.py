"""What a mechanism answers, written down as data and read back.

Laws, worst cases, reachable states, counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Dataset, Labelled, Values
from dpassay.edits import Edit, edit_from_json
from dpassay.errors import InvalidInput, TargetError
from dpassay.laws import FiniteLaw, Law, NoiseLaw, PointLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.noise import Noise
from dpassay.pairs import AnyOf, Change, FlipLabel, Pairs, Replace, ReplaceValue, Several, Shift
from dpassay.rows.rows import Rows, form_from_json
from dpassay.trials.blocks import Counts, rows_of_calls
from dpassay.trials.tasks import Brief, Shard, ShardResult
from dpassay.trials.wire import Garbled

LAWS: dict[str, type[FiniteLaw | PointLaw | NoiseLaw]] = {
    kind.__name__: kind for kind in (FiniteLaw, PointLaw, NoiseLaw)
}
INLINE = "use executor 'inline'"


def law_json(law: Law) -> dict[str, Any]:
    """Write a law down."""
    told = {each.name: getattr(law, each.name) for each in fields(law)}
    if isinstance(law, NoiseLaw):
        told["noise"] = {"kind": law.noise.kind, "scale": law.noise.scale}
    plain = {
        name: each.item() if isinstance(each, np.generic) else each for name, each in told.items()
    }
    return {"kind": type(law).__name__} | plain


def law_from(told: Mapping[str, Any]) -> Law:
    """Read a law."""
    given = dict(told)
    kind = LAWS[given.pop("kind")]
    if "noise" in given:
        given["noise"] = Noise(**given["noise"])
    return kind(**given)


def worst_case_json(case: WorstCase) -> dict[str, Any]:
    """Write a worst case down.

    Raises
    ------
    TargetError
        If one of its changes is of no kind of this package.
    """
    pairs = case.pairs
    return {
        "base": _data_json(pairs.base),
        "pool": None if pairs.pool is None else _data_json(pairs.pool),
        "changes": [_change_json(change) for change in pairs.changes],
        "how": pairs.how,
        "key": pairs.key,
        "relation": pairs.relation,
        "queries": case.queries,
        "reason": case.reason,
    }


def worst_case_from(told: Mapping[str, Any]) -> WorstCase:
    """Read a worst case."""
    pairs = Pairs(
        base=_data_from(told["base"]),
        changes=tuple(map(_change_from, told["changes"])),
        how=str(told["how"]),
        key=str(told["key"]),
        pool=None if told["pool"] is None else _data_from(told["pool"]),  # type: ignore[arg-type]
        relation=told["relation"],
    )
    return WorstCase(pairs=pairs, queries=told["queries"], reason=str(told["reason"]))


def reachable_json(reachable: Reachable) -> dict[str, Any]:
    """Write reachable states down."""
    told = {each.name: getattr(reachable, each.name) for each in fields(reachable)}
    return told | {"law": law_json(reachable.law)}


def reachable_from(told: Mapping[str, Any]) -> Reachable:
    """Read reachable states."""
    return Reachable(
        **(dict(told) | {"law": law_from(told["law"]), "states": tuple(told["states"])})
    )


def shard_result_json(done: ShardResult) -> dict[str, Any]:
    """Write down what came of a shard."""
    counts = [{"calls": each.calls, "marks": each.marks} for each in done.counts]
    return {"counts": counts, "failure": done.failure}


def shard_result_from(told: Mapping[str, Any], brief: Brief, shard: Shard) -> ShardResult:
    """Read what came of a shard.

    Raises
    ------
    Garbled
        If these can be no counts of its trials.
    """
    failure = (
        None if told["failure"] is None else (str(told["failure"][0]), str(told["failure"][1]))
    )
    found = tuple(
        Counts(calls=each["calls"], marks=tuple(each["marks"])) for each in told["counts"]
    )
    if len(found) > len(shard) or (failure is None and len(found) < len(shard)):
        raise Garbled
    for piece, counts in zip(shard, found, strict=False):
        task, coding = piece.task, brief.codings[piece.task.group]
        asked = np.array(rows_of_calls(task.size, range(piece.first, piece.stop), task.rows))
        number = len(asked) if coding.additive else piece.stop - piece.first
        fits = counts.calls.shape == (number, len(brief.groups[task.group].queries), coding.size)
        fits = fits and counts.calls.dtype == (np.int64 if coding.additive else np.float64)
        if not fits or (coding.additive and not _adds_up(counts.calls, asked)):
            raise Garbled
        if len(counts.marks) != piece.stop - piece.first or not all(
            isinstance(mark, bytes) for mark in counts.marks
        ):
            raise Garbled
    return ShardResult(counts=found, failure=failure)


def _adds_up(calls: NDArray[np.int64], asked: NDArray[np.int64]) -> bool:
    """Whether these can be counts of so many trials; the product adds up short rows faster."""
    ones = np.ones(calls.shape[2], dtype=np.int64)
    return bool((calls >= 0).all() and (calls @ ones == asked[:, None]).all())


def _data_json(data: Dataset) -> dict[str, Any]:
    if isinstance(data, Rows):
        return {"rows": data.values, "form": data.form.as_json()}
    return {"values": data.values} if isinstance(data, Values) else {"X": data.X, "y": data.y}


def _data_from(told: Mapping[str, Any]) -> Dataset:
    if "rows" in told:
        return Rows(told["rows"], form_from_json(told["form"]))
    return Values(told["values"]) if "values" in told else Labelled(told["X"], told["y"])


def _change_json(change: Change) -> dict[str, Any]:
    if isinstance(change, Replace):
        place = None if change.pool is None else int(change.pool)
        return {
            "kind": "replace",
            "index": int(change.index),
            "x": change.x,
            "y": int(change.y),
            "pool": place,
        }
    if isinstance(change, FlipLabel):
        return {"kind": "flip-label", "index": int(change.index)}
    if isinstance(change, (ReplaceValue, Shift, Edit)):
        return change.as_json()
    if isinstance(change, (Several, AnyOf)):
        kind = "several" if isinstance(change, Several) else "any-of"
        return {"kind": kind, "changes": [_change_json(each) for each in change.changes]}
    raise TargetError(
        f"pairs returned a change of type {type(change).__name__}; expected Replace, FlipLabel, "
        f"ReplaceValue, Shift or Edit, or {INLINE}"
    )


def _change_from(told: Mapping[str, Any]) -> Change:
    if told["kind"] == "replace":
        return Replace(told["index"], told["x"], told["y"], told["pool"])
    if told["kind"] == "flip-label":
        return FlipLabel(told["index"])
    if told["kind"] == "replace-value":
        return ReplaceValue(told["index"], told["value"])
    if told["kind"] == "shift":
        return Shift(tuple(told["by"]))
    if told["kind"] == "edit":
        return edit_from_json(told)
    changes = tuple(map(_change_from, told["changes"]))
    return Several(changes) if told["kind"] == "several" else AnyOf(changes)


READ_WRONG = (Garbled, InvalidInput, KeyError, TypeError, ValueError, AttributeError)
"""What reading raises where there is nothing of the kind."""
