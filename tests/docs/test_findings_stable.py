"""What docs/findings.md says of the stable learner is held to what the code computes."""

from __future__ import annotations

import itertools
import math
import re
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
from dpassay.theorems.dagan_feldman_2020.representatives import worst_of_all_choices
from tests.docs.findings_pages import FINDINGS as PAGE
from tests.mechanisms.dagan_feldman_2020.test_stable_learner import Adversarial
from tests.mechanisms.dagan_feldman_2020.test_stable_learner_worst import LABELS, excess
from tests.mechanisms.small_domains import worst

SECTION = PAGE[PAGE.index("## The stable learner") :]
NUMBER = r" \| ([\d.]+|inf)"
RULES = "least|greatest|middle"
SMALL = re.findall(
    rf"^\| (outline|lemma7) \| (\w+) \| ([\d. x]+) \| ({RULES}){NUMBER * 5} \|$",
    SECTION,
    re.MULTILINE,
)
BIG = re.findall(rf"^\| (\w+) \| ({RULES}){NUMBER * 5} \|$", SECTION, re.MULTILINE)
NETS = re.findall(rf"^\| net{NUMBER * 5} \|$", SECTION, re.MULTILINE)
ACCURACY = re.findall(rf"^\| accuracy{NUMBER * 9} \|$", SECTION, re.MULTILINE)
ROUNDED = re.findall(
    rf"^\| stable-learner \| ({RULES}|adverse){NUMBER * 5} \|$", SECTION, re.MULTILINE
)
WORST = re.findall(rf"^\| n = (\d){NUMBER * 5} \|$", SECTION, re.MULTILINE)
BOUNDS = re.findall(
    rf"^\| lower bound \| (\d+) \| (\d+) \| (outline|lemma7){NUMBER * 5} \|$", SECTION, re.MULTILINE
)


def shown(value: float) -> str:
    return "inf" if value == math.inf else f"{value:.6f}"


def test_the_page_has_its_rows() -> None:
    assert (len(SMALL), len(BIG), len(NETS), len(ACCURACY), len(BOUNDS)) == (36, 15, 3, 5, 5)
    assert (len(ROUNDED), len(WORST)) == (7, 4)


def check_small(
    calibration: str,
    name: str,
    domain: str,
    rule: str,
    claimed: str,
    corrected: str,
    true: str,
    factor: str,
    epsilon: str,
) -> None:
    learner: Any = resolve(
        "stable-learner",
        {"gamma": 0.5, "n": 4, "calibration": calibration, "H": name, "representative": rule},
    ).mechanism
    sides = [range(1, int(side.split("..")[1]) + 1) for side in domain.split(" x ")]
    gamma, loss = worst(learner, list(itertools.product(*sides)))
    printed, mended = learner.claims
    assert (f"{printed.gamma:g}", f"{mended.gamma:.6f}", shown(gamma.value), shown(loss.value)) == (
        claimed,
        corrected,
        true,
        epsilon,
    )
    assert f"{printed.gamma / gamma.value:.3f}" == factor
    assert gamma.value <= mended.gamma


@pytest.mark.parametrize("row", [row for row in SMALL if row[2] != "1..3 x 1..3"], ids="-".join)
def test_small_domains(row: tuple[str, ...]) -> None:
    check_small(*row)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in SMALL if row[2] == "1..3 x 1..3"], ids="-".join)
def test_the_larger_grid(row: tuple[str, ...]) -> None:
    check_small(*row)


@pytest.mark.parametrize("row", BIG, ids="-".join)
def test_the_catalogue(row: Any) -> None:
    name, rule, claimed, corrected, found, factor, epsilon = row
    learner: Any = resolve("stable-learner", {"H": name, "representative": rule}).mechanism
    result = audit(learner, claim=learner.claims[0], mode="exact")
    assert result.measured is not None
    assert result.exact is not None
    assert result.measured.exact is not None
    assert f"{learner.claims[0].gamma:g}" == claimed
    assert (
        f"{learner.claims[1].gamma:.6f}",
        shown(result.exact),
        shown(result.measured.exact),
    ) == (corrected, found, epsilon)
    assert f"{learner.claims[0].gamma / result.exact:.3f}" == factor


@pytest.mark.parametrize(("alpha", "line", "intervals", "plane", "exact"), NETS)
def test_nets(alpha: str, line: str, intervals: str, plane: str, exact: str) -> None:
    a = float(alpha)
    sizes = [net_size(a, a, H.growth) for H in (Thresholds(), Intervals(), Halfspaces(points=8))]
    assert [str(size) for size in sizes] == [line, intervals, plane]
    assert str(smallest_net(1000, a)) == exact


def smallest_net(n: int, alpha: float) -> int:
    return next(size for size in range(1, n) if net_probability(n, size, alpha) >= 1 - alpha)


@pytest.mark.parametrize("row", ACCURACY, ids="-".join)
def test_accuracy(row: Any) -> None:
    alpha, gamma, n, size, net, exact, exponential, bound, found = row
    a = float(alpha)
    learner = StableLearner(n=int(n), gamma=float(gamma), alpha=a, calibration="lemma7")
    assert str(learner.n_prime) == size
    assert str(net_size(a, a, Thresholds().growth)) == net
    assert str(smallest_net(learner.n, a)) == exact
    assert str(exponential_size(learner.n_prime + 1, learner.epsilon, a)) == exponential
    assert learner.n_prime >= int(exact)
    assert learner.n >= int(exponential)
    x = np.arange(learner.n, dtype=float)
    assert f"{3 * a:.2f}" == bound
    assert (
        f"{max(excess(learner, Labelled(x[:, None], make(x))) for make in LABELS.values()):.4f}"
        == found
    )


@pytest.mark.parametrize("row", BOUNDS, ids="-".join)
def test_theorem_4(row: Any) -> None:
    d, n, calibration, gamma, true, alpha, bound, factor = row
    target = resolve(
        "stable-learner",
        {"n": n, "calibration": calibration, "gamma": gamma, "H": "functions", "points": d},
    )
    found = any_size(target, target.claims[0])
    assert found is not None
    assert f"{found.loss:.6f}" == true
    learner: Any = target.mechanism
    hit, missed = hit_and_missed(learner.n, learner.n_prime)
    counts = np.arange(learner.n + 1)
    wrong = hit * expit(-learner.epsilon * counts / 2) + missed / 2

    def loss(a: float) -> float:
        masses = np.array([*([4 * a / (int(d) - 1)] * (int(d) - 1)), 1 - 4 * a])
        return float(sum(p * (binom.pmf(counts, learner.n, p) @ wrong) for p in masses))

    least = next(k / 1000 for k in range(1, 251) if loss(k / 1000) <= k / 1000)
    assert f"{least:.3f}" == alpha
    needed = (int(d) - 1) / (8 * found.loss * least)
    assert (f"{needed:.1f}", f"{learner.n / needed:.2f}") == (bound, factor)
    assert 1 <= learner.n / needed < (3 if calibration == "lemma7" else 5)


def test_the_representatives_that_attain_the_corrected_claim_by_hand() -> None:
    learner = StableLearner(n=3, gamma=0.5, calibration="lemma7", H=Adversarial(points=4))
    seen = []
    for x, y in ((1.0, 1), (2.0, 0)):
        law = learner.distribution(
            learner.prepare(Labelled(np.array([[x], [3.0], [3.0]]), np.array([y, 0, 1]))),
            np.array([[4.0]]),
        )
        assert law is not None
        seen.append(float(law.p[0, 1]))
    assert (learner.n_prime, learner.epsilon) == (1, 0.5)
    assert [f"{p:.4f}" for p in (*seen, seen[0] - seen[1])] == ["0.7081", "0.2919", "0.4162"]
    assert [f"{float(expit(t)):.4f}" for t in (0.25, -0.25)] == ["0.5622", "0.4378"]
    assert seen[0] - seen[1] == pytest.approx(1 / 3 + 2 / 3 * math.tanh(0.125), abs=1e-12)


def test_an_unseen_point_by_hand() -> None:
    learner = StableLearner(n=4, gamma=0.5, calibration="lemma7", H="functions")
    p = []
    for x in (2.0, 1.0):
        law = learner.distribution(
            learner.prepare(Labelled(np.array([[x], [2.0], [2.0], [2.0]]), np.array([1, 0, 0, 0]))),
            np.array([[1.0]]),
        )
        assert law is not None
        p.append(float(law.p[0, 1]))
    assert p[0] == 0
    assert f"{p[1]:.4f}" == "0.2811"


@pytest.mark.parametrize(("n", "gamma"), [(400, 0.5), (600, 0.4)])
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


@pytest.mark.parametrize(("rule", "n", "size", "claimed", "corrected", "found"), ROUNDED)
def test_rounded_up(rule: str, n: str, size: str, claimed: str, corrected: str, found: str) -> None:
    learner: Any = resolve(
        "stable-learner", {"rounding": "up", "representative": rule, "n": int(n)}
    ).mechanism
    results = [audit(learner, claim=claim, mode="exact") for claim in learner.claims]
    assert str(learner.n_prime) == size
    assert f"{learner.claims[0].gamma:g}" == claimed
    assert f"{learner.claims[1].gamma:.6f}" == corrected
    assert [f"{result.exact:.6f}" for result in results] == [found, found]
    assert [result.verdict for result in results] == [
        "refuted" if int(n) <= 4 else "not refuted",
        "not refuted",
    ]


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


@pytest.mark.parametrize(("n", "d", "thresholds", "choices", "change", "corrected"), WORST)
def test_worst_of_all_choices(
    n: str, d: str, thresholds: str, choices: str, change: str, corrected: str
) -> None:
    size, points_ = int(n), int(d)
    assert int(thresholds) == points_ + 1
    assert int(choices) == math.factorial(points_) ** 2
    found, bound = (
        worst_of_all_choices("thresholds", points_, size, 1, 0.25),
        1 / size + (1 - 1 / size) * math.tanh(0.25 / 4),
    )
    assert f"{found:.10f} {bound:.10f}" == f"{change} {corrected}"
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
    p = []
    for record in ((2, 1), (4, 0)):
        X, y = np.array([record, *rest], dtype=float).T
        law = learner.distribution(
            learner.prepare(Labelled(X[:, None], y.astype(int))), np.array([[3.0]])
        )
        assert law is not None
        p.append(float(law.p[0, 1]))
    assert p[0] - p[1] == pytest.approx(learner.claims[1].promised, abs=1e-13)


def test_two_records_do_not_attain_the_bound() -> None:
    assert (
        worst_of_all_choices("thresholds", 6, 2, 1, 0.25) < 0.5 + 0.5 * math.tanh(0.25 / 4) - 1e-4
    )


def test_worst_representatives_by_hand() -> None:
    assert (
        f"{1 / 3:.4f} {2 / 3:.4f} {math.tanh(1 / 16):.5f} {1 / 3 + 2 / 3 * math.tanh(1 / 16):.4f}"
        == "0.3333 0.6667 0.06242 0.3749"
    )
