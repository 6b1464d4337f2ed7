"""PATE, private nearest neighbours and the distance to instability against slow twins."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Domain, Labelled, audit
from dpassay.claims import Claim
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
from dpassay.targets.guard import AuditTarget
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


def worst(target: AuditTarget, claim: Claim) -> float:
    """The largest loss over datasets of any size."""
    found = any_size(target, claim)
    assert found is not None
    return found.loss


# every law of a small domain, and the worst loss over it


def pate_law(votes: Votes, gamma: float) -> list[float]:
    behind = tail(gamma * (2 * sum(votes) - len(votes)))
    return [behind, 1 - behind]


def gaussian_law(votes: Votes, sigma: float) -> list[float]:
    lead = (2 * sum(votes) - len(votes)) / (2 * sigma)
    return [math.erfc(lead) / 2, math.erfc(-lead) / 2]


@pytest.mark.parametrize("r", [1, 2, 5])
@pytest.mark.parametrize("gamma", [0.05, 2.0])
def test_pate_on_all_votes(r: int, gamma: float) -> None:
    expected = twin.worst_pair(lambda votes: pate_law(votes, gamma), every_vector(r, 2), 2, 0.0)
    target = resolve("pate", {"gamma": gamma, "r": r, "learner": "majority"})
    assert worst(target, target.claims[0]) == pytest.approx(expected, rel=1e-12)
    if r > 1:
        by_hand = 2 * gamma + math.log(1 - 2 * gamma / (2 + gamma * r))
        assert expected == pytest.approx(by_hand, rel=1e-12)
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
    assert worst(target, target.claims[0]) == pytest.approx(expected, rel=1e-10)
    assert expected < 2 * gamma
    last = target.law(target.prepare(at_one_point((K - 1,) * r)), ORIGIN, "all for the last label")
    assert last is not None
    np.testing.assert_allclose(np.exp(last.table[0]), law[(*[0] * (K - 1), r)], rtol=1e-11)


@pytest.mark.parametrize("r", [1, 2, 5])
@pytest.mark.parametrize(("sigma", "delta"), [(0.5, 1e-5), (3.0, 1e-9)])
def test_gaussian_pate_on_all_votes(r: int, sigma: float, delta: float) -> None:
    expected = twin.worst_pair(
        lambda votes: gaussian_law(votes, sigma), every_vector(r, 2), 2, delta
    )
    target = resolve(
        "pate-gaussian", {"sigma": sigma, "delta": delta, "r": r, "learner": "majority"}
    )
    for claim in target.claims:
        assert worst(target, claim) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert worst(target, claim) <= claim.promised
    settings = Settings(mode="exhaustive", domain=Domain(n=r, points=1))
    assert [result.verdict for result in assay([target], None, settings)] == ["verified"] * 2


@pytest.mark.parametrize(("n", "k", "places"), [(3, 1, 3), (3, 2, 3), (4, 3, 2)])
def test_neighbours_of_all_small_datasets(n: int, k: int, places: int) -> None:
    """Every law, and that one vote at most moves, whatever record is replaced by whatever."""
    asked = range(1, places + 1)
    target = resolve("private-knn", {"k": k, "gamma": 0.7})
    table = np.exp(domain_laws(target, Domain(n=n, points=places), silent).table).reshape(
        -1, places, 2
    )
    every = every_dataset(n, places)
    counts = {}
    for row, dataset in zip(table, every, strict=True):
        for query in asked:
            votes = twin.neighbours_votes(dataset, query, k)
            counts[dataset, query] = sum(votes)
            np.testing.assert_allclose(row[query - 1], pate_law(votes, 0.7), rtol=1e-12)
    for (dataset, query), ones in counts.items():
        for i, record in itertools.product(range(n), itertools.product(asked, (0, 1))):
            assert abs(counts[(*dataset[:i], record, *dataset[i + 1 :]), query] - ones) <= 1
    result = audit(target.mechanism, mode="exhaustive", domain=Domain(n=n, points=places))
    assert result.verdict == "verified"
    assert result.evidence is not None
    assert result.evidence.any_size is not None
    assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)


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


@pytest.mark.parametrize(("r", "K"), [(1, 2), (4, 2), (5, 2), (1, 3), (5, 3), (4, 4)])
def test_the_distance_is_what_no_changes_of_so_many_votes_can_move(r: int, K: int) -> None:
    mechanism = DistanceToInstability(r=r, K=K)
    for votes in every_vector(r, K):
        counts = np.array([[votes.count(y) for y in range(K)]])
        assert mechanism.dist(counts)[0] == twin.distance_to_instability(votes, K)


@pytest.mark.parametrize(("r", "K"), [(1, 2), (5, 2), (3, 3)])
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
        assert worst(target, claim) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert worst(target, claim) <= epsilon
    if K == 2:
        settings = Settings(mode="exhaustive", domain=Domain(n=r, points=1))
        assert [result.verdict for result in assay([target], None, settings)] == ["verified"] * 2


@pytest.mark.parametrize(("r", "epsilon"), [(2, 1.0), (24, 0.6)])
def test_all_votes_for_one_are_released_by_their_margin(r: int, epsilon: float) -> None:
    given = {"r": r, "epsilon": epsilon, "distance": "margin", "learner": "majority"}
    target = resolve("distance-to-instability", given)
    law = target.law(target.prepare(at_one_point((1,) * r)), ORIGIN, "all ones")
    assert law is not None
    z = math.log(1e-3) + epsilon * (r - 1)
    released = math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2
    assert np.exp(law.table[0, 1]) == pytest.approx(released, rel=1e-12)


# claims and labels


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("pate-gaussian", {"sigma": 0.7, "delta": 1e-3, "K": 3}),
        ("pate-gaussian", {"sigma": 2.0, "delta": 1e-6}),
        ("distance-to-instability", {"epsilon": 0.3, "delta": 0.01, "K": 3, "distance": "margin"}),
        ("distance-to-instability", {"epsilon": 1.0, "delta": 1e-3, "distance": "margin"}),
        ("distance-to-instability", {"epsilon": 2.0, "delta": 0.5, "K": 4, "distance": "margin"}),
    ],
)
def test_no_votes_exceed_the_corrected_claim(name: str, given: dict[str, Any]) -> None:
    for r in (*range(1, 9), 12):
        target = resolve(name, given | {"r": r})
        printed, corrected = target.claims
        assert worst(target, corrected) <= corrected.promised
        if name == "pate-gaussian":
            assert corrected.promised < printed.promised
        else:
            assert corrected.promised == 2 * given["epsilon"]


def test_the_printed_epsilon_is_that_of_the_best_order() -> None:
    printed = PateGaussian(sigma=4.0, delta=1e-5).claims[0].promised
    every = [order / 16 + math.log(1e5) / (order - 1) for order in np.linspace(1.01, 100, 100_000)]
    assert min(every) == pytest.approx(printed, rel=1e-6)
    assert min(every) >= printed


def test_labels_are_below_K_and_neighbours_as_many_as_there_are() -> None:
    for name in ("pate", "private-knn"):
        mechanism: Any = resolve(name, {"K": 3}).mechanism
        with pytest.raises(InvalidInput, match=r"labels = \[0, 3\]: must be from 0 to K - 1 = 2"):
            mechanism.check(at_one_point((0, 3, *[0] * 30)))
    with pytest.raises(InvalidInput, match="k = 25: must be at most the number of records, 3"):
        PrivateKNN().check(at_one_point((0, 1, 0)))


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
    # nor is there a claim for a margin whose bound is too large a number
    margin = DistanceToInstability(epsilon=300.0, distance="margin")
    assert [claim.status for claim in margin.claims] == ["own"]


@pytest.mark.parametrize("gamma", [1e-6, 300.0])
@pytest.mark.parametrize("K", [2, 3])
def test_extreme_noise(gamma: float, K: int) -> None:
    """For gamma r -> 0 the claim is loose by 2, for large gamma it is tight."""
    target = resolve("pate", {"gamma": gamma, "r": 3, "K": K})
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss - found.error <= 2 * gamma
    if K == 2:
        by_hand = 2 * gamma + math.log1p(-2 * gamma / (2 + 3 * gamma))
        assert found.loss == pytest.approx(by_hand, rel=1e-7)
