"""`dpassay zoo`: what is broken is found, and what is missed is told."""

from __future__ import annotations

import json

import pytest

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.mechanisms.broken.zoo import specimens


def test_a_line_for_each_and_its_twin(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["zoo", "half-the-scale", "seed-from-data", "--budget", "1000", "-q"])
    told = capsys.readouterr().out
    assert code == Exit.NOTHING, told
    lines = told.splitlines()
    assert [line.split()[0] for line in lines[1::2][:2]] == ["half-the-scale", "seed-from-data"]
    assert lines[-1] == "2 of 2 broken mechanisms found; 0 of 2 correct refuted"
    assert max(map(len, lines)) <= 80


def test_one_that_is_missed_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """A hundred trials cannot show a loss of .118 for .1."""
    asked = ["zoo", "truncated-geometric", "--budget", "100", "--broken-only", "-q"]
    assert main(asked) == Exit.FAILED
    assert "MISSED" in capsys.readouterr().out
    assert main([*asked, "--json"]) == Exit.FAILED
    (line,) = json.loads(capsys.readouterr().out)["results"]
    assert line["right"] is False
    assert line["claimed"] == 0.1


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo", "svt4"]) == Exit.USAGE
    told = capsys.readouterr().err
    assert told.startswith("dpassay: error: NAME = 'svt4': must be one of ")
    assert all(each.name in told for each in specimens())


@pytest.mark.slow
def test_every_member_is_found_and_no_twin_refuted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo", "-q"]) == Exit.NOTHING, capsys.readouterr().out
