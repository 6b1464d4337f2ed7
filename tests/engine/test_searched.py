"""Searched audits: a function, a claim and a description of the data, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpassay import (
    DP,
    GDP,
    Answers,
    InvalidInput,
    Labelled,
    PredictionStability,
    Scalars,
    Stability,
    audit,
)
from dpassay.record.replay import replay
from dpassay.record.schemas import fault
from dpassay.record.witness import make_witness
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from tests.engine import recorded as small
from tests.engine.recorded import Picky, evidence_of, recorded

Function = Callable[..., Any]
hunted = partial(small.hunted, budget=2000)


@pytest.fixture(autouse=True)
def short(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("slow") is None:
        request.getfixturevalue("few_pairs")


def laplace(scale: float) -> Function:
    """Answer a sum with noise: a loss of 1 / scale where one answer moves by 1."""
    return lambda data, size, rng: data.sum() + rng.laplace(scale=scale, size=size)


def rare(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Ten labels; one of them, of 5 %, is given away by a positive answer."""
    p = np.full(10, 0.105)
    p[3] = 0.05 if data[0] > 0 else 0.002
    return rng.choice(10, p=p / p.sum(), size=size)


def texts(data: Any, rng: np.random.Generator) -> str:
    """One run: a word."""
    return "many" if data[0] + rng.laplace(scale=0.4) > 0.5 else "few"


def transcript(data: Any, rng: np.random.Generator) -> tuple[Any, ...]:
    """One run of variable length: stop at the first answer above a threshold; noise too small."""
    for k, value in enumerate(data):
        if value + rng.laplace(scale=0.3) > 1:
            return (None,) * k + ("above",)
    return (None,) * len(data)


def records(data: Any, rng: np.random.Generator) -> tuple[Any, float]:
    """One run: a mixed record, whose second part leaks."""
    return (None if rng.random() < 0.5 else "yes", float(data[-1] + rng.laplace(scale=0.4)))


def vectors(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Noise of scale 1 on every one of five answers, all of which may move."""
    return data + rng.laplace(size=(size, len(data)))


LEAKS: dict[str, tuple[Function, Any]] = {
    "a number": (laplace(0.5), Answers(1)),
    "a rare label": (rare, Answers(1)),
    "a text": (texts, Answers(1)),
    "a sequence": (transcript, Answers(4)),
    "a mixed record": (records, Answers(2)),
    "a vector": (vectors, Answers(5)),
    "a mean of few": (
        lambda data, size, rng: data.mean() + rng.laplace(scale=0.1, size=size),
        Scalars(0, 1, size=10),
    ),
}
"""What leaks more than 1, with data of the kind that its users have."""


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found_with_no_pair_and_no_query_and_its_witness_replays(name: str) -> None:
    result = hunted(*LEAKS[name])
    assert result.verdict == "refuted", result
    assert result.lower > 1
    assert evidence_of(result).lower.alpha == pytest.approx(0.01)
    witness = json.loads(json.dumps(make_witness(result)))
    assert not fault(witness, "witness")
    told = replay(witness, target=result.target)
    assert told.reproduced
    assert told.refuted
    record = recorded([result], 0.99)
    (told_event,) = {each["event"]["words"] for each in record["results"][0]["per_query"]}
    assert told_event in to_markdown(record).replace("\\", "")
    assert "A search proposed" in to_html(record)


HONEST: dict[str, tuple[Function, Any]] = {
    "a number": (laplace(1.0), Answers(1)),
    "a vector": (
        lambda data, size, rng: data + rng.laplace(scale=5, size=(size, len(data))),
        Answers(5),
    ),
    "a mean": (
        lambda data, size, rng: data.mean() + rng.laplace(scale=1 / len(data), size=size),
        Scalars(0, 1, size=6),
    ),
    "a text": (lambda data, rng: "a" if data[0] + rng.laplace() > 0 else "b", Answers(1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a rare label", "a sequence"])
def test_a_whole_search_finds_it_too(name: str) -> None:
    function, data = LEAKS[name]
    assert hunted(function, data, budget=20_000, confidence=0.999).verdict == "refuted"


@pytest.mark.parametrize("name", HONEST)
def test_what_keeps_its_claim_is_not_refuted(name: str) -> None:
    function, data = HONEST[name]
    assert hunted(function, data).verdict in ("not refuted", "inconclusive")


def test_the_same_seed_gives_the_same_bytes_whoever_runs_the_trials() -> None:
    told = [
        json.dumps(recorded([hunted(vectors, Answers(3), **how)], 0.99)["results"])
        for how in ({}, {"executor": "local", "jobs": 2}, {"seed": 1})
    ]
    assert told[0] == told[1]
    assert told[0] != told[2]


def shared_flip(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """Answer the label of the nearest record, flipped by one coin for all queries of a run."""
    near = ((queries[:, None] - data.X[None]) ** 2).sum(axis=2).argmin(axis=1)
    truth, flipped = data.y[near], rng.random((size, 1)) < 1 / (1 + np.e)
    return np.where(flipped, 1 - truth, truth)


def test_answers_of_one_run_are_audited_together() -> None:
    """Each answer alone keeps the claim; two of them differ or agree whatever the coin was."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    people = Labelled(X, (X[:, 0] > 0).astype(int))
    alone = hunted(shared_flip, people, detect=2.0)  # 2,000 trials are few for 256 pairs
    assert alone.verdict == "not refuted"
    together = hunted(shared_flip, people, together=True)
    assert together.verdict == "refuted"
    witness = make_witness(together)
    assert witness is not None
    assert replay(witness, target=together.target).reproduced


def test_labels_of_any_kind_at_queries() -> None:
    """The majority in words; one vote of a few decides."""

    def majority(data: Any, queries: Any, rng: np.random.Generator) -> Any:
        votes = data.y.mean() + rng.laplace(scale=0.1)
        return np.array(["yes" if votes > 0.5 else "no"] * len(queries))

    result = hunted(majority, (np.arange(6.0)[:, None], [0, 1, 0, 1, 1, 0]))
    assert result.verdict == "refuted"
    assert re.search("'(yes|no)'", str(result))


def test_other_claims_of_events() -> None:
    shift = lambda data, size, rng: data[0] + rng.normal(size=size)  # noqa: E731
    refuted = audit(shift, claim=GDP(mu=0.5), data=Answers(1), budget=2000, executor="inline")
    assert refuted.verdict == "refuted"
    coin = lambda data, size, rng: rng.random(size) < np.clip(data[0], 0, 1)  # noqa: E731
    moved = audit(coin, claim=Stability(gamma=0.3), data=Answers(1), budget=2000)
    assert moved.verdict == "refuted"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"labels": (0, 1)}, "labels, numbers: not with data"),
        ({"queries": [[0.0]]}, "data, queries: go apart"),
        ({"data": None, "together": True}, "together, bits, output: go with data"),
        ({"data": "people"}, "data"),
        ({"data": [1.0, 1.0]}, "all numbers are equal"),
        ({"claim": None}, "claim is missing"),
        ({"claim": PredictionStability(gamma=0.1)}, "is about real predictions"),
    ],
)
def test_what_does_not_go_together_is_refused(more: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {"claim": DP(epsilon=1), "data": Answers(1)} | more
    with pytest.raises(InvalidInput, match=told):
        audit(laplace(1.0), **given)


def test_a_dataset_that_it_does_not_take_is_passed_over_and_counted() -> None:
    result = hunted(Picky(), Answers(3))
    assert result.verdict == "refuted"
    rounds = evidence_of(result).searched["search"]
    assert sum(each["failed"] for each in rounds) > 0
    assert rounds[0]["pairs"] + rounds[0]["failed"] <= 256
    assert "passed over, since the mechanism raised" in to_markdown(recorded([result], 0.99))


def least(data: Any, size: int, rng: np.random.Generator) -> Any:
    """The least number with the noise of a mean: it loses as many times more as there are."""
    return data.min() + rng.laplace(0, 10 / len(data), size)


def memory(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """Nearest neighbour; at a point of its own it gives its label, elsewhere a random one."""
    away = ((data.X[None] - queries[:, None]) ** 2).sum(axis=2)
    label = data.y[away.argmin(axis=1)]
    return np.where(away.min(axis=1) == 0, label, rng.integers(0, 2, (size, len(queries))))


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
def test_the_pair_that_leaks_most_is_taken() -> None:
    result = hunted(least, Scalars(0, 10, size=8), budget=20_000, confidence=0.999)
    assert result.verdict == "refuted"
    assert result.lower > 5


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
def test_a_pair_that_cannot_leak_more_is_made_small() -> None:
    rng = np.random.default_rng(3)
    X = rng.random((20, 2)).round(2)
    data = Labelled(X, (X.sum(axis=1) > 1).astype(int))
    result = hunted(memory, data, budget=20_000, confidence=0.999)
    assert result.verdict == "refuted"
    assert len(evidence_of(result).groups[0].pairs.base) == 1
