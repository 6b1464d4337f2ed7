"""The record: valid under its schema, equal for equal runs, different for another seed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.numerics import number
from dpassay.record.cells import csv_lines
from dpassay.record.files import dumps
from dpassay.record.kinds import RUNS
from dpassay.record.run_record import make_record
from dpassay.record.schemas import read_schema
from dpassay.targets.resolve import resolve
from tests.core.toys import Sampled, TableMechanism, WithWorstCase, flip_group, target_of

RUN = {
    "commit": None, "seed": 0, "confidence": 0.999, "profile": "default", "budget": 500,
    "command": "dpassay run", "catalogue": False, "complete": True, "data": None,
}  # fmt: skip
LOPSIDED = ((0.9, 0.1), (0.5, 0.5))


def results(mode: str = "monte-carlo", seed: int = 0) -> list[Result]:
    """One that leaks all, one of the catalogue with two claims, one that fails."""
    known: dict[str, Any] = {"mode": mode, "seed": seed, "budget": 500, "executor": "inline"}
    if mode == "exhaustive":
        known["domain"] = Domain(n=3, points=1)
    broken = target_of(TableMechanism(table=((0.5, 0.2), (0.5, 0.5))), name="broken")
    leaky = target_of(TableMechanism(table=((1.0, 0.0), (0.5, 0.5))), name="leaky")
    ours = resolve("soft-majority-overview", {"r": 3, "learner": "majority"})
    return list(assay([leaky, ours, broken], flip_group(records=4, queries=2), Settings(**known)))


def record(mode: str = "monte-carlo", seed: int = 0) -> dict[str, Any]:
    return make_record(RUN | {"seed": seed}, results(mode, seed))


@pytest.mark.parametrize("mode", ["exact", "exhaustive", "monte-carlo"])
def test_valid_under_the_schema_before_and_after_a_file(mode: str, tmp_path: Path) -> None:
    document = record(mode)
    jsonschema.Draft202012Validator.check_schema(read_schema("record"))
    jsonschema.validate(document, read_schema("record"))
    path = tmp_path / "record.json"
    path.write_text(dumps(document), encoding="utf-8")
    assert RUNS.read(path) == json.loads(dumps(document))
    jsonschema.validate(RUNS.read(path), read_schema("record"))
    assert {entry["verdict"] for entry in document["results"]} >= {"refuted", "error"}


def test_equal_runs_give_equal_bytes_and_another_seed_does_not() -> None:
    one = record(seed=1)
    assert dumps(one) == dumps(record(seed=1))
    assert one["results"][0]["per_query"] != record(seed=2)["results"][0]["per_query"]


def test_the_order_of_the_targets_does_not_change_their_counts() -> None:
    first, second = (target_of(Sampled(table=LOPSIDED), name=name) for name in "ab")
    settings = Settings(mode="monte-carlo", budget=300, executor="inline")
    there, back = (
        {each.id: "".join(csv_lines([each])) for each in assay(targets, flip_group(), settings)}
        for targets in ([first, second], [second, first])
    )
    assert there == back


def test_ids_are_unique_and_name_mechanism_status_and_mode() -> None:
    target = target_of(WithWorstCase(table=LOPSIDED))
    ids = [result.id for result in assay([target, target, target], None, Settings())]
    assert ids == ["toy.own.exact", "toy.own.exact.2", "toy.own.exact.3"]


def test_a_mechanism_that_fails_ends_its_own_result_only() -> None:
    found = {result.id.split(".")[0]: result for result in results("exact")}
    broken = found["broken"]
    assert broken.verdict == "error"
    assert "distribution on the base dataset raised InvalidInput" in broken.outcome.reason
    assert (broken.lower, broken.upper, broken.detectable) == (0.0, math.inf, math.inf)
    assert broken.exact is None
    assert found["leaky"].verdict == "refuted"


def test_numbers_have_twelve_digits_and_no_nan_is_written() -> None:
    given = (math.inf, -math.inf, 1 / 3, 0.0, 1e-300, 123456789012345.0)
    shown = ["inf", "-inf", 0.333333333333, 0.0, 1e-300, 123456789012000.0]
    assert list(map(number, given)) == shown
    with pytest.raises(ValueError, match="Out of range float"):
        dumps({"x": math.nan})


def test_every_number_is_rounded_outwards() -> None:
    """Thirds have no twelve digits: recorded bounds lie outside the ones that were found."""
    target = target_of(WithWorstCase(table=((2 / 3, 1 / 3), (1 / 7, 6 / 7))))
    for mode in ("exact", "monte-carlo"):
        (result,) = assay([target], None, Settings(mode=mode, budget=500, executor="inline"))
        (entry,) = make_record(RUN, [result])["results"]
        assert result.evidence is not None
        assert entry["lower"] <= result.lower
        assert float(entry["upper"]) >= result.upper
        assert float(entry["detectable"]) >= result.detectable
        for cell, found in zip(entry["per_query"], result.evidence.cells, strict=True):
            assert cell["lower"] <= found.lower.value
            assert float(cell["upper"]) >= found.upper.value
        if result.exact is not None:
            value, error = entry["exact"], entry["error"]
            assert value - error <= result.lower <= result.upper <= value + error
            assert value != result.exact


def test_reading_what_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    for text, message in (
        ("{", "is not valid JSON"),
        ("[1]", "must be a file of schema"),
        ('{"schema": "dpassay/record/2"}', "of a later dpassay; update yours"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInput, match=message):
            RUNS.read(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        RUNS.read(tmp_path / "none.json")
