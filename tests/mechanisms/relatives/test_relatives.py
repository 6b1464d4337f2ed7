"""PATE, private nearest neighbours and the distance to instability, against slow twins, and on all
small datasets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Domain, Labelled, audit
from dpassay.data import points
from dpassay.engine.exact import any_size
from dpassay.engine.exhaustive import domain_laws
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanisms.relatives.distance_to_instability import DistanceToInstability
from dpassay.mechanisms.relatives.pate import Pate
from dpassay.mechanisms.relatives.pate_data_dependent import dependent_epsilon, log_moment, miss
from dpassay.mechanisms.relatives.pate_gaussian import PateGaussian
from dpassay.mechanisms.relatives.private_knn import PrivateKNN
from dpassay.mechanisms.shared.teachers import every_count
from dpassay.targets.groups import silent
from dpassay.targets.resolve import resolve
from tests.mechanisms import twin_votes as twin
from tests.mechanisms.twin_worst_case import every_dataset

ORIGIN = points([[0.0]], "queries")
Votes = tuple[int, ...]


def at_one_point(votes: Votes) -> Labelled:
    return Labelled(np.zeros((len(votes), 1)), np.array(votes))


def every_vector(r: int, K: int) -> list[Votes]:
    return list(itertools.product(range(K), repeat=r))


def tail(t: float) -> float:
    """P[L - L' > t] for standard Laplace L, L'; a vote leads by t / gamma and loses."""
    return (2 + t) / 4 * math.exp(-t) if t >= 0 else 1 - tail(-t)


# every law of a small domain, and the worst loss over it


def pate_law(votes: Votes, gamma: float) -> list[float]:
    behind = tail(gamma * (2 * sum(votes) - len(votes)))
    return [behind, 1 - behind]


def gaussian_law(votes: Votes, sigma: float) -> list[float]:
    lead = (2 * sum(votes) - len(votes)) / (2 * sigma)
    return [math.erfc(lead) / 2, math.erfc(-lead) / 2]


@pytest.mark.parametrize("r", [1, 2, 3, 5])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
def test_pate_on_all_votes(r: int, gamma: float) -> None:
    expected = twin.worst_pair(lambda votes: pate_law(votes, gamma), every_vector(r, 2), 2, 0.0)
    target = resolve("pate", {"gamma": gamma, "r": r, "learner": "majority"})
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss == pytest.approx(expected, rel=1e-12)
    assert found.loss == pytest.approx(
        2 * gamma + math.log(1 - 2 * gamma / (2 + gamma * r)) if r > 1 else expected, rel=1e-12
    )
    result = audit(target.mechanism, mode="exhaustive", domain=Domain(n=r, points=1))
    assert result.verdict == "verified"
    assert result.exact == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("r", "K"), [(2, 3), (4, 3), (3, 4)])
def test_pate_with_more_labels(r: int, K: int) -> None:
    gamma = math.log(2)
    law = {
        counts: [float(twin.wins_base_2(counts, i)) for i in range(K)]
        for counts in (tuple(row) for row in every_count(r, K).tolist())
    }
    expected = twin.worst_pair(
        lambda votes: law[tuple(votes.count(y) for y in range(K))], every_vector(r, K), K, 0.0
    )
    target = resolve("pate", {"gamma": gamma, "r": r, "K": K})
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss == pytest.approx(expected, rel=1e-10)
    assert found.loss < 2 * gamma
    last = target.law(target.prepare(at_one_point((K - 1,) * r)), ORIGIN, "all for the last label")
    assert last is not None
    np.testing.assert_allclose(np.exp(last.table[0]), law[(*[0] * (K - 1), r)], rtol=1e-11)


@pytest.mark.parametrize("r", [1, 2, 3, 5])
@pytest.mark.parametrize(("sigma", "delta"), [(0.5, 1e-5), (1.0, 0.01), (3.0, 1e-9)])
def test_gaussian_pate_on_all_votes(r: int, sigma: float, delta: float) -> None:
    expected = twin.worst_pair(
        lambda votes: gaussian_law(votes, sigma), every_vector(r, 2), 2, delta
    )
    target = resolve(
        "pate-gaussian", {"sigma": sigma, "delta": delta, "r": r, "learner": "majority"}
    )
    for claim in target.claims:
        found = any_size(target, claim)
        assert found is not None
        assert found.loss == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert found.loss <= claim.promised
    settings = Settings(mode="exhaustive", domain=Domain(n=r, points=1))
    assert [result.verdict for result in assay([target], None, settings)] == ["verified"] * 2


@pytest.mark.parametrize(("n", "k"), [(3, 1), (3, 2), (4, 3)])
def test_neighbours_of_all_small_datasets(n: int, k: int) -> None:
    """Every law, and that one vote at most moves, whatever record is replaced by whatever."""
    target = resolve("private-knn", {"k": k, "gamma": 0.7})
    table = np.exp(domain_laws(target, Domain(n=n, points=3), silent).table).reshape(-1, 3, 2)
    every = every_dataset(n, 3)
    counts = {}
    for row, dataset in zip(table, every, strict=True):
        for query in (1, 2, 3):
            votes = twin.neighbours_votes(dataset, query, k)
            counts[dataset, query] = sum(votes)
            np.testing.assert_allclose(row[query - 1], pate_law(votes, 0.7), rtol=1e-12)
    for (dataset, query), ones in counts.items():
        for i, record in itertools.product(range(n), itertools.product((1, 2, 3), (0, 1))):
            assert abs(counts[(*dataset[:i], record, *dataset[i + 1 :]), query] - ones) <= 1
    result = audit(target.mechanism, mode="exhaustive", domain=Domain(n=n, points=3))
    assert result.verdict == "verified"
    assert result.evidence is not None
    assert result.evidence.any_size is not None
    assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)


def test_a_record_far_away_can_change_the_vote() -> None:
    """It takes the place of the k-th: the vote that moves is not its own."""
    before = Labelled(np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([0, 0, 1, 1]))
    after = Labelled(np.array([[9.0], [1.0], [2.0], [9.0]]), np.array([0, 0, 1, 1]))
    knn = PrivateKNN(k=2)
    assert knn.counts(knn.prepare(before), ORIGIN).tolist() == [[2, 0]]
    assert knn.counts(knn.prepare(after), ORIGIN).tolist() == [[1, 1]]


# the claim that depends on the data


def moment(p: list[float], q: list[float], order: int) -> float:
    """alpha(l) = ln of the mean under P of (P / Q)^l."""
    return math.log(sum(a * (a / b) ** order for a, b in zip(p, q, strict=True)))


def law_of(counts: Votes, gamma: float) -> list[float]:
    return [
        float(p) for p in Pate(gamma=gamma, K=len(counts)).noisy_max.law(np.array([counts])).p[0]
    ]


@pytest.mark.parametrize("gamma", [0.05, 0.5, 1.5])
@pytest.mark.parametrize("counts", [(9, 0), (7, 2), (5, 4), (6, 1, 1), (5, 2, 1), (4, 0, 0, 0)])
def test_from_the_dataset_to_its_neighbours_it_holds(counts: Votes, gamma: float) -> None:
    K, lead, p = len(counts), counts[0] - max(counts[1:]), law_of(counts, gamma)
    q = miss(gamma, K, lead)
    assert 1 - p[0] <= q * (1 + 1e-12)
    if K == 2:
        assert 1 - p[0] == pytest.approx(q, rel=1e-12)
    for a, b in itertools.permutations(range(K), 2):
        if counts[a] == 0:
            continue
        other = law_of(tuple(n - (y == a) + (y == b) for y, n in enumerate(counts)), gamma)
        for order in (1, 2, 5, 20):
            assert moment(p, other, order) <= log_moment(gamma, q, order) + 1e-12
        for delta in (1e-2, 1e-5):
            assert twin.least_epsilon(p, other, delta) <= dependent_epsilon(gamma, K, lead, delta)


def test_back_from_the_neighbours_it_need_not_hold() -> None:
    """gamma = 1, five votes against none: alpha(1; d', d) exceeds what bounds alpha(1; d, d')."""
    d, neighbour = law_of((5, 0), 1.0), law_of((4, 1), 1.0)
    bound = log_moment(1.0, miss(1.0, 2, 5), 1)
    assert moment(d, neighbour, 1) < bound < moment(neighbour, d, 1)


def test_it_is_no_claim_about_all_datasets_and_says_who_the_neighbour_is() -> None:
    target = resolve("pate-data-dependent")
    results = list(assay([target], None, Settings(mode="exact")))
    assert [result.verdict for result in results] == ["refuted", "not refuted"]
    assert results[0].claim.expected == "refuted"
    assert "leads by 25 of 25 votes" in results[0].claim.unit
    assert "claimed for such datasets only" in results[0].claim.coins
    assert "tested here on all datasets" in results[0].claim.coins
    assert "may leak" in results[0].claim.coins
    assert dependent_epsilon(0.5, 2, 25, 1e-3) != dependent_epsilon(0.5, 2, 23, 1e-3)


# the distance to instability


@pytest.mark.parametrize(("r", "K"), [(1, 2), (4, 2), (5, 2), (1, 3), (3, 3), (5, 3), (4, 4)])
def test_the_distance_is_what_no_changes_of_so_many_votes_can_move(r: int, K: int) -> None:
    mechanism = DistanceToInstability(r=r, K=K)
    for votes in every_vector(r, K):
        counts = np.array([[votes.count(y) for y in range(K)]])
        assert mechanism.dist(counts)[0] == twin.distance_to_instability(votes, K)


@pytest.mark.parametrize(("r", "K"), [(1, 2), (4, 2), (5, 2), (3, 3)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.3, 0.2), (3.0, 0.6)])
def test_release_on_all_votes(r: int, K: int, epsilon: float, delta: float) -> None:
    parameters = {"epsilon": epsilon, "delta": delta, "r": r, "K": K, "learner": "majority"}
    target = resolve("distance-to-instability", parameters)
    every = every_vector(r, K)
    for votes in every:
        law = target.law(target.prepare(at_one_point(votes)), ORIGIN, "votes")
        assert law is not None
        np.testing.assert_allclose(
            np.exp(law.table[0]), twin.stable_release(votes, K, epsilon, delta), rtol=1e-12
        )
    printed, corrected = target.claims
    assert (printed.promised, corrected.promised) == (epsilon, epsilon)
    for claim in (printed, corrected):
        assert isinstance(claim, DP)
        expected = twin.worst_pair(
            lambda votes: twin.stable_release(votes, K, epsilon, delta), every, K, claim.delta
        )
        found = any_size(target, claim)
        assert found is not None
        assert found.loss == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found.loss <= epsilon
    if K == 2:
        settings = Settings(mode="exhaustive", domain=Domain(n=r, points=1))
        assert [result.verdict for result in assay([target], None, settings)] == ["verified"] * 2


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.4])
def test_half_of_delta_is_needed_and_enough(delta: float) -> None:
    mechanism = DistanceToInstability(r=3, delta=delta)
    for share, verdict in ((0.5, "not refuted"), (0.499, "refuted")):
        result = audit(
            mechanism, claim=DP(epsilon=600.0, delta=share * delta * (1 + 1e-12)), mode="exact"
        )
        assert result.verdict == verdict
        assert (result.exact == math.inf) is (verdict == "refuted")


@pytest.mark.parametrize(
    ("r", "epsilon", "verdict"),
    [(2, 1.0, "refuted"), (2, 0.6, "not refuted"), (24, 0.6, "refuted")],
)
def test_the_margin(r: int, epsilon: float, verdict: str) -> None:
    """Two votes against none are at margin 1. Released with probability e^epsilon delta / 2, which
    exceeds delta above ln 2."""
    target = resolve(
        "distance-to-instability",
        {"r": r, "epsilon": epsilon, "distance": "margin", "learner": "majority"},
    )
    results = list(assay([target], None, Settings(mode="exact")))
    assert [result.verdict for result in results] == [verdict, "not refuted"]
    law = target.law(target.prepare(at_one_point((1,) * r)), ORIGIN, "all ones")
    assert law is not None
    z = math.log(1e-3) + epsilon * (r - 1)
    assert np.exp(law.table[0, 1]) == pytest.approx(
        math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2, rel=1e-12
    )


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.01), (1.0, 1e-3), (2.0, 0.5)])
def test_what_holds_of_the_margin(K: int, epsilon: float, delta: float) -> None:
    for r in range(1, 9):
        target = resolve(
            "distance-to-instability",
            {"r": r, "K": K, "epsilon": epsilon, "delta": delta, "distance": "margin"},
        )
        corrected = target.claims[1]
        found = any_size(target, corrected)
        assert found is not None
        assert found.loss - found.error <= corrected.promised == 2 * epsilon


# the corrected Gaussian claim


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(("sigma", "delta"), [(0.7, 1e-3), (2.0, 1e-6)])
def test_the_exact_profile_of_the_counts_bounds_the_winner(
    K: int, sigma: float, delta: float
) -> None:
    for r in (1, 2, 5, 12):
        target = resolve("pate-gaussian", {"sigma": sigma, "delta": delta, "r": r, "K": K})
        printed, corrected = target.claims
        found = any_size(target, corrected)
        assert found is not None
        assert found.loss - found.error <= corrected.promised < printed.promised


def test_the_printed_epsilon_is_that_of_the_best_order() -> None:
    printed = PateGaussian(sigma=4.0, delta=1e-5).claims[0].promised
    every = [order / 16 + math.log(1e5) / (order - 1) for order in np.linspace(1.01, 100, 100_000)]
    assert min(every) == pytest.approx(printed, rel=1e-6)
    assert min(every) >= printed


# parameters and labels


@pytest.mark.parametrize(
    "name", ["pate", "pate-gaussian", "private-knn", "distance-to-instability"]
)
def test_three_labels(name: str) -> None:
    size = {"k": 4} if name == "private-knn" else {"r": 4, "learner": "tree"}
    mechanism: Any = resolve(name, {"K": 3, **size}).mechanism
    rng = np.random.default_rng(0)
    data = Labelled(rng.normal(size=(12, 2)), np.arange(12) % 3)
    queries = points(rng.normal(size=(5, 2)), "queries")
    state = mechanism.prepare(data)
    draws = mechanism.sample(state, queries, 50, rng)
    assert set(np.unique(draws)) <= set(mechanism.labels)
    assert mechanism.distribution(state, queries).p.shape == (5, len(mechanism.labels))
    with pytest.raises(InvalidInput, match=r"labels = \[0, 3\]: must be from 0 to K - 1 = 2"):
        mechanism.check(Labelled(np.zeros((4, 1)), np.array([0, 3, 0, 0])))


def test_too_many_states_are_not_listed() -> None:
    for name in ("pate", "pate-gaussian", "distance-to-instability", "private-knn"):
        mechanism: Any = resolve(name, {"K": 10}).mechanism
        assert mechanism.reachable() is None
        assert len(mechanism.pairs()) == 2


def test_where_there_is_no_exact_law() -> None:
    """Three counts that are more than 100 standard deviations apart: the mechanism is sampled."""
    mechanism = PateGaussian(K=3, r=3, sigma=0.02, delta=0.5)
    state = mechanism.prepare(at_one_point((0, 1, 1)))
    assert mechanism.distribution(state, ORIGIN) is None
    assert mechanism.reachable() is None
    assert mechanism.sample(state, ORIGIN, 3, np.random.default_rng(0)).tolist() == [[1]] * 3


def test_a_margin_of_which_nothing_holds() -> None:
    assert [
        claim.status for claim in DistanceToInstability(epsilon=300.0, distance="margin").claims
    ] == ["own"]


@pytest.mark.parametrize("gamma", [1e-6, 20.0, 300.0])
@pytest.mark.parametrize("K", [2, 3])
def test_extreme_noise(gamma: float, K: int) -> None:
    """For gamma r -> 0 the claim is loose by 2, for large gamma it is tight."""
    target = resolve("pate", {"gamma": gamma, "r": 3, "K": K})
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss - found.error <= 2 * gamma
    if K == 2:
        assert found.loss == pytest.approx(
            2 * gamma + math.log1p(-2 * gamma / (2 + 3 * gamma)), rel=1e-7
        )


def test_more_neighbours_than_records() -> None:
    with pytest.raises(InvalidInput, match="k = 25: must be at most the number of records, 3"):
        PrivateKNN().check(at_one_point((0, 1, 0)))
