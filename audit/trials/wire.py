"""The wire: what comes out of a user's process, as JSON and the bytes of arrays.

It is never unpickled.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEAD = struct.Struct(">4sIIQ")
"""Begins a message: mark, number, bytes of JSON, bytes of arrays."""
MARK = b"dpa1"
LONGEST = 1 << 36
"""Bytes of a message at most; what announces more is none."""
FEW = 64
"""Of fewer numbers it does not matter how many bytes they take."""


class Garbled(Exception):
    """What came is no message of ours."""


def pack(number: int, value: Any) -> bytes:
    """Write a message: numbers, texts, bytes, lists, arrays, and dicts of them.

    Keys of dicts are texts.
    """
    arrays: list[bytes] = []
    text = json.dumps(_plain(value, arrays)).encode()
    return b"".join([HEAD.pack(MARK, number, len(text), sum(map(len, arrays))), text, *arrays])


def length(head: bytes, awaited: int | None = None) -> int:
    """Return how many bytes follow the head of a message, which must have the awaited number.

    Raises
    ------
    Garbled
        If it is none.
    """
    mark, number, text, arrays = HEAD.unpack(head)
    if mark != MARK or text + arrays > LONGEST or awaited not in (None, number):
        raise Garbled
    return int(text + arrays)


def unpack(message: bytes) -> tuple[int, Any]:
    """Read a message: its number and its value, arrays read-only.

    Raises
    ------
    Garbled
        If it is none.
    """
    _, number, text, _ = HEAD.unpack_from(message)
    start = HEAD.size + text
    try:
        return int(number), _rebuilt(
            json.loads(message[HEAD.size : start]), memoryview(message)[start:]
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Garbled from None


def _plain(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise TypeError(f"an array of {value.dtype}")
        sent = _narrowed(value)
        arrays.append(np.ascontiguousarray(sent).tobytes())
        wider = {} if sent is value else {"as": value.dtype.str}
        return wider | {
            "array": sent.dtype.str,
            "shape": value.shape,
            "start": sum(map(len, arrays[:-1])),
            "bytes": len(arrays[-1]),
        }
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, dict):
        return {"map": {key: _plain(each, arrays) for key, each in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_plain(each, arrays) for each in value]
    return value


def _narrowed(value: NDArray[Any]) -> NDArray[Any]:
    """Return counts in as few bytes as hold the largest: most of them are small."""
    if value.dtype != np.int64 or value.size < FEW or value.min() < 0:
        return value
    return value.astype(np.min_scalar_type(value.max()).newbyteorder("<"))


def _rebuilt(value: Any, arrays: memoryview) -> Any:
    if isinstance(value, list):
        return [_rebuilt(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if "map" in value:
        return {key: _rebuilt(each, arrays) for key, each in value["map"].items()}
    return bytes.fromhex(value["hex"]) if "hex" in value else _array(value, arrays)


def _array(value: dict[str, Any], arrays: memoryview) -> NDArray[Any]:
    part = arrays[value["start"] : value["start"] + value["bytes"]]
    found = np.frombuffer(part, dtype=_numeric(value["array"]))
    if "as" in value:
        found = found.astype(_numeric(value["as"]))
        found.flags.writeable = False
    return found.reshape([int(side) for side in value["shape"]])


def _numeric(name: str) -> np.dtype[Any]:
    kind = np.dtype(name)
    if kind.kind not in "biuf":
        raise ValueError
    return kind
