"""Base learners: the non-private learning algorithm A that a mechanism runs on its blocks."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.mechanisms.shared.simple_learners import Majority, Nearest
from dpassay.targets.importing import load_object

MEMO: Final = 4096
"""Trained models that a `BlockLearner` remembers; enumerations meet the same small block again and
again."""
HELD: Final = 10**7
"""Numbers in the blocks that these were trained on, at most: of large blocks each is new anyway."""


TINY: Final = 1e-100
"""Standardised columns are smaller only if their variance is 0 to a float; liblinear then never
ends."""


def flushed(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers with 0 in place of those that are nearer to it than `TINY`."""
    return np.where(np.abs(X) < TINY, 0.0, X)


def logistic(**given: Any) -> Any:
    """Return logistic regression on standardised columns, untrained; `given` are its parameters."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    model = LogisticRegression(solver="liblinear", max_iter=1000, **given)
    return make_pipeline(StandardScaler(), FunctionTransformer(flushed), model)


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def _stump() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=1, random_state=0)


def _bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _threshold() -> Any:
    from dpassay.mechanisms.shared.erm_class import ClassERM

    return ClassERM()


LEARNERS: Final[dict[str, Callable[[], Any]]] = {
    "logistic": logistic,
    "majority": Majority,
    "tree": _tree,
    "stump": _stump,
    "nearest": Nearest,
    "naive-bayes": _bayes,
    "threshold": _threshold,
}
"""Names that `learner` may take, besides `module:object` of any scikit-learn classifier."""

ORDERLESS: Final = ("majority", "threshold")
"""Learners whose model depends on how often each record is there, and on nothing else: sums of
whole numbers, and ties that are decided by label or by threshold. Of the others that is not known:
they add floats in the order of the records, or take the first of equally near ones."""


class Teacher:
    """One trained sub-model f_i; answers labels in {0, ..., K - 1}, 0 and 1 unless said otherwise.

    It remembers its answers at the last query array, which it knows again by identity: neighbours
    share all but one teacher.
    """

    __slots__ = ("_answers", "_labels", "_predict", "_queries")

    def __init__(self, predict: Callable[[NDArray[np.float64]], NDArray[Any]], K: int = 2) -> None:
        self._predict = predict
        self._labels = tuple(range(K))
        self._queries: NDArray[np.float64] | None = None
        self._answers: NDArray[np.int64] | None = None

    def predict(self, queries: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the label at each query, shape (q,)."""
        if self._answers is None or self._queries is not queries:
            answers = np.asarray(self._predict(queries))
            if answers.shape != (len(queries),) or not np.isin(answers, self._labels).all():
                named = "0 or 1" if len(self._labels) == 2 else f"from 0 to {self._labels[-1]}"
                raise ValueError(
                    f"the learner's predict returned {answers!r}; expected a label {named} for "
                    f"each of {len(queries)} queries"
                )
            if queries.flags.writeable:  # somebody may change them in place and ask again
                return answers.astype(np.int64)
            self._queries, self._answers = queries, answers.astype(np.int64)
        return self._answers


class BlockLearner:
    """Trains teachers on blocks, each distinct block once.

    A block with one class becomes a constant predictor, whatever the learner. A learner with a free
    `random_state` gets 0: its coins are frozen, and equal on neighbouring datasets.

    Parameters
    ----------
    learner : str or scikit-learn classifier
        A name of `LEARNERS`, `module:object` (a classifier, or a callable that makes one), or the
        object itself.
    K : int
        Number of labels that teachers may answer.

    Attributes
    ----------
    fits : int
        How many models were trained so far.
    """

    __slots__ = ("_K", "_held", "_make", "_memo", "fits")

    def __init__(self, learner: Any, K: int = 2) -> None:
        self._make, self._K = estimator_of(learner), K
        self._memo: OrderedDict[str, tuple[Teacher, int]] = OrderedDict()
        self._held = self.fits = 0

    def fit(self, block: Labelled) -> Teacher:
        """Train on a block, or return the teacher that an equal block gave before."""
        key = block.digest
        if key in self._memo:
            self._memo.move_to_end(key)
            return self._memo[key][0]
        teacher, size = self._train(block), block.X.size
        self._memo[key] = teacher, size
        self._held += size
        while len(self._memo) > MEMO or (self._held > HELD and len(self._memo) > 1):
            self._held -= self._memo.popitem(last=False)[1][1]
        return teacher

    def _train(self, block: Labelled) -> Teacher:
        self.fits += 1
        first = block.y[0]
        if (block.y == first).all():
            return Teacher(lambda queries: np.full(len(queries), first), self._K)
        model = self._make()
        with _unchecked(skip_parameter_validation=True, assume_finite=True):
            model.fit(block.X, block.y)

        def predict(queries: NDArray[np.float64]) -> NDArray[Any]:
            with _unchecked(assume_finite=True):
                answers: NDArray[Any] = model.predict(queries)
                return answers

        return Teacher(predict, self._K)


def _unchecked(**checks: bool) -> AbstractContextManager[None]:
    """Switch off checks of scikit-learn; where nobody has imported it, no model is one of its."""
    if "sklearn" not in sys.modules:
        return nullcontext()
    import sklearn

    context: AbstractContextManager[None] = sklearn.config_context(**checks)
    return context


def estimator_of(learner: Any) -> Callable[[], Any]:
    """Return what makes the estimators of a learner.

    A name of `LEARNERS`, `module:object`, or an object.
    """
    if isinstance(learner, str) and learner in LEARNERS:
        return LEARNERS[learner]
    if isinstance(learner, str):
        if ":" not in learner:
            raise InvalidInput(
                f"learner = '{learner}': must be one of {', '.join(LEARNERS)}, or module:object"
            )
        learner = load_object(learner, "learner")
    if hasattr(learner, "fit") and not isinstance(learner, type):
        return lambda: _frozen(learner)
    if callable(learner):
        return lambda: _frozen(learner())
    raise InvalidInput(
        f"learner = {learner!r}: must be a scikit-learn classifier or a callable that makes one"
    )


def _frozen(estimator: Any) -> Any:
    from sklearn.base import clone

    estimator = clone(estimator)
    free = [
        name
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return estimator.set_params(**dict.fromkeys(free, 0)) if free else estimator
