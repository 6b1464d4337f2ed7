"""Twelve services with a defect each are found and named; eight that are right get none."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.attacks.services.defects import Probe, probe
from dpassay.attacks.services.interface import Service
from dpassay.claims import DP
from dpassay.data import Labelled
from tests.attacks.services.broken_services import Honest
from tests.attacks.services.suite import (
    BROKEN,
    RIGHT,
    RIGHT_VARIANTS,
    VARIANTS,
    Live,
    Memoised,
    Plain,
    SixteenBits,
    Trained,
)

OPENINGS = {"seeds of few bits": 1000, "seed shared between part of the users": 100}
"""Of a birthday test that finds it: 1,000 streams of 16 bits have 7.6 equal pairs, and three do."""
FEW = 20
"""Of the others."""
MANY = (Plain, Memoised, Trained, Live)
"""What is asked 2,000 times, as by default: of these answers some agree by right."""


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(40, 2)), rng.integers(0, 2, 40))


def probed(kind: type[Honest], data: Labelled, seed: int = 0, openings: int = FEW) -> Probe:
    service = Service(kind(), kind.__name__, seed=seed)
    found = probe(service, data, claim=DP(epsilon=1.0), seed=seed, openings=openings)
    assert found.openings <= sum(part.openings for part in found.plan)
    assert found.queries <= sum(part.queries for part in found.plan)
    return found


def test_there_are_twenty() -> None:
    assert (len(BROKEN), len(RIGHT)) == (12, 8)
    assert len(set(BROKEN.values())) == 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN | VARIANTS, ids=lambda kind: kind.__name__)
def test_its_defect_is_found_and_named(kind: type[Honest], data: Labelled) -> None:
    name = (BROKEN | VARIANTS)[kind]
    found = probed(kind, data, openings=OPENINGS.get(name, FEW))
    assert [defect.name for defect in found.defects] == [name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*RIGHT, *RIGHT_VARIANTS], ids=lambda kind: kind.__name__)
def test_what_is_right_has_none(kind: type[Honest], data: Labelled) -> None:
    """In one seed: the error probability of each test is 1e-6 by its law, see test_chances.py."""
    assert probed(kind, data).defects == ()


@pytest.mark.slow
def test_a_right_service_has_none_in_all_openings_and_too_few_answers_are_told(
    data: Labelled,
) -> None:
    short = type("Short", (SixteenBits,), {"limit": 8})
    found = probed(short, data, openings=500)
    assert found.defects == ()
    assert any("would show seeds of about" in each for each in found.untold)
    for seed, (kind, openings) in enumerate(((Plain, FEW), *((kind, 2000) for kind in MANY))):
        whole = probed(kind, data, seed, openings)
        assert whole.defects == ()
        # as many as the default show sixteen bits
        assert any("few bits" in each for each in whole.untold) == (openings < 2000)
