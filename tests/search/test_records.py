"""Labelled records: what is proposed, where it is asked, and how it is shrunk."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.data import Labelled, load
from dpassay.errors import InvalidInput
from dpassay.pairs import FlipLabel, Replace
from dpassay.search.proposals.proposal import Proposal, proposal
from dpassay.search.spaces import Records, space_of
from tests.search.shrunk import shrink

pytestmark = pytest.mark.usefixtures("few_pairs")


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def drawn(count: int, columns: int, classes: int, kind: str = "any") -> Labelled:
    """Records of some kind: real ones, whole ones, of length 1."""
    rng = seeded(count * 7 + columns)
    X = rng.normal(size=(count, columns))
    if kind == "whole":
        X = np.round(3 * X)
    if kind == "normalised":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return Labelled(X, rng.integers(0, classes, count))


TINY = Labelled(np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([0, 1, 1, 0]))
THREE = drawn(30, 2, 3)


@st.composite
def spaces(draw: st.DrawFn) -> Records:
    data = drawn(
        draw(st.integers(1, 25)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 4)),
        draw(st.sampled_from(["any", "whole", "normalised"])),
    )
    return Records(data, fixed=draw(st.booleans()), asked=draw(st.integers(1, 6)))


def explored(space: Records, seed: int, most: int = 30) -> list[Proposal]:
    found = space.first(seeded(seed), most)
    more = space.more(found[:7], seeded(seed + 1), most)
    return [*found, *more, *space.more(more[:5] or found, seeded(seed + 2), most)]


def sides(each: Proposal) -> tuple[Labelled, Labelled]:
    assert isinstance(each.base, Labelled)
    assert isinstance(each.neighbour, Labelled)
    return each.base, each.neighbour


@given(spaces(), st.integers(0, 99))
@settings(max_examples=4, deadline=None)
def test_one_record_is_replaced_within_the_range_of_the_data(space: Records, seed: int) -> None:
    X, labels = space.data.X, set(space.data.y.tolist())
    found = explored(space, seed)
    assert found
    for each in found:
        one, other = sides(each)
        differ = (one.X != other.X).any(axis=1) | (one.y != other.y)
        assert np.flatnonzero(differ).tolist() == [each.change.index]
        assert len(one) == len(X) or not space.fixed
        for side in (one, other):
            assert (side.X.min(axis=0) >= X.min(axis=0)).all()
            assert (side.X.max(axis=0) <= X.max(axis=0)).all()
            assert np.linalg.norm(side.X, axis=1).max() <= max(
                1 + 1e-9, np.inf if np.linalg.norm(X, axis=1).max() > 1 + 1e-9 else 0
            )
            assert len(labels) == 1 or set(side.y.tolist()) <= labels
        assert each.pairs.relation == space.relation == "replace-one"
        assert 1 <= len(each.queries) <= space.asked
        assert each.queries.shape[1] == X.shape[1]
        assert np.isfinite(each.queries).all()
        assert not each.queries.flags.writeable


def test_a_thousand_proposals_are_made_of_a_real_table() -> None:
    """569 records of 30 features."""
    assert len(space_of(load("breast-cancer").data).first(seeded(), 1000)) == 1000


def test_families_take_turns() -> None:
    families = [each.family for each in Records(THREE).first(seeded(), 24)]
    assert len(set(families[:12])) == 12
    assert families[0] == "label of an own record changed"
    assert {"small dataset", "votes one apart", "a value in one record only"} <= set(families[:12])
    assert families[12:] == families[:12]


def test_every_record_is_flipped_and_replaced() -> None:
    found = Records(THREE).first(seeded(), 1000)
    own = [each for each in found if each.base is THREE]
    labels = {
        (each.change.index, int(sides(each)[1].y[each.change.index]))
        for each in own
        if np.array_equal(sides(each)[0].X, sides(each)[1].X)
    }
    assert labels == {(i, c) for i in range(30) for c in range(3) if c != THREE.y[i]}
    places = {each.change.index for each in own if "by another" in each.family}
    assert places == set(range(30))


def test_the_smallest_datasets_are_enumerated() -> None:
    """Of one record: every pair of two different records, of those that are tried."""
    found = Records(TINY).first(seeded(), 2000)
    small = [each for each in found if each.family == "small dataset"]
    alone = {
        tuple(sorted((*side.X[0].tolist(), int(side.y[0])) for side in sides(each)))
        for each in small
        if len(each.base) == 1
    }
    records = {record for pair in alone for record in pair}
    assert len(records) >= 4
    assert alone == set(combinations(sorted(records), 2))
    assert {len(each.base) for each in small} == {1, 2, 3}


def test_votes_are_tied_or_one_apart() -> None:
    found = [
        each
        for each in Records(drawn(40, 2, 2)).first(seeded(), 1000)
        if each.family == "votes one apart"
    ]
    assert {len(each.base) for each in found} >= {2, 3, 4, 5, 6, 7, 10, 20, 40}
    for each in found:
        margins = sorted(int((2 * side.y - 1).sum()) for side in sides(each))
        assert margins in ([-1, 1], [-2, 0], [0, 2])


def test_boundary_datasets() -> None:
    X = THREE.X
    found = Records(THREE).first(seeded(), 1000)
    by_family: dict[str, list[Proposal]] = {}
    for each in found:
        by_family.setdefault(each.family, []).append(each)
    for each in by_family["all records equal"]:
        assert min(len(np.unique(side.X, axis=0)) for side in sides(each)) == 1
    assert {2, 30, 60} <= {len(each.base) for each in by_family["all records equal"]}
    for each in by_family["a value in one record only"]:
        one, other = sides(each)
        assert set(other.y.tolist()) - set(one.y.tolist())
    for each in by_family["record moved to the other end"]:
        one, other = sides(each)
        moved = (side.X[each.change.index] for side in (one, other))
        assert any((row == end).all() for row in moved for end in (X.min(axis=0), X.max(axis=0)))
        assert (np.diff(np.delete(one.X, each.change.index, axis=0), axis=0) >= 0).all()


def test_a_pair_is_asked_where_it_changes_again_and_between() -> None:
    change = Replace(1, np.array([5.0, 5.0]), 1)
    data = Labelled(np.array([[0.0, 0], [4, 0], [5, 5], [4, 3]]), np.array([0, 0, 1, 1]))
    found = Records(data).first(seeded(), 1000)
    (each,) = [
        each
        for each in found
        if each.base is data
        and isinstance(each.change, Replace)
        and each.change.as_json() == change.as_json()
    ]
    before, after, again, between, *_ = each.queries.tolist()
    assert before == again == [4.0, 0.0]
    assert after == [5.0, 5.0]  # the nearest of another label
    assert between == [4.0, 2.0]  # of the two, on whole numbers
    flips = [each for each in found if isinstance(each.change, FlipLabel) and each.base is data]
    asked = flips[0].queries.tolist()
    place = flips[0].change.index
    assert asked[0] == asked[1] == data.X[place].tolist()
    for one in Records(data, asked=1).first(seeded(), 50):
        assert len(one.queries) == 1


def test_whole_features_stay_whole_and_normalised_records_short() -> None:
    for each in explored(Records(drawn(30, 3, 2, "whole")), 0, 200):
        for side in sides(each):
            assert (np.trunc(side.X) == side.X).all()
    for each in explored(Records(drawn(30, 3, 2, "normalised")), 0, 200):
        for points in (*(side.X for side in sides(each)), each.queries):
            assert np.linalg.norm(points, axis=1).max() <= 1 + 1e-9


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1], [4, 4, 4], [2, 5, 2]])
def test_labels_are_those_of_the_data_and_one_more_where_there_is_one_only(
    labels: list[int],
) -> None:
    space = Records(Labelled(np.arange(3.0)[:, None], np.array(labels)))
    found = space.first(seeded(), 100)
    seen = {label for each in found for side in sides(each) for label in side.y.tolist()}
    assert len(seen) == 2
    assert set(labels) <= seen
    assert seen - set(labels) <= {0, 1}


def test_spaces_of_records() -> None:
    assert isinstance(space_of(TINY), Records)
    assert isinstance(space_of((TINY.X, TINY.y)), Records)
    assert isinstance(space_of((TINY.X.tolist(), TINY.y.tolist())), Records)
    said = "records of 2 features with labels 0, 1, one of which a change replaces"
    assert Records(TINY).words == said
    assert Records(TINY, fixed=True).words == f"4 {said}"
    with pytest.raises(InvalidInput, match="asked = 0"):
        Records(TINY, asked=0)
    with pytest.raises(InvalidInput, match=r"data = 'tuple': must be a Labelled"):
        Records((TINY.X, TINY.y))  # type: ignore[arg-type]


@given(spaces(), st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_every_simpler_pair_is_one_of_the_space_and_shrinking_ends(
    space: Records, seed: int
) -> None:
    rng = seeded(seed)
    found = space.first(rng, 40)[-1]
    for _ in range(300):
        candidates = list(islice(space.smaller(found), 8))
        if not candidates:
            return
        for each in candidates:
            one, other = sides(each)
            assert len(one) <= len(found.base)
            assert len(each.queries) <= len(found.queries)
            differ = (one.X != other.X).any(axis=1) | (one.y != other.y)
            assert np.flatnonzero(differ).tolist() == [each.change.index]
            assert one.X.min() >= space.data.X.min()
            assert one.X.max() <= space.data.X.max()
        found = candidates[int(rng.integers(min(3, len(candidates))))]
    pytest.fail("shrinking goes on for more than 300 steps")


def test_if_everything_will_do_one_record_and_one_query_are_left() -> None:
    space = Records(drawn(60, 3, 2))
    least = shrink(space, space.first(seeded(1), 40)[-1], lambda _: True, 2000)
    base, _ = sides(least)
    assert base.X.tolist() == [[0.0, 0.0, 0.0]]
    assert base.y.tolist() == [0]
    assert isinstance(least.change, FlipLabel)
    assert least.queries.tolist() == [[0.0, 0.0, 0.0]]


def test_what_matters_is_kept() -> None:
    """Three records are needed, of which the majority changes; a single query will do."""
    data, tied = drawn(50, 2, 2), np.arange(50) % 2
    start = proposal(
        Labelled(data.X, tied), FlipLabel(7), "votes one apart", "replace-one", data.X[:6]
    )
    asked = 0

    def holds(each: Proposal) -> bool:
        nonlocal asked
        asked += 1
        one, other = sides(each)
        return len(one) >= 3 and (2 * one.y.sum() < len(one)) != (2 * other.y.sum() < len(one))

    least = shrink(Records(data), start, holds, 5000)
    base, _ = sides(least)
    assert len(base) == 3
    assert len(least.queries) == 1
    assert len(np.unique(base.X, axis=0)) == 1
    assert least.change == FlipLabel(0)
    assert asked < 300


def test_a_fixed_number_of_records_is_kept() -> None:
    space = Records(drawn(6, 2, 2), fixed=True)
    found = space.first(seeded(), 40)
    assert {len(each.base) for each in found} == {6}
    assert len(shrink(space, found[-1], lambda _: True, 300).base) == 6
