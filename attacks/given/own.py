"""Targets of an experiment made of what a user has written, each with its own claim, if any."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Protected
from dpassay.attacks.given.predictions import Task, task_of
from dpassay.attacks.given.subjects import Answering, Estimator
from dpassay.claims import DP, GDP, Claim, Stability
from dpassay.data import Table
from dpassay.errors import InvalidInput
from dpassay.privacy_curves import USUAL
from dpassay.rows.rows import Rows
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.target import Isolated


def own_claim(target: AuditTarget) -> DP | None:
    """Return the first claim that guesses can be held against and that is not known to be wrong.

    A target without one is attacked, and held against nothing. A claim about other neighbours
    than datasets with a replaced record is refused.
    """
    known = (implied(claim) for claim in target.claims if claim.expected != "refuted")
    found = next((claim for claim in known if claim is not None), None)
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
    if isinstance(claim, DP):
        told = f"{claim.source}, {claim}" if claim.curve is not None else claim.source
        return replace(claim, source=told)
    told = f"{claim.source}, {claim}"
    if isinstance(claim, GDP):
        return DP(epsilon=_of_gaussian(claim.mu), delta=USUAL, **_same(claim) | {"source": told})
    if isinstance(claim, Stability) and claim.gamma < 1:
        return DP(epsilon=0.0, delta=claim.gamma, **_same(claim) | {"source": told})
    return None


def _same(claim: Claim) -> dict[str, Any]:
    names = ("relation", "unit", "coins", "source", "status", "expected")
    return {name: getattr(claim, name) for name in names}


def _of_gaussian(mu: float) -> float:
    """Return the least epsilon, rounded up, at which mu-GDP implies delta = 0.01."""

    def delta(epsilon: float) -> float:
        tail = log_ndtr(-epsilon / mu - mu / 2) + epsilon
        return float(ndtr(-epsilon / mu + mu / 2) - math.exp(min(0.0, tail)))

    low, high = 0.0, mu * mu / 2 + 3 * mu
    if delta(low) <= USUAL:
        return 0.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > USUAL else (low, middle)
    return high


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
    """Return a mechanism or function as a target, with its own claim.

    For `budgets` and `copies` see `Protected`; a mechanism that does not answer labels is not
    asked about copies. For `rows` and `values` see `Answering`; by default the values are the
    names of the labels, or the numbers, of the table.
    """
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
        subject = Protected(target=target, budgets=budgets, copies=copies)
        return Target(name=target.name, subject=subject, claim=claim)
    numbers = table.numbers is not None
    known = np.array(table.source["labels"]) if table.numbers is None else table.numbers
    answering = Answering(
        target=target,
        budgets=budgets,
        truth=np.concatenate([data.records.y, data.test.y]),
        values=known if values is None else values,
        numbers=numbers,
        rows=rows,
    )
    return Target(name=target.name, subject=answering, claim=claim)


def estimator(
    found: Any,
    table: Table,
    data: ExperimentData,
    name: str,
    *,
    features: Any = None,
    classes: Any = None,
) -> Target:
    """Return an estimator as a target without a claim; see `Estimator` for the features.

    `classes` (n,) are the labels of all records as the estimator learns them, by default their
    codes.
    """
    values = table.data.y if classes is None else classes
    if table.numbers is not None and task_of(found, table.numbers) == "classes":
        raise InvalidInput(
            f"target = '{name}': predicts classes, and the label is taken as a number; say --task "
            "classes (task='classes')"
        )
    if table.numbers is not None:
        task = Task(kind="numbers", y=table.numbers[table.data.y])
    elif task_of(found, values) == "numbers":
        raise InvalidInput(
            f"target = '{name}': predicts numbers, and the label is taken as classes; say --task "
            "numbers (task='numbers')"
        )
    else:
        task = Task(kind="classes", y=values)
    subject = Estimator(
        estimator=found,
        task=task,
        truth=np.concatenate([data.records.y, data.test.y]),
        name=name,
        features=features,
    )
    return Target(name=f"{name} (unprotected)", subject=subject)
