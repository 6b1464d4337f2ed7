"""Outputs of any kind turned into numbers.

A pilot shows what a mechanism returns; the encoder that is fitted to it names what can be told
apart: the values where they are few, the numbers place by place, lengths, first changes, counts of
symbols, sums and extremes. What the pilot did not show has a code of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from dpassay.errors import InvalidInput, require
from dpassay.search.declared import Output
from dpassay.search.features import SINGLE, Feature, feature_from_json
from dpassay.search.reading import pooled, view_of
from dpassay.search.values import ABSENT, FAILED, NUMBER, Key, is_number, key_of
from dpassay.search.views import Array, Tally, View, by_frequency

MOST_FEATURES = 40
"""More than this are not looked at."""
MOST_PILOT = 8000
"""Outputs from which an encoder is fitted, those of all datasets together."""
MOST_VALUES = 256
"""Values of a whole output that have a code of their own, the most frequent ones."""
MOST_HERE = 64
"""Values in one place of a sequence that have a code of their own."""
ALPHABET = 3
"""Symbols whose counts and first places are features."""
CONTINUOUS = 16
"""A place with more different numbers than this is taken for one of numbers, not of symbols."""
MOST_PAIRED = 5
"""Of so many numbers all differences are looked at."""
MOST_CENTRES = 4
"""Distances from a centre are looked at where there are no more numbers than these."""


OUTCOME = Feature("outcome", 0, (FAILED,))
"""Whether a run raised an exception."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """What is looked at in an output.

    Parameters
    ----------
    looks : tuple of Feature
        What is looked at, at most `MOST_FEATURES`.
    parts : bool
        Whether an output is a sequence whose parts are looked at place by place.
    nested : bool
        Whether parts of parts have places of their own.
    """

    looks: tuple[Feature, ...]
    parts: bool
    nested: bool = False

    @property
    def foresees_failures(self) -> bool:
        """Whether it tells an exception from all other outputs."""
        return OUTCOME in self.looks

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is called."""
        return tuple(look.name for look in self.looks)

    def view(self, draws: Any) -> View:
        """Return outputs as what features ask for."""
        return view_of(draws, parts=self.parts, nested=self.nested)

    def features(self, draws: Any) -> Array:
        """Return all features (n, F); NaN where an output has no such number.

        Parameters
        ----------
        draws
            As for `view`; outputs that the pilot did not show make nothing fail.
        """
        view = self.view(draws)
        found = np.empty((view.n, len(self.looks)), order="F")
        for j, look in enumerate(self.looks):
            found[:, j] = look.compute(view)
        return found

    def only(self, looks: Sequence[Feature]) -> Encoder:
        """Return an encoder that looks at less."""
        return Encoder(tuple(looks), self.parts, self.nested)

    def as_json(self) -> dict[str, Any]:
        """What `encoder_from_json` reads."""
        return {
            "parts": self.parts,
            "nested": self.nested,
            "features": [look.as_json() for look in self.looks],
        }


def encoder_from_json(facts: Any) -> Encoder:
    """Read back what `Encoder.as_json` wrote.

    Raises
    ------
    InvalidInput
        If it is anything else.
    """
    require(isinstance(facts, dict), "encoder", facts, "an object")
    parts, nested, features = facts.get("parts"), facts.get("nested"), facts.get("features")
    require(isinstance(parts, bool), "encoder: parts", parts, "true or false")
    require(isinstance(nested, bool), "encoder: nested", nested, "true or false")
    if not isinstance(features, list) or not len(features) <= MOST_FEATURES:
        raise InvalidInput(f"encoder: features: must be a list of at most {MOST_FEATURES}")
    return Encoder(tuple(feature_from_json(each) for each in features), parts, nested)


def fit_encoder(
    pilot: Sequence[Any],
    *,
    bits: bool = False,
    output: Output | None = None,
    failures: bool = False,
) -> Encoder:
    """Find out what can be told apart in outputs.

    Parameters
    ----------
    pilot : sequence of draws
        Some outputs on each of several datasets, as for `Encoder.view`. The first of each are
        looked at, `MOST_PILOT` in all.
    bits : bool
        Whether the bit patterns of floats are looked at too (Mironov 2012).
    output : Output, optional
        What an output was declared to be; the pilot does not change that.
    failures : bool
        Whether an output may be an exception.

    Returns
    -------
    Encoder
        The same for the same pilot.

    Raises
    ------
    InvalidInput
        If the pilot is empty.
    """
    each = -(-MOST_PILOT // max(len(pilot), 1))
    few = [draws[:each] for draws in pilot]
    require(any(len(draws) for draws in few), "pilot", len(few), "at least one output")
    parts, nested = _structure(few)
    if output is not None:
        parts, nested = output.parts, nested and output.kind == "sequence"
    views = [view_of(draws, parts=parts, nested=nested) for draws in few if len(draws)]
    if output is not None and output.whole:
        looks = [Feature("value", SINGLE, output.values or _labels(few))]
    else:
        looks = _of_parts(views, bits) if parts else _of_place(pooled(views), None, bits, 1)
    if output is not None:
        declared = _declared(output, views)
        looks = [*declared, *(look for look in looks if look not in declared)]
    looks = looks[:MOST_FEATURES] or [Feature("length")]
    if failures:
        looks.append(OUTCOME)
    return Encoder(tuple(looks), parts, nested)


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
        width = max(view.width for view in views)
        return [Feature("number", place) for place in _places(views, width)]
    return []


def _structure(pilot: Iterable[Any]) -> tuple[bool, bool]:
    """Whether outputs have parts, and the parts parts."""
    parts = nested = False
    for draws in pilot:
        if isinstance(draws, np.ndarray) and draws.dtype.kind in "biuf":
            parts |= draws.ndim > 1 and int(np.prod(draws.shape[1:])) != 1
            continue
        for key in set(map(key_of, draws if isinstance(draws, list) else list(draws))):
            if isinstance(key, tuple):
                parts = True
                nested |= any(isinstance(part, tuple) for part in key)
    return parts, nested


def _of_parts(views: Sequence[View], bits: bool) -> list[Feature]:
    """Features of sequences."""
    whole = pooled(views)
    places = _places(views, whole.width)
    tallies = {place: whole.tally(place) for place in places}
    numeric = sum(tally.numbers > 1 for tally in tallies.values())
    table = _table(whole.tally(None), MOST_VALUES)
    found = [Feature("whole", 0, table)] if table else []
    if len(np.unique(whole.lengths())) > 1:
        found += [Feature("length")]
    if numeric > 1:
        found += [Feature(kind) for kind in ("sum", "largest", "smallest", "top")]
        found += _differences(
            [at for at, tally in tallies.items() if tally.numbers > CONTINUOUS and not tally.others]
        )
    few = any(tally.numbers <= CONTINUOUS or tally.others for tally in tallies.values())
    if whole.width > 2 and few:
        found += [Feature("change")]
        symbols = _alphabet(tallies.values())
        found += [Feature(kind, 0, (key,)) for key in symbols for kind in ("first", "count")]
    for place, tally in tallies.items():
        found += _of_place(whole, place, bits, numeric, tally)
    return found


def _differences(places: Sequence[int]) -> list[Feature]:
    """Differences of two numbers: all where they are few, else those of neighbours."""
    if len(places) <= MOST_PAIRED:
        pairs = list(combinations(places, 2))
    else:
        pairs = list(pairwise(places))[: 2 * MOST_PAIRED]
    return [Feature("difference", place, less=less) for less, place in pairs]


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


def _places(views: Sequence[View], width: int) -> list[int]:
    """Return the places that are looked at: all, or those at which datasets differ the most."""
    most = MOST_FEATURES // 2
    if width <= most:
        return list(range(width))
    apart = np.zeros(width)
    for place in range(width):
        numbers = [np.nan_to_num(view.number(place), posinf=0.0, neginf=0.0) for view in views]
        means = np.array([each.mean() for each in numbers])
        spread = np.sqrt(np.mean([each.var() for each in numbers]))
        apart[place] = np.ptp(means) / (spread + 1e-12 * (1 + np.abs(means).max()))
    return sorted(np.argsort(-apart, kind="stable")[:most].tolist())


def _of_place(
    view: View, place: int | None, bits: bool, numbers: int, tally: Tally | None = None
) -> list[Feature]:
    """Features of one place of a sequence, or of outputs without parts (None)."""
    tally = view.tally(place) if tally is None else tally
    at = SINGLE if place is None else place
    found = []
    if tally.numbers > 2 or (tally.numbers > 1 and tally.others):
        found.append(Feature("number", at))
    table = _table(tally, MOST_VALUES if place is None else MOST_HERE)
    if table and (tally.numbers + tally.others > 1 or place is None):
        found.append(Feature("value", at, table))
    if tally.others > CONTINUOUS:
        found += [Feature("spelled", at), Feature("letters", at)]
    if tally.numbers > CONTINUOUS:
        if numbers <= MOST_CENTRES:
            found.append(Feature("distance", at, (), tally.middle))
        if bits and tally.fractions:
            found.append(Feature("bit", at))
    return found


def _table(tally: Tally, most: int) -> tuple[Key, ...]:
    """Return the values that have a code of their own, the most frequent ones.

    Those that were seen once only where they are no numbers and few. Empty where there are none.
    """
    few = tally.others <= CONTINUOUS
    often = [key for key, count in tally.common if count > 1 or few][:most]
    if often and tally.numbers > sum(map(is_number, often)):
        often.append(NUMBER)
    return tuple(often)
