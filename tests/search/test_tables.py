"""Tables: what is proposed keeps to the relation, and audits of records of any kind find leaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, InvalidInput, Tables, audit
from dpassay.engine.result import Result
from dpassay.pairs import Edit
from dpassay.record.replay import replay
from dpassay.record.schemas import fault
from dpassay.record.witness import make_witness
from dpassay.record.witness_words import in_words
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from dpassay.rows.columns import MISSING
from dpassay.rows.rows import Rows
from dpassay.search.spaces import Records, Scalars, space_of
from tests.engine.recorded import recorded

pytestmark = pytest.mark.usefixtures("few_pairs")

PEOPLE = pd.DataFrame(
    {
        "age": [20, 35, 50, 64, 70, 31],
        "city": ["a", "b", None, "a", "b", "a"],
        "income": ["low", "mid", "high", "low", "mid", "low"],
        "user": [1, 1, 2, 2, 3, 3],
    }
)
BUDGET = 1000


def same_users(one: Rows, other: Rows) -> int:
    """Count users whose rows differ."""
    users = set(one.values[:, 3].tolist()) | set(other.values[:, 3].tolist())
    return sum(
        one.values[one.values[:, 3] == user].tolist()
        != other.values[other.values[:, 3] == user].tolist()
        for user in users
    )


def rows_apart(one: Rows, other: Rows) -> int:
    """In how many places datasets of one size differ."""
    assert len(one) == len(other)
    return int((one.values != other.values).any(axis=1).sum())


def one_less(one: Rows, other: Rows) -> bool:
    """Whether the second is the first without one record."""
    return any(
        np.array_equal(np.delete(one.values, k, axis=0), other.values) for k in range(len(one))
    )


KEEPS: dict[str, Callable[[Rows, Rows], Any]] = {
    "replace-one": lambda one, other: rows_apart(one, other) == 1,
    "replace-3": lambda one, other: 1 <= rows_apart(one, other) <= 3,
    "add-remove": one_less,
    "zero-out": lambda one, other: (
        rows_apart(one, other) == 1
        and (other.values[(one.values != other.values).any(axis=1)] == MISSING).all()
    ),
    "replace-user": lambda one, other: (
        same_users(one, other) == 1 and (one.values[:, 3] == other.values[:, 3]).all()
    ),
    "add-remove-user": lambda one, other: same_users(one, other) == 1,
}


def space(relation: str, **more: Any) -> Tables:
    group = "user" if relation.endswith("user") else None
    return Tables(PEOPLE, label="income", relation=relation, group=group, **more)


@pytest.mark.parametrize("relation", KEEPS)
def test_proposals_keep_to_the_relation_and_none_comes_twice(relation: str) -> None:
    found = space(relation)
    first = found.first(np.random.default_rng(1), 300)
    assert len(first) == 300
    assert len({each.family for each in first}) > 5
    rng = np.random.default_rng(2)
    more = [*found.more(first[:8], rng, 60), *found.more(first[-8:], rng, 60)]
    smaller = [each for base in first[::30] for each in found.smaller(base)]
    assert len(smaller) > 50
    assert len({each.identity for each in first}) == len(first)
    for each in (*first, *more, *smaller):
        base, neighbour = each.base, each.neighbour
        assert isinstance(each.change, Edit)
        assert isinstance(base, Rows)
        assert isinstance(neighbour, Rows)
        assert KEEPS[relation](base, neighbour), (each.family, str(each.change))
        assert len(base) <= 2 * len(PEOPLE)
        assert base.form.holds(base.values)
        assert each.pairs.relation == relation
        assert each.queries.shape[1] == found.columns == len(base.form.features)
    again = space(relation).first(np.random.default_rng(1), 300)
    assert [each.identity for each in again] == [each.identity for each in first]


def test_a_record_with_a_date_may_be_zeroed_out() -> None:
    dated = PEOPLE.assign(joined=pd.date_range("2020", periods=len(PEOPLE)))
    assert len(Tables(dated, relation="zero-out").first(np.random.default_rng(0), 30)) == 30


def test_shrinking_ends_at_something_simple() -> None:
    found = space("replace-one")
    big = next(
        each for each in found.first(np.random.default_rng(0), 200) if len(each.base) == len(PEOPLE)
    )
    steps = 0
    while (smaller := next(found.smaller(big), None)) is not None:
        big, steps = smaller, steps + 1
        assert steps < 100
    assert len(big.base) == 1
    assert len(big.queries) == 1


def test_fixed_sizes_and_limits_of_columns() -> None:
    found = space("replace-one", fixed=True, limits={"age": (0, 99)}, values={"city": ["c"]})
    first = found.first(np.random.default_rng(0), 256)
    assert {len(each.base) for each in first} == {6}
    ages = {cell for each in first for cell in each.neighbour.arrays[0][:, 0].tolist()}
    assert {0.0, 99.0} <= ages
    assert {len(each.base) for each in space("add-remove", fixed=True).first(
        np.random.default_rng(0), 64
    )} == {6}  # fmt: skip


def test_what_is_meant_by_data() -> None:
    assert isinstance(space_of([1.0, 2.0]), Scalars)
    assert isinstance(space_of((np.eye(2), [0, 1])), Records)
    for data in ([1.0, None], ["a", "b"], PEOPLE, (np.eye(2), ["a", "b"]), (np.eye(2), [0.5, 1])):
        assert isinstance(space_of(data), Tables)
    assert isinstance(space_of([1.0, 2.0], relation="add-remove"), Tables)
    assert isinstance(space_of(PEOPLE["age"]), Scalars)
    assert isinstance(space_of(PEOPLE["city"]), Tables)
    assert space_of((np.eye(2), [0, 1]), relation="add-remove").relation == "add-remove"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"relation": "replace-user"}, "group is missing: relation 'replace-user' needs it"),
        ({"group": "user"}, "group: goes with relation replace-user or add-remove-user"),
        ({"relation": "own"}, "neighbour is missing"),
        ({"relation": "answers-1"}, "is about answers; say Answers"),
        ({"relation": "remove"}, "relation = 'remove': must be 'replace-one'"),
        ({"zero": [1]}, "zero: goes with relation 'zero-out'"),
        ({"label": "wage"}, "label = 'wage': the data have no such column"),
        ({"asked": 0}, "asked = 0"),
    ],
)
def test_arguments_that_do_not_go_together(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Tables(PEOPLE, **more)
    assert message in str(refusal.value)


def test_arguments_about_data_need_them() -> None:
    with pytest.raises(InvalidInput, match="label = 'x': must be left out without data"):
        audit(bins, claim=DP(epsilon=1.0), label="x")
    with pytest.raises(InvalidInput, match=r"relation: say it in Tables\(...\) itself"):
        audit(bins, claim=DP(epsilon=1.0), data=Tables(PEOPLE), relation="add-remove")
    with pytest.raises(InvalidInput, match=r"claim = 1.0: .* did you mean DP\(epsilon=1.0\)"):
        audit(bins, claim=1.0, data=PEOPLE)  # type: ignore[arg-type]


def counts(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Noisy counts of three incomes: a record that is added or removed moves one by 1."""
    seen = [(data["income"] == each).sum() for each in ("low", "mid", "high")]
    return np.array(seen) + rng.laplace(size=(size, 3))


def bins(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Noisy counts of the incomes that occur: which these are is given away."""
    seen = data["income"].value_counts()
    noisy = (seen.to_numpy() + rng.laplace(size=(size, len(seen)))).round()
    return [dict(zip(seen.index, each, strict=True)) for each in noisy.tolist()]


def votes(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """Say the income of a city by a vote, without enough noise."""
    columns = []
    for city in queries["city"]:
        here = data if not isinstance(city, str) else data[data["city"] == city]
        high = float((here["income"] == "high").mean()) if len(here) else 0.5
        columns.append(np.where(rng.random(size) < 0.1 + 0.8 * high, "high", "other"))
    return np.stack(columns, axis=1)


def hunted(function: Any, data: Any = PEOPLE, epsilon: float = 1.0, **more: Any) -> Result:
    settings: dict[str, Any] = {"budget": BUDGET, "confidence": 0.99, "executor": "inline"} | more
    return audit(function, claim=DP(epsilon=epsilon), data=data, **settings)


@pytest.mark.slow
def test_the_relation_decides() -> None:
    assert hunted(counts, relation="add-remove", label="income").verdict != "refuted"
    found = hunted(counts, relation="replace-one", label="income")
    assert found.verdict == "refuted"
    assert found.claim.relation == "replace-one"
    assert hunted(counts, relation="add-remove-user", group="user").verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_values_that_occur_are_given_away(relation: str) -> None:
    result = hunted(bins, label="income", relation=relation, budget=500)
    assert result.verdict == "refuted"
    assert "income " in in_words(result)


@pytest.mark.slow
def test_a_predictor_is_asked_at_records_without_labels() -> None:
    result = hunted(votes, label="income")
    assert result.verdict == "refuted"
    assert "the answer is" in in_words(result)
    assert "city" in in_words(result)


def test_neighbours_of_ones_own() -> None:
    def shifted(data: Any) -> Any:
        return data.assign(age=np.minimum(data["age"] + 1, 70))

    def mean(data: Any, size: int, rng: np.random.Generator) -> Any:
        return data["age"].sum() + rng.laplace(scale=1.0, size=size)

    found = hunted(mean, Tables(PEOPLE, relation="own", neighbour=shifted))
    assert found.verdict == "refuted"
    assert found.claim.relation == "own"


def test_lists_of_anything() -> None:
    def popular(data: Any, size: int, rng: np.random.Generator) -> Any:
        assert isinstance(data, list)
        seen = np.array([data.count(each) for each in ("x", "y", None)])
        return (seen + rng.laplace(scale=0.5, size=(size, 3))).argmax(axis=1)

    assert hunted(popular, ["x", "y", None, "x"]).verdict == "refuted"


def test_regression() -> None:
    def mean(data: Any, size: int, rng: np.random.Generator) -> Any:
        return data.y.mean() + rng.laplace(scale=1.0, size=size)

    targets = np.array([-10.0, 3.5, 8.0, 10.0])
    assert hunted(mean, (np.eye(4), targets)).verdict == "refuted"


@pytest.mark.slow
def test_a_witness_replays_and_pages_name_the_record() -> None:
    result = hunted(votes, label="income")
    witness = json.loads(json.dumps(make_witness(result)))
    assert not fault(witness, "witness")
    assert witness["data"]["kind"] == "rows"
    again = replay(witness, target=result.target)
    assert again.reproduced
    assert again.refuted
    record = recorded([result], 0.99)
    for page in (to_markdown(record), to_html(record)):
        assert "replaced by" in page
        assert "1.79769e" not in page
