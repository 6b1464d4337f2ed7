"""`detectable` of a searched audit: leaks of exactly that size, planted at one of many pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import pytest

from dpassay import audit
from dpassay.engine.detection.searches import SearchDesign
from dpassay.engine.evidence import DetectionCurve
from dpassay.engine.guards import Guards
from dpassay.engine.result import Result
from tests.statistical.planted import SHAPES, Row, Shape, planted
from tests.statistical.wald import as_promised

QUICK = ("a frequent label", "a 10 % label")


def searched(shape: Shape, leak: float, seed: int, smaller: int = 8) -> Result:
    """Audit a mechanism that leaks so much at one pair, and whose smaller pairs do not."""
    return audit(
        planted(shape, leak),
        claim=shape.claim,
        data=Row(shape.pairs, smaller),
        budget=shape.budget,
        confidence=0.95,
        executor="inline",
        seed=seed,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_leak_of_the_detectable_size_is_refuted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine times in ten fails here once in 100 times; half of the times passes six in 100."""
    shape = SHAPES[name]
    first = searched(shape, shape.claim.promised, 10**6).evidence
    assert first is not None
    assert first.sight.design is not None
    leak = first.sight.design.smallest(shape.frequency)
    assert math.isfinite(leak)
    for guard in ("varied", "asked_again", "confirmed"):
        monkeypatch.setattr(Guards, guard, lambda *_, **__: None)
    monkeypatch.setattr(SearchDesign, "sight", lambda *_: DetectionCurve(detectable=leak))
    found = (searched(shape, leak, seed).verdict == "refuted" for seed in count())
    assert as_promised(found, 0.9, 0.5, missed=0.06)


@pytest.mark.slow
def test_what_leaks_the_claim_at_every_pair_is_seldom_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error of 5 % fails here once in 100 times, one of 25 % passes five times in 100."""
    shape = replace(SHAPES["a frequent label"], budget=500, pairs=12)
    monkeypatch.setattr(SearchDesign, "sight", lambda *_: DetectionCurve(detectable=0.0))
    for guard in ("varied", "asked_again", "confirmed"):
        monkeypatch.setattr(Guards, guard, lambda *_, **__: None)
    found = (searched(shape, 1.0, seed).verdict == "refuted" for seed in count())
    assert as_promised(found, 0.05, 0.25, missed=0.05)
