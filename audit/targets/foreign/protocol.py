"""The protocol: one JSON object a line, each way. See docs/process.md.

JSON has no NaN and no infinities: they are written as the texts "nan", "inf" and "-inf", and these
three texts are always read as numbers. What is read is a fixed function of what was answered, so no
bound on it claims more than is true of the answers themselves.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from dpassay.errors import Failed, InvalidInput, is_count, printable
from dpassay.rows.rows import Rows

VERSION = 1
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""How numbers are written that JSON does not have."""
DEEPEST = 100
"""So deep may an answer be nested; Python could not go through a much deeper one."""
SHOWN = 80
"""Characters of a wrong line that a message shows."""


class Broken(Exception):
    """Nothing more can be had over a connection; the text says why."""


class Late(Broken):
    """No whole reply came in time."""


class Dropped(Broken):
    """A connection that failed before a whole reply came: what was sent may have been read."""


class Malformed(Exception):
    """A line that is no reply; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What a server says of itself. What it does not say is not assumed."""

    seeded: bool = False
    batch: int = 1
    queries: bool = False


def hello_of(reply: Mapping[str, Any]) -> Hello:
    """Read the reply to `hello`; a server that does not know it has told nothing."""
    if "error" in reply:
        return Hello()
    known = {key: reply[key] for key in ("seeded", "batch", "queries") if key in reply}
    for key, value in known.items():
        good = is_count(value) if key == "batch" else isinstance(value, bool)
        if not good:
            allowed = "an integer >= 1" if key == "batch" else "true or false"
            raise Malformed(f"hello: {key} = {short(value)}; must be {allowed}")
    return Hello(**known)


def plain(value: Any) -> Any:
    """Return data as JSON values.

    Arrays and sequences become lists, records of a class or of a DataFrame objects, a dataset of
    numbers a list.
    """
    if isinstance(value, Rows):
        return plain(value.form.records(value.values))
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(each) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return plain(fields["values"] if set(fields) == {"values"} else fields)
    raise InvalidInput(f"data: {type(value).__name__} has no JSON form; use lists, texts, numbers")


def text_of(value: Any) -> str:
    """Return data as one line of JSON, ASCII alone."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":"))


def reply_of(line: bytes) -> dict[str, Any]:
    """Read a line as a reply."""
    try:
        found = _parsed(line)
    except (ValueError, RecursionError):
        raise Malformed(f"it wrote {short(line)}, which is no JSON") from None
    if not isinstance(found, dict):
        raise Malformed(f"it wrote {short(line)}, which is no JSON object")
    return found


def _parsed(line: bytes) -> Any:
    """Return what `json.loads` makes of a line, ten times faster where it is strict JSON.

    What is not is read again: Python's own reader takes NaN, infinities, numbers out of range and
    halves of surrogate pairs.
    """
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return json.loads(line)


def error_of(reply: Mapping[str, Any]) -> str:
    """Return what an error says, in short: its type, and its message where there is one."""
    return printable(" ".join(_said(reply["error"]).split())[:500])


def _said(error: Any) -> str:
    """Return all that an error says."""
    known = isinstance(error, Mapping)
    parts = (error.get("type", "error"), error.get("message", "")) if known else (error, "")
    kind, message = (each if isinstance(each, str) else short(each) for each in parts)
    return f"{kind}: {message}" if message else kind


def answers_of(reply: Mapping[str, Any], size: int) -> list[Any]:
    """Return the answers of a reply, one a trial: lists as tuples, a failed trial as a `Failed`."""
    found = reply.get("answers")
    if not isinstance(found, list):
        raise Malformed(f"it answered {short(dict(reply))}; must have a list 'answers'")
    if len(found) != size:
        raise Malformed(f"it gave {len(found)} answers; {size} were asked for, one a trial")
    if set(map(type, found)) <= {int, float, bool}:
        return found
    return [value_of(each) for each in found]


def value_of(answer: Any, level: int = 0) -> Any:
    """Return a JSON value, so many levels down, as an answer: hashable but for objects."""
    if isinstance(answer, str):
        return NOT_FINITE.get(answer, answer)
    if level > DEEPEST:
        raise Malformed(f"it gave an answer nested deeper than {DEEPEST} levels")
    if isinstance(answer, list):
        return tuple(value_of(each, level + 1) for each in answer)
    if isinstance(answer, dict):
        if set(answer) == {"error"}:
            return failed(answer)
        return {key: value_of(each, level + 1) for key, each in answer.items()}
    return answer


def failed(answer: Mapping[str, Any]) -> Failed:
    """Return what stands for a failed trial: who asks a program reads its message too."""
    return Failed(_said(answer["error"]))


def short(value: Any) -> str:
    """Show something that a server said, in short."""
    try:
        shown = repr(value)
    except RecursionError:
        shown = f"a deeply nested {type(value).__name__}"
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 3]}..."
