"""The trials of a witness, drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.changes import Change
from dpassay.errors import require
from dpassay.record.replaying.case import Case
from dpassay.trials.blocks import draw
from dpassay.trials.executors import ExecutorOptions, executor
from dpassay.trials.tasks import Task, TrialRunner

RawParts = Sequence[Mapping[str, Any]]
"""Parts of trials as a witness has them: `phase` and `draws`."""
Tally = NDArray[np.int64]
"""How often each symbol was counted."""
Tallied = Callable[[RawParts], tuple[Tally, Tally]]
"""Draws parts of trials on both sides."""


def drawn_here(case: Case, state: Any, neighbour: Any) -> Tallied:
    """Return what draws parts of the trials, and counts the symbols answered on both sides."""
    assert case.trials is not None
    seed = int(case.trials["seed"])
    sides: list[tuple[Any, Change | None]] = [(state, None), (neighbour, case.change)]
    if case.flipped:
        sides.reverse()

    def counted(state: Any, side: Change | None, part: Mapping[str, Any]) -> Tally:
        size, phase = int(part["draws"]), part["phase"]
        every: Tally = draw(
            case.subject, state, case.place, side, size, case.coding, phase=phase, seed=seed
        )[case.query]
        return every

    def tally(parts: RawParts) -> tuple[Tally, Tally]:
        one, other = (
            np.sum([counted(state, side, part) for part in parts], axis=0) for state, side in sides
        )
        return one, other

    return tally


@contextmanager
def drawn_there(case: Case) -> Iterator[Tallied]:
    """Draw the trials of a learned event where the mechanism runs."""
    told = "trials, as its event was learned"
    require(case.trials is not None, "the witness", "no trials", told)
    assert case.trials is not None
    group = replace(case.place, pairs=replace(case.place.pairs, changes=(case.change,)))
    runner = TrialRunner(case.subject, (group,), (case.coding,), int(case.trials["seed"]))

    with executor(runner, ExecutorOptions()) as opened:

        def tally(parts: RawParts) -> tuple[Tally, Tally]:
            """Count answers outside and inside the event, on both sides, in parts of the trials."""
            tasks = [
                Task(group=0, pair=pair, phase=part["phase"], size=int(part["draws"]))
                for pair in ((0, None) if case.flipped else (None, 0))
                for part in parts
            ]
            found = [counts[case.query] for counts in opened.counts(tasks)]
            return sum(found[1 : len(parts)], found[0]), sum(
                found[len(parts) + 1 :], found[len(parts)]
            )

        yield tally
