"""The wire: what comes out of a user's process, as MessagePack and the bytes of arrays.

It is never unpickled. Whatever is wrong with a message is one exception, `Garbled`; sizes, shapes
and dtypes are checked before memory is taken for them.
"""

from __future__ import annotations

import math
import struct
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.msgpack import Ext
from numpy.typing import NDArray

from dpassay.errors import CONTROL, printable

HEAD = struct.Struct(">4sIIQ")
"""Begins a message: mark, number, bytes of MessagePack, bytes of arrays."""
MARK = b"dpa2"
MOST_PLAIN = 1 << 22
"""Bytes of MessagePack at most: an empty list takes one there and a hundred here."""
LONGEST = 1 << 30
"""Bytes of arrays at most, as they are sent and as they are read."""
FEW = 64
"""Of fewer numbers it does not matter how many bytes they take."""
ARRAY, LARGE = 1, 2
"""MessagePack extensions: an array, and an integer of more than 63 bits."""
MOST_DIGITS = 128
"""Bytes of such an integer."""

Line = Annotated[str, Meta(max_length=10_000, pattern=rf"\A[^\t\n{CONTROL}]*\Z")]
"""A text that goes into one line of a terminal.

Never put it in a union with a list or a dict: msgspec 0.22 frees that twice when Python ends.
"""
Text = Annotated[str, Meta(max_length=100_000, pattern=rf"\A[^{CONTROL}]*\Z")]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Mark = Annotated[bytes, Meta(max_length=64)]
Dtype = Literal[
    "|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8"
]  # fmt: skip


FLOAT = np.dtype(float)


class Garbled(Exception):
    """What came is no message of ours; the text says what is wrong with it, in one line."""


class Message(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a message may be; `read` checks it."""


class Array(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a message says of an array. Their bytes follow one another in the same order."""

    sent: Dtype
    read: Dtype
    shape: Annotated[tuple[Count, ...], Meta(max_length=8)]


DECODER = msgspec.msgpack.Decoder(Array)


def pack(number: int, value: Any) -> bytes:
    """Write a message: numbers, texts, bytes, lists, arrays, dataclasses, and dicts of them."""
    arrays: list[bytes] = []
    plain = msgspec.msgpack.encode(_plain(value, arrays))
    head = HEAD.pack(MARK, number, len(plain), sum(map(len, arrays)))
    length(head)
    return b"".join([head, plain, *arrays])


def length(head: bytes, awaited: int | None = None) -> int:
    """Return how many bytes follow the head of a message, which must have the awaited number."""
    if len(head) != HEAD.size:
        raise Garbled("it is too short")
    mark, number, plain, arrays = HEAD.unpack(head)
    if awaited not in (None, number):
        raise Garbled("nobody has asked for it")
    if mark != MARK:
        raise Garbled("its head is wrong")
    if plain > MOST_PLAIN or arrays > LONGEST:
        most = f"{MOST_PLAIN >> 20} MiB, or {LONGEST >> 30} GiB of arrays"
        raise Garbled(f"it is longer than {most}")
    return int(plain + arrays)


def unpack(message: bytes) -> tuple[int, Any]:
    """Read a message: its number and its value, arrays read-only."""
    if length(message[: HEAD.size]) != len(message) - HEAD.size:
        raise Garbled("its length is wrong")
    _, number, plain, _ = HEAD.unpack_from(message)
    content = memoryview(message)[HEAD.size :]
    arrays = _Arrays(content[plain:])
    try:
        value = msgspec.msgpack.decode(content[:plain], ext_hook=arrays.take)
    except Exception as error:  # noqa: BLE001  (whatever it does to its reader)
        raise Garbled(line_of(error)) from None
    if arrays.left:
        raise Garbled("it has bytes that belong to nothing")
    return int(number), value


def read(kind: Any, value: Any) -> Any:
    """Return a value of a message as what it must be."""
    try:
        with np.errstate(all="ignore"):
            return msgspec.convert(value, kind)
    except Exception as error:  # noqa: BLE001  (whatever it does to its reader)
        raise Garbled(line_of(error)) from None


def line_of(error: Exception) -> str:
    """Say what is wrong with a message."""
    return printable(" ".join(f"{error}"[:300].split()) or type(error).__name__)


def _plain(value: Any, arrays: list[bytes]) -> Any:
    """Return a value as MessagePack knows it; the bytes of arrays go to a list of their own."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        whole = value.astype(float) if value.dtype.itemsize > FLOAT.itemsize else value
        sent = _narrowed(whole)
        dtypes = [each.dtype.newbyteorder("<").str for each in (sent, whole)]
        arrays.append(sent.astype(dtypes[0], copy=False).tobytes())
        return Ext(ARRAY, msgspec.msgpack.encode([*dtypes, value.shape]))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):
        return printable(value, line=False)
    if isinstance(value, int) and value.bit_length() > 63:
        return Ext(LARGE, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
    if isinstance(value, dict):
        return {key: _plain(each, arrays) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each, arrays) for each in value]
    if isinstance(value, Message):
        return _plain(msgspec.structs.asdict(value), arrays)
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name), arrays) for each in fields(value)}
    return value


def _narrowed(value: NDArray[Any]) -> NDArray[Any]:
    """Return counts in as few bytes as hold the largest: most of them are small."""
    if value.dtype != np.int64 or value.size < FEW or value.min() < 0:
        return value
    return value.astype(np.min_scalar_type(value.max()))


class _Arrays:
    """Takes arrays from the bytes of a message, one after the other."""

    def __init__(self, left: memoryview) -> None:
        self.left = left
        self._room = LONGEST

    def take(self, code: int, content: memoryview) -> NDArray[Any] | int:
        """Return the next array, see `Array`, or a large integer."""
        if code == LARGE and len(content) <= MOST_DIGITS:
            return int.from_bytes(content, "big", signed=True)
        if code != ARRAY:
            raise Garbled("it has an extension that is none of ours")
        told = DECODER.decode(content)
        sent, kind = np.dtype(told.sent), np.dtype(told.read)
        if kind != sent and (kind != np.int64 or sent.kind != "u"):
            raise Garbled(f"{sent} is not read as {kind}")
        size = math.prod(told.shape) * sent.itemsize
        # an empty array has sides too, by which memory is taken: a million of them at most
        each = kind.itemsize if size else LONGEST >> 20
        self._room -= math.prod(max(side, 1) for side in told.shape) * each
        if self._room < 0 or size > len(self.left):
            raise Garbled(f"an array of shape {told.shape} has not as many bytes")
        found = np.frombuffer(self.left[:size], dtype=sent)
        self.left = self.left[size:]
        if sent.kind == "b" and found.view(np.uint8).max(initial=0) > 1:
            raise Garbled("a truth value is neither true nor false")
        found = found.astype(kind, copy=False).reshape(told.shape)
        found.flags.writeable = False
        return found
