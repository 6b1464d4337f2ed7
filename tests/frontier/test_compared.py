"""Rows of a comparison: exact losses, a guess by hand, failures that end one row only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpassay.data import load, points
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.frontier import run as running
from dpassay.frontier.accuracy import FrontierSplit, interval, private_accuracy, split_of
from dpassay.frontier.entries import parameters
from dpassay.frontier.run import ComparedEntries, compared, group_of, leak_of
from dpassay.targets.resolve import resolve

FEW: dict[str, Any] = {"splits": 2, "settings": Settings(budget=500)}


@pytest.fixture(scope="module")
def split() -> FrontierSplit:
    return split_of("breast-cancer", load("breast-cancer").data, 0)


def test_loss_and_guess_are_those_of_the_laws(split: FrontierSplit) -> None:
    """The twin reads both laws of each pair itself."""
    given = parameters("private-knn", 1.0, records=len(split.train), columns=30, feature=0)
    target = resolve("private-knn", given)
    found = leak_of(target, split, computed=True, settings=Settings())
    group = group_of(split, 200, 50, 0)
    mechanism: Any = target.mechanism
    queries = points(split.test.X[:50], "queries")
    base = mechanism.distribution(mechanism.prepare(split.train), queries).p
    losses, apart = np.zeros(50), 0.0
    for change in group.pairs.changes:
        neighbour = change.apply(split.train)
        p = mechanism.distribution(mechanism.prepare(neighbour), queries).p
        losses = np.maximum(losses, np.abs(np.log(base / p)).max(axis=1))
        apart = max(apart, float(np.abs(base - p).sum(axis=1).max() / 2))
    assert found["exact"]
    assert found["verdict"] == "not refuted"
    assert found["worst"] == pytest.approx(losses.max(), abs=1e-9)
    assert found["median"] == pytest.approx(np.median(losses), abs=1e-9)
    assert found["guess"] == pytest.approx((1 + apart) / 2, abs=1e-9)
    assert (1 + apart) / 2 <= 1 / (1 + math.exp(-1))


def test_what_loses_more_than_it_claims_is_seen(split: FrontierSplit) -> None:
    given = parameters(
        "projected-walk-overview", 0.5, records=90, columns=30, feature=split.feature
    )
    target = resolve("projected-walk-overview", given)
    assert leak_of(target, split, computed=True, settings=Settings())["worst"] > 1.0


def test_rows_are_the_same_again_and_need_no_attack() -> None:
    table = load("breast-cancer")
    wanted = ComparedEntries(names=("projected-walk",), attack=False, **FEW)
    one, other = ([row for row, _ in compared(table, wanted)] for _ in range(2))
    assert one == other
    assert [row["name"] for row in one] == ["non-private", "majority", "projected-walk"]
    assert all("membership" not in row for row in one)
    row = one[-1]
    assert row["accuracy"]["low"] <= row["accuracy"]["mean"] <= row["accuracy"]["high"]
    behind = one[0]["accuracy"]["mean"] - row["accuracy"]["mean"]
    assert row["behind"]["mean"] == pytest.approx(behind, abs=1e-8)


def test_a_mechanism_that_fails_ends_its_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(entry: str, *arguments: Any) -> float:
        if entry == "private-knn":
            raise InvalidInput("out of order")
        return 0.75

    monkeypatch.setattr(running, "private_accuracy", failing)
    wanted = ComparedEntries(names=("private-knn", "projected-walk"), attack=False, **FEW)
    rows = [row for row, _ in compared(load("breast-cancer"), wanted)]
    assert rows[2] == {"name": "private-knn", "epsilon": 1.0, "error": "out of order"}
    assert rows[3]["accuracy"]["mean"] == 0.75


def test_one_split_is_refused() -> None:
    with pytest.raises(InvalidInput, match="--splits = 1: must be an integer >= 2"):
        ComparedEntries(splits=1)


def test_intervals_are_those_of_a_table_of_student() -> None:
    """Mean 0.2 and standard error 0.1 of three splits; the table has 4.302653 at 2 degrees."""
    low, high = interval(0.2 + np.array([-0.1, 0.0, 0.1]) * math.sqrt(3))
    assert (low, high) == pytest.approx((0.2 - 0.4302653, 0.2 + 0.4302653), abs=1e-7)


def test_an_interval_ends_where_no_accuracy_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two splits that differ much gave an accuracy of -0.1 to 1.05."""
    values = iter((0.1, 0.9))
    monkeypatch.setattr(running, "private_accuracy", lambda *_: next(values))
    wanted = ComparedEntries(names=("projected-walk",), attack=False, **FEW)
    *_, (row, _) = compared(load("breast-cancer"), wanted)
    assert (row["accuracy"]["low"], row["accuracy"]["high"]) == (0.0, 1.0)
    assert row["behind"]["low"] >= -1
    assert row["behind"]["high"] == 1.0


def test_a_tail_below_the_least_number_is_no_accuracy_less(split: FrontierSplit) -> None:
    """At a loss of 700 the law of two bins divided by nothing."""
    given = parameters("stable-laplace", 700, records=90, columns=30, feature=split.feature)
    mechanism = resolve("stable-laplace", given).mechanism
    found = private_accuracy("stable-laplace", mechanism, split, np.random.default_rng(0))
    assert 0 <= found <= 1
