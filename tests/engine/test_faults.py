"""A mechanism that misbehaves in one block of four hundred loses its own result only."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.pairs import Change, FlipLabel
from dpassay.seeds import stream
from dpassay.targets.guard import AuditTarget
from dpassay.trials.backends import EXPECTED
from dpassay.trials.blocks import BLOCK, stream_key
from tests.core.toys import flip_group, response
from tests.trials.test_executors import entries, raises, run, target

QUERIES = 7
GROUP = flip_group(records=7, queries=QUERIES, changes=tuple(FlipLabel(i) for i in range(7)))
BUDGET = 100 * BLOCK
"""Eight datasets are screened with 28 blocks each or a few more, and two certified with 100."""
Fault = Callable[[], Any]
Place = tuple[Change | None, str, int]
FIRST: Place = (None, "screen", 0)
EARLY: Place = (None, "screen", 11)
MIDDLE: Place = (FlipLabel(4), "screen", 15)
LATE: Place = (FlipLabel(0), "certify", 61)
LAST: Place = (FlipLabel(1), "screen", 27)


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


def named(name: str, fault: Fault, place: Place) -> AuditTarget:
    """Randomised response that begins one block with the fault. It knows the block by the state of
    its generator."""
    change, phase, block = place
    key = stream_key(target(response(1.0), name), GROUP, change, phase=phase, seed=0)
    marked = stream(*key, block).bit_generator.state

    def answer(data: Labelled, queries: np.ndarray, size: int, rng: Any) -> np.ndarray:
        found = fault() if rng.bit_generator.state == marked else None
        return response(1.0)(data, queries, size, rng) if found is None else np.asarray(found)

    return target(answer, name)


def between(*doubtful: tuple[Fault, Place], **settings: Any) -> list[dict[str, Any]]:
    """A run of mechanisms each with a fault at one place, between two that have none."""
    subjects = [named(f"doubtful {k}", fault, place) for k, (fault, place) in enumerate(doubtful)]
    subjects = [target(response(1.0), "before"), *subjects, target(response(0.5), "after")]
    return entries(run(*subjects, group=GROUP, budget=BUDGET, stop_early=False, **settings))


@cache
def undisturbed(*places: Place) -> list[dict[str, Any]]:
    """The same run with mechanisms that recognise their blocks and do nothing about it."""
    met: list[None] = []
    found = between(*((lambda: met.append(None), place) for place in places), executor="inline")
    assert len(met) == len(places)
    assert {entry["verdict"] for entry in found} == {"not refuted"}
    (trials,) = {entry["trials"] for entry in found}
    assert trials > 400 * BLOCK
    return found


def reasons(found: list[dict[str, Any]], *places: Place) -> list[str]:
    """The reasons of the errors in the middle, once all around them is as it should be."""
    expected = undisturbed(*places)
    assert [found[0], found[-1]] == [expected[0], expected[-1]]
    for entry, (change, phase, block) in zip(found[1:-1], places, strict=True):
        assert entry["verdict"] == "error"
        assert (f"the neighbour with {change}" if change else "the base dataset") in entry["reason"]
        assert "sample" in entry["reason"]
        ((first, last),) = re.findall(rf"\({phase} trials (\d+) to (\d+)\)", entry["reason"])
        assert int(first) <= block * BLOCK < int(last)
    return [entry["reason"] for entry in found[1:-1]]


def throws(error: BaseException) -> Fault:
    def fault() -> None:
        raise error

    return fault


WRONG = {
    "raised OSError": (raises, EARLY),
    "returned nan in trial 10 at query 3; expected one of (0, 1)": (
        lambda: np.where(np.arange(BLOCK * QUERIES).reshape(BLOCK, QUERIES) == 73, np.nan, 1),
        MIDDLE,
    ),
    "returned shape (999, 7); expected (size, queries) = (1000, 7)": (
        lambda: np.zeros((BLOCK - 1, QUERIES)),
        LATE,
    ),
    "returned 2 in trial 999 at query 6; expected one of (0, 1)": (
        lambda: np.arange(BLOCK * QUERIES).reshape(BLOCK, QUERIES) // (BLOCK * QUERIES - 1) * 2,
        LAST,
    ),
    "raised SystemExit": (lambda: sys.exit(0), FIRST),
    "raised GeneratorExit": (throws(GeneratorExit()), EARLY),
}


@pytest.mark.slow
def test_a_wrong_answer_in_one_block_of_hundreds() -> None:
    places = [place for _, place in WRONG.values()]
    found = [between(*WRONG.values(), **who) for who in ({}, {"jobs": 2}, {"executor": "inline"})]
    assert found[0] == found[1] == found[2]
    for reason, wrong, (change, phase, block) in zip(
        reasons(found[0], *places), WRONG, places, strict=True
    ):
        trials = f"{phase} trials {block * BLOCK} to {block * BLOCK + BLOCK - 1}"
        dataset = f"the neighbour with {change}" if change else "the base dataset"
        start, end = f"sample on {dataset} {wrong}", f" ({trials})"
        assert reason.startswith(start)
        assert reason.endswith(end)
        hint = reason.removeprefix(start).removesuffix(end)
        assert not hint or hint.startswith("; declare other labels with ")


def segfault() -> None:
    faulthandler.disable()
    ctypes.string_at(0)


def exits(code: int) -> Fault:
    return lambda: os._exit(code)


def hangs() -> None:
    time.sleep(600)


def is_deaf() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(600)


def runs_over() -> None:
    sys.setrecursionlimit(10**9)
    runs_over()


def dies_later() -> None:
    threading.Timer(0.01, os._exit, [0]).start()
    time.sleep(600)


class Interrupt(BaseException):
    """Cannot be pickled, and cannot say what it is."""

    def __reduce__(self) -> Any:
        raise AttributeError

    def __str__(self) -> str:
        raise KeyboardInterrupt


OVERTIME = "a shard took longer than 1 s (--shard-timeout)"
CLOSED = "the worker died (it closed its connection, or broke what its process needs)"


DEATHS: list[tuple[Fault, str]] = [
    (segfault, "the worker died (signal 11)"),
    (exits(1), "the worker died (exit code 1)"),
    (lambda: ctypes.CDLL(None).exit(0), "the worker died (exit code 0)"),
    (lambda: os.closerange(3, 256), CLOSED),
    (dies_later, "the worker died (exit code 0)"),
    (throws(KeyboardInterrupt()), "KeyboardInterrupt was raised"),
    (throws(Interrupt()), "Interrupt was raised"),
]
HANGS: list[tuple[Fault, str]] = [
    (hangs, OVERTIME),
    (lambda: os.kill(os.getpid(), signal.SIGSTOP), OVERTIME),
    (is_deaf, OVERTIME),
    (runs_over, ""),
]


@pytest.mark.parametrize(
    ("faults", "limit", "at"),
    [(DEATHS, 600, (LATE, *(place for _, place in WRONG.values()))), (HANGS, 1, (FIRST,))],
    ids=["dies", "hangs"],
)
@pytest.mark.slow
def test_a_worker_lost_over_one_block_of_hundreds(
    faults: list[tuple[Fault, str]], limit: float, at: tuple[Place, ...]
) -> None:
    began, places = time.monotonic(), list(islice(cycle(at), len(faults)))
    wrong = [(fault, place) for (fault, _), place in zip(faults, places, strict=True)]
    found = between(*wrong, jobs=2, shard_timeout=limit)
    assert time.monotonic() - began < 500, "no worker's death waits for the time limit"
    for reason, (_, cause) in zip(reasons(found, *places), faults, strict=True):
        assert reason.startswith(cause)
        assert reason.endswith(f", also when tried again; {EXPECTED}")


def scribbles() -> None:
    """Write what looks like the head of a long message wherever that can be done."""
    for number in range(3, 64):
        try:
            os.set_blocking(number, False)
            os.write(number, b"\x7f\xff\xff\xff")
        except OSError:
            continue


@pytest.mark.slow
@pytest.mark.alone
def test_what_is_written_over_the_channels_of_the_workers_costs_no_other_result() -> None:
    found = between((scribbles, MIDDLE), jobs=2, shard_timeout=1)
    expected = undisturbed(MIDDLE)
    assert found[1]["verdict"] == "error"
    assert [found[0], found[2]] == [expected[0], expected[2]]


HARMLESS: dict[str, Fault] = {
    "goes away": lambda: os.chdir("/"),
    "leaves a thread": lambda: threading.Thread(target=time.sleep, args=(600,)).start(),
    "ignores signals": lambda: void(signal.signal(signal.SIGTERM, signal.SIG_IGN)),
    "keeps little": lambda: sys.setrecursionlimit(200),
    "comes back twice": lambda: void(os.fork()),
}


def void(_: object) -> None:
    """Answer nothing, so that the block is drawn as ever."""


@pytest.mark.slow
def test_what_a_worker_may_do_to_itself_harms_nobody() -> None:
    places = [MIDDLE] * len(HARMLESS)
    found = between(*zip(HARMLESS.values(), places, strict=True), jobs=2)
    for entry, expected in zip(found, undisturbed(*places), strict=True):
        assert entry == expected


@pytest.mark.slow
def test_a_process_that_a_worker_started_ends_with_it() -> None:
    """Whether the worker then goes on, hangs or ends."""
    reader, writer = os.pipe()

    def starts_another(then: Callable[[], Any]) -> Fault:
        def fault() -> None:
            if os.fork() == 0:
                time.sleep(600)
            then()

        return fault

    doubtful = [(starts_another(then), FIRST) for then in (lambda: None, hangs, exits(0))]
    found = between(*doubtful, jobs=2, shard_timeout=1)
    words = [entry["verdict"] for entry in found]
    assert words == ["not refuted", "not refuted", "error", "error", "not refuted"]
    os.close(writer)
    assert os.read(reader, 1) == b"", "nobody holds the other end any more"
    os.close(reader)
