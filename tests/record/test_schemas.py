"""Documents held against their schemas: what is refused, and what is said of it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator, validators

from dpassay.cli.main import main
from dpassay.record import schemas
from dpassay.record.schemas import fault, read_schema
from tests.fuzz.mutations import mutated

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("record")
    words = "run soft-majority stable-laplace --mode monte-carlo --budget 200 --executor inline"
    words += f" --train 30 --queries 2 -q --out {out}"
    assert main(words.split()) in (0, 4)
    found: dict[str, Any] = json.loads((out / "record.json").read_text(encoding="utf-8"))
    return found


def set_in(*place: str | int, value: Any) -> Change:
    def change(record: dict[str, Any]) -> None:
        inside: Any = record
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = value

    return change


def without(*place: str | int) -> Change:
    def change(record: dict[str, Any]) -> None:
        inside: Any = record
        for key in place[:-1]:
            inside = inside[key]
        del inside[place[-1]]

    return change


FIRST = ("results", 0)
CELL = (*FIRST, "per_query", 0)
MISSING = "which it must have"
SMALL, NUMBER = "must be a whole number of at most 64 bits >= 0", "must be a finite number"
CASES: list[tuple[Change, str]] = [
    (without("run"), f"it has no field 'run', {MISSING}"),
    (without(*FIRST, "lower"), f"results[0] has no field 'lower', {MISSING}"),
    (without(*FIRST, "witness", "words"), f"results[0].witness has no field 'words', {MISSING}"),
    (set_in("schema", value="x"), 'schema = "x": must be '),
    (set_in(*FIRST, "claim", "source", value=7), "results[0].claim.source = 7: must be a text"),
    (
        set_in(*FIRST, "verdict", value="banana"),
        'results[0].verdict = "banana": must be one of "refuted", ',
    ),
    (set_in("run", "seed", value=-1), f"run.seed = -1: {SMALL}"),
    (set_in("run", "seed", value=2**63), f"run.seed = {2**63}: {SMALL}"),
    (set_in("run", "confidence", value=True), f"run.confidence = true: {NUMBER}"),
    (
        set_in(*FIRST, "claim", "epsilon", value="x"),
        f'results[0].claim.epsilon = "x": {NUMBER} >= 0 or null',
    ),
    (set_in(*FIRST, "claim", value=[1, 2]), "results[0].claim = a list of 2: must be an object"),
    (
        set_in(*CELL, "profile", "upper", 3, value="x\n" * 100),
        'results[0].per_query[0].profile.upper[3] = "x\\nx\\n',
    ),
]


@pytest.mark.parametrize(("change", "words"), CASES)
def test_place_value_and_what_is_allowed(
    change: Change, words: str, record: dict[str, Any]
) -> None:
    changed = copy.deepcopy(record)
    assert fault(changed, "record") == ""
    change(changed)
    found = fault(changed, "record")
    assert found.startswith(words)
    assert len(found.splitlines()) == 1
    assert len(found) < 300


def test_what_a_later_version_has_added_is_read_and_never_written(record: dict[str, Any]) -> None:
    later = copy.deepcopy(record)
    later["results"][0]["claim"]["season"] = "autumn"
    assert fault(later, "record") == ""
    ours = Draft202012Validator(read_schema("record"))
    assert ours.is_valid(record)
    assert not ours.is_valid(record | {"extra": 1})


def damaged_curve(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Put something into a curve, where a fuzzer of whole documents seldom gets."""
    changed = copy.deepcopy(record)
    curve = changed["results"][0]["per_query"][0]["profile"]["upper"]
    curve[rng.randrange(len(curve))] = rng.choice([None, True, -1, "inf", 10**400, [], 0.5])
    return changed


def test_lists_of_numbers_are_checked_in_one_go_and_as_strictly(record: dict[str, Any]) -> None:
    with_items = validators.extend(
        type(schemas._validator("record")), {"items": Draft202012Validator.VALIDATORS["items"]}
    )
    one_by_one = with_items(read_schema("record"))
    small = copy.deepcopy(record)
    for result in small["results"]:
        result["per_query"] = result["per_query"][:1]
    rng, refused = random.Random(0), 0  # noqa: S311
    for seed in range(100):
        changed = mutated(small, random.Random(seed)) if seed % 2 else damaged_curve(small, rng)  # noqa: S311
        valid = next(one_by_one.iter_errors(changed), None) is None
        assert (fault(changed, "record") == "") == valid
        refused += not valid
    assert 25 < refused < 100


@pytest.mark.parametrize("name", ["record", "attack", "witness", "theorems", "theorem-witness"])
def test_every_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(read_schema(name))
    assert fault({}, name).startswith("it has no field '")
    assert fault([], name) == "it = a list of 0: must be an object"
