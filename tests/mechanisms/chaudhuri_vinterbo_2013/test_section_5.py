"""The five methods of section 5 on MAGIC: one fold, three privacy parameters."""

from __future__ import annotations

import pytest

from benchmarks import section5
from benchmarks.accuracy import tables
from tests import needed


@pytest.mark.slow
@pytest.mark.parametrize("alpha", section5.ALPHAS)
def test_all_five_methods_on_one_fold(alpha: float) -> None:
    magic = dict(tables(needed.data()))["magic"]
    found = section5.run(magic, alpha)
    assert tuple(found) == section5.METHODS
    # the same coins, the same numbers
    assert found == section5.run(magic, alpha)
    for row in found.values():
        assert 0.5 < row["AUC"] < 0.9
        assert 0.1 < row["MSE"] < 0.3
        assert row["index"] in range(10)
    assert found["Control"]["AUC"] >= 0.8  # what no privacy in the choice can reach
