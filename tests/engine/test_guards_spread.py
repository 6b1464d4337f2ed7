"""Guards look at some queries of many, and at several datasets by one call."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.engine.guards import SPREAD, TOGETHER, Guards, _looked_at, _portions
from dpassay.errors import TargetError
from dpassay.pairs import FlipLabel
from dpassay.trials.blocks import BlockCounts
from tests.core.toys import flip_group


def test_few_queries_are_all_looked_at_and_of_many_the_bounded_ones_and_an_even_spread() -> None:
    for queries in (1, 2, SPREAD):
        assert _looked_at(queries, (0,)).tolist() == list(range(queries))
    found = _looked_at(10_000, {17, 9_000, 9_999})
    assert {17, 9_000, 0, 9_999} <= set(found.tolist())
    assert SPREAD <= len(found) <= SPREAD + 3
    assert np.diff(found).max() <= 10_000 / (SPREAD - 1) + 1


def test_places_are_looked_at_group_by_group_and_few_at_a_time() -> None:
    places = [(g, pair) for g in (0, 1) for pair in (None, *range(TOGETHER))]
    portions = list(_portions(places))
    assert [place for portion in portions for place in portion] == places
    assert [len(portion) for portion in portions] == [TOGETHER, 1] * 2


def test_the_dataset_whose_calls_vary_is_named_among_many() -> None:
    rng = np.random.default_rng(0)
    changes = tuple(FlipLabel(index) for index in range(3 * TOGETHER))
    group = flip_group(records=len(changes), queries=3, changes=changes)

    def counts(share: NDArray[np.float64]) -> BlockCounts:
        ones = rng.binomial(100, share)
        return BlockCounts(calls=np.stack([100 - ones, ones], axis=2), marks=(b"",))

    certified = {(0, pair): counts(np.full((20, 3), 0.3)) for pair in (None, *range(len(changes)))}

    def guards() -> Guards:
        return Guards(
            groups=(group,),
            executor=None,  # type: ignore[arg-type]
            lots=(("certify", 2000, 0),),
            alarm=1e-6,
            screened={place: each.calls.sum(axis=0) for place, each in certified.items()},
            certified=certified,
            fresh={},
        )

    guards().varied({})
    certified[0, 19] = counts(np.repeat(rng.random((20, 1)), 3, axis=1))
    with pytest.raises(TargetError, match=r"record 19.*differ by more than independent"):
        guards().varied({})
