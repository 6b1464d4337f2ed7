"""What a run writes stays small: the catalogue's record below 2 MB, its cells below 5 MB."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from dpassay.cli.main import main
from dpassay.reports.run.markdown import LIMIT

TARGETS = ("soft-majority-overview", "label-flip", "example61-exponential", "stable-learner")
RECORD = 20_000
"""Bytes per claim at 22 queries, as these have; the mean of the catalogue's 112 is 16.5 kB."""
ROW = 5.5
"""Bytes per cell that is listed; the mean of the catalogue's 834,000 is 4.7."""


@pytest.mark.slow
def test_sizes(folder: Path) -> None:
    words = ["run", *TARGETS, "--profile", "default", "--train", "100", "-q"]
    assert main([*words, "--out", "out"]) == 0
    claims = len(json.loads(Path("out/record.json").read_text())["results"])
    assert claims == 11
    assert Path("out/record.json").stat().st_size < RECORD * claims
    assert Path("out/report.md").stat().st_size < LIMIT
    rows = len(pd.read_csv("out/cells.csv.gz"))
    assert rows > 40_000
    assert Path("out/cells.csv.gz").stat().st_size < ROW * rows
