"""The pool: results in order, failures as `TargetError`, and no process left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.errors import InvalidInput, TargetError
from dpassay.trials.backends import in_order
from dpassay.trials.isolation.host import OPEN


@pytest.fixture(autouse=True)
def nobody_stays() -> Any:
    yield
    assert not list(OPEN), "a process was left behind"


@pytest.mark.parametrize("jobs", [1, 5])
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    offset = np.array([0.1, np.nan, -0.0])
    found = list(in_order("mine", lambda k: k + offset, range(7), jobs))
    assert [each.tobytes() for each in found] == [(k + offset).tobytes() for k in range(7)]
    assert list(in_order("mine", lambda k: k, [], jobs)) == []
    assert os.getpid() not in in_order("mine", lambda _: os.getpid(), [0], jobs)


def fails(how: str) -> Any:
    def work(k: int) -> int:
        if k != 2:
            return k
        if how == "target":
            raise TargetError("it failed", "with a detail")
        if how == "invalid":
            raise InvalidInput("it is wrong")
        if how == "exit":
            os._exit(7)
        raise ArithmeticError("out of luck")

    return work


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ("target", "it failed"),
        ("invalid", "it is wrong"),
        ("exit", "the worker died (exit code 7)"),
        ("other", "ArithmeticError was raised"),
    ],
)
def test_a_failure_is_raised_where_it_lies(how: str, cause: str) -> None:
    found = in_order("mine", fails(how), range(6), 2)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(TargetError) as caught:
        next(found)
    assert caught.value.cause == cause


def test_who_leaves_early_ends_the_processes() -> None:
    found = in_order("mine", lambda k: k, range(100), 2)
    assert next(found) == 0
    found.close()  # type: ignore[attr-defined]


def test_what_a_killed_process_was_at_is_done_again_by_another(tmp_path: Path) -> None:
    def work(k: int) -> int:
        if k == 2 and not (tmp_path / "killed").exists():
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return k

    assert list(in_order("mine", work, range(5), 2)) == list(range(5))
