"""The sequential test that judges whole audits errs as rarely as it says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.statistical.wald import as_promised, decision


@pytest.mark.parametrize(
    ("promised", "wrong"), [(0.025, 0.1), (0.05, 0.1), (0.05, 0.2), (0.9, 0.5), (0.99, 0.8)]
)
def test_both_errors_by_enumeration(promised: float, wrong: float) -> None:
    """The exact law of the count among the runs that are not decided yet, run after run."""
    for p, bad, most in ((promised, False, 0.01), (wrong, True, 0.02)):
        alive, erred, runs = np.ones(1), 0.0, 0
        while alive.sum() > 1e-4:
            runs += 1
            alive = np.append(alive * (1 - p), 0) + np.append(0, alive * p)
            found = [decision(k, runs, promised, wrong, 0.01, 0.02) for k in range(runs + 1)]
            erred += alive[[each is bad for each in found]].sum()
            alive[[each is not None for each in found]] = 0
        assert 0 < erred + alive.sum() <= most


def test_it_stops_as_soon_as_it_is_decided() -> None:
    events = iter([True] * 100)
    assert as_promised(events, 0.9, 0.5)
    assert len(list(events)) > 90
    assert not as_promised([False] * 100, 0.9, 0.5)
