"""docs/benchmarks.md says what was measured, and what is asked is judged by the same numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchmarks import peers

DOCS = Path(__file__).parents[2] / "docs"
FACTS = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))


def test_the_page_is_written_from_the_figures() -> None:
    assert peers.page(FACTS) == (DOCS / "benchmarks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", peers.ROWS, ids=lambda row: row.name)
def test_what_is_asked_is_judged_by_the_figures(row: peers.Row) -> None:
    told = FACTS["rows"][row.name]
    again = peers.judged(row, {part: told[part] for part in peers.PARTS})
    for asked in "abce":
        assert again[asked] == told["judged"][asked], asked
    assert told["full"]["samples"] <= 1.02 * row.best.samples
    assert math.isinf(row.true) == (told["judged"]["b"] is None)


def test_the_limit_of_noise_is_that_of_its_median() -> None:
    p1, p0 = peers.laplace_events(1.0)
    best = (p1 / p0).argmax()
    assert math.log(p1[best] / p0[best]) == pytest.approx(1.0)
    n = 8e6
    spread = math.sqrt(1 + (1 - 0.5 / math.e) / (0.5 / math.e))
    limit = peers.single_event(peers.ROWS[0], 2 * n)
    assert limit == pytest.approx(1 - 1.2816 * spread / math.sqrt(n), abs=2e-5)
