"""A raw record in an answer is seen, whatever kind of answer holds it beside an honest number."""

from __future__ import annotations

import datetime as dt
import json
from collections import OrderedDict, deque
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, Scalars, audit
from dpassay.errors import TargetError
from dpassay.search.outputs import fit_encoder
from dpassay.targets.answer_set import as_draws

pytestmark = pytest.mark.usefixtures("few_pairs")


class Model:
    """A fitted model: its attributes hold what it was fitted on."""

    def __init__(self, value: float) -> None:
        self.coef_ = np.array([0.0, value])
        self.itself = self


class Slotted:
    """An object without `__dict__`."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


def deep(value: float) -> Any:
    found: Any = value
    for _ in range(300):
        found = [found]
    return found


KINDS: dict[str, Callable[[float], Any]] = {
    "Series": lambda x: pd.Series([x], index=["a"]),
    "index of a Series": lambda x: pd.Series([0.0], index=[x]),
    "frame": lambda x: pd.DataFrame({"a": [0.0] * 70, "b": ["x"] * 69 + [str(x)]}),
    "category": lambda x: pd.Series(["a"], dtype=pd.CategoricalDtype(["a", str(x)])),
    "nested dict": lambda x: {"a": {"b": [0.0, {"c": x}]}},
    "keys of a dict": lambda x: {x: 0.0},
    "order of keys": lambda x: {"a": 1, "b": 2} if x > 0.5 else {"b": 2, "a": 1},
    "date": lambda x: dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=x),
    "Timestamp": lambda x: pd.Timestamp("2026-01-01", tz="Europe/Rome") + pd.Timedelta(seconds=x),
    "attribute": Model,
    "slot": Slotted,
    "closure": lambda x: lambda: x,
    "partial": lambda x: partial(max, x),
    "generator": lambda x: (each for each in (0.0, x)),
    "iterator in a dict": lambda x: {"a": map(str, [x])},
    "set": lambda x: {0.25, x},
    "long list": lambda x: [0.0] * 6000 + [x],
    "long array": lambda x: np.append(np.zeros(6000), x),
    "deep list": deep,
    "bytes": lambda x: b"x" * 300 + str(x).encode(),
    "text": lambda x: json.dumps({"id": 7, "x" * 300: x}),
    "Decimal": lambda x: Decimal(int(x) + 10**20) / 10**20,
    "large integer": lambda x: 10**400 + int(x),
    "type of a number": lambda x: 1 if x > 0.5 else 1.0,
    "truth": lambda x: True if x > 0.5 else 1,
    "sign of zero": lambda x: 0.0 if x > 0.5 else -0.0,
    "type of an array": lambda x: np.zeros(2, dtype=np.int64 if x > 0.5 else np.float64),
    "container": lambda x: [1, 2] if x > 0.5 else (1, 2),
    "exception": ValueError,
    "deque": lambda x: deque([OrderedDict(a=x)]),
    "NaN or None": lambda x: None if x > 0.5 else float("nan"),
}


def answers(kind: str, data: Any, size: int, rng: np.random.Generator) -> list[Any]:
    noisy = (sum(data) + rng.laplace(size=size)).tolist()
    return [(each, KINDS[kind](float(max(data)))) for each in noisy]


@pytest.mark.parametrize("kind", KINDS)
def test_some_feature_tells_with_certainty_which_record_there_was(kind: str) -> None:
    rng = np.random.default_rng(0)
    one, other = (
        as_draws(answers(kind, data, 60, rng), 60, 0, "here") for data in ([0.0, 0.0], [1.0, 0.0])
    )
    encoder = fit_encoder([one, other])
    low, high = encoder.features(one), encoder.features(other)
    apart = [
        set(left.tolist()).isdisjoint(right.tolist()) and len({*left, *right}) == 2
        for left, right in zip(
            np.nan_to_num(low, nan=-7.0).T, np.nan_to_num(high, nan=-7.0).T, strict=True
        )
    ]
    assert any(apart)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["frame", "attribute", "generator", "exception"])
def test_a_planted_record_is_refuted(kind: str) -> None:
    """The test above reads every kind."""

    def release(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        return answers(kind, data, size, rng)

    found = audit(
        release,
        claim=DP(epsilon=1.0),
        data=Scalars(0, 1, size=2),
        budget=1000,
        search_seconds=4,
        executor="inline",
    )
    assert found.verdict == "refuted"


def test_what_cannot_be_read_is_named_with_its_share() -> None:
    with memoryview(b"") as view:
        view.release()
        told = r"^answer = an object .* of type builtins.memoryview, in 25% of the runs .* on here"
        with pytest.raises(TargetError, match=told) as found:
            as_draws([(1.0, view), 1, 2, 3], 4, 0, "here")
    assert found.value.fatal


def test_honest_types_that_nobody_tells_apart_are_of_one_form() -> None:
    one = as_draws([(0.5, 1), (np.float64(2), np.int64(3))], 2, 0, "here")
    (form,) = [look for look in fit_encoder([one]).looks if look.kind == "form"]
    assert len(form.table) == 1
