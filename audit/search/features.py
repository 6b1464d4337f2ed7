"""Features: the numbers by which outputs are told apart, each with a name that can be read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.errors import InvalidInput, is_count, is_real, require
from dpassay.search.columns import Array
from dpassay.search.values import (
    NUMBER,
    Key,
    key_from_json,
    key_to_json,
    key_words,
    number_of,
    plain_number,
)
from dpassay.search.views import Place, View, first_hit

SINGLE = -1
"""The place of an output that has no parts."""
LAST_PLACE = 2**31
MOST_NUMBERS = 100
LARGEST_TABLE = 4096
"""No table that is read back is longer."""
MOST_STEPS, ROUNDING = 2.0**40, 2.0**-50
"""A multiple of a step has fewer of them, and is off by no larger part of itself."""
CODED = frozenset({"value", "whole", "outcome", "digit", "form"})
"""Features whose numbers are codes: indices in a table."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One number for each output.

    `kind`, one of `KINDS`, is 'number' (the number in a place), 'value' (code of the value in a
    place), 'whole' (code of the whole output), 'outcome' (whether it is an exception), 'length',
    'change' (first place that differs from the first part), 'count' and 'first' (how often a value
    occurs, and where first), 'sum', 'largest', 'smallest', 'top' (place of the largest), 'distance'
    (of the number in a place from a centre), 'bit' (exponent of the lowest bit that is set in it),
    'digit' (code of the last digit of the number, or of that in the text, in a place), 'difference'
    (of the numbers in two places), 'spelled' (a number in the text in a place), 'letters' (how long
    that is), 'form' (what an output is besides its values).

    `place` is a `Place`, `SINGLE` for outputs without parts. `table` has the values with a code of
    their own, or the one value of 'count' and 'first'. `centre` is that of 'distance', or what the
    last digit counts of 'digit'. `less` is the place of the number that 'difference' takes off, or
    which number of a text 'spelled' is.
    """

    kind: str
    place: Place = 0
    table: tuple[Key, ...] = ()
    centre: float = 0.0
    less: Place = 0

    @property
    def coded(self) -> bool:
        """Return whether its numbers are codes without an order."""
        return self.kind in CODED

    @property
    def codes(self) -> int:
        """Number of codes: one for each value of the table, and one for all others."""
        return len(self.table) + 1

    @property
    def where(self) -> str:
        """Return what is looked at, in words."""
        return "the answer" if self.place == SINGLE else place_words(self.place)

    @property
    def at(self) -> Place:
        """The place that is looked at."""
        return 0 if self.place == SINGLE else self.place

    @property
    def name(self) -> str:
        """Return what it is called."""
        if self.kind in {"number", "value"}:
            return self.where
        if self.kind == "distance":
            return f"the distance of {self.where} from {plain_number(self.centre)}"
        if self.kind == "digit":
            return f"the digit of {self.where} that counts {plain_number(self.centre)}"
        if self.kind == "difference":
            return f"{self.where} less {place_words(self.less)}"
        if self.kind == "spelled":
            which = ("first", "second", "third", *(f"{k}th" for k in range(4, 100)))
            return f"the {which[int(self.less)]} number in the text of {self.where}"
        if self.kind in ABOUT:
            return f"{ABOUT[self.kind]} {self.where}"
        if self.kind in {"count", "first"}:
            number = self.table == (NUMBER,)
            if self.kind == "count":
                said = "numbers" if number else key_words(self.table[0])
                return f"the number of answers that are {said}"
            return f"the place of the first {'number' if number else key_words(self.table[0])}"
        return NAMES[self.kind]

    def compute(self, view: View) -> Array:
        """Return its numbers (n,); NaN where there is none."""
        return KINDS[self.kind](self, view)

    def as_json(self) -> dict[str, Any]:
        """Kind, and what it needs besides."""
        facts: dict[str, Any] = {"kind": self.kind}
        if self.kind in PLACED:
            facts["place"] = self.place
        if self.kind in TABLED:
            facts["table"] = [key_to_json(key) for key in self.table]
        if self.kind in {"distance", "digit"}:
            facts["centre"] = self.centre
        if self.kind == "difference" or (self.kind == "spelled" and self.less):
            facts["less"] = self.less
        return facts


def place_words(place: Place) -> str:
    """Say which part of an answer is meant."""
    return f"the answer{place}" if isinstance(place, str) else f"answer {place + 1}"


def feature_from_json(facts: Any) -> Feature:
    """Read back what `Feature.as_json` wrote; raise InvalidInput for anything else."""
    require(isinstance(facts, dict), "feature", facts, "an object")
    kind = facts.get("kind")
    known = isinstance(kind, str) and kind in KINDS
    require(known, "feature: kind", kind, f"one of {', '.join(KINDS)}")
    place, table, centre = facts.get("place", 0), facts.get("table", []), facts.get("centre", 0.0)
    less = facts.get("less", 0)
    for where, least in ((place, SINGLE), (less, 0)):
        valid = isinstance(where, str) or (is_count(where, least) and where < LAST_PLACE)
        require(valid, "feature: place", where, "-1, a place counted from 0, or how it is reached")
    if kind == "spelled":
        require(is_count(less, 0) and less < MOST_NUMBERS, "feature: less", less, "0 to 99")
    require(
        isinstance(table, list) and (len(table) > 0) == (kind in TABLED) and
        len(table) <= (1 if kind in {"count", "first"} else LARGEST_TABLE),
        "feature: table",
        table,
        "the values of this kind of feature",
    )  # fmt: skip
    require(finite(centre), "feature: centre", centre, "a finite number")
    keys = tuple(key_from_json(key) for key in table)
    if len(set(keys)) < len(keys):
        raise InvalidInput("feature: a table names a value twice")
    place, less = (each if isinstance(each, str) else int(each) for each in (place, less))
    return Feature(kind, place, keys, float(centre), less)


def finite(number: Any) -> bool:
    """Return whether what was read is a finite number."""
    return is_real(number) and math.isfinite(number)


def _distance(feature: Feature, view: View) -> Array:
    with np.errstate(over="ignore"):
        found: Array = np.abs(view.column(feature.at).number() - feature.centre)
    return found


def _bit(feature: Feature, view: View) -> Array:
    """Exponent of the largest power of two that divides a number; of 0 and what is none NaN.

    A sum of floats is a multiple of the last place of the larger of them, so that this tells what
    was added to the noise (Mironov 2012).
    """
    number = view.column(feature.at).number()
    number = np.where(np.isfinite(number) & (number != 0), number, np.nan)
    mantissa, exponent = np.frexp(number)
    whole = np.nan_to_num(np.abs(mantissa) * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1))
    return np.where(np.isnan(number), np.nan, exponent + lowest - 53)


def _digit(feature: Feature, view: View) -> Array:
    """Code of the last digit of a rounded number; of what has more digits that of all others."""
    number = view.column(feature.at).number()
    if np.isnan(number).any():
        number = np.where(np.isnan(number), view.column(feature.at).spelled(), number)
    digits = np.nan_to_num(np.abs(multiples(number, feature.centre)) % 10, nan=10.0)
    codes = np.full(11, float(len(feature.table)))
    for code, key in enumerate(feature.table):
        codes[:10][np.arange(10) == number_of(key)] = code
    return np.asarray(codes[digits.astype(np.intp)])


def multiples(numbers: Array, step: float) -> Array:
    """Return how many steps numbers are; NaN for what is no multiple, up to rounding errors."""
    with np.errstate(all="ignore"):
        steps = numbers / step
        whole: Array = np.rint(steps)
        rounded = (np.abs(steps) < MOST_STEPS) & (np.abs(steps - whole) <= ROUNDING * np.abs(steps))
    return np.where(rounded, whole, np.nan)


def _difference(feature: Feature, view: View) -> Array:
    """Difference of two numbers: noise that both share is not in it."""
    with np.errstate(invalid="ignore", over="ignore"):
        found: Array = view.column(feature.at).number() - view.column(feature.less).number()
    return found


def _sum(_: Feature, view: View) -> Array:
    matrix = view.matrix()
    with np.errstate(invalid="ignore", over="ignore"):
        total: Array = matrix.sum(axis=1)
        odd = np.isnan(total)
        if odd.any():
            total[odd] = np.nansum(matrix[odd], axis=1)
    return total


def _top(_: Feature, view: View) -> Array:
    matrix = view.matrix()
    if matrix.shape[1] == 0:
        return np.full(len(matrix), np.nan)
    missing = np.isnan(matrix)
    place: Array = np.where(missing, -np.inf, matrix).argmax(axis=1) + 1.0
    place[missing.all(axis=1)] = np.nan
    return place


KINDS: dict[str, Callable[[Feature, View], Array]] = {
    "number": lambda look, view: view.column(look.at).number(),
    "value": lambda look, view: view.column(look.at).codes(look.table).astype(float),
    "whole": lambda look, view: view.whole(look.table).astype(float),
    "outcome": lambda look, view: view.column(look.at).codes(look.table).astype(float),
    "length": lambda _, view: view.lengths(),
    "change": lambda _, view: view.first_change(),
    "count": lambda look, view: view.hits(look.table[0]).sum(axis=1, dtype=float),
    "first": lambda look, view: first_hit(view.hits(look.table[0]), view.lengths()),
    "sum": _sum,
    "largest": lambda _, view: np.fmax.reduce(view.matrix(), axis=1, initial=np.nan),
    "smallest": lambda _, view: np.fmin.reduce(view.matrix(), axis=1, initial=np.nan),
    "top": _top,
    "distance": _distance,
    "bit": _bit,
    "digit": _digit,
    "difference": _difference,
    "form": lambda look, view: view.form().codes(look.table).astype(float),
    "spelled": lambda look, view: view.column(look.at).spelled(int(look.less)),
    "letters": lambda look, view: view.column(look.at).letters(),
}
"""How the numbers of each kind of feature are found."""
ABOUT = {"bit": "the exponent of the lowest bit of", "letters": "the number of letters of"}
NAMES = {
    "whole": "the output",
    "outcome": "the outcome",
    "form": "the form of the answer",
    "length": "the number of answers",
    "change": "the place of the first change",
    "sum": "the sum of the answers",
    "largest": "the largest answer",
    "smallest": "the smallest answer",
    "top": "the place of the largest answer",
}
TABLED = CODED | {"count", "first"}
PLACED = {"number", "distance", "bit", "difference", "value", "digit", "spelled"} | ABOUT.keys()
