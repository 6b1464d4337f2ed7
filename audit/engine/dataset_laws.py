"""Exact laws of many datasets, in their order: each state's law once, or all on a cluster.

`distribution` sees of a dataset what `prepare` made of it. Where two datasets leave a mechanism in
equal states, vote counts or a walk, it is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice, tee
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.engine.exact import check_alike
from dpassay.errors import TargetError
from dpassay.laws import Law
from dpassay.targets.guard import AuditTarget
from dpassay.trials.cluster import Cluster, run_laws
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import ANSWERS, law_from

Datasets = Iterable[tuple[Labelled, str]]
"""Datasets, each with its name in messages."""
LawsOf = Callable[[AuditTarget, Datasets, NDArray[np.float64]], Iterator[Law | None]]
"""Yields the law of each dataset at some queries, None where it has none."""
TOGETHER = 64
"""Datasets of a portion of work."""
MOST_STATES = 2**14
"""Laws that are kept."""


@dataclass(slots=True, eq=False, kw_only=True)
class StateLaws:
    """Laws of a mechanism at some queries, all of one kind.

    `among` says what datasets they are of; `elsewhere` computes those of many. `first` is the law
    that the others are like, `error` the largest of theirs.
    """

    target: AuditTarget
    queries: NDArray[np.float64]
    among: str
    elsewhere: LawsOf | None = None
    first: Law | None = None
    error: float = 0.0
    _known: dict[Hashable, Law | None] = field(init=False, default_factory=dict)

    def of(self, data: Labelled, where: str) -> Law:
        """Return the law of a dataset at every query."""
        return self._checked(self._law(data, where), where)

    def each(self, datasets: Datasets) -> Iterator[Law]:
        """Yield the laws of datasets in their order."""
        datasets, names = tee(datasets)
        laws: Iterator[Law | None] = (self._law(data, where) for data, where in datasets)
        if self.elsewhere is not None:
            laws = self.elsewhere(self.target, datasets, self.queries)
        for (_, where), law in zip(names, laws, strict=True):
            yield self._checked(law, where)

    def _law(self, data: Labelled, where: str) -> Law | None:
        """Return the law of a dataset; None where it has none."""
        state = self.target.prepare(data)
        key = None if state is data else state_key(state)
        if key is not None and key in self._known:
            return self._known[key]
        law = self.target.law(state, self.queries, where)
        if key is not None and len(self._known) < MOST_STATES:
            self._known[key] = law
        return law

    def _checked(self, law: Law | None, where: str) -> Law:
        if law is None:
            raise TargetError(f"it has no exact law for {self.among}; use mode monte-carlo")
        self.first = self.first or law
        check_alike(self.first, law, where)
        self.error = max(self.error, law.error)
        return law


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


def laws_on(cluster: Cluster, limits: Limits) -> LawsOf:
    """Return what has a cluster compute them; each process may take as much as `limits` say."""

    def laws(
        target: AuditTarget, datasets: Datasets, queries: NDArray[np.float64]
    ) -> Iterator[Law | None]:
        left = iter(datasets)
        portions, names = tee(iter(lambda: list(islice(left, TOGETHER)), []))
        case = cluster.case_of(target, limits)
        asked = ((portion, queries) for portion in portions)
        found = cluster.mapped(run_laws, case, asked)
        for portion, told in zip(names, found, strict=True):
            for (_, where), law in zip(portion, _laws(told, len(portion)), strict=True):
                target.answers.check_law(law, len(queries), where)
                yield law

    return laws


def _laws(told: Any, size: int) -> list[Law | None]:
    """Return so many laws that a worker has sent."""
    wrong = "distribution returned something that cannot be read"
    try:
        found = [None if each is None else law_from(each) for each in read(ANSWERS["laws"], told)]
    except Garbled as error:
        raise TargetError(f"{wrong} ({error})") from None
    if len(found) != size:
        raise TargetError(f"{wrong} (not one law for each dataset)")
    return found
