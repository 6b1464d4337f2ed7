"""Twelve services with a defect each are found and named; eight that are right get none."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.attacks.services.defects import Probe, probe
from dpassay.attacks.services.interface import Service
from dpassay.claims import DP
from dpassay.data import Labelled
from tests.attacks.services.broken_services import Honest
from tests.attacks.services.suite import BROKEN, RIGHT, RIGHT_VARIANTS, VARIANTS, SixteenBits

SEEDS = 3
FEW_OPENINGS = 100
"""Of a birthday test, in all seeds but the first: 2,000 would take minutes."""


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(40, 2)), rng.integers(0, 2, 40))


def probed(kind: type[Honest], data: Labelled, seed: int = 0, openings: int = 2000) -> Probe:
    service = Service(kind(), kind.__name__, seed=seed)
    return probe(service, data, claim=DP(epsilon=1.0), seed=seed, openings=openings)


def test_there_are_twenty() -> None:
    assert (len(BROKEN), len(RIGHT)) == (12, 8)
    assert len(set(BROKEN.values())) == 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN | VARIANTS, ids=lambda kind: kind.__name__)
def test_its_defect_is_found_and_named(kind: type[Honest], data: Labelled) -> None:
    found = probed(kind, data)
    assert [defect.name for defect in found.defects] == [(BROKEN | VARIANTS)[kind]]
    assert found.openings <= sum(part.openings for part in found.plan)
    assert found.queries <= sum(part.queries for part in found.plan)


@pytest.mark.slow
@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_what_is_right_has_none_in_three_seeds(kind: type[Honest], data: Labelled) -> None:
    for seed in range(SEEDS):
        found = probed(kind, data, seed, FEW_OPENINGS if seed else 2000)
        assert found.defects == ()
        assert found.openings <= sum(part.openings for part in found.plan)
        assert found.queries <= sum(part.queries for part in found.plan)


@pytest.mark.slow
def test_too_few_answers_for_a_birthday_are_told(data: Labelled) -> None:
    class Short(SixteenBits):
        limit = 8

    found = probed(Short, data, openings=500)
    assert found.defects == ()
    assert any("would show seeds of about" in each for each in found.untold)
    assert not any("few bits" in each for each in probed(SixteenBits, data).untold)


@pytest.mark.slow
@pytest.mark.parametrize("kind", RIGHT_VARIANTS, ids=lambda kind: kind.__name__)
def test_so_do_the_variants(kind: type[Honest], data: Labelled) -> None:
    for seed in range(2):
        assert probed(kind, data, seed, FEW_OPENINGS).defects == ()
