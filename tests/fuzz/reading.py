"""Records read independently: what no run can have written, by the schema and its exit code.

Nothing here is shared with `dpassay.record`, but the schemas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from dpassay.record.schemas import read_schema

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
    read = {"record": _code_of_results, "theorems": _code_of_results, "attack": _code_of_attacks}
    if code is not None and schema in read and code != (wanted := read[schema](document)):
        return f"its run ended with {wanted}, and not {code}"
    return ""


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


def _code_of_results(record: Raw) -> int:
    """Return the exit code that docs/errors.md has for a record."""
    found = [(each["verdict"], each["expected"]) for each in record["results"]]
    wanted = 4 if ("inconclusive", None) in found else 0 if found else 5
    if any(verdict == "error" or expected not in (None, verdict) for verdict, expected in found):
        wanted = 3
    if ("refuted", None) in found:
        wanted = 1
    return wanted if record["run"]["complete"] else 130


def _code_of_attacks(record: Raw) -> int:
    """Return the exit code that docs/errors.md has for a record; the first that applies."""
    run, subjects = record["run"], [each for each in record["subjects"] if each["error"] is None]
    seen = {each["name"]: False for each in subjects if each["claim"] is not None}
    broken = set()
    for subject in subjects:
        views = {each["view"]["name"]: each["allowed"] for each in subject["outcomes"]}
        for bound in subject["certified"] if subject["claim"] is not None else ():
            allowed, renyi = float(views[bound["view"]]["epsilon"]), bound.get("renyi")
            held = [(bound, allowed)] + ([(renyi, float(renyi["allowed"]))] if renyi else [])
            if any(float(one["lower"]) > most for one, most in held):
                broken.add(subject["name"])
            if any(float(one.get("cap", 0)) > most for one, most in held):
                seen[subject["name"]] = True
    rungs = [(each["name"], rung) for each in record["repeated"] for rung in each.get("rungs", [])]
    broken |= {name for name, rung in rungs if rung.get("broken", False)}
    if not run["complete"]:
        return 130
    if broken or record["defects"]:
        return 1
    if any(each.get("error") for each in (*record["subjects"], *record["repeated"])):
        return 3
    service = "service" in run
    if service:
        could = [rung for _, rung in rungs if float(rung.get("cap", 0)) > float(rung["basic"])]
        blind = bool(run.get("probe", {}).get("blind")) or bool(record["repeated"] and not could)
    else:
        blind = not all(seen.values())
    return 4 if blind else 0 if record["subjects"] or service else 5
