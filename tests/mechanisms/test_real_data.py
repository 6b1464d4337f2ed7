"""Every classifier entry on real data: it trains, its loss is audited per query, and only claims known to be wrong fall."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import accuracy
from dpassay import audit, replace_one
from dpassay.data import Labelled
from dpassay.targets import accepts, resolve

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared" / "data"
SETS = ["breast-cancer", "adult", "magic"]
TRAIN, QUERIES = 200, 5


@pytest.fixture(scope="module")
def data() -> dict[str, Labelled]:
    """The data sets that this machine has."""
    return dict(accuracy.tables(FOLDER if FOLDER.is_dir() else None))


@pytest.mark.slow
@pytest.mark.parametrize("entry", accuracy.ENTRIES)
@pytest.mark.parametrize("name", SETS)
def test_every_query_is_audited(name: str, entry: str, data: dict[str, Labelled]) -> None:
    if name not in data:
        pytest.skip("no such data on this machine")
    split = accuracy.split_of(name, data[name], 0)
    train = split.train.take(slice(TRAIN))
    parameters = accuracy.ENTRIES[entry] | ({"n": len(train)} if accepts(entry, "n") else {})
    mechanism = resolve(entry, parameters).mechanism
    queries = split.test.X[:QUERIES]
    for claim in mechanism.claims:
        result = audit(mechanism, claim=claim, pairs=replace_one(train.X, train.y), queries=queries, mode="exact")
        assert result.evidence is not None
        asked = [cell for cell in result.evidence.cells if result.evidence.groups[cell.group].kind == "data"]
        assert sorted(cell.query for cell in asked) == list(range(QUERIES))
        assert all(cell.exact is not None and cell.exact.value >= 0 for cell in asked)
        if result.verdict == "refuted":
            assert claim.status == "printed"
            assert any(other.status == "corrected" for other in mechanism.claims)
        else:
            assert result.verdict == "not refuted"


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_published_accuracies_are_found_again(name: str, data: dict[str, Labelled]) -> None:
    if name not in data:
        pytest.skip("no such data on this machine")
    published = json.loads((ROOT / "docs" / "accuracy.json").read_text(encoding="utf-8"))
    assert len(published[name]) == 20
    again = accuracy.accuracies(name, data[name], 0)
    assert again.keys() == published[name][0].keys()
    np.testing.assert_allclose(list(again.values()), [published[name][0][key] for key in again], atol=1e-6)


def test_the_page_says_what_was_found() -> None:
    published = json.loads((ROOT / "docs" / "accuracy.json").read_text(encoding="utf-8"))
    assert accuracy.page(published) == (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")


def test_the_interval() -> None:
    found = accuracy.interval(np.array([0.0, 1.0, 2.0]))
    assert found == pytest.approx((1 - 4.302653 / 3**0.5, 1 + 4.302653 / 3**0.5), abs=1e-5)
