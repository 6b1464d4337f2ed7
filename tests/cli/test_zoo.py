"""`dpassay zoo`: what is broken is found, and what is missed is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.engine.result import Result
from dpassay.mechanisms.broken.zoo import specimens


@pytest.fixture
def audited_once(monkeypatch: pytest.MonkeyPatch) -> list[Callable[..., object]]:
    """Whatever is asked for again has the result it had; returned are the functions audited."""
    audited: list[Callable[..., object]] = []
    results: dict[Callable[..., object], Result] = {}

    def once(function: Callable[..., object], **asked: Any) -> Result:
        if function not in results:
            audited.append(function)
            results[function] = audit(function, **asked)
        return results[function]

    monkeypatch.setattr("dpassay.api.audit", once)
    return audited


def test_a_line_for_each_and_its_twin_and_one_that_is_missed_fails(
    audited_once: list[Callable[..., object]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A thousand trials cannot show a loss of .118 for .1."""
    missed, found = (
        next(each for each in specimens() if each.name == name)
        for name in ("truncated-geometric", "seed-from-data")
    )
    few = ["--budget", "1000", "-q"]
    code = main(["zoo", missed.name, found.name, "--broken-only", *few])
    lines = capsys.readouterr().out.splitlines()
    assert code == Exit.FAILED
    assert [line.split()[0] for line in lines[1:3]] == [missed.name, found.name]
    assert ["MISSED" in line for line in lines[1:3]] == [True, False]
    assert lines[-1] == "1 of 2 broken mechanisms found"
    assert max(map(len, lines)) <= 80
    code = main(["zoo", found.name, *few])
    lines = capsys.readouterr().out.splitlines()
    assert code == Exit.NOTHING, lines
    assert lines[1].split()[0] == found.name
    assert "its correct twin" in lines[2]
    assert lines[-1] == "1 of 1 broken mechanisms found; 0 of 1 correct refuted"
    assert max(map(len, lines)) <= 80
    assert audited_once == [missed.function, found.function, found.twin]
    assert main(["zoo", missed.name, "--broken-only", "--json", *few]) == Exit.FAILED
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
