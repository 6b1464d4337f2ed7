"""`--search table`: records of any kind, from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.csv_files import read_frame
from dpassay.record.schemas import fault

pytestmark = pytest.mark.usefixtures("few_pairs", "undrawn")

CODE = """
def histogram(data, size, rng):
    counts = data["income"].value_counts()
    noisy = counts.to_numpy() + rng.laplace(size=(size, len(counts)))
    return [dict(zip(counts.index, each)) for each in noisy.round().tolist()]


def known(data, size, rng):
    counts = [(data["income"] == each).sum() for each in ("low", "high")]
    return counts + rng.laplace(size=(size, 2))


def guess(data, queries, size, rng):
    assert list(queries.columns) == ["age", "city"]
    p = 0.5 + 0.1 * (data["income"] == "high").mean()
    return rng.random((size, len(queries))) < p


class Most:
    def __init__(self, wanted=1, layers=None):
        self.wanted, self.layers = wanted, layers

    def fit(self, X, y):
        assert list(X.columns) == ["age", "city"]
        self.most = "high" if (y == "high").sum() >= self.wanted else "low"

    def predict(self, X):
        return [self.most] * len(X)


most = Most()
"""
PEOPLE = """age,city,income
23,Bern,low
35,,high
,Oslo,low
58,Bern,low
"""


@pytest.fixture
def people(folder: Path) -> Path:
    (folder / "shop.py").write_text(CODE, encoding="utf-8")
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "more", "code"),
    [
        ("histogram", "relation=add-remove", 1),
        ("guess", "label=income", 4),
    ],
)
def test_a_file_is_searched_and_the_witness_replays(
    function: str, more: str, code: int, people: Path
) -> None:
    search = f"table,file=people.csv,{more}"
    run = ["run", f"shop:{function}", "--claim", "epsilon=1", "--search", search, "--out", "out"]
    assert main([*run, "--budget", "1000", "-q", "--executor", "inline"]) == code
    record = json.loads((people / "out/record.json").read_text(encoding="utf-8"))
    assert fault(record, "record") == ""
    relation = more if "relation" in more else "relation=replace-one"
    assert f"relation={record['results'][0]['claim']['relation']}" == relation
    for witness in (people / "out/witnesses").glob("*.json"):
        assert fault(json.loads(witness.read_text(encoding="utf-8")), "witness") == ""
        assert main(["replay", str(witness), "--trust"]) == (code == 1)


@pytest.mark.slow
def test_an_estimator_is_searched_on_the_data_of_the_run(people: Path) -> None:
    thing = ["shop:Most", "-p", "wanted=2", "-p", "layers=[1, 2]", "--claim", "epsilon=1"]
    data = ["--data", "people.csv", "--label", "income", "--budget", "200", "--executor", "inline"]
    assert main(["run", *thing, *data, "--out", "out", "-q"]) == 1
    (result,) = json.loads((people / "out/record.json").read_text(encoding="utf-8"))["results"]
    assert result["parameters"] == {"wanted": "2", "layers": [1, 2]}
    (witness,) = (people / "out/witnesses").glob("*.json")
    assert main(["replay", str(witness), "--trust"]) == 1  # reproduced, and refuted


@pytest.mark.slow
def test_a_function_that_is_asked_at_no_points_is_too(people: Path) -> None:
    read_frame(people / "people.csv", missing=True).to_parquet(people / "people.parquet")
    for form in ("csv", "parquet"):
        run = ["run", "shop:known", "--claim", "epsilon=1", "--data", f"people.{form}", "-q"]
        assert main([*run, "--out", form, "--executor", "inline", "--budget", "1000"]) == 1
        (result,) = json.loads((people / form / "record.json").read_text())["results"]
        assert result["claim"]["relation"] == "replace-one"


@pytest.mark.usefixtures("people")
def test_an_estimator_needs_to_be_told_its_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shop:most", "--claim", "epsilon=1"]) == 2
    assert "--data people.csv --label income --claim epsilon=1" in capsys.readouterr().err
    run = ["run", "shop:most", "--claim", "epsilon=1", "--data"]
    assert main([*run, "people.csv"]) == 2
    assert "--label is missing" in capsys.readouterr().err
    assert main([*run, "peple.csv", "--label", "income"]) == 2
    assert "--data = 'peple.csv': no such file; did you mean" in capsys.readouterr().err
    assert main(["run", "shop:known", "--claim", "epsilon=1", "--data", "peple.csv"]) == 2
    assert "--data = 'peple.csv': no such file; did you mean" in capsys.readouterr().err


def test_a_law_that_was_read_of_a_table_replays(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (people / "whole.csv").write_text(PEOPLE.replace("\n,Oslo", "\n41,Oslo"), encoding="utf-8")
    run = ["run", "soft-majority", "-p", "r=2", "--learner", "tree", "--out", "out", "-q"]
    assert main([*run, "--search", "table,file=whole.csv,label=income"]) == 0
    for witness in (people / "out/witnesses").glob("*.exact.json"):
        assert main(["replay", str(witness)]) == 0
    assert "reproduced: loss " in capsys.readouterr().out
