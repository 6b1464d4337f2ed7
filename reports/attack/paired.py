"""Two attacks on the same targets compared, and ROC curves read off with coins for ties."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

Raw = Mapping[str, Any]


class Paired(NamedTuple):
    """Mean difference of two attacks' TPR, with its 95 % interval clipped to [-1, 1]."""

    difference: float
    low: float
    high: float
    targets: int  # target models that both attacks have a rate for


def paired(one: Raw, other: Raw, k: int = 0, confidence: float = 0.95) -> Paired | None:
    """Compare two outcomes of one view target by target, at the k-th false positive rate.

    It is an estimate with Student's interval over the targets; None if fewer than two have a rate.
    """
    from scipy.stats import t

    rates = zip(one["tpr_per_target"][k], other["tpr_per_target"][k], strict=True)
    gaps = [float(x) - float(y) for x, y in rates if x is not None and y is not None]
    n = len(gaps)
    if n < 2:
        return None
    mean = math.fsum(gaps) / n
    variance = math.fsum((gap - mean) ** 2 for gap in gaps) / (n - 1)
    half = float(t.ppf((1 + confidence) / 2, n - 1)) * math.sqrt(variance / n)
    return Paired(mean, max(-1.0, mean - half), min(1.0, mean + half), n)


def tossed(outcome: Raw, fpr: float, name: str = "tpr") -> float:
    """Return an attack's true positive rate at a false positive rate, tossing coins for ties.

    Between two thresholds a ROC curve is a straight line then, on linear axes. `name` is that
    of the curve: `tpr`, or `low` or `high` for an end of its band.
    """
    x, y = [0.0, *outcome["roc"]["fpr"], 1.0], [0.0, *outcome["roc"][name], 1.0]
    k = min(bisect_right(x, fpr), len(x) - 1)
    if x[k] == x[k - 1]:
        return float(max(y[k - 1], y[k]))
    return float(y[k - 1] + (y[k] - y[k - 1]) * (fpr - x[k - 1]) / (x[k] - x[k - 1]))
