"""Switches such as `stop_early`, on the command line, in a record's command and for pytest."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.config.argparsing import Parser

from dpassay import pytest_plugin
from dpassay.cli.main import main, parse
from dpassay.cli.shared import command_of
from dpassay.config.load import load_config


def test_switches_on_the_command_line_take_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    for words, value in (
        ([], None),
        (["--stop-early"], True),
        (["--no-stop-early"], False),
        (["--stop-early", "--no-stop-early"], False),
    ):
        arguments = parse(["run", *words, "soft-majority"])
        assert arguments.stop_early is value
        assert arguments.targets == ["soft-majority"]
    assert main(["run", "--stop-early=yes", "soft-majority"]) == 2
    assert "--stop-early/--no-stop-early: takes no value" in capsys.readouterr().err
    assert main(["run", "soft-majority", "--mode", "exact", "--stop-early"]) == 2
    assert "--stop-early: has no effect with --mode exact" in capsys.readouterr().err


def test_the_command_of_a_record_says_it_as_it_is_typed() -> None:
    arguments = parse(["run", "x"])
    arguments.words = ["run", "x"]
    for word, option in (("true", "--stop-early"), ("false", "--no-stop-early")):
        config = load_config(None, None, {"DPASSAY_STOP_EARLY": word})
        assert command_of(arguments, config) == f"dpassay run {option} x"


def test_pytest_has_a_switch() -> None:
    parser = Parser(_ispytest=True)
    pytest_plugin.pytest_addoption(parser)
    known: Any = parser.parse_known_args(["--dpassay-stop-early", "--dpassay-budget", "500"])
    assert (known.dpassay_stop_early, known.dpassay_budget) == (True, 500)
    assert parser.parse_known_args([]).dpassay_stop_early is None
