"""The prediction interface: its budget, law, adversaries, and what composition promises of it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size, two_sided
from dpassay.errors import DpassayError, InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.composition import (
    advanced_composition,
    optimal_composition,
)
from dpassay.mechanisms.dwork_feldman_2018.interface import (
    BudgetSpent,
    Interface,
    PredictionInterface,
)
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import FlipLabel, Pairs
from dpassay.targets.resolve import resolve
from tests.core.toys import TableMechanism
from tests.mechanisms.dwork_feldman_2018 import twin_interface as twin
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as walk
from tests.mechanisms.dwork_feldman_2018 import twin_soft_majority as vote
from tests.mechanisms.dwork_feldman_2018.on_a_line import labelled
from tests.mechanisms.twin_worst_case import Dataset, every_dataset, neighbours

ADVERSARIES = {"repeat": twin.repeat, "sweep": twin.sweep, "adaptive": twin.adaptive}
ONE = Labelled(np.array([[1.0]]), np.array([1]))
LINE = Labelled(np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]))


def randomised_response(epsilon: float = 1.0, delta: float = 0.0) -> TableMechanism:
    """The label of record 0, told wrongly with probability 1 / (1 + e^epsilon)."""
    q = 1 / (1 + math.exp(epsilon))
    return TableMechanism(table=((1 - q, q), (q, 1 - q)), epsilon=epsilon, delta=delta)


FLIPPED = Pairs(base=ONE, changes=(FlipLabel(0),), how="the only label flipped")


# The budget


def served(
    budget: int, data: Labelled = LINE, seed: int = 0
) -> tuple[PredictionInterface, np.random.Generator]:
    """An interface over a projected walk, and the generator that it draws from."""
    rng = np.random.default_rng(seed)
    return PredictionInterface(ProjectedWalk(T=2), data, budget, rng), rng


def test_exactly_as_many_answers_as_the_budget() -> None:
    interface, _ = served(3)
    assert interface.budget == 3
    for k in range(3):
        assert interface.spent == k
        assert interface.ask([2.0]) in (0, 1)
    for _ in range(3):
        assert interface.spent == 3
        with pytest.raises(BudgetSpent):
            interface.ask([2.0])
    for name in ("budget", "spent"):
        with pytest.raises(AttributeError):
            setattr(interface, name, 0)


def test_a_refusal_is_the_same_whatever_the_data_and_draws_nothing() -> None:
    refusals = set()
    for data in (LINE, ONE):
        interface, rng = served(2, data)
        for _ in range(2):
            interface.ask([1.0])
        before = rng.bit_generator.state
        for x in ([1.0], [99.0], ["no point"]):
            with pytest.raises(DpassayError) as refusal:
                interface.ask(x)
            refusals.add((type(refusal.value), str(refusal.value)))
        assert rng.bit_generator.state == before
    assert refusals == {(BudgetSpent, "the budget of 2 predictions is spent: no more answers")}


@pytest.mark.parametrize("x", [[1.0, 2.0], [math.nan], [math.inf], 1.0, [[1.0]], [], ["one"], None])
def test_what_is_no_point_costs_nothing(x: Any) -> None:
    interface, rng = served(1)
    before = rng.bit_generator.state
    with pytest.raises(InvalidInput, match="x"):
        interface.ask(x)
    assert interface.spent == 0
    assert rng.bit_generator.state == before
    interface.ask([1.0])
    assert interface.spent == 1


def test_a_prediction_that_fails_has_been_paid_for() -> None:
    class Failing(ProjectedWalk):
        def sample(self, *_: Any, **__: Any) -> NDArray[np.int64]:
            raise ZeroDivisionError

    interface = PredictionInterface(Failing(), ONE, 1, np.random.default_rng(0))
    with pytest.raises(ZeroDivisionError):
        interface.ask([0.0])
    with pytest.raises(BudgetSpent):
        interface.ask([0.0])


def test_threads_share_one_budget() -> None:
    interface, _ = served(37)

    def ask(_: int) -> bool:
        try:
            interface.ask([2.0])
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(200))) == 37
    assert interface.spent == 37


@pytest.mark.parametrize("budget", [0, 1.5, True, None, "3"])
def test_what_is_no_budget_and_no_generator(budget: Any) -> None:
    with pytest.raises(InvalidInput, match="budget"):
        served(budget)
    with pytest.raises(InvalidInput, match=r"rng = 0: must be a numpy.random.Generator"):
        PredictionInterface(ProjectedWalk(), LINE, 3, cast("Any", 0))


# What is played is what is audited


def play(interface: PredictionInterface, x: float, asked: int, adversary: twin.Adversary) -> int:
    """Ask so often, and write the transcript down; a refusal as 0."""
    answers: list[int] = []
    for _ in range(asked):
        x = adversary(x, answers[-1] if answers else None)
        try:
            answers.append(int(interface.ask([x])))
        except BudgetSpent:
            answers.append(0)
    return twin.number(tuple(answers))


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_conversations_with_the_interface_follow_the_law(adversary: Any) -> None:
    """Played with the object that users have, and two queries more than the budget allows."""
    mechanism, plays = Interface(base="projected-walk,T=2", adversary=adversary), 1500
    law = mechanism.distribution(mechanism.prepare(LINE), points([[2.0]], "queries"))
    assert law is not None
    rng = np.random.default_rng(5)
    found = [
        play(PredictionInterface(ProjectedWalk(T=2), LINE, 3, rng), 2.0, 5, ADVERSARIES[adversary])
        for _ in range(plays)
    ]
    counts = np.bincount(found, minlength=8)[None]
    assert two_sided(counts, plays, law).min() * 8 >= 1e-3
    for name in ADVERSARIES.keys() - {adversary}:
        other = Interface(base="projected-walk,T=2", adversary=cast("Any", name))
        wrong = other.distribution(other.prepare(LINE), points([[2.0]], "queries"))
        assert wrong is not None
        assert two_sided(counts, plays, wrong).min() * 8 < 1e-3


def test_the_adaptive_adversary_by_hand() -> None:
    """V is 0 below 1, -1 at 1 and 2, 0 from 3 on. Asked at 2: after a 1 at 1, after a 0 at 3."""
    mechanism = Interface(base=ProjectedWalk(T=2), m=2, adversary="adaptive")
    law = mechanism.distribution(mechanism.prepare(LINE), points([[2.0]], "queries"))
    assert law is not None
    s = 1 / (1 + math.exp(0.5))
    expected = {(0, 0): (1 - s) / 2, (1, 0): s * (1 - s), (0, 1): (1 - s) / 2, (1, 1): s * s}
    np.testing.assert_allclose(law.p[0], [expected[t & 1, t >> 1] for t in range(4)], rtol=1e-14)


# The law against the twin

BASES: dict[str, tuple[float, Callable[[Dataset, float], float]]] = {
    "projected-walk,T=2": (
        1.0,
        functools.partial(walk.probability_of_one, epsilon=1.0, T=2, ties="sum"),
    ),
    "soft-majority,r=2,learner=tree": (
        0.7,
        functools.partial(vote.theorem, epsilon=0.7, r=2, learner=vote.splitting_at_the_middle),
    ),
    "soft-majority,r=2,learner=majority,partition=fresh": (
        1.0,
        functools.partial(vote.fresh, epsilon=1.0, r=2, learner=vote.majority, answer=vote.theorem),
    ),
}
"""Each with its loss, and the twin's probability of the answer 1 at a point."""


@pytest.mark.parametrize(
    ("base", "adversary"),
    [
        *((base, "adaptive") for base in BASES),
        *((next(iter(BASES)), adversary) for adversary in ("repeat", "sweep")),
    ],
)
def test_every_law_of_a_small_domain_and_its_worst_loss(base: str, adversary: Any) -> None:
    """Against the twin and all its pairs of neighbours; both composed claims are verified."""
    epsilon, one = BASES[base]
    laws: dict[tuple[Dataset, int], dict[twin.Answers, Fraction]] = {}
    mechanism = Interface(base=base, adversary=adversary, epsilon=epsilon)
    for dataset in every_dataset(3, 2):
        law = mechanism.distribution(
            mechanism.prepare(labelled(dataset)), points([[1.0], [2.0]], "queries")
        )
        assert law is not None
        for x, row in zip((1, 2), law.p, strict=True):
            at = functools.cache(functools.partial(one, dataset))
            expected = twin.conversations(at, x, 3, ADVERSARIES[adversary])
            found = [row[twin.number(answers)] for answers in expected]
            assert found == pytest.approx([float(p) for p in expected.values()], rel=1e-12)
            laws[dataset, x] = expected
    worst = max(
        twin.loss(law, laws[other, x])
        for (dataset, x), law in laws.items()
        for other in neighbours(dataset, 2)
    )
    for claim in mechanism.claims:
        result = audit(mechanism, claim=claim, mode="exhaustive", domain=Domain(n=3, points=2))
        assert result.verdict == "verified"
        if claim == mechanism.claims[0]:
            assert claim.promised == pytest.approx(3 * epsilon, rel=1e-15)
            assert result.evidence is not None
            losses = [cell.exact.value for cell in result.evidence.cells if cell.exact]
            assert max(losses[:2]) == pytest.approx(worst, abs=1e-9)


# Claims


def facts(mechanism: Interface) -> list[tuple[str, float, float]]:
    return [
        (claim.status, claim.epsilon, claim.delta)
        for claim in mechanism.claims
        if isinstance(claim, DP)
    ]


def test_claims_of_the_catalogue_entry() -> None:
    printed, corrected = Interface().claims
    assert facts(Interface()) == [
        ("printed", 3.0, 0.0),
        ("corrected", pytest.approx(2.974072, abs=1e-6), 0.01),
    ]
    assert printed.unit == corrected.unit == "transcript of 3 predictions"
    assert "Dwork and Roth 2014, Theorem 3.16" in printed.source
    assert "Definition 1.1" in printed.source
    assert printed.coins.startswith("in each prediction: ")
    assert printed.expected is None


def test_advanced_composition_is_claimed_where_it_is_below_basic() -> None:
    """m > 2 ln(1 / delta') is needed, however small epsilon is: 2 ln 10 = 4.6."""
    small: dict[str, Any] = {"base": "projected-walk", "epsilon": 0.01, "delta_prime": 0.1}
    for m in (1, 4, 5, 10):
        mechanism = Interface(m=m, **small)
        advanced = math.sqrt(2 * m * math.log(10)) * 0.01 + m * 0.01 * (math.exp(0.01) - 1)
        assert advanced_composition(0.01, m, 0.1) == pytest.approx(advanced, rel=1e-14)
        found = [claim for claim in mechanism.claims if "Theorem 3.20" in claim.source]
        assert bool(found) == (advanced < m * 0.01) == (m >= 5)
        for claim in found:
            assert claim.promised == pytest.approx(advanced)
            assert (claim.as_json()["delta"], claim.status) == (0.1, "printed")
        verdicts = {audit(mechanism, claim=claim).verdict for claim in mechanism.claims}
        assert verdicts == {"not refuted"}


def test_claims_follow_those_of_the_base() -> None:
    overview = Interface(base="soft-majority-overview", m=2)
    assert facts(overview)[:2] == [("printed", 2.0, 0.0), ("corrected", 4.0, 0.0)]
    assert facts(overview)[2] == ("corrected", optimal_composition(2.0, 2, 0.01), 0.01)
    verdicts = [audit(overview, claim=claim).verdict for claim in overview.claims]
    assert verdicts == ["refuted", "not refuted", "not refuted"]
    vote = Interface(base="noisy-average")
    single = cast("DP", resolve("noisy-average").claims[1]).epsilon
    assert facts(vote)[1] == ("corrected", 3 * single, 0.0)
    assert facts(vote)[2] == ("corrected", optimal_composition(single, 3, 0.01), 0.01)


def test_deltas_add_up_and_have_no_optimal_composition_here() -> None:
    assert facts(Interface(base=randomised_response(0.5, 0.3), m=2)) == [("own", 1.0, 0.6)]


# Composition


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
@pytest.mark.parametrize(("epsilon", "m"), [(0.1, 5), (1.0, 1), (1.0, 5), (3.0, 2)])
def test_optimal_composition_is_what_randomised_response_loses(
    epsilon: float, m: int, delta: float
) -> None:
    """In fractions: delta is reached at the result, and exceeded just below it."""
    p = Fraction(1 / (1 + math.exp(-epsilon)))
    one = twin.conversations(lambda _: float(p), 0.0, m, twin.repeat)
    other = twin.conversations(lambda _: float(1 - p), 0.0, m, twin.repeat)
    least = optimal_composition(epsilon, m, delta)
    assert least <= m * epsilon * (1 + 1e-12) + 1e-12
    if least == 0:
        assert twin.excess(one, other, 0.0) <= delta
    else:
        assert twin.excess(one, other, least) <= delta * (1 + 1e-9)
        assert twin.excess(one, other, least - 1e-6) > delta


@pytest.mark.parametrize(("m", "adversary"), [(1, "repeat"), (3, "sweep"), (6, "adaptive")])
def test_randomised_response_attains_both_claims(m: int, adversary: Any) -> None:
    mechanism = Interface(base=randomised_response(0.5), m=m, adversary=adversary)
    for claim in mechanism.claims:
        result = audit(mechanism, claim=claim, pairs=FLIPPED, queries=[[0.0]])
        assert result.verdict == "not refuted"
        assert result.exact == pytest.approx(claim.promised, abs=1e-9)
    optimal = cast("DP", mechanism.claims[-1])
    assert optimal.delta == 0.01
    less = DP(epsilon=optimal.epsilon - 1e-6, delta=optimal.delta)
    assert audit(mechanism, claim=less, pairs=FLIPPED, queries=[[0.0]]).verdict == "refuted"


def test_tiny_and_large_losses() -> None:
    """Where delta alone is enough there is no second claim; nothing overflows."""
    assert optimal_composition(0.001, 3, 0.01) == 0
    assert facts(Interface(epsilon=0.001)) == [("printed", 0.003, 0.0)]
    mechanism = Interface(base="projected-walk", epsilon=230.0)
    assert facts(mechanism)[0] == ("printed", 690.0, 0.0)
    for claim in mechanism.claims:
        assert audit(mechanism, claim=claim).verdict == "not refuted"


# Interfaces that do not count


class Forgetful(PredictionInterface):
    """Never remembers that it answered."""

    def ask(self, x: Any) -> int | float:
        answer = super().ask(x)
        self._spent = 0
        return answer


class OneTooMany(PredictionInterface):
    """Counts from the second answer."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._spent = -1


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [(PredictionInterface, "not refuted"), (Forgetful, "refuted"), (OneTooMany, "refuted")],
)
def test_an_interface_that_answers_too_often_is_refuted(
    kind: type[PredictionInterface], verdict: str
) -> None:
    """Budget 1, asked twice. An answer loses 1 nat, so 1 is claimed and 2 are found out."""

    def conversation(data: Labelled, _: Any, size: int, rng: np.random.Generator) -> Any:
        asked = [kind(randomised_response(), data, 1, rng) for _ in range(size)]
        return np.array([[play(each, 0.0, 2, twin.repeat)] for each in asked])

    found = audit(
        conversation,
        claim=DP(epsilon=1.0),
        pairs=FLIPPED,
        queries=[[0.0]],
        labels=(0, 1, 2, 3),
        budget=1000,
        executor="inline",
    )
    assert found.verdict == verdict
    assert (found.lower > 1.0) == (verdict == "refuted")


def one_coin_for_all(
    data: Labelled, queries: Any, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draws its noise once per call: the label of record 0 below 1, else 0, or wrong."""
    wrongly = rng.random((size, 1)) > 1 / (1 + math.exp(-1))
    truth = np.where(np.asarray(queries)[:, 0] < 1, data.y[0], 0)
    return (truth ^ wrongly).astype(np.int64)


def test_noise_drawn_once_per_call_is_found_by_asking_in_batches() -> None:
    """2 answers of different calls lose 2 nats; 2 of one call more."""
    found = {}
    for adversary in ("repeat", "sweep", "batch"):
        parameters = {"base": f"{__name__}:one_coin_for_all", "m": 2, "adversary": adversary}
        target = resolve("interface", parameters, (DP(epsilon=2.0),))
        found[adversary] = audit(
            target.mechanism,
            claim=target.claims[0],
            pairs=FLIPPED,
            queries=[[0.0]],
            mode="monte-carlo",
            budget=4000,
            executor="inline",
            stop_early=False,
        )
    verdicts = [each.verdict for each in found.values()]
    assert verdicts == ["not refuted", "not refuted", "refuted"]
    assert found["batch"].lower > 5


# Parameters, states, sampling


def test_reachable_states_for_the_adversary_that_repeats() -> None:
    target = resolve("interface", {"base": "soft-majority,r=3", "m": 2})
    found = any_size(target, target.claims[0])
    assert found is not None
    expected = 2 * math.log((1 + math.exp(1.5)) / (1 + math.exp(0.5)))
    assert found.loss == pytest.approx(expected, abs=1e-12)
    assert {int(state[0]) for state in found.states} in ({0, 1}, {2, 3})
    assert "All 2 answers are given at one point" in found.argument
    for unknown in (
        {"adversary": "adaptive"},
        {"adversary": "sweep"},
        {"base": "soft-majority,partition=fresh"},
        {"base": randomised_response()},
    ):
        assert resolve("interface", unknown).reachable() is None


def test_the_base_is_written_down_in_full() -> None:
    assert Interface().base == "soft-majority,r=25,learner=logistic,partition=fixed"
    spaced = Interface(base=" projected-walk , T = 4 ")
    assert spaced.base == "projected-walk,T=4,feature=0,ties=sum,traversed=up-to"
    built = Interface(base="soft-majority,r=5,learner=tree", epsilon=0.5)
    assert built.predictor == SoftMajority(epsilon=0.5, r=5, learner="tree")
    assert Interface(base=built.base, epsilon=0.5) == built


def test_an_object_brings_its_own_loss() -> None:
    base = SoftMajority(epsilon=0.25, r=3)
    mechanism = Interface(base=base)
    assert mechanism.epsilon == 0.25
    assert facts(mechanism)[0] == ("printed", 0.75, 0.0)
    assert Interface(base=base, epsilon=0.25) == mechanism
    with pytest.raises(InvalidInput, match=r"2.0: must be what the base claims, 0.25, or left out"):
        Interface(base=base, epsilon=2.0)
    named = "dpassay.mechanisms.dwork_feldman_2018.soft_majority:SoftMajority"
    assert Interface(base=named, epsilon=0.3).epsilon == 0.3


def test_an_interface_of_one_prediction_is_the_base_and_can_be_one() -> None:
    single, base = Interface(base="projected-walk,T=2", m=1), ProjectedWalk(T=2)
    queries = points([[1.0], [3.0]], "queries")
    law = single.distribution(single.prepare(LINE), queries)
    assert law is not None
    np.testing.assert_array_equal(law.log_p, base.distribution(base.prepare(LINE), queries).log_p)
    assert facts(Interface(base=single, m=2))[0] == ("printed", 2.0, 0.0)


def test_samples_of_a_fresh_partition_without_a_law() -> None:
    """Too many partitions to enumerate; each prediction of each trial has one of its own."""
    base = "soft-majority,r=3,learner=majority,partition=fresh"
    mechanism = Interface(base=base, m=2, adversary="adaptive")
    data = Labelled(np.zeros((20, 1)), np.arange(20) % 2)
    state = mechanism.prepare(data)
    assert mechanism.distribution(state, points([[0.0]], "queries")) is None
    draws = mechanism.sample(state, points([[0.0]], "queries"), 50, np.random.default_rng(0))
    assert draws.shape == (50, 1)
    assert set(np.unique(draws)) == {0, 1, 2, 3}


def test_queries_that_may_change_are_not_remembered() -> None:
    mechanism = Interface(base="projected-walk,T=2", adversary="adaptive")
    state, queries = mechanism.prepare(LINE), np.array([[1.0]])
    before = mechanism.distribution(state, queries)
    queries[0, 0] = 3.0
    after = mechanism.distribution(state, queries)
    assert before is not None
    assert after is not None
    assert (before.log_p != after.log_p).any()
