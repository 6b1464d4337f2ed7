"""Nothing that a hostile auditee does costs more than its own result.

What must hold of each: no byte of another result changes, no exit code of 1 becomes 0, nothing
outlives the run by ten seconds, and no time limit is exceeded by more than a moment. Its own
verdict is `refuted` or `error`; that of those marked `free` may be anything (docs/security.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dpassay.trials.isolation.limits import protections
from tests.hostile.running import CASES, FREE, GUARDED, REFUSED, Case, Ran, complaints, run

SAMPLE = (
    *("workflow_commands", "frame_dtype_syntax", "answers_equal", "raises_controls", "exit_0"),
    *("hydra", "kills_everything", "rewrites_a_neighbour", "interpreter", "counts_negative"),
    *("forges_expected", "Disguised"),
)
"""One of each group, which the fast tests look at."""
EVERY = {"audit": 3, "attack": 8, "dask": 8}
"""One of so many under these commands; all with `python -m tests.hostile.running COMMAND ...`."""
AT_A_TIME = {"run": 16, "audit": 20, "attack": 8, "dask": 16}


IN_CI: tuple[str, ...] = ("run", "audit")
"""Commands under which the corpus is run here; under the others by hand, since that takes long."""


@cache
def in_force() -> list[str]:
    return protections()


def batches() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is run at a time; what uses up time limits, or may end a run, is apart."""
    for command in IN_CI:
        most = AT_A_TIME[command]
        names = [name for name, case in CASES.items() if command in case.commands]
        alone = [name for name in names if _ends_the_run(CASES[name], command)]
        slow = [name for name in names if CASES[name].limits and name not in alone]
        quick = [name for name in names if name not in alone and name not in slow]
        if command != "run":
            quick, slow = quick[:: EVERY[command]], slow[:: 6 if command == "audit" else len(slow)]
        for some in (quick, slow):
            for start in range(0, len(some), most):
                yield command, tuple(some[start : start + most])
        yield from ((command, (name,)) for name in alone)


def _ends_the_run(case: Case, command: str) -> bool:
    """Whether an auditee may end its run, some only where there are no namespaces."""
    return (case.holds == REFUSED and command != "audit") or (
        case.holds == GUARDED and "PID namespace" not in in_force()
    )


@pytest.fixture(scope="session")
def references() -> dict[tuple[str, int], Ran]:
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "names"), [pytest.param(*each, id=f"{each[0]}-{each[1][0]}") for each in batches()]
)
def test_what_is_hostile_costs_its_own_result_only(
    command: str, names: tuple[str, ...], tmp_path: Path, references: dict[tuple[str, int], Ran]
) -> None:
    check(command, names, tmp_path, references)


def test_a_sample_of_each_group(tmp_path: Path, references: dict[tuple[str, int], Ran]) -> None:
    check("run", SAMPLE, tmp_path, references)


def check(
    command: str, names: tuple[str, ...], folder: Path, references: dict[tuple[str, int], Ran]
) -> None:
    number = 1 if len(names) == 1 else AT_A_TIME[command]
    if (command, number) not in references:
        references[command, number] = run(command, [None] * number, folder / "reference")
    reference = references[command, number]
    assert reference.code in (1, 4), "innocent auditees leak, or are undecided"
    cases = [CASES[name] for name in names]
    ran = run(command, [*cases, *[None] * (number - len(cases))], folder / "run")
    guarded = "read-only files" in in_force()
    assert complaints(command, cases, ran, reference, guarded=guarded) == []


def test_the_corpus_is_large_and_says_what_must_hold() -> None:
    assert len(CASES) >= 100
    assert {case.group for case in CASES.values()} >= {
        *("floods", "frames", "processes", "signals", "objects", "files", "environment"),
        *("imports", "exits", "time", "forgeries", "mechanisms"),
    }
    free = sum(case.holds == FREE for case in CASES.values())
    assert free < len(CASES) / 5
    text = (Path(__file__).parents[2] / "docs/security.md").read_text()
    assert "marked `free`" in text
