"""Baselines with something wrong in them: refused in one line, never green without a reason."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import mangled, mutated, written
from tests.fuzz.reading import nonsense
from tests.fuzz.running import fuzz, ran

BASELINE = Path("dpassay-baseline.json")


def case(rng: random.Random) -> str:
    """Say what `dpassay baseline` does wrong where the baseline, or the record, is damaged."""
    good = Path(f"{rng.choice(sorted(RUNS))}.json")
    record = json.loads(good.read_text())
    if rng.random() < 0.1:
        BASELINE.write_text(mangled(good.read_text(), rng), encoding="utf-8", errors="replace")
    else:
        written(BASELINE, mutated(record, rng))
    name = str(record["results"][0]["mechanism"])
    words = rng.choice(
        (
            ["baseline", "check", str(good)],
            ["baseline", "check", str(good), "--tolerance", rng.choice(("0", "1", "0.05"))],
            ["baseline", "check", str(BASELINE), "--baseline", str(good)],
            ["baseline", "accept", str(BASELINE), "--baseline", "accepted.json"],
            ["baseline", "move", name, "dpassay.mechanisms.shared.learners:Majority"],
            ["baseline", "history", "-o", "history.html"],
        )
    )
    text = BASELINE.read_text(encoding="utf-8")
    Path("accepted.json").unlink(missing_ok=True)
    done = ran(words)
    if done.wrong or done.code == 2 or words[1] == "history":
        return done.wrong
    found = nonsense(text)
    return f"{words}: exit {done.code}, but {found}" if found else ""


@pytest.mark.slow
def test_damaged_baselines_are_refused_or_read(here: Path) -> None:
    fuzz("baselines", case)
