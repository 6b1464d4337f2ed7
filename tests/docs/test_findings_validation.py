"""The sections on validation and its alternatives: every number recomputed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.mechanisms.control import Control
from dpassay.mechanisms.validate import Validate
from dpassay.pairs import FlipLabel, Pairs
from tests.mechanisms.test_validate import QUERY, Share, line

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


def test_control_is_refuted_by_more_than_2() -> None:
    assert "a loss above 2" in section("Section 5: the alternatives")
    mechanism = Control()
    (case,) = mechanism.pairs()
    counts = [
        int((mechanism.sample(data, np.zeros((1, 1)), 4000, np.random.default_rng(k)) == 1).sum())
        for k, data in enumerate((case.pairs.base, case.pairs.changes[0].apply(case.pairs.base)))
    ]
    assert np.log(counts[0] / counts[1]) > 2
