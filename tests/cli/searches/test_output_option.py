"""`--output`: what one run returns, from every place that may say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.record.schemas import fault
from tests.cli.conftest import line

CODE = """
def loud(data, rng):
    return "yes" if data.sum() + rng.laplace(scale=0.2) > 0.5 else "no"

def votes(data, queries, size, rng):
    return rng.integers(0, 2, size=(size, len(queries)))
"""
SMALL = ["--budget", "300", "-q"]
LOUD = ["run", "mine:loud", "--claim", "epsilon=1", "--search", "answers,size=1", *SMALL]


@pytest.fixture(autouse=True)
def code(folder: Path, few_pairs: None, undrawn: None) -> Path:
    (folder / "mine.py").write_text(CODE, encoding="utf-8")
    return folder


def result(path: str) -> dict[str, Any]:
    found = json.loads(Path(path, "record.json").read_text(encoding="utf-8"))
    assert fault(found, "record") == ""
    (only,) = found["results"]
    return only  # type: ignore[no-any-return]


SAID = {
    "text": "text",
    "yes, no, 5": ["yes", "no", 5],
    '["yes", "no", "a, b"]': ["yes", "no", "a, b"],
}


@pytest.mark.parametrize("said", SAID)
def test_the_record_keeps_it_and_the_witness_replays(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LOUD, "--output", said, "--out", "one"]) == 1
    found = result("one")
    assert found["searched"]["output"] == SAID[said]
    assert found["witness"]["free"]["output"] == SAID[said]
    capsys.readouterr()
    (witness,) = Path("one", "witnesses").glob("*.json")
    assert main(["replay", str(witness), "--trust"]) == 1
    assert "reproduced" in capsys.readouterr().out


ALLOWED = "must be label, number, vector, sequence or text, or two or more values like yes,no"
WRONG = {
    "lable": "did you mean 'label'?",
    "report": "a folder is --out report",
    "reports/one": "a folder is --out reports/one",
    "7": "this is neither",
    "[7]": "all are alike",
    "a,a": "all are alike",
    '["a", "b"': 'write ["a", "b"]',
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_output_is_one_line(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        line([*LOUD, "--output", said], capsys) == f"--output = '{said}': {ALLOWED}; {WRONG[said]}"
    )


def test_what_does_not_go_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "mine:loud", "--claim", "epsilon=1", "--output", "yes,no"]
    told = '--output = \'["yes", "no"]\': requires --search; without one, --answers says what'
    assert line(run, capsys).startswith(told)
    assert line([*run, "--mode", "exact"], capsys) == "--output: has no effect with --mode exact"


def test_another_output_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LOUD[:-1], "--output", "number", "--out", "one"]) == 3
    said = capsys.readouterr().err
    (told,) = [each for each in said.splitlines() if "error" in each]
    assert "error: output = 'number': sample on a pilot dataset returned '" in told
    assert told.endswith("; must be a number")
    assert result("one")["verdict"] == "error"


TOML = """
budget = 300
search = "answers,size=1"
output = {run}

[[mechanisms]]
target = "mine:loud"
claim = {{ epsilon = 1.0 }}
{own}
"""


@pytest.mark.parametrize(
    ("run", "own", "kept"),
    [
        ('["no", "yes"]', "", ["no", "yes"]),
        ('"label"', 'output = ["no", "yes", 1.5, true]', ["no", "yes", 1.5, True]),
    ],
)
def test_a_file_says_it(
    run: str, own: str, kept: Any, code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code / "dpassay.toml").write_text(TOML.format(run=run, own=own), encoding="utf-8")
    assert main(["config", "--show"]) == 0
    shown = [" ".join(each.split()) for each in capsys.readouterr().out.splitlines()]
    assert f"output {run.strip(chr(34))} dpassay.toml" in shown
    assert main(["run", "-q", "--out", "one"]) == 1
    assert result("one")["searched"]["output"] == kept


BROKEN = {
    'output = "lable"': f"dpassay.toml: output = 'lable': {ALLOWED}; did you mean 'label'?",
    "output = 5": f"dpassay.toml: output = 5: {ALLOWED}; write it in quotes, or as a list",
    '[[mechanisms]]\ntarget = "mine:loud"\noutput = ["a"]': (
        f"dpassay.toml, mechanism 1: output = ['a']: {ALLOWED}; all are alike"
    ),
    '[[mechanisms]]\ntarget = "mine:loud"\nclaim = { epsilon = 1 }\noutput = "label"': (
        "dpassay.toml, mechanism 1: output = 'label': requires --search"
    ),
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_is_wrong_is_one_line(
    text: str, code: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code / "dpassay.toml").write_text(text + "\n", encoding="utf-8")
    assert line(["run"], capsys).startswith(BROKEN[text])


def test_a_variable_says_it_and_stands_in_the_command(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del code
    monkeypatch.setenv("DPASSAY_OUTPUT", "yes,no")
    main([*LOUD, "--out", "one"])
    found = json.loads(Path("one", "record.json").read_text(encoding="utf-8"))
    command = found["run"]["command"]
    assert command.startswith('dpassay run \'--output=["yes", "no"]\' mine:loud')
    assert found["results"][0]["searched"]["output"] == ["yes", "no"]
