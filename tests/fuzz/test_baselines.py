"""Baselines with something wrong in them: refused in one line, never green without a reason."""

from __future__ import annotations

import json
import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dpassay.config.mechanisms import KINDS
from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import damaged
from tests.fuzz.reading import nonsense
from tests.fuzz.running import Ran, fuzz, ran
from tests.fuzz.test_configuration import toml

BASELINE = Path("dpassay-baseline.json")


def case(rng: random.Random) -> str:
    """Say what `dpassay baseline` does wrong where the baseline, or the record, is damaged."""
    good = Path(f"{rng.choice(sorted(RUNS))}.json")
    record = json.loads(good.read_text())
    BASELINE.write_text(damaged(good, rng), encoding="utf-8", errors="replace")
    Path("dpassay.toml").unlink(missing_ok=True)
    excused = suppressed(rng, record) if rng.random() < 0.3 else []
    name = str(record["results"][0]["mechanism"])
    words = rng.choice(
        (
            ["baseline", "check", str(good)],
            ["baseline", "check", str(good), "--tolerance", rng.choice(("0", "1", "0.05"))],
            ["baseline", "check", str(BASELINE), "--baseline", str(good)],
            ["baseline", "accept", str(BASELINE), "--baseline", "accepted.json"],
            ["baseline", "move", name, "dpassay.mechanisms.shared.learners:Majority"],
        )
    )
    words += ["--json"] if words[1] == "check" else []
    text = BASELINE.read_text(encoding="utf-8")
    Path("accepted.json").unlink(missing_ok=True)
    done = ran(words)
    if done.wrong or done.code == 2:
        return done.wrong
    found = nonsense(text) or (_passed(done, excused) if words[1] == "check" else "")
    return f"{words}: exit {done.code}, but {found}" if found else ""


def suppressed(rng: random.Random, record: Any) -> list[dict[str, Any]]:
    """Write a configuration with suppressions of a record's results, good ones and odd ones."""
    today = datetime.now(tz=UTC).date()
    entries = [
        {
            "result": rng.choice(record["results"])["id"],
            "kind": rng.choice((*KINDS, "rise")),
            "reason": rng.choice(("known", "known", "")),
            "expires": today + timedelta(days=rng.choice((-1, 0, 30, 365, 400))),
        }
        | rng.choice(({}, {}, {"up_to": rng.choice((0, 1, 1e9, -1, math.nan, "x"))}))
        for _ in range(rng.choice((1, 2, 8)))
    ]
    Path("dpassay.toml").write_text(f"suppressions = {toml(entries)}\n", encoding="utf-8")
    return entries


def _passed(done: Ran, excused: list[dict[str, Any]]) -> str:
    """Say which regression was let pass that nothing excuses today."""
    told, today = json.loads(done.out), datetime.now(tz=UTC).date()
    sizes = {(each["id"], each["kind"]): each.get("size") for each in told["regressions"]}
    for each in told["suppressed"]:
        size = sizes.get((each["id"], each["kind"]))
        if not any(
            (one["result"], one["kind"]) == (each["id"], each["kind"])
            and one["expires"] >= today
            and one["reason"]
            and ("up_to" not in one or (size is not None and float(size) <= one["up_to"]))
            for one in excused
        ):
            return f"{each} is let pass"
    if told["passed"] != (done.code != 1):
        return f"says that it passed: {told['passed']}"
    return ""


@pytest.mark.slow
def test_damaged_baselines_are_refused_or_read(here: Path) -> None:
    fuzz(40, case)
