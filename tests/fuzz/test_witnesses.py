"""Witnesses with something wrong in them: refused in one line, or replayed as they say."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import damaged
from tests.fuzz.reading import nonsense
from tests.fuzz.running import fuzz, ran


def case(rng: random.Random) -> str:
    """Say what replaying does wrong with a damaged witness."""
    good = Path(f"{rng.choice(sorted(RUNS))}.witness.json")
    bad = Path("bad.json")
    bad.write_text(damaged(good, rng), encoding="utf-8", errors="replace")
    done = ran(["replay", "bad.json"])
    if done.wrong or done.code == 2:
        return done.wrong
    found = nonsense(bad.read_text(encoding="utf-8"), "witness")
    return f"replay: exit {done.code}, but {found}" if found else ""


@pytest.mark.slow
def test_damaged_witnesses_are_refused_or_replayed(here: Path) -> None:
    fuzz("witnesses", case)
