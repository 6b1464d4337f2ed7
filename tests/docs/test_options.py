"""The page of options, --help and the options of pytest say what the one table says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from dpassay import pairs
from dpassay.cli.main import main, parse
from dpassay.cli.shared import command_of
from dpassay.config.load import Config
from dpassay.config.options import NEIGHBOURS, OPTIONS, TABLE
from dpassay.engine.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_the_page_has_the_table() -> None:
    rows = [
        f"| `{option.key}` | {option.help} | {option.default_words} |"
        for option in OPTIONS.values()
    ]
    assert "\n".join(("| key | what | default |", "|---|---|---|", *rows, "")) in PAGE


def test_help_has_every_option_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for key in (
        *OPTIONS.keys() - {"baseline", "tolerance", "out"},
        "n",
        "domain",
        "executor",
        "shard_timeout",
        "memory",
    ):
        assert TABLE[key].flag in text
        assert " ".join(TABLE[key].help.split()) in text.replace("- ", "-")


def test_defaults_are_said_once() -> None:
    assert {key: getattr(Config(), key) for key in OPTIONS} == {
        key: option.default for key, option in OPTIONS.items()
    }
    settings = Settings()
    for key in ("mode", "seed", "confidence", "budget", "detect", "jobs"):
        assert getattr(settings, key) == OPTIONS[key].default
    assert NEIGHBOURS == pairs.NEIGHBOURS


def test_a_command_that_says_what_variables_said_is_one_that_run_takes() -> None:
    taken = vars(parse(["run"]))
    said = {
        key: option.default
        for key, option in OPTIONS.items()
        if key in taken and option.default is not None
    }
    given = parse(["run", "soft-majority"])
    given.words = ["run", "soft-majority"]
    values = said | {"train_queries": 5}
    config = Config(values=values, origins=dict.fromkeys(values, "environment"))
    words = shlex.split(command_of(given, config))
    assert "--train-queries=5" in words
    arguments = parse(words[1:])
    assert (arguments.train_queries, arguments.budget, arguments.targets) == (
        5,
        20_000,
        ["soft-majority"],
    )
