"""What a report says of parameters that were left out."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from dpassay.record.schemas import read_schema
from tests.reports.sentences.told import computed_record, only, told


def test_what_is_left_out_is_not_null(make: Any) -> None:
    result = make.computed("a", "not refuted", parameters={"h": None, "r": 3})
    assert told(only(make.record(result)), "Mechanism") == "a; h = not given, r = 3."


def test_what_is_left_out_is_shown_as_it_is_in_force(make: Any) -> None:
    parameters = {"h": None, "edges": "", "public": "", "r": 3}
    result = make.computed(
        "a", "not refuted", parameters=parameters, derived={"h": 0.1, "edges": "0.0;1.0"}
    )
    record = make.record(result)
    jsonschema.validate(record, read_schema("record"))
    assert (
        told(only(record), "Mechanism")
        == "a; edges = 0.0;1.0 (derived), h = 0.1 (derived), public = not given, r = 3."
    )


@pytest.mark.parametrize(
    ("name", "derived"),
    [
        ("stable-laplace", {"predictor": "the mean of 25 classifiers", "gamma": 0.04}),
        ("erm-laplace", {"lambda_": 0.282842712475}),
        ("soft-majority", None),
    ],
)
def test_the_record_has_what_was_derived(name: str, derived: dict[str, Any] | None) -> None:
    record = computed_record(name)
    jsonschema.validate(record, read_schema("record"))
    assert [result.get("derived") for result in record["results"]] == [derived] * len(
        record["results"]
    )
