"""Learners of a few lines: a sweep over neighbours trains one of them for every record.

scikit-learn's need milliseconds for each block, whatever its size, and a second to be imported.
"""

from __future__ import annotations

from typing import Final, Self

import numpy as np
import scipy
from numpy.typing import NDArray

AT_ONCE: Final = 10**6
"""Distances that are held together."""


class _Sure:
    """Gives all probability to its label, as attacks ask for it."""

    _classes: NDArray[np.int64]

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        raise NotImplementedError

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 for the label at each point and 0 for others, in ascending order, (q, K)."""
        return np.asarray(self.predict(X)[:, None] == self._classes, dtype=float)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Majority(_Sure):
    """Answers the most frequent label, the least of those that tie."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Self:  # noqa: ARG002
        """Count labels."""
        self._classes, counts = np.unique(y, return_counts=True)
        self._label = self._classes[counts.argmax()]
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return one label for all points, shape (q,)."""
        return np.full(len(X), self._label)


class Nearest(_Sure):
    """Answers the label of the nearest record, the first of those that are equally far."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Self:
        """Keep the records."""
        self._X, self._y, self._classes = X, y, np.unique(y)
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the label at each point, shape (q,)."""
        portion = max(1, AT_ONCE // len(self._X))
        places = [
            scipy.spatial.distance.cdist(X[k : k + portion], self._X, "sqeuclidean").argmin(axis=1)
            for k in range(0, len(X), portion)
        ]
        nearest = np.concatenate([np.empty(0, dtype=np.int64), *places])
        labels: NDArray[np.int64] = self._y[nearest]
        return labels
