"""Validation and its alternatives over all datasets of small domains, and by their own pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.pairs import FlipLabel, Pairs
from dpassay.targets.resolve import resolve

OUTPUT, OBJECTIVE = (
    "output-perturbation,lambdas=0.1;1",
    "objective-perturbation,oplr=true,lambdas=0.1;1",
)
TARGETS: dict[str, tuple[str, dict[str, Any]]] = {
    "alpha-split": (OBJECTIVE, {}),
    "data-split": (OBJECTIVE, {}),
    "data-split, index": (OBJECTIVE, {"release": "index"}),
    "random-choice": (OBJECTIVE, {}),
    "validate, frozen": (OUTPUT, {}),
    "validate, fresh": (OUTPUT, {"coins": "fresh", "delta": 1e-9}),
    "validate-train": (OUTPUT, {"delta": 1e-9}),
    "validate-train, index": (OUTPUT, {"delta": 1e-9, "release": "index"}),
}
"""Base and parameters of each row of docs/findings.md; all have m = 2."""


def attained(name: str, n: int, points: int) -> tuple[float, float, float, float]:
    """Epsilon as claimed, the losses of own pairs and of all of a domain, and their error."""
    base, parameters = TARGETS[name]
    audited = resolve(
        name.split(",", maxsplit=1)[0],
        {"m": 2, "base": f"{base},n={n},feature_scale={points}", **parameters},
    )
    own, *rest = assay([audited], None, Settings(mode="exact"))
    every, *others = assay(
        [audited], None, Settings(mode="exhaustive", domain=Domain(n=n, points=points))
    )
    for result in (own, every, *rest, *others):
        assert result.verdict in ("not refuted", "verified")
        assert result.exact is not None
        assert result.upper is not None
        assert result.lower is not None
    error = max(float(result.upper - result.lower) for result in (own, every))
    return float(own.claim.promised), float(own.exact or 0), float(every.exact or 0), error


SHOWN = {(name, 8, 1) for name in TARGETS} - {
    ("validate-train, index", 8, 1),
    ("random-choice", 8, 1),
}
SHOWN |= {("random-choice", 5, 2)}
"""Rows of docs/findings.md, of which tests/docs/test_findings_validation.py asserts the same."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("alpha-split", "data-split") else pytest.mark.slow)
        for name in TARGETS
    ],
)
def test_own_pairs_attain_what_is_found_on_a_small_domain(name: str) -> None:
    """All datasets of four records on two points."""
    claimed, own, every, error = attained(name, 4, 2)
    assert 0 < every <= own + error
    assert max(own, every) <= claimed + error


def test_for_given_strings_mixed_records_can_do_better() -> None:
    """The worst pair of n = 6, N = 2 for frozen strings, of all 4,096 datasets."""
    base, _ = TARGETS["validate, frozen"]
    mechanism: Any = resolve("validate", {"m": 2, "base": f"{base},n=6,feature_scale=2"}).mechanism
    data = Labelled(np.array([[2.0], [1], [1], [2], [2], [2]]), np.array([1, 0, 1, 0, 0, 0]))
    pairs = Pairs(base=data, changes=(FlipLabel(0),), how="mixed records")
    own = audit(mechanism, mode="exact")
    mixed = audit(mechanism, pairs=pairs, queries=[[1.0]], mode="exact")
    assert own.exact is not None
    assert mixed.exact is not None
    assert mixed.exact == pytest.approx(0.0961, abs=5e-5)
    assert mixed.verdict == "not refuted"
    assert own.exact / mixed.exact == pytest.approx(0.86, abs=0.005)
