"""Records of attacks with something wrong in them: refused in one line, or read as they are."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.fuzz.corpus import ATTACKS
from tests.fuzz.mutations import mangled, mutated, written
from tests.fuzz.reading import nonsense
from tests.fuzz.running import fuzz, ran


def case(rng: random.Random) -> str:
    """Say what commands do wrong with a damaged record of attacks."""
    good, bad = Path(f"{rng.choice(sorted(ATTACKS))}.json"), Path("bad.json")
    if rng.random() < 0.1:
        bad.write_text(mangled(good.read_text(), rng), encoding="utf-8", errors="replace")
    else:
        written(bad, mutated(json.loads(good.read_text()), rng))
    report = ["report", "bad.json", "-o", "pages", "--exit-code", "--format"]
    words = rng.choice(
        (
            ["compare", str(good), "bad.json"],
            ["compare", "bad.json", str(good)],
            ["baseline", "check", str(good), "--baseline", "bad.json"],
            [*report, "md,junit,json"],
        )
    )
    done = ran(words)
    if done.wrong or done.code == 2:
        return done.wrong
    found = nonsense(bad.read_text(encoding="utf-8"), "attack")
    return f"{words}: exit {done.code}, but {found}" if found else ""


@pytest.mark.slow
def test_damaged_records_of_attacks_are_refused_or_read(here: Path) -> None:
    fuzz("attack_records", case)
