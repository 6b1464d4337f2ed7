"""`output=`: what one run returns is declared, kept in record and witness, and held to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpassay import Answers, InvalidInput
from dpassay.mechanism import Mechanism
from dpassay.record.replay import replay
from dpassay.record.schemas import fault
from dpassay.record.witness import make_witness
from dpassay.reports.run.markdown import to_markdown
from tests.engine.recorded import evidence_of, hunted, recorded

pytestmark = pytest.mark.usefixtures("few_pairs")


def account(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Ten account numbers without an order; one of them is given away by a positive answer."""
    numbers = np.array([907, 12, 655, 401, 833, 278, 540, 166, 999, 721])
    p = np.full(10, 0.1)
    p[3] = 0.3 if data[0] > 0 else 0.01
    return rng.choice(numbers, p=p / p.sum(), size=size)


def verdicts(data: Any, rng: np.random.Generator) -> str:
    return "yes" if data[0] + rng.laplace(scale=0.3) > 0.5 else "no"


@pytest.mark.parametrize(
    ("function", "output", "words"),
    [
        (account, "label", "any value"),
        (account, "number", "a number"),
        (verdicts, "text", "a text"),
        (verdicts, ["no", "yes", "never"], "one of 'no', 'yes', 'never'"),
    ],
)
def test_record_and_witness_keep_the_declaration_and_replay(
    function: Any, output: Any, words: str
) -> None:
    result = hunted(function, Answers(1), output=output)
    assert result.verdict == "refuted"
    record = recorded([result], 0.99)
    assert record["results"][0]["searched"]["output"] == output
    assert f"A run returns {words}, as declared." in to_markdown(record).replace("\\", "")
    witness = json.loads(json.dumps(make_witness(result)))
    assert not fault(witness, "witness")
    assert witness["free"]["output"] == output
    assert replay(witness, target=result.target).reproduced


def test_a_label_has_no_thresholds() -> None:
    event: Any = evidence_of(hunted(account, Answers(1), output="label")).worst.event
    assert event.words == "the answer is 401"
    assert [look.kind for look in event.encoder.looks] == ["value"]


def test_the_process_of_its_own_knows_the_declaration() -> None:
    how: dict[str, Any] = {"output": "label"}
    here, apart = (hunted(account, Answers(1), executor=who, **how) for who in ("inline", None))
    assert make_witness(apart) == make_witness(here)


def test_a_value_that_was_not_declared_ends_the_audit_however_rare() -> None:
    """A pair on which the function fails is passed over; not one that it answers unexpectedly."""

    def rare(data: Any, rng: np.random.Generator) -> str:
        if data[0] > 0 and rng.random() < 0.02:
            return "out of range"
        return "yes" if rng.random() < 0.5 else "no"

    result = hunted(rare, Answers(1), output=["yes", "no"])
    assert result.verdict == "error"
    assert result.outcome.reason.startswith("output = ['yes', 'no']: sample on ")
    assert "returned 'out of range' in run " in result.outcome.reason
    assert "; must be one of 'yes', 'no'" in result.outcome.reason


@pytest.mark.parametrize("executor", ["inline", None])
def test_what_only_a_later_round_shows_is_an_error_too(executor: Any) -> None:
    def later(data: Any, size: int, rng: np.random.Generator) -> Any:
        found = rng.random(size)
        return found if size <= 200 else np.append(found[:-1], np.nan).astype(str)

    result = hunted(later, Answers(1), output="number", executor=executor)
    assert result.verdict == "error"
    assert result.outcome.reason.startswith("output = 'number': sample on ")


class Own(Mechanism):
    """A mechanism that answers codes."""

    output = "not a declaration"

    def sample(self, state: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.integers(5, 7, size=(size, len(queries)))


def test_answers_of_a_mechanism_are_declared_too() -> None:
    people = np.arange(6.0)[:, None], [0, 1, 0, 1, 1, 0]
    assert hunted(Own(), people).verdict != "error"
    assert hunted(Own(), people, output=[5, 6]).verdict != "error"
    refused = hunted(Own(), people, output=[5, 7])
    assert "returned 6 in run" in refused.outcome.reason


def test_a_declaration_needs_data_and_must_be_one() -> None:
    with pytest.raises(InvalidInput, match=r"^together, bits, output: go with data"):
        hunted(verdicts, None, output="text")
    with pytest.raises(InvalidInput, match=r"^output = 'texts': must be .*; did you mean 'text'"):
        hunted(verdicts, Answers(1), output="texts")
