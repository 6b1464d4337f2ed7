"""Witnesses: JSON that makes the same number again, and notices when it does not."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, load, split
from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import replace_one
from dpassay.record.files import dumps
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness, read_witness
from dpassay.targets.groups import PairGroup
from dpassay.targets.resolve import AnswerKind, resolve
from tests.core.toys import TableMechanism, flip_group, module_response, target_of

SETTINGS = {
    "exact": Settings(mode="exact", executor="inline"),
    "exhaustive": Settings(mode="exhaustive", domain=Domain(n=3, points=1), executor="inline"),
    "monte-carlo": Settings(mode="monte-carlo", budget=1500, seed=4, executor="inline"),
}
MAJORITY = {"r": 3, "learner": "majority"}
TARGETS: dict[str, dict[str, Any]] = {
    "soft-majority": MAJORITY | {"epsilon": 0.5},
    "soft-majority-overview": MAJORITY,
    "projected-walk": {"T": 2},
    "group": {"k": 2, "base": "soft-majority-overview,r=3,learner=majority", "epsilon": 0.5},
}


def through_json(result: Result) -> dict[str, Any]:
    """The witness after a journey through a file."""
    witness = make_witness(result)
    assert witness is not None
    back: dict[str, Any] = json.loads(dumps(witness))
    return back


def small_group() -> PairGroup:
    """Seven records with replacements and flips, carried along by value."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 2)), np.array([0, 1, 1, 0, 1, 0, 0])
    pairs = replace_one(X, y, pool=Labelled(rng.normal(size=(4, 2)), np.array([0, 1, 1, 0])))
    queries = flip_group(queries=2).queries.repeat(2, axis=1)
    return PairGroup(pairs=pairs, queries=queries, kind="data", reason="small")


@pytest.mark.parametrize("mode", SETTINGS)
@pytest.mark.parametrize("name", TARGETS)
def test_a_witness_replays_what_it_was_made_from(mode: str, name: str) -> None:
    group = None if mode == "exhaustive" else small_group()
    for result in assay([resolve(name, TARGETS[name])], group, SETTINGS[mode]):
        again = replay(through_json(result))
        assert again.reproduced, again.words
        assert again.refuted == (result.verdict == "refuted")
        assert again.expected == (result.claim.expected == "refuted")
        if mode == "monte-carlo":
            assert result.evidence is not None
            worst = result.evidence.worst
            assert again.loss == pytest.approx(math.log(worst.p1 / worst.p0))
        else:
            assert again.loss == pytest.approx(result.exact, abs=1e-9)


def named_group(source: str, label: str | None = None, queries: int = 3) -> PairGroup:
    parts = split(load(source, label), train=20, queries=queries, seed=9)
    pairs = replace_one(parts.train.X, parts.train.y, pool=parts.pool, seed=9)
    return PairGroup(
        pairs=pairs, queries=parts.queries, kind="data", reason="named", source=parts.source
    )


@pytest.mark.parametrize(("mode", "file"), [("exact", True), ("monte-carlo", False)])
def test_a_witness_on_named_data_carries_none_of_them(
    mode: str, file: bool, tmp_path: Path
) -> None:
    source, label = "breast-cancer", None
    if file:
        rows = "".join(f"{i / 7},{i % 3},{'ill' if i % 2 else 'well'}\n" for i in range(60))
        path = tmp_path / "rows.csv"
        path.write_text("a,b,state\n" + rows, encoding="utf-8")
        source, label = str(path), "state"
    group = named_group(source, label)
    vote = resolve("soft-majority", {"r": 4, "learner": "tree", "epsilon": 0.2})
    several = resolve("group", {"base": "soft-majority,r=9,learner=nearest", "epsilon": 0.2})
    for result in assay([vote, several], group, dataclasses.replace(SETTINGS[mode], seed=9)):
        witness = through_json(result)
        assert result.evidence is not None
        if result.evidence.worst.group == 0:
            assert set(witness["data"]) == {"kind", "source", "sha256"}
            assert '"x"' not in json.dumps(witness["change"])
        assert replay(witness, file=source if file else None).reproduced


def first_label(records: Labelled, rng: np.random.Generator) -> int:
    """Tell the first label, in three runs of four; it takes no query."""
    return int(records.y[0] ^ (rng.random() < 0.25))


def test_a_function_without_a_query_is_replayed_on_named_data() -> None:
    target = resolve(f"{__name__}:first_label", {}, (DP(epsilon=0.5),), AnswerKind(labels=(0, 1)))
    settings = Settings(mode="monte-carlo", budget=500, seed=3, executor="inline")
    (result,) = assay([target], named_group("breast-cancer", queries=20), settings)
    assert replay(through_json(result), trusted=True).reproduced


def test_a_function_is_replayed_by_its_name() -> None:
    pairs, queries = flip_group().pairs, flip_group().queries
    known: dict[str, Any] = {"seed": 8, "budget": 2000, "executor": "inline"}
    result = audit(module_response, claim=DP(epsilon=0.5), pairs=pairs, queries=queries, **known)
    assert result.verdict == "refuted"
    again = replay(through_json(result), trusted=True)
    assert again.reproduced
    assert again.refuted


@pytest.mark.parametrize("mechanism", [
    TableMechanism(table=((0.9, 0.1), (0.5, 0.5))),
    SoftMajority(r=3, learner=LogisticRegression()),  # its repr is no parameter
])  # fmt: skip
def test_what_cannot_be_named_is_replayed_from_python(mechanism: Any) -> None:
    group = small_group()
    result = audit(mechanism, pairs=group.pairs, queries=group.queries, executor="inline")
    with pytest.raises(InvalidInput, match="replay it from Python"):
        replay(through_json(result))
    assert replay(through_json(result), target=result.target).reproduced


def test_large_data_stay_in_memory() -> None:
    group = flip_group(records=10_000, queries=1)
    (result,) = audit_of(TableMechanism(table=((0.9, 0.1), (0.5, 0.5))), group)
    witness = through_json(result)
    assert witness["data"]["kind"] == "memory"
    with pytest.raises(InvalidInput, match="lived in memory only"):
        replay(witness, target=result.target)
    assert replay(witness, target=result.target, group=group).reproduced


def audit_of(mechanism: TableMechanism, group: PairGroup) -> list[Result]:
    return list(assay([target_of(mechanism)], group, SETTINGS["exact"]))


def test_an_infinite_loss_survives_json() -> None:
    (result,) = audit_of(TableMechanism(table=((1.0, 0.0), (0.5, 0.5))), flip_group())
    again = replay(through_json(result), target=result.target)
    assert again.loss == math.inf
    assert again.reproduced
    assert again.refuted


@cache
def made(mode: str) -> str:
    target = resolve("soft-majority", TARGETS["soft-majority"])
    return json.dumps(through_json(next(assay([target], small_group(), SETTINGS[mode]))))


def witness_of(mode: str = "exact") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(made(mode))
    return found


def test_another_number_is_not_reproduced() -> None:
    exact, sampled = witness_of(), witness_of("monte-carlo")
    assert replay(exact).reproduced
    assert replay(sampled).reproduced
    for changed in (
        exact | {"loss": exact["loss"] + 1e-6},
        exact | {"parameters": exact["parameters"] | {"epsilon": 0.6}},
        sampled | {"trials": sampled["trials"] | {"x": sampled["trials"]["x"] + 1}},
        sampled | {"trials": sampled["trials"] | {"seed": 5}},
    ):
        assert not replay(changed).reproduced


def test_other_data_are_noticed() -> None:
    witness = witness_of()
    flipped = [1 - label for label in witness["data"]["y"]]
    with pytest.raises(InvalidInput, match="SHA-256 differs"):
        replay(witness | {"data": witness["data"] | {"y": flipped}})


FIELDS = "claim parameters data change query direction event loss trials target labels"


@pytest.mark.parametrize("key", FIELDS.split())
def test_a_missing_field_is_damage(key: str) -> None:
    witness = witness_of()
    del witness[key]
    with pytest.raises(InvalidInput, match="damaged"):
        replay(witness)


@pytest.mark.parametrize(
    "damage",
    [
        *({"query": 99}, {"query": "x"}, {"loss": "much"}, {"event": None}),
        {"change": {"kind": "add", "index": 0}},
    ],
)
def test_a_wrong_field_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        replay(witness_of() | damage)


def test_reading_a_file(tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    for text, message in (("{", "is not valid JSON"), ('{"schema": "x"}', "must be a file of sch")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInput, match=message):
            read_witness(path)
    path.write_text(dumps(witness_of()), encoding="utf-8")
    assert read_witness(path) == witness_of()
