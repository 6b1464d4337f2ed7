"""Finished rounds, one JSON object a line, in the order of the tasks, whoever ran them.

An interrupted run keeps its whole lines and goes on behind them; so the file's bytes depend neither
on interruptions nor on the number of processes. Nothing notices that the code has changed: then the
folder has to be emptied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from threadpoolctl import threadpool_limits

from benchmarks.section5.rounds import Task, result_of, tasks
from benchmarks.section5.scalings import SCALINGS
from benchmarks.section5.settings import SEED, Size
from benchmarks.section5.tables import Table
from dpassay.data import Labelled, digest
from dpassay.errors import require
from dpassay.trials.backends import in_order

FILE: Final = "rounds.jsonl"


def results(
    tables: Sequence[Table], size: Size, out: Path, jobs: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the result of every task in order: what is in the folder first, then what is run.

    Raises
    ------
    InvalidInput
        If the folder has results of other data, or of another size.
    """
    out.mkdir(parents=True, exist_ok=True)
    path, planned = out / FILE, tasks(size)
    head = heading(tables, size)
    kept = whole_lines(path)
    require(kept[:1] in ([], [head]), "out", str(out), "a folder of the same data, seed and folds")
    known = [json.loads(line) for line in kept[1:]]
    yield from known[: len(planned)]
    with path.open("a", encoding="utf-8") as file:
        file.truncate(sum(len(line) + 1 for line in kept))
        if not kept:
            file.write(head + "\n")
        for found in run(planned[len(known) :], tables, jobs):
            file.write(json.dumps(found) + "\n")
            file.flush()
            yield found


def heading(tables: Sequence[Table], size: Size) -> str:
    """Say what all results of a file share."""
    data = {each.name: digest(each.data.X, each.data.y) for each in tables}
    return json.dumps({"section": 5, "seed": SEED, "folds": size.folds, "data": data})


def whole_lines(path: Path) -> list[str]:
    """Lines that were written to their end."""
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []


def run(planned: Sequence[Task], tables: Sequence[Table], jobs: int) -> Iterator[dict[str, Any]]:
    """Run tasks in this process, or in others; one thread each."""
    work = Worker(tables={each.name: each for each in tables})
    if jobs > 1:
        yield from in_order("section 5", work, planned, jobs)
        return
    with threadpool_limits(limits=1):
        yield from map(work, planned)


@dataclass(slots=True)
class Worker:
    """Runs tasks on tables, each scaled once."""

    tables: dict[str, Table]
    scaled: dict[tuple[str, str], Labelled] = field(default_factory=dict)

    def __call__(self, task: Task) -> dict[str, Any]:
        """Run one."""
        key = task.table, task.scaling
        if key not in self.scaled:
            data = self.tables[task.table].data
            self.scaled[key] = Labelled(SCALINGS[task.scaling](data.X), data.y)
        return result_of(task, self.scaled[key])
