"""What reasons of worst cases say, held against the law or the dataset they are about. At the
catalogue's parameters and at others, which take the other branches of the words."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import part_of, sign_law
from dpassay.mechanisms.dagan_feldman_2020.functions_law import law_of_counts, states_of
from dpassay.mechanisms.dagan_feldman_2020.stable_worst import both_ways
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import projected_walk
from dpassay.mechanisms.shared.linear import targets
from dpassay.pairs import FlipLabel, Replace, Several
from dpassay.targets.resolve import resolve

Parameters = dict[str, Any]


def built(name: str, **parameters: Any) -> Any:
    return resolve(name, parameters or None).mechanism


def sides(case: WorstCase) -> tuple[Labelled, Labelled]:
    return case.pairs.base, case.pairs.changes[0].apply(case.pairs.base)


def chances(mechanism: Any, case: WorstCase) -> list[Any]:
    """Probabilities of the labels on both sides, at the first query."""
    laws = [mechanism.distribution(mechanism.prepare(data), case.queries) for data in sides(case)]
    return [np.exp(law.log_p[0]) for law in laws]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("stable-laplace-printed-scale", {}),
        ("projected-walk-below", {}),
        ("projected-walk-error", {"n": 1}),
        ("example61-half-scale", {}),
        ("histogram", {"n": 2, "m": 1}),
        ("pate", {"r": 1}),
    ],
)
def test_words_agree_with_their_numbers(name: str, given: Parameters) -> None:
    for case in built(name, **given).pairs():
        assert not re.search(r"(?<!of )\b1 (training |validation )?records", case.pairs.how)
        assert "last 0 of" not in case.pairs.how


@pytest.mark.parametrize("name", ["soft-majority", "soft-majority-overview", "noisy-average"])
@pytest.mark.parametrize(("r", "epsilon"), [(4, 1.0), (5, 20.0), (25, 1.0)])
def test_no_label_is_called_frequent_that_may_be_rare(name: str, r: int, epsilon: float) -> None:
    mechanism = built(name, r=r, epsilon=epsilon)
    case = mechanism.pairs()[1]
    rises = re.search(r"rise from (\d+) to (\d+) of (\d+), near half", case.reason)
    assert rises
    votes = [int(data.y.sum()) for data in sides(case)]
    assert [*votes, r] == [int(each) for each in rises.groups()]
    assert abs(votes[1] - r / 2) <= 0.5
    if "frequent" in case.reason:
        assert min(each.min() for each in chances(mechanism, case)) > 0.1


@pytest.mark.parametrize(
    ("epsilon", "alpha"), [(1.0, 0.05), (0.1, 0.05), (3.0, 0.05), (1.0, 0.3), (1e-4, 0.05)]
)
def test_the_bias_changes_by_what_is_said(epsilon: float, alpha: float) -> None:
    mechanism = built("projected-walk-overview", epsilon=epsilon, alpha=alpha)
    (case,) = mechanism.pairs()
    before, after = chances(mechanism, case)
    two = np.isclose(np.log(before[1] / after[1]), 2 * epsilon, rtol=1e-6)
    assert ("two factors of e^-epsilon" in case.reason) == two
    ends = np.isclose([before[1], after[1]], [1 - alpha, alpha]).all()
    assert ("from 1 - alpha to alpha" in case.reason) == ends
    assert ("label 0 is rarest" in case.reason) == np.isclose(before[0], alpha)


@pytest.mark.parametrize(("epsilon", "alpha"), [(1.0, 0.05), (0.3, 0.1), (3.0, 0.05)])
def test_which_labels_reach_every_place_of_the_bias(epsilon: float, alpha: float) -> None:
    """A zero after ones up to the border is no place that equal labels reach."""
    mechanism = built("projected-walk-overview", epsilon=epsilon, alpha=alpha)
    known, most = mechanism.reachable(), 2 + int(np.log(1 / alpha) / epsilon)
    states = {round(float(p), 9) for p in np.exp(known.law.log_p[:, 1])}
    reached: dict[int, set[float]] = {1: set(), 2: set()}
    for first, one, other in product((0, 1), range(most), range(2 * most)):
        y = np.array([first] * one + [1 - first] * other, dtype=np.int64)
        if len(y):
            x = np.arange(len(y), dtype=float)[:, None]
            law = mechanism.distribution(mechanism.prepare(Labelled(x, y)), x[-1:])
            runs = len(set(y))
            for k in range(runs, 3):
                reached[k].add(round(float(np.exp(law.log_p[0, 1])), 9))
    start = {0.5}  # no record at all lies before the query
    assert reached[2] | start == states
    said = "two runs of equal labels reach" in known.argument
    assert said or reached[1] | start == states


@pytest.mark.parametrize(("n", "T"), [(1, 1), (4, 1), (8, 8), (20, 8), (31, 8), (32, 8), (100, 8)])
@pytest.mark.parametrize("ties", ["index", "label"])
def test_last_labels_decide_a_walk_wherever_it_was_before(n: int, T: int, ties: str) -> None:
    name = "projected-walk-tied-in-order" if ties == "index" else "projected-walk-tied-by-label"
    (case,) = built(name, n=n, T=T).pairs()
    steps = 2 * np.sort(case.pairs.base.y) - 1 if ties == "label" else 2 * case.pairs.base.y - 1
    few = re.search(r"decided by the last (\d+) labels", case.reason)
    reached = (
        {
            int(
                projected_walk(
                    np.r_[np.full(abs(v), np.sign(v), dtype=int), steps[-int(few[1]) :]], T
                )[-1]
            )
            for v in range(-T, T + 1)
        }
        if few
        else set()
    )
    assert len(reached) == bool(few) == (n >= 4 * T)


@pytest.mark.parametrize("base", ["projected-walk", "projected-walk,T=2", "soft-majority,r=5"])
def test_a_subset_has_no_more_records_than_the_reason_speaks_of(base: str) -> None:
    mechanism = built("subsampled", base=base)
    (case,) = mechanism.pairs()
    assert len(set(case.pairs.base.y)) == 1
    assert all(other in {0, 1} for other in np.unique(sides(case)[1].y))
    ends = re.findall(r"ends at (-?\d+)", case.reason)
    assert all(abs(int(end)) <= mechanism.size for end in ends)
    assert f"{mechanism.size}/{mechanism.n}" in case.reason


CHOICES: list[tuple[str, Parameters]] = [
    (name, given)
    for name in ("alpha-split", "random-choice", "data-split")
    for given in (
        {},
        {"m": 2},
        {"base": "objective-perturbation,lambdas=1;0.1"},
        {"base": "output-perturbation,lambdas=1;0.5;0.1;0.01"},
        {"base": "objective-perturbation,lambdas=1;0.1,n=8", "m": 1},
        {"base": "objective-perturbation,lambdas=1;0.1;0.01,n=5", "m": 1},
    )
]


@pytest.mark.parametrize(("name", "given"), CHOICES)
def test_signs_before_the_choice_are_as_likely_as_is_said(name: str, given: Parameters) -> None:
    mechanism = built(name, **given)
    k = len(mechanism.thetas)
    for case in mechanism.pairs():
        negative = np.array([signs_of(mechanism, data, k) for data in sides(case)])
        trained, first = len(case.pairs.base) - mechanism.m, case.pairs.changes[0]
        assert isinstance(first, FlipLabel)
        if "equally likely" in case.reason:
            assert np.allclose(negative[0], 0.5)
        if "balance up to" in case.reason:
            v = mechanism.trainer.signed(case.pairs.base, slice(0, trained))[:, 0]
            parts = [abs(v[mechanism.rows(i, k)].sum()) for i in range(k)]
            assert max(parts) <= 0.5 + 1e-12
        if "all labels of T are equal" in case.reason:
            assert set(case.pairs.base.y[:trained]) == {1}
        if "likelier" in case.reason:
            assert (negative[1] >= negative[0]).all()
            assert (negative[1] > negative[0]).any()
        if "in the last part" in case.reason:
            assert (negative[1] > negative[0]).tolist() == [False] * (k - 1) + [True]
        if "rare" in case.reason:
            assert negative.max() < 0.1


def signs_of(mechanism: Any, data: Labelled, k: int) -> list[float]:
    """Probability of a negative weight of each part, before the choice."""
    state = mechanism.prepare(data)
    laws = [
        sign_law(mechanism.trainer, part_of(state, mechanism.rows(i, k), mechanism.m), theta)
        for i, theta in enumerate(mechanism.thetas)
    ]
    return [float(np.exp(law.log_p[0][0])) for law in laws if law is not None]


@pytest.mark.parametrize("m", [1, 2, 3, 10])
@pytest.mark.parametrize("V", ["shared", "overlooked"])
def test_the_part_that_is_wrong_more_often_than_the_others(V: str, m: int) -> None:
    mechanism = built("data-split", V=V, m=m)
    k = len(mechanism.thetas)
    few, many = mechanism.pairs()
    for case in (few, many):
        before, after = (1 - np.array(signs_of(mechanism, data, k)) for data in sides(case))
        one, other = (mechanism.prepare(data) for data in sides(case))
        wrong, right = np.array([[1.0]]), np.array([[-1.0]])
        assert mechanism.losses(wrong, one) - mechanism.losses(wrong, other) == 1
        assert mechanism.losses(right, other) - mechanism.losses(right, one) == 1
        assert (after > before).sum() == 1  # P[the wrong sign]
    assert "more often than the others" in many.reason
    assert before.argmax() == after.argmax() == (after > before).argmax()
    assert ("almost never" in many.reason) <= (np.sort(before)[-2] < 1e-3)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("stable-learner", {}),
        ("stable-learner", {"n": 50, "representative": "greatest"}),
        ("stable-learner", {"n": 40, "H": "intervals"}),
        ("stable-learner-rounded-up", {}),
        ("label-flip", {"epsilon": 0.3}),
    ],
)
def test_equal_records_are_counted(name: str, given: Parameters) -> None:
    said = [case for case in built(name, **given).pairs() if "equal records" in case.pairs.how]
    assert said
    for case in said:
        base = case.pairs.base
        counts = np.unique(np.column_stack([base.X, base.y]), axis=0, return_counts=True)[1]
        number = re.match(r"(\d+) equal records(, one of which)?", case.pairs.how)
        assert number
        assert int(number[1]) == counts.max()
        assert bool(number[2]) == (len(counts) == 1)


@pytest.mark.parametrize("points", [1, 3])
def test_a_move_of_counts_is_the_largest_of_what_is_named(points: int) -> None:
    mechanism = built("stable-learner", H="functions", points=points, n=40)
    states = states_of(mechanism.hypotheses, mechanism.representative, 40)
    assert states is not None
    counts, moves = states
    law = law_of_counts(counts, 40, epsilon=mechanism.epsilon, m=mechanism.n_prime)
    gamma, epsilon = both_ways(
        *(FiniteLaw(log_p=law.log_p[each], error=law.error) for each in moves.T)
    )
    for case in mechanism.pairs():
        found = [
            mechanism.distribution(mechanism.prepare(data), case.queries) for data in sides(case)
        ]
        change, loss = (each[0] for each in both_ways(*found))
        assert ("largest change" in case.reason) == (change >= gamma.max() * (1 - 1e-9))
        assert "largest loss" not in case.reason or loss >= epsilon.max() * (1 - 1e-9)
        assert "loss" in case.reason or "change" in case.reason


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"representative": "greatest"},
        {"n": 50},
        {"n": 50, "points": 1},
        {"n": 50, "r": 1},
        {"n": 12},
        {"alpha": 0.45},
    ],
)
def test_the_rarer_label_and_the_balance_of_a_crowd(given: Parameters) -> None:
    mechanism = built("relabelled", **given)
    for case in mechanism.pairs():
        base = case.pairs.base
        at = (case.queries[0] == base.X).all(axis=1)
        rarer = re.search(r"fewer records have label (\d)", case.reason)
        if rarer:
            assert 2 * (base.y[at] == int(rarer[1])).sum() < at.sum()
            assert chances(mechanism, case)[0][int(rarer[1])] < 0.5
        assert "probability near" not in case.reason
        assert "equally likely" not in case.reason
        number = re.match(r"(\d+) of \d+ records at one point, (\d+) of all", case.pairs.how)
        assert number
        assert [int(each) for each in number.groups()] == [at.sum(), base.y.sum()]
        if "differ by at most" in case.reason:
            for data in sides(case):
                labels = data.y[(case.queries[0] == data.X).all(axis=1)]
                assert abs(2 * labels.sum() - len(labels)) <= 3
        moved = not (sides(case)[0].X == sides(case)[1].X).all()
        assert ("moves away" in case.pairs.how) == moved == ("T does too" in case.reason)


@pytest.mark.parametrize("adversary", ["repeat", "sweep", "adaptive", "batch"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_only_who_repeats_asks_the_query_again(adversary: str, m: int) -> None:
    mechanism = built("interface", adversary=adversary, m=m)
    for case in mechanism.pairs():
        asked = mechanism.itinerary.of(case.queries)
        again = f"the query is asked {m} time" in case.reason
        assert again == (adversary == "repeat")
        assert not again or len(np.unique(asked, axis=0)) == 1


@pytest.mark.parametrize(
    ("base", "k"),
    [
        ("soft-majority", 3),
        ("soft-majority", 20),
        ("soft-majority,r=5", 9),
        ("projected-walk-overview", 3),
        ("pate,K=3", 2),
        ("soft-majority", 1),
    ],
)
def test_as_many_labels_are_flipped_as_is_said(base: str, k: int) -> None:
    for case in built("group", base=base, k=k).pairs():
        before, after = sides(case)
        changed = int((before.y != after.y).sum())
        flips = isinstance(case.pairs.changes[0], Several)
        said = re.search(r"; (\d+) labels are flipped", case.reason)
        assert (said is not None) == flips == ("in all" in case.pairs.how)
        assert changed == (int(said[1]) if said else 1)


@pytest.mark.parametrize("loss", ["absolute", "hinge", "logistic", "squared"])
@pytest.mark.parametrize("epsilon", [0.5, 1e-4])
def test_what_limits_the_change_of_a_minimiser(loss: str, epsilon: float) -> None:
    """Only the regulariser does where the slope is the same on the way: the change is the most."""
    mechanism = built("erm-laplace", loss=loss, epsilon=epsilon)
    (case,) = mechanism.pairs()
    laws = [mechanism.distribution(mechanism.prepare(data), case.queries) for data in sides(case)]
    change = abs(float(laws[0].values[0] - laws[1].values[0]))
    most = mechanism.claims[-1].promised
    alone = "only the regulariser limits" in case.reason
    assert alone == bool(np.isclose(change, most, rtol=1e-3))


@pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "smooth-hinge"])
@pytest.mark.parametrize(("n", "R"), [(2, 0.2), (5, 1.0), (30, 5.0)])
def test_steps_of_the_wrong_sign(loss: str, n: int, R: float) -> None:
    mechanism = built("psgd-plus-sign", loss=loss, n=n, R=R)
    case = mechanism.pairs()[1]
    known = mechanism.loss_function
    ways = []
    for data in sides(case):
        y, w = targets(data), np.zeros(mechanism.features(data.X).shape[1])
        phi, way = mechanism.features(data.X), [w]
        way += list(mechanism._steps(phi, y, np.arange(n)))
        for t in range(n):
            before, after = (
                known.value(np.array([phi[t] @ each]), y[t : t + 1])[0] for each in way[t : t + 2]
            )
            assert after >= before - 1e-12
        assert np.linalg.matrix_rank(np.array(way)) <= 1
        ways.append(np.array(way))
    apart = np.linalg.norm(ways[0] - ways[1], axis=1)[1:]
    assert "further apart" not in case.reason or (np.diff(apart) > 0).all()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("objective-perturbation", {}),
        ("objective-perturbation", {"loss": "huber"}),
        ("objective-perturbation", {"n": 1, "m": 0}),
        ("output-perturbation", {}),
        ("algorithm-3-hinge-loss", {}),
        ("theorem-4-lost-factor", {"loss": "logistic"}),
    ],
)
def test_how_the_gradient_of_a_replaced_record_changes(name: str, given: Parameters) -> None:
    mechanism = built(name, **given)
    case, loss = mechanism.pairs()[0], mechanism.training_loss

    def pull(v: float, w: float) -> float:
        return float(loss.slope(np.array([v * w]))[0]) * v

    trained = len(case.pairs.base) - mechanism.m
    old, new = (mechanism.signed(data, slice(0, trained))[:, 0] for data in sides(case))
    assert np.sign(old[0]) == -np.sign(new[0]) != 0  # it changes sides
    assert pull(old[0], 0.0) * pull(new[0], 0.0) < 0  # and pulls the other way
    assert ("at the origin" in case.reason) == (trained > 1 and not old[1:].any())
    weights, grid = np.append(np.linspace(-8, 8, 65), 4.0316), np.linspace(-1, 1, 21)
    most = max(abs(pull(a, w) - pull(b, w)) for w in weights for a, b in product(grid, grid))
    own = max(abs(pull(old[0], w) - pull(new[0], w)) for w in weights)
    assert "changes most" not in case.reason or own >= most * (1 - 1e-9)
    if "keeps its sign" in case.reason:
        w = np.array([mechanism.worst_weight])
        noise = [
            mechanism.crossing(mechanism.prepare(data), mechanism.lambda_, w).r[0]
            for data in sides(case)
        ]
        assert noise[0] * noise[1] > 0


@pytest.mark.parametrize("given", [{}, {"m": 0}, {"h": 1.0}, {"h": 1.0, "m": 0}, {"n": 2, "m": 1}])
def test_which_counts_of_a_histogram_change(given: Parameters) -> None:
    mechanism = built("histogram", **given)
    (case,) = mechanism.pairs()
    base, changes = case.pairs.base, case.pairs.changes
    moved = mechanism.prepare(changes[0].apply(base)) - mechanism.prepare(base)
    assert ("two counts" in case.reason) == (np.abs(moved).tolist().count(1) == 2)
    assert ("no count changes" in case.reason) == (not moved.any())
    assert ("of either" in case.pairs.how) == (len(changes) == 2)
    n, m = re.match(r"(\d+) training", case.pairs.how), re.search(r"(\d+) valid", case.pairs.how)
    assert n
    assert int(n[1]) == mechanism.n - mechanism.m
    assert int(m[1]) if m else not mechanism.m


def test_a_noisy_count_is_held_against_the_number_of_training_records() -> None:
    """Which all lie in the bin: the noise decides, and is above 0 in half of all cases."""
    mechanism = built("histogram")
    (case,) = mechanism.pairs()
    law = chances(mechanism, case)[0]
    assert mechanism.m > 0
    assert law[2] + law[3] == pytest.approx(0.5)
    assert mechanism.answer_words(2, case.queries[0]).startswith("n~_i >= n - m")
    assert "n~_i >= n - m and" in mechanism.looked_at


@pytest.mark.parametrize(("n", "l"), [(1, 2), (2, 2), (5, 3), (6, 2)])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_the_lead_that_one_record_takes_away(n: int, l: int, alpha: float) -> None:  # noqa: E741
    mechanism = built("example61-exponential", n=n, m=0, l=l, alpha=alpha)
    case = mechanism.pairs()[2]
    before, after = (mechanism.counts(data) for data in sides(case))
    lead = re.search(r"takes this lead of (\d) away", case.reason)
    assert lead
    assert int(lead[1]) == before[0] - before[1] > 0 >= after[0] - after[1]
    rare = mechanism.pairs()[0]
    index = built("example61-exponential", n=n, m=0, l=l, alpha=alpha, release="index")
    first = chances(index, rare)[0][0]
    for ones in range(n + 1):  # of all counts of two candidates, the others as the second
        for others in range(n + 1):
            weights = np.exp(alpha * np.array([ones, *[others] * (l - 1)]) / 4)
            assert first <= weights[0] / weights.sum() + 1e-12


@pytest.mark.parametrize("m", [1, 2, 10])
def test_which_weights_score_best_without_noise(m: int) -> None:
    mechanism = built("control", m=m)
    (case,) = mechanism.pairs()
    weights = np.geomspace(1e-3, 100, 40)
    one, other = (mechanism.trainer.score(weights[:, None], data)[0] for data in sides(case))
    assert (np.diff(one) >= 0).all()
    assert one[-1] > one[0]
    assert np.allclose(other, other[0])
    best = np.flatnonzero(one == one.max())
    assert "the largest weights score best" not in case.reason or len(best) == 1


def test_what_is_largest_before_a_flip_is_said_of_the_base() -> None:
    for name in ("label-flip", "label-flip-above-one-half"):
        mechanism = built(name)
        for case, base in zip(mechanism.pairs(), mechanism.built.mechanism.pairs(), strict=True):
            assert case.reason == f"for the base: {base.reason}"
            before, after = chances(mechanism, case)
            assert min(before.min(), after.min()) > 0.01  # where the base's may be 0


@pytest.mark.slow
def test_the_best_of_a_search_is_the_best_of_all_its_datasets() -> None:
    """By the mechanism's own law, of every dataset that the reason speaks of."""
    grid, query = (-1.0, -0.5, 0.0, 0.5, 1.0), np.array([[1.0]])
    for name in ("validate", "equation-9-with-theorem-4"):
        mechanism = built(name)
        line, n, m = mechanism.trainer.line, mechanism.trainer.own_n, mechanism.m
        found = [case for case in mechanism.pairs() if case.reason.startswith("largest loss")]
        for where, case in zip((0, 1), found, strict=True):
            losses = []
            for v, a, b in product(grid, repeat=3):
                if a == b:
                    continue
                data = line([a] * n, [v] * m) if where == 0 else line([v] * n, [a] * m)
                new = line([b], [])
                place = n - 1 if where == 0 else n + m - 1
                other = Replace(place, new.X[0], int(new.y[0])).apply(data)
                losses.append(index_loss(mechanism, data, other, query))
            assert index_loss(mechanism, *sides(case), query) >= max(losses) * (1 - 1e-6)


def index_loss(mechanism: Any, one: Labelled, other: Labelled, query: Any) -> float:
    laws = [mechanism.distribution(mechanism.prepare(data), query) for data in (one, other)]
    return float(np.abs(laws[0].log_p[0] - laws[1].log_p[0]).max())
