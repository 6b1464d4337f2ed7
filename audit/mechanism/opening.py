"""Opening: any object one level deep, as what it is and its named parts."""

from __future__ import annotations

import copyreg
import datetime as dt
import enum
import hashlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from dpassay.errors import Failed

# longer texts are known by a digest, and an iterator that goes on after so many parts is not read
LONG_TEXT, MOST_ITEMS = 200, 100_000
SIMPLE = frozenset({str, int, float, bool, type(None)})
"""Python's own types, whose values are their own keys but for a few; see `key_of`."""


@dataclass(frozen=True, slots=True)
class Special:
    """A value that JSON or equality does not know, or a class of values.

    `kind` is 'NaN', 'no answer', 'number' (any that has no code of its own), 'text' (a long one),
    'integer' (a very large one), 'object', 'sequence', 'exception', 'form' (what an answer is
    besides its values), 'rest' (what is too deep or too far back to have a place), 'cycle' (what
    holds itself, so many levels above); `text` says which one of them, where that is told apart.
    """

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """An object that was read: what it is, its parts by how they are reached, what was not read."""

    head: str
    parts: dict[str, Any]
    unread: str = ""


WRAPPED = frozenset({np.float64, np.int64, np.bool_, np.str_})
"""NumPy's own names for Python's numbers and texts: no function means anything by them."""
LEAVES = SIMPLE | {Special, Failed, np.float16, np.float32, np.int8, np.int16, np.int32}
LEAVES |= {np.uint8, np.uint16, np.uint32, np.uint64}
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (clocks of any zone are told from it)
STATELESS = ("_thread.lock", "_thread.RLock", "builtins.ellipsis", "builtins.NotImplementedType")
HEAP = 1 << 9
"""What CPython marks classes with that a program made."""
Parts = dict[str, Any]


class UnreadError(Exception):
    """An object whose content cannot be read."""


def name_of(kind: type) -> str:
    """Name a type."""
    try:
        return f"{kind.__module__}.{kind.__qualname__}"[:LONG_TEXT]
    except Exception:  # noqa: BLE001  (a metaclass may do anything)
        return "?"


def is_numeric(array: Any) -> bool:
    """Return whether an array holds numbers of up to eight bytes."""
    return array.dtype.kind in "biuf" and array.dtype.itemsize <= 8 and array.dtype.isnative


def opened(value: Any) -> Any:
    """Return an object one level deep: a tuple, list, dict, array of numbers, or a `Node`."""
    kind = type(value)
    bare = kind is dict and set(map(type, value)) <= {str}
    if kind is tuple or kind is list or kind is Node or bare:
        return value
    if kind is np.ndarray and is_numeric(value):
        return value.copy()
    try:
        if kind not in OPENS:
            known = (opens for types, opens in READ if isinstance(value, types))
            opens = _opens_pandas(value) or next(known, None) or _opens_object(value)
            OPENS[kind] = name_of(kind), opens
        name, opens = OPENS[kind]
        return Node(name, opens(value))
    except UnreadError:
        raise
    except Exception as error:
        raise UnreadError(name_of(kind)) from error


OPENS: dict[type, tuple[str, Callable[[Any], Parts]]] = {}
"""The names of types that were read before, and what reads them."""


def _derived(convert: Callable[[Any], Any]) -> Callable[[Any], Parts]:
    """Read what is derived from one of Python's own types, whatever was added."""
    return lambda value: {"": convert(value), **_attributes(value)}


def _dict(value: Any) -> Parts:
    """Keys that are no texts or whole numbers have places of their own."""
    found = dict(dict.items(value))
    if set(map(type, found)) <= {str}:
        return {"": found, **_attributes(value)}
    if set(map(type, found)) <= {str, int, bool, type(None)}:
        return {f"[{key!r}]": part for key, part in found.items()} | _attributes(value)
    return {" keys": tuple(found), "": tuple(found.values()), **_attributes(value)}


def _tuple(value: Any) -> Parts:
    fields, plain = getattr(type(value), "_fields", None), tuple(tuple.__iter__(value))
    if not isinstance(fields, tuple) or len(fields) != len(plain):
        return {"": plain, **_attributes(value)}
    return {f".{field}": part for field, part in zip(fields, plain, strict=True)}


def _set(value: Any) -> Parts:
    """Parts in an order of their own; that in which the set gives them where it is another."""
    ordered = sorted(value, key=lambda part: (type(part).__name__, digest_of(part)))
    if set(map(type, ordered)) in ({int}, {float}, {str}):
        ordered.sort()
    usual = list(type(value)(ordered)) if type(value) in {set, frozenset} else ordered
    place = {id(part): k for k, part in enumerate(ordered)}
    order = [[place[id(part)] for part in each] for each in (value, usual)]
    return {"": tuple(ordered)} | ({} if order[0] == order[1] else {" order": str(order[0])})


def _array(value: Any) -> Parts:
    """Read an array of anything but numbers of up to eight bytes, or of a class of its own."""
    told = {" array": f"{value.dtype.str} {value.shape}"} | _attributes(value)
    value = value.view(np.ndarray)
    if value.dtype.names:
        return {f"[{name!r}]": value[name] for name in value.dtype.names} | told
    if value.dtype.kind in "mM":
        return {"": value.astype("i8"), **told}
    if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
        return {"": value.astype(value.dtype.newbyteorder("=")), **told}
    return {"": value.ravel().tolist() if value.ndim else [value[()]], **told}


def _moment(value: Any) -> Parts:
    """Microseconds (nanoseconds of pandas's) since 1970, and what is said of the zone."""
    since = getattr(value, "value", None)
    if since is None:
        since = (value.replace(tzinfo=None, fold=0) - EPOCH) // dt.timedelta.resolution
    more: Parts = {" fold": 1} if value.fold else {}
    if value.tzinfo is not None:
        more |= {" zone": str(value.tzinfo), " shift": value.utcoffset().total_seconds()}
    return {"": since, **more}


def _iterated(value: Iterator[Any]) -> Parts:
    """Take an iterator to its end, or to the exception with which it ends."""
    items: list[Any] = []
    try:
        items.extend(islice(value, MOST_ITEMS + 1))
    except Exception as error:  # noqa: BLE001  (what is not ours may do anything)
        items.append(Failed.of(error))
    if len(items) > MOST_ITEMS:
        raise UnreadError(f"{name_of(type(value))} of more than {MOST_ITEMS} parts")
    return {"": items}


def _function(value: types.FunctionType) -> Parts:
    """A function by its name; by what it holds where it was made inside another one."""
    if _found(value):
        return {" name": f"{value.__module__}.{value.__qualname__}"}
    cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
    parts = {".code": value.__code__, ".closure": cells, ".defaults": value.__defaults__}
    return {**parts, ".more": value.__kwdefaults__, ".vars": vars(value)}


def _class(value: type) -> Parts:
    """A class by its name; by what it holds where it cannot be found under that."""
    held = {} if _found(value) else dict(vars(value))
    left = ("__dict__", "__weakref__", "__module__", "__firstlineno__")
    parts = {f".{key}": part for key, part in held.items() if key not in left}
    return {" name": name_of(value), **parts}


def _found(value: Any) -> bool:
    """Return whether a module has this function or class under its name."""
    there: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        there = getattr(there, name, None)
    return there is value


def _written(value: Any) -> Parts:
    """A number that no float may be equal to: the nearest one, and as it is written."""
    try:
        near = float(value)
    except (OverflowError, ValueError):
        near = float("nan")
    return {"": near, " written": str(value)}


READ: tuple[tuple[Any, Callable[[Any], Parts]], ...] = (
    (enum.Enum, lambda value: {"": value.name, ".value": value.value}),
    (np.ndarray, _array),
    ((np.longdouble, Decimal, Fraction), _written),
    ((np.datetime64, np.timedelta64), lambda v: {"": int(v.astype("i8")), " of": v.dtype.str}),
    (np.void, lambda value: _array(np.asarray(value))),
    ((complex, np.complexfloating), lambda value: {".real": value.real, ".imag": value.imag}),
    (str, _derived(str.__str__)),
    (int, _derived(int.__int__)),
    (float, _derived(float.__float__)),
    (tuple, _tuple),
    (list, _derived(lambda value: list(list.__iter__(value)))),
    (dict, _dict),
    ((set, frozenset), _set),
    ((bytes, bytearray, memoryview), lambda value: {"": bytes(value).decode("latin-1")}),
    (dt.datetime, _moment),
    (dt.date, lambda value: {"": value.toordinal()}),
    (dt.timedelta, lambda v: {"": getattr(v, "value", v // dt.timedelta.resolution)}),
    (dt.time, lambda value: _moment(dt.datetime.combine(EPOCH, value))),
    (types.CodeType, lambda value: {".code": value.co_code, ".consts": value.co_consts}),
    (types.FunctionType, _function),
    (types.ModuleType, lambda value: {" name": value.__name__}),
    (type, _class),
    (Iterator, _iterated),
)


def _opens_pandas(value: Any) -> Callable[[Any], Parts] | None:
    """Return what reads a table of pandas's, or says that a value is missing; None for all else."""
    if not type(value).__module__.startswith("pandas"):
        return None
    import pandas as pd

    kinds: tuple[tuple[Any, Callable[[Any], Parts]], ...] = (
        (type(pd.NA), lambda _: {}),
        (type(pd.NaT), lambda _: {}),
        (pd.DataFrame, _frame),
        (pd.MultiIndex, lambda value: {"": value.to_list(), ".names": list(value.names)}),
        ((pd.Series, pd.Index), _labelled),
        (pd.api.extensions.ExtensionArray, lambda value: {"": _held(value)}),
    )
    return next((opens for kind, opens in kinds if isinstance(value, kind)), None)


def _frame(value: Any) -> Parts:
    parts: Parts = {}
    # what pandas keeps is read as it lies there: this is ten times as fast
    blocks, get = value._mgr.blocks, value._get_column_array  # noqa: SLF001
    alone = blocks[0].values if len(blocks) == 1 else None
    for k, label in enumerate(value.columns.tolist()):
        piece = f"[{label!r}]" if type(label) in SIMPLE else f"[{k}]"
        piece = f"{piece}#{k}" if piece in parts else piece
        parts[piece] = alone[k] if type(alone) is np.ndarray else _held(get(k))
    if value.columns.nlevels > 1 or value.columns.name is not None:
        parts[".columns"] = value.columns
    return parts | _labels(value)


def _labelled(value: Any) -> Parts:
    parts = {"": _held(value.array)} | ({} if value.name is None else {".name": value.name})
    return parts | (_labels(value) if hasattr(value, "index") else {})


def _held(array: Any) -> Any:
    """Return the values of a column, and what is said of them."""
    if isinstance(getattr(array.dtype, "numpy_dtype", array.dtype), np.dtype):
        return np.asarray(array)
    parts: Parts = {"": np.asarray(array, dtype=object).tolist()}
    if hasattr(array, "categories"):
        parts |= {".categories": list(array.categories), ".ordered": bool(array.ordered)}
    return Node("category" if ".ordered" in parts else str(array.dtype), parts)


def _labels(value: Any) -> Parts:
    """Return the labels of rows, unless they only count them, and what was noted of all."""
    index = value.index
    counts = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    found = {} if counts and index.name is None else {".index": index}
    return found | ({".attrs": value.attrs} if value.attrs else {})


def _attributes(value: Any) -> Parts:
    """Return what an object holds in `__dict__` and slots, past whatever its class says of that."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        held = {}
    found = {f".{key}": part for key, part in held.items()}
    kind: Any = type(value)
    for slot, member in _slots(kind):
        try:
            found[slot] = member.__get__(value)
        except AttributeError:  # it was not set
            continue
    return found


@cache
def _slots(kind: type) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (f".{slot}", member)
        for each in kind.__mro__
        for slot, member in vars(each).items()
        if isinstance(member, types.MemberDescriptorType) and each.__flags__ & HEAP
    )


def _opens_object(value: Any) -> Callable[[Any], Parts]:
    """Return what reads an object like this: its attributes, or what it tells a pickler."""
    kind = type(value)
    if name_of(kind) in STATELESS:
        return lambda _: {}
    own = (getattr(kind, name) is getattr(object, name) for name in ("__reduce__", "__reduce_ex__"))
    if all(own) and kind not in copyreg.dispatch_table and kind is not object:
        object.__reduce_ex__(value, 4)
        return _attributes
    return _reduced


def _reduced(value: Any) -> Parts:
    """Read what an object tells a pickler, and its attributes where that has no state."""
    tell = copyreg.dispatch_table.get(type(value))
    told = tell(value) if tell else value.__reduce_ex__(4)
    if isinstance(told, str):
        return {" name": told, **_attributes(value)}
    made, arguments, state, items, pairs = (*told, *(None,) * 5)[:5]
    parts = {
        ".made": getattr(made, "__qualname__", name_of(type(made))),
        ".arguments": tuple(each for each in arguments if each is not type(value)),
        ".state": state,
        ".items": None if items is None else list(items),
        ".pairs": None if pairs is None else list(pairs),
    }
    parts = {key: part for key, part in parts.items() if part is not None}
    return parts if state else parts | _attributes(value)


def digest_of(value: Any) -> str:
    """Return a digest of an object however deep it is; what it holds twice counts as held twice."""
    told = hashlib.blake2b(digest_size=8)
    seen: dict[int, int] = {}
    kept, stack = [], [value]  # kept: an identity stands for an object only while that lives
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind in LEAVES or kind in WRAPPED:
            text = hex(value) if kind is int else repr(value)
            told.update(f"{kind.__name__} {text};".encode(errors="surrogatepass"))
            continue
        if id(value) in seen:
            told.update(f"again {seen[id(value)]};".encode())
            continue
        seen[id(value)] = len(seen)
        found = opened(value)
        kept.append((value, found))
        if type(found) is np.ndarray:
            told.update(f"{found.dtype.str} {found.shape};".encode() + found.tobytes())
            continue
        head, parts = (found.head, found.parts) if type(found) is Node else (type(found), found)
        keys = list(parts) if type(parts) is dict else len(parts)
        told.update(f"{head} {keys!r};".encode(errors="surrogatepass"))
        stack.extend(reversed(list(parts.values()) if type(parts) is dict else parts))
    return told.hexdigest()
