"""Shadow models (Shokri, Stronati, Song and Shmatikov 2017).

A classifier learns from reference models what members look like.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array, Flags, Observed

LEAVES = 32
"""Of an attack model."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """One attack model per label of the record, as in the paper.

    Here they are small decision trees of scikit-learn. Features are the shares of all labels. A
    label whose reference records are all members, or none, gets that share as score.
    """

    most: int = 100_000  # pairs of model and record to train on; of more, every k-th is taken

    def fit(self, reference: Observed, membership: Flags) -> FittedShadow:
        """Train the attack models."""
        from sklearn.tree import DecisionTreeClassifier

        classifiers: dict[int, Any] = {}
        for label in np.unique(reference.y).tolist():
            here = reference.y == label
            features = reference.seen[:, here].reshape(-1, reference.seen.shape[2])
            inside = membership[:, here].ravel()
            step = -(-len(inside) // self.most)
            features, inside = features[::step], inside[::step]
            if inside.all() or not inside.any():
                classifiers[label] = float(inside.mean())
                continue
            made = DecisionTreeClassifier(
                max_leaf_nodes=LEAVES, min_samples_leaf=1 / (4 * LEAVES), random_state=0
            )
            classifiers[label] = made.fit(features, inside)
        return FittedShadow(classifiers=classifiers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedShadow:
    """One classifier per label, or a constant."""

    classifiers: dict[int, Any]

    def score(self, target: Observed) -> Array:
        """Return membership probabilities (models, e), 1/2 for labels without reference records."""
        scores = np.full(target.seen.shape[:2], 0.5)
        for label, classifier in self.classifiers.items():
            here = target.y == label
            if isinstance(classifier, float):
                scores[:, here] = classifier
            elif here.any():
                shares = target.seen[:, here]
                found = classifier.predict_proba(shares.reshape(-1, shares.shape[2]))[:, 1]
                scores[:, here] = found.reshape(shares.shape[:2])
        return scores
