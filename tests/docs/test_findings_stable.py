"""What docs/findings.md says of the stable learner is held to what the code computes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.api import audit
from dpassay.data import Labelled
from dpassay.engine.exact import any_size
from dpassay.mechanisms.dagan_feldman_2020.functions_law import hit_and_missed
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.mechanisms.shared.hypothesis_class import Labels, Points, Rule
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds
from dpassay.mechanisms.shared.plane_classes import Halfspaces
from dpassay.mechanisms.shared.vc import cover, exponential_size, is_net, net_probability, net_size
from dpassay.targets.resolve import resolve
from dpassay.theorems.dagan_feldman_2020.covers import best_of_cover
from dpassay.theorems.dagan_feldman_2020.representatives import worst_of_all_choices
from tests.docs.findings_pages import FINDINGS, printed, table
from tests.mechanisms.dagan_feldman_2020.test_stable_learner import Adversarial
from tests.mechanisms.dagan_feldman_2020.test_stable_learner_worst import LABELS, excess
from tests.mechanisms.small_domains import worst

SECTION = FINDINGS[FINDINGS.index("## The stable learner") :]
RULE = "(least|greatest|middle)"
SMALL = table(rf"(outline|lemma7) \| (\w+) \| ([\d. x]+) \| {RULE}", 5, 36, SECTION)
LARGER = "1..3 x 1..3"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=[pytest.mark.slow] if row[2] == LARGER else [], id=" ".join(row))
        for row in SMALL
    ],
)
def test_small_domains(row: Any) -> None:
    calibration, name, domain, rule, *said = row
    parameters = {"gamma": 0.5, "n": 4, "calibration": calibration, "H": name}
    learner: Any = resolve("stable-learner", parameters | {"representative": rule}).mechanism
    sides = [range(1, int(side.split("..")[1]) + 1) for side in domain.split(" x ")]
    gamma, loss = worst(learner, list(itertools.product(*sides)))
    claimed, corrected = (claim.gamma for claim in learner.claims)
    numbers = claimed, corrected, gamma.value, claimed / gamma.value, loss.value
    assert tuple(said) == printed("{:g} {:.6f} {:.6f} {:.3f} {:.6f}", *numbers)
    assert gamma.value <= corrected


@pytest.mark.parametrize("row", table(rf"(\w+) \| {RULE}", 5, 15, SECTION), ids=" ".join)
def test_the_catalogue(row: Any) -> None:
    name, rule, *said = row
    learner: Any = resolve("stable-learner", {"H": name, "representative": rule}).mechanism
    result = audit(learner, claim=learner.claims[0], mode="exact")
    assert result.measured is not None
    assert result.exact is not None
    claimed, corrected = (claim.gamma for claim in learner.claims)
    numbers = claimed, corrected, result.exact, claimed / result.exact, result.measured.exact
    assert tuple(said) == printed("{:g} {:.6f} {:.6f} {:.3f} {:.6f}", *numbers)


def smallest_net(n: int, alpha: float) -> int:
    return next(size for size in range(1, n) if net_probability(n, size, alpha) >= 1 - alpha)


@pytest.mark.parametrize("row", table("net", 5, 3, SECTION), ids=" ".join)
def test_nets(row: Any) -> None:
    a = float(row[0])
    sizes = [net_size(a, a, H.growth) for H in (Thresholds(), Intervals(), Halfspaces(points=8))]
    assert row[1:] == printed("{} {} {} {}", *sizes, smallest_net(1000, a))


@pytest.mark.parametrize("row", table("accuracy", 9, 5, SECTION), ids=" ".join)
def test_accuracy(row: Any) -> None:
    a, gamma, n = float(row[0]), float(row[1]), int(row[2])
    learner = StableLearner(n=n, gamma=gamma, alpha=a, calibration="lemma7")
    exact = smallest_net(n, a)
    exponential = exponential_size(learner.n_prime + 1, learner.epsilon, a)
    assert learner.n_prime >= exact
    assert n >= exponential
    x = np.arange(n, dtype=float)
    most = max(excess(learner, Labelled(x[:, None], make(x))) for make in LABELS.values())
    sizes = learner.n_prime, net_size(a, a, Thresholds().growth), exact, exponential
    assert row[3:] == printed("{} {} {} {} {:.2f} {:.4f}", *sizes, 3 * a, most)


@pytest.mark.parametrize(
    "row", table(r"lower bound \| (\d+) \| (\d+) \| (outline|lemma7)", 5, 5, SECTION), ids=" ".join
)
def test_theorem_4(row: Any) -> None:
    d, n, calibration, gamma, *said = row
    parameters = {"n": n, "calibration": calibration, "gamma": gamma, "H": "functions", "points": d}
    target = resolve("stable-learner", parameters)
    found = any_size(target, target.claims[0])
    assert found is not None
    learner: Any = target.mechanism
    hit, missed = hit_and_missed(learner.n, learner.n_prime)
    counts = np.arange(learner.n + 1)
    wrong = hit * expit(-learner.epsilon * counts / 2) + missed / 2

    def loss(a: float) -> float:
        masses = np.array([*([4 * a / (int(d) - 1)] * (int(d) - 1)), 1 - 4 * a])
        return float(sum(p * (binom.pmf(counts, learner.n, p) @ wrong) for p in masses))

    least = next(k / 1000 for k in range(1, 251) if loss(k / 1000) <= k / 1000)
    needed = (int(d) - 1) / (8 * found.loss * least)
    numbers = found.loss, least, needed, learner.n / needed
    assert tuple(said) == printed("{:.6f} {:.3f} {:.1f} {:.2f}", *numbers)
    assert 1 <= learner.n / needed < (3 if calibration == "lemma7" else 5)


def chances(learner: StableLearner, firsts: Any, rest: Any, query: float) -> list[float]:
    """Chances of label 1 at a point, with either of two first records."""
    found = []
    for record in firsts:
        X, y = np.array([record, *rest], dtype=float).T
        state = learner.prepare(Labelled(X[:, None], y.astype(int)))
        law = learner.distribution(state, np.array([[query]]))
        assert law is not None
        found.append(float(law.p[0, 1]))
    return found


def test_the_representatives_that_attain_the_corrected_claim_by_hand() -> None:
    learner = StableLearner(n=3, gamma=0.5, calibration="lemma7", H=Adversarial(points=4))
    one, other = chances(learner, [(1, 1), (2, 0)], [(3, 0), (3, 1)], query=4.0)
    assert (learner.n_prime, learner.epsilon) == (1, 0.5)
    assert printed("{:.4f} {:.4f} {:.4f}", one, other, one - other) == (
        "0.7081",
        "0.2919",
        "0.4162",
    )
    assert printed("{:.4f} {:.4f}", expit(0.25), expit(-0.25)) == ("0.5622", "0.4378")
    assert one - other == pytest.approx(1 / 3 + 2 / 3 * math.tanh(0.125), abs=1e-12)


def test_an_unseen_point_by_hand() -> None:
    learner = StableLearner(n=4, gamma=0.5, calibration="lemma7", H="functions")
    one, other = chances(learner, [(2, 1), (1, 1)], [(2, 0)] * 3, query=1.0)
    assert one == 0
    assert f"{other:.4f}" == "0.2811"


@pytest.mark.parametrize(("n", "gamma"), [(200, 0.5), (300, 0.4)])
def test_the_finite_epsilon_of_intervals_grows_with_n(n: int, gamma: float) -> None:
    learner = StableLearner(
        n=n, gamma=gamma, calibration="lemma7", H="intervals", representative="greatest"
    )
    result = audit(learner, claim=learner.claims[0], mode="exact")
    assert result.measured is not None
    eta = learner.n_prime / n
    assert result.measured.exact == pytest.approx(
        learner.epsilon * n / 2 - math.log(2 / eta), abs=0.5
    )


def test_loose_factors() -> None:
    for calibration, factor in (("outline", 16 / 9), ("lemma7", 2.4)):
        printed, corrected = StableLearner(
            gamma=0.001,
            n=2000,
            calibration=calibration,  # type: ignore[arg-type]
        ).claims
        assert printed.promised / corrected.promised == pytest.approx(factor, rel=1e-3)


def test_a_net_is_not_enough_for_remark_1() -> None:
    X = np.arange(1, 1001, dtype=float)[:, None]
    T = np.concatenate([np.arange(100, 1000, 100), np.arange(901, 982)]).astype(float)[:, None]
    H = Thresholds()
    assert is_net(H, T, X, 0.1)
    every = H.representatives(T, "least")
    few = every[cover(H.predict(every, T), 0.1)]
    errors = [
        float((H.predict(each, X) != (X[:, 0] >= 500)).mean(axis=1).min()) for each in (every, few)
    ]
    assert (len(T), len(few), errors) == (90, 10, [0.0, 0.4])
    assert best_of_cover(10) == pytest.approx(0.4)


@pytest.mark.parametrize(
    "row", table(rf"stable-learner \| {RULE[:-1]}|adverse)", 5, 7, SECTION), ids=" ".join
)
def test_rounded_up(row: Any) -> None:
    rule, n, *said = row
    parameters = {"rounding": "up", "representative": rule, "n": int(n)}
    learner: Any = resolve("stable-learner", parameters).mechanism
    results = [audit(learner, claim=claim, mode="exact") for claim in learner.claims]
    claimed, corrected = (claim.gamma for claim in learner.claims)
    for result in results:
        numbers = learner.n_prime, claimed, corrected, result.exact
        assert tuple(said) == printed("{} {:g} {:.6f} {:.6f}", *numbers)
    first = "refuted" if int(n) <= 4 else "not refuted"
    assert [result.verdict for result in results] == [first, "not refuted"]


def test_rounding_up_by_hand() -> None:
    """n = 3, gamma = 0.1: the reading."""
    one, other = 1 / 3 + 2 / 3 * expit(0.0125), 2 / 3 * expit(-0.0125)
    assert (
        f"{expit(0.0125):.4f} {expit(-0.0125):.4f} {one:.4f} {other:.4f} {one - other:.4f}"
        == "0.5031 0.4969 0.6687 0.3313 0.3375"
    )
    learner: Any = resolve("stable-learner-rounded-up").mechanism
    assert (learner.n, learner.n_prime, learner.epsilon) == (3, 1, 0.025)
    assert audit(learner, claim=learner.claims[0], mode="exact").exact == pytest.approx(
        one - other, abs=1e-12
    )


def test_where_rounding_up_does_no_harm() -> None:
    """By the bound: none from gamma n = 2.14 on, always below 1."""
    for n, share in itertools.product(range(1, 80), range(1, 100)):
        gamma = share / 100
        eta = StableLearner(n=n, gamma=gamma, rounding="up").n_prime / n
        bound = eta + (1 - eta) * math.tanh(gamma / 16)
        assert bound <= gamma or gamma * n < 2.14
        assert bound > gamma or gamma * n >= 1


@pytest.mark.parametrize("row", table(r"n = (\d)", 5, 4, SECTION), ids=" ".join)
def test_worst_of_all_choices(row: Any) -> None:
    size, points_ = int(row[0]), int(row[1])
    bound = 1 / size + (1 - 1 / size) * math.tanh(0.25 / 4)
    found = worst_of_all_choices("thresholds", points_, size, 1, 0.25)
    choices = math.factorial(points_) ** 2
    assert row[2:] == printed("{} {} {:.10f} {:.10f}", points_ + 1, choices, found, bound)
    assert found <= bound + 1e-12


@pytest.mark.parametrize("n", [1, 3, 5, 21])
def test_adverse_representatives_attain_the_bound_for_one_record_in_T(n: int) -> None:
    learner = StableLearner(n=n, gamma=0.99 / n, rounding="up", representative="adverse")
    assert learner.n_prime == 1
    result = audit(learner, claim=learner.claims[1], mode="exact")
    assert result.exact == pytest.approx(learner.claims[1].promised, abs=1e-13)
    assert result.verdict == "not refuted"


CHOSEN = {1: (1, 5), 2: (2, 3), 3: (1, 5), 4: (4, 5), 5: (2, 6)}
"""For each point a threshold up to it and one above it, as chosen on the page for an even n."""


class FivePoints(Thresholds):
    """Thresholds with these representatives."""

    __slots__ = ()

    def representatives(self, T: Points, rule: Rule) -> Points:
        """T is one point."""
        return np.array([[t] for t in CHOSEN[int(T[0, 0])]], dtype=float)

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        return super().predict(hypotheses, X)


@pytest.mark.parametrize("n", [4, 6, 20])
def test_five_points_attain_the_bound_for_an_even_n(n: int) -> None:
    learner = StableLearner(n=n, gamma=1 / n, calibration="lemma7", H=FivePoints())
    rest = [(1, 0), (5, 0)] + [(3, (i + 1) % 2) for i in range(n - 3)]
    one, other = chances(learner, [(2, 1), (4, 0)], rest, query=3.0)
    assert one - other == pytest.approx(learner.claims[1].promised, abs=1e-13)


def test_two_records_do_not_attain_the_bound() -> None:
    assert (
        worst_of_all_choices("thresholds", 6, 2, 1, 0.25) < 0.5 + 0.5 * math.tanh(0.25 / 4) - 1e-4
    )
