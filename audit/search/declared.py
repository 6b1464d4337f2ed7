"""Declared outputs: what a user says that one run returns, and whether it does.

A declaration is a kind, which says how outputs are read whatever a pilot shows of them, or the list
of all values that occur.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import UNDECLARED, Failed, InvalidInput, TargetError, near
from dpassay.mechanism.opening import SIMPLE
from dpassay.mechanism.plain import plain
from dpassay.search.reading import view_of
from dpassay.search.values import (
    Key,
    is_failure,
    is_number,
    key_from_json,
    key_of,
    key_to_json,
    key_words,
)

KINDS = {
    "label": "any value",
    "number": "a number",
    "vector": "a sequence of numbers",
    "sequence": "a tuple, list or array",
    "text": "a text",
}
"""What a run may be declared to return, and what it must then be."""
VALUES = "values"
"""The kind of a list of values."""
ALLOWED = f"{', '.join(KINDS)}, or a list of two or more values"
MOST_VALUES = 256
"""So many values can be declared."""
LISTS = (list, tuple, range, set, frozenset, np.ndarray)
SHOWN = 80
"""Characters of a value that a message shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What one run returns, as it was declared.

    `kind` is 'label' (compared whole, never as a number), 'number', 'vector' (numbers, place by
    place), 'sequence' (parts of any kind and their number), 'text', or 'values' (one of 2 to
    `MOST_VALUES` values, which are empty elsewhere).
    """

    kind: str
    values: tuple[Key, ...] = ()

    @property
    def parts(self) -> bool:
        """Return whether the parts of an output are looked at place by place."""
        return self.kind in {"vector", "sequence"}

    @property
    def whole(self) -> bool:
        """Return whether outputs are only ever compared as a whole."""
        return self.kind in {"label", VALUES}

    @property
    def said(self) -> str:
        """Return what was declared, as in Python."""
        return f"[{', '.join(map(key_words, self.values))}]" if self.values else f"'{self.kind}'"

    @property
    def words(self) -> str:
        """Return what a run must return."""
        if not self.values:
            return KINDS[self.kind]
        return f"one of {_short(', '.join(map(key_words, self.values)))}"

    def check(self, draws: NDArray[Any], where: str, *, by_query: bool) -> None:
        """Raise `TargetError` at the first run that returned something else.

        `draws` (n,) or (n, d) are as in `dpassay.targets.answer_set.as_draws`; with `by_query` each
        column holds the outputs at one query. `where` is the dataset, in words.
        """
        columns = list(draws.T) if by_query else [draws]
        for query, column in enumerate(columns):
            run = self._stranger(column)
            if run is not None:
                at = f" at query {query}" if by_query else ""
                shown = _short(key_words(key_of(column[run])))
                raise TargetError(
                    f"{UNDECLARED}{self.said[: 2 * SHOWN]}: sample on {where} returned {shown} "
                    f"in run {run}{at}; must be {self.words}"
                )

    def _stranger(self, draws: NDArray[Any]) -> int | None:
        """Return the first run whose output was not declared; None where all were."""
        if self.kind == "label":
            return None
        if self.values:
            found = view_of(draws, parts=False).column(0).codes(self.values)
            strange = (found >= len(self.values)) & ~_failures(draws)
            return int(strange.argmax()) if strange.any() else None
        if draws.dtype.kind in "biuf":
            single = draws.ndim == 1 or draws.shape[1] == 1
            known = single if self.kind == "number" else draws.ndim > 1 and self.parts
            return None if known or not len(draws) else 0
        return _first_unfit(draws.tolist(), FITS[self.kind])

    def as_json(self) -> Any:
        """Return what `output_from_json` reads: the kind, or the list of values."""
        return list(map(key_to_json, self.values)) if self.values else self.kind


def output_of(given: Any, argument: str = "output") -> Output | None:
    """Read a declaration, one of `KINDS` or a collection of the values; None declares nothing.

    Raise InvalidInput if it is anything else, or the values are fewer than two or more than
    `MOST_VALUES`.
    """
    if given is None or isinstance(given, Output):
        return given
    if isinstance(given, str) and given in KINDS:
        return Output(kind=given)
    if not isinstance(given, LISTS):
        close = near(given, KINDS) if isinstance(given, str) else ""
        hint = f"; did you mean '{close}'?" if close else ""
        raise InvalidInput(f"{argument} = {_short(repr(given))}: must be {ALLOWED}{hint}")
    keys = list(dict.fromkeys(map(key_of, map(plain, given))))
    if isinstance(given, (set, frozenset)):
        keys.sort(key=repr)
    if len(keys) < 2:
        raise InvalidInput(f"{argument} = {_short(repr(given))}: must be {ALLOWED}; all are alike")
    if len(keys) > MOST_VALUES:
        raise InvalidInput(
            f"{argument}: has {len(keys)} values; must be at most {MOST_VALUES}; did you mean "
            f"'{'number' if all(map(is_number, keys)) else 'label'}'?"
        )
    return Output(kind=VALUES, values=tuple(keys))


def output_from_json(facts: Any) -> Output | None:
    """Read back what `Output.as_json` wrote, None where nothing was declared.

    Raise InvalidInput for anything else.
    """
    if isinstance(facts, list) and 2 <= len(facts) <= MOST_VALUES:
        keys = tuple(map(key_from_json, facts))
        if len(set(keys)) == len(keys):
            return Output(kind=VALUES, values=keys)
    elif facts is None or (isinstance(facts, str) and facts in KINDS):
        return output_of(facts)
    raise InvalidInput(f"output = {_short(repr(facts))}: must be {ALLOWED}")


FITS: dict[str, Callable[[Key], bool]] = {
    "number": is_number,
    "vector": lambda key: isinstance(key, tuple) and all(map(is_number, key)),
    "sequence": lambda key: isinstance(key, tuple) or getattr(key, "kind", "") == "sequence",
    "text": lambda key: isinstance(key_to_json(key), str) or getattr(key, "kind", "") == "text",
}
"""What an output of a kind is known by."""


def _first_unfit(values: Sequence[Any], fits: Callable[[Key], bool]) -> int | None:
    """Return the place of the first value that does not fit, each different one looked at once."""
    simple = set(map(type, values)) <= SIMPLE
    known: dict[Any, bool] = {}
    for place, value in enumerate(values if simple else map(key_of, values)):
        if value not in known:
            key = key_of(value)
            known[value] = fits(key) or is_failure(key)
        if not known[value]:
            return place
    return None


def fails(draws: NDArray[Any]) -> bool:
    """Return whether a run raised an exception."""
    return draws.dtype.kind == "O" and bool(_failures(draws).any())


def _failures(draws: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a run raised an exception, which is an answer whatever was declared."""
    if draws.dtype.kind != "O":
        return np.zeros(len(draws), dtype=bool)
    found = np.fromiter((type(each) is Failed for each in draws.ravel()), bool, draws.size)
    return found.reshape(draws.shape)


def _short(words: str) -> str:
    """Cut words where they are long."""
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}..."
