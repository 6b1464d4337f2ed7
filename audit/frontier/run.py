"""From a table and some losses to the rows of a comparison."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpassay.attacks.experiment.mechanisms import claim_of
from dpassay.attacks.experiment.metrics import best_of
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.experiment.subjects import Learner
from dpassay.attacks.scores import ATTACKS
from dpassay.attacks.user_models.subjects import mechanism
from dpassay.data import Labelled, Table, points
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import DpassayError, TargetError, require
from dpassay.frontier.accuracy import (
    BASELINES,
    FrontierSplit,
    baselines,
    interval,
    private_accuracy,
    split_of,
)
from dpassay.frontier.entries import ENTRIES, USUAL, parameters
from dpassay.mechanisms.shared.learners import estimator_of
from dpassay.numerics import lower_number, upper_number
from dpassay.pairs import replace_one
from dpassay.seeds import stream
from dpassay.targets.groups import PairGroup, Progress, silent
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve

SCHEMA = "dpassay/frontier/1"
LEARNER = "logistic"
"""The unprotected learner beside the mechanisms."""
TIMED = 20
"""Answers at each point that are timed."""
COMPUTED, SAMPLED = (200, 50), (20, 10)
"""Replaced records and query points that are looked at: where the law is known, and where not."""
USED = ("lira", "loss-threshold")
DESIGN = Design(references=16, targets=32)
RECORDS = 400
"""Whose membership is asked about; every model is trained on half."""
NOT_AUDITED = {
    "verdict": "not audited",
    "exact": False,
    **dict.fromkeys(("worst", "median", "anywhere"), 0.0),
    **dict.fromkeys(("detectable", "guess")),
    "why": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedEntries:
    """What is compared."""

    names: tuple[str, ...] = USUAL  # of `dpassay.frontier.entries.ENTRIES`
    epsilons: tuple[float, ...] = (1.0,)  # claimed losses
    splits: int = 5  # intervals are over them
    attack: bool = True  # whether membership inference is tried
    sample: bool = False  # whether losses without an exact law are sampled, which takes long
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        for name in self.names:
            require(name in ENTRIES, "NAME", name, f"one of {', '.join(ENTRIES)}")
        require(self.splits >= 2, "--splits", self.splits, "an integer >= 2")

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """Name, and loss of a mechanism, of each row that is asked for, in their order."""
        losses = itertools.product(self.names, self.epsilons)
        return (
            *({"name": name} for name in BASELINES),
            *({"name": name, "epsilon": epsilon} for name, epsilon in losses),
        )


def compared(
    table: Table, wanted: ComparedEntries, progress: Progress = silent
) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """Yield a row for each baseline and for each mechanism at each loss, and what it cost.

    The row depends on the data and the seed alone; the costs are seconds of processor time.
    """
    labels = table.source["labels"]
    require(len(labels) == 2, "--label", f"{len(labels)} labels", "a column with two labels")
    seed, name = wanted.settings.seed, str(table.source["name"])
    splits = [split_of(name, table.data, k, seed=seed) for k in range(wanted.splits)]
    drawn, data = _records_of(splits[0], labels, seed=seed)
    without = [baselines(split) for split in splits]
    for baseline in BASELINES:
        values = np.array([each[baseline] for each in without])
        told: dict[str, Any] = {"name": baseline, "accuracy": _told(values)}
        if baseline == "non-private" and wanted.attack:
            learner = Learner(make=estimator_of(LEARNER), name=LEARNER, copies=0)
            told["membership"] = membership_of(
                Target(name=LEARNER, subject=learner), data, wanted.settings.jobs
            )
        yield told, {}
    best = np.array([each["non-private"] for each in without])
    private = wanted.rows[len(BASELINES) :]
    for place, row in enumerate(private):
        yield _row(row, splits, best, (drawn, data), wanted)
        progress("mechanisms", place + 1, len(private))


def _row(
    asked: dict[str, Any],
    splits: Sequence[FrontierSplit],
    best: Any,
    attacked: tuple[Table, ExperimentData],
    wanted: ComparedEntries,
) -> tuple[dict[str, Any], dict[str, float]]:
    row, entry, epsilon = dict(asked), asked["name"], asked["epsilon"]
    try:
        targets = [_target(entry, epsilon, len(split.train), split) for split in splits]
        values, seed = [], wanted.settings.seed
        for k, (target, split) in enumerate(zip(targets, splits, strict=True)):
            rng = stream(seed, "frontier", entry, epsilon, k)
            values.append(private_accuracy(entry, target.mechanism, split, rng))
        found = np.array(values)
        row |= {"accuracy": _told(found), "behind": _told(best - found, least=-1.0)}
        row["leak"], cost = _leak(targets[0], splits[0], wanted)
        if wanted.attack:
            drawn, data = attacked
            small = _target(entry, epsilon, len(data.records) // 2, splits[0])
            subject = mechanism(small, drawn, data, (1,), copies=0)
            row["membership"] = membership_of(subject, data, wanted.settings.jobs)
    except DpassayError as error:
        return row | {"error": " ".join(str(error).split())}, {}
    return row, cost


def _target(entry: str, epsilon: float, records: int, split: FrontierSplit) -> AuditTarget:
    columns = split.train.X.shape[1]
    given = parameters(entry, epsilon, records=records, columns=columns, feature=split.feature)
    return resolve(entry, given)


def _leak(
    target: AuditTarget, split: FrontierSplit, wanted: ComparedEntries
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what is lost, and seconds of training and of a thousand answers."""
    queries, began = points(split.test.X[:50], "queries"), time.process_time()
    state = target.mechanism.prepare(split.train)
    trained = time.process_time()
    rng = stream(wanted.settings.seed, "frontier", "timed", target.name)
    target.mechanism.sample(state, queries, TIMED, rng)
    answered = time.process_time() - trained
    computed = target.mechanism.distribution(state, queries) is not None
    told = {"claim": claim_of(target).as_json()} | NOT_AUDITED
    if computed or wanted.sample:
        settings = replace(wanted.settings, jobs=1)
        told = leak_of(target, split, computed=computed, settings=settings)
    cost = {
        "training": trained - began,
        "thousand_answers": answered * 1000 / (TIMED * len(queries)),
    }
    return told, cost


def leak_of(
    target: AuditTarget, split: FrontierSplit, *, computed: bool, settings: Settings
) -> dict[str, Any]:
    """Audit a mechanism on the training records of a split; return the loss of one answer.

    The claim is the first that the catalogue does not declare wrong. Test records replace
    training records, and are asked at. `worst` and `median` are over the query points at the
    claim's delta, in nats: certified lower bounds, or `exact` where its law is known for these
    data (`computed`). `anywhere` is the same at the worst pair of all, the mechanism's own worst
    cases included, which need not be of the data; the verdict is about these too. `detectable`
    is the loss that trials would refute with probability 0.9. `guess` is the probability that
    the best guess which of the two neighbours was trained on is right, after one answer, at the
    worst pair of the data: 1/2 if nothing leaks, None if no law is known.
    """
    first = target.claims.index(claim_of(target))
    group = group_of(split, *(COMPUTED if computed else SAMPLED), settings.seed)
    result = list(assay([target], group, settings))[first]
    told = {"claim": result.claim.as_json()} | NOT_AUDITED
    if result.evidence is None:
        return told | {"verdict": "error", "why": result.outcome.reason}
    evidence, exact = result.evidence, result.mode == "exact"
    losses = [cell.lower.value for cell in _of_data(evidence)]
    guess = _guess(evidence) if exact else None
    return told | {
        "verdict": result.verdict,
        "exact": exact,
        "worst": lower_number(max(losses)),
        "median": lower_number(float(np.median(losses))),
        "anywhere": lower_number(evidence.lower.value),
        "detectable": None if exact else upper_number(evidence.detectable),
        "guess": None if guess is None else lower_number(guess),
    }


def group_of(split: FrontierSplit, pairs: int, queries: int, seed: int) -> PairGroup:
    """Return random training records, each replaced by a test record, and test points to ask at."""
    every = replace_one(split.train.X, split.train.y, pool=split.test, neighbours="one", seed=seed)
    size = len(every.changes)
    drawn = stream(seed, "frontier", every.base.digest).permutation(size)[:pairs]
    chosen = replace(every, changes=tuple(every.changes[i] for i in np.sort(drawn)))
    return PairGroup(
        pairs=chosen,
        queries=points(split.test.X[:queries], "queries"),
        kind="data",
        reason=f"{len(drawn)} of {size} training records, each replaced by a test record",
    )


def _of_data(found: Evidence) -> list[Cell]:
    """Return the worst cell of every query point of the data."""
    return [cell for cell in found.cells if found.groups[cell.group].kind == "data"]


def _guess(found: Evidence) -> float | None:
    """Chance of the best guess: (1 + total variation) / 2."""
    if found.other is not None:
        return (1 + max(cell.lower.value for cell in _of_data(found.other[1]))) / 2
    profiles = [cell.profile for cell in _of_data(found)]
    apart = [float(each.lower[0]) for each in profiles if each is not None]
    return (1 + max(apart)) / 2 if apart else None


def _records_of(
    split: FrontierSplit, labels: Sequence[str], *, seed: int
) -> tuple[Table, ExperimentData]:
    """Draw the records whose membership is asked about; they stay standardised as in the split."""
    both = Labelled(
        np.concatenate([split.train.X, split.test.X]), np.concatenate([split.train.y, split.test.y])
    )
    source = {"name": "split", "labels": list(labels), "sha256": both.digest}
    table = Table(data=both, source=source)
    data, _ = lay(table, Scenario(records=RECORDS, copies=0, seed=seed))
    return table, data


def membership_of(target: Target, data: ExperimentData, jobs: int = 1) -> dict[str, Any]:
    """Attack a target by one answer about each record; return the better of two attacks.

    `low` and `high` bound the AUC at 95 %, over the attacked models; if nothing leaks, the better
    of two stays below `chance` in 95 % of cases. All of it are estimates.
    """
    attacks = {name: ATTACKS[name] for name in USED}
    (found,) = experiment([target], data, attacks, DESIGN, jobs=jobs)
    if found.error:
        raise TargetError(found.error)
    best = max(found.outcomes, key=lambda each: each.auc)
    again = [each.again for each in found.outcomes if each.again is not None]
    low, high = best.auc_interval
    told = {"auc": best.auc, "low": low, "high": high, "chance": best_of(again).high}
    numbers = {name: round(value, 9) for name, value in told.items()}
    return numbers | {"records": len(data.records) // 2}


def _told(values: Any, least: float = 0.0) -> dict[str, float]:
    """Mean and interval, which is cut off where no accuracy, or difference of two, lies."""
    low, high = interval(values)
    told = {"mean": values.mean(), "low": max(least, low), "high": min(1.0, high)}
    return {name: round(float(value), 9) for name, value in told.items()}
