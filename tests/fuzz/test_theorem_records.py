"""Records of theorems with something wrong in them: refused in one line, or read as they are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.mutations import damaged
from tests.fuzz.reading import nonsense
from tests.fuzz.running import fuzz, ran

GOOD, BAD = Path("theorems.json"), Path("bad.json")


def case(rng: random.Random) -> str:
    """Say what commands do wrong with a damaged record of theorems."""
    BAD.write_text(damaged(GOOD, rng), encoding="utf-8", errors="replace")
    Path("accepted.json").unlink(missing_ok=True)
    words = rng.choice(
        (
            ["compare", "theorems.json", "bad.json"],
            ["compare", "bad.json", "theorems.json", "--tolerance", rng.choice(("0", "1"))],
            ["baseline", "check", "theorems.json", "--baseline", "bad.json"],
            ["baseline", "check", "bad.json", "--baseline", "theorems.json", "--json"],
            ["baseline", "accept", "bad.json", "--baseline", "accepted.json"],
            ["report", "bad.json", "-o", "pages", "--format", "md,junit,json", "--exit-code"],
            ["report", "bad.json", "-o", "pages", "--format", "html", "--exit-code"],
        )
    )
    done = ran(words)
    if done.wrong or done.code == 2:
        return done.wrong
    code = done.code if "--exit-code" in words else None
    found = nonsense(BAD.read_text(encoding="utf-8"), "theorems", code)
    return f"{words}: exit {done.code}, but {found}" if found else ""


@pytest.mark.slow
def test_damaged_records_of_theorems_are_refused_or_read(here: Path) -> None:
    fuzz("theorem_records", case)
