"""Records of theorems with something wrong in them: refused in one line, or read as they are."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from tests.fuzz.mutations import damaged, put, written
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


OF_ROWS: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "verified by a search": (("exact", "method"), "search", "search numbers cannot show"),
    "kept by nothing": (("exact", "worst", "upper"), 9.0, "and the verdict verified"),
    "a factor of nothing": (("exact", "worst", "factor"), 0.001, "has factor = 0.001"),
    "no factor": (("exact", "worst", "factor"), None, "has factor = None"),
    "drawn and exact": (("exact", "worst", "alpha"), 0.01, "cannot be that of exact numbers"),
    "seen and exact": (("exact", "worst", "detectable"), 2.0, "and was not sampled"),
    "numbers of no case": (("exact", "cells"), 0, "with numbers, of 0 cases"),
    "a worst case that is better": (("wrong", "worst"), None, "without numbers"),
    "a series upside down": (("slope", "series", "points", 0, 2), 1e9, "series of"),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_a_record_of_theorems_that_contradicts_itself_is_refused(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row, *place), value, message = OF_ROWS[name]
    record = json.loads(Path("theorems.json").read_text())
    known = {
        "exact": "dwork-feldman-2018/definition-1.1/any-generator",
        "wrong": "dwork-feldman-2018/section-4.1-soft-majority/privacy",
        "slope": "dwork-feldman-2018/corollary-2.1/slope",
    }
    inside = next(each for each in record["results"] if each["id"] == known[row])
    put(inside, tuple(place), value)
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    assert message in capsys.readouterr().err
