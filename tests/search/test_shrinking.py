"""Shrinking: every candidate is simpler, nothing goes on for ever, and the simplest is found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.data import Values
from dpassay.pairs import Pairs, ReplaceValue, Shift
from dpassay.search.proposals.proposal import Proposal, Space, proposal
from dpassay.search.proposals.shrinking import cost, costs, simpler_numbers, stretches
from dpassay.search.spaces import Answers, Scalars
from tests.search.shrunk import shrink

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def values(each: Proposal) -> list[float]:
    assert isinstance(each.base, Values)
    numbers: list[float] = each.base.values.tolist()
    return numbers


@pytest.mark.parametrize(
    "space", [Answers(6), Answers(2, 0.3, low=0.0), Scalars(-5, 7, size=12)], ids=repr
)
@given(seed=st.integers(0, 1000))
@settings(max_examples=6, deadline=None)
def test_every_simpler_pair_is_one_of_the_space_and_shrinking_ends(space: Space, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = space.first(rng, 60)[-1]
    for _ in range(200):
        candidates = list(space.smaller(found))
        if not candidates:
            return
        assert all(each.pairs.relation == space.relation for each in candidates)
        found = candidates[int(rng.integers(len(candidates)))]
    pytest.fail("shrinking goes on for more than 200 steps")


@given(seed=st.integers(0, 1000))
@settings(max_examples=6, deadline=None)
def test_if_everything_will_do_the_simplest_pair_of_all_is_found(seed: int) -> None:
    found = Answers(5, 0.5).first(np.random.default_rng(seed), 90)[-1]
    least = shrink(Answers(5, 0.5), found, lambda _: True, 1000)
    assert values(least) == [0.0] * 5
    assert isinstance(least.change, Shift)
    assert sorted(least.change.by)[-2:] == [0.0, 0.5]
    found = Scalars(-5, 7, size=12).first(np.random.default_rng(seed), 90)[-1]
    least = shrink(Scalars(-5, 7, size=12), found, lambda _: True, 1000)
    assert values(least) == [-5.0]
    assert least.change == ReplaceValue(0, 7.0)


def test_what_is_needed_is_kept() -> None:
    """The leak needs answers 2 and 4 apart by 3, and answer 4 moved."""

    def leaks(each: Proposal) -> bool:
        base = values(each)
        assert isinstance(each.change, Shift)
        return base[3] - base[1] >= 3 and each.change.by[3] < 0

    by = (-0.25, 1.0, -1.0, -0.5, 0.0)
    start = proposal(
        Values([17.0, -3.5, 2.0, 11.0, 0.1]),  # type: ignore[arg-type]
        Shift(by),
        "random signs",
        "answers-1",
    )
    least = shrink(Answers(5), start, leaks, 1000)
    assert values(least) == [0.0, 0.0, 0.0, 3.0, 0.0]
    assert least.change == Shift((0.0, 0.0, 0.0, -1.0, 0.0))
    assert least.family == "random signs"


def test_records_that_do_not_matter_go() -> None:
    """Only three numbers above 4 are needed, one of them replaced by one below."""
    rng = np.random.default_rng(0)
    numbers = rng.uniform(0, 10, 80)
    numbers[[3, 70, 79]] = 9.5

    def leaks(each: Proposal) -> bool:
        assert isinstance(each.change, ReplaceValue)
        above = np.array(values(each)) > 4
        return int(above.sum()) >= 3 and bool(above[each.change.index]) and each.change.value <= 4

    start = proposal(Values(numbers), ReplaceValue(70, 1.25), "own numbers", "replace-one")
    asked = 0

    def counted(each: Proposal) -> bool:
        nonlocal asked
        asked += 1
        return leaks(each)

    space = Scalars(0, 10, size=80)
    least = shrink(space, start, counted, 10_000)
    assert values(least) == [10.0, 10.0, 10.0]
    assert least.change == ReplaceValue(0, 0.0)
    assert asked < 400
    assert shrink(space, start, leaks, 0) is start


def test_a_list_of_a_fixed_size_keeps_it() -> None:
    space = Scalars(0, 1, size=6, fixed=True)
    start = space.first(np.random.default_rng(5), 50)[-1]
    assert len(values(shrink(space, start, lambda _: True, 500))) == 6


@given(NUMBERS)
def test_simpler_numbers_cost_less(number: float) -> None:
    assert cost(number) >= 0
    assert all(cost(each) < cost(number) for each in simpler_numbers(number))
    assert bool(simpler_numbers(number)) == (number != 0)


def test_the_order_of_numbers() -> None:
    order = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 50.0, 0.5, -0.5, 0.25, 0.3333333]
    paid = [cost(each) for each in order]
    assert paid == sorted(set(paid))
    assert costs(np.array([7.0, 0.0, 7.0]), easy=(7.0,)) == 1
    assert costs(np.array([2.0, 2.0, 1.0])) == 2 * cost(2.0) + cost(1.0)


@given(st.integers(0, 100))
def test_stretches_get_shorter(count: int) -> None:
    lengths = [part.stop - part.start for part in stretches(count)]
    assert sum(length == 1 for length in lengths) >= count
    assert lengths[:1] == ([count] if count else [])
    assert len(lengths) <= 3 * count + 2


def test_a_proposal_that_cannot_be_made_is_passed_over() -> None:
    class Wary(Space):
        """Ends at once."""

        def smaller(self, found: Proposal) -> Iterator[Proposal]:
            return iter(())

    pairs = Pairs(base=Values(np.ones(1)), changes=(ReplaceValue(0, 0.0),), how="by hand")
    start = Proposal(pairs=pairs, queries=np.zeros((1, 1)), family="by hand")
    assert shrink(Wary(), start, lambda _: True, 10) is start
