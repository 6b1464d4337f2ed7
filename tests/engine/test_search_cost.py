"""What a search would cost is what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay import DP, Answers
from dpassay.engine.budget import Budget
from dpassay.engine.planning import search_cost
from dpassay.engine.run import assay
from dpassay.engine.searching.outlay import outlay
from dpassay.engine.searching.search import FIRST
from dpassay.engine.settings import Settings
from dpassay.mechanism import FunctionMechanism
from dpassay.targets.guard import AuditTarget


def quiet(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(scale=4.0, size=size)


def test_rounds_and_runs_are_those_of_the_search() -> None:
    claim, space, budget = DP(epsilon=1.0, relation="answers-1"), Answers(1), 600
    mechanism = FunctionMechanism(
        function=quiet, claims=(claim,), takes=("data", "size", "rng"), free=True
    )
    name = f"{__name__}:quiet"
    target = AuditTarget(
        name=name, address=name, parameters={}, mechanism=mechanism, claims=(claim,)
    )
    foretold = search_cost(target, space, Budget(draws=budget, alpha=1e-3), 0)
    told: list[tuple[str, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        told.extend([] if total else [(what, done)])

    (result,) = assay([target], space, Settings(budget=budget, executor="inline"), progress)
    ((what, seconds),) = told
    runs = foretold.outlay.search + foretold.outlay.certification
    most = outlay(space, FIRST, budget)
    assert what.startswith(f"{name}: {most.search + most.certification:,} runs of ")
    assert what.endswith(" ms at most")
    assert 0 <= seconds < 600
    assert result.evidence is not None
    planned = foretold.outlay.rounds
    rounds = [(each["pairs"], each["draws"]) for each in result.evidence.searched["search"]]
    # how many new pairs are found from the second round on is not known before
    assert rounds[0] == planned[0]
    assert len(rounds) == len(planned)
    assert all(pairs <= most for (pairs, _), (most, _) in zip(rounds, planned, strict=True))
    assert rounds[-1] == planned[-1]
    assert len(result.evidence.searched["search"][0]["families"]) == foretold.families
    assert result.evidence.trials <= runs
    assert foretold.seconds >= 0
