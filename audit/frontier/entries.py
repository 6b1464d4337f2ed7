"""Private classifiers that are compared, each with the parameters that make it claim a loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpassay.targets.resolve import accepts

LAMBDAS = "0.01;0.1;1"
BASE = f"objective-perturbation,oplr=true,lambdas={LAMBDAS}"
CHOSEN: dict[str, Any] = {"base": BASE, "release": "prediction"}
ENTRIES: dict[str, dict[str, Any]] = {
    "soft-majority": {},
    "soft-majority-overview": {},
    "projected-walk": {},
    "projected-walk-overview": {},
    "stable-laplace": {},
    "stable-gaussian": {},
    "noisy-average": {},
    "erm-laplace": {"loss": "logistic"},
    "psgd-laplace": {"loss": "logistic"},
    "pate": {},
    "pate-data-dependent": {},
    "pate-gaussian": {},
    "private-knn": {},
    "distance-to-instability": {},
    "objective-perturbation": {"oplr": True, "release": "prediction", "m": 0},
    "output-perturbation": {"release": "prediction", "m": 0},
    "validate-train": CHOSEN,
    "alpha-split": CHOSEN,
    "data-split": CHOSEN,
    "random-choice": CHOSEN,
    "control": CHOSEN,
}
"""What is compared, and the parameters that are not the catalogue's; `parameters` adds those that a
run decides."""


def _gaussian(epsilon: float) -> dict[str, float]:
    """Solve 1 / sigma^2 + 2 sqrt(ln(1/delta)) / sigma = epsilon for the catalogue's delta."""
    root = math.log(1e5)
    return {"sigma": 1 / (math.sqrt(root + epsilon) - math.sqrt(root)), "delta": 1e-5}


SPENT: dict[str, Callable[[float], dict[str, float]]] = {
    "pate": lambda epsilon: {"gamma": epsilon / 2},
    "pate-data-dependent": lambda epsilon: {"gamma": epsilon / 2},
    "private-knn": lambda epsilon: {"gamma": epsilon / 2},
    "pate-gaussian": _gaussian,
    "validate-train": lambda epsilon: {"alpha1": epsilon / 2, "alpha2": epsilon / 2},
    "objective-perturbation": lambda epsilon: {"alpha": epsilon},
    "output-perturbation": lambda epsilon: {"alpha": epsilon},
    "alpha-split": lambda epsilon: {"alpha": epsilon},
    "data-split": lambda epsilon: {"alpha": epsilon},
    "random-choice": lambda epsilon: {"alpha": epsilon},
    "control": lambda epsilon: {"alpha": epsilon},
}
"""What makes an entry claim epsilon, where that is not a parameter of this name."""
USUAL = tuple(name for name in ENTRIES if name not in ("control", "pate-data-dependent"))
"""Compared unless others are named: `control` is not private, and `pate-data-dependent` answers as
`pate` does."""


def parameters(
    name: str, epsilon: float, *, records: int, columns: int, feature: int
) -> dict[str, Any]:
    """Return all parameters of an entry that are not the catalogue's.

    A ninth of the records validate where one is chosen. Epsilon is the claimed loss of one
    answer, or of what is released; `feature` is the column that a walk goes along.
    """
    decided = {"n": records, "feature": feature, "d": columns, "m": records // 9}
    given = {key: value for key, value in decided.items() if accepts(name, key)}
    given |= ENTRIES[name] | (SPENT[name](epsilon) if name in SPENT else {"epsilon": epsilon})
    return given | ({"base": f"{given['base']},d={columns}"} if "base" in given else {})
