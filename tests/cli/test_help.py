"""`--help` of every command: 80 columns, with examples that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest

from dpassay.attacks.experiment.poisoning import ADVERSARIES, KINDS
from dpassay.attacks.repeated.run import LEAST_TRANSCRIPTS
from dpassay.claims import LARGEST
from dpassay.cli.main import COMMANDS, main, parse
from dpassay.config.options import COMMAND_LINE
from dpassay.errors import InvalidInput

PAGES = [[name] for name in COMMANDS] + [["baseline", "accept"], ["baseline", "check"]]


def page(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("words", [[], *PAGES], ids=" ".join)
def test_it_fits_into_80_columns(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, page(words, capsys).splitlines())) <= 80


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_it_has_examples_that_can_be_typed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = page(words, capsys).partition("examples:\n")[2].replace(" \\\n", " ")
    lines = re.findall(r"^  ((?:[A-Z_]+=\d+ )?dpassay .*)$", text, re.MULTILINE)
    assert any(f"dpassay {' '.join(words)}" in line for line in lines)
    for line in lines:
        for command in line.partition(" | ")[0].split(" && "):
            typed = shlex.split(command.partition("dpassay ")[2])
            if " ".join(typed[:2]) in COMMANDS:
                typed[:2] = [" ".join(typed[:2])]
            assert parse(typed).command in COMMANDS


def test_the_table_of_options_has_the_words_of_what_they_mean() -> None:
    assert COMMAND_LINE["adversary"].allowed == f"one of {', '.join(ADVERSARIES)}"
    assert COMMAND_LINE["planted"].allowed == f"one of {', '.join(KINDS)}"
    assert f"from {LEAST_TRANSCRIPTS} to" in COMMAND_LINE["transcripts"].allowed
    row = COMMAND_LINE["epsilon"]
    assert row.from_text(f"{LARGEST:g}", "--epsilon") == (LARGEST,)
    with pytest.raises(InvalidInput, match=f"{LARGEST:g}"):
        row.from_text(f"{LARGEST + 1:g}", "--epsilon")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run --seed x", "--seed = 'x': must be an integer >= 0"),
        ("run --seed", "--seed: needs a value (see dpassay run --help)"),
        ("run --train 0", "--train = 0: must be an integer >= 1"),
        ("run --json=yes", "--json: takes no value, not 'yes' (see dpassay run --help)"),
        ("explain", "ID: is missing (see dpassay explain --help)"),
        ("compare a b --tolerance 2", "--tolerance = 2.0: must be a number in [0, 1]"),
        ("selftest --seed -1", "--seed = -1: must be an integer >= 0"),
        (
            "run --mode exhaustive --n 2 --domain 2y",
            "--domain = '2y': must be a number of points, or of points on each side",
        ),
        ("attack --attacks lira,guess", "--attacks = 'guess': must be one of gap, "),
        ("attack --references 3", "--references = 3: must be an integer from 4 to 1,000,000,000"),
        ("sing", "'sing': no such command (see dpassay --help)"),
    ],
)
def test_wrong_usage_in_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"dpassay: error: {said}")
    assert told.err.count("\n") == 1
    assert told.out == ""
