"""`--search` and `--together`: the worst pair is searched for, from every place that may say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.record.schemas import fault
from tests.cli.conftest import line

pytestmark = pytest.mark.usefixtures("few_pairs", "undrawn")

CODE = """
import numpy as np

def loud(data, size, rng):
    return data.sum() + rng.laplace(scale=0.3, size=size)

def quiet(data, size, rng):
    return data[0] + rng.laplace(scale=2.0, size=size)

def votes(data, queries, size, rng):
    p = 1 / (1 + np.exp(-2 * (data.y.mean() - 0.5)))
    return (rng.random((size, len(queries))) < p).astype(int)

class Own:
    claims = ()
    def prepare(self, data):
        return data.y.sum()
    def sample(self, state, queries, size, rng):
        return np.repeat(rng.random((size, 1)) < state / 9, len(queries), axis=1).astype(int)
"""
SMALL = ["--budget", "300", "-q", "--executor", "inline"]
CLAIM = ["--claim", "epsilon=1"]


@pytest.fixture
def code(folder: Path) -> Path:
    (folder / "mine.py").write_text(CODE, encoding="utf-8")
    rows = [f"{k % 7},{k % 3},{k % 2}" for k in range(40)]
    (folder / "people.csv").write_text("\n".join(["a,b,label", *rows]) + "\n", encoding="utf-8")
    return folder


def record(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path, "record.json").read_text(encoding="utf-8"))
    assert fault(found, "record") == ""
    return found


ALLOWED = "must be answers,size=N or scalars,low=A,high=B or records or table,file=F"
WRONG = {
    "anwsers,size=5": "'anwsers' is no such kind of data; did you mean 'answers'?",
    "tables": "'tables' is no such kind of data; did you mean 'table'?",
    "tree": "'tree' is no such kind of data; known: answers, scalars, records, table",
    "table": "file is missing",
    "table,file=none.csv": "file = 'none.csv': no such file",
    "table,file=people.csv,label=c": (
        "label = 'c': the data have no such column; it has a, b, label"
    ),
    "answers": "size is missing",
    "answers,size=x": "size = 'x': must be an integer",
    "answers,size=0": "size = 0: must be an integer >= 1",
    "answers,size=2,sensitivity=-1": "sensitivity = -1.0: must be a finite number > 0",
    "answers,sise=3": "'sise' is no parameter of answers; did you mean 'size'?",
    "answers,size": "'size' must have the form name=value",
    "Answers(size=5)": "'Answers(size=5)' is no such kind of data; did you mean 'answers'?",
    "scalars,low=0": "high is missing",
    "records,fixed=maybe": "fixed = 'maybe': must be true or false",
    "records,asked=0": "asked = 0: must be an integer >= 1",
    '{name="scalars", low=0, high=1, values=[2]}': (
        "values: must be numbers in [0, 1], all of them"
    ),
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_search_is_one_line(
    said: str, code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del code
    told = line(["run", "mine:loud", *CLAIM, "--search", said], capsys)
    assert told == f"--search = '{said}': {ALLOWED}; {WRONG[said]}"


ANSWERS = ["--search", "answers,size=1"]
APART = {
    "together alone": (["mine:loud", *CLAIM, "--together"], "--together: requires --search rec"),
    "together with answers": (
        ["mine:loud", *CLAIM, *ANSWERS, "--together"],
        "--together: requires --search records",
    ),
    "answers": (["mine:loud", *CLAIM, *ANSWERS, "--answers", "0,1"], "--answers: has no effect"),
    "exact": (
        ["mine:loud", *CLAIM, *ANSWERS, "--mode", "exact"],
        "--search: has no effect with --mode exact",
    ),
    "the whole catalogue": (ANSWERS, "--search = 'answers,size=1' (command line): needs a TARGET"),
    "a catalogue name": (
        ["soft-majority", *ANSWERS],
        "--search = 'answers,size=1': must be records or table,file=F,label=L; 'soft-majority'",
    ),
    "together of a mechanism": (
        ["soft-majority", "--search", "records", "--together"],
        "--together: only for a plain function; 'soft-majority' answers each query by itself",
    ),
    "one size": (
        ["erm-laplace", "--search", "records"],
        "--search = 'records': must be records,fixed=true; 'erm-laplace' speaks of datasets of",
    ),
    "no claim about events": (
        ["averaged", "--search", "records"],
        "search: 'averaged' claims PredictionStability(0.04); a search goes with claims of",
    ),
    "bits of a mechanism": (
        ["soft-majority", "--search", "records,bits=true"],
        "bits: only for functions and programs; 'soft-majority' is none",
    ),
    "no claim": (["mine:loud", *ANSWERS], "'mine:loud' is a plain function and has no claim of"),
}


@pytest.mark.parametrize("name", APART)
def test_what_does_not_go_with_a_search(
    name: str, code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del code
    words, told = APART[name]
    assert line(["run", *words, "--executor", "inline"], capsys).startswith(told)


def test_plan_says_what_to_use_instead(code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del code
    assert "use dpassay run --search ... --dry-run" in line(
        ["plan", "mine:loud", *CLAIM, *ANSWERS], capsys
    )


def test_a_search_from_the_command_line_to_the_replay(
    code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mine:loud", *CLAIM, *ANSWERS, *SMALL, "--out", "one"]) == 1
    found = record("one")
    (result,) = found["results"]
    assert result["verdict"] == "refuted"
    assert result["claim"]["relation"] == "answers-1"
    assert result["searched"]["space"] == "1 true answer, which a change moves by at most 1"
    assert found["run"]["command"].startswith(
        "dpassay run mine:loud --claim epsilon=1 --search answers,size=1 --budget 300"
    )
    (witness, *_) = (code / "one" / "witnesses").iterdir()
    capsys.readouterr()
    assert main(["replay", str(witness), "--trust"]) == 1
    assert "is refuted here" in capsys.readouterr().out
    assert main(["explain", result["id"], "--record", "one/record.json"]) == 0
    assert "A search found the pair" in " ".join(capsys.readouterr().out.split())
    assert main(["report", "one/record.json", "--out", "again"]) == 0
    again = (code / "again" / "report.md").read_text(encoding="utf-8")
    assert again == (code / "one" / "report.md").read_text(encoding="utf-8")
    assert main(["compare", "one/record.json", "one/record.json"]) == 1
    assert main(["run", "mine:loud", *CLAIM, *ANSWERS, *SMALL, "--out", "one", "--resume"]) == 1
    assert record("one") == found


@pytest.mark.slow
def test_relation_and_words_follow_the_sensitivity(code: Path) -> None:
    del code
    told = '{name="answers", size=2, sensitivity=0.5}'
    assert main(["run", "mine:quiet", *CLAIM, "--search", told, *SMALL, "--out", "one"]) in (0, 4)
    (result,) = record("one")["results"]
    assert result["claim"]["relation"] == "answers-0.5"
    assert result["searched"]["space"].endswith("each of which a change moves by at most 0.5")


TOML = """
budget = 300
search = "answers,size=2"

[[mechanisms]]
target = "mine:quiet"
claim = { epsilon = 1.0 }

[[mechanisms]]
target = "mine:votes"
claim = { epsilon = 1.0 }
search = { name = "records", asked = 2 }
together = true
"""


def test_a_file_says_what_each_mechanism_is_searched_among(
    code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code / "dpassay.toml").write_text(TOML, encoding="utf-8")
    assert main(["config", "--show"]) == 0
    shown = [" ".join(each.split()) for each in capsys.readouterr().out.splitlines()]
    assert "search answers,size=2 dpassay.toml" in shown
    assert "search records,asked=2" in shown
    assert "all answers of a run together" in shown
    more = ["--data", "people.csv", "--label", "label", "--dry-run", "--executor", "inline"]
    assert main(["run", *more]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "mine:quiet, DP(1): a search among 2 true answers, each of which" in told
    assert "mine:votes, DP(1): a search among records of 2 features with labels 0, 1" in told
    assert main(["run", *more, "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert [each["mechanism"] for each in planned] == ["mine:quiet", "mine:votes"]
    assert all(each["search"]["rounds"][0][0] <= 256 for each in planned)


BROKEN = {
    'search = "answer,size=2"': "dpassay.toml: search = 'answer,size=2': must be answers,size=N",
    "search = 5": "dpassay.toml: search = 5: must be answers,size=N",
    'together = "yes"': "dpassay.toml: together = 'yes': must be true or false",
    '[[mechanisms]]\ntarget = "mine:loud"\nsearch = "record"': (
        "dpassay.toml, mechanism 1: search = 'record': must be answers,size=N"
    ),
    '[[mechanisms]]\ntarget = "mine:loud"\ntogether = 1': (
        "dpassay.toml, mechanism 1: together = 1: must be true or false"
    ),
    '[[mechanisms]]\ntarget = "mine:loud"\nclaim = { epsilon = 1 }\ntogether = true': (
        "dpassay.toml, mechanism 1: together: requires --search records"
    ),
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_is_wrong_is_one_line(
    text: str, code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code / "dpassay.toml").write_text(text + "\n", encoding="utf-8")
    assert line(["run"], capsys).startswith(BROKEN[text])


def test_variables_say_it_and_stand_in_the_command(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del code
    monkeypatch.setenv("DPASSAY_SEARCH", "records,asked=2")
    monkeypatch.setenv("DPASSAY_TOGETHER", "true")
    more = ["--data", "people.csv", "--label", "label", "--out", "one"]
    main(["run", "mine:votes", *CLAIM, *more, *SMALL])
    found = record("one")
    assert found["run"]["command"].startswith(
        "dpassay run --search=records,asked=2 --together mine:votes"
    )
    assert found["run"]["data"]["name"] == "people.csv"
    searched = found["results"][0]["searched"]
    assert searched["together"] is True
    assert searched["space"].startswith("records of 2 features with labels 0, 1")


@pytest.mark.slow
def test_no_together_switches_off_what_a_variable_says(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del code
    monkeypatch.setenv("DPASSAY_TOGETHER", "true")
    words = ["--search", "records,asked=1", "--no-together", "--train", "9"]
    main(["run", "mine:votes", *CLAIM, *words, *SMALL, "--out", "one"])
    assert "together" not in record("one")["results"][0]["searched"]


@pytest.mark.slow
def test_jobs_and_isolation_change_no_number(code: Path) -> None:
    del code
    words = ["run", "mine:votes", *CLAIM, "--search", "records,asked=2", "--budget", "300", "-q"]
    more = ["--train", "12"]
    for out, how in {
        "inline": ["--executor", "inline"],
        "apart": [],
        "two": ["--jobs", "2"],
    }.items():
        main([*words, *more, *how, "--out", out])
    first = record("inline")["results"]
    assert record("apart")["results"] == first
    assert record("two")["results"] == first


@pytest.mark.slow
def test_mechanisms_and_names_of_the_catalogue_are_searched(code: Path) -> None:
    del code
    words = ["--search", "records,fixed=true,asked=2", "--train", "30", *SMALL, "--out", "one"]
    assert main(["run", "soft-majority", *words]) in (0, 4)
    results = record("one")["results"]
    assert all(each["searched"]["search"] for each in results)
    assert main(["run", "mine:Own", *CLAIM, *words]) == 1


@pytest.mark.slow
def test_bits_are_looked_at_where_they_are_asked_for(code: Path) -> None:
    text = "def naive(data, size, rng):\n    return data.sum() + rng.laplace(size=size)\n"
    (code / "naive.py").write_text(text, encoding="utf-8")
    words = ["run", "naive:naive", *CLAIM, "--budget", "1500", "-q", "--executor", "inline"]
    assert main([*words, "--search", "answers,size=1"]) in (0, 4)
    assert main([*words, "--search", "answers,size=1,bits=true"]) == 1
