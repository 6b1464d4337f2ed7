"""What a report says of a claim: its unit, its numbers, and what it is not about."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.view import make_view
from dpassay.reports.shared.numbers import promise
from dpassay.targets.resolve import resolve
from tests.reports.sentences.told import computed_record, of_score, only, told


def test_several_answers_were_not_looked_at(make: Any) -> None:
    """The interface takes what answers 0 or 1 and claims a loss.

    Its batch alone shares coins between answers.
    """
    known = make.computed("a", "not refuted")
    known["witness"]["target"] = "soft-majority"
    pointer = (
        "To audit several answers together: dpassay run interface -p base=soft-majority -p "
        "epsilon=1.0 -p adv"
    )
    said = told(only(make.record(known)), "Claim")
    assert "what several answers reveal together was not looked at." in said
    assert pointer in said
    assert "same noise" not in said
    others = [
        make.of_kind(make.computed("a", "not refuted"), "Stability", 0.5),
        make.computed("a", "not refuted"),
    ]
    others += [make.computed("a", "not refuted")]
    others[1]["witness"]["labels"], others[2]["witness"]["target"] = [0, 1, 2], "module:object"
    for each in others:
        assert "dpassay run" not in told(only(make.record(each)), "Claim")


@pytest.mark.parametrize(
    "base", ["soft-majority", "noisy-average", "pate", "private-knn", "subsampled", "label-flip"]
)
def test_the_interface_takes_what_is_sent_there(base: str) -> None:
    assert resolve("interface", {"base": base, "adversary": "batch"}).labels[0] == 0


@pytest.mark.parametrize(
    "name", ["soft-majority", "label-flip-above-one-half", "subsampled", "pate", "private-knn"]
)
def test_the_command_that_is_named_asks_the_algorithm_of_the_claim(name: str) -> None:
    """It left the interface's own epsilon, 1, in the place of .75.

    And base=NAME,epsilon=.75 is refused.
    """
    record = computed_record(name)
    parameters = record["results"][0]["parameters"]
    said = next(
        told(each, "Claim")
        for each in make_view(record).results
        if "interface" in told(each, "Claim")
    )
    given = dict(
        part.split("=", 1)
        for part in re.findall(r"-p (\S+)", said.split("interface", 1)[1].split("(")[0])
    )
    assert given.pop("base") == name + (f",n={parameters['n']}" if "n" in parameters else "")
    assert given.pop("adversary") == "batch"
    assert {key: float(text) for key, text in given.items()} == {
        key: parameters[key] for key in ("epsilon",) if key in parameters
    }


@pytest.mark.parametrize(("epsilon", "shown"), [(1.0, "e^1 ≈ 2.71828 "), (0.0, "e^0 ≈ 1 ")])
def test_a_rounded_factor_is_no_equality(make: Any, epsilon: float, shown: str) -> None:
    result = make.computed("a", "not refuted")
    result["claim"] |= {"epsilon": epsilon, "delta": 0.001}
    assert f"any event by at most {shown}and adds at most δ = 0.001 to it." in told(
        only(make.record(result)), "Claim"
    )


def test_n_is_the_number_of_training_records(make: Any) -> None:
    said = told(only(make.record(of_score(make, 0.005, 0.005))), "Claim")
    assert "1 divided by the number of training records" in said
    assert "1.092103 divided by the number of validation records" in said


def test_no_promise_is_written_smaller_than_it_is() -> None:
    written = {
        0.0322141234: "0.032215",
        1.092103: "1.092103",
        1051.6312345: "1051.631235",
        0.25: "0.25",
        1 / 3: "0.333334",
    }
    assert {number: promise(number) for number in written} == written
    assert promise(0.1 + 0.2) == "0.3"


def test_an_error_is_promised_on_datasets_of_the_size_that_is_taken(make: Any) -> None:
    result = make.computed("a", "not refuted", 0.1)
    result["claim"] |= {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.5}
    result["fixed_n"] = 398
    assert "on every dataset that the mechanism takes (n = 398). S" in told(
        only(make.record(result)), "Claim"
    )


def test_one_prediction_of_a_number_is_one_too(make: Any) -> None:
    result = make.computed("a", "not refuted")
    result["claim"]["unit"] = "whether the number of a single prediction is at least 0.2"
    result["witness"]["target"] = "psgd-in-random-order"
    said = told(only(make.record(result)), "Claim")
    assert "what several answers reveal together was not looked at." in said
    assert "dpassay run" not in said


def test_the_command_for_several_answers_runs_on_the_same_data() -> None:
    """Without n the command printed beside `relabelled` ended in 'n = 400.

    Must be the number of records, 398'.
    """
    record = computed_record("relabelled", ("n", 20), ("n_prime", 3), ("r", 4))
    (base,) = set(re.findall(r"interface -p base=(\S+) .*?-p adversary=batch", to_markdown(record)))
    mechanism: Any = resolve("interface", {"base": base, "adversary": "batch"}).mechanism
    assert mechanism.predictor.n == 20


def test_an_error_is_the_one_that_the_unit_names(make: Any) -> None:
    result = make.computed("a", "not refuted", 0.1)
    unit = "empirical error beyond that of the best threshold"
    result["claim"] |= {
        "kind": "Accuracy",
        "epsilon": None,
        "delta": None,
        "bound": 0.5,
        "unit": unit,
    }
    result["witness"]["event"] = []
    assert told(only(make.record(result)), "Claim").count(f"The error is the {unit}.") == 1


@pytest.mark.parametrize("excess", [False, True])
def test_an_error_need_not_be_an_excess(make: Any, excess: bool) -> None:
    result = make.computed("error", "refuted", 0.25)
    more = {"kind": "Accuracy", "epsilon": None, "bound": 0.125, "excess": excess}
    result["claim"] |= more | {"unit": "share of wrong labels"}
    result["witness"]["event"] = []
    for each in result["per_query"]:
        each["event"] = []
    view = make_view(make.record(result))
    assert "The unit of the claim says which error is meant." in view.summary.caption
    assert "for an error that error (see the unit)" in view.findings.caption
    assert "excess" not in view.summary.caption + view.findings.caption
