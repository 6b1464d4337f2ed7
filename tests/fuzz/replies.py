"""Replies of the process protocol with something wrong in them, and what a strict reader makes of
them."""

from __future__ import annotations

import json
import math
import random
from typing import Any

from tests.fuzz.mutations import VALUES, mangled, mutated

HELLO = {"seeded": True, "batch": 5, "queries": True}
OK = {"ok": True}
ERROR = {"error": {"type": "ValueError", "message": "out of luck"}}
ANSWERS: tuple[Any, ...] = (
    *(0, 1, -3, 0.5, 1e300, True, None, "yes", "nan", "-inf", "ä", [0, 1], [[1.5], "x"]),
    *({"a": [1]}, {"error": {"type": "E"}}, {"error": "E"}, 2**60, 2**70, -(2**63), 10**400),
    *("", [], {}),
)
ODD = (
    *(b"", b"{}", b"null", b"[]", b"nan", b"{", b'{"answers":', b"\xff", b"\x00", b'"ok"'),
    *(b'{"ok": true}{"ok": true}', b'{"ok": "true"}', b'{"answers": NaN}', b"\xef\xbb\xbf{}"),
    *(b'{"answers": [NaN]}', b'{"answers": [Infinity]}', b'{"answers": [1e999]}'),
    *(b'{"answers":{}}', b'{"answers": [' + b"9" * 5000 + b"]}", b'{"batch": 1e3}'),
    b'{"batch": 99999999999999999999}',
    *(b'{"answers": ["\\ud800"]}', b'{"answers": [1], "answers": [2]}', b'{"answers": [01]}'),
    b'{"answers": [' + b",".join([b"[" * 900 + b"]" * 900] * 4) + b"]}",
    b'{"answers": [' + b",".join([b'{"a":' * 970 + b"1" + b"}" * 970] * 4) + b"]}",
    b'{"error": ' + b"[" * 960 + b"]" * 960 + b"}",
    *(b"[" * 100_000, b'{"answers": [' + b"[" * 400 + b"]" * 400 + b"]}", b'{"a":' * 5000),
)


def reply(rng: random.Random, good: dict[str, Any]) -> bytes:
    """Return a line in place of a good reply: most times one with something wrong in it."""
    way = rng.random()
    if way < 0.15:
        return json.dumps(good).encode()
    if way < 0.35:
        return rng.choice(ODD)
    document = mutated(good, rng)
    if way < 0.45:
        document = {**good, rng.choice((*good, "error", "more")): rng.choice((*VALUES, *ANSWERS))}
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
    text = mangled(text, rng) if way > 0.8 else text
    return text.encode("utf-8", "replace").replace(b"\n", b" ")


def answers(rng: random.Random, size: int) -> dict[str, Any]:
    """Return a good reply to `sample`."""
    one = rng.random() < 0.5
    value = rng.choice(ANSWERS)
    return {"answers": [value if one else rng.choice(ANSWERS) for _ in range(size)]}


def strictly(line: bytes) -> Any:
    """Return what Python's reader makes of a line; raise `ValueError` if it is no JSON."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError from None


def told(value: Any) -> Any:
    """Return a value of a reply in a form that can be compared, as docs/process.md reads it."""
    if isinstance(value, (list, tuple)):
        return ["list", *map(told, value)]
    if isinstance(value, dict):
        if set(value) == {"error"}:
            return ["failed"]
        return {key: told(each) for key, each in value.items()}
    if isinstance(value, str):
        value = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(value, value)
    if type(value).__name__ == "Failed":
        return ["failed"]
    return [type(value).__name__, repr(value)]
