"""Targets of an experiment that a user has written: estimators, and mechanisms of any answers."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.one_run import bisected
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import (
    AskedPoints,
    ModelView,
    Protected,
    Subject,
    asked,
    shares,
)
from dpassay.attacks.observed import Array
from dpassay.attacks.user_models.predictions import PredictionTask, closeness, task_of
from dpassay.claims import DP, GDP, Claim, Stability
from dpassay.data import Labelled, Table
from dpassay.errors import InvalidInput, TargetError, told
from dpassay.privacy_curves import USUAL
from dpassay.rows.rows import Features, Rows
from dpassay.targets.estimators import TrainedEstimator
from dpassay.targets.guard import AuditTarget
from dpassay.targets.importing import load_object
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.ledger import code_of, installed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimator(Subject):
    """An estimator without a claim, trained anew for every model; see `PredictionTask` for more.

    The estimator is not changed; its `random_state` is drawn anew for each model. `features`
    (n, d) are in the user's form, if the experiment knows records by their place alone; by
    default it has the features themselves.
    """

    estimator: Any
    task: PredictionTask
    truth: NDArray[np.int64]  # (q,): codes of the true values at the points
    name: str  # tells it from other estimators
    features: Any = None

    @property
    def numeric(self) -> bool:
        """Return whether shares are of 'close' and 'far', not of labels."""
        return self.task.kind == "numbers"

    @property
    def views(self) -> tuple[ModelView, ...]:
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

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        """Train a copy, and look at it; an estimator that fails raises `TargetError`."""
        X, y = self._of(data.X), self.task.classes[data.y]
        made = fitted(self.estimator, X, y, rng, self.name)
        return np.stack(self.task.shown(made, self._of(points.X), self.truth, self.name))

    def _of(self, X: Array) -> Any:
        if self.features is None:
            return X
        places = X[:, 0].astype(int)
        frame = hasattr(self.features, "iloc")
        return self.features.iloc[places] if frame else self.features[places]


def fitted(estimator: Any, X: Any, y: Any, rng: np.random.Generator, name: str) -> Any:
    """Return a trained copy of an estimator, or raise `TargetError`."""
    try:
        made = TrainedEstimator(estimator).copied(rng)
        made.fit(X, y)
    except Exception as error:  # what is not ours may do anything
        raise TargetError(f"{name}: {type(error).__name__} was raised", told(error)) from error
    return made


def content(values: Any) -> str:
    """Return a digest of a DataFrame or array."""
    plain = values.to_csv() if hasattr(values, "to_csv") else repr(np.asarray(values).tolist())
    return hashlib.sha256(plain.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Answering(Subject):
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

    @property
    def numeric(self) -> bool:
        """Return whether shares are of 'close' and 'far': always."""
        return True

    @property
    def views(self) -> tuple[ModelView, ...]:
        """One per budget."""
        return tuple(asked(m, "answer") for m in self.budgets)

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

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
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
        self, target: AuditTarget, data: Labelled, points: AskedPoints, rng: np.random.Generator
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

    def _given(self, data: Labelled, points: AskedPoints) -> tuple[Any, Array]:
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
        own = (self.values[self.truth] if known else self.truth).astype(float)
        kinds = (int, float, np.integer, np.floating)
        flat = [float(a) if isinstance(a, kinds) else np.nan for a in answers.ravel().tolist()]
        numbers = np.array(flat).reshape(answers.shape)
        with np.errstate(invalid="ignore", over="ignore"):
            near = closeness(numbers, own, own.std() or 1.0)
        if not self.numbers:
            names = self.values[self.truth]
            same = answers.astype(object) == names.astype(object)
            near = np.where(np.isnan(numbers), same.astype(float), near)
        found: Array = np.nan_to_num(near)
        return found


def own_claim(target: AuditTarget) -> DP | None:
    """Return the first claim that guesses can be held against and that is not known to be wrong.

    A target without one is attacked, and held against nothing. A claim about other neighbours
    than datasets with a replaced record is refused.
    """
    known = (implied(claim) for claim in target.claims if claim.expected != "refuted")
    found = next(filter(None, known), None)
    if found is None:
        return None
    relation = found.relation
    if relation != "replace-one" and not relation.removeprefix("replace-").isdigit():
        raise InvalidInput(
            f"target = '{target.name}': claims something about {relation}; an attack replaces "
            "records, and holds claims about replace-one against what it finds"
        )
    return found


def implied(claim: Claim) -> DP | None:
    """Return an (epsilon, delta) that a claim implies for guesses about one record.

    Of a curve the point that it is read at, with the curve; of mu-GDP the epsilon at delta = 0.01
    (Dong, Roth and Su 2022, Corollary 2.13); of gamma-stability (0, gamma): a guess reads how many
    answers are the record's own label, and one answer is it with probabilities that differ by gamma
    at most. None of claims about anything else.
    """
    source = f"{claim.source}, {claim}"
    if isinstance(claim, DP):
        return claim if claim.curve is None else replace(claim, source=source)
    names = ("relation", "unit", "coins", "status", "expected")
    same = {name: getattr(claim, name) for name in names} | {"source": source}
    if isinstance(claim, GDP):
        return DP(epsilon=_of_gaussian(claim.mu), delta=USUAL, **same)
    if isinstance(claim, Stability) and claim.gamma < 1:
        return DP(epsilon=0.0, delta=claim.gamma, **same)
    return None


def _of_gaussian(mu: float) -> float:
    """Return the least epsilon, rounded up, at which mu-GDP implies delta = 0.01."""

    def kept(epsilon: float) -> bool:
        tail = log_ndtr(-epsilon / mu - mu / 2) + epsilon
        return float(ndtr(-epsilon / mu + mu / 2) - math.exp(min(0.0, tail))) <= USUAL

    high = mu * mu / 2 + 3 * mu
    return 0.0 if kept(0.0) else bisected(kept, 0.0, high, relative=1e-9)[1]


def mechanism(
    target: AuditTarget,
    table: Table,
    data: ExperimentData,
    budgets: tuple[int, ...],
    *,
    copies: int = 0,
    rows: Rows | None = None,
    values: Any = None,
) -> Target:
    """Return a mechanism or function as a target, with its own claim."""
    alone = target.labels and not target.mechanism.free and table.numbers is None and rows is None
    try:
        claim = own_claim(target)
        if not alone and (data.adversarial or data.background is not None):
            raise InvalidInput(  # noqa: TRY301
                f"--adversary: '{target.name}' does not answer labels; only mechanisms that do, "
                "and learners, are attacked with poison or chosen queries"
            )
    except InvalidInput:
        if isinstance(target, Isolated):
            target.hosts.close()
        raise
    if alone:
        subject: Subject = Protected(target=target, budgets=budgets, copies=copies)
    else:
        known = np.array(table.source["labels"]) if table.numbers is None else table.numbers
        subject = Answering(
            target=target,
            budgets=budgets,
            truth=np.concatenate([data.records.y, data.test.y]),
            values=known if values is None else values,
            numbers=table.numbers is not None,
            rows=rows,
        )
    return Target(name=target.name, subject=subject, claim=claim)


def estimator(
    found: Any,
    table: Table,
    data: ExperimentData,
    name: str,
    *,
    features: Any = None,
    classes: Any = None,
) -> Target:
    """Return an estimator as a target without a claim; see `Estimator` for the features."""
    values = table.data.y if classes is None else classes
    kind, taken, y = "classes", "classes", values
    if table.numbers is not None:
        kind, taken, y = "numbers", "a number", table.numbers[table.data.y]
    predicts = task_of(found, values if table.numbers is None else table.numbers)
    if predicts != kind:
        raise InvalidInput(
            f"target = '{name}': predicts {predicts}, and the label is taken as {taken}; say "
            f"--task {predicts} (task='{predicts}')"
        )
    subject = Estimator(
        estimator=found,
        task=PredictionTask(kind=kind, y=y),
        truth=np.concatenate([data.records.y, data.test.y]),
        name=name,
        features=features,
    )
    return Target(name=f"{name} (unprotected)", subject=subject)


REGRESSORS = ("tree", "nearest", "linear")


def regressor_of(name: str) -> Any:
    """Return an untrained regressor, one of `REGRESSORS` or named by `module:object`."""
    if ":" in name:
        found = load_object(name, "--learner")
        return found if hasattr(found, "predict") and not isinstance(found, type) else found()
    allowed = f"one of {', '.join(REGRESSORS)} where numbers are predicted, or module:object"
    if name not in REGRESSORS:
        raise InvalidInput(f"--learner = '{name}': must be {allowed}")
    from sklearn import linear_model, neighbors, tree

    if name == "tree":
        return tree.DecisionTreeRegressor(random_state=0)
    if name == "nearest":
        return neighbors.KNeighborsRegressor(n_neighbors=1)
    return linear_model.LinearRegression()
