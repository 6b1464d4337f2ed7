"""Membership inference against one mechanism, in small: what one answer per record gives away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.no_leak import best_of
from dpassay.attacks.experiment.outcomes import Attacked
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.experiment.subjects import Learner
from dpassay.attacks.given.own import mechanism
from dpassay.attacks.scores.registry import ATTACKS
from dpassay.data import Labelled, Table
from dpassay.errors import TargetError
from dpassay.frontier.splits import Split
from dpassay.mechanisms.shared.learners import estimator_of
from dpassay.targets.guard import AuditTarget

USED = ("lira", "loss-threshold")
DESIGN = Design(references=16, targets=32)
RECORDS = 400
"""Of which every model is trained on half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The better of two attacks; estimates."""

    auc: float
    interval: tuple[float, float]  # 95 %, over the attacked models
    chance: float  # what the better of two stays below in 95 % of cases if nothing leaks
    records: int  # that each model was trained on


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Records of an experiment, standardised as those of the split."""

    table: Table
    data: ExperimentData

    @property
    def trained(self) -> int:
        """Records of a training set."""
        return len(self.data.records) // 2


def ground_of(split: Split, labels: Sequence[str], *, seed: int) -> Ground:
    """Draw the records whose membership is asked about from a split."""
    both = Labelled(
        np.concatenate([split.train.X, split.test.X]), np.concatenate([split.train.y, split.test.y])
    )
    table = Table(
        data=both, source={"name": "split", "labels": list(labels), "sha256": both.digest}
    )
    data, _ = lay(table, Scenario(records=RECORDS, copies=0, seed=seed))
    return Ground(table=table, data=data)


def of_mechanism(target: AuditTarget, ground: Ground, jobs: int = 1) -> Membership:
    """Attack a mechanism, built for `ground.trained` records, by one answer about each record."""
    return _attacked(mechanism(target, ground.table, ground.data, (1,), copies=0), ground, jobs)


def of_learner(name: str, ground: Ground, jobs: int = 1) -> Membership:
    """Attack an unprotected learner by its scores; see `of_mechanism`."""
    learner = Learner(make=estimator_of(name), name=name, copies=0)
    return _attacked(Target(name=name, subject=learner), ground, jobs)


def _attacked(target: Target, ground: Ground, jobs: int) -> Membership:
    attacks = {name: ATTACKS[name]() for name in USED}
    (found,) = experiment([target], ground.data, attacks, DESIGN, jobs=jobs)
    return _best(found, ground.trained)


def _best(found: Attacked, records: int) -> Membership:
    if found.error:
        raise TargetError(found.error)
    best = max(found.outcomes, key=lambda each: each.auc)
    again = [each.again for each in found.outcomes if each.again is not None]
    return Membership(
        auc=best.auc, interval=best.auc_interval, chance=best_of(again).high, records=records
    )
