"""Runs that go on with a damaged ledger: the record of the whole run, or one line that refuses."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.fuzz.running import fuzz, ran
from tests.fuzz.test_ledgers import damage

RUN = "run soft-majority-overview -p r=3 --mode monte-carlo --budget 300 --train 10 --queries 1"
SIZES = "--models 4 --references 4 --records 20 --transcripts 20 --attacks gap --budgets 1 -p r=3"
COMMANDS = {
    "run": ([*RUN.split(), "--profile", "quick"], "ledger.sqlite", "record.json"),
    "attack": ([*f"attack soft-majority {SIZES}".split()], "models.sqlite", "attack.json"),
}
"""The words of a command, its ledger, and its record."""
WHOLE = Path("whole")
OUT = Path("out")


def case(rng: random.Random) -> str:
    """Say what a run that is gone on with does wrong where its ledger is damaged."""
    name = rng.choice(sorted(COMMANDS))
    words, ledger, record = COMMANDS[name]
    whole = _whole(name)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    damage(rng, (whole / ledger).read_bytes(), OUT / ledger)
    more = ["--resume"] if name == "run" else []
    done = ran([*words, "--out", "out", "-q", *more])
    if done.wrong:
        return done.wrong
    if done.code in (2, 3):
        told = done.err.strip()
        return "" if "ledger" in told or "sqlite" in told else f"says {told[:300]}"
    same = (OUT / record).read_bytes() == (whole / record).read_bytes()
    return "" if same else f"{name}: exit {done.code}, and another record"


def _whole(name: str) -> Path:
    """Return the folder of the whole run, with a ledger that is one file."""
    folder = WHOLE / name
    if not folder.exists():
        words, ledger, record = COMMANDS[name]
        assert ran([*words, "--out", "out", "-q"]).code == 4
        folder.mkdir(parents=True)
        for each in (ledger, record):
            shutil.copy(OUT / each, folder)
    return folder


@pytest.mark.slow
def test_what_goes_on_with_a_damaged_ledger_is_whole_or_refused(here: Path) -> None:
    fuzz(6, case)
