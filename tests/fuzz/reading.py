"""Records read independently: what no run can have written, by the schema and by arithmetic.

Nothing here is shared with `dpassay.record`, but the schemas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from jsonschema import Draft202012Validator
from scipy import stats

from dpassay.record.schemas import read_schema
from tests.fuzz.reading_attacks import of_attacks, of_theorems

Raw = Mapping[str, Any]


def nonsense(text: str, schema: str = "record", code: int | None = None) -> str:
    """Say what of a document is nonsense; empty where nothing is known to be.

    `code` is the exit code of the run that it is said to be of, where that is known.
    """
    try:
        document = json.loads(
            text, parse_constant=_none, parse_float=_finite, object_pairs_hook=_once
        )
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})"
    fault = next(_validator(schema).iter_errors(document), None)
    if fault is not None:
        return f"its schema refuses it at {list(fault.absolute_path)}: {fault.message[:100]}"
    found: Iterator[str] = iter(())
    if schema == "record":
        found = chain(
            (told for each in document["results"] for told in _of_result(each)),
            _of_code(document, code),
        )
    elif schema == "attack":
        found = of_attacks(document, code)
    elif schema == "theorems":
        found = chain(of_theorems(document), _of_code(document, code))
    return next(found, "")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name comes twice")
    return dict(pairs)


def _none(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return float(text)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_open(read_schema(name)))


def _open(schema: Any) -> Any:
    """Return a schema that knows fields of later versions too, as docs/files.md promises."""
    if isinstance(schema, dict):
        return {
            key: _open(value)
            for key, value in schema.items()
            if not (key == "additionalProperties" and value is False)
        }
    return list(map(_open, schema)) if isinstance(schema, list) else schema


def _of_result(result: Raw) -> Iterator[str]:
    name = result["id"]
    if result["verdict"] == "error":
        return
    lower, upper = float(result["lower"]), float(result["upper"])
    if lower > upper:
        yield f"{name}: its lower bound {lower} is above its upper bound {upper}"
    if result["exact"] is not None and not lower <= float(result["exact"]) <= upper:
        yield f"{name}: its exact leak is not between its bounds"
    if lower > max(float(cell["lower"]) for cell in result["per_query"]):
        yield f"{name}: its bound is above that of every cell"
    yield from (f"{name}: {told}, and it is {result['verdict']}" for told in _of_verdict(result))
    if not 0.5 <= result["confidence"] <= 1 or not 0 <= result["alpha"] < 1:
        yield f"{name}: a confidence or an alpha is no probability"
    for cell in result["per_query"]:
        yield from (f"{name}: {told}" for told in _of_cell(cell, result))


def _of_verdict(result: Raw) -> Iterator[str]:
    claimed, verdict = _claimed(result["claim"]), result["verdict"]
    lower, upper = float(result["lower"]), float(result["upper"])
    kept = verdict in {"not refuted", "verified"}
    if kept and lower > claimed:
        yield f"{lower} is leaked, {claimed} allowed"
    if verdict == "refuted" and lower <= claimed and "stopped_early" not in result:
        yield f"{lower} is leaked, {claimed} allowed"
    if kept and result["exact"] is not None and upper > claimed + 1e-6 * (claimed or 1):
        yield f"{upper} may be leaked, {claimed} allowed"


def _of_code(record: Raw, code: int | None) -> Iterator[str]:
    """Hold the exit code against the table of docs/errors.md."""
    found = [(each["verdict"], each["expected"]) for each in record["results"]]
    wanted = 4 if ("inconclusive", None) in found else 0 if found else 5
    if any(verdict == "error" or expected not in (None, verdict) for verdict, expected in found):
        wanted = 3
    if ("refuted", None) in found:
        wanted = 1
    if not record["run"]["complete"]:
        wanted = 130
    if code not in (None, wanted):
        yield f"its run ended with {wanted}, and not {code}"


def _claimed(claim: Raw) -> float:
    name = {
        "DP": "epsilon",
        "GDP": "mu",
        "Stability": "gamma",
        "PredictionStability": "gamma",
        "ScoreStability": "delta",
        "Accuracy": "bound",
    }[claim["kind"]]
    return float(claim[name])


def _of_cell(cell: Raw, result: Raw) -> Iterator[str]:
    lower, counts = float(cell["lower"]), cell["counts"]
    if lower > float(cell["upper"]):
        yield f"a lower bound {lower} is above its upper bound {cell['upper']}"
    if counts is None:
        return
    n1, n0, x, y = (counts[key] for key in ("n1", "n0", "x", "y"))
    if not (0 <= x <= n1 and 0 <= y <= n0 and n1 and n0):
        yield f"{x} of {n1} against {y} of {n0}"
        return
    if result["claim"]["kind"] == "DP" and not result["claim"]["delta"]:
        most = _most(x, n1, y, n0, cell["alpha"])
        if lower > most:
            yield f"{x} of {n1} against {y} of {n0} show no {lower} at alpha {cell['alpha']}"


def _most(x: int, n1: int, y: int, n0: int, alpha: float) -> float:
    """Return what no test at this error probability finds: each side at all of alpha.

    The loss of the upper end of one interval over the lower end of the other's is larger than any
    lower bound that is valid; that of the plug-in estimate too.
    """
    if not 0 < alpha < 1 or not x:
        return 0.0
    p0 = float(stats.beta.ppf(alpha, y, n0 - y + 1)) if y else 1 - (1 - alpha) ** (1 / n0)
    return math.log(x / n1 / min(p0, y / n0)) if min(p0, y / n0) else math.log(x / n1 / p0)
