"""Values: what an output of any kind, or a part of it, is taken for.

Values that Python holds to be equal are one value: 1, 1.0 and True; 0.0 and -0.0. The text '1' is
another. Sequences of equal parts are equal, be they tuples, lists or arrays. All NaN are one value.
What is of none of these kinds is known by its type alone, so that nothing of a stranger is called.
"""

from __future__ import annotations

import enum
import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpassay.errors import Failed, InvalidInput, printable

LONG_TEXT = 200
"""Longer texts are known by a digest."""
LARGE = 2**1023
"""Integers as large as this are one value: no float is near."""
DEEPEST, LONGEST = 6, 1000
"""Sequences within sequences are told apart so deep, and each up to so many parts."""
SPELLED = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
"""A number in a text."""
SIMPLE = frozenset({str, int, float, bool, type(None)})
"""Python's own types, whose values are their own keys but for a few; see `key_of`."""


@dataclass(frozen=True, slots=True)
class Special:
    """A value that JSON or equality does not know, or a class of values.

    Parameters
    ----------
    kind : str
        What it is: 'NaN', 'no answer', 'number' (any that has no code of its own), 'text' (a long
        one), 'bytes', 'set', 'enum', 'object', 'exception'.
    text : str
        Which one of them, where that is told apart.
    """

    kind: str
    text: str = ""


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
    {"NaN", "no answer", "number", "integer", "text", "bytes", "set", "enum", "object", "sequence"}
) | {FAILED.kind}


def key_of(value: Any, depth: int = 0) -> Key:
    """Return what a value is known by; total: nothing that an output is or does makes it fail."""
    kind = type(value)
    if kind is float:
        return NAN if math.isnan(value) else value
    if kind is int:
        return value if -LARGE < value < LARGE else Special("integer", "-" if value < 0 else "")
    if kind is str:
        return value if len(value) <= LONG_TEXT else _long("text", value)
    if value is None or kind is bool or kind is Special:
        return value  # type: ignore[no-any-return]
    if kind is Failed:
        return Special(FAILED.kind, value.kind[:LONG_TEXT])
    try:
        return _unusual(value, depth)
    # what is not ours may do anything
    except Exception:  # noqa: BLE001
        return Special("object", _name(kind))


def _unusual(value: Any, depth: int) -> Key:
    """Key of what is of none of the simple types."""
    if isinstance(value, (tuple, list)):
        base: Any = tuple if isinstance(value, tuple) else list
        length = base.__len__(value)
        if depth >= DEEPEST or length > LONGEST:
            return Special("sequence", str(length))
        return tuple(key_of(part, depth + 1) for part in base.__iter__(value))
    if isinstance(value, enum.Enum):
        return Special("enum", f"{_name(type(value))}.{value.name}"[:LONG_TEXT])
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_numpy(value, depth)
    for exact in (str, int, float):
        if isinstance(value, exact):
            return key_of(EXACT[exact](value))
    if isinstance(value, (Decimal, Fraction)):
        return key_of(float(value))
    if isinstance(value, complex):
        return key_of((value.real, value.imag), depth)
    return _collection(value, depth)


EXACT: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}
"""How a value of a class derived from a simple type loses what was added."""


def _of_numpy(value: Any, depth: int) -> Key:
    """Key of an array, which is that of a sequence, or of a number of NumPy's."""
    if isinstance(value, np.ndarray):
        return key_of(value.tolist(), depth) if value.size <= LONGEST else Special("sequence")
    plain = float(value) if isinstance(value, np.longdouble) else value.item()
    return Special("object", _name(type(value))) if plain is value else key_of(plain, depth)


def _collection(value: Any, depth: int) -> Key:
    """Key of bytes, a set or a mapping; all else is known by its type."""
    if isinstance(value, (bytes, bytearray)):
        return _long("bytes", bytes(value).hex())
    if isinstance(value, (set, frozenset)):
        return _long("set", repr(sorted(repr(key_of(part, depth + 1)) for part in value)))
    if isinstance(value, dict):
        pairs = [(key_of(k, depth + 1), key_of(v, depth + 1)) for k, v in value.items()]
        return tuple(sorted(pairs, key=repr))
    return Special("object", _name(type(value)))


def _long(kind: str, text: str) -> Special:
    """Name something by its beginning and a digest where it is long."""
    if len(text) <= LONG_TEXT and kind != "text":
        return Special(kind, text)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
    return Special(kind, f"{text[:20]}... {digest}")


def _name(kind: type) -> str:
    """Name a type."""
    try:
        return f"{kind.__module__}.{kind.__qualname__}"[:LONG_TEXT]
    except Exception:  # noqa: BLE001  (a metaclass may do anything)
        return "?"


def leaves(key: Key) -> Iterator[Key]:
    """Return the parts of a value one after the other, those of its parts included."""
    if isinstance(key, tuple):
        for part in key:
            yield from leaves(part)
    else:
        yield key


def number_of(key: Key) -> float:
    """Return the number that a value is; NaN for all else."""
    if isinstance(key, (bool, int, float)):
        return float(key)
    if isinstance(key, Special) and key.kind == "integer":
        return -math.inf if key.text else math.inf
    return math.nan


def spelled(key: Key) -> float:
    """Return the first number that a text spells; NaN without, and for what is no text."""
    text = key.text if isinstance(key, Special) and key.kind == "text" else key
    found = SPELLED.search(text) if isinstance(text, str) else None
    return float(found.group()) if found else math.nan


def letters(key: Key) -> float:
    """Return how long a text is, all long ones alike; NaN for what is no text."""
    if isinstance(key, Special):
        return LONG_TEXT + 1.0 if key.kind == "text" else math.nan
    return float(len(key)) if isinstance(key, str) else math.nan


def is_failure(key: Key) -> bool:
    """Whether a value is an exception."""
    return isinstance(key, Special) and key.kind == FAILED.kind


def is_number(key: Key) -> bool:
    """Whether a value is a number; NaN is one."""
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
    """Read back what `key_to_json` wrote.

    Raises
    ------
    InvalidInput
        If it is anything else.
    """
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
    """What was found instead, in short."""
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
        return f"an integer of more than 308 digits{', negative' if key.text else ''}"
    text = printable(key.text)
    if key.kind == "object":
        return f"an object of type {text}"
    if key.kind == "sequence":
        return f"a long or deep sequence{f' of {key.text} parts' if key.text else ''}"
    return text if key.kind == "enum" else f"the {key.kind} {text}"


def plain_number(value: float) -> str:
    """Write a number so that it can be read back, whole ones without a point."""
    text = repr(float(value))
    return text.removesuffix(".0")
