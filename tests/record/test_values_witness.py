"""Datasets of numbers: audited, written down, read back and replayed like labelled ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, GDP
from dpassay.data import Values
from dpassay.engine.evidence import VALUES
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput
from dpassay.pairs import Pairs, ReplaceValue, Several, Shift
from dpassay.record.files import dumps
from dpassay.record.kinds import RUNS
from dpassay.record.replay import replay
from dpassay.record.run_record import make_record
from dpassay.reports.run.kinds import words_of

NOTHING = np.zeros((1, 1))


def positive(
    data: NDArray[np.float64], queries: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Say whether the sum is above 2, and lie with probability 0.1: the loss is ln 9."""
    truth = data.sum() > 2
    return np.where(rng.random((size, len(queries))) < 0.1, 1 - int(truth), int(truth))


def answers() -> Pairs:
    """Two answers: raised by 1 both, lowered by a half the first."""
    return Pairs(
        base=Values([0.5, 1.5]),  # type: ignore[arg-type]
        changes=(Shift((-0.5, 0.0)), Shift((1.0, 1.0))),
        how="by hand",
        relation="answers-1",
    )


def audited(pairs: Pairs, relation: str, **options: Any) -> Result:
    known: dict[str, Any] = {"budget": 1000, "seed": 3, "executor": "inline"}
    claim = DP(epsilon=1.0, relation=relation)
    return audit(positive, claim=claim, pairs=pairs, queries=NOTHING, **known | options)


def run_record(result: Result) -> dict[str, Any]:
    facts = {
        "seed": 3, "confidence": 0.999, "profile": "default", "command": "test", "budget": 1000,
        "catalogue": False, "complete": True, "data": None, "commit": "",
    }  # fmt: skip
    return make_record(facts, [result])


@pytest.mark.parametrize("executor", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_answers_are_audited_recorded_and_replayed(executor: Any, tmp_path: Path) -> None:
    result = audited(answers(), "answers-1", executor=executor, stop_early=False)
    assert result.verdict == "refuted"
    assert result.lower == pytest.approx(np.log(9), rel=0.2)
    path = tmp_path / "record.json"
    path.write_text(dumps(run_record(result)), encoding="utf-8")
    (entry,) = RUNS.read(path)["results"]
    witness = entry["witness"]
    assert witness["data"]["kind"] == "values"
    assert witness["data"]["values"] == [0.5, 1.5]
    assert witness["change"] == {"kind": "shift", "by": [1.0, 1.0]}
    assert witness["claim"]["relation"] == "answers-1"
    assert witness["words"].startswith("S: (0.5, 1.5) (data). S': all answers raised by 1. ")
    again = replay(witness, trusted=True)
    assert again.reproduced
    assert again.refuted


def test_numbers_of_records_are_audited_and_replayed() -> None:
    base = Values(np.full(5, 0.5))
    several = Several((ReplaceValue(0, 0.5), ReplaceValue(2, 0.25)))
    pairs = Pairs(
        base=base, changes=(ReplaceValue(4, 0.0), several), how="by hand", relation="replace-2"
    )
    result = audited(pairs, "replace-2")
    assert result.verdict == "refuted"
    witness = run_record(result)["results"][0]["witness"]
    assert replay(json.loads(json.dumps(witness)), trusted=True).reproduced


def test_a_witness_whose_numbers_were_changed_is_refused() -> None:
    witness = run_record(audited(answers(), "answers-1"))["results"][0]["witness"]
    data = witness["data"]
    for changed, said in (
        ({"data": data | {"values": [0.5, 1.25]}}, "their SHA-256 differs"),
        ({"data": data | {"values": []}}, "values"),
        ({"change": {"kind": "shift", "by": [1.0]}}, "must be of 2 answers"),
        ({"change": {"kind": "shift", "by": [3.0, 0.0]}}, "must be 'answers-3' or wider"),
    ):
        with pytest.raises(InvalidInput, match=said):
            replay(witness | changed, trusted=True)


def test_pairs_further_apart_than_the_claim_says_are_refused() -> None:
    for relation in ("answers-0.5", "replace-one"):
        with pytest.raises(InvalidInput, match=r"are neighbours under 'answers-1'; must be under"):
            audited(answers(), relation)
    assert audited(answers(), "answers-1.5").verdict == "refuted"


def test_a_mechanism_that_writes_into_its_answers_is_found_out() -> None:
    def writes(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        data.flags.writeable = True
        data[0] = 7.0
        return rng.integers(0, 2, (size, len(queries)))

    pairs, claim = answers(), DP(epsilon=1.0, relation="answers-1")
    known: dict[str, Any] = {"budget": 2000, "executor": "inline"}
    result = audit(writes, claim=claim, pairs=pairs, queries=NOTHING, **known)
    assert result.verdict == "error"
    assert "changed the dataset" in result.outcome.reason
    assert pairs.base.values.tolist() == [0.5, 1.5]


def test_reports_say_what_neighbours_are() -> None:
    for claim, said in (
        (DP(epsilon=1.0, relation="answers-0.5"), "moving each true answer by at most 0.5 multipl"),
        (GDP(mu=1.0, relation="answers-2"), "with each true answer moved by at most 2, the outp"),
        (DP(epsilon=1.0), "replacing one record multiplies"),
    ):
        assert said in words_of(claim.as_json()).sentence("")
    told = words_of(DP(epsilon=1.0, relation="answers-0.5").as_json())
    assert told.name == "1-differential privacy, answers within 0.5"


def test_a_number_that_a_change_puts_in_is_left_out_of_what_is_printed() -> None:
    for number, place in ((-1.5e6, 3), (0.25, 0), (12.0, 11)):
        words = f"S': {ReplaceValue(place, number)}. At"
        assert re.sub(VALUES, "", words) == f"S': record {place} replaced. At"
    kept = "record 3 replaced by record 5 of the pool; answer 1 raised by 1"
    assert re.sub(VALUES, "", kept) == kept
