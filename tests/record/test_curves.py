"""A record keeps few profiles, and every report of it says what it said with all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import GDP
from dpassay.engine.result import Result
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import replace_one
from dpassay.record import run_record
from dpassay.record.curves import WITNESSED, with_few_profiles
from dpassay.record.files import LAID_OUT, dumps
from dpassay.record.run_record import make_record
from dpassay.reports import FORMATS
from dpassay.stats.profile import grid_for
from tests.core.toys import TableMechanism, WithWorstCase, flip_group

Record = dict[str, Any]
RUN = {
    "commit": None, "seed": 0, "confidence": 0.999, "profile": "default", "budget": 400,
    "command": "dpassay run", "catalogue": False, "complete": True, "data": None,
}  # fmt: skip
FEW: dict[str, Any] = {"budget": 400, "executor": "inline"}


def audited(mode: Any = "exact", epsilons: tuple[float, ...] = (0.5, 2.0)) -> list[Result]:
    X = np.arange(5.0)[:, None]
    pairs = replace_one(X, (X[:, 0] > 1).astype(int), neighbours="flip")
    votes = [SoftMajority(epsilon=epsilon, r=4, learner="majority") for epsilon in epsilons]
    return [audit(each, pairs=pairs, queries=X, mode=mode, **FEW) for each in votes]


def of_own_worst_cases() -> list[Result]:
    """The claimed delta covers all that this one leaks: only a profile shows it."""
    return [audit(WithWorstCase(table=((0.5, 0.5), (0.45, 0.55)), delta=0.1), mode="exact", **FEW)]


def of_mu() -> list[Result]:
    mechanism, group = TableMechanism(table=((0.7, 0.3), (0.4, 0.6))), flip_group(4, 2)
    queries = group.queries.tolist()
    return [audit(mechanism, claim=GDP(mu=1.0), pairs=group.pairs, queries=queries, **FEW)]


def both(results: list[Result], monkeypatch: pytest.MonkeyPatch) -> tuple[Record, Record]:
    """Return the record as it is written, and with all profiles."""
    few = make_record(RUN, results)
    monkeypatch.setattr(run_record, "with_few_profiles", dict)
    return few, make_record(RUN, results)


def pages(record: Record) -> list[str]:
    """Return what is read of a record, but for the record."""
    of_mechanisms = FORMATS["html"].pages
    assert of_mechanisms is not None
    return [
        *(each.render(record) for name, each in FORMATS.items() if name != "json"),
        *of_mechanisms(record).values(),
    ]


def profiles(result: Record) -> int:
    return sum(cell["profile"] is not None for cell in result["per_query"])


@pytest.mark.parametrize(
    "made", [audited, partial(audited, "monte-carlo", (0.5,)), of_own_worst_cases, of_mu]
)
def test_reports_say_what_they_said_with_all_profiles(
    made: Callable[[], list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, full = both(made(), monkeypatch)
    assert pages(few) == pages(full)
    assert "shows nothing" not in str(pages(few))
    if made not in (of_own_worst_cases, of_mu):
        assert {profiles(result) for result in full["results"]} == {7}
        assert all(1 <= profiles(result) <= 4 for result in few["results"])


def curve(level: float) -> Record:
    grid = grid_for(1.0).tolist()
    lower = [level / (1 + epsilon) for epsilon in grid]
    return {"epsilon": grid, "lower": lower, "upper": [min(1.0, 1.01 * each) for each in lower]}


def cell(query: int, leak: float, level: float, **fields: Any) -> Record:
    return {
        "query": query, "group": "data", "direction": "S to S'", "event": [1], "p1": 0.5,
        "p0": 0.1, "lower": leak, "upper": leak, "exact": leak, "profile": curve(level),
    } | fields  # fmt: skip


def kept(result: Record) -> list[int]:
    before = json.dumps(result)
    found = [c["query"] for c in with_few_profiles(result)["per_query"] if c["profile"]]
    assert json.dumps(result) == before
    return found


def test_which_profiles_stay() -> None:
    """Witnesses, the largest leak, the largest delta; the first where several are alike."""
    cells = [
        cell(0, 0.1, 0.2),
        cell(1, 0.9, 0.3),
        cell(2, 0.5, 0.4, p1=0.6),
        cell(3, 0.4, 0.4, event=[0]),
        cell(4, 0.0, 0.9),
        cell(5, 0.0, 0.1, group="own"),
        cell(6, 0.0, 0.0, group="own"),
        cell(7, 0.2, 0.1, profile=None),
        cell(8, 0.2, 0.1, p1=0.7),
    ]
    named = [{name: cells[k][name] for name in WITNESSED} for k in (1, 8)]
    result = {"per_query": cells, "witness": named[0], "clearest": named[1]}
    assert kept(result) == [1, 2, 5, 8]
    assert kept({"per_query": cells, "witness": None}) == [1, 2, 5]
    sampled = cells[3] | {"exact": None, "lower": "inf", "upper": "inf"}
    assert kept({"per_query": [*cells[:3], sampled], "witness": None}) == [2, 3]
    assert kept({"per_query": cells[7:8], "witness": None}) == []
    assert kept({"per_query": cells[4:5], "witness": None}) == [4]


def test_the_claim_has_its_place_in_the_grid() -> None:
    for epsilon in (0.1, 1.0, 2 / 3, 7.3):
        grid = grid_for(epsilon)
        assert grid[(len(grid) - 1) // 3] == epsilon


def test_a_cell_takes_a_line_and_so_do_numbers() -> None:
    """Of 8.4 MB of the record of the catalogue 4.7 were blanks before numbers."""
    record = make_record(RUN, audited())
    text = dumps(record)
    assert json.loads(text) == json.loads(json.dumps(record))
    lines = text.splitlines()
    assert LAID_OUT == 4
    cells = [line for line in lines if line.startswith('        {"alpha": ')]
    assert len(cells) == sum(len(result["per_query"]) for result in record["results"])
    assert len(text) < 1.4 * len(json.dumps(record))
    assert dumps({"b": [1, 2.5, None], "a": {"y": [], "x": {}}, "c": ["s", [True]]}) == (
        '{\n  "a": {\n    "x": {},\n    "y": []\n  },\n  "b": [1, 2.5, null],\n'
        '  "c": [\n    "s",\n    [true]\n  ]\n}\n'
    )
