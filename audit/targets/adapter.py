"""The door: whatever the user gave becomes a full `Mechanism`, with defaults for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.laws import Law
from dpassay.mechanism import Mechanism, Trainer, offers
from dpassay.pairs import Change
from dpassay.rows.columns import Coded, Column
from dpassay.rows.rows import Form, Rows
from dpassay.search.declared import Output

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer

DAY = 86_400e6
"""Microseconds."""
OURS = "dpassay.mechanisms."
TRAINING = tuple(name for name in vars(Trainer) if not name.startswith("_"))
"""What a trainer has besides the members of a mechanism."""
MEMBERS = frozenset((*TRAINING, *(name for name in vars(Mechanism) if not name.startswith("_"))))
"""Every member of either."""
KNOWN = (
    *("labels", "numbers", "pairs", "reachable", "one_query", "looked_at", "answer_words"),
    *("fixed_n", "derived_parameters", "exchangeable", "alone"),
)
"""What a mechanism knows of its answers and pairs."""


class Adapted(Mechanism):
    """An object with some members of `Mechanism` or `Trainer`, the others by default."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __getattribute__(self, name: str) -> Any:
        """Look at the object first, at that moment; at the default where it has None or nothing."""
        own = None
        if name in MEMBERS:
            own = getattr(object.__getattribute__(self, "given"), name, None)
        return object.__getattribute__(self, name) if own is None else own

    def __getattr__(self, name: str) -> Any:
        if name == "given":  # not yet made: somebody copies it
            raise AttributeError(name)
        return getattr(self.given, name)


class Freed(Mechanism):
    """A mechanism whose answers are taken as they come, whatever it says they are.

    Its own pairs, and what it knows of its laws, are left aside: pairs and events are searched
    for. If `free` is False they are kept, and only its data are of any form. For `bits` see
    `FunctionMechanism`.
    """

    def __init__(
        self, given: Any, output: Output | None = None, *, bits: bool = False, free: bool = True
    ) -> None:
        self.given, self.output, self.bits = given, output, bits
        self.free = free  # type: ignore[misc]  # a class attribute at run time
        self._full = full(given)
        self._encodings: dict[str, Encoding] = {}
        if not free:
            self.distribution = self._law  # type: ignore[method-assign]  # who looks sees a law
            for name in KNOWN:
                setattr(self, name, getattr(self._full, name))

    @property
    def known(self) -> Freed | None:
        """The same with its laws; None where it has none, or other things are to be looked at."""
        aside = self.bits or self.output is not None or not offers(self._full, "distribution")
        return None if aside else Freed(self.given, free=False)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """As the mechanism says."""
        return self._full.claims

    @property
    def without_query(self) -> bool:
        """As the mechanism says."""
        return self._full.without_query

    @property
    def seeded(self) -> bool:
        """As the mechanism says."""
        return self._full.seeded

    def coded(self, rows: Rows) -> str:
        """Say how records of any kind become features and classes; empty where they do not."""
        return f"coded: {self._encoding(rows.form).words}" if self._is_ours else ""

    def check(self, data: Any) -> None:
        """As the mechanism does."""
        self._full.check(self._taken(data))

    def prepare(self, data: Any) -> Any:
        """As the mechanism does; records of any kind in the form in which they were given.

        One of ours takes features and classes: see `Encoding`.
        """
        state = self._full.prepare(self._taken(data))
        return _OfRows(data.form, state) if self._reads(data) else state

    def update(self, state: Any, change: Change) -> Any:
        """As the mechanism does; of records of any kind every dataset is prepared."""
        return None if isinstance(state, _OfRows) else self._full.update(state, change)

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Any:
        """As the mechanism does."""
        return self._full.sample(*self._asked(state, queries), size, rng)

    def _asked(self, state: Any, queries: NDArray[np.float64]) -> tuple[Any, Any]:
        """Return state and queries as the mechanism takes them."""
        if not isinstance(state, _OfRows):
            return state, queries
        if self._is_ours:
            return state.state, self._encoding(state.form).points(queries)
        if self.without_query:
            return state.state, queries
        return state.state, state.form.of_queries.handed(queries)

    def _law(self, state: Any, queries: NDArray[np.float64]) -> Law | None:
        return self._full.distribution(*self._asked(state, queries))

    def _reads(self, data: Any) -> bool:
        """Return whether records of any kind are handed over otherwise than as they are coded."""
        return isinstance(data, Rows) and not getattr(self.given, "foreign", False)

    @property
    def _is_ours(self) -> bool:
        """Return whether it is a mechanism of the catalogue, which takes features and classes."""
        return type(self.given).__module__.startswith(OURS)

    def _taken(self, data: Any) -> Any:
        """Return a dataset as the mechanism takes it."""
        if not self._reads(data):
            return data
        return self._encoding(data.form).labelled(data) if self._is_ours else data.handed

    def _encoding(self, form: Form) -> Encoding:
        if form.digest not in self._encodings:
            self._encodings[form.digest] = Encoding(form)
        return self._encodings[form.digest]


@dataclass(frozen=True, slots=True)
class _OfRows:
    """What was prepared of records of any kind, and their form."""

    form: Form
    state: Any


def full(given: Any) -> Mechanism:
    """Return a `Mechanism` itself, or another object with the defaults for what it lacks."""
    return given if isinstance(given, Mechanism) else Adapted(given)


def given(mechanism: Any) -> Any:
    """Return the object as the user gave it."""
    return given(mechanism.given) if isinstance(mechanism, (Adapted, Freed)) else mechanism


def is_mechanism(thing: Any) -> bool:
    """Return whether it is an object to audit, not a plain function.

    It has `sample`, or is a trainer.
    """
    return isinstance(thing, Mechanism) or hasattr(thing, "sample") or is_trainer(thing)


def is_trainer(thing: Any) -> bool:
    """Return whether it has what a `Trainer` needs."""
    return all(hasattr(thing, name) for name in ("thetas", "sizes", "noise", "apply", "score"))


@dataclass(frozen=True, eq=False)
class Encoding:
    """How records of any kind become features X and classes y, for mechanisms that take numbers.

    A scikit-learn `ColumnTransformer` is made from the form alone: columns, limits and values, the
    same for all datasets of a search. So a record has one code whatever the others are, and
    neighbours stay neighbours. Numbers stay as they are, dates become days since 1970, every value
    of another column becomes a column of its own that is 0 or 1, and so does a missing one. The
    form has a label, whose values are the classes 0, 1, ... in their order; no number may be
    missing.
    """

    form: Form

    def __post_init__(self) -> None:
        if self.form.label is None:
            raise InvalidInput("label is missing: the mechanism takes labelled records")
        label = self._label
        counted = label.kind == "integer" and label.low == 0
        if label.gaps or not (counted or label.kind == "value"):
            raise InvalidInput(
                f"label = '{label.name}': must be values or classes 0, 1, ..., none of them missing"
            )
        for column in self._features:
            if column.gaps and column.kind != "value":
                raise InvalidInput(
                    f"column '{column.name}': a number may be missing; the mechanism takes none "
                    f"that is: fill it with a constant, data.fillna({{'{column.name}': 0}})"
                )

    @property
    def _label(self) -> Column:
        return self.form.columns[self.form.names.index(str(self.form.label))]

    @property
    def _features(self) -> tuple[Column, ...]:
        return tuple(self.form.columns[j] for j in self.form.features)

    @cached_property
    def transformer(self) -> ColumnTransformer:
        """The coder of the features, fitted to what cells may be."""
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

        columns = list(enumerate(self._features))
        dates = [j for j, column in columns if column.kind == "date"]
        valued = [j for j, column in columns if column.kind == "value"]
        codes = [
            [*column.gaps, *map(float, range(len(column.values)))]
            for _, column in columns
            if column.kind == "value"
        ]
        numbers = [j for j, _ in columns if j not in dates and j not in valued]
        found = ColumnTransformer(
            [
                ("numbers", "passthrough", numbers),
                ("days", FunctionTransformer(_days), dates),
                ("values", OneHotEncoder(categories=codes, sparse_output=False), valued),
            ]
        )
        lowest = [column.low if column.kind != "value" else 0.0 for _, column in columns]
        return found.fit(np.array([lowest]))

    def points(self, values: Coded) -> NDArray[np.float64]:
        """Return features of coded queries, which have no label."""
        return np.asarray(self.transformer.transform(values), dtype=float)

    def labelled(self, rows: Rows) -> Labelled:
        """Return records as features and classes."""
        label = rows.values[:, self.form.names.index(str(self.form.label))]
        return Labelled(self.points(rows.values[:, list(self.form.features)]), label.astype(int))

    @property
    def words(self) -> str:
        """Say it: each column, and what became of it."""
        told = {"value": "a column for each value", "date": "days since 1970"}
        features = [f"{c.name}: {told.get(c.kind, 'as it is')}" for c in self._features]
        classes = list(self._label.values) or "as it is"
        return f"{'; '.join(features)}; classes of {self._label.name}: {classes}"


def _days(micros: Any) -> Any:
    return micros / DAY
