"""Fresh counts at the cells of a baseline, against counting by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.data import Labelled
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.mechanism import FunctionMechanism
from dpassay.record.baseline import cells_of
from dpassay.record.compare import compare
from dpassay.seeds import stream
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK, stream_key
from tests.core.toys import Function, flip_group, response, target_of
from tests.engine.recorded import recorded

Rng = np.random.Generator
Points = NDArray[np.float64]

pytestmark = pytest.mark.usefixtures("bounds_only")

BUDGET = 2_500
GROUP = flip_group(records=4, queries=2)
SAME = ("group", "data", "query", "pair", "change", "direction", "event", "method")


def noisy(scale: float) -> Function:
    """The first label plus Laplace noise; the second query is told the other way round."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        told = data.y[0] * np.where(np.arange(len(queries)) % 2, -1, 1)
        return np.asarray(told + rng.laplace(0, scale, (size, len(queries))))

    return answer


def share(scale: float) -> Function:
    """A number in [0, 1] that depends on the first label."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        answers = 0.4 + scale * data.y[0] + 0.1 * rng.random((size, len(queries)))
        return np.asarray(np.clip(answers, 0, 1))

    return answer


KINDS: dict[str, tuple[Any, float, float, Claim, tuple[float, float] | None]] = {
    "labels": (response, 0.5, 1.0, DP(epsilon=1.2), None),
    "a probability": (response, 0.5, 1.0, Stability(gamma=0.6), None),
    "numbers": (noisy, 2.0, 1.0, DP(epsilon=1.2), (-np.inf, np.inf)),
    "means": (share, 0.2, 0.3, PredictionStability(gamma=0.5), (0.0, 1.0)),
}
"""Mechanism, strength before and after, claim, limits of its answers."""


def target(kind: str, strength: float) -> AuditTarget:
    make, _, _, claim, numbers = KINDS[kind]
    labels = (0, 1) if numbers is None else ()
    function = make(strength)
    return target_of(
        FunctionMechanism(function=function, claims=(claim,), labels=labels, numbers=numbers)
    )


def record(
    kind: str, strength: float, baseline: dict[str, Any] | None = None
) -> tuple[dict[str, Any], float]:
    """The record, and its lower bound before that is rounded."""
    settings = Settings(mode="monte-carlo", budget=BUDGET, executor="inline")
    accepted = cells_of({"results": []} if baseline is None else baseline)
    (result,) = assay([target(kind, strength)], GROUP, settings, baseline=accepted)
    return recorded([result]), result.lower


@cache
def before(kind: str) -> dict[str, Any]:
    return record(kind, KINDS[kind][1])[0]


def by_hand(
    kind: str, strength: float, cell: dict[str, Any], size: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Answers at the query of a cell, on its first and its second side."""
    subject, sides = target(kind, strength), []
    base = GROUP.pairs.base
    for change in (None, GROUP.pairs.changes[cell["pair"]]):
        state = subject.prepare(base if change is None else change.apply(base))
        key, drawn = stream_key(subject, GROUP, change, phase="certify", seed=0), []
        for block in range(-(-size // BLOCK)):
            trials, rng = min(BLOCK, size - block * BLOCK), stream(*key, block)
            drawn.append(subject.mechanism.sample(state, GROUP.queries, trials, rng))
        sides.append(np.concatenate(drawn)[:, cell["query"]])
    return (sides[0], sides[1]) if cell["direction"] == "S to S'" else (sides[1], sides[0])


@pytest.mark.parametrize("kind", KINDS)
def test_every_listed_cell_is_counted_again_at_its_own_event(kind: str) -> None:
    old, after = before(kind), KINDS[kind][2]
    new, lower = record(kind, after, old)
    (first,), (second,) = old["results"], new["results"]
    assert len(second["again"]) == len(first["per_query"]) == 2
    for cell, again in zip(first["per_query"], second["again"], strict=True):
        for name in SAME:
            assert again[name] == cell[name]
        one, other = by_hand(kind, after, again, 2 * BUDGET)
        if kind == "means":
            sides = [np.array(again["histograms"][side]) for side in ("one", "other")]
            assert [side.sum() for side in sides] == [2 * BUDGET] * 2
            means = [side @ np.linspace(0, 1, len(side)) / (2 * BUDGET) for side in sides]
            # answers are rounded to a grid at random
            assert means == pytest.approx([one.mean(), other.mean()], abs=1e-3)
            continue
        inside: Callable[..., Any] = half if kind == "numbers" else np.isin
        x, y = (int(inside(side, cell["event"]).sum()) for side in (one, other))
        assert again["counts"] == {"x": x, "n1": len(one), "y": y, "n0": len(other)}
    # no other number of the run depends on it
    assert lower == record(kind, after)[1]
    assert [change.kind for change in compare(old, new).changes] == ["rose"]


def half(answers: NDArray[Any], event: dict[str, float]) -> NDArray[np.bool_]:
    return answers >= event["at_least"] if "at_least" in event else answers < event["below"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_change_is_none(kind: str) -> None:
    same = compare(before(kind), record(kind, KINDS[kind][1], before(kind))[0])
    assert same.changes == ()
    (limit,) = same.rise_limits
    assert (limit.cells, limit.of) == (2, 2)
    assert limit.before[0] < limit.before[1] < limit.least < np.inf


def test_cells_of_other_data_or_another_kind_of_answer_are_not_counted() -> None:
    (old,) = before("labels")["results"]
    others = {"data": "0ddba11", "pair_key": "another", "query": 7, "pair": 7, "group": "learned"}
    for name, value in (others | {"event": {"below": 1.0}}).items():
        cells = [cell | {name: value} for cell in old["per_query"]]
        new, _ = record("labels", 1.0, {"results": [old | {"per_query": cells}]})
        assert "again" not in new["results"][0]


def test_a_cell_of_the_baseline_is_of_one_entry_only() -> None:
    old, subject = before("labels"), target("labels", 0.5)
    assert len(cells_of(old)(subject, subject.claims[0])) == 2
    assert cells_of(old)(subject, Stability(gamma=0.6)) == ()
