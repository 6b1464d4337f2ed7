"""Guesses from fresh answers in the record of an attack: told apart, and not compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.record.attack_compare import counted_again
from dpassay.record.kinds import ATTACKS
from tests.attacks.command import attack

WORDS = (
    "soft-majority -p r=5 --epsilon 1 --against mechanism --attacks gap --records 60 "
    "--references 4 --budgets 1 --copies 0 --transcripts 0 -q"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fresh")
    assert attack(f"{WORDS} --out {made}") == 0
    return made


@pytest.fixture
def record(folder: Path) -> Any:
    return ATTACKS.read(folder / "attack.json")


def test_the_record_tells_them_apart(record: Any) -> None:
    targets = record["run"]["targets"]
    for bound in record["subjects"][0]["certified"]:
        counts, fresh = bound["counts"], bound["fresh"]
        assert counts["n1"] + counts["n0"] - fresh["n1"] - fresh["n0"] == targets
        assert bound["detectable"] < 1.3


def test_no_number_depends_on_the_processes_and_none_are_asked_with_models(
    record: Any, tmp_path: Path
) -> None:
    assert attack(f"{WORDS} --jobs 2 --out {tmp_path}") == 0
    assert ATTACKS.read(tmp_path / "attack.json")["subjects"] == record["subjects"]
    assert attack(f"{WORDS} --models 4 --allow-inconclusive --out {tmp_path}") == 0
    fewer = ATTACKS.read(tmp_path / "attack.json")["subjects"][0]["certified"]
    assert not any("fresh" in bound for bound in fewer)


def test_a_baseline_is_compared_by_the_guesses_at_targets_alone(record: Any) -> None:
    entry = {"subject": record["subjects"][0], "repeated": None}
    numbers, _, _ = counted_again(entry, entry, 0.0, 1e-3)
    assert len(numbers) == 5
    targets = record["run"]["targets"]
    assert all(f" of {targets}, and " in each.counts for each in numbers)


def test_the_terminal_and_the_page_tell_how_many(
    record: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder)]) == 0
    counts, fresh = (record["subjects"][0]["certified"][0][name] for name in ("counts", "fresh"))
    every, some = (f"{each['n1'] + each['n0']:,}" for each in (counts, fresh))
    told = capsys.readouterr().out + (folder / "attack.md").read_text(encoding="utf-8")
    assert f"of {every}, {some} fresh" in told
    page = (folder / "attack.html").read_text(encoding="utf-8")
    assert f"it guessed {some} times more, from fresh answers at one fixed pair" in page
    assert f"{some} guesses more are from fresh answers" in page
