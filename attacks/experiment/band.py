"""A band around a ROC curve: how much it would move with other target models."""

from __future__ import annotations

import math

import numpy as np
import scipy

from dpassay.attacks.experiment.metrics import Roc
from dpassay.attacks.observed import Array, Flags

CONFIDENCE = 0.95


def band(curve: Roc, scores: Array, membership: Flags) -> tuple[Array, Array]:
    """Return the ends of 95 % intervals of the TPR at each FPR of a curve, shape (k,) each.

    The intervals are pointwise and estimates. The records share their target model, so only the
    targets are independent: each has a TPR and a FPR at a threshold, and moves the curve by its
    TPR less the slope times its FPR. This is Student's interval of the mean of these, clipped
    to [0, 1].

    The scores are (models, e), of at least two models with as many members in each.
    """
    moves = np.empty((len(scores), len(curve.fpr)))
    slope = _slopes(curve)
    members, others = membership.sum(axis=1), (~membership).sum(axis=1)
    for k, threshold in enumerate(curve.thresholds.tolist()):
        called = scores >= threshold
        hits = (called & membership).sum(axis=1) / members
        alarms = (called & ~membership).sum(axis=1) / others
        moves[:, k] = hits - slope[k] * alarms
    n = len(scores)
    quantile = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    half = quantile * moves.std(axis=0, ddof=1) / math.sqrt(n)
    return np.clip(curve.tpr - half, 0.0, 1.0), np.clip(curve.tpr + half, 0.0, 1.0)


def _slopes(curve: Roc) -> Array:
    """Slope at each point, between the points beside it; 0 where the curve is vertical."""
    before = np.maximum(np.arange(len(curve.fpr)) - 1, 0)
    after = np.minimum(np.arange(len(curve.fpr)) + 1, len(curve.fpr) - 1)
    wide, high = curve.fpr[after] - curve.fpr[before], curve.tpr[after] - curve.tpr[before]
    found: Array = np.divide(high, wide, out=np.zeros(len(wide)), where=wide > 0)
    return found
