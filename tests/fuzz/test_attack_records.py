"""Records of attacks with something wrong in them: refused in one line, or read as they are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.corpus import OF_ATTACKS
from tests.fuzz.mutations import damaged
from tests.fuzz.reading import nonsense
from tests.fuzz.running import fuzz, ran


def case(rng: random.Random) -> str:
    """Say what commands do wrong with a damaged record of attacks."""
    good, bad = f"{rng.choice(OF_ATTACKS)}.json", Path("bad.json")
    bad.write_text(damaged(Path(good), rng), encoding="utf-8", errors="replace")
    Path("accepted.json").unlink(missing_ok=True)
    report = ["report", "bad.json", "-o", "pages", "--exit-code", "--format"]
    words = rng.choice(
        (
            ["compare", good, "bad.json", "--estimates"],
            ["compare", "bad.json", good],
            ["baseline", "check", good, "--baseline", "bad.json", "--json"],
            ["baseline", "check", "bad.json", "--baseline", good],
            ["baseline", "accept", "bad.json", "--baseline", "accepted.json"],
            [*report, "md,junit,json"],
            [*report, "md", "--allow-inconclusive"],
        )
    )
    done = ran(words)
    if done.wrong or done.code == 2:
        return done.wrong
    code = done.code if words[-1] == "md,junit,json" else None
    found = nonsense(bad.read_text(encoding="utf-8"), "attack", code)
    return f"{words}: exit {done.code}, but {found}" if found else ""


@pytest.mark.slow
def test_damaged_records_of_attacks_are_refused_or_read(here: Path) -> None:
    fuzz("attack_records", case)
