"""`print(result)` of a searched audit names the pair and the event, and no record of the user's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import Answers, Scalars, Tables
from dpassay.engine.evidence import VALUES
from dpassay.engine.result import Result
from dpassay.engine.searching.drawing import mine
from dpassay.reports.run.notebook import found_lines, written
from tests.engine.recorded import hunted

pytestmark = pytest.mark.usefixtures("few_pairs")
SECRETS = [31.4159, 27.1828, 14.1421, 57.7215]
ON = "a_word_that_is_longer_than_the_eighty_columns_that_a_terminal_has_at_least_and_is_not_broken"


def switch(data: Any, rng: np.random.Generator) -> str:
    """Tells the sign, by words that no line of 80 columns holds."""
    return ON if data[0] > 0 else f"{ON}_no_more"


def total(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=0.1, size=size)


def highest(data: Any, size: int, rng: np.random.Generator) -> Any:
    return np.round((data.max() - 20) / 40 + rng.laplace(scale=0.01, size=size)) > 0


def labels(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    return np.repeat(
        data.y.sum() + rng.laplace(scale=0.1, size=(size, 1)) > 3, len(queries), axis=1
    )


def shown(result: Result) -> list[str]:
    """Return the printed lines, those that were broken put together again."""
    text = repr(result)
    assert str(result) == text
    assert all(len(line) <= 80 or ON in line for line in text.splitlines())
    return text.replace("\n    ", " ").split("\n  ")


def sides(result: Result) -> list[str]:
    """Return the first two lines of datasets."""
    return [line for line in shown(result) if re.match("S'?: ", line)][:2]


def test_pair_and_event_are_named_in_the_order_of_the_sides() -> None:
    result = hunted(switch, Answers(2))
    head, numbers, certain, here, there, event, reason = shown(result)
    assert head == f"DP(1) of {__name__}:switch: refuted (monte-carlo)"
    assert numbers.startswith("loss at least ")
    one, other = (
        float(re.sub(rf"{side}: answers \((\S+), \S+\)", r"\1", told)) > 0
        for side, told in (("S", here), ("S'", there))
    )
    value = re.fullmatch(rf"event: the answer is '({ON}\w*)'; (\S+) % on S, (\S+) % on S'", event)
    assert value is not None
    sides = [100.0 if (value[1] == ON) == side else 0.0 for side in (one, other)]
    assert [float(value[2]), float(value[3])] == sides
    assert one != other
    assert certain.startswith("certain: ")
    assert reason.startswith("because the loss is at least ")


def test_lists_of_numbers_that_a_search_made_up_are_written_down() -> None:
    here, there = sides(result := hunted(total, Scalars(0, 1, size=3)))
    event = next(line for line in shown(result) if line.startswith("event: "))
    assert re.fullmatch(r"S: numbers \([\d., ]+\)", here)
    assert re.fullmatch(r"S': numbers \([\d., ]+\)", there)
    assert re.match(r"event: the answer is (below|at least|above) \S+; \S+ % on S, \S+ %", event)
    frame = result.to_frame()
    assert [f"{name}: {frame[name][0]}" for name in ("S", "S'", "event")] == [here, there, event]


def test_nothing_of_the_users_own_numbers_or_records_is_printed() -> None:
    for function, data in (
        (highest, SECRETS),
        (labels, (np.array(SECRETS)[:, None], [1, 1, 1, 0])),
    ):
        result = hunted(function, data)
        assert result.verdict == "refuted"
        here, there = sides(result)
        assert re.fullmatch(r"S: \d+ (number|record)s?", here)
        assert there.startswith("S': the same, ")
        for text in (repr(result), result._repr_html_()):
            assert not [each for each in SECRETS if f"{each:g}" in text]


def test_large_datasets_are_told_by_their_size() -> None:
    here, there = sides(hunted(total, Answers(30)))
    assert here == "S: 30 numbers"
    assert re.match(r"S': the same, (all answers|answers? \d+|\d+ answers)", there)


def above(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Counts numbers above their raw mean; the noise is for a tenth of what one record may move."""
    return (data["x"] > data["x"].mean()).sum() + rng.laplace(scale=10, size=size)


def test_large_tables_are_told_by_how_many_rows_differ_and_where_one_changes() -> None:
    table = pd.DataFrame({"x": np.arange(100.0), "name": ["secret"] * 100})
    here, there = sides(hunted(above, table))
    assert re.fullmatch(r"S: \d+ records, \d+ different", here)
    assert re.fullmatch(r"S': the same, record \d+ replaced \(in x\)", there)


def test_rows_of_the_users_are_named_by_their_places() -> None:
    people = pd.DataFrame({"age": [31, 27], "name": ["O'Hara (N.)", "Zoe"]})
    space, named = Tables(people, relation="add-remove"), 0
    for each in space.first(np.random.default_rng(0), 48):
        places = mine(space, each)
        assert places is not None
        for side in (each.base, each.neighbour):
            told = written(side, space.relation, places)
            named += "your row " in told
            assert 'age 31, name "O\'Hara (N.)"' not in told
            assert "age 27, name 'Zoe'" not in told
    assert named > 0


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("record 0 replaced by (who 'a (b) c'), 1 removed", "record 0 replaced, 1 removed"),
        ("record 0 replaced by (who \"O'Hara (N.)\")", "record 0 replaced"),
        ("record 2 replaced by 'it\\'s \"so\"'", "record 2 replaced"),
        ("record (age 3, who 'e) f') added", "record added"),
        ("record 4 replaced by -1.5e+10", "record 4 replaced"),
    ],
)  # fmt: skip
def test_values_are_left_out_of_a_change(told: str, left: str) -> None:
    assert re.sub(VALUES, "", told) == left


def test_what_is_not_refuted_or_not_searched_prints_three_lines() -> None:
    held = hunted(total, Answers(1), epsilon=30.0)
    assert held.verdict != "refuted"
    assert sum(not line.startswith("    ") for line in repr(held).splitlines()) == 3
    assert found_lines(held) == ()

    def broken(data: Any, size: int, rng: np.random.Generator) -> Any:
        raise KeyError("gone")

    failed = hunted(broken, Answers(1))
    assert found_lines(failed) == ()
    assert len(repr(failed).splitlines()) == 3
