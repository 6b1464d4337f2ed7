"""What a user has, as subjects of an experiment: estimators, and mechanisms of any answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.subjects import Points, View, shares
from dpassay.attacks.given.predictions import Task
from dpassay.attacks.observed import Array
from dpassay.data import Labelled
from dpassay.errors import TargetError, told
from dpassay.rows.rows import Features, Rows
from dpassay.targets.estimators import Trained
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.ledger import code_of, installed


def answered(m: int) -> View:
    """Return the view of m answers that may be anything, at the record itself."""
    return View(name="one answer" if m == 1 else f"{m} answers", m=m)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimator:
    """An estimator without a claim, trained anew for every model; see `Task` for what is seen.

    The estimator is not changed; its `random_state` is drawn anew for each model. `features`
    (n, d) are in the user's form, if the experiment knows records by their place alone; by
    default it has the features themselves.
    """

    estimator: Any
    task: Task
    truth: NDArray[np.int64]  # (q,): codes of the true values at the points
    name: str  # tells it from other estimators
    features: Any = None

    @property
    def numeric(self) -> bool:
        """Return whether shares are of 'close' and 'far', not of labels."""
        return self.task.kind == "numbers"

    @property
    def views(self) -> tuple[View, ...]:
        """Probabilities and one label, or one of both, or a number."""
        return self.task.views(self.estimator)

    @property
    def key(self) -> Any:
        """Name, views, what the codes stand for, and the features known by their place."""
        given = "" if self.features is None else content(self.features)
        names = [view.name for view in self.views]
        return ["estimator", self.name, names, content(self.task.classes), given]

    @property
    def code(self) -> list[str]:
        """Versions, and the estimator with its parameters."""
        return [repr(self.estimator), *installed()]

    def without_copies(self) -> Estimator:
        """Return itself: it is asked about no copies."""
        return self

    def see(self, data: Labelled, points: Points, rng: np.random.Generator) -> Array:
        """Train a copy, and look at it; an estimator that fails raises `TargetError`."""
        try:
            made = Trained(self.estimator).copied(rng)
            made.fit(self._of(data.X), self.task.classes[data.y])
        except Exception as error:  # what is not ours may do anything
            what = f"{self.name}: {type(error).__name__} was raised"
            raise TargetError(what, told(error)) from error
        return np.stack(self.task.shown(made, self._of(points.X), self.truth, self.name))

    def _of(self, X: Array) -> Any:
        if self.features is None:
            return X
        places = X[:, 0].astype(int)
        frame = hasattr(self.features, "iloc")
        return self.features.iloc[places] if frame else self.features[places]


def content(values: Any) -> str:
    """Return a digest of a DataFrame or array."""
    plain = values.to_csv() if hasattr(values, "to_csv") else repr(np.asarray(values).tolist())
    return hashlib.sha256(plain.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Answering:
    """A mechanism whose answers are numbers or anything, every one with coins of its own.

    Seen is how close m answers come to the record's own label: 1 / (1 + ((a - y) / s)^2) of a
    number a, with s the standard deviation of all y, and of anything else 1 if it is the label,
    0 otherwise. A function of the answers loses no more than they do, so that claims about
    these are held against what is seen.
    """

    target: AuditTarget
    budgets: tuple[int, ...]  # see `dpassay.attacks.experiment.subjects.Protected`
    truth: NDArray[np.int64]  # (q,): codes of the points' own labels
    values: NDArray[Any]  # (K,): what the codes stand for
    numbers: bool  # trained on real numbers, not on codes
    # records in the user's form, if the experiment knows their places alone
    rows: Rows | None = None
    _alone: list[Answering] = field(default_factory=list, init=False, repr=False)
    numeric: ClassVar[bool] = True
    copies: ClassVar[int] = 0

    @property
    def views(self) -> tuple[View, ...]:
        """One per budget."""
        return tuple(answered(m) for m in self.budgets)

    @property
    def key(self) -> Any:
        """Mechanism, parameters, views, and what the codes stand for."""
        names, given = [view.name for view in self.views], ""
        if self.rows is not None:
            given = content(self.rows.values)
        called = [self.target.address or self.target.name, self.target.parameters]
        return ["answering", *called, names, self.numbers, content(self.values), given]

    @property
    def code(self) -> list[str]:
        """Versions and digests, as far as they can be known."""
        return code_of(self.target)

    def without_copies(self) -> Answering:
        """Return itself: it is asked about no copies."""
        return self

    def see(self, data: Labelled, points: Points, rng: np.random.Generator) -> Array:
        """Prepare once, and ask, where the mechanism is: nothing says that its answers can be sent.

        A mechanism that fails, or does not answer each query, raises `TargetError`.
        """
        if not isinstance(self.target, Isolated):
            return self.seen(self.target, data, points, rng)
        if not self._alone:
            self._alone.append(replace(self, target=None))  # type: ignore[arg-type]
        seen = self.target.see(self._alone[0], data, points, rng)
        return shares(seen, self, points, self.target.name)

    def seen(
        self, target: AuditTarget, data: Labelled, points: Points, rng: np.random.Generator
    ) -> Array:
        """See `see`, of a target of this process."""
        given, queries = self._given(data, points)
        state, where = target.prepare(given), "a target's training set"
        answers = target.sample(state, queries, max(self.budgets), rng, where)
        shape = (max(self.budgets), len(points.X))
        if answers.shape != shape:
            raise TargetError(f"sample on {where} returned {answers.shape}; expected {shape}")
        sums = np.cumsum(self._close(answers), axis=0)
        close = np.stack([sums[m - 1] / m for m in self.budgets])
        return np.stack([1 - close, close], axis=2)

    def _given(self, data: Labelled, points: Points) -> tuple[Any, Array]:
        """Return a training set and queries as the mechanism takes them."""
        if self.rows is None:
            given = Features(data.X, self.values[data.y]) if self.numbers else data
            return given, points.X
        form, values = self.rows.form, self.rows.values
        places, asked = data.X[:, 0].astype(int), points.X[:, 0].astype(int)
        return Rows(values[places], form), values[asked][:, list(form.features)]

    def _close(self, answers: NDArray[Any]) -> Array:
        """Return how close each answer comes (m, q); what cannot be compared is not close."""
        known = self.numbers or (self.rows is not None and self.values.dtype.kind in "iufb")
        own = self.values[self.truth].astype(float) if known else self.truth
        kinds = (int, float, np.integer, np.floating)
        numbers = np.array(
            [
                float(each) if isinstance(each, kinds) else np.nan
                for each in answers.ravel().tolist()
            ]
        ).reshape(answers.shape)
        spread = own.std() or 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            near = 1 / (1 + ((numbers - own) / spread) ** 2)
        if not self.numbers:
            names = self.values[self.truth]
            same = answers.astype(object) == names.astype(object)
            near = np.where(np.isnan(numbers), same.astype(float), near)
        found: Array = np.nan_to_num(near)
        return found
