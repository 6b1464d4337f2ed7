"""Columns from which the label can be told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpassay import Tables
from dpassay.search.tables import giving_away

RNG = np.random.default_rng(5)
LABELS = np.array(["low", "high", "top"])[np.arange(60) % 3]
OTHER = RNG.permutation(LABELS)
COLUMNS = {
    "the label in other words": (np.array(["1", "2", "3"])[np.arange(60) % 3], True),
    "two values for a label": (np.arange(60) % 6, True),
    "a number that orders them": ((np.arange(60) % 3) * 10 + RNG.random(60), True),
    "something else": (OTHER, False),
    "a number": (RNG.random(60), False),
    "a name of every record": (np.array([f"id {k}" for k in range(60)]), False),
    "one value": (np.zeros(60), False),
    "all but one": (np.where(np.arange(60) == 7, 0, np.arange(60) % 3), False),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_gives_the_label_away_or_does_not(name: str) -> None:
    cells, gives = COLUMNS[name]
    space = Tables(pd.DataFrame({"x": cells, "y": LABELS}), label="y")
    assert giving_away(space.rows) == ["x"] * gives
    assert ("; the label 'y' can be told from 'x' alone" in space.words) == gives


def test_few_records_and_no_label_say_nothing() -> None:
    data = pd.DataFrame({"x": LABELS, "y": LABELS})
    assert giving_away(Tables(data).rows) == []
    assert giving_away(Tables(data[:12], label="y").rows) == []
    assert giving_away(Tables(data[:30], label="y").rows) == ["x"]


def test_by_chance_it_is_rare() -> None:
    """Three labels, five values, 40 records: each column gives it away with less than 1e-9."""
    found = 0
    for _ in range(300):
        cells = RNG.integers(0, 5, 40)
        data = pd.DataFrame({"x": cells, "y": RNG.integers(0, 3, 40)})
        found += len(giving_away(Tables(data, label="y").rows))
    assert found == 0
