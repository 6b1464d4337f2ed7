"""Paired comparison of two attacks on the same targets.

An estimate with Student's interval over the targets.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Mean difference of two attacks' TPR, with its 95 % interval clipped to [-1, 1]."""

    difference: float
    low: float
    high: float
    targets: int  # target models that both attacks have a rate for


def paired(
    one: Mapping[str, Any], other: Mapping[str, Any], k: int = 0, confidence: float = 0.95
) -> Paired | None:
    """Compare two outcomes of one subject and one view, target by target.

    The difference is the first minus the second, at the k-th of the asked false positive rates.
    None if fewer than two targets have a rate: there were too few non-members.
    """
    from scipy.stats import t

    rates = zip(one["tpr_per_target"][k], other["tpr_per_target"][k], strict=True)
    gaps = [
        float(mine) - float(theirs)
        for mine, theirs in rates
        if mine is not None and theirs is not None
    ]
    n = len(gaps)
    if n < 2:
        return None
    mean = math.fsum(gaps) / n
    variance = math.fsum((gap - mean) ** 2 for gap in gaps) / (n - 1)
    half = float(t.ppf((1 + confidence) / 2, n - 1)) * math.sqrt(variance / n)
    return Paired(
        difference=mean, low=max(-1.0, mean - half), high=min(1.0, mean + half), targets=n
    )


def tossed(outcome: Mapping[str, Any], fpr: float, name: str = "tpr") -> float:
    """Return an attack's true positive rate at a false positive rate, tossing coins for ties.

    Between two thresholds a ROC curve is a straight line then, on linear axes. `name` is that
    of the curve: `tpr`, or `low` or `high` for an end of its band.
    """
    x, y = [0.0, *outcome["roc"]["fpr"], 1.0], [0.0, *outcome["roc"][name], 1.0]
    k = min(bisect_right(x, fpr), len(x) - 1)
    if x[k] == x[k - 1]:
        return float(max(y[k - 1], y[k]))
    return float(y[k - 1] + (y[k] - y[k - 1]) * (fpr - x[k - 1]) / (x[k] - x[k - 1]))
