"""Words may be changed: no comparison depends on them, as searches and pairs have keys."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.settings import ModeWanted
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import (
    NEIGHBOURS,
    FlipLabel,
    Neighbours,
    Pairs,
    change_key,
    replace_one,
    replace_several,
)
from dpassay.record.compare import compare
from dpassay.record.run_record import make_record
from dpassay.stats.methods import METHODS
from dpassay.targets.groups import PairGroup, searched
from tests.core.toys import flip_group

Record = dict[str, Any]


RUN = {"confidence": 0.999, "complete": True}
MECHANISM = SoftMajority(epsilon=1.0, r=4, learner="majority")


def pairs_of(neighbours: Neighbours = "one+flip") -> Pairs:
    pool = Labelled(np.array([[5.0], [6.0]]), np.array([1, 0]))
    return replace_one([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], pool=pool, neighbours=neighbours)


def audited(mode: ModeWanted, neighbours: Neighbours = "one+flip") -> Result:
    known: dict[str, Any] = {"queries": [[0.0]], "budget": 400, "executor": "inline"}
    return audit(MECHANISM, pairs=pairs_of(neighbours), mode=mode, **known)


@pytest.fixture(scope="module")
def new() -> Record:
    """Return the record of a sampled audit and of a computed one."""
    return make_record(RUN, [audited("monte-carlo"), audited("exact")])


def reworded(record: Record) -> Record:
    """Return a record with every sentence that describes what was looked at in other words."""
    other = copy.deepcopy(record)
    for result in other["results"]:
        how = result["searched"]["how"]
        result["searched"]["how"] = [f"in other words ({k})" for k in range(len(how))]
        for cell in result["per_query"]:
            cell["change"] = "in other words"
    return other


def said(one: Record, other: Record) -> list[str]:
    return [change.kind for change in compare(one, other).changes]


def test_other_words_change_nothing(new: Record) -> None:
    other = reworded(new)
    assert said(new, other) == said(other, new) == []
    limits, known = ([each.cells for each in compare(new, one).rise_limits] for one in (other, new))
    assert limits == known
    assert all(limits)


def test_another_search_is_still_seen(new: Record) -> None:
    other = make_record(RUN, [audited("monte-carlo", "one"), audited("exact", "one")])
    assert "blinder" in said(new, other)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_searches_have_keys(neighbours: Neighbours) -> None:
    pairs = pairs_of(neighbours)
    for each in (pairs, replace_several(pairs, 2)):
        group = PairGroup(pairs=each, queries=pairs.base.X, kind="data", reason=each.how)
        assert searched((group,))["keys"] == [group.key]


def test_the_key_of_a_pair_tells_pairs_apart() -> None:
    pairs = pairs_of("all")
    assert len({change_key(change, pairs.pool) for change in pairs.changes}) == len(pairs)
    other = Labelled(np.array([[5.0], [7.0]]), np.array([1, 0]))
    assert change_key(pairs.changes[0], pairs.pool) != change_key(pairs.changes[0], other)


def test_own_worst_cases_are_known_by_what_they_are() -> None:
    group = flip_group(3, changes=(FlipLabel(0), FlipLabel(1)))
    one, other = (
        PairGroup(pairs=group.pairs, queries=group.queries, kind="own", reason=why)
        for why in ("a", "b")
    )
    assert one.key == other.key
    fewer = Pairs(base=group.pairs.base, changes=group.pairs.changes[:1], how="fewer")
    assert one.key != PairGroup(pairs=fewer, queries=group.queries, kind="own", reason="a").key


def test_a_bound_is_known_by_the_key_of_its_test(new: Record) -> None:
    assert all(cell["method"] in METHODS for each in new["results"] for cell in each["per_query"])


def test_a_domain_has_a_key() -> None:
    domain = Domain(n=2, points=(3, 2))
    mechanism = SoftMajority(epsilon=1.0, r=2, learner="majority")
    result = audit(mechanism, mode="exhaustive", domain=domain, executor="inline")
    assert result.evidence is not None
    told = result.evidence.searched
    assert (told["keys"], told["how"]) == (["domain:2:3x2"], [str(domain)])
