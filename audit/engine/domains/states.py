"""Laws of many datasets, each state's law computed once.

`distribution` sees of a dataset what `prepare` made of it. Where two datasets leave a mechanism in
equal states, vote counts or a walk, it is not asked again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.laws import Law
from dpassay.targets.guard import AuditTarget

Datasets = Iterable[tuple[Labelled, str]]
"""Datasets, each with its name in messages."""
MOST_STATES = 2**14
"""Laws that are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class StateLaws:
    """Laws of a mechanism at some queries."""

    target: AuditTarget
    queries: NDArray[np.float64]
    _known: dict[Hashable, Law | None] = field(init=False, default_factory=dict)

    def of(self, data: Labelled, where: str) -> Law | None:
        """Return the law of a dataset at every query; None where it has none."""
        state = self.target.prepare(data)
        key = None if state is data else state_key(state)
        if key is not None and key in self._known:
            return self._known[key]
        law = self.target.law(state, self.queries, where)
        if key is not None and len(self._known) < MOST_STATES:
            self._known[key] = law
        return law

    def each(self, datasets: Datasets) -> Iterator[Law | None]:
        """Yield the laws of datasets in their order."""
        return (self.of(data, where) for data, where in datasets)


def state_key(state: Any) -> Hashable | None:
    """Return a key that only equal states have.

    None where a state is not plain values, arrays, tuples and frozen dataclasses of these: it may
    then hold more than can be seen.
    """
    kind = type(state)
    if kind in (type(None), bool, int, str, bytes):
        return (kind.__name__, state)
    if kind is float:
        return (kind.__name__, state.hex())
    if kind is np.ndarray or isinstance(state, np.generic):
        plain = state.dtype.kind in "biuf"
        return (kind.__name__, state.dtype.str, state.shape, state.tobytes()) if plain else None
    if kind is tuple:
        parts = tuple(map(state_key, state))
    elif is_dataclass(kind):
        names = [each.name for each in fields(state)]
        frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        if not frozen or set(getattr(state, "__dict__", ())) - set(names):
            return None
        parts = (id(kind), *(state_key(getattr(state, name)) for name in names))
    else:
        return None
    return None if None in parts else parts
