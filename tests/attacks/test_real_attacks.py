"""Attacks on real data: two learners, unprotected and behind six mechanisms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.accuracy import tables
from dpassay.attacks.experiment.mechanisms import PROTECTED
from dpassay.attacks.scores import ATTACKS
from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.reports.attack.paired import paired
from tests import needed

NOISE = (np.log(2 / 1e-4) / (2 * 800)) ** 0.5
"""How far the share of 800 scores above a threshold may be from its mean, for all thresholds at
once, but for one case in 10,000 (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990): curves of
members and of others are estimates."""


def attack(folder: Path, *words: str) -> dict[str, Any]:
    """No claim is broken, though eight targets could break few of them; and the record."""
    known = ["--copies", "0", "-q", "--out", str(folder), "--allow-inconclusive"]
    assert main(["attack", *words, *known]) == Exit.NOTHING
    record: dict[str, Any] = json.loads((folder / "attack.json").read_text(encoding="utf-8"))
    return record


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options that name a file of 4,000 of its records."""
    data = dict(tables(needed.data()))["adult"].take(slice(4000))
    path = tmp_path_factory.mktemp("adult") / "adult.csv"
    header = ",".join([*(f"x{i}" for i in range(data.X.shape[1])), "income"])
    np.savetxt(
        path, np.column_stack([data.X, data.y]), delimiter=",", header=header, comments="", fmt="%g"
    )
    return ["--data", str(path), "--label", "income"]


def outcome(subject: dict[str, Any], name: str, view: str = "scores") -> dict[str, Any]:
    (found,) = [
        each
        for each in subject["outcomes"]
        if each["attack"] == name and each["view"]["name"] == view
    ]
    return dict(found)


@pytest.mark.slow
@pytest.mark.parametrize(("data", "learner", "losses"), [
    ("breast-cancer", "tree", ("0.1", "8")),
    ("adult", "logistic", ("1",)),
])  # fmt: skip
def test_every_attack_on_the_learner_and_on_six_mechanisms(
    data: str, learner: str, losses: tuple[str, ...], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = request.getfixturevalue("adult") if data == "adult" else []
    words = f"--learner {learner} --records 200 --references 16 --models 8 --transcripts 0"
    record = attack(tmp_path, *where, *words.split(), "--epsilon", ",".join(losses))
    names = [f"{name}, epsilon = {loss}" for name in PROTECTED for loss in losses]
    names.insert(0, f"{learner} (unprotected)")
    assert [subject["name"] for subject in record["subjects"]] == names
    for subject in record["subjects"]:
        assert subject["error"] is None
        views = {each["view"]["name"] for each in subject["outcomes"]}
        assert views == (
            {"scores", "one label"} if subject["claim"] is None else {"one label", "8 labels"}
        )
        assert len(subject["outcomes"]) == len(ATTACKS) * len(views)
        for each in subject["outcomes"]:
            assert 0.3 < each["auc"] < 1
            assert 0 <= each["advantage"] <= 1
        if subject["claim"] is not None and subject["claim"]["epsilon"] <= 1:
            assert all(
                each["beyond"] <= NOISE for each in subject["outcomes"] if each["attack"] != "rmia"
            )


@pytest.mark.slow
@pytest.mark.parametrize("data", ["breast-cancer", "adult"])
def test_lira_finds_more_members_of_an_unprotected_tree_than_the_loss_threshold(
    data: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = request.getfixturevalue("adult") if data == "adult" else []
    more = [] if data == "breast-cancer" else ["--records", "2000"]
    record = attack(tmp_path, "--against", "base", *where, *more)
    (tree,) = record["subjects"]
    lira, simple = outcome(tree, "lira"), outcome(tree, "loss-threshold")
    found = paired(lira, simple)
    assert found is not None
    assert found.low > 0
    assert lira["one_run"]["epsilon"] > 1  # outside the region of epsilon = 1, certified
