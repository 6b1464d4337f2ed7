"""Fleets give the same bytes whatever happens on the way, and only answers to what was asked."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from dpassay.attacks.experiment.models import (
    ExperimentData,
    Models,
    Training,
    build_data,
    models,
    toss,
)
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.subjects import (
    SCORES,
    AskedPoints,
    Learner,
    ModelView,
    Protected,
    Subject,
    asked,
)
from dpassay.attacks.observed import Array
from dpassay.attacks.scores import lira
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.targets.resolve import resolve
from dpassay.trials.ledger import Ledger

MODELS = 6


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0, max_depth=3)


def experiment_data(
    e: int = 40, *, copies: int = 2, noise: float = 0.1, seed: int = 0
) -> ExperimentData:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(e + 10, 3))
    every = Labelled(X, (X[:, 0] + 0.5 * rng.normal(size=e + 10) > 0).astype(np.int64))
    records, test = every.take(slice(e)), every.take(slice(e, None))
    return build_data(records, test, copies=copies, noise=noise, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting(Subject):
    """A learner that counts how often it is trained."""

    inner: Learner = field(default_factory=lambda: Learner(make=tree, name="tree", copies=2))
    trained: list[int] = field(default_factory=list)

    @property
    def views(self) -> tuple[ModelView, ...]:
        return self.inner.views

    @property
    def key(self) -> Any:
        return self.inner.key

    @property
    def code(self) -> list[str]:
        return []

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        self.trained.append(len(data))
        return self.inner.see(data, points, rng)


def run(subject: Any, floor: ExperimentData, folder: Path | None = None, **options: Any) -> Models:
    coins = toss(MODELS, len(floor.records), seed=floor.seed, who="target")
    if folder is None:
        return models(subject, floor, coins, "target", Training(**options))
    with Ledger(folder / "models.sqlite", resume=True) as ledger:
        return models(subject, floor, coins, "target", Training(ledger=ledger, **options))


def kept(folder: Path) -> int:
    """Models that a ledger holds."""
    connection = sqlite3.connect(folder / "models.sqlite")
    (found,) = connection.execute("SELECT count(*) FROM work").fetchone()
    connection.close()
    return int(found)


def content(found: Models) -> list[bytes]:
    return [each.seen.tobytes() for each in found.observed] + [found.accuracy.tobytes()]


def protected(epsilon: float = 1.0) -> Protected:
    target = resolve("private-knn", {"gamma": epsilon / 2, "k": 5})
    return Protected(target=target, budgets=(1, 4), copies=2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_and_resumed_is_the_same(tmp_path: Path, jobs: int) -> None:
    """No finished model is lost or trained again, in this process or in others."""
    floor, subject = experiment_data(), Counting()

    def stop(_: str, done: int, __: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(subject, floor, tmp_path, jobs=jobs, progress=stop)
    assert kept(tmp_path) == 3
    assert len(subject.trained) == (3 if jobs == 1 else 0)
    resumed, again = (run(subject, floor, tmp_path, jobs=jobs) for _ in range(2))
    assert len(subject.trained) == (MODELS if jobs == 1 else 0)
    assert content(resumed) == content(again) == content(run(Counting(), floor))


@pytest.mark.slow
def test_answers_of_a_mechanism_do_not_depend_on_the_jobs() -> None:
    floor = experiment_data()
    assert content(run(protected(), floor)) == content(run(protected(), floor, jobs=2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty(Counting):
    """A learner whose code fails, or ends its process."""

    how: str = "raise"

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        if self.how == "exit":
            os._exit(3)
        raise ArithmeticError("out of luck")


@pytest.mark.parametrize(("how", "jobs", "cause"), [
    ("raise", 1, "target model 0: ArithmeticError was raised"),
    ("raise", 2, "target model 0: ArithmeticError was raised"),
    ("exit", 2, "the worker died (exit code 3)"),
])  # fmt: skip
def test_a_learner_that_fails_is_an_error_of_its_own(how: str, jobs: int, cause: str) -> None:
    """It ended the whole attack, as a bug of dpassay."""
    with pytest.raises(TargetError) as caught:
        run(Faulty(how=how), experiment_data(), jobs=jobs)
    assert caught.value.cause == cause


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_mechanism_that_fails_ends_only_its_own_part(jobs: int) -> None:
    """Five neighbours are asked of training sets of four."""
    floor, design = experiment_data(e=8, copies=0), Design(references=4, targets=2)
    good = Target(name="good", subject=Learner(make=tree, name="tree"))
    targets = [Target(name="bad", subject=protected()), good]
    bad, other = experiment(targets, floor, {"lira": lira}, design, jobs=jobs)
    assert "prepare on the base dataset raised InvalidInput" in bad.error
    assert not other.error
    assert other.outcomes


@pytest.mark.parametrize("change", [{"noise": 0.5}, {"copies": 3}, {"seed": 1}, {"e": 38}])
def test_other_questions_are_not_answered_from_the_store(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """Noise of the copies was once not part of the key: old answers came back."""
    run(Counting(), experiment_data(), tmp_path)
    subject, floor = Counting(), experiment_data(**change)
    found = run(subject, floor, tmp_path)
    assert content(found) == content(run(Counting(), floor))
    assert len(subject.trained) == MODELS


def test_other_mechanisms_are_not_answered_from_the_store(tmp_path: Path) -> None:
    floor = experiment_data()
    one = run(protected(), floor, tmp_path)
    other = run(protected(epsilon=2.0), floor, tmp_path)
    assert content(one) != content(other)
    assert content(other) == content(run(protected(epsilon=2.0), floor))


def test_models_of_references_and_targets_have_coins_of_their_own() -> None:
    floor = experiment_data()
    coins = toss(MODELS, 40, seed=0, who="target")
    one, other = (models(protected(), floor, coins, who) for who in ("target", "reference"))
    assert content(one) != content(other)


def test_smaller_budget_sees_the_first_answers_of_the_largest() -> None:
    found = run(protected(), experiment_data())
    one, four = found.observed[0].seen, found.observed[1].seen * 4
    assert [each.m for each in found.observed] == [1, 4, 2]
    assert (four >= one).all()
    assert np.array_equal(four.sum(axis=2), np.full(four.shape[:2], 4.0))


def test_views_of_a_learner() -> None:
    data, views = experiment_data(), (SCORES, asked(1), asked(8))
    found = run(Learner(make=tree, name="tree", copies=2), data)
    assert [each.name for each in views] == ["scores", "one label", "8 labels"]
    assert [each.m for each in views] == [None, 1, 8]
    shares, label = found.observed[0].seen, found.observed[1].seen
    assert np.array_equal(label.argmax(axis=2), shares.argmax(axis=2))
    for i in range(MODELS):
        inside = data.records.take(found.coins.rows(i))
        fitted = tree().fit(inside.X, inside.y)
        assert np.array_equal(shares[i], fitted.predict_proba(data.records.X))


def test_four_references_are_enough_for_every_attack_that_compares_with_and_without() -> None:
    """With fair coins some record of 40 was in all four reference models, or in none."""
    floor = experiment_data(copies=0)
    target = Target(name="tree", subject=Learner(make=tree, name="tree"))
    (found,) = experiment([target], floor, {"lira": lira}, Design(references=4, targets=2))
    assert found.outcomes
