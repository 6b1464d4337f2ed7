"""Encoders: outputs of any kind as features, the same for arrays and for lists of the same."""

from __future__ import annotations

import enum
import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.errors import InvalidInput
from dpassay.mechanism.opening import Special
from dpassay.search.features import CODED, KINDS, SINGLE, Feature, feature_from_json
from dpassay.search.outputs import MOST_FEATURES, Encoder, encoder_from_json, fit_encoder
from dpassay.search.values import (
    ABSENT,
    NAN,
    NUMBER,
    Key,
    key_from_json,
    key_of,
    key_to_json,
    key_words,
)

TOP, BOTTOM = "⊤", "⊥"


class Hostile:
    """Answers nothing that it is asked."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError


class Liar:
    """Does not even say what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError


class Sly(tuple[int, ...]):
    """A sequence whose length and parts fail."""

    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError


class Colour(enum.Enum):
    RED = 1


def endless() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


ODD = [
    None, "x", "y" * 1000, math.nan, math.inf, -math.inf, 10**5000, -(10**400), 2**1023, True, 0.0,
    np.float32(0.5), np.int8(3), np.longdouble(1.5), np.datetime64("2020-01-01"), np.str_("x"),
    b"12", 1j, Decimal("0.5"), Decimal("NaN"), Fraction(1, 2), Colour.RED, (1, 2),
    [1, [2, (3, None)]], np.arange(3), np.zeros(5000), {"a": 1}, {1, 2}, frozenset(), (), object(),
    Hostile(), Liar(), Decimal("sNaN"), Sly((1, 2)), endless(), lambda: 0, type, "\ud800" * 300,
]  # fmt: skip


def test_values_that_python_holds_to_be_equal_are_one() -> None:
    assert key_of(1) == key_of(1.0) == key_of(True) == key_of(np.int64(1)) == key_of(np.bool_(1))
    assert key_of("1") != key_of(1)
    assert key_of("1") == key_of(np.str_("1"))
    assert key_of(-0.0) == key_of(0.0)
    assert key_of(math.nan) == key_of(-np.float32("nan")) == key_of(Decimal("NaN")) == NAN
    assert key_of((1, "a")) == key_of([1.0, "a"]) == key_of(np.array([1, "a"], dtype=object))
    assert key_of(((1,),) * 2000) == key_of([[1]] * 2000) != key_of([[2]] * 2000)
    assert key_of(None) not in {key_of("None"), key_of(0), key_of(())}
    assert key_of(Fraction(1, 2)) == 0.5
    assert key_of("y" * 1000) != key_of("y" * 1001)
    assert key_of(2**53 + 1) != key_of(float(2**53))


def test_what_is_of_no_known_kind_is_known_by_its_type() -> None:
    assert key_of(Hostile()) == key_of(Hostile()) != key_of(object())
    assert key_of(Liar()) == key_of(Liar()) != key_of(Hostile())
    assert len({key_of(10**5000), key_of(10**400), key_of(-(10**400))}) == 3
    assert isinstance(key_of(endless()), tuple)
    assert key_of(Sly((1, 2))) == (1, 2)


@pytest.mark.parametrize("pilot", [ODD, [1.0, 2.0, 2.0], [(TOP, 1.5), (BOTTOM,)], ["a", "b", "a"]])
@pytest.mark.parametrize("bits", [False, True])
def test_no_output_makes_an_encoder_fail(pilot: list[Any], bits: bool) -> None:
    encoder = fit_encoder([pilot, pilot], bits=bits)
    for draws in (
        ODD,
        [(each, each) for each in ODD],
        np.zeros(3),
        np.full((3, 2), math.nan),
        np.zeros((3, 100), dtype=bool),
        np.zeros((3, 2, 2)),
        np.zeros((3, 0)),
        np.array(["a", "bc"]),
        np.array([1j, 2]),
        np.array([], dtype=float),
        [],
    ):
        found = encoder.features(draws)
        assert found.shape == (len(draws), len(encoder.looks))
        assert found.dtype == np.float64
        for column, look in zip(found.T, encoder.looks, strict=True):
            if look.kind in CODED:
                assert set(column.tolist()) <= set(range(look.codes))


def test_what_the_pilot_did_not_show_is_a_code_of_its_own() -> None:
    encoder = fit_encoder([["a", "b", "a", "b"]])
    value, form = encoder.looks
    assert value == Feature("value", SINGLE, ("a", "b"))
    assert form.table == (Special("form", "·"),)
    found = encoder.features(["b", "c", Hostile(), 1])
    assert found.T.tolist() == [[1, 2, 2, 2], [0, 0, 1, 1]]


def test_numbers_that_are_no_symbols_are_told_from_other_values() -> None:
    encoder = fit_encoder([[0.5, None, None, 1.5, 2.5]])
    values = next(look for look in encoder.looks if look.kind == "value")
    assert values.table == (None, NUMBER)
    found = encoder.only([values]).features([None, 7.25, "x", math.nan])
    assert found.ravel().tolist() == [0, 1, 2, 1]


def test_features_of_a_transcript() -> None:
    rng = np.random.default_rng(0)
    pilot = [
        (*[BOTTOM] * int(k), float(rng.normal())) if k < 4 else (BOTTOM,) * 4
        for k in rng.integers(0, 5, 200)
    ]
    encoder = fit_encoder([pilot])
    found = dict(
        zip(
            encoder.names,
            encoder.features([(BOTTOM, BOTTOM, 2.5), (BOTTOM,) * 4, (0.25,)]).T.tolist(),
            strict=True,
        )
    )
    assert found["the number of answers"] == [3, 4, 1]
    assert found["the place of the first change"] == [3, 5, 2]
    assert found["the place of the first number"] == [3, 5, 1]
    assert found["the number of answers that are ⊥"] == [2, 4, 0]
    assert found["the sum of the answers"] == [2.5, 0.0, 0.25]
    assert found["the largest answer"][::2] == [2.5, 0.25]
    assert math.isnan(found["the largest answer"][1])


LOOKS = [
    *(Feature(kind) for kind in ("length", "change", "sum", "largest", "smallest", "top")),
    *(Feature(kind, 2) for kind in ("number", "bit")),
    Feature("number", 7),
    Feature("distance", 1, (), 0.75),
    Feature("difference", 2, less=0),
    Feature("difference", 2, less=9),
    Feature("spelled", 0),
    Feature("letters", 1),
    Feature("value", 0, (1,)),
    Feature("value", 1, (0, NAN, 2, 1)),
    Feature("value", 2, (3, NUMBER)),
    Feature("value", 9, (1, ABSENT)),
    Feature("value", 0, tuple(range(-3, 5))),
    Feature("value", 0, (*range(300, 310), 2.5)),
    Feature("whole", 0, ((0, 0, 0),)),
    Feature("whole", 0, tuple((a, b, c) for a in (0, 1) for b in (0, 1, 2) for c in (0, NAN))),
    Feature("whole", 0, ((0, 0), (1, 1, 1, 1), "x", (1, 0, 2))),
    Feature("first", 0, (1,)),
    Feature("count", 0, (1,)),
    Feature("count", 0, (NUMBER,)),
    Feature("first", 0, (NAN,)),
]


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int64", "float32", "float64"])
def test_arrays_and_tuples_of_the_same_have_the_same_features(kind: str) -> None:
    rng = np.random.default_rng(1)
    array = rng.integers(0, 4, (300, 3)).astype(kind)
    if kind.startswith("float"):
        array[rng.random(array.shape) < 0.2] = math.nan
        array[0] = [0.1, math.inf, -math.inf]
    encoder = Encoder(tuple(LOOKS), parts=True)
    one, other = encoder.features(array), encoder.features([tuple(row) for row in array.tolist()])
    for j, look in enumerate(LOOKS):
        np.testing.assert_array_equal(one[:, j], other[:, j], err_msg=look.name)
    np.testing.assert_array_equal(one, encoder.features(array.tolist()))
    nested = Encoder(tuple(LOOKS), parts=True)
    flat = [j for j, look in enumerate(LOOKS) if look.kind != "whole"]
    pairs = [((row[0], row[1]), row[2]) for row in array.tolist()]
    np.testing.assert_array_equal(nested.features(pairs)[:, flat], one[:, flat])


def test_whole_outputs_are_looked_up_as_a_dictionary_would() -> None:
    rng = np.random.default_rng(2)
    draws: list[Any] = [
        tuple(rng.choice([TOP, BOTTOM], size=rng.integers(1, 5)).tolist()) for _ in range(400)
    ]
    draws += [None, TOP]
    table = (*dict.fromkeys(draws[:20]), TOP, (TOP,) * 9)
    encoder = Encoder((Feature("whole", 0, table),), parts=True)
    twin = {key: k for k, key in enumerate(table)}
    for some in (draws, draws[:400]):
        found = encoder.features(some).ravel().tolist()
        assert found == [twin.get(draw, len(table)) for draw in some]


@given(st.lists(st.floats(), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_the_lowest_bit_is_that_of_the_fraction(numbers: list[float]) -> None:
    encoder = Encoder((Feature("bit", SINGLE),), parts=False)
    for number, found in zip(numbers, encoder.features(np.array(numbers)).ravel(), strict=True):
        if not math.isfinite(number) or number == 0:
            assert math.isnan(found)
            continue
        above, below = number.as_integer_ratio()
        lowest = (above & -above).bit_length() - below.bit_length()
        assert found == lowest


def test_the_centre_of_a_distance_has_few_digits_but_enough() -> None:
    rng = np.random.default_rng(6)
    for centre in (0.0, 12345.0, -1e9):
        pilot = centre + rng.normal(size=2000)
        for some in (pilot, pilot.tolist()):
            (look,) = [look for look in fit_encoder([some]).looks if look.kind == "distance"]
            assert look.centre == pytest.approx(centre, abs=0.15)
            assert len(repr(look.centre)) <= 15


def test_texts_are_looked_into_where_there_are_many() -> None:
    rng = np.random.default_rng(7)
    encoder = fit_encoder([[f"about {each:.3f}" for each in rng.laplace(size=500)]])
    encoder = encoder.only(encoder.looks[-4:-1])
    assert encoder.names == (
        "the first number in the text of the answer", "the number of letters of the answer",
        "the digit of the answer that counts 0.001",
    )  # fmt: skip
    draws = ["about -0.5", "1e3 or 2", ".25", "no", "", 7, None, "9" * 400, "v1"]
    found = encoder.features(draws)
    assert found[:, 2].tolist() == [0, 0, 0, 10, 10, 0, 10, 10, 0]
    spelled = [-0.5, 1000, 0.25, math.nan, math.nan, math.nan, math.nan, float("9" * 400), 1]
    np.testing.assert_allclose(found[:, 0], spelled, rtol=1e-9)
    np.testing.assert_array_equal(found[:, 1], [10, 8, 3, 2, 0, math.nan, math.nan, 400, 2])


def test_bits_are_looked_at_where_they_are_asked_for() -> None:
    pilot = np.random.default_rng(3).laplace(size=300)
    assert "bit" in {look.kind for look in fit_encoder([pilot], bits=True).looks}
    assert "bit" not in {look.kind for look in fit_encoder([pilot]).looks}


def test_wide_vectors_are_looked_at_where_datasets_differ() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=(500, 200)), rng.normal(size=(500, 200))
    other[:, 150] += 2
    encoder = fit_encoder([one, other])
    assert "answer 151" in encoder.names
    assert len(encoder.looks) <= MOST_FEATURES


def test_the_same_pilot_gives_the_same_encoder() -> None:
    rng = np.random.default_rng(5)
    pilot = [tuple(rng.choice(["a", "b", "c"], size=3).tolist()) for _ in range(200)]
    assert fit_encoder([pilot]) == fit_encoder([list(pilot)])
    assert len(set(fit_encoder([pilot]).names)) == len(fit_encoder([pilot]).names)
    with pytest.raises(InvalidInput, match="pilot"):
        fit_encoder([[], np.zeros(0)])


keys = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.just("x" * 300),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
).map(key_of)


@given(keys)
@settings(max_examples=60, deadline=None)
def test_a_value_is_read_back(key: Key) -> None:
    text = json.dumps(key_to_json(key), allow_nan=False)
    assert key_from_json(json.loads(text)) == key
    assert isinstance(key_words(key), str)


@given(st.lists(keys, max_size=30), st.booleans())
@settings(max_examples=30, deadline=None)
def test_an_encoder_is_read_back(pilot: list[Any], bits: bool) -> None:
    encoder = fit_encoder([[*pilot, 0.5, 0.5]], bits=bits)
    again = encoder_from_json(json.loads(json.dumps(encoder.as_json(), allow_nan=False)))
    assert again == encoder
    np.testing.assert_array_equal(again.features(ODD), encoder.features(ODD))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "eval"}, {"kind": ["number"]}, {"place": -2}, {"place": 1.5}, {"place": True},
        {"place": 2**40}, {"table": None}, {"table": []}, {"table": [1, 1.0]},
        {"table": [float("nan")]}, {"table": [{"special": "class", "text": ""}]},
        {"table": [{"special": "text"}]}, {"table": [10**400]}, {"table": list(range(5000))},
        {"kind": "number"}, {"kind": "difference", "table": [], "less": -1},
        {"kind": "distance", "table": [], "centre": float("inf")},
        {"kind": "distance", "table": [], "centre": "0"}, {"kind": "count", "table": [1, 2]},
    ],
)  # fmt: skip
def test_a_feature_that_is_none_is_refused(change: dict[str, Any]) -> None:
    good = {"kind": "value", "place": 0, "table": [1]}
    assert feature_from_json(good) == Feature("value", 0, (1,))
    with pytest.raises(InvalidInput):
        feature_from_json(good | change)


def test_words_of_values() -> None:
    assert [key_words(key) for key in (TOP, "a", "é", None, 2.0, 0.25, True, (1, TOP), ("a",))] == [
        "⊤", "'a'", "'é'", "None", "2", "0.25", "True", "(1, ⊤)", "('a',)",
    ]  # fmt: skip
    assert key_words(Special("object", "x.Y")) == "an object of type x.Y"
    assert all(Feature(kind, 0, (1,)).name for kind in KINDS)
