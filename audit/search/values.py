"""Values: what an output of any kind, or a part of it, is taken for.

Values that Python holds to be equal are one value: 1, 1.0 and True; 0.0 and -0.0. The text '1' is
another. Sequences of equal parts are equal, be they tuples, lists or arrays. All NaN are one value.
What tells these apart, types and the sign of zeros, is the form of an answer: see `objects`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np

from dpassay.errors import Failed, InvalidInput, printable
from dpassay.mechanism.opening import LONG_TEXT, SIMPLE, Node, Special, name_of

LARGE = 2**1023
"""Integers as large as this are one value: no float is near."""
DEEPEST, LONGEST = 6, 1000
"""Sequences within sequences are told apart so deep, and each up to so many parts."""
SPELLED = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
"""A number in a text."""
NO_NUMBERS = ("builtins.", "datetime.", "pandas.", "<")
"""What objects are that have one number or text and are none: bytes, dates."""
Key: TypeAlias = "bool | int | float | str | Special | tuple[Key, ...] | None"
"""What a value is known by: hashable, of harmless types, and written in JSON."""

NAN = Special("NaN")
ABSENT = Special("no answer")
"""What stands where an output has no such part."""
NUMBER = Special("number")
"""Any number that is not in a table by itself."""
OTHER = Special("other")
"""Any value that has no code."""
FAILED = Special("exception")
"""Any exception that is not in a table by itself."""
KINDS = frozenset(
    {"NaN", "no answer", "number", "integer", "text", "object", "sequence", "form", "rest", "cycle"}
) | {FAILED.kind}


def key_of(value: Any, depth: int = 0) -> Key:
    """Return what a value is known by; total: nothing that an output is or does makes it fail."""
    kind, key = type(value), cast("Key", value)
    if kind is float:
        return NAN if math.isnan(value) else key
    if kind is int:
        if -LARGE < value < LARGE:
            return key
        return Special("integer", f"{'-' if value < 0 else ''}{_digest(hex(value))}")
    if kind is str:
        return key if len(value) <= LONG_TEXT else long_text("text", value)
    if value is None or kind is bool or kind is Special:
        return key
    if kind is Failed:
        return long_text(FAILED.kind, value.kind)
    try:
        return _unusual(value, depth)
    # what is not ours may do anything
    except Exception:  # noqa: BLE001
        return Special("object", name_of(kind))


def _unusual(value: Any, depth: int) -> Key:
    """Key of what is of none of the simple types."""
    if isinstance(value, (tuple, list)):
        base: Any = tuple if isinstance(value, tuple) else list
        if depth >= DEEPEST or base.__len__(value) > LONGEST:
            return Special("sequence", _digest(repr(_tuples(value))))
        return tuple(key_of(part, depth + 1) for part in base.__iter__(value))
    if isinstance(value, dict):
        pairs = [(key_of(k, depth + 1), key_of(v, depth + 1)) for k, v in value.items()]
        return tuple(sorted(pairs, key=repr))
    if isinstance(value, Node):
        return _of_node(value)
    if isinstance(value, np.ndarray):
        return key_of(value.tolist() if value.dtype.kind != "O" else list(value), depth)
    if isinstance(value, (Decimal, Fraction, np.longdouble)):
        return key_of(float(value))
    exact = next((each for each in EXACT if isinstance(value, each)), None)
    if exact is not None:
        return key_of(EXACT[exact](value))
    plain = value.item() if isinstance(value, np.generic) else value
    return Special("object", name_of(type(value))) if plain is value else key_of(plain, depth)


def _tuples(value: Any) -> Any:
    """Return the same with tuples for lists: keys do not tell which of them a sequence is."""
    if isinstance(value, (tuple, list)):
        base: Any = tuple if isinstance(value, tuple) else list
        return tuple(map(_tuples, base.__iter__(value)))
    return {k: _tuples(v) for k, v in value.items()} if isinstance(value, dict) else value


def _of_node(value: Node) -> Key:
    """Key of an object that was read: that of the number or text that it is, or what it is."""
    derived = set(value.parts) <= {"", " written"} and not value.head.startswith(NO_NUMBERS)
    if derived and type(value.parts.get("")) in SIMPLE:
        return key_of(value.parts[""])
    return Special("object", f"{value.head[:LONG_TEXT]} {_digest(repr(value))}")


EXACT: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}
"""How a value of a class derived from a simple type loses what was added."""


def long_text(kind: str, text: str) -> Special:
    """Name something by its beginning and a digest where it is long."""
    if len(text) <= LONG_TEXT and kind != "text":
        return Special(kind, text)
    return Special(kind, f"{text[:20]}... {_digest(text)}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def number_of(key: Key) -> float:
    """Return the number that a value is; NaN for all else."""
    if isinstance(key, (bool, int, float)):
        return float(key)
    if isinstance(key, Special) and key.kind == "integer":
        return -math.inf if key.text.startswith("-") else math.inf
    return math.nan


def spelled(value: Any, which: int = 0) -> float:
    """Return a number that a text spells, the first one for 0; NaN without, and for no text."""
    found = SPELLED.findall(value) if isinstance(value, str) else ()
    return float(found[which]) if which < len(found) else math.nan


def letters(value: Any) -> float:
    """Return how long a text is; NaN for what is no text."""
    return float(len(value)) if isinstance(value, str) else math.nan


def is_failure(key: Key) -> bool:
    """Return whether a value is an exception."""
    return isinstance(key, Special) and key.kind == FAILED.kind


def is_number(key: Key) -> bool:
    """Return whether a value is a number; NaN is one."""
    return isinstance(key, (bool, int, float)) or (
        isinstance(key, Special) and key.kind in {"NaN", "integer"}
    )


def key_to_json(key: Key) -> Any:
    """Write a key; infinite numbers and specials as objects."""
    if isinstance(key, Special):
        return {"special": key.kind, "text": key.text}
    if isinstance(key, tuple):
        return [key_to_json(part) for part in key]
    if isinstance(key, float) and math.isinf(key):
        return {"special": "infinity", "text": "-" if key < 0 else ""}
    return key


def key_from_json(facts: Any) -> Key:
    """Read back what `key_to_json` wrote; raise InvalidInput for anything else."""
    if isinstance(facts, dict) and set(facts) == {"special", "text"}:
        kind, text = facts["special"], facts["text"]
        if isinstance(kind, str) and isinstance(text, str):
            if kind == "infinity" and text in {"", "-"}:
                return -math.inf if text else math.inf
            if kind in KINDS:
                return Special(kind, text)
    elif isinstance(facts, list) and len(facts) <= LONGEST:
        try:
            return tuple(key_from_json(part) for part in facts)
        except RecursionError:
            pass
    elif type(facts) in SIMPLE and key_of(facts) == facts:  # neither NaN nor long
        return facts  # type: ignore[no-any-return]
    raise InvalidInput(f"value = {_shown(facts)}: no value that a pattern can name")


def _shown(facts: Any) -> str:
    """Return what was found instead, in short."""
    try:
        return repr(facts)[:80]
    except (RecursionError, ValueError):
        return type(facts).__name__


def key_words(key: Key) -> str:
    """Say a value: texts in quotation marks but for single symbols such as ⊤."""
    if isinstance(key, str):
        return key if len(key) == 1 and not key.isalnum() and ord(key) > 127 else repr(key)
    if isinstance(key, tuple):
        inner = ", ".join(map(key_words, key))
        return f"({inner},)" if len(key) == 1 else f"({inner})"
    if isinstance(key, Special):
        return _special_words(key)
    return plain_number(key) if isinstance(key, float) else str(key)


def _special_words(key: Special) -> str:
    """Say a special value."""
    if key == NUMBER:
        return "another number"
    if key == ABSENT:
        return "missing"
    if key.kind == "NaN":
        return "NaN"
    if is_failure(key):
        return f"an exception ({printable(key.text)})" if key.text else "an exception"
    if key.kind == "integer":
        return f"an integer of more than 308 digits ({key.text})"
    text = printable(key.text)
    if key.kind == "object":
        return f"an object of type {text}"
    if key.kind == "sequence":
        return f"a long or deep sequence ({text})"
    return text if key.kind == "form" else f"the {key.kind} {text}"


def plain_number(value: float) -> str:
    """Write a number so that it can be read back, whole ones without a point."""
    text = repr(float(value))
    return text.removesuffix(".0")
