"""Nothing that a hostile auditee does costs more than its own result.

What must hold of each: no byte of another result changes, no exit code of 1 becomes 0, nothing
outlives the run by ten seconds, and no time limit is exceeded by more than a moment. Its own
verdict is `refuted` or `error`; that of those marked `free` may be anything (docs/security.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from dpassay.trials.isolation.limits import protections
from tests.conftest import once
from tests.hostile.running import CASES, FREE, GUARDED, REFUSED, Case, Ran, complaints, run

AT_A_TIME = {"run": 16, "audit": 9}
"""Commands under which the corpus is run here, and auditees in a run."""
OFTEN = {"run": 10, "audit": 24}
"""Of those that every audit catches, and of those that use up time limits, one in so many, as they
are variants of a few attacks; of those that nothing prevents, every second one.
`python -m tests.hostile.running COMMAND ...` runs all, under every command."""
DAILY = 2
"""Batches of `run` that CI runs, each with something of everything; `make test-nightly` runs the
others."""
ENDING = ("leaves_at_import", "CheckRefuses", "ManyClaims")
"""Of those that cannot be audited at all: while it is imported, asked, or described."""


@cache
def in_force() -> list[str]:
    return protections()


def batches() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is run at a time; what may end a run is apart."""
    for command, most in AT_A_TIME.items():
        cases = {name: case for name, case in CASES.items() if command in case.commands}
        alone = [name for name, case in cases.items() if _ends_the_run(case, command)]
        common = [
            name
            for name, case in cases.items()
            if name not in alone
            and (command == "audit" or case.holds not in (GUARDED, FREE) or case.limits)
        ]
        others = [name for name in cases if name not in {*common, *alone}]
        free = [name for name in others if cases[name].holds == FREE]
        chosen = {*common[:: OFTEN[command]], *others} - {*free[1::2]}
        names = [name for name in cases if name in chosen]
        number = -(-len(names) // most)
        for start in range(number):
            yield command, tuple(names[start::number])
        yield from (
            (command, (name,)) for name in alone if name in ENDING or cases[name].holds != REFUSED
        )


def _ends_the_run(case: Case, command: str) -> bool:
    """Whether an auditee may end its run, some only where there are no namespaces."""
    return (case.holds == REFUSED and command != "audit") or (
        case.holds == GUARDED and "PID namespace" not in in_force()
    )


MANY = [each for each in batches() if each[0] == "run" and len(each[1]) > 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "names"),
    [
        pytest.param(
            *each,
            id=f"{each[0]}-{each[1][0]}",
            marks=pytest.mark.nightly if each in MANY[DAILY:] else (),
        )
        for each in batches()
    ],
)
def test_what_is_hostile_costs_its_own_result_only(
    command: str, names: tuple[str, ...], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    number = 1 if len(names) == 1 else AT_A_TIME[command]

    def fill(folder: Path) -> None:
        folder.mkdir()
        found = run(command, [None] * number, folder / "run")
        (folder / "found").write_text(json.dumps(asdict(found), default=str), encoding="utf-8")

    cases = [CASES[name] for name in names]
    ran = reference = run(command, [*cases, *[None] * (number - len(cases))], tmp_path / "run")
    if names[0] not in ENDING:  # there is nothing to compare where nothing is audited
        folder = once(tmp_path_factory, f"innocent-{command}-{number}", fill)
        reference = Ran(**json.loads((folder / "found").read_text(encoding="utf-8")))
        assert reference.code in (1, 4), "innocent auditees leak, or are undecided"
    guarded = "read-only files" in in_force()
    assert complaints(command, cases, ran, reference, guarded=guarded) == []


def test_the_corpus_is_large_and_says_what_must_hold() -> None:
    assert len(CASES) > 200
    assert {case.group for case in CASES.values()} >= {
        *("floods", "frames", "processes", "signals", "objects", "files", "environment"),
        *("imports", "exits", "time", "forgeries", "mechanisms"),
    }
    free = sum(case.holds == FREE for case in CASES.values())
    assert free < len(CASES) / 5
    text = (Path(__file__).parents[2] / "docs/security.md").read_text()
    assert "marked `free`" in text
