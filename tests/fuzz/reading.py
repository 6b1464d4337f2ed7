"""Records read independently: what no run can have written, by the schema and its exit code.

Nothing here is shared with `dpassay.record`, but the schemas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from dpassay.record.schemas import read_schema
from tests.fuzz.reading_attacks import of_attacks

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
    if schema in ("record", "theorems"):
        found = _of_code(document, code)
    elif schema == "attack":
        found = of_attacks(document, code)
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
