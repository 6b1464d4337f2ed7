"""Outputs of any kind turned into numbers.

A pilot shows what a mechanism returns; the encoder that is fitted to it names what can be told
apart: the values where they are few, the numbers place by place, lengths, first changes, counts of
symbols, sums and extremes. What the pilot did not show has a code of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np

from dpassay.errors import InvalidInput, require
from dpassay.mechanism.opening import LEAVES, WRAPPED
from dpassay.search.columns import Array, Mask, Tally, by_frequency
from dpassay.search.declared import Output
from dpassay.search.features import SINGLE, Feature, feature_from_json, multiples
from dpassay.search.reading import pooled, view_of
from dpassay.search.values import ABSENT, FAILED, NUMBER, Key, is_number, key_of
from dpassay.search.views import Place, View

MOST_FEATURES = 40
"""More than this are not looked at, besides the outcome and the form."""
MOST_PILOT = 8000
"""Outputs from which an encoder is fitted, those of all datasets together."""
MOST_VALUES = 256
"""Values of a whole output that have a code of their own, the most frequent ones."""
MOST_HERE = 64
"""Values in one place of a sequence that have a code of their own."""
ALPHABET = 3
"""Symbols whose counts and first places are features."""
MOST_SPELLED = 6
"""So many of the numbers in a text are looked at."""
CONTINUOUS = 16
"""A place with more different numbers than this is taken for one of numbers, not of symbols."""
MOST_PAIRED = 5
"""Of so many numbers all differences are looked at."""
DIGITS = tuple(range(10))
STEPS = [float(f"1e{-places}") for places in range(-6, 13)]
"""Powers of ten to which a number may be rounded, the largest first."""
ROUNDED, MOSTLY = 0.05, 0.9
"""Such a part of the numbers in a place must be, and such a part of these to the power named."""
MOST_CENTRES = 4
"""Distances from a centre are looked at where there are no more numbers than these."""


OUTCOME = Feature("outcome", 0, (FAILED,))
"""Whether a run raised an exception."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """At most `MOST_FEATURES` features that are looked at in an output.

    With `parts` an output is a sequence whose parts are looked at place by place.
    """

    looks: tuple[Feature, ...]
    parts: bool

    @property
    def foresees_failures(self) -> bool:
        """Return whether it tells an exception from all other outputs."""
        return OUTCOME in self.looks

    @property
    def names(self) -> tuple[str, ...]:
        """Return what each feature is called."""
        return tuple(look.name for look in self.looks)

    def view(self, draws: Any) -> View:
        """Return outputs as what features ask for."""
        return view_of(draws, parts=self.parts)

    def features(self, draws: Any) -> Array:
        """Return all features (n, F); NaN where an output has no such number.

        Outputs that the pilot did not show make nothing fail.
        """
        view = self.view(draws)
        found = np.empty((view.n, len(self.looks)), order="F")
        for j, look in enumerate(self.looks):
            found[:, j] = look.compute(view)
        return found

    def only(self, looks: Sequence[Feature]) -> Encoder:
        """Return an encoder that looks at less."""
        return Encoder(tuple(looks), self.parts)

    def as_json(self) -> dict[str, Any]:
        """Return what `encoder_from_json` reads."""
        return {"parts": self.parts, "features": [look.as_json() for look in self.looks]}


def encoder_from_json(facts: Any) -> Encoder:
    """Read back what `Encoder.as_json` wrote; raise InvalidInput for anything else."""
    require(isinstance(facts, dict), "encoder", facts, "an object")
    parts, features = facts.get("parts"), facts.get("features")
    require(isinstance(parts, bool), "encoder: parts", parts, "true or false")
    if not isinstance(features, list) or not len(features) <= MOST_FEATURES + 2:
        raise InvalidInput(f"encoder: features: must be a list of at most {MOST_FEATURES + 2}")
    return Encoder(tuple(feature_from_json(each) for each in features), parts)


def fit_encoder(
    pilot: Sequence[Any],
    *,
    bits: bool = False,
    output: Output | None = None,
    failures: bool = False,
) -> Encoder:
    """Find out what can be told apart in outputs, always the same for the same pilot.

    `pilot` has some outputs on each of several datasets, as for `Encoder.view`; the first of each
    are looked at, `MOST_PILOT` in all. With `bits` the bit patterns of floats are looked at too
    (Mironov 2012); with `failures` an output may be an exception. The pilot does not change what an
    `output` was declared to be.
    """
    each = -(-MOST_PILOT // max(len(pilot), 1))
    few = [draws[:each] for draws in pilot]
    require(any(len(draws) for draws in few), "pilot", len(few), "at least one output")
    parts = any(map(_has_parts, few)) if output is None else output.parts
    views = [view_of(draws, parts=parts) for draws in few if len(draws)]
    if output is not None and output.whole:
        looks = [Feature("value", SINGLE, output.values or _labels(few))]
    else:
        looks = _of_parts(views, bits) if parts else _of_place(pooled(views), None, bits, 1)
    if output is not None:
        declared = _declared(output, views)
        looks = [*declared, *(look for look in looks if look not in declared)]
    looks.sort(key=lambda look: look.kind == "digit")  # what is last is left out where it is much
    looks = looks[:MOST_FEATURES] or [Feature("length")]
    if failures:
        looks.append(OUTCOME)
    if output is None or not output.whole:
        forms = pooled(views).form().tally().common[:MOST_VALUES]
        looks.append(Feature("form", 0, tuple(key for key, _ in forms)))
    return Encoder(tuple(looks), parts)


def _labels(pilot: Iterable[Any]) -> tuple[Key, ...]:
    """Return the most frequent outputs, each compared as a whole, numbers too."""
    seen: Counter[Key] = Counter()
    for draws in pilot:
        seen.update(map(key_of, draws.tolist() if isinstance(draws, np.ndarray) else draws))
    return tuple(key for key, _ in by_frequency(seen.items())[:MOST_VALUES])


def _declared(output: Output, views: Sequence[View]) -> list[Feature]:
    """Return the features that outputs of a declared kind have, whatever the pilot shows."""
    if output.kind == "number":
        return [Feature("number", SINGLE)]
    if output.kind == "text":
        return [Feature("spelled", SINGLE), Feature("letters", SINGLE)]
    if output.kind == "sequence":
        return [Feature("length")]
    if output.kind == "vector":
        return [Feature("number", place) for place in _places(views, pooled(views).places())]
    return []


def _has_parts(draws: Any) -> bool:
    """Return whether some outputs have parts."""
    if isinstance(draws, np.ndarray) and draws.dtype.kind in "biuf":
        return draws.ndim > 1 and int(np.prod(draws.shape[1:])) != 1
    return not set(map(type, draws)) <= LEAVES | WRAPPED


def _of_parts(views: Sequence[View], bits: bool) -> list[Feature]:
    """Features of sequences."""
    whole = pooled(views)
    order = whole.places()
    places = _places(views, order)
    tallies = {place: whole.column(place).tally() for place in places}
    numeric = sum(tally.numbers > 1 for tally in tallies.values())
    lengths = np.unique(whole.lengths()).tolist()
    table = _table(whole.tally(), MOST_VALUES) if lengths != [1] else ()
    found = [Feature("whole", 0, table)] if table else []
    if len(lengths) > 1:
        found += [Feature("length")]
    if numeric > 1:
        found += [Feature(kind) for kind in ("sum", "largest", "smallest", "top")]
        at = [at for at, each in tallies.items() if each.numbers > CONTINUOUS and not each.others]
        at.sort(key=order.index)
        # all differences where they are few, else those of neighbours
        few = len(at) <= MOST_PAIRED
        pairs = combinations(at, 2) if few else islice(pairwise(at), 2 * MOST_PAIRED)
        found += [Feature("difference", place, less=less) for less, place in pairs]
    varied = [each for each in tallies.values() if each.numbers + each.others > 1]
    if len(varied) > 2 and any(each.numbers <= CONTINUOUS or each.others for each in varied):
        found += [Feature("change")]
        symbols = _alphabet(varied)
        found += [Feature(kind, 0, (key,)) for key in symbols for kind in ("first", "count")]
    for place, tally in tallies.items():
        found += _of_place(whole, place, bits, numeric, tally)
    return found


def _alphabet(tallies: Iterable[Tally]) -> list[Key]:
    """Return the most frequent symbols; beside others all numbers are one."""
    seen: Counter[Key] = Counter()
    total = numbers = 0
    for tally in tallies:
        total += tally.total
        numbers += tally.numbers
        seen.update({key: n for key, n in tally.common if key != ABSENT})
    often = [key for key, n in seen.most_common() if n > total / 100]
    symbols = [key for key in often if not is_number(key)]
    if symbols and numbers:
        return [NUMBER, *symbols][:ALPHABET]
    return often[:ALPHABET]


def _places(views: Sequence[View], places: list[Place]) -> list[Place]:
    """Return the places that are looked at: all, or those at which datasets differ, most first."""
    most = MOST_FEATURES // 2
    if len(places) <= most:
        return places
    apart = np.array([_apart(views, place) for place in places])
    return [places[k] for k in np.argsort(-apart, kind="stable")[:most].tolist()]


def _apart(views: Sequence[View], place: Place) -> float:
    """Return how far values in a place lie apart on datasets, in standard deviations."""
    numbers = [view.column(place).number() for view in views]
    if not np.isnan(numbers[0]).all():
        return _far([np.nan_to_num(each, posinf=0.0, neginf=0.0) for each in numbers])
    tallies = [view.column(place).tally() for view in views]
    values = dict.fromkeys(key for tally in tallies for key, _ in tally.common[:CONTINUOUS])
    held = [[view.column(place).codes((value,)) == 0 for view in views] for value in values]
    return max((_far(each) for each in held), default=0.0)


def _far(numbers: Sequence[Array | Mask]) -> float:
    """Return the range of means, in standard deviations."""
    means = np.array([each.mean() for each in numbers])
    spread = np.sqrt(np.mean([each.var() for each in numbers]))
    return float(np.ptp(means) / (spread + 1e-12 * (1 + np.abs(means).max())))


def _of_place(
    view: View, place: Place | None, bits: bool, numbers: int, tally: Tally | None = None
) -> list[Feature]:
    """Features of one place of a sequence, or of outputs without parts (None)."""
    at, here = (SINGLE, 0) if place is None else (place, place)
    tally = view.column(here).tally() if tally is None else tally
    found = []
    if tally.numbers > 2 or (tally.numbers > 1 and tally.others):
        found.append(Feature("number", at))
    table = _table(tally, MOST_VALUES if view.width == 1 else MOST_HERE)
    if table and (tally.numbers + tally.others > 1 or place is None):
        found.append(Feature("value", at, table))
    if tally.others > CONTINUOUS:
        at_first = [
            k for k in range(MOST_SPELLED) if not np.isnan(view.column(here).spelled(k)).all()
        ]
        found += [*(Feature("spelled", at, less=k) for k in at_first), Feature("letters", at)]
    if max(tally.numbers, tally.others) > CONTINUOUS:
        found += [Feature("digit", at, DIGITS, step) for step in _steps(view, here)]
    if tally.numbers > CONTINUOUS:
        if numbers <= MOST_CENTRES:
            found.append(Feature("distance", at, (), tally.middle))
        if bits and tally.fractions:
            found.append(Feature("bit", at))
    return found


def _steps(view: View, place: Place) -> list[float]:
    """Return the power of ten to which the numbers in a place are rounded; none if they are not."""
    number = view.column(place).number()
    number = np.where(np.isnan(number), view.column(place).spelled(), number)
    number = number[np.isfinite(number) & (number != 0)]
    rounded = np.zeros(len(number), dtype=bool)
    shares = []
    for step in STEPS:
        rounded |= ~np.isnan(multiples(number, step))
        shares.append(np.count_nonzero(rounded))
    first = int(np.searchsorted(shares, MOSTLY * shares[-1]))
    return [STEPS[first]] if shares[-1] > ROUNDED * len(number) else []


def _table(tally: Tally, most: int) -> tuple[Key, ...]:
    """Return the values that have a code of their own, the most frequent ones.

    Those that were seen once only where they are no numbers and few. Empty where there are none.
    """
    few = tally.others <= CONTINUOUS
    often = [key for key, count in tally.common if count > 1 or few][:most]
    if often and tally.numbers > sum(map(is_number, often)):
        often.append(NUMBER)
    return tuple(often)
