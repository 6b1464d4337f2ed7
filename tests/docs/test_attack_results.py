"""The page of attack results is made from its CSV file and the facts of its runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from benchmarks import attacks
from dpassay.attacks.experiment.mechanisms import PROTECTED
from dpassay.attacks.scores import ATTACKS

DOCS = Path(__file__).parents[2] / "docs"
TABLE = list(csv.DictReader((DOCS / "attack_results.csv").read_text(encoding="utf-8").splitlines()))
FACTS = json.loads((DOCS / "attack_results.json").read_text(encoding="utf-8"))


def test_the_page_says_what_was_found() -> None:
    assert attacks.page(TABLE, FACTS) == (DOCS / "attack_results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FACTS)
def test_it_has_every_attack_on_every_subject_and_no_broken_claim(name: str) -> None:
    mine = [row for row in TABLE if row["experiment"] == name]
    subjects = {row["subject"] for row in mine}
    expected = {
        f"{each}, epsilon = {loss}" for each in PROTECTED for loss in ("0.1", "0.5", "1", "2", "8")
    }
    protected = {subject for subject in subjects if "unprotected" not in subject}
    assert protected == (set() if "--against base" in FACTS[name]["command"] else expected)
    assert len(subjects) == len(protected) + 1
    for subject in subjects:
        assert {row["attack"] for row in mine if row["subject"] == subject} == set(ATTACKS)
    for row in mine:
        assert 0 <= float(row["auc"]) <= 1
        assert not row["claim"] or float(row["certified_epsilon"]) <= float(row["allowed_epsilon"])
        for number in ("certified", "one_run"):
            assert float(row[f"{number}_epsilon"]) <= float(row[f"{number}_cap"])
            assert float(row[f"{number}_detectable"]) > float(
                row["allowed_epsilon"] or 0 if number == "certified" else 0
            )
        if row["auc_low"]:
            assert 0 <= float(row["auc_low"]) <= float(row["auc"]) <= float(row["auc_high"]) <= 1
        else:
            # of an older version, whose intervals were around another number
            assert "--models 32" in FACTS[name]["command"]


def test_what_could_not_have_been_seen_is_not_called_not_broken() -> None:
    """The certified number beside 'not broken' could have exceeded what is allowed.

    Beside the other words it could not.
    """
    page = (DOCS / "attack_results.md").read_text(encoding="utf-8")
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.splitlines()
        if line.startswith("| ")
    ]
    told = [
        (float(row[9]), float(row[11]), row[12]) for row in cells if row[12] not in ("claim", "–")
    ]
    assert {word for _, _, word in told} == {"not broken", "could not have seen it"}
    assert all((cap > allowed) == (word == "not broken") for cap, allowed, word in told)


def test_the_runs_are_of_both_learners_on_both_data_sets() -> None:
    commands = [each["command"] for each in FACTS.values() if "--against" not in each["command"]]
    assert len({("logistic" in command, "adult" in command) for command in commands}) == 4
