"""The sections on validation and its alternatives: every number recomputed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.assay import assay
from dpassay.mechanisms.control import Control
from dpassay.mechanisms.validate import Validate
from dpassay.pairs import FlipLabel, Pairs
from dpassay.settings import Settings
from dpassay.targets import resolve
from tests.mechanisms.test_validate import QUERY, Share, line
from tests.mechanisms.test_validation_searches import attained

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", PAGE.split(f"## {title}\n")[1], flags=re.MULTILINE)[0]


def test_theorem_1() -> None:
    row = next(each for each in section("Theorem 1 is tight").splitlines() if each.startswith("| two of three"))
    claimed, true, factor = (float(cell) for cell in row.strip("|").split("|")[1:])
    mechanism = Validate(base=Share(), alpha2=1.0, m=1, beta1=1.0, beta2=1 / 3)
    pairs = Pairs(base=line(3, 2), changes=(FlipLabel(2),), how="a label flipped")
    result = audit(mechanism, pairs=pairs, queries=QUERY, mode="exact")
    assert result.exact == pytest.approx(true, abs=1e-6)
    assert claimed == 1
    assert factor == pytest.approx(claimed / true, abs=5e-4)


def rows(title: str, columns: int) -> list[list[str]]:
    """Cells of the rows of the tables with so many columns."""
    lines = [line for line in section(title).splitlines() if line.startswith("| ") and not line.startswith("| target")]
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    return [each for each in cells if len(each) == columns]


SEARCHED = [
    pytest.param(*row, marks=[] if row[0].startswith(("alpha", "data")) else pytest.mark.slow) for row in rows("Fresh coins", 6)
]


@pytest.mark.parametrize(("target", "n", "points", "claimed", "own", "every"), SEARCHED)
def test_what_is_attained_on_small_domains(target: str, n: str, points: str, claimed: str, own: str, every: str) -> None:
    promised, of_own, of_all, error = attained(target, int(n), int(points))
    assert promised == float(claimed)
    assert error <= 0.002
    for value, printed in ((of_own, own), (of_all, every)):
        assert value == pytest.approx(float(printed), abs=0.6 * 10.0 ** -len(printed.split(".")[1]))


@pytest.mark.parametrize(("target", "parameters", "claimed", "own", "factor"), rows("Fresh coins", 5))
def test_what_own_pairs_of_any_size_attain(target: str, parameters: str, claimed: str, own: str, factor: str) -> None:
    name, _, value = parameters.partition("=")
    (result,) = assay([resolve(target, {name: value} if name else {})], None, Settings(mode="exact"))
    assert result.claim.promised == float(claimed)
    assert result.exact == pytest.approx(float(own), abs=6e-7)
    assert float(factor) == pytest.approx(float(claimed) / float(own), abs=6e-4)


def test_control_is_refuted_by_more_than_2() -> None:
    assert "a loss above 2" in section("Section 5: the alternatives")
    mechanism = Control()
    (case,) = mechanism.pairs()
    counts = [
        int((mechanism.sample(data, np.zeros((1, 1)), 4000, np.random.default_rng(k)) == 1).sum())
        for k, data in enumerate((case.pairs.base, case.pairs.changes[0].apply(case.pairs.base)))
    ]
    assert np.log(counts[0] / counts[1]) > 2
