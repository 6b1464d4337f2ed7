"""Exhaustive mode by symmetry on the command line: plan, run, report, replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpassay.cli.main import main
from dpassay.record.schemas import read_schema

LARGE = ["run", "projected-walk", "-p", "T=3", "--mode", "exhaustive", "--n", "10", "--domain", "2"]
OWN = '''
"""The label of the majority of the records, told wrongly with probability 1 / (1 + e)."""

import numpy as np

from dpassay import DP, bernoulli_law


class Majority:
    claims = (DP(epsilon=1.0),)
    exchangeable = True

    def symmetries(self, sides):
        return ("points",)

    def prepare(self, data):
        return 1.0 if 2 * data.y.sum() > len(data) else -1.0

    def distribution(self, state, queries):
        return bernoulli_law(np.full(len(queries), state))

    def sample(self, state, queries, size, rng):
        return (rng.random((size, len(queries))) < 1 / (1 + np.exp(-state))).astype(int)


class First(Majority):
    def prepare(self, data):
        return 2.0 * data.y[0] - 1
'''


def result_of(folder: Path) -> dict[str, Any]:
    record = json.loads((folder / "out/record.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(read_schema("record")).validate(record)
    (result,) = record["results"]
    found: dict[str, Any] = result
    return found


@pytest.mark.usefixtures("undrawn")
def test_a_million_datasets_through_some_representatives(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """286 multisets of 10 of 4 records; the exchange of labels keeps 6."""
    assert main([*LARGE, "--dry-run"]) == 0
    assert (
        "projected-walk: the laws of 146 representatives of all 1,048,576 datasets of 10 records"
    ) in " ".join(capsys.readouterr().out.split())
    assert main([*LARGE, "--out", "out"]) == 0
    result = result_of(folder)
    assert result["verdict"] == "verified"
    assert result["searched"]["symmetry"] == {
        "representatives": 146,
        "laws": 7,
        "compared": 16,
        "exchangeable": True,
        "symmetries": ["labels"],
        "declared": "dpassay.mechanisms.dwork_feldman_2018.projected_walk:ProjectedWalk",
        "checked": 146,
    }
    assert result["exact"] == result["any_size"]["exact"]
    report = (folder / "out/report.md").read_text(encoding="utf-8").replace("\\", "")
    assert (
        "The laws of 146 representatives were computed: every dataset is one of them up to the "
        "order of records and an exchange of the labels. dpassay.mechanisms.dwork_feldman_2018."
        "projected_walk:ProjectedWalk declares that its law does not depend on the order of "
        "records, and moves along with the rest. That was checked on each of these, in two other "
        "orders and moved at random; it was not proven. 7 different laws at one query were found, "
        "and the leak of 16 pairs of them was read."
    ) in report
    page = (folder / "out/index.html").read_text(encoding="utf-8")
    assert "1,048,576 datasets through 146 representatives, 15,728,640 pairs" in page
    assert "Every dataset of this domain is one of those that were computed, up to" in page
    capsys.readouterr()
    assert main(["explain", result["id"], "--record", "out/record.json"]) == 0
    assert "through 146 representatives" in " ".join(capsys.readouterr().out.split())
    assert main(["replay", f"out/witnesses/{result['id']}.json"]) == 0
    assert "\nreproduced: loss 0.727336293803" in capsys.readouterr().out


@pytest.mark.usefixtures("undrawn")
def test_code_of_ones_own_declares_it_too(folder: Path) -> None:
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    size = ["--mode", "exhaustive", "--n", "6", "--domain", "3", "--out", "out"]
    assert main(["run", "own:Majority", *size]) == 0
    result = result_of(folder)
    found = result["searched"]["symmetry"]
    assert (found["declared"], found["symmetries"]) == ("own:Majority", ["points"])
    assert found["representatives"] < 462
    assert main(["run", "own:First", *size]) == 3
    result = result_of(folder)
    assert result["verdict"] == "error"
    assert "declares exchangeable records, but has different laws" in result["reason"]
