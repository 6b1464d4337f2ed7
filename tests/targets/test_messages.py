"""What a run prints and warns, and what its exceptions say."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay import DP, InvalidInput, Scalars, audit, with_messages
from dpassay.engine.result import Result
from dpassay.search.values import key_of

pytestmark = pytest.mark.usefixtures("few_pairs")


def prints(data: Any, rng: np.random.Generator) -> float:
    sys.stdout.write(str(max(data)))
    return float(rng.laplace())


def logs(data: Any, *, rng: np.random.Generator) -> float:
    sys.stderr.write(str(max(data)))
    return float(rng.laplace())


def warns(data: Any, size: int, rng: np.random.Generator) -> Any:
    warnings.warn(str(max(data)), stacklevel=1)
    return rng.laplace(size=size)


def raises(data: Any, rng: np.random.Generator) -> float:
    warnings.warn("here", stacklevel=1)
    sys.stdout.write("there")
    raise ValueError(str(max(data)))


def audited(function: Callable[..., Any]) -> Result:
    data = Scalars(0, 1)
    return audit(function, claim=DP(epsilon=1.0), data=data, budget=300, executor="inline")


def test_what_is_printed_gives_a_record_away() -> None:
    assert audited(with_messages(prints)).verdict == "refuted"
    assert audited(prints).verdict in {"not refuted", "inconclusive"}


def test_all_is_kept_and_nothing_comes_through(capfd: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    assert with_messages(prints)([2.0], rng)[1:] == ((), "2.0", "")
    assert with_messages(logs)([2.0], rng=rng)[1:] == ((), "", "2.0")
    told = with_messages(warns)([2.0], 3, rng)
    assert [each[1:] for each in told] == [(("UserWarning: 2.0",), "", "")] * 3
    failed, other = (with_messages(raises)([x], rng) for x in (2.0, 3.0))
    assert failed.kind.startswith("2.0 (ValueError at ")
    assert failed.kind.endswith("\nUserWarning: here\nthere")
    assert key_of(failed) != key_of(other)
    assert capfd.readouterr() == ("", "")


def test_a_function_that_never_answers_is_an_error_as_it_is_without(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def many(data: Any, size: int, rng: np.random.Generator) -> list[float]:
        return [0.0, 1.0]

    for function, told in ((raises, "(ValueError at "), (many, "returned 2 answers")):
        found = audited(with_messages(function))
        assert found.verdict == "error"
        assert told in found.outcome.reason
        assert "\n" not in found.outcome.reason
    assert capfd.readouterr() == ("", "")


def test_a_function_that_is_asked_queries_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^function: takes queries; with_messages needs one"):
        with_messages(lambda data, queries, size, rng: queries)
