"""What would run for hours is said so, before it starts or by the pace of its first seconds."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.progress import StagePace, announce, bars, duration
from dpassay.targets.groups import silent


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_slow_stage_is_told_of_once_with_what_makes_it_smaller(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    pace = StagePace(silent, clock)
    for done, now in enumerate((0.5, 4.0, 6.0), 1):
        clock.now = now
        pace("mine: screening", done, 5000)
    told = capsys.readouterr().err
    assert told == (
        "dpassay: mine: screening: 2 of 5,000 took 4.0 seconds, about 5 hours to go at this pace; "
        "fewer with --budget, --queries, --train, --neighbours or --profile quick, faster with "
        "--jobs\n"
    )
    clock.now = 7.0
    pace("mine: certifying", 1, 500)  # 1 second each: 8 minutes
    assert capsys.readouterr().err == ""
    for done, now in ((1, 12.0), (2, 17.0)):
        clock.now = now
        pace("yours: screening", done, 500)  # 5 seconds each
    assert (
        "yours: screening: 2 of 500 took 10.0 seconds, about 42 minutes to go"
        in capsys.readouterr().err
    )


def test_neither_what_comes_first_nor_the_stage_before_tells_a_pace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """10 seconds for the 500 pairs of the group before are no pace of this one."""
    clock = Clock()
    pace = StagePace(silent, clock)
    for done in range(1, 797):
        clock.now = 1.5 + done / 1000
        pace("mine: pairs", done, 796)
    for _ in range(2):
        for done in range(1, 501):
            clock.now += 0.02
            pace("yours: pairs", done, 500)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("least", "told"), [(100.0, True), (10_000.0, False)])
def test_what_a_search_takes_at_most_is_told_before_it(
    least: float, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    StagePace(silent, Clock(), least=least)("mine: 50,000 runs of 14.0 ms at most", 700, 0)
    said = "dpassay: mine: 50,000 runs of 14.0 ms at most, about 12 minutes; a gross"
    assert capsys.readouterr().err.startswith(said) is told


def test_a_notebook_has_a_line_that_goes_on_and_is_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    class Line:
        def update(self, shown: dict[str, str], *, raw: bool) -> None:
            assert raw
            told.append(shown["text/plain"])

    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: Line())
    monkeypatch.setattr("dpassay.progress.TICK", 0.01)
    with bars(quiet=False) as progress:
        progress("mine: screening", 3, 1_000)
        while len(told) < 2:
            time.sleep(0.01)
    assert told[-2].startswith("mine: screening: 3 of 1,000 · ")
    assert told[-1] == ""
    with bars(quiet=True) as progress:
        progress("mine: screening", 3, 1_000)


def test_what_its_size_alone_tells_is_said_before(capsys: pytest.CaptureFixture[str]) -> None:
    announce("mine", 40_000)
    assert capsys.readouterr().err == ""
    announce("mine", 2 * 10**11)
    assert capsys.readouterr().err.startswith(
        "dpassay: mine: 200,000,000,000 answers take 100 minutes at the very least; fewer with"
    )


def test_a_long_run_is_announced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpassay.cli.run._audited", lambda *_: ([], False))
    words = "run soft-majority --mode monte-carlo --budget 10000000000 --train 50 --queries 10"
    main(words.split())
    told = capsys.readouterr().err
    assert "dpassay: soft-majority: 200,000,000,000 answers take 100 minutes at the" in told


def test_durations() -> None:
    words = {59.0: "59.0 seconds", 600.0: "10 minutes", 9000.0: "2 hours", 1e6: "12 days"}
    assert {seconds: duration(seconds) for seconds in words} == words


def test_what_cannot_finish_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong: tuple[dict[str, Any], ...] = ({"budget": 10**12}, {"budget": 10**40}, {"jobs": 10**6})
    for arguments in wrong:
        with pytest.raises(InvalidInput, match="an integer from"):
            Settings(**arguments)
    assert main(["run", "soft-majority", "--budget", "1000000000000"]) == 2
    assert "more trials would never end" in capsys.readouterr().err
    (folder / "dpassay.toml").write_text("budget = 1000000000000\n")
    assert main(["config", "--show"]) == 2
    said = "budget = 1000000000000: must be an integer from 100 to 10,000,000,000"
    assert said in capsys.readouterr().err
