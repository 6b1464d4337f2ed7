"""What is attacked: a learner that shows everything, or a mechanism that answers labels.

A view is one way of looking at a model: its scores, one label, the share of each label among m
answers, or among answers at noisy copies of a record (label-only attacks by augmentation,
Choquette-Choo et al. 2021).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.observed import Array
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.targets.guard import AuditTarget
from dpassay.trials.ledger import code_of, installed


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """One way of looking at a model."""

    name: str  # in records and tables
    m: int | None  # answers per record; None for scores
    copies: int = 0  # noisy copies of a record to ask at, instead of the record itself


SCORES = ModelView(name="scores", m=None)
"""The probability of each label."""


def asked(m: int, what: str = "label") -> ModelView:
    """Return the view of m answers at the record itself: labels, or what may be anything."""
    return ModelView(name=f"one {what}" if m == 1 else f"{m} {what}s", m=m)


def around(copies: int) -> ModelView:
    """Return the view of one answer at each of some noisy copies of the record."""
    return ModelView(name=f"labels of {copies} copies", m=copies, copies=copies)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AskedPoints:
    """Where models are asked."""

    X: Array  # (q, d), the records and others behind them
    copies: Array  # (a, q, d), noisy
    K: int  # labels that the data have


def shares(seen: Any, subject: Subject, points: AskedPoints, name: str) -> Array:
    """Return shares (views, q, K) that another process saw of a subject, or raise TargetError."""
    known = isinstance(seen, np.ndarray) and seen.dtype == np.float64 and seen.ndim == 3
    least = 2 if subject.numeric else points.K
    q = len(points.X)
    if not (known and seen.shape[:2] == (len(subject.views), q) and seen.shape[2] >= least):
        raise TargetError(f"{name}: its process sent no shares of labels")
    if not ((seen >= 0) & (seen <= 1)).all():
        raise TargetError(f"{name}: its process sent shares that are not in [0, 1]")
    found: Array = seen
    return found


class Subject(ABC):
    """What is attacked."""

    __slots__ = ()

    @property
    @abstractmethod
    def views(self) -> tuple[ModelView, ...]:
        """Ways of looking at it."""

    @property
    @abstractmethod
    def key(self) -> Any:
        """JSON value that tells its answers from those of other subjects."""

    @property
    @abstractmethod
    def code(self) -> list[str]:
        """Return what tells its answers from other code's, whose kept answers are not used."""

    @property
    def numeric(self) -> bool:
        """Return whether shares are of 'close' and 'far', not of labels."""
        return False

    def without_copies(self) -> Subject:
        """Return the same subject, not asked about noisy copies."""
        return self

    @abstractmethod
    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        """Train on a dataset and return the shares of labels at the points (views, q, K).

        K may exceed that of the points, by answers that no record has as its label.
        """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learner(Subject):
    """An unprotected scikit-learn classifier; it shows `predict_proba` and its label."""

    make: Callable[[], Any]  # returns an unfitted classifier
    name: str
    copies: int = 0  # noisy copies that are asked about besides, see `around`

    @property
    def views(self) -> tuple[ModelView, ...]:
        """Scores, one label, and labels of copies."""
        return (SCORES, asked(1), *([around(self.copies)] if self.copies else []))

    @property
    def key(self) -> Any:
        """Name and views."""
        return ["learner", self.name, [view.name for view in self.views]]

    @property
    def code(self) -> list[str]:
        """Versions, and the learner with its parameters."""
        return [repr(self.make()), *installed()]

    def without_copies(self) -> Learner:
        """Return the same without the view of copies."""
        return replace(self, copies=0)

    def see(
        self,
        data: Labelled,
        points: AskedPoints,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Array:
        """Fit once; a dataset with one class becomes a constant predictor."""
        import sklearn

        with sklearn.config_context(skip_parameter_validation=True, assume_finite=True):
            classes = np.unique(data.y)
            model = None if len(classes) == 1 else self.make().fit(data.X, data.y)

            def probabilities(X: Array) -> Array:
                shares = np.zeros((len(X), points.K))
                shares[:, classes] = 1.0 if model is None else model.predict_proba(X)
                return shares

            shares = probabilities(points.X)
            seen = [shares, _labels(shares)]
            if self.copies:
                seen.append(np.mean([_labels(probabilities(X)) for X in points.copies], axis=0))
        return np.stack(seen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Protected(Subject):
    """A mechanism behind an interface that answers labels, every answer with coins of its own.

    Labels are 0, 1, ...; no record need have some of them (a refusal). Budgets are numbers of
    answers per record, ascending; a smaller one sees the first answers of the largest.
    """

    target: AuditTarget
    budgets: tuple[int, ...]
    copies: int = 0  # noisy copies that are asked about besides, see `around`

    @property
    def views(self) -> tuple[ModelView, ...]:
        """One per budget, and one of the copies."""
        return (*(asked(m) for m in self.budgets), *([around(self.copies)] if self.copies else []))

    @property
    def key(self) -> Any:
        """Mechanism, parameters and views."""
        names = [view.name for view in self.views]
        return ["mechanism", self.target.address, self.target.parameters, names]

    @property
    def code(self) -> list[str]:
        """Versions and digests, as far as they can be known."""
        return code_of(self.target)

    def without_copies(self) -> Protected:
        """Return the same without the view of copies."""
        return replace(self, copies=0)

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        """Prepare once, and ask; a mechanism that fails raises `TargetError`."""
        state = self.target.prepare(data)
        K = max(points.K, *(label + 1 for label in self.target.labels))

        def ask(X: Array, size: int) -> NDArray[np.int64]:
            """Return answers as zeros and ones, shape (size, q, K)."""
            answers = self.target.sample(state, X, size, rng, "a target's training set")
            found: NDArray[np.int64] = (answers[:, :, None] == np.arange(K)).astype(np.int64)
            return found

        counts = np.cumsum(ask(points.X, max(self.budgets)), axis=0)
        seen = [counts[m - 1] / m for m in self.budgets]
        if self.copies:
            seen.append(np.mean([ask(X, 1)[0] for X in points.copies], axis=0))
        return np.stack(seen)


def _labels(shares: Array) -> Array:
    """Zeros and ones: the label that a classifier gives, the first of the most probable."""
    given: Array = np.eye(shares.shape[1])[shares.argmax(axis=1)]
    return given
