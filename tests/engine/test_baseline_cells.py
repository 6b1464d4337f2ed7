"""Fresh counts at the cells of a baseline, against counting by hand."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.data import Labelled
from dpassay.engine.evidence import Evidence
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.mechanism import FunctionMechanism
from dpassay.record.baseline import cells_of
from dpassay.record.compare import compare
from dpassay.record.files import dumps
from dpassay.record.run_record import make_record
from dpassay.record.schemas import read_schema
from dpassay.seeds import stream
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK, stream_key
from tests.core.toys import Function, flip_group, response

Rng = np.random.Generator
Points = NDArray[np.float64]

BUDGET = 2_500
GROUP = flip_group(records=4, queries=2)
RUN = {
    "commit": None, "seed": 0, "confidence": 0.999, "profile": "default", "command": "dpassay run",
    "catalogue": False, "complete": True, "data": None, "budget": BUDGET,
}  # fmt: skip


def noisy(scale: float) -> Function:
    """The first label plus Laplace noise; the second query is told the other way round."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        answers: NDArray[Any] = data.y[0] * np.where(
            np.arange(len(queries)) % 2, -1, 1
        ) + rng.laplace(0, scale, (size, len(queries)))
        return answers

    return answer


def share(scale: float) -> Function:
    """A number in [0, 1] that depends on the first label."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        answers: NDArray[Any] = np.clip(
            0.4 + scale * data.y[0] + 0.1 * rng.random((size, len(queries))), 0, 1
        )
        return answers

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
    mechanism = FunctionMechanism(
        function=make(strength), claims=(claim,), labels=labels, numbers=numbers
    )
    return AuditTarget(
        name="api", address=None, parameters={}, mechanism=mechanism, claims=(claim,)
    )


def record(
    kind: str, strength: float, baseline: dict[str, Any] | None = None
) -> tuple[dict[str, Any], Evidence]:
    settings = Settings(mode="monte-carlo", budget=BUDGET, executor="inline")
    accepted = cells_of({"results": []} if baseline is None else baseline)
    (result,) = assay([target(kind, strength)], GROUP, settings, baseline=accepted)
    assert result.evidence is not None
    found = json.loads(dumps(make_record(RUN, [result])))
    jsonschema.validate(found, read_schema("record"))
    return found, result.evidence


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
            trials = min(BLOCK, size - block * BLOCK)
            drawn.append(
                subject.mechanism.sample(state, GROUP.queries, trials, stream(*key, block))
            )
        sides.append(np.concatenate(drawn)[:, cell["query"]])
    return (sides[0], sides[1]) if cell["direction"] == "S to S'" else (sides[1], sides[0])


@pytest.mark.parametrize("kind", KINDS)
def test_every_listed_cell_is_counted_again_at_its_own_event(kind: str) -> None:
    _, before, after, _, _ = KINDS[kind]
    old, _ = record(kind, before)
    new, evidence = record(kind, after, old)
    (first,), (second,) = old["results"], new["results"]
    assert len(second["again"]) == len(first["per_query"]) == 2
    for cell, again in zip(first["per_query"], second["again"], strict=True):
        assert {
            name: again[name]
            for name in ("group", "data", "query", "pair", "change", "direction", "event", "method")
        } == {
            name: cell[name]
            for name in ("group", "data", "query", "pair", "change", "direction", "event", "method")
        }
        one, other = by_hand(kind, after, again, 2 * BUDGET)
        if kind == "means":
            assert [sum(again["histograms"][side]) for side in ("one", "other")] == [2 * BUDGET] * 2
            points = np.linspace(0, 1, len(again["histograms"]["one"]))
            means = [
                np.array(again["histograms"][side]) @ points / (2 * BUDGET)
                for side in ("one", "other")
            ]
            # answers are rounded to a grid at random
            assert means == pytest.approx([one.mean(), other.mean()], abs=1e-3)
            continue
        inside = [
            np.isin(side, cell["event"])
            if kind in ("labels", "a probability")
            else half(side, cell["event"])
            for side in (one, other)
        ]
        found = {
            "x": int(inside[0].sum()),
            "n1": len(one),
            "y": int(inside[1].sum()),
            "n0": len(other),
        }
        assert again["counts"] == found
    # no other number of the run depends on it
    assert evidence.lower.value == record(kind, after)[1].lower.value


def half(answers: NDArray[Any], event: dict[str, float]) -> NDArray[np.bool_]:
    return answers >= event["at_least"] if "at_least" in event else answers < event["below"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_rise_is_seen_and_no_change_is_none(kind: str) -> None:
    _, before, after, _, _ = KINDS[kind]
    old, _ = record(kind, before)
    assert [change.kind for change in compare(old, record(kind, after, old)[0]).changes] == ["rose"]
    same = compare(old, record(kind, before, old)[0])
    assert same.changes == ()
    (limit,) = same.rise_limits
    assert (limit.cells, limit.of) == (2, 2)
    assert limit.before[0] < limit.before[1] < limit.least < np.inf


def test_cells_of_other_data_or_another_kind_of_answer_are_not_counted() -> None:
    old, _ = record("labels", 0.5)
    for name, value in (
        ("data", "0ddba11"),
        ("pair_key", "another"),
        ("query", 7),
        ("pair", 7),
        ("group", "learned"),
        ("event", {"below": 1.0}),
    ):
        cells = [cell | {name: value} for cell in old["results"][0]["per_query"]]
        other = {"results": [old["results"][0] | {"per_query": cells}]}
        new, _ = record("labels", 1.0, other)
        assert "again" not in new["results"][0]


def test_a_cell_of_the_baseline_is_of_one_entry_only() -> None:
    old, _ = record("labels", 0.5)
    subject = target("labels", 0.5)
    assert len(cells_of(old)(subject, subject.claims[0])) == 2
    assert cells_of(old)(subject, Stability(gamma=0.6)) == ()
