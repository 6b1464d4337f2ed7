"""From a table and some losses to the rows of a comparison."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpassay.attacks.experiment.mechanisms import claim_of
from dpassay.data import Table, points
from dpassay.engine.settings import Settings
from dpassay.errors import DpassayError, require
from dpassay.frontier.accuracy import BASELINES, baselines, interval, private_accuracy
from dpassay.frontier.entries import ENTRIES, USUAL, parameters
from dpassay.frontier.leak import NOT_AUDITED, Leak, leak_of
from dpassay.frontier.membership import Ground, Membership, ground_of, of_learner, of_mechanism
from dpassay.frontier.splits import Split, split_of
from dpassay.numerics import lower_number, upper_number
from dpassay.seeds import stream
from dpassay.targets.groups import Progress, silent
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve

SCHEMA = "dpassay/frontier/1"
LEARNER = "logistic"
"""The unprotected learner beside the mechanisms."""
TIMED = 20
"""Answers at each point that are timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
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
    table: Table, wanted: Wanted, progress: Progress = silent
) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """Yield a row for each baseline and for each mechanism at each loss, and what it cost.

    The row depends on the data and the seed alone; the costs are seconds of processor time.
    """
    labels = table.source["labels"]
    require(len(labels) == 2, "--label", f"{len(labels)} labels", "a column with two labels")
    seed, name = wanted.settings.seed, str(table.source["name"])
    splits = [split_of(name, table.data, k, seed=seed) for k in range(wanted.splits)]
    ground = ground_of(splits[0], labels, seed=seed)
    without = [baselines(split) for split in splits]
    for baseline in BASELINES:
        values = np.array([each[baseline] for each in without])
        told: dict[str, Any] = {"name": baseline, "accuracy": _told(values)}
        if baseline == "non-private" and wanted.attack:
            told["membership"] = _membership(of_learner(LEARNER, ground, wanted.settings.jobs))
        yield told, {}
    best = np.array([each["non-private"] for each in without])
    private = wanted.rows[len(BASELINES) :]
    for place, row in enumerate(private):
        yield _row(row, splits, best, ground, wanted)
        progress("mechanisms", place + 1, len(private))


def _row(
    asked: dict[str, Any],
    splits: Sequence[Split],
    best: Any,
    ground: Ground,
    wanted: Wanted,
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
            small = _target(entry, epsilon, ground.trained, splits[0])
            row["membership"] = _membership(of_mechanism(small, ground, wanted.settings.jobs))
    except DpassayError as error:
        return row | {"error": " ".join(str(error).split())}, {}
    return row, cost


def _target(entry: str, epsilon: float, records: int, split: Split) -> AuditTarget:
    columns = split.train.X.shape[1]
    given = parameters(entry, epsilon, records=records, columns=columns, feature=split.feature)
    return resolve(entry, given)


def _leak(
    target: AuditTarget, split: Split, wanted: Wanted
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what is lost, and seconds of training and of a thousand answers."""
    queries, began = points(split.test.X[:50], "queries"), time.process_time()
    state = target.mechanism.prepare(split.train)
    trained = time.process_time()
    rng = stream(wanted.settings.seed, "frontier", "timed", target.name)
    target.mechanism.sample(state, queries, TIMED, rng)
    answered = time.process_time() - trained
    computed = target.mechanism.distribution(state, queries) is not None
    settings = replace(wanted.settings, jobs=1)
    found = (
        leak_of(target, split, computed=computed, settings=settings)
        if computed or wanted.sample
        else Leak(claim=claim_of(target), verdict=NOT_AUDITED)
    )
    cost = {
        "training": trained - began,
        "thousand_answers": answered * 1000 / (TIMED * len(queries)),
    }
    return _told_leak(found), cost


def _told_leak(found: Leak) -> dict[str, Any]:
    seen = found.detectable
    return {
        "claim": found.claim.as_json(),
        "verdict": found.verdict,
        "exact": found.exact,
        "worst": lower_number(found.worst),
        "median": lower_number(found.median),
        "anywhere": lower_number(found.anywhere),
        "detectable": None if seen is None else upper_number(seen),
        "guess": None if found.guess is None else lower_number(found.guess),
        "why": found.why,
    }


def _told(values: Any, least: float = 0.0) -> dict[str, float]:
    """Mean and interval, which is cut off where no accuracy, or difference of two, lies."""
    low, high = interval(values)
    told = {"mean": values.mean(), "low": max(least, low), "high": min(1.0, high)}
    return {name: round(float(value), 9) for name, value in told.items()}


def _membership(found: Membership) -> dict[str, Any]:
    low, high = found.interval
    told = {"auc": found.auc, "low": low, "high": high, "chance": found.chance}
    return {name: round(value, 9) for name, value in told.items()} | {"records": found.records}
