"""Records of runs with something wrong in them: refused in one line, or read as they are."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import damaged, written
from tests.fuzz.reading import nonsense
from tests.fuzz.running import fuzz, ran

Capture = pytest.CaptureFixture[str]


def case(rng: random.Random) -> str:
    """Say what commands do wrong with a damaged record."""
    good = Path(f"{rng.choice(sorted(RUNS))}.json")
    bad = Path("bad.json")
    bad.write_text(damaged(good, rng), encoding="utf-8", errors="replace")
    words = rng.choice(
        (
            ["compare", str(good), "bad.json"],
            ["compare", "bad.json", str(good)],
            ["report", "bad.json", "--format", "md,junit,json,sarif", "-o", "pages", "--exit-code"],
            ["explain", "--record", "bad.json", "--", _first(good)],
        )
    )
    done = ran(words)
    if done.wrong or done.code == 2:
        return done.wrong
    code = done.code if words[0] == "report" else None
    found = nonsense(bad.read_text(encoding="utf-8"), code=code)
    return f"{words}: exit {done.code}, but {found}" if found else ""


def _first(path: Path) -> str:
    return str(json.loads(path.read_text())["results"][0]["id"])


@pytest.mark.slow
def test_damaged_records_are_refused_or_read(here: Path) -> None:
    fuzz("records", case)


DAMAGE: list[tuple[tuple[Any, ...], Any, str]] = [
    (("claim", "source"), 7, "results[0].claim.source = 7: must be a text"),
    (("lower",), 10**400, ': must be a finite number or "inf" or null'),
    (("witness", "loss"), -1e999, "is not valid JSON"),
    (("unknown",), float("inf"), "is not valid JSON"),
]


@pytest.mark.parametrize("k", range(len(DAMAGE)))
def test_what_was_read_and_is_refused_now(k: int, here: Path, capsys: Capture) -> None:
    place, value, message = DAMAGE[k]
    record = json.loads(Path("exact.json").read_text())
    inside = record["results"][0]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = copy.deepcopy(value)
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    assert message in capsys.readouterr().err
