"""docs/benchmarks.md says what was measured, and what is asked is judged by the same numbers."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from benchmarks import peers
from dpassay.mechanisms.broken.noisy_max import noisy_max_1
from dpassay.mechanisms.broken.sparse_vector import svt_4

DOCS = Path(__file__).parents[2] / "docs"
FACTS = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))


def test_the_page_is_written_from_the_figures() -> None:
    assert peers.page(FACTS) == (DOCS / "benchmarks.md").read_text(encoding="utf-8")


def test_the_readme_shows_these_figures() -> None:
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    table = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| ([\d.]+) \|", readme, re.MULTILINE)
    assert len(shown) == 6
    for tool, *texts in shown:
        for name, text in zip(("Laplace, half the scale (2)", "SVT5 (∞)"), texts, strict=True):
            row = next(each for each in table if each[0] == name)
            bound = float(row[table[0].index(tool)].partition(" / ")[0])
            assert f"{bound:.{len(text.partition('.')[2])}f}" == text


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
    limit = peers.single_event(peers.ROWS[0].events, 2 * n)
    assert limit == pytest.approx(1 - 1.2816 * spread / math.sqrt(n), abs=2e-5)


def test_the_laws_of_the_limits_are_those_of_the_mechanisms() -> None:
    rng, size = np.random.default_rng(5), 40_000
    answers = np.array([1.0, 2.0, 0.0, 1.0, 2.0])
    indices = noisy_max_1(answers, size, rng)
    seen = np.bincount(indices.astype(int), minlength=5)
    law = peers.noisy_max_law(answers)
    assert law.sum() == pytest.approx(1, abs=1e-5)
    assert chisquare(seen, law / law.sum() * size).pvalue > 1e-4
    transcripts = svt_4(answers, size, rng)
    first = np.where((transcripts == 1).any(axis=1), (transcripts == 1).argmax(axis=1), 5)
    law = peers.sparse_vector_law(answers)
    assert law.sum() == pytest.approx(1, abs=1e-5)
    assert chisquare(np.bincount(first, minlength=6), law / law.sum() * size).pvalue > 1e-4
