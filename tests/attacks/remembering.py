"""Classifiers whose memory is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Memory:
    """Gives a record that it was trained on its label, and everything else even odds."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Memory:
        """Keep the records."""
        labels, codes = np.unique(y, return_inverse=True)
        self.labels = len(labels)
        self.known = {tuple(x): code for x, code in zip(X.tolist(), codes.tolist(), strict=True)}
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Look them up."""
        shares = np.full((len(X), self.labels), 1 / self.labels)
        for i, x in enumerate(X.tolist()):
            if tuple(x) in self.known:
                shares[i] = np.eye(self.labels)[self.known[tuple(x)]]
        return shares


class Nothing(Memory):
    """Learns nothing: even odds everywhere."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Nothing:
        """Count the labels."""
        super().fit(X[:0], y[:0])
        self.labels = len(np.unique(y))
        return self
