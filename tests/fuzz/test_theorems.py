"""Witnesses of theorems with something wrong in them: refused in one line, or measured again."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.fuzz.corpus import THEOREMS
from tests.fuzz.mutations import damaged
from tests.fuzz.running import fuzz, ran


def case(rng: random.Random) -> str:
    """Say what replaying does wrong with a damaged witness of a theorem."""
    good, bad = Path(f"{rng.choice(sorted(THEOREMS))}.theorem.json"), Path("bad.json")
    bad.write_text(damaged(good, rng), encoding="utf-8", errors="replace")
    done = ran(["theorem", "replay", "bad.json"])
    if done.wrong or done.code == 2:
        return done.wrong
    told, held = json.loads(done.out), json.loads(bad.read_text(encoding="utf-8"))
    if told["again"]["case"] != held["witness"]["case"]:
        return f"measured {told['again']['case']}"
    return "" if (done.code == 0) == told["same"] else f"exit {done.code}, and says {told['same']}"


@pytest.mark.slow
def test_damaged_witnesses_of_theorems_are_refused_or_measured(here: Path) -> None:
    fuzz("theorems", case)
