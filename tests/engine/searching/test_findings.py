"""What is certain is named, is no factor, and hides nothing else; each with an honest twin."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, Scalars, Tables, audit
from dpassay.engine.result import Result
from dpassay.record.replay import replay
from dpassay.reports.run.lead import lead
from dpassay.reports.run.page.html import to_html
from tests.engine.recorded import recorded

pytestmark = pytest.mark.usefixtures("few_pairs")
TABLE = pd.DataFrame({"x": np.linspace(0, 1, 5)})
NUMBERS = Scalars(0, 1, size=4)
Rng = np.random.Generator


def hunted(function: Any, data: Any, **more: Any) -> Result:
    relation = "add-remove" if isinstance(data, pd.DataFrame) else None
    settings: dict[str, Any] = {"budget": 2000, "confidence": 0.99, "executor": "inline"}
    settings |= {"claim": DP(epsilon=1.0, relation=relation or "replace-one")}
    return audit(function, data=data, relation=relation, stop_early=False, **settings | more)


def noisy_sum(values: Any, size: int, rng: Rng, scale: float = 0.5) -> Any:
    return np.sum(values) + rng.laplace(scale=scale, size=size)


def empty_raises(data: Any, size: int, rng: Rng) -> Any:
    """Sums noisily, with too little noise; a mean of no records has none to divide by."""
    return noisy_sum(data["x"], size, rng) + 0 / min(len(data), 1)


def empty_is_noise(data: Any, size: int, rng: Rng) -> Any:
    return noisy_sum(data["x"], size, rng)


def maximum_beside(data: Any, size: int, rng: Rng) -> Any:
    return np.stack([np.full(size, data.max()), noisy_sum(data, size, rng)], axis=1)


def noise_beside(data: Any, size: int, rng: Rng) -> Any:
    return np.stack([rng.laplace(size=size), noisy_sum(data, size, rng)], axis=1)


CERTAIN = {
    "exception": (
        empty_raises,
        TABLE,
        "an empty table is answered by an exception, one record more is not",
    ),
    "raw value": (maximum_beside, NUMBERS, "answer 1 is"),
}
TWINS = {"empty": (empty_is_noise, TABLE), "raw value": (noise_beside, NUMBERS)}


@pytest.mark.parametrize("name", CERTAIN)
def test_certainty_is_named_and_the_factor_beside_it_is_found(name: str) -> None:
    function, data, told = CERTAIN[name]
    result = hunted(function, data)
    first, *_, last = result.findings
    assert told in first.certain
    assert last.certain == ""
    assert 1.0 < last.lower < 2.0  # of the noise: 2 nats are its true loss
    alphas = [each.evidence.worst.lower.alpha for each in result.findings if each.evidence]
    assert sum(alphas) == pytest.approx(0.01)
    record = recorded([result], 0.99)
    one, *_, other = record["results"][0]["findings"]
    assert one["certain"] == first.certain
    assert "times" not in lead(record)
    page = to_html(record)
    for line in (lead(record), "Also, with a loss of at least 1.", "no finite ε holds if"):
        assert line in page
    assert "claim what is true" not in page
    printed = " ".join(repr(result).split())
    assert f"certain: {first.certain}" in printed
    assert "grows" not in printed
    assert "also: loss at least 1." in printed
    again = replay(other["witness"], target=result.target)
    assert again.reproduced
    assert again.refuted


def standardised(data: Any, size: int, rng: Rng) -> Any:
    """Sums clipped scores; the scaler has seen the data, and there is none of no records."""
    x = data["x"].to_numpy()
    z = (x - x.mean()) / (x.std() or 1.0) + 0 / min(len(x), 1)
    return noisy_sum(z.clip(-2, 2), size, rng, scale=2.0)


def test_a_leak_beside_a_certainty_is_told_to_grow_with_the_records() -> None:
    result = hunted(standardised, pd.DataFrame({"x": np.linspace(0, 1, 100)}), budget=2000)
    first, last = result.findings
    assert first.certain == CERTAIN["exception"][2]
    assert last.certain == ""
    assert last.lower > 2.0  # √n / 2 at n equal records and one more
    assert "The loss grows with the number of records: about" in str(result)


@pytest.mark.parametrize("name", TWINS)
def test_a_factor_is_no_certainty(name: str) -> None:
    function, data = TWINS[name]
    result = hunted(function, data)
    assert result.findings == (result,)
    assert result.certain == ""
    record = recorded([result], 0.99)
    assert "findings" not in record["results"][0]
    assert "times what it claims" in lead(record)
    assert "claim what is true" in to_html(record)
    kept = hunted(function, data, claim=DP(epsilon=2.0, relation=result.claim.relation))
    assert kept.findings == ()


KEPT = np.random.default_rng(5)


def ignores(data: Any, size: int, rng: Rng) -> Any:
    return noisy_sum([0.2, 0.9], size, rng)


def ignores_with_own_coins(data: Any) -> Any:
    return KEPT.laplace()


def hardly_moves(data: Any, size: int, rng: Rng) -> Any:
    return noisy_sum(data, size, rng, scale=1000.0)


def correct(data: Any, size: int, rng: Rng) -> Any:
    return noisy_sum(data, size, rng, scale=1.0)


def counts(data: Any, size: int, rng: Rng) -> Any:
    return len(data) + rng.laplace(size=size)


FITTED: dict[int, float] = {}


def keeps_its_fit(data: Any, size: int, rng: Rng) -> Any:
    return FITTED.setdefault(len(data), float(np.sum(data))) + rng.laplace(size=size)


def pages(function: Any, **how: Any) -> tuple[str, str]:
    """What is printed of an audit that refutes nothing, and its page."""
    result = hunted(function, **{"data": NUMBERS, "budget": 200} | how)
    assert result.verdict != "refuted"
    return " ".join(repr(result).split()), to_html(recorded([result], 0.99)).replace("&#39;", "'")


RAW = [0.2, 0.9, 0.4]
BY_ROWS = {"data": TABLE, "claim": DP(epsilon=1.0, relation="add-remove")}


@cache
def twin(function: Any) -> tuple[str, str]:
    return pages(function, **(BY_ROWS if function is counts else {}))


NONE = "The function may ignore its data"
OTHER = "The claim is about 'replace-one', and 'add-remove' was audited"
MISUSED: dict[str, tuple[Any, dict[str, Any], Any, str]] = {
    "no data": (ignores, {}, hardly_moves, NONE),
    "no data, own coins": (ignores_with_own_coins, {"executor": "local"}, hardly_moves, NONE),
    "a fit": (keeps_its_fit, {}, hardly_moves, "No change of a record moves an answer"),
    "numbers as labels": (correct, {"output": "label"}, correct, "Answers were compared whole"),
    "limits": (correct, {"data": RAW}, correct, "The limits"),
    "relation": (counts, BY_ROWS | {"claim": DP(epsilon=1.0)}, counts, OTHER),
    "time": (correct, {"search_seconds": 1e-9}, correct, "ended the search in round 1 of 3"),
}


@pytest.mark.parametrize("name", MISUSED)
def test_what_blinds_an_audit_is_said_in_a_line(name: str) -> None:
    function, how, honest, told = MISUSED[name]
    assert all(told in page for page in pages(function, **how))
    assert not any(told in page for page in twin(honest))
    if name == "limits":  # the same values, but the limits are declared
        declared = pages(correct, data=Scalars(0, 1, values=RAW))
        assert not any(told in page for page in declared)


def averaged(data: Any, size: int, rng: Rng) -> Any:
    return np.mean(data) + rng.laplace(scale=1 / 8, size=size)  # enough for eight records


@pytest.mark.parametrize(
    ("fixed", "verdict", "told"),
    [
        (True, "not refuted", "The claim was audited for 8 records only."),
        (False, "refuted", "if the claim is about 8 only, say so by Tables(..., fixed=True)."),
    ],
)
def test_a_claim_about_so_many_records_is_said_to_be_one(
    fixed: bool, verdict: str, told: str
) -> None:
    result = hunted(averaged, Tables([True, False] * 4, fixed=fixed), budget=4000)
    assert result.verdict == verdict
    assert told in " ".join(repr(result).split())
