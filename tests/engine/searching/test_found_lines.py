"""`print(result)` of a searched audit names the pair and the event, and no record of the user's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Answers, Scalars, audit
from dpassay.engine.result import Result
from dpassay.engine.searching import search as searched
from dpassay.reports.run.found import found_lines

SHORT = {"FIRST": 64, "SURVIVORS": (16, 4), "OFFSPRING": (8, 0), "SHARES": (4, 2, 1)}
SECRETS = [31.4159, 27.1828, 14.1421, 57.7215]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SHORT.items():
        monkeypatch.setattr(searched, name, value)


def hunted(function: Any, data: Any, epsilon: float = 1.0) -> Result:
    settings: dict[str, Any] = {"budget": 1000, "confidence": 0.99, "executor": "inline"}
    return audit(function, claim=DP(epsilon=epsilon), data=data, **settings)


def switch(data: Any, rng: np.random.Generator) -> str:
    return "on" if data[0] > 0 else "off"


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
    assert max(map(len, text.splitlines())) <= 80
    return text.replace("\n    ", " ").split("\n  ")


def test_pair_and_event_are_named_in_the_order_of_the_sides() -> None:
    result = hunted(switch, Answers(2))
    head, numbers, at, event, reason = shown(result)
    assert head == f"DP(1) of {__name__}:switch: refuted (monte-carlo)"
    assert numbers.startswith("loss at least ")
    told = re.fullmatch(
        r"at: answers \((\S+), \S+\) against \((\S+), \S+\) \(family '[a-z ,-]+'\)", at
    )
    assert told is not None
    one, other = (float(each) > 0 for each in told.groups())
    value = re.fullmatch(r"event: the answer is '(on|off)'; (\S+) % against (\S+) %", event)
    assert value is not None
    sides = [100.0 if (value[1] == "on") == side else 0.0 for side in (one, other)]
    assert [float(value[2]), float(value[3])] == sides
    assert one != other
    assert reason.startswith("because the loss is at least ")


def test_lists_of_numbers_that_a_search_made_up_are_written_down() -> None:
    *_, at, event, _ = shown(hunted(total, Scalars(0, 1, size=3)))
    assert re.match(r"at: numbers \([\d., ]+\) against \([\d., ]+\) \(family '", at)
    assert re.match(r"event: the answer is (below|at least|above) \S+; \S+ % against \S+ %", event)


def test_nothing_of_the_users_own_numbers_or_records_is_printed() -> None:
    for function, data in (
        (highest, SECRETS),
        (labels, (np.array(SECRETS)[:, None], [1, 1, 1, 0])),
    ):
        result = hunted(function, data)
        assert result.verdict == "refuted"
        at = shown(result)[2]
        assert re.match(r"at: \d+ (number|record)s?, .* \(family '", at)
        for text in (repr(result), result._repr_html_()):
            assert not [each for each in SECRETS if f"{each:g}" in text]


def test_large_datasets_are_told_by_their_size() -> None:
    at = shown(hunted(total, Answers(30)))[2]
    assert re.match(r"at: 30 numbers, (all answers|answers? \d+)", at)


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


def test_names_are_not_broken() -> None:
    name = (
        "a_function_with_a_name_that_is_longer_than_the_eighty_columns_that_a_terminal_has_at_least"
    )

    def function(data: Any, rng: np.random.Generator) -> str:
        return name if data[0] > 0 else f"{name}_too"

    text = repr(hunted(function, Answers(1)))
    assert name in text
    assert all(len(line) <= 80 or name in line for line in text.splitlines()[1:])
