"""Baselines and stable learners on thresholds of breast cancer features, every query audited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay import audit
from dpassay.data import BUILT_IN, Labelled, load, points
from dpassay.pairs import Pairs, replace_one
from dpassay.targets.resolve import resolve

RECORDS, QUERIES, NEIGHBOURS = 200, 2, 6
FEATURES = {"thresholds": [27], "corners": [27, 20]}
"""Worst concave points, worst radius."""
CORNER = "dpassay.mechanisms.shared.erm_class:corner"
ENTRIES: list[tuple[str, str, dict[str, Any]]] = [
    ("bagged", "thresholds", {"r": 25, "learner": "threshold"}),
    ("bagged", "corners", {"r": 25, "learner": CORNER}),
    ("bagged", "thresholds", {"how": "subset"}),
    ("bagged", "corners", {"how": "subset", "r": 20, "learner": CORNER}),
    ("label-flip", "corners", {"base": f"bagged,r=25,learner={CORNER}"}),
    ("stable-learner", "thresholds", {"H": "thresholds"}),
    ("label-flip", "thresholds", {"base": "stable-learner,H=thresholds"}),
    ("label-flip", "corners", {"base": "stable-learner,H=corners"}),
]


def data_of(H: str) -> tuple[Labelled, Labelled]:
    """Training records, and others to ask about. Benign, label 1, is where a feature is small."""
    table = load(BUILT_IN, None).data
    order = np.random.default_rng(0).permutation(len(table))
    data = Labelled(-table.X[:, FEATURES[H]], table.y).take(order)
    return data.take(slice(RECORDS)), data.take(slice(RECORDS, None))


def accuracy(mechanism: Any, train: Labelled, test: Labelled) -> float:
    """Mean over 200 trials."""
    draws = mechanism.sample(
        mechanism.prepare(train), points(test.X, "queries"), 200, np.random.default_rng(1)
    )
    return float((draws == test.y).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "H", "parameters"), ENTRIES)
def test_every_query_is_audited(name: str, H: str, parameters: dict[str, Any]) -> None:
    train, test = data_of(H)
    mechanism: Any = resolve(name, {"n": RECORDS} | parameters).mechanism
    assert accuracy(mechanism, train, test) > max(test.y.mean(), 1 - test.y.mean())
    sampled = H == "corners" and (
        name == "stable-learner" or "stable-learner" in str(parameters) or "how" in parameters
    )
    pairs = replace_one(train.X, train.y, pool=test)
    if sampled or name == "label-flip":
        changes = pairs.changes[:: len(pairs) // NEIGHBOURS]
        pairs = Pairs(base=train, changes=changes, how="a few", pool=test)
    options: dict[str, Any] = (
        {"mode": "monte-carlo", "budget": 500} if sampled else {"mode": "exact"}
    )
    for claim in mechanism.claims:
        result = audit(mechanism, claim=claim, pairs=pairs, queries=test.X[:QUERIES], **options)
        assert result.evidence is not None
        asked = [
            cell
            for cell in result.evidence.cells
            if result.evidence.groups[cell.group].kind == "data"
        ]
        assert sorted({cell.query for cell in asked}) == list(range(QUERIES))
        if sampled:
            assert result.verdict in ("not refuted", "inconclusive")
            assert all(cell.lower.value <= claim.promised for cell in asked)
        else:
            assert result.verdict == "not refuted"
            assert all(
                cell.exact is not None and cell.exact.value <= claim.promised + 1e-12
                for cell in asked
            )
