"""`--search` and what goes with it: how the worst pair is searched for, wherever that is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.engine.searching import search as searching
from dpassay.record.schemas import fault
from tests.cli.conftest import line

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("few_pairs", "undrawn")

CODE = """
import numpy as np

def loud(data, size, rng):
    return data.sum() + rng.laplace(scale=0.3, size=size)

def quiet(data, size, rng):
    return data[0] + rng.laplace(scale=2.0, size=size)

def yes(data, rng):
    return "yes" if data.sum() + rng.laplace(scale=0.2) > 0.5 else "no"

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
ANSWERS = ["--search", "answers,size=1"]
YES = ["run", "mine:yes", *CLAIM, *ANSWERS, *SMALL]


@pytest.fixture(autouse=True)
def code(folder: Path) -> Path:
    (folder / "mine.py").write_text(CODE, encoding="utf-8")
    rows = [f"{k % 7},{k % 3},{k % 2}" for k in range(40)]
    (folder / "people.csv").write_text("\n".join(["a,b,label", *rows]) + "\n", encoding="utf-8")
    return folder


def record(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path, "record.json").read_text(encoding="utf-8"))
    assert fault(found, "record") == ""
    return found


def searched(path: str) -> dict[str, Any]:
    (result,) = record(path)["results"]
    found: dict[str, Any] = result["searched"]
    return found


def replayed(out: str, capsys: Capture, code: int = 1) -> str:
    """Replay a witness, by default of a refutation, and return what is said."""
    (witness, *_) = Path(out, "witnesses").iterdir()
    capsys.readouterr()
    assert main(["replay", str(witness), "--trust"]) == code
    return capsys.readouterr().out


SEARCHES = "must be answers,size=N or scalars,low=A,high=B or records or table,file=F"
OUTPUTS = "must be label, number, vector, sequence or text, or two or more values like yes,no"
WRONG = {
    "--search": {
        "anwsers,size=5": f"{SEARCHES}; 'anwsers' is no such kind of data; did you mean 'answers'?",
        "tree": f"{SEARCHES}; 'tree' is no such kind of data; known: answers, scalars, records, ta",
        "table,file=people.csv,label=c": (
            f"{SEARCHES}; label = 'c': the data have no such column; it has a, b, label"
        ),
        "answers": f"{SEARCHES}; size is missing",
        "answers,size=2,sensitivity=-1": (
            f"{SEARCHES}; sensitivity = -1.0: must be a finite number > 0"
        ),
        "answers,sise=3": f"{SEARCHES}; 'sise' is no parameter of answers; did you mean 'size'?",
        "answers,size": f"{SEARCHES}; 'size' must have the form name=value",
        "records,fixed=maybe": f"{SEARCHES}; fixed = 'maybe': must be true or false",
        "records,asked=0": f"{SEARCHES}; asked = 0: must be an integer >= 1",
        '{name="scalars", low=0, high=1, values=[2]}': (
            f"{SEARCHES}; values: must be numbers in [0, 1], all of them"
        ),
    },
    "--output": {
        "lable": f"{OUTPUTS}; did you mean 'label'?",
        "reports/one": f"{OUTPUTS}; a folder is --out reports/one",
        "7": f"{OUTPUTS}; this is neither",
        "[7]": f"{OUTPUTS}; all are alike",
        '["a", "b"': f'{OUTPUTS}; write ["a", "b"]',
    },
    "--search-seconds": {"1m": "must be a finite number > 0"},
}


@pytest.mark.parametrize(
    ("option", "said"), [(option, said) for option, rows in WRONG.items() for said in rows]
)
def test_a_wrong_value_is_one_line(option: str, said: str, capsys: Capture) -> None:
    told = line([*YES, option, said], capsys)
    assert told.startswith(f"{option} = '{said}': {WRONG[option][said]}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["mine:loud", *CLAIM, *ANSWERS, "--together"],
            "--together: requires --search records",
        ),
        (["mine:loud", *CLAIM, *ANSWERS, "--answers", "0,1"], "--answers: has no effect"),
        (
            ["mine:loud", *CLAIM, *ANSWERS, "--mode", "exact"],
            "--search: has no effect with --mode exact",
        ),
        (
            ["mine:loud", *CLAIM, "--output", "yes,no"],
            '--output = \'["yes", "no"]\': requires --search; without one, --answers says what',
        ),
        (["mine:loud", *CLAIM, "--search-seconds", "5"], "--search-seconds: requires --search"),
        (ANSWERS, "--search = 'answers,size=1' (command line): needs a TARGET"),
        (
            ["soft-majority", *ANSWERS],
            "--search = 'answers,size=1': must be records or table,file=F,label=L; 'soft-majority'",
        ),
        (
            ["soft-majority", "--search", "records", "--together"],
            "--together: only for a plain function; 'soft-majority' answers each query by itself",
        ),
        (
            ["erm-laplace", "--search", "records"],
            "--search = 'records': must be records,fixed=true; 'erm-laplace' speaks of datasets of",
        ),
        (
            ["averaged", "--search", "records"],
            "search: 'averaged' claims PredictionStability(0.04); a search goes with claims of",
        ),
        (
            ["soft-majority", "--search", "records,bits=true"],
            "bits: only for functions and programs; 'soft-majority' is none",
        ),
        (["mine:loud", *ANSWERS], "'mine:loud' is a plain function and has no claim of"),
    ],
)
def test_what_does_not_go_with_a_search(words: list[str], told: str, capsys: Capture) -> None:
    assert line(["run", *words, "--executor", "inline"], capsys).startswith(told)


def test_plans_say_what_is_searched(capsys: Capture) -> None:
    said = line(["plan", "mine:loud", *CLAIM, *ANSWERS], capsys)
    assert "use dpassay run --search ... --dry-run" in said
    told = '{name="answers", size=2, sensitivity=0.5}'
    words = ["run", "mine:quiet", *CLAIM, "--search", told, "--search-seconds", "30", "--dry-run"]
    assert main(words) == 0
    planned = " ".join(capsys.readouterr().out.split())
    assert "2 true answers, each of which a change moves by at most 0.5" in planned
    assert "the search ends after 30 s at the latest" in planned


def test_a_search_from_the_command_line_to_the_replay(capsys: Capture) -> None:
    words = ["run", "mine:loud", *CLAIM, *ANSWERS, *SMALL, "--out", "one"]
    assert main(words) == 1
    found = record("one")
    (result,) = found["results"]
    assert result["verdict"] == "refuted"
    assert result["claim"]["relation"] == "answers-1"
    assert result["searched"]["space"] == "1 true answer, which a change moves by at most 1"
    assert found["run"]["command"].startswith(
        "dpassay run mine:loud --claim epsilon=1 --search answers,size=1 --budget 300"
    )
    assert "is refuted here" in replayed("one", capsys)
    assert main([*words, "--resume"]) == 1
    assert record("one") == found


def test_the_record_keeps_the_output_and_the_witness_replays(capsys: Capture) -> None:
    assert main([*YES, "--output", "yes, no, 5", "--out", "one"]) == 1
    (result,) = record("one")["results"]
    assert result["searched"]["output"] == ["yes", "no", 5]
    assert result["witness"]["free"]["output"] == ["yes", "no", 5]
    assert "reproduced" in replayed("one", capsys)


def test_another_output_is_an_error_in_one_line(capsys: Capture) -> None:
    words = [word for word in YES if word != "-q"]
    assert main([*words, "--output", "number", "--out", "one"]) == 3
    (told,) = [each for each in capsys.readouterr().err.splitlines() if "error" in each]
    assert "error: output = 'number': sample on a pilot dataset returned '" in told
    assert told.endswith("; must be a number")
    assert record("one")["results"][0]["verdict"] == "error"


def test_the_report_says_that_time_ended_it_and_its_witness_replays(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Seconds that are over before the clock is looked at, on any machine."""
    shares = {"FIRST": 32, "SURVIVORS": (4,), "OFFSPRING": (0,), "SHARES": (4, 1)}
    for name, value in (shares | {"STEPS": 1, "PORTIONS": 2}).items():
        monkeypatch.setattr(searching, name, value)
    words = ["run", "mine:yes", *CLAIM, "--search", "answers,size=2", *SMALL, "--no-stop-early"]
    # the one pair that is looked at tells next to nothing
    assert main([*words, "--search-seconds", "1e-6", "--out", "one"]) == 4
    assert searched("one")["limit"] == {"seconds": 1e-6, "ended": True, "round": 1}
    told = "search_seconds = 1e-06 ended the search in round 1 of 2: another run"
    for name in ("report.md", "index.html"):
        assert told in Path("one", name).read_text(encoding="utf-8").replace("\\_", "_")
    assert "reproduced" in replayed("one", capsys, 0)
    monkeypatch.setenv("DPASSAY_SEARCH_SECONDS", "1e9")
    assert main([*words, "--out", "two"]) == 1
    assert searched("two")["limit"] == {"seconds": 1e9, "ended": False}
    assert "ended the search" not in Path("two", "report.md").read_text(encoding="utf-8")


TOML = """
budget = 300
search = "answers,size=2"
output = "number"

[[mechanisms]]
target = "mine:quiet"
claim = { epsilon = 1.0 }

[[mechanisms]]
target = "mine:votes"
claim = { epsilon = 1.0 }
search = { name = "records", asked = 2 }
output = "vector"
together = true
"""


def test_a_file_says_what_each_mechanism_is_searched_among(code: Path, capsys: Capture) -> None:
    (code / "dpassay.toml").write_text(TOML, encoding="utf-8")
    assert main(["config", "--show"]) == 0
    shown = [" ".join(each.split()) for each in capsys.readouterr().out.splitlines()]
    assert "search answers,size=2 dpassay.toml" in shown
    assert "output number dpassay.toml" in shown
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
    answers = 'search = "answers,size=1"\noutput = ["no", "yes", 1.5, true]\n'
    one = f'[[mechanisms]]\ntarget = "mine:yes"\nclaim = {{ epsilon = 1.0 }}\n{answers}'
    (code / "dpassay.toml").write_text(f'budget = 300\noutput = "label"\n{one}', encoding="utf-8")
    assert main(["run", "-q", "--out", "one"]) == 1
    assert searched("one")["output"] == ["no", "yes", 1.5, True]


ONE = '[[mechanisms]]\ntarget = "mine:loud"\n'
BROKEN = {
    'search = "answer,size=2"': f": search = 'answer,size=2': {SEARCHES}",
    'together = "yes"': ": together = 'yes': must be true or false",
    f'{ONE}search = "record"': f", mechanism 1: search = 'record': {SEARCHES}",
    f"{ONE}claim = {{ epsilon = 1 }}\ntogether = true": (
        ", mechanism 1: together: requires --search records"
    ),
    "output = 5": f": output = 5: {OUTPUTS}; write it in quotes, or as a list",
    f'{ONE}output = ["a"]': f", mechanism 1: output = ['a']: {OUTPUTS}; all are alike",
    f'{ONE}claim = {{ epsilon = 1 }}\noutput = "label"': (
        ", mechanism 1: output = 'label': requires --search"
    ),
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_is_wrong_is_one_line(text: str, code: Path, capsys: Capture) -> None:
    (code / "dpassay.toml").write_text(text + "\n", encoding="utf-8")
    assert line(["run"], capsys).startswith(f"dpassay.toml{BROKEN[text]}")


def test_variables_say_it_and_stand_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPASSAY_SEARCH", "records,asked=2")
    monkeypatch.setenv("DPASSAY_TOGETHER", "true")
    monkeypatch.setenv("DPASSAY_OUTPUT", "vector")
    more = ["--data", "people.csv", "--label", "label", "--out", "one"]
    main(["run", "mine:votes", *CLAIM, *more, *SMALL])
    found = record("one")
    assert found["run"]["command"].startswith(
        "dpassay run --output=vector --search=records,asked=2 --together mine:votes"
    )
    assert found["run"]["data"]["name"] == "people.csv"
    assert searched("one")["together"] is True
    assert searched("one")["output"] == "vector"
    assert searched("one")["space"].startswith("records of 2 features with labels 0, 1")


@pytest.mark.slow
def test_mechanisms_and_names_of_the_catalogue_are_searched() -> None:
    words = ["--search", "records,fixed=true,asked=2", "--train", "30", *SMALL, "--out", "one"]
    assert main(["run", "soft-majority", *words]) in (0, 4)
    assert all(each["searched"]["search"] for each in record("one")["results"])
    assert main(["run", "mine:Own", *CLAIM, *words]) == 1


@pytest.mark.slow
def test_bits_are_looked_at_where_they_are_asked_for(code: Path) -> None:
    text = "def naive(data, size, rng):\n    return data.sum() + rng.laplace(size=size)\n"
    (code / "naive.py").write_text(text, encoding="utf-8")
    words = ["run", "naive:naive", *CLAIM, "--budget", "1500", "-q", "--executor", "inline"]
    assert main([*words, *ANSWERS]) in (0, 4)
    assert main([*words, "--search", "answers,size=1,bits=true"]) == 1


@pytest.mark.slow
def test_no_together_switches_off_what_a_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPASSAY_TOGETHER", "true")
    words = ["--search", "records,asked=1", "--no-together", "--train", "9", "--out", "one"]
    main(["run", "mine:votes", *CLAIM, *words, *SMALL])
    assert "together" not in searched("one")
