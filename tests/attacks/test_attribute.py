"""Attribute inference: twins with two values, and the machinery of membership on them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, columns_of, lay, twins
from dpassay.attacks.experiment.subjects import AskedPoints, Learner, ModelView, Subject, asked
from dpassay.attacks.scores import ATTACKS, Attack, lira
from dpassay.data import Labelled, Table, load
from dpassay.errors import InvalidInput
from tests.attacks.command import attack
from tests.attacks.toys import Memory, Nothing


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    n = 150
    columns = {
        "work": rng.choice(["office", "field", "none"], size=n),
        "age": rng.integers(18, 80, size=n),
        "sex": rng.choice(["f", "m"], size=n),
        "member": rng.integers(2, size=n),
        "income": rng.choice(["high", "low"], size=n),
    }
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_columns_are_where_the_encoding_puts_them(people: Path) -> None:
    table, frame = load(str(people), "income"), pd.read_csv(people)
    assert list(table.columns) == ["age", "member", "work", "sex"]
    places = sorted(i for columns in table.columns.values() for i in columns)
    assert places == list(range(table.data.X.shape[1]))
    for name, columns in table.columns.items():
        expected = pd.get_dummies(frame[[name]], dtype=float).to_numpy(dtype=float)
        np.testing.assert_array_equal(table.data.X[:, list(columns)], expected)


def test_an_attribute_is_named_or_numbered(people: Path) -> None:
    table = load(str(people), "income")
    assert columns_of(table, "sex") == (5, 6)
    assert columns_of(table, "6") == (5, 6)
    assert columns_of(table, "0") == (0,)
    assert columns_of(table, "label") is columns_of(table, "income") is None
    assert columns_of(Table(data=table.data, source={}), "label") is None
    assert columns_of(load("breast-cancer"), "mean radius") == (0,)
    for name in ("colour", "7", "-1"):
        with pytest.raises(InvalidInput, match="no such column; there are label, age, member"):
            columns_of(table, name)


@pytest.mark.parametrize("name", ["work", "age", "member"])
def test_twins_differ_in_the_attribute_alone(people: Path, name: str) -> None:
    table = load(str(people), "income")
    columns = list(table.columns[name])
    made = twins(table.data, columns, seed=1)
    assert len(made) == 2 * len(table.data)
    known = {tuple(values) for values in table.data.X[:, columns].tolist()}
    for i in range(len(table.data)):
        own, other = made.X[2 * i], made.X[2 * i + 1]
        np.testing.assert_array_equal(own, table.data.X[i])
        np.testing.assert_array_equal(np.delete(own, columns), np.delete(other, columns))
        assert tuple(other[columns].tolist()) in known - {tuple(own[columns].tolist())}
        assert made.y[2 * i] == made.y[2 * i + 1] == table.data.y[i]


def test_the_label_may_be_the_attribute(people: Path) -> None:
    data = load(str(people), "income").data
    made = twins(data, None, seed=1)
    np.testing.assert_array_equal(made.X[0::2], made.X[1::2])
    np.testing.assert_array_equal(made.y[0::2], data.y)
    np.testing.assert_array_equal(made.y[1::2], 1 - data.y)


def test_one_value_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least two values"):
        twins(Labelled(np.ones((4, 2)), np.array([0, 1, 0, 1])), [1], seed=1)


@pytest.mark.parametrize("attribute", ["mean radius", "label"])
@pytest.mark.parametrize("kind", [Memory, Nothing])
def test_values_are_guessed_by_the_machinery_of_membership(
    attribute: str, kind: type[Memory]
) -> None:
    floor, facts = lay(load("breast-cancer"), Scenario(records=80, copies=0, attribute=attribute))
    assert (facts["attribute"], facts["records"]) == (attribute, 80)
    target = Target(name="it", subject=Learner(make=kind, name=kind.__name__))
    attacks: dict[str, Attack] = {"loss": ATTACKS["loss-threshold"], "lira": lira}
    design = Design(references=16, targets=20)
    (found,) = experiment([target], floor, attacks, design)
    for outcome in found.outcomes:
        assert outcome.one_run is not None
        if kind is Nothing:
            # the label is that of the first class for all
            assert outcome.auc == 0.5 or outcome.view.m is not None
            assert outcome.one_run.epsilon == 0
        elif attribute == "label" or outcome.view.m is None:
            assert outcome.auc == 1.0
            assert outcome.one_run.v == outcome.one_run.r == outcome.one_run.m == 800
    bounds = [each.lower.value for each in found.certified["scores"]]
    assert all(bound > 0.9 if kind is Memory else bound == 0 for bound in bounds)


def test_an_attribute_on_the_command_line(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"--against base --data {people} --label income --attribute sex -q --json --copies 0"
    assert attack(f"{words} --references 4 --models 4 --attacks loss-threshold") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["run"]["attribute"] == "sex"
    assert record["run"]["records"] == 120
    assert record["subjects"][0]["outcomes"][0]["slices"] == []


@dataclass(frozen=True, kw_only=True, eq=False)
class Flipped(Subject):
    """Randomised response on the label that a record of the training set has at the point.

    An answer at a pair of twins shows the coin of this pair alone: its loss is exactly epsilon.
    """

    epsilon: float
    views: tuple[ModelView, ...] = (asked(1),)

    @property
    def key(self) -> Any:
        return ["toy", f"epsilon = {self.epsilon}"]

    @property
    def code(self) -> list[str]:
        return []

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> np.ndarray:
        known = dict(zip(map(bytes, data.X), data.y.tolist(), strict=True))
        labels = np.array([known.get(bytes(x), 0) for x in points.X])
        flips = rng.random(len(labels)) < 1 / (1 + np.exp(self.epsilon))
        return np.asarray(np.eye(2)[np.where(flips, 1 - labels, labels)][None])


@pytest.mark.slow
@pytest.mark.parametrize("adversary", ["nat-minq", "pois-miaq"])
def test_bounds_hold_on_a_boundary_mechanism(adversary: str) -> None:
    table, wrong, runs, alpha = load("breast-cancer"), 0, 120, 0.1
    design = Design(references=6, targets=30, certified=1, confidence=1 - alpha)
    for seed in range(runs):
        setting = Scenario(
            records=40, copies=0, attribute="label", adversary=adversary, poisoned=2, seed=seed
        )
        floor, _ = lay(table, setting)
        target = Target(name="toy", subject=Flipped(epsilon=1.0))
        (found,) = experiment([target], floor, {}, design)
        (bound,) = found.certified["one label"]
        assert bound.lower.alpha == pytest.approx(alpha)
        wrong += bound.lower.value > 1

    assert wrong <= binom.isf(0.01, runs, alpha)
    assert wrong > 0
