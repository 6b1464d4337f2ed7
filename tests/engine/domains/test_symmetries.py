"""Groups on a domain: orbits of multisets, one representative of each, Burnside's count."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.engine.domains.symmetries import (
    Element,
    Numbering,
    Symmetries,
    group_of,
    multisets,
    sorted_records,
)
from dpassay.engine.wording import SYMMETRIES
from dpassay.errors import TargetError
from tests.core.toys import target_of
from tests.engine.domains.symmetric_toys import Symmetric


@given(kinds=st.integers(1, 6), size=st.integers(0, 6))
def test_multisets_are_numbered_in_the_order_of_their_sorted_records(kinds: int, size: int) -> None:
    every = list(itertools.combinations_with_replacement(range(kinds), size))
    numbering = Numbering.of(kinds, size)
    counts = numbering.counts(np.arange(multisets(kinds, size)), size)
    assert [tuple(sorted_records(each)) for each in counts] == every
    assert numbering.number(counts).tolist() == list(range(len(every)))


GROUPS = [
    ((3,), ()), ((3,), ("points",)), ((3,), ("points", "labels")), ((4,), ("points", "turns")),
    ((3,), ("reflections",)), ((3,), ("labels",)), ((3,), ("turns",)),
    ((4,), ("reflections", "labels")), ((2, 2), ("reflections", "coordinates", "labels")),
    ((2, 3), ("coordinates", "turns")), ((2, 2), ("coordinates",)), ((1,), ("labels",)),
]  # fmt: skip


def every_element(group: Symmetries) -> list[Element]:
    """All elements, the permutations of the points written out."""
    if not group.whole:
        return list(group.elements)
    return [
        Element(to, each.exchanged)
        for to in itertools.permutations(range(group.points))
        for each in group.elements
    ]


def first_of_orbit(records: Sequence[int], elements: list[Element]) -> tuple[int, ...]:
    return min(tuple(sorted(each.of_records[list(records)].tolist())) for each in elements)


@pytest.mark.parametrize(("sides", "keys"), GROUPS)
@pytest.mark.parametrize("size", [1, 3])
def test_one_representative_of_each_orbit(
    sides: tuple[int, ...], keys: tuple[str, ...], size: int
) -> None:
    group = Symmetries(sides, keys)
    elements, kinds = every_element(group), 2 * group.points
    numbering = Numbering.of(kinds, size)
    every = list(itertools.combinations_with_replacement(range(kinds), size))
    first = [first_of_orbit(each, elements) for each in every]
    numbers = group.representatives(size, numbering)
    found = [tuple(sorted_records(each)) for each in numbering.counts(numbers, size)]
    assert found == sorted(set(first))
    assert group.orbits(size) == len(found)
    counts = numbering.counts(np.arange(len(every)), size)
    canonical = group.canonical(counts, numbering)
    for i, records in enumerate(every):
        there = tuple(sorted_records(numbering.counts(canonical.number[i : i + 1], size)[0]))
        element = Element(tuple(canonical.to[i].tolist()), bool(canonical.exchanged[i]))
        assert there == first[i]
        assert tuple(sorted(element.of_records[list(records)].tolist())) == there
        assert element in elements


@pytest.mark.parametrize(("sides", "keys"), GROUPS)
def test_the_elements_are_a_group_and_move_points_within_orbits(
    sides: tuple[int, ...], keys: tuple[str, ...]
) -> None:
    group = Symmetries(sides, keys)
    elements = set(every_element(group))
    assert {one.after(other) for one in elements for other in elements} == elements
    for x, y in itertools.product(range(group.points), repeat=2):
        move = group.moving(x, y)
        assert (move is not None) == any(each.to[x] == y for each in elements)
        assert move is None or (move in elements and move.to[x] == y)
    rng = np.random.default_rng(0)
    assert {group.drawn(rng) for _ in range(40 * len(elements))} == elements


@pytest.mark.parametrize("keys", [("points",), ("points", "labels")])
def test_empty_points_change_no_count(keys: tuple[str, ...]) -> None:
    """No more points than records are occupied."""
    few = [Symmetries((points,), keys).orbits(4) for points in (1, 2, 3, 4, 5, 500)]
    assert few == sorted(few)
    assert few[3] == few[4] == few[5]


def test_too_many_orbits_are_known_to_be_too_many() -> None:
    for n in (25, 60):
        assert Symmetries((n,), ("points", "labels")).orbits(n) > 1_000_000


@pytest.mark.parametrize(
    ("symmetries", "message"),
    [
        (("mirror",), "symmetries returned 'mirror'; expected some of points, reflections"),
        (("labels",), "which exchanges two answers"),
        (("turns",), "which exchanges two answers"),
    ],
)
def test_what_is_no_symmetry_is_refused(symmetries: tuple[str, ...], message: str) -> None:
    mechanism = Symmetric(declared=symmetries, labels=(0, 1, 2))
    with pytest.raises(TargetError, match=message):
        group_of(target_of(mechanism), (3,))


def test_every_key_is_a_kind_of_its_own() -> None:
    """On a square, each key alone makes another group."""
    found = {key: frozenset(every_element(Symmetries((2, 2), (key,)))) for key in SYMMETRIES}
    assert len(set(found.values())) == len(SYMMETRIES)
