"""Spaces: what is proposed keeps to the relation, differs, and is made again by an equal seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.data import Labelled, Values
from dpassay.errors import InvalidInput
from dpassay.pairs import NOTHING_ASKED, ReplaceValue, Shift
from dpassay.relations import answers_moved
from dpassay.search.proposals.proposal import Proposal, Space, mixed, spread
from dpassay.search.spaces import Answers, Records, Scalars, space_of

SENSITIVITIES = st.sampled_from([1.0, 0.3, 1e-6, 7.5, 1e9])


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def explored(space: Space, seed: int, most: int = 40) -> list[Proposal]:
    """What is proposed to begin with, and then from some of that, twice."""
    found = space.first(seeded(seed), most)
    again = space.more(found[:7], seeded(seed + 1), most)
    return [*found, *again, *space.more(again[:5] or found, seeded(seed + 2), most)]


def told(found: Sequence[Proposal]) -> list[Any]:
    return [
        (each.family, each.base.digest, str(each.change.as_json()), each.queries.tolist())
        for each in found
    ]


@st.composite
def answers(draw: st.DrawFn) -> Answers:
    sensitivity = draw(SENSITIVITIES)
    low = draw(st.sampled_from([-math.inf, -3.5, 0.0, 2.0])) * sensitivity
    width = draw(st.sampled_from([math.inf, 0.5, 1.0, 7.25])) * sensitivity
    high = low + width if math.isfinite(low) else width
    return Answers(draw(st.integers(1, 12)), sensitivity, low=low, high=high)


@st.composite
def scalars(draw: st.DrawFn) -> Scalars:
    low = draw(st.sampled_from([0.0, -1.0, 18.0, -1e6]))
    high = low + draw(st.sampled_from([1.0, 72.0, 1e-3, 1e7]))
    size, fixed = draw(st.integers(1, 30)), draw(st.booleans())
    values = seeded(size).uniform(low, high, size) if draw(st.booleans()) else None
    return Scalars(low, high, size=size, values=values, fixed=fixed)


@given(answers(), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_answers_move_by_no_more_than_the_sensitivity(space: Answers, seed: int) -> None:
    found = explored(space, seed)
    assert found
    for each in found:
        assert isinstance(each.base, Values)
        assert isinstance(each.change, Shift)
        assert isinstance(each.neighbour, Values)
        assert len(each.base) == len(each.change.by) == space.size
        assert each.change.largest <= space.sensitivity
        assert each.base.digest != each.neighbour.digest
        for side in (each.base.values, each.neighbour.values):
            assert space.low <= side.min()
            assert side.max() <= space.high
        assert each.pairs.relation == space.relation
        assert each.queries is NOTHING_ASKED
    assert answers_moved(space.relation) == space.sensitivity


@given(scalars(), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_one_number_between_the_limits_is_replaced(space: Scalars, seed: int) -> None:
    found = explored(space, seed)
    assert found
    for each in found:
        assert isinstance(each.base, Values)
        assert isinstance(each.change, ReplaceValue)
        assert isinstance(each.neighbour, Values)
        one, other = each.base.values, each.neighbour.values
        assert len(one) == len(other) <= (space.size or 0)
        assert len(one) == space.size or not space.fixed
        assert np.flatnonzero(one != other).tolist() == [each.change.index]
        for side in (one, other):
            assert space.low <= side.min()
            assert side.max() <= space.high
        assert each.pairs.relation == "replace-one"


SPACES = [
    Answers(5),
    Answers(1, 0.5),
    Answers(10, low=0.0),
    Scalars(0, 1),
    Scalars(18, 90, values=seeded().integers(18, 91, 60)),
    Scalars(0, 100, size=300),
    Records(Labelled(np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([0, 1, 1, 0]))),
    Records(Labelled(seeded().normal(size=(30, 2)), np.arange(30) % 3)),
    Records(Labelled(seeded().normal(size=(200, 20)), np.arange(200) % 2)),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.words)
def test_an_equal_seed_makes_equal_proposals_and_none_twice(space: Space) -> None:
    first = space.first(seeded(3), 150)
    more = space.more(first[:6], seeded(4), 150)
    assert told(first) == told(space.first(seeded(3), 150))
    assert told(more) == told(space.more(first[:6], seeded(4), 150))
    for found in (first, [*first[:6], *more]):
        assert len({each.identity for each in found}) == len(found)
    shorter = space.first(seeded(3), 5)
    assert len(shorter) == 5
    assert space.more(first[:6], seeded(4), 7)
    assert len(space.more(first[:6], seeded(4), 7)) <= 7


def test_a_pair_is_the_same_from_either_side() -> None:
    """All answers raised from 0 to 1 is all of them lowered from 1 to 0."""
    found = Answers(3).first(seeded(), 200)
    pairs = {
        frozenset(side.arrays[0].tobytes() for side in (each.base, each.neighbour))
        for each in found
    }
    assert len(pairs) == len(found)


BASES = {
    "one above": ([1, 1, 1, 1, 1], [2, 1, 1, 1, 1]),
    "one below": ([1, 1, 1, 1, 1], [0, 1, 1, 1, 1]),
    "one above rest below": ([1, 1, 1, 1, 1], [2, 0, 0, 0, 0]),
    "one below rest above": ([1, 1, 1, 1, 1], [0, 2, 2, 2, 2]),
    "half and half": ([1, 1, 1, 1, 1], [0, 0, 0, 2, 2]),
    "all above": ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2]),
    "all below": ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]),
    "X-shape": ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]),
}
"""Ding and others (2018), table 1."""


@pytest.mark.parametrize("pattern", BASES)
@pytest.mark.parametrize("turned", [False, True])
def test_the_classic_patterns_are_there_in_both_orders(pattern: str, turned: bool) -> None:
    one, other = (side[::-1] if turned else side for side in BASES[pattern])
    for sensitivity in (1.0, 0.5):
        sides = {
            frozenset(
                tuple((side.values / sensitivity).tolist())  # type: ignore[union-attr]
                for side in (each.base, each.neighbour)
            )
            for each in Answers(5, sensitivity).first(seeded(), 120)
        }
        assert frozenset((tuple(map(float, one)), tuple(map(float, other)))) in sides


def test_the_eight_patterns_come_first_and_take_turns() -> None:
    families = [each.family for each in Answers(5).first(seeded(), 24)]
    assert families[:8] == list(BASES)
    assert families[8:11] == ["random signs", "some answers moved", "a part of the sensitivity"]
    assert families[11:19] == list(BASES)


def test_answers_are_not_below_0_at_first() -> None:
    for each in Answers(4).first(seeded(), 80):
        if each.base.arrays[0].min() >= 0:
            assert each.neighbour.arrays[0].min() >= 0


def test_own_numbers_are_replaced_by_either_limit() -> None:
    values = seeded(1).integers(20, 80, 30).astype(float)
    space = Scalars(18, 90, values=values)
    own = [each for each in space.first(seeded(), 1000) if each.base is space.own]
    replaced = {
        (each.change.index, each.change.value)
        for each in own
        if isinstance(each.change, ReplaceValue)
    }
    assert replaced >= {(place, limit) for place in range(30) for limit in (18.0, 90.0)}
    assert space.first(seeded(), 1)[0].family == "own record replaced by an extreme"


def test_lists_of_every_small_size_and_of_the_given_one_are_proposed() -> None:
    sizes = {len(each.base) for each in Scalars(0, 1, size=40).first(seeded(), 100)}
    assert sizes >= {1, 2, 3, 4, 5, 10, 40}
    sizes = {len(each.base) for each in Scalars(0, 1, size=40, fixed=True).first(seeded(), 100)}
    assert sizes == {40}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Answers(0), r"size = 0: must be an integer >= 1"),
        (lambda: Answers(2.0), r"size = 2.0"),  # type: ignore[arg-type]
        (lambda: Answers(2, 0.0), r"sensitivity = 0.0: must be a finite number > 0"),
        (lambda: Answers(2, math.inf), "sensitivity = inf"),
        (lambda: Answers(2, 1.0, low=1.0, high=1.0), r"low, high = \(1.0, 1.0\)"),
        (lambda: Scalars(1, 0), r"low, high = \(1, 0\): must be finite, the first below"),
        (lambda: Scalars(0, math.inf), "low, high"),
        (lambda: Scalars(-1.7e308, 1.7e308), "low, high"),
        (lambda: Scalars(0, 1, size=0), "size = 0"),
        (lambda: Scalars(0, 1, values=[0.5, 2.0]), r"values: must be numbers in \[0, 1\]"),
        (lambda: Scalars(0, 1, values=[]), "values"),
        (lambda: Scalars(0, 1, size=3, values=[0.5]), "size = 3: must be 1, the number of values"),
        (lambda: space_of([2.0, 2.0]), "all numbers are equal"),
        (
            lambda: space_of("numbers"),
            "data = 'numbers': must be a DataFrame, the path of a CSV file",
        ),
        (lambda: space_of(None), "data"),
    ],
)
def test_what_is_no_space_is_refused(make: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()


def test_a_list_of_numbers_is_a_space_between_its_least_and_greatest() -> None:
    space = space_of([3, 1, 2])
    assert isinstance(space, Scalars)
    assert (space.low, space.high, space.size) == (1.0, 3.0, 3)
    assert space_of(space) is space


def test_spaces_say_what_they_are() -> None:
    assert Answers(5).words == "5 true answers, each of which a change moves by at most 1"
    assert Answers(1, 0.5).words == "1 true answer, which a change moves by at most 0.5"
    said = "1 to 10 numbers in [0, 1], one of which a change replaces"
    assert Scalars(0, 1).words == said
    assert Scalars(0, 1, size=4, fixed=True).words.startswith("4 numbers in [0, 1]")


@given(st.integers(1, 300), st.integers(1, 300))
def test_places_are_spread_over_all(count: int, most: int) -> None:
    places = spread(count, most)
    assert len(set(places)) == len(places) <= min(count, most)
    assert {0, count - 1} <= set(places) or most == 1 or count == 1
    assert all(0 <= place < count for place in places)
    ordered = sorted(places)
    assert most == 1 or max(np.diff(ordered), default=0) <= math.ceil((count - 1) / (most - 1)) + 1


def test_families_that_run_dry_leave_their_turns_to_others() -> None:
    many = Answers(5).first(seeded(), 30)
    found = mixed([iter(many[:2]), iter(many[2:12]), iter(many[:2] * 40)], 9)
    assert [many.index(each) for each in found] == [0, 2, 1, 3, 4, 5, 6, 7, 8]
    assert mixed([iter(many)], 9, known=many[:28]) == many[28:]


def test_answers_at_their_limits_are_proposed() -> None:
    found = Answers(3, low=-(2.0**31), high=2.0**31 - 1).first(np.random.default_rng(0), 256)
    starts = {tuple(each.base.arrays[0].tolist()) for each in found}
    ends = {tuple(each.neighbour.arrays[0].tolist()) for each in found}
    for limit in (-(2.0**31), 2.0**31 - 1):
        assert any(limit in each for each in starts | ends)
    assert min(map(min, starts | ends)) >= -(2.0**31)
    assert max(map(max, starts | ends)) <= 2.0**31 - 1
