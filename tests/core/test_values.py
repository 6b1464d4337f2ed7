"""Lists of numbers as datasets, what changes them, and the relation of true answers."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.claims import DP
from dpassay.data import Labelled, Values
from dpassay.errors import InvalidInput
from dpassay.mechanism import WorstCase
from dpassay.pairs import (
    AnyOf,
    FlipLabel,
    Pairs,
    Replace,
    ReplaceValue,
    Several,
    Shift,
    change_from_json,
    change_key,
)
from dpassay.record.schemas import read_schema
from dpassay.relations import (
    REPLACE_ONE,
    answers_moved,
    answers_relation,
    records_replaced,
    replace_relation,
    within,
)
from dpassay.trials import wire
from dpassay.trials.wire import pack, unpack
from dpassay.trials.written import CaseMessage, worst_case_from, worst_case_json

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
MOVES = st.lists(NUMBERS, min_size=1, max_size=6).filter(any)
BASE = Values([1.0, 2.0, 3.0])  # type: ignore[arg-type]
LABELLED = Labelled(np.zeros((3, 1)), np.array([0, 1, 0]))


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_values_are_frozen_and_known_by_what_they_hold(numbers: list[float]) -> None:
    mine = np.array(numbers)
    data, same = Values(mine), Values(mine.copy())
    assert data.digest == same.digest
    assert len(data) == len(numbers)
    mine[0] = 1.0 if numbers[0] != 1.0 else 2.0
    assert data.digest == same.digest
    assert Values(mine).digest != data.digest
    with pytest.raises(ValueError, match="read-only"):
        data.values[0] = 7.0


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([1.0, math.nan], r"values\[1\] = nan: must be a finite number"),
        ([math.inf], r"values\[0\] = inf: must be a finite number"),
        ([], r"values = 'shape \(0,\)': must be of shape \(n,\) with n >= 1"),
        ([[1.0]], r"values = 'shape \(1, 1\)': must be of shape \(n,\)"),
        (["a"], "values = list: must be a list of numbers"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(numbers: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Values(numbers)


@given(st.integers(0, 9), NUMBERS)
def test_a_replaced_number_comes_back_from_json(index: int, number: float) -> None:
    change = ReplaceValue(index, number)
    assert change_from_json(json.loads(json.dumps(change.as_json())), None) == change
    assert change.at(index + 1) == ReplaceValue(index + 1, number)
    after = change.apply(Values(np.arange(10.0))).values
    assert after[index] == number
    assert np.delete(after, index).tolist() == np.delete(np.arange(10.0), index).tolist()


@given(MOVES)
def test_a_shift_comes_back_from_json(by: list[float]) -> None:
    change = Shift(tuple(by))
    back = change_from_json(json.loads(json.dumps(change.as_json())), None)
    assert back == change
    assert change_key(back, None) == change_key(change, None)
    assert change.at(5) == change
    assert change.largest == max(map(abs, by))
    assert change.apply(Values(np.zeros(len(by)))).values.tolist() == by


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ((-1, -1, 1), "answers 1, 2 lowered by 1, answer 3 raised by 1"),
        ((0, 0, 0.5), "answer 3 raised by 0.5"),
        ((2, 2), "all answers raised by 2"),
        ((-2,), "the answer lowered by 2"),
        ((1, 1, 1, 0, 1), "answers 1 to 3, 5 raised by 1"),
        ((1, 0) * 6, "6 answers raised by 1"),
        (tuple(k / 8 for k in range(1, 8)), "7 answers moved by up to 0.875"),
    ],
)
def test_a_shift_in_words(by: tuple[float, ...], words: str) -> None:
    assert str(Shift(by)) == words


def test_a_replaced_number_in_words() -> None:
    assert str(ReplaceValue(3, 1e6 + 0.5)) == "record 3 replaced by 1e+06"


@pytest.mark.parametrize("by", [(0.0, 0.0), (math.nan,), (), (math.inf, 1.0)])
def test_no_shift(by: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="by"):
        Shift(by)


@pytest.mark.parametrize("number", [math.nan, math.inf, "1", None, True])
def test_no_number_to_put_in(number: Any) -> None:
    with pytest.raises(InvalidInput, match=r"value = .*: must be a finite number"):
        ReplaceValue(0, number)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"kind": "shift", "by": []}, "by = "),
        ({"kind": "shift", "by": ["x"]}, "by = "),
        ({"kind": "shift"}, "cannot be read"),
        ({"kind": "replace-value", "index": 0}, "cannot be read"),
        ({"kind": "replace-value", "index": -1, "value": 0.0}, "change: index = -1"),
        ({"kind": "replace-value", "index": 0, "value": "x"}, "value = 'x'"),
        ({"kind": "move", "index": 0}, "'replace-value', 'shift'"),
    ],
)
def test_damaged_changes_are_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        change_from_json(told, None)


@pytest.mark.parametrize(
    ("base", "change", "relation", "said"),
    [
        (BASE, FlipLabel(0), REPLACE_ONE, r"a change of Values: Shift\(...\), ReplaceValue"),
        (BASE, Replace(0, np.zeros(1), 0), REPLACE_ONE, "a change of Values"),
        (LABELLED, ReplaceValue(0, 1.0), REPLACE_ONE, r"a change of Labelled: Replace\(...\)"),
        (LABELLED, Shift((1, 0, 0)), "answers-1", "a change of Labelled"),
        (BASE, Shift((1, 0)), "answers-1", "of 3 answers, as many as base has"),
        (BASE, ReplaceValue(3, 1.0), REPLACE_ONE, "of one of the records 0 to 2 of base"),
        (BASE, Shift((1, 0, 0)), REPLACE_ONE, "'answers-1' or wider, as a change moves an answer"),
        (BASE, Shift((0, -2, 0)), "answers-1", "'answers-2' or wider"),
        (BASE, ReplaceValue(0, 0.0), "answers-1", "'replace-one' or wider"),
        (BASE, ReplaceValue(0, 0.0), "answers", "'answers-D' with a number D > 0"),
        (
            BASE,
            Several((ReplaceValue(0, 0.0), ReplaceValue(1, 0.0))),
            REPLACE_ONE,
            "'replace-2' or wider, as a change replaces 2 records",
        ),
        (BASE, Several((ReplaceValue(0, 0.0), FlipLabel(1))), "replace-2", "a change of Values"),
    ],
)
def test_pairs_keep_to_their_relation(base: Any, change: Any, relation: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Pairs(base=base, changes=(change,), how="by hand", relation=relation)


def test_pairs_of_numbers() -> None:
    numbers = (ReplaceValue(0, 5.0), Several((ReplaceValue(0, 0.0), ReplaceValue(2, 0.0))))
    pairs = Pairs(base=BASE, changes=numbers, how="by hand", relation="replace-2")
    assert len(pairs) == 2
    either = AnyOf((ReplaceValue(0, 5.0), ReplaceValue(2, 5.0)))
    Pairs(base=BASE, changes=(either,), how="by hand")
    Pairs(base=BASE, changes=(Shift((0.5, 0, 0)),), how="by hand", relation="answers-0.5")


@pytest.mark.parametrize(
    ("pairs", "read"),
    [
        (Pairs(base=BASE, changes=(ReplaceValue(1, 7.5),), how="h"), ReplaceValue(1, 7.5)),
        (
            Pairs(base=BASE, changes=(Shift((0.5, 0, -0.5)),), how="h", relation="answers-0.5"),
            Shift((0.5, 0.0, -0.5)),
        ),
    ],
)
def test_worst_cases_of_numbers_come_from_another_process(pairs: Pairs, read: Any) -> None:
    case = WorstCase(pairs=pairs, queries=np.zeros((1, 1)), reason="bad")
    _, told = unpack(pack(1, worst_case_json(case)))
    back = worst_case_from(wire.read(CaseMessage, told)).pairs
    assert back.changes == (read,)
    assert back.base.digest == BASE.digest
    assert back.relation == pairs.relation


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_the_relation_of_answers_says_how_far_they_move(sensitivity: float) -> None:
    relation = answers_relation(sensitivity)
    assert answers_moved(relation) == sensitivity
    assert DP(epsilon=1.0, relation=relation).relation == relation
    assert within(relation, relation)
    assert within(relation, answers_relation(2 * sensitivity))
    assert not within(answers_relation(2 * sensitivity), relation)
    assert not within(relation, REPLACE_ONE)
    assert not within(REPLACE_ONE, relation)
    for name in ("record", "witness"):
        assert fits_schema(name, relation)


def fits_schema(name: str, relation: str) -> bool:
    schema = read_schema(name)["properties"]
    claim = (schema["results"]["items"]["properties"] if name == "record" else schema)["claim"]
    return re.search(claim["properties"]["relation"]["pattern"], relation) is not None


@given(st.integers(1, 40), st.integers(1, 40))
def test_relations_of_records_are_within_wider_ones(k: int, more: int) -> None:
    assert within(replace_relation(k), replace_relation(more)) == (k <= more)


@pytest.mark.parametrize(
    "relation",
    ["answers", "answers-", "answers-0", "answers-01", "answers--1", "answers-1e999", "answers-x"],
)
def test_no_relation_of_answers(relation: str) -> None:
    assert answers_moved(relation) is None
    with pytest.raises(InvalidInput, match="relation"):
        DP(epsilon=1.0, relation=relation)


def test_answers_have_no_number_of_records() -> None:
    with pytest.raises(InvalidInput, match="about records here"):
        records_replaced("answers-1")
