"""`dpassay run --catalogue zoo`: what is broken is found, and what is missed is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.mechanisms.broken.zoo import specimens

ZOO = ["run", "--catalogue", "zoo", "-q"]
NAMES = [each.name for each in specimens()]
FEW = pytest.mark.usefixtures("few_pairs")  # what a dozen pairs show of a member, 256 do


def results(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["results"]
    return found


@FEW
def test_one_that_is_missed_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """A thousand trials cannot show a loss of .118 for .1."""
    missed, found = "truncated-geometric", "seed-from-data"
    code = main([*ZOO, missed, found, "--budget", "1000", "--json"])
    told = results(capsys)
    assert code == Exit.FAILED
    assert [each["mechanism"] for each in told] == [
        *(missed, f"{missed}-twin", found, f"{found}-twin")
    ]
    assert [each["verdict"] == "refuted" for each in told] == [False, False, True, False]
    assert [each["expected"] for each in told] == ["refuted", None] * 2
    assert told[0]["claim"]["epsilon"] == 0.1


@FEW
def test_what_is_found_and_nothing_else_passes(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--budget", "1000", "--allow-inconclusive"]
    assert main([*ZOO, "cached-noise", *few]) == Exit.NOTHING
    assert "1 refuted as expected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["svt4"], f"TARGET = 'svt4': must be one of {', '.join(NAMES)}"),
        (["svt-4", "--claim", "epsilon=2"], "--catalogue zoo: goes without process, http, param"),
    ],
)
def test_what_does_not_go_with_it_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ZOO, *words]) == Exit.USAGE
    assert capsys.readouterr().err.startswith(f"dpassay: error: {told}")


@pytest.mark.slow
@FEW
@pytest.mark.parametrize(
    "names", [NAMES[::6], pytest.param(NAMES, marks=pytest.mark.nightly)], ids=["some", "all"]
)
def test_members_are_found_and_no_twin_refuted(
    names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    judged(names, capsys)


@pytest.mark.nightly
@pytest.mark.slow
def test_every_fourth_twin_stands_the_search_of_a_user(capsys: pytest.CaptureFixture[str]) -> None:
    judged(NAMES[::4], capsys)


def judged(names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One is near its claim; of another a search finds the worst pair at some seeds only."""
    main([*ZOO, *names, "--confidence", "0.95", "--json"])
    found = results(capsys)
    refuted = {each["mechanism"] for each in found if each["verdict"] == "refuted"}
    assert len(found) == 2 * len(names)
    assert {each["mechanism"] for each in found} == {*names, *(f"{name}-twin" for name in names)}
    assert set(names) - refuted <= {"truncated-geometric", "partition-by-content"}
    assert refuted <= set(names)
