"""Mechanisms that take features and classes, on records of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, InvalidInput, Mechanism, Tables, audit
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.rows.rows import Rows
from dpassay.targets.adapter import Encoding, Freed

pytestmark = pytest.mark.usefixtures("few_pairs")

RNG = np.random.default_rng(3)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 30),
        "seen": pd.to_datetime("2026-01-01") + pd.to_timedelta(RNG.integers(0, 9, 30), unit="D"),
        "city": RNG.choice(np.array(["Bern", "Rome", None], dtype=object), 30),
        "income": RNG.choice(["low", "high"], 30),
    }
)


def test_records_become_features_and_classes() -> None:
    rows = Tables(PEOPLE, label="income").rows
    encoding = Encoding(rows.form)
    found = encoding.labelled(rows)
    days = (PEOPLE["seen"] - pd.Timestamp("1970-01-01")).dt.days
    assert (found.X[:, 0] == PEOPLE["age"]).all()
    assert (found.X[:, 1] == days).all()
    for column, city in zip(found.X[:, 2:].T, (None, "Bern", "Rome"), strict=True):
        known = PEOPLE["city"].isna() if city is None else PEOPLE["city"] == city
        assert (column == known).all()
    assert (found.y == (PEOPLE["income"] == "low")).all()
    few = encoding.labelled(Rows(values=rows.values[5:8], form=rows.form))
    assert (found.X[5:8] == few.X).all(), "the code of a record does not depend on the others"
    assert encoding.words == (
        "age: as it is; seen: days since 1970; city: a column for each value; classes of income: "
        "['high', 'low']"
    )


@pytest.mark.parametrize(
    ("data", "label", "words"),
    [
        (PEOPLE, None, "label is missing: the mechanism takes labelled records"),
        (PEOPLE, "seen", "label = 'seen': must be values or classes 0, 1"),
        (PEOPLE, "city", "label = 'city': must be values or classes 0, 1, ..., none of them miss"),
        (
            PEOPLE.assign(age=PEOPLE["age"].where(PEOPLE.index > 3)),
            "income",
            "column 'age': a number may be missing; .* data.fillna",
        ),
    ],
)
def test_what_cannot_be_coded_is_said_before_anything_runs(
    data: pd.DataFrame, label: str | None, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        audit(SoftMajority(), data=Tables(data, label=label, fixed=True), budget=200)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "refuted"), [(1.0, False), (0.1, True)])
def test_a_mechanism_of_the_catalogue_is_audited_on_a_table(epsilon: float, refuted: bool) -> None:
    data, claim = Tables(PEOPLE, label="income", fixed=True), DP(epsilon=epsilon)
    found = audit(
        SoftMajority(r=3, learner="tree"), claim=claim, data=data, budget=1000, executor="inline"
    )
    assert found.verdict != "error", found.outcome.detail
    assert (found.verdict == "refuted") == refuted, found.outcome.reason
    assert found.evidence is not None
    assert "coded: age: as it is; seen: days since 1970" in found.evidence.searched["space"]


class Counts(Mechanism):
    """One's own mechanism gets the data in the form in which they were given."""

    claims = (DP(epsilon=1.0),)

    def prepare(self, data: Any) -> int:
        assert isinstance(data, pd.DataFrame)
        assert list(data.columns) == list(PEOPLE.columns)
        return int((data["income"] == "low").sum())

    def sample(self, state: int, queries: Any, size: int, rng: Any) -> Any:
        assert isinstance(queries, pd.DataFrame)
        assert list(queries.columns) == ["age", "seen", "city"]
        return state + rng.laplace(size=(size, len(queries)))


def test_a_mechanism_of_ones_own_gets_a_data_frame() -> None:
    space = Tables(PEOPLE, label="income", relation="add-remove")
    mechanism = Freed(Counts())
    state = mechanism.prepare(space.rows)
    asked = space.rows.values[:2, :3]
    assert mechanism.sample(state, asked, 5, np.random.default_rng(0)).shape == (5, 2)


@pytest.mark.slow
def test_a_mechanism_of_ones_own_is_audited_on_a_table() -> None:
    space = Tables(PEOPLE, label="income", relation="add-remove")
    for epsilon, refuted in ((1.0, False), (0.25, True)):
        claim = DP(epsilon=epsilon)
        found = audit(Counts(), claim=claim, data=space, budget=1000, executor="inline")
        assert (found.verdict == "refuted") == refuted
        assert found.verdict != "error", found.outcome.detail
