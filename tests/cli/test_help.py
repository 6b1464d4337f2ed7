"""`--help` of every command, with examples that are taken, and what is said of wrong usage."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

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
def test_it_fits_into_80_columns_and_its_examples_can_be_typed(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = page(words, capsys)
    assert max(map(len, shown.splitlines())) <= 80
    text = shown.partition("examples:\n")[2].replace(" \\\n", " ")
    lines = re.findall(r"^  ((?:[A-Z_]+=\d+ )?dpassay .*)$", text, re.MULTILINE)
    assert words == [] or any(f"dpassay {' '.join(words)}" in line for line in lines)
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


def own(data: object, queries: object, size: object, rng: object) -> None:
    """What takes no epsilon."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run --seed x", "--seed = 'x': must be an integer >= 0"),
        ("run --seed", "--seed: needs a value (see dpassay run --help)"),
        ("run --json=yes", "--json: takes no value, not 'yes' (see dpassay run --help)"),
        ("explain", "ID: is missing (see dpassay explain --help)"),
        (
            "run --mode exhaustive --n 2 --domain 2y",
            "--domain = '2y': must be a number of points, or of points on each side",
        ),
        ("attack -q --attacks lira,guess", "--attacks = 'guess': must be one of gap, "),
        ("attack -q --models 1", "--models = 1: must be an integer from 2 to 1,000,000,000"),
        (
            "attack -q --references 10000000000",
            "--references = 10000000000: must be an integer from 4 to 1,000,000,000",
        ),
        ("attack -q --copies 99999999999999999999", "must be an integer from 0 to 1,000,000"),
        ("attack -q --budgets 99999999999999999999", "must be integers from 1 to 1,000,000"),
        (
            "attack -q --transcripts 99999999999999999999",
            "must be 0, or an integer from 20 to 1,000,000,000",
        ),
        ("attack -q --confidence nan", "--confidence = nan: must be a number in [0.5, 1)"),
        ("attack -q --noise inf", "--noise = inf: must be a finite number >= 0"),
        ("attack -q --against base --epsilon 1", "--epsilon: has no effect with --against base"),
        (
            "attack -q --against base soft-majority",
            "TARGET soft-majority: has no effect with --against base",
        ),
        ("attack -q --against base -p r=5", "-p r=5: has no effect with --against base"),
        ("attack -q --poisoned 3", "--poisoned: has no effect without --adversary pois"),
        (
            "attack -q --adversary pois-minq --poison-labels balanced --poison 4",
            "--poison = 4: must be an odd number >= 1 with --poison-labels balanced",
        ),
        ("attack -q --planted labels", "--planted: has no effect without --canaries"),
        ("attack -q --copies 0 --noise 0.2", "--noise: has no effect without --copies"),
        (
            "attack -q soft-majority -p epsilon=2",
            "-p epsilon=2: has no effect, as --epsilon sets epsilon of 'soft-majority'",
        ),
        (f"attack -q {__name__}:own", "must be a class that takes epsilon"),
        ("plan", "TARGET is missing: must be exactly one mechanism"),
        ("plan pate --epsilon 1", "--epsilon: requires --attack"),
        (
            "plan --attack --epsilon 1 --detect 0.5",
            "--detect = 0.5: must be a number above the claim of 1",
        ),
        (
            "plan --attack --epsilon x",
            "--epsilon = 'x': must be numbers in (0, 700], separated by commas",
        ),
        ("plan --attack --epsilon 1 --claim epsilon=1", "--epsilon: cannot be combined with"),
        (
            "plan --attack --claim mu=1",
            "--claim = 'mu=1': with --attack it must be 'epsilon=E', 'epsilon=E,delta=D', 'rho=R'",
        ),
        ("plan --attack --epsilon 600", "--epsilon = 600: needs more than 10 million models"),
    ],
)
def test_wrong_usage_in_one_line(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attack = ["--out", str(tmp_path / "out")] if words.startswith("attack") else []
    assert main([*words.split(), *attack]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("dpassay: error: ")
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert not (tmp_path / "out").exists()
