"""Bagging: worst cases by brute force with fractions, the law by counting, and what is drawn."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.data import Labelled, points
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import two_sided
from dpassay.engine.exhaustive import domain_laws
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dagan_feldman_2020.bagged import Bagged
from dpassay.mechanisms.dagan_feldman_2020.subset_draws import subsets
from dpassay.mechanisms.dagan_feldman_2020.threshold_subsets import threshold_answers, threshold_law
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.targets.groups import silent
from dpassay.targets.resolve import resolve
from tests.mechanisms.dagan_feldman_2020 import twin_bagged as twin
from tests.mechanisms.test_exhaustive_twins import exhaust

CORNER = "dpassay.mechanisms.shared.erm_class:corner"
CASES = [
    ("disjoint", 2, 4, (2,), "threshold", twin.threshold),
    ("disjoint", 2, 3, (3,), "majority", twin.majority),
    ("subset", 2, 5, (2,), "threshold", twin.threshold),
    ("subset", 3, 4, (2,), "majority", twin.majority),
    pytest.param("subset", 2, 4, (2, 2), CORNER, twin.corner, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("how", "r", "n", "sides", "learner", "twin_learner"), CASES)
def test_every_law_and_the_worst_case_are_the_twins(
    how: str, r: int, n: int, sides: tuple[int, ...], learner: str, twin_learner: twin.Learner
) -> None:
    parameters = {"how": how, "r": r, "n": n, "learner": learner}
    law = functools.cache(functools.partial(getattr(twin, how), r=r, learner=twin_learner))
    grid = itertools.product(*(range(1, side + 1) for side in sides))
    places: list[Any] = [place if len(sides) > 1 else place[0] for place in grid]
    laws = domain_laws(resolve("bagged", parameters), Domain(n=n, points=sides), silent)
    found = np.exp(laws.table).reshape(-1, len(places), 2)[:, :, 1]
    every = itertools.product([(x, y) for x in places for y in (0, 1)], repeat=n)
    expected = [[float(law(dataset, query)) for query in places] for dataset in every]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)
    worst = twin.worst_changes(law, n, places)
    for result in exhaust("bagged", parameters, n, sides):
        assert result.verdict == "verified"
        assert result.evidence is not None
        changes = [cell.exact.value for cell in result.evidence.cells if cell.exact is not None]
        assert changes == pytest.approx([float(gamma) for gamma, _ in worst], abs=1e-14)
        assert result.measured is not None
        assert result.measured.exact == math.inf == max(loss for _, loss in worst)


@pytest.mark.parametrize(
    ("learner", "n", "r"),
    [
        *(("threshold", *sizes) for sizes in ((6, 2), (7, 2), (9, 4), (5, 5))),
        *((learner, 5, 2) for learner in ("tree", "stump", "nearest", "logistic", CORNER)),
    ],
)
def test_a_record_apart_attains_the_share_of_a_random_subset(learner: str, n: int, r: int) -> None:
    mechanism = Bagged(r=r, how="subset", n=n, learner=learner)
    for claim in mechanism.claims:
        result = audit(mechanism, claim=claim, mode="exact")
        assert result.exact == pytest.approx((n // r) / n, abs=1e-15)
        assert result.verdict == "not refuted"


def test_the_claims() -> None:
    assert [(claim.promised, claim.status) for claim in Bagged().claims] == [(0.04, "printed")]
    printed, corrected = Bagged(r=25, how="subset", n=49).claims
    assert (printed.promised, printed.status) == (0.04, "printed")
    assert corrected.promised == pytest.approx(1 / 49)
    assert corrected.status == "corrected"
    assert len(Bagged(r=25, how="subset", n=398).claims) == 1


def test_the_law_by_counting_is_that_of_all_subsets() -> None:
    rng = np.random.default_rng(1)
    learner = BlockLearner("threshold")
    for _ in range(50):
        n, place = int(rng.integers(2, 9)), int(rng.integers(1, 7))
        size = int(rng.integers(1, n + 1))
        X, y = rng.integers(1, place + 1, size=(n, 1)).astype(float), rng.integers(2, size=n)
        data = Labelled(X, y)
        queries = np.arange(place + 2.0)
        rows = subsets(n, size, kept=True)
        answers = np.stack([learner.fit(data.take(row)).predict(queries[:, None]) for row in rows])
        np.testing.assert_array_equal(threshold_answers(X[:, 0], y, rows, queries), answers)
        law = threshold_law(data, size, queries)
        assert law is not None
        np.testing.assert_allclose(law.p[:, 1], answers.mean(axis=0), rtol=1e-13, atol=0)
        np.testing.assert_allclose(law.p[:, 0], 1 - answers.mean(axis=0), rtol=1e-13, atol=1e-15)


def test_the_law_by_counting_is_what_is_drawn_and_not_that_of_a_neighbour() -> None:
    rng = np.random.default_rng(2)
    data = Labelled(rng.normal(size=(60, 1)).round(1), rng.integers(2, size=60))
    queries = points(np.linspace(-1, 1, 9)[:, None], "queries")
    mechanism = Bagged(r=6, how="subset", n=60)
    law, draws = mechanism.distribution(data, queries), mechanism.sample(data, queries, 20_000, rng)
    changed = Labelled(data.X, np.where(np.arange(60) < 15, 1 - data.y, data.y))
    other = mechanism.distribution(changed, queries)
    counts = np.stack([(draws == label).sum(axis=0) for label in (0, 1)], axis=1)
    assert law is not None
    assert other is not None
    p_values = two_sided(counts, 20_000, law)
    assert p_values.min() * p_values.size >= 1e-3
    assert two_sided(counts, 20_000, other).min() < 1e-9


def test_where_counting_would_take_long_there_is_no_law() -> None:
    data = Labelled(np.arange(3000.0)[:, None], np.arange(3000) % 2)
    assert threshold_law(data, 1000, np.zeros(1)) is None
    trees = Bagged(r=2, how="subset", n=20, learner="tree")
    assert trees.distribution(data.take(slice(20)), points([[0.0]], "q")) is None


def test_a_trial_has_one_subset_for_all_queries() -> None:
    """Thresholds are monotone, so the answers of one trial are."""
    rng = np.random.default_rng(3)
    data = Labelled(rng.normal(size=(40, 1)), rng.integers(2, size=40))
    draws = Bagged(r=8, how="subset", n=40).sample(
        data, points(np.linspace(-2, 2, 30)[:, None], "q"), 500, rng
    )
    assert (np.diff(draws, axis=1) >= 0).all()
    assert len(np.unique(draws, axis=0)) > 5


def test_other_numbers_of_records_are_refused_where_the_claim_depends_on_them() -> None:
    data = Labelled(np.zeros((30, 1)), np.arange(30) % 2)
    Bagged(r=5, n=29).check(data)
    with pytest.raises(InvalidInput, match="n = 29: must be the number of records, 30"):
        Bagged(r=5, n=29, how="subset").check(data)
