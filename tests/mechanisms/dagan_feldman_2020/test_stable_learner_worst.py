"""Worst cases of the stable learner on small domains and over all datasets; how well it learns."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import DP, Stability
from dpassay.data import Labelled, points
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size, both_directions, group_laws, readable
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.mechanisms.shared.hypothesis_class import RULES, Rule
from dpassay.mechanisms.shared.line_classes import Thresholds
from dpassay.mechanisms.shared.plane_classes import Corners
from dpassay.mechanisms.shared.vc import is_net, net_size
from dpassay.targets.groups import groups_for, silent
from dpassay.targets.resolve import resolve
from tests.mechanisms.dagan_feldman_2020 import twin_stable_learner as twin
from tests.mechanisms.small_domains import worst

LINE: list[tuple[int, ...]] = [(1,), (2,), (3,)]
SQUARE: list[tuple[int, ...]] = list(itertools.product((1, 2), repeat=2))
PLACES = dict.fromkeys(("thresholds", "intervals", "functions"), LINE)
PLACES |= dict.fromkeys(("corners", "halfspaces"), SQUARE)
CASES: list[tuple[str, Rule]] = [
    *(("thresholds", rule) for rule in RULES),
    *(("intervals", "least"), ("intervals", "greatest"), ("functions", "middle")),
    *(("corners", "greatest"), ("halfspaces", "least")),
]
LEMMA_7, FUNCTIONS = {"calibration": "lemma7"}, {"H": "functions"}


def twin_worst(name: str, rule: str, n: int, epsilon: float, n_prime: int) -> tuple[float, float]:
    """Largest change of a probability, and loss, of the twin's laws, by loops over neighbours."""
    places = PLACES[name]
    H = functools.partial(twin.halfspaces, side=2) if name == "halfspaces" else twin.CLASSES[name]
    records = [(x, y) for x in places for y in (0, 1)]
    laws = {
        each: twin.probability_of_one(
            each, places, H=H, rule=rule, epsilon=epsilon, n_prime=n_prime
        )
        for each in itertools.combinations_with_replacement(records, n)
    }
    gamma = loss = 0.0
    for rest in itertools.combinations_with_replacement(records, n - 1):
        near = [laws[tuple(sorted((*rest, record)))] for record in records]
        for one, other in itertools.permutations(near, 2):
            for p, q in zip(one, other, strict=True):
                gamma = max(gamma, p - q)
                for a, b in ((p, q), (1 - p, 1 - q)):
                    if a > 1e-12:
                        loss = max(loss, math.log(a / b) if b > 1e-12 else math.inf)
    return gamma, loss


def of_any_size(parameters: dict[str, Any]) -> list[float]:
    """Worst gamma and epsilon over datasets of any size."""
    target = resolve("stable-learner", parameters)
    found = [
        any_size(target, claim)
        for claim in (target.claims[0], target.claims[0].beside())
        if isinstance(claim, DP | Stability)
    ]
    return [each.loss for each in found if each is not None]


def own_worst(parameters: dict[str, Any]) -> list[float]:
    """Worst gamma and epsilon of its own worst cases."""
    target = resolve("stable-learner", parameters)
    laws = [group_laws(target, group, silent) for group in groups_for(target, None)]
    found = []
    for claim in (target.claims[0], target.claims[0].beside()):
        assert isinstance(claim, DP | Stability)
        losses = [
            both_directions(law, readable(target, claim, law.law)).value.max()
            for law in laws
            if law is not None
        ]
        found.append(float(max(losses)))
    return found


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_exhaustive_mode_and_own_worst_cases_find_the_enumerated_worst(
    name: str, rule: Rule
) -> None:
    """Both notions are the twin's; every claim is verified. On the 2 x 2 grid own worst cases may
    use points that the enumeration has not."""
    n, side = (4, 3) if PLACES[name] is LINE else (3, (2, 2))
    parameters: dict[str, Any] = {"gamma": 0.7, "n": n, "H": name, "representative": rule}
    parameters |= LEMMA_7
    if name == "halfspaces":
        parameters["points"] = 2
    target = resolve("stable-learner", parameters)
    learner: Any = target.mechanism
    gamma, epsilon = twin_worst(name, rule, n, learner.epsilon, learner.n_prime)
    settings = Settings(mode="exhaustive", domain=Domain(n=n, points=side))
    printed, corrected = assay([target], None, settings)
    assert printed.verdict == corrected.verdict == "verified"
    assert printed.exact == pytest.approx(gamma, abs=1e-12)
    assert printed.measured is not None
    assert printed.measured.exact == pytest.approx(epsilon, abs=1e-9)
    mine = own_worst(parameters)
    assert mine[0] >= 0.93 * gamma
    assert mine[1] >= 0.93 * epsilon
    if name in ("thresholds", "functions"):
        assert mine == pytest.approx([gamma, epsilon], abs=1e-9)
    if name in ("intervals", "corners") and rule == "greatest":
        assert epsilon < math.inf
    elif name != "halfspaces":
        assert epsilon == math.inf


@pytest.mark.parametrize(
    ("points_", "rule", "n", "gamma"),
    [(3, "least", 30, 0.4), (2, "middle", 12, 0.9), (1, "greatest", 9, 0.5)],
)
def test_all_functions_over_all_datasets(points_: int, rule: Rule, n: int, gamma: float) -> None:
    """Own worst pairs attain what the reachable states say, for both notions."""
    parameters = FUNCTIONS | {"points": points_, "representative": rule, "n": n, "gamma": gamma}
    assert of_any_size(parameters) == pytest.approx(own_worst(parameters), abs=1e-12)


@pytest.mark.parametrize(("points_", "rule"), [(2, "greatest"), (2, "middle"), (1, "least")])
def test_reachable_states_of_all_functions_are_those_of_an_enumeration(
    points_: int, rule: Rule
) -> None:
    parameters = FUNCTIONS | LEMMA_7 | {"representative": rule, "n": 5, "gamma": 0.6}
    learner: Any = resolve("stable-learner", parameters | {"points": points_}).mechanism
    gamma, epsilon = worst(learner, [(x,) for x in range(1, points_ + 1)])
    found = of_any_size(parameters | {"points": points_})
    assert found == pytest.approx([gamma.value, epsilon.value], abs=1e-12)


def test_a_state_of_all_functions_for_more_records_than_are_listed() -> None:
    learner = StableLearner(H="functions", n=600)
    assert learner.reachable() is None
    assert learner.pairs()
    assert StableLearner(H="functions", cover="net").reachable() is None


def fewest(answers: NDArray[Any], labels: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Errors of the best of some hypotheses, for every labelling of the points."""
    return np.asarray((answers[:, None] != labels).sum(axis=2).min(axis=0))


@pytest.mark.parametrize("name", PLACES)
def test_equation_1_holds_with_the_probability_of_a_net(name: str) -> None:
    """Section 3: min of L_S over H_T is at most that over H plus alpha for an alpha-net T."""
    rng = np.random.default_rng(0)
    places, n, m, alpha = PLACES[name], 7, 3, 0.3
    learner = StableLearner(H=name, points=2 if name == "halfspaces" else 3, n=n, gamma=0.5)
    H = learner.hypotheses
    labels, nets = np.array(list(itertools.product((False, True), repeat=n))), 0
    for _ in range(3):
        X = np.array([places[i] for i in rng.integers(len(places), size=n)], dtype=float)
        least = fewest(H.predict(H.representatives(X, "least"), X), labels)
        for chosen in itertools.combinations(range(n), m):
            T = X[list(chosen)]
            if not is_net(H, T, X, alpha):
                continue
            nets += 1
            for rule in RULES:
                some = H.predict(H.representatives(T, rule), X)
                assert (fewest(some, labels) <= least + alpha * n).all()
    assert nets > 0


def excess(learner: StableLearner, data: Labelled) -> float:
    """L_S(A^sta(S)) - inf L_S by the exact law."""
    law = learner.distribution(learner.prepare(data), points(data.X, "queries"))
    assert law is not None
    H = learner.hypotheses
    every = H.predict(H.representatives(data.X, "least"), data.X)
    best = (every != data.y.astype(bool)).mean(axis=1).min()
    return float(law.p[np.arange(learner.n), 1 - data.y].mean() - best)


LABELS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.int64]]] = {
    "all 1": lambda x: np.ones(len(x), dtype=int),
    "all 0": lambda x: np.zeros(len(x), dtype=int),
    "threshold": lambda x: (x >= np.median(x)).astype(int),
    "reversed": lambda x: (x < np.median(x)).astype(int),
    "alternating": lambda x: np.arange(len(x)) % 2,
    "noisy": lambda x: np.where(
        np.random.default_rng(0).random(len(x)) < 0.3, x < np.median(x), x >= np.median(x)
    ).astype(int),
}


def test_lemma_7_accuracy() -> None:
    """All three conditions hold; tests/docs/test_findings_stable.py has all labels and sizes."""
    alpha, n = 0.2, 400
    learner = StableLearner(n=n, gamma=0.5, alpha=alpha, calibration="lemma7")
    assert all(learner.lemma_7().values())
    x = np.arange(n, dtype=float)
    assert excess(learner, Labelled(x[:, None], LABELS["noisy"](x))) <= alpha / 4


def test_what_lemma_7_asks_for_is_said() -> None:
    small = StableLearner(n=40, gamma=0.1, calibration="lemma7").lemma_7()
    assert small == {"n' >= N^net": False, "n >= N^exp": False, "n >= n'/gamma": True}
    assert net_size(0.1, 0.1, Thresholds().growth) > 400


def test_the_least_n_that_leaves_T_not_empty() -> None:
    assert StableLearner(n=20).n_prime == 1
    assert StableLearner(n=10, calibration="lemma7").n_prime == 1
    assert StableLearner(n=100, gamma=0.29, calibration="lemma7").n_prime == 29


def test_data_that_do_not_fit() -> None:
    learner = StableLearner(n=20, H="functions")
    X = np.ones((20, 1))
    with pytest.raises(InvalidInput, match="n = 20: must be the number of records, 19"):
        learner.check(Labelled(X[:19], np.zeros(19, dtype=int)))
    with pytest.raises(InvalidInput, match="x = 4: must be in the domain, an integer from 1 to"):
        learner.check(Labelled(X * 4, np.zeros(20, dtype=int)))
    state = learner.prepare(Labelled(X, np.zeros(20, dtype=int)))
    for ask in (
        learner.distribution,
        lambda state, at: learner.sample(state, at, 1, np.random.default_rng(0)),
    ):
        with pytest.raises(InvalidInput, match=r"x = 0.5: must be in the domain"):
            ask(state, np.array([[0.5]]))
    with pytest.raises(InvalidInput, match="feature = 3: must be a column of the data, 0 to 0"):
        StableLearner(n=20, feature=3).check(Labelled(X, np.zeros(20, dtype=int)))


def test_a_class_object_is_taken_as_it_is() -> None:
    learner = StableLearner(n=20, H=Corners(feature=2, feature2=1))
    rng = np.random.default_rng(1)
    data = Labelled(rng.normal(size=(20, 3)), rng.integers(2, size=20))
    assert learner.distribution(learner.prepare(data), data.X[:2]) is not None
    assert all(case.pairs.base.X.shape == (20, 3) for case in learner.pairs())
    assert learner.claims[0] == Stability(
        gamma=0.1, source="Dagan and Feldman 2020, section 3, proof outline", status="printed"
    )
