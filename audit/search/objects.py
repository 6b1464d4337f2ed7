"""Objects: answers of any kind, laid out in columns of what is in the same place of each.

What an answer is besides its values is its form: how its parts are held, in which order, of which
types its numbers are, and which zeros are negative. Answers of one form are taken apart together,
at the speed of C.
"""

from __future__ import annotations

import hashlib
import marshal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import Failed
from dpassay.mechanism.opening import LEAVES, Node, Special
from dpassay.search.columns import (
    Array,
    Codes,
    Numbers,
    Tally,
    ValueColumn,
    by_frequency,
    column_of,
    minus,
    typed,
)
from dpassay.search.values import ABSENT, Key, key_of
from dpassay.search.views import LEAF, TAGS, Place, View, array_words, form_of

MOST_PLACES = 64
"""Of outputs that are no arrays so many parts are added up, compared and searched for a value."""
MOST_COLUMNS = 4096
"""So many parts have places of their own, the others are known by a digest of all of them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Answers that hold their parts in the same way.

    `rows` are their places among all answers, None for all of them; `columns` their leaves, one
    column for each place.
    """

    rows: NDArray[np.intp] | None
    size: int
    structure: str
    places: dict[Place, int]
    columns: list[Any]


class Arrays(View):
    """Outputs that are numbers: an array (n,) for single values, (n, d) for vectors."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.n = array, len(array)
        self.table = array[:, None] if array.ndim == 1 else array
        self.width = self.table.shape[1]

    def column(self, place: Place | None) -> Numbers | ValueColumn:
        """Return the numbers in a place; all of single values (None)."""
        place = 0 if place is None else place
        if not isinstance(place, int) or place >= self.width:
            return column_of([ABSENT] * self.n)
        return Numbers(self.table[:, place])

    def places(self) -> list[Place]:
        """Return all places."""
        return list(range(self.width))

    def lengths(self) -> Array:
        """See `View`."""
        return np.full(self.n, float(self.width))

    def matrix(self) -> Array:
        """See `View`."""
        return self.table.astype(float, copy=False)

    def whole(self, table: tuple[Key, ...]) -> Codes:
        """See `View`."""
        return self.column(0).codes(table) if self.array.ndim == 1 else super().whole(table)

    def tally(self) -> Tally:
        """See `View`; of vectors those that come more than once."""
        if self.array.ndim == 1:
            return self.column(0).tally()
        rows, counts = np.unique(self.array, axis=0, return_counts=True)
        often = counts > 1
        common = zip(map(key_of, rows[often]), counts[often].tolist(), strict=True)
        return Tally(by_frequency(common), 0, len(rows), 0.0, fractions=False, total=self.n)

    def form(self) -> ValueColumn:
        """See `View`."""
        dtype, single = self.array.dtype, self.array.ndim == 1
        structure = LEAF if single else array_words(dtype, self.array.shape[1:])
        tag, signed = TAGS[dtype.str] if single else "", minus(self.table)
        if signed is None:
            return ValueColumn(
                np.zeros(self.n, dtype=np.intp), [form_of(structure, [tag] * self.width)]
            )
        rows, ids = np.unique(signed, axis=0, return_inverse=True)
        told = [np.where(row, "-0.0", tag).tolist() for row in rows]
        return ValueColumn(ids.ravel(), [form_of(structure, tags) for tags in told])


class ObjectView(View):
    """Outputs of any kind, one plain Python object for each trial: see `dpassay.mechanism.plain`.

    `parts` says whether their parts are looked at place by place; else each output is one value.
    """

    def __init__(self, outputs: Sequence[Any], *, parts: bool) -> None:
        self.outputs, self.parts, self.n = outputs, parts, len(outputs)
        self.groups = _groups(outputs)
        self.longest = max((len(group.columns) for group in self.groups), default=0)
        self.width = min(MOST_PLACES, self.longest) if parts else 1
        self._known: dict[Place | None, Numbers | ValueColumn] = {}

    @cached_property
    def array(self) -> Arrays | None:
        """The same as an array, where all answers hold as many numbers of one type."""
        alone = self.parts and len(self.groups) == 1 and self.groups[0].structure != LEAF
        columns = [self.column(place) for place in range(self.width)] if alone else []
        found = [each.array for each in columns if isinstance(each, Numbers)]
        alike = len({each.dtype for each in found}) == 1 and len(found) == self.longest
        return Arrays(np.stack(found, axis=1)) if alike else None

    def column(self, place: Place | None) -> Numbers | ValueColumn:
        """Return the values in a place, or the whole outputs (None)."""
        if place not in self._known:
            if place is None and self.parts:
                values = self._joined(_wholes)
            elif place is None or not self.parts:
                values = self.outputs if not place else [ABSENT] * self.n
            else:
                values = self._joined(partial(_at, place=place))
            self._known[place] = typed(values)
        return self._known[place]

    def _joined(self, values_of: Callable[[_Group], Any]) -> Any:
        """Return a value of each output, from those of each group."""
        if len(self.groups) == 1:
            return values_of(self.groups[0])
        found: list[Any] = [ABSENT] * self.n
        for group in self.groups:
            for row, value in zip(group.rows, values_of(group), strict=True):  # type: ignore[arg-type]
                found[row] = value
        return found

    def places(self) -> list[Place]:
        """Return all places of parts, the ones that most outputs have first."""
        if not self.parts:
            return [0]
        seen: Counter[Place] = Counter()
        for group in self.groups:
            seen.update(dict.fromkeys(group.places, group.size))
        return [place for place, _ in seen.most_common(MOST_COLUMNS + 1)]

    def whole(self, table: tuple[Key, ...]) -> Codes:
        """See `View`."""
        leaf = any(group.structure == LEAF for group in self.groups)
        if not self.parts or self.longest > MOST_PLACES or leaf:
            return self.column(None).codes(table)
        return super().whole(table)

    def lengths(self) -> Array:
        """See `View`."""
        if not self.parts:
            return np.ones(self.n)
        return np.asarray(
            self._joined(lambda group: [float(len(group.columns))] * group.size), dtype=float
        )

    def tally(self) -> Tally:
        """See `View`; of vectors of numbers as of an array."""
        return super().tally() if self.array is None else self.array.tally()

    def form(self) -> ValueColumn:
        """See `View`."""
        alone, index = len(self.groups) == 1 and self.parts, dict[Special, int]()
        ids = np.zeros(self.n, dtype=np.intp)
        for group in self.groups:
            held = [self.column(k) if alone else typed(c) for k, c in enumerate(group.columns)]
            forms, each = _forms(group, held)
            known = [index.setdefault(form, len(index)) for form in forms]
            ids[slice(None) if group.rows is None else group.rows] = np.array(known)[each]
        return ValueColumn(ids, list(index))


def _groups(outputs: Sequence[Any]) -> list[_Group]:
    """Put answers together that hold their parts in the same way."""
    columns = _leaves(outputs)
    if columns is not None:
        told: tuple[str, list[Place]] = _structure(outputs[0]) if len(outputs) else (LEAF, [0])
        return [_group(None, len(outputs), *told, columns)]
    rows: dict[str, list[int]] = {}
    told_of = {}
    for row, output in enumerate(outputs):
        told = _structure(output)
        rows.setdefault(told[0], []).append(row)
        told_of[told[0]] = told
    found = []
    for structure, some in rows.items():
        columns = _leaves([outputs[row] for row in some]) or []
        found.append(_group(np.array(some), len(some), *told_of[structure], columns))
    return found


def _group(
    rows: NDArray[np.intp] | None, size: int, structure: str, places: list[Place], leaves: list[Any]
) -> _Group:
    if len(leaves) > MOST_COLUMNS:
        left = [each.tolist() if isinstance(each, np.ndarray) else each for each in leaves]
        rest = [Special("rest", _digest(row)) for row in zip(*left[MOST_COLUMNS:], strict=True)]
        leaves, places = [*leaves[:MOST_COLUMNS], rest], [*places[:MOST_COLUMNS], " rest"]
    return _Group(rows, size, structure, {place: k for k, place in enumerate(places)}, leaves)


def _leaves(values: Sequence[Any]) -> list[Any] | None:
    """Return the leaves of values, a column for each place; None where they are held otherwise."""
    kinds = set(map(type, values))
    if kinds <= LEAVES:
        return [values]
    kind, *more = kinds
    if kind is np.ndarray and not more:
        alike = len(set(map(attrgetter("dtype", "shape"), values))) == 1
        return list(np.concatenate(values, None).reshape(len(values), -1).T) if alike else None
    held = None if more else _held(kind, values)
    if held is None:
        return None
    flat = list(chain.from_iterable(held))
    if set(map(type, flat)) == {float}:
        return list(np.fromiter(flat, float, len(flat)).reshape(len(values), -1).T)
    width, found = len(flat) // len(values), list[Any]()
    for place in range(width):
        below = _leaves(flat[place::width])
        if below is None:
            return None
        found += below
    return found


def _held(kind: type, values: Sequence[Any]) -> Any:
    """Return the parts of each value; None where they are not reached in the same way."""
    if kind is dict:
        return map(dict.values, values) if len(set(map(tuple, values))) == 1 else None
    if kind is Node:
        alike = len({(each.head, *each.parts) for each in values}) == 1
        return (each.parts.values() for each in values) if alike else None
    return values if len(set(map(len, values))) == 1 else None


def _structure(value: Any) -> tuple[str, list[Place]]:
    """Return how an answer holds its parts, and the place of each leaf.

    Of a sequence of leaves these count from 0; else they say how the leaf is reached.
    """
    told: list[str] = []
    paths: list[str] = []
    _describe(value, "", told, paths)
    kind = type(value)
    if kind in LEAVES or (kind is np.ndarray and value.ndim < 2):
        return "".join(told), list(range(len(paths)))
    if (kind is tuple or kind is list) and set(map(type, value)) <= LEAVES:
        return "".join(told), list(range(len(paths)))
    return "".join(told), list(paths)


def _describe(value: Any, path: str, told: list[str], paths: list[str]) -> None:
    """Say how a value holds its parts, and how each of its leaves is reached."""
    kind = type(value)
    if kind in LEAVES:
        told.append(LEAF)
        paths.append(path)
    elif kind is np.ndarray:
        told.append(array_words(value.dtype, value.shape))
        paths += [path + "".join(f"[{k}]" for k in at) for at in np.ndindex(value.shape)]
    elif kind is dict or kind is Node:
        parts = value if kind is dict else value.parts
        told.append("{" if kind is dict else f"{value.head}{{")
        for k, (key, part) in enumerate(parts.items()):
            told.append(f"{', ' if k else ''}{key!r}: ")
            _describe(part, f"{path}[{key!r}]" if kind is dict else path + key, told, paths)
        told.append("}")
    else:
        told.append("(" if kind is tuple else "[")
        for k, part in enumerate(value):
            told.append(", " if k else "")
            _describe(part, f"{path}[{k}]", told, paths)
        told.append(")" if kind is tuple else "]")


def _at(group: _Group, place: Place) -> Any:
    """Return the leaves of a group in a place: as it is called, or the leaf of that number."""
    k = place if isinstance(place, int) else group.places.get(place, len(group.columns))
    return group.columns[k] if k < len(group.columns) else [ABSENT] * group.size


def _wholes(group: _Group) -> list[Any]:
    """Return the leaves of each answer as one value; of one that is a leaf itself the leaf."""
    if group.structure == LEAF:
        return list(group.columns[0])
    plain = [each.tolist() if isinstance(each, np.ndarray) else each for each in group.columns]
    if not plain:
        return [()] * group.size
    rows = zip(*plain, strict=True)
    if len(plain) > MOST_PLACES:
        return [Special("sequence", _digest(row)) for row in rows]
    return list(rows)


def _digest(row: tuple[Any, ...]) -> str:
    """Return a digest of leaves; their types are in the form."""
    try:
        told = marshal.dumps(row, 2)  # of equal values equal bytes
    except ValueError:
        told = repr(row).encode(errors="surrogatepass")
    return hashlib.blake2b(told, digest_size=8).hexdigest()


def _forms(group: _Group, held: list[Numbers | ValueColumn]) -> tuple[list[Special], Codes]:
    """Return the forms that answers of a group have, and which one each of them has."""
    tags = list(map(_tags, group.columns, held))
    varying = [k for k, tag in enumerate(tags) if not isinstance(tag, str)]
    fixed = [tag if isinstance(tag, str) else "" for tag in tags]
    if not varying:
        return [form_of(group.structure, fixed)], np.zeros(group.size, dtype=np.intp)
    found, index = [], dict[tuple[str, ...], int]()
    rows = zip(*(tags[k] for k in varying), strict=True)
    ids = [index.setdefault(row, len(index)) for row in rows]
    for row in index:
        for k, tag in zip(varying, row, strict=True):
            fixed[k] = tag
        found.append(form_of(group.structure, fixed))
    return found, np.array(ids, dtype=np.intp)


def _tags(column: Any, held: Numbers | ValueColumn) -> str | list[str]:
    """Return the type of each leaf that its value does not tell; one where they are all alike."""
    if isinstance(held, Numbers):
        signed = minus(held.array)
        if signed is not None:
            return ["-0.0" if each else "" for each in signed.tolist()]
        return "" if isinstance(column, np.ndarray) else TAGS[held.array.dtype.str]
    kinds = set(map(type, column))
    if float not in kinds and kinds.isdisjoint(TAGGED):
        return ""
    return [_tag(value) for value in column]


TAGGED = LEAVES - {float, str, type(None), Special, Failed}


def _tag(value: Any) -> str:
    kind = type(value)
    if kind is float:
        return "-0.0" if value == 0 and np.signbit(value) else ""
    return TAGS.get(np.dtype(kind).str, "int") if kind in TAGGED else ""
