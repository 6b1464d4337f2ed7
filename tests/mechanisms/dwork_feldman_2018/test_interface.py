"""The prediction interface. Its budget, its law, its adversaries, and what composition promises of
it."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, Claim
from dpassay.data import Labelled, points
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import any_size, two_sided
from dpassay.errors import DpassayError, InvalidInput
from dpassay.laws import FiniteLaw, bernoulli_law
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
from tests.mechanisms.dwork_feldman_2018 import twin_interface as twin
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk, twin_soft_majority
from tests.mechanisms.twin_worst_case import Dataset, every_dataset, neighbours

ADVERSARIES = {"repeat": twin.repeat, "sweep": twin.sweep, "adaptive": twin.adaptive}
ONE = Labelled(np.array([[1.0]]), np.array([1]))
LINE = Labelled(np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]))


@dataclass(frozen=True, kw_only=True)
class RandomisedResponse:
    """The label of the first record, told wrongly with probability 1 / (1 + e^epsilon). Loses
    epsilon, and no less."""

    epsilon: float = 1.0

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon, source="randomised response"),)

    def prepare(self, data: Labelled) -> float:
        return self.epsilon if data.y[0] == 1 else -self.epsilon

    def sample(
        self, state: float, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        return (rng.random((size, len(queries))) < 1 / (1 + math.exp(-state))).astype(np.int64)

    def distribution(self, state: float, queries: NDArray[np.float64]) -> FiniteLaw:
        return bernoulli_law(np.full(len(queries), state))


FLIPPED = Pairs(base=ONE, changes=(FlipLabel(0),), how="the only label flipped")


# The budget


def served(
    budget: int, data: Labelled = LINE, seed: int = 0
) -> tuple[PredictionInterface, np.random.Generator]:
    """An interface over a projected walk, and the generator that it draws from."""
    rng = np.random.default_rng(seed)
    return PredictionInterface(ProjectedWalk(T=2), data, budget, rng), rng


@pytest.mark.parametrize("budget", [1, 2, 3, 7])
def test_exactly_as_many_answers_as_the_budget(budget: int) -> None:
    interface, _ = served(budget)
    assert interface.budget == budget
    for k in range(budget):
        assert interface.spent == k
        assert interface.ask([2.0]) in (0, 1)
    assert interface.spent == budget
    for _ in range(3):
        with pytest.raises(BudgetSpent):
            interface.ask([2.0])
        assert interface.spent == budget


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
    class Failing(RandomisedResponse):
        def sample(
            self, state: Any, queries: Any, size: int, rng: np.random.Generator
        ) -> NDArray[np.int64]:
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


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, None, "3"])
def test_a_budget_that_is_none(budget: Any) -> None:
    with pytest.raises(InvalidInput, match="budget"):
        PredictionInterface(ProjectedWalk(), LINE, budget, np.random.default_rng(0))


def test_a_seed_is_no_generator() -> None:
    with pytest.raises(InvalidInput, match=r"rng = 0: must be a numpy.random.Generator"):
        PredictionInterface(ProjectedWalk(), LINE, 3, cast("Any", 0))


def test_budget_and_spent_cannot_be_set() -> None:
    interface, _ = served(1)
    for name in ("budget", "spent"):
        with pytest.raises(AttributeError):
            setattr(interface, name, 0)


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
    """Played with the object that users have, one query after another, and two more than the budget
    allows."""
    mechanism, plays = Interface(base="projected-walk,T=2", adversary=adversary), 3000
    law = mechanism.distribution(mechanism.prepare(LINE), points([[2.0]], "queries"))
    assert law is not None
    rng = np.random.default_rng(5)
    found = [
        play(PredictionInterface(ProjectedWalk(T=2), LINE, 3, rng), 2.0, 5, ADVERSARIES[adversary])
        for _ in range(plays)
    ]
    counts = np.bincount(found, minlength=8)[None]
    assert counts.shape == (1, 8)
    assert two_sided(counts, plays, law).min() * 8 >= 1e-3
    others = [
        Interface(base="projected-walk,T=2", adversary=other)
        for other in ("repeat", "sweep", "adaptive")
        if other != adversary
    ]
    for other in others:
        wrong = other.distribution(other.prepare(LINE), points([[2.0]], "queries"))
        assert wrong is not None
        assert two_sided(counts, plays, wrong).min() * 8 < 1e-3


def test_the_adaptive_adversary_by_hand() -> None:
    """Walk of T = 2 on (1, 0), (2, 1), (2, 0), (3, 1): V is 0 below 1, -1 at 1 and 2, 0 from 3 on.
    Asked at 2: after a 1 at 1, after a 0 at 3. With s = sigma(-1/2): P[1 1] = s s, P[1 0] = s (1 -
    s), P[0 .] = (1 - s) / 2."""
    mechanism = Interface(base=ProjectedWalk(T=2), m=2, adversary="adaptive")
    law = mechanism.distribution(mechanism.prepare(LINE), points([[2.0]], "queries"))
    assert law is not None
    s = 1 / (1 + math.exp(0.5))
    expected = {(0, 0): (1 - s) / 2, (1, 0): s * (1 - s), (0, 1): (1 - s) / 2, (1, 1): s * s}
    np.testing.assert_allclose(law.p[0], [expected[t & 1, t >> 1] for t in range(4)], rtol=1e-14)


# The law against the twin

BASES: dict[str, tuple[dict[str, Any], Callable[[Dataset, float], float]]] = {
    "projected-walk,T=2": (
        {"epsilon": 1.0},
        lambda dataset, x: twin_projected_walk.probability_of_one(
            dataset, cast("int", x), 1.0, 2, "sum"
        ),
    ),
    "soft-majority,r=2,learner=tree": (
        {"epsilon": 0.7},
        lambda dataset, x: twin_soft_majority.theorem(
            dataset, cast("int", x), 0.7, 2, twin_soft_majority.splitting_at_the_middle
        ),
    ),
    "soft-majority-overview,r=2,learner=majority": (
        {"epsilon": 0.3},
        lambda dataset, x: twin_soft_majority.overview(
            dataset, cast("int", x), 0.3, 2, twin_soft_majority.majority
        ),
    ),
    "soft-majority,r=2,learner=majority,partition=fresh": (
        {"epsilon": 1.0},
        lambda dataset, x: twin_soft_majority.fresh(
            dataset, cast("int", x), 1.0, 2, twin_soft_majority.majority, twin_soft_majority.theorem
        ),
    ),
}


def labelled(dataset: Dataset) -> Labelled:
    return Labelled(np.array([[float(x)] for x, _ in dataset]), np.array([y for _, y in dataset]))


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("base", BASES)
def test_law_of_every_small_dataset(base: str, adversary: Any, m: int) -> None:
    parameters, one = BASES[base]
    mechanism = Interface(base=base, m=m, adversary=adversary, **parameters)
    queries = points([[1.0], [2.0]], "queries")
    for dataset in every_dataset(3, 2):
        law = mechanism.distribution(mechanism.prepare(labelled(dataset)), queries)
        assert law is not None
        for query, row in zip((1.0, 2.0), law.p, strict=True):
            at = functools.cache(functools.partial(one, dataset))
            expected = twin.conversations(at, query, m, ADVERSARIES[adversary])
            found = {answers: row[twin.number(answers)] for answers in expected}
            assert found == pytest.approx(
                {answers: float(p) for answers, p in expected.items()}, rel=1e-12
            )


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize(
    ("base", "m", "n", "size"),
    [("projected-walk,T=2", 3, 3, 3), ("soft-majority,r=2,learner=tree", 2, 3, 2)],
)
def test_worst_loss_of_a_small_domain(base: str, adversary: Any, m: int, n: int, size: int) -> None:
    """Against all pairs of neighbours of the twin; the composed claim is verified."""
    parameters, one = BASES[base]
    laws = {
        (dataset, x): twin.conversations(
            functools.partial(one, dataset), x, m, ADVERSARIES[adversary]
        )
        for dataset in every_dataset(n, size)
        for x in range(1, size + 1)
    }
    worst = max(
        twin.loss(laws[dataset, x], laws[other, x])
        for dataset in every_dataset(n, size)
        for other in neighbours(dataset, size)
        for x in range(1, size + 1)
    )
    mechanism = Interface(base=base, m=m, adversary=adversary, **parameters)
    result = audit(mechanism, mode="exhaustive", domain=Domain(n=n, points=size))
    assert result.verdict == "verified"
    assert result.claim.promised == pytest.approx(m * parameters["epsilon"], rel=1e-15)
    assert result.exact is not None
    assert result.evidence is not None
    domain = [
        cell.exact.value
        for cell, group in zip(result.evidence.cells, result.evidence.groups, strict=False)
        if cell.exact
    ]
    assert max(domain[:size]) == pytest.approx(worst, abs=1e-9)
    optimal = audit(
        mechanism, claim=mechanism.claims[-1], mode="exhaustive", domain=Domain(n=n, points=size)
    )
    assert optimal.verdict == "verified"


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
    for m in range(1, 11):
        mechanism = Interface(m=m, **small)
        advanced = math.sqrt(2 * m * math.log(10)) * 0.01 + m * 0.01 * (math.exp(0.01) - 1)
        assert advanced_composition(0.01, m, 0.1) == pytest.approx(advanced, rel=1e-14)
        found = [claim for claim in mechanism.claims if "Theorem 3.20" in claim.source]
        assert bool(found) == (advanced < m * 0.01) == (m >= 5)
        for claim in found:
            assert claim.promised == pytest.approx(advanced)
            assert (claim.as_json()["delta"], claim.status) == (0.1, "printed")
        assert all(
            audit(mechanism, claim=claim).verdict == "not refuted" for claim in mechanism.claims
        )


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
    class Approximate(RandomisedResponse):
        @property
        def claims(self) -> tuple[Claim, ...]:
            return (DP(epsilon=0.5, delta=0.3),)

    assert facts(Interface(base=Approximate(), m=2)) == [("own", 1.0, 0.6)]


# Composition


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_optimal_composition_is_what_randomised_response_loses(
    epsilon: float, m: int, delta: float
) -> None:
    """Every transcript of m randomised responses, in fractions. delta is reached at the result, and
    exceeded just below it."""
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


def test_adaptive_answers_never_exceed_optimal_composition() -> None:
    """Random trees: at every node any pair of answers that is epsilon-private, at its limits as
    often as not."""
    rng, epsilon, m, factor = np.random.default_rng(4), 1.0, 3, math.e
    nodes = [answers for i in range(m) for answers in itertools.product((0, 1), repeat=i)]
    for _ in range(300):
        one, other = {}, {}
        for node in nodes:
            q = rng.random()
            limits = max(q / factor, 1 - factor * (1 - q)), min(q * factor, 1 - (1 - q) / factor)
            one[node], other[node] = (
                limits[rng.integers(2)] if rng.random() < 0.5 else rng.uniform(*limits),
                q,
            )
        laws = []
        for table in (one, other):
            path = {answers: Fraction(1) for answers in itertools.product((0, 1), repeat=m)}
            for answers in path:
                for i, answer in enumerate(answers):
                    p = Fraction(table[answers[:i]])
                    path[answers] *= p if answer else 1 - p
            laws.append(path)
        for delta in (0.2, 0.01):
            assert twin.excess(
                laws[0], laws[1], optimal_composition(epsilon, m, delta)
            ) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("m", [1, 3, 6])
def test_randomised_response_attains_both_claims(adversary: Any, m: int) -> None:
    mechanism = Interface(base=RandomisedResponse(epsilon=0.5), m=m, adversary=adversary)
    for claim in mechanism.claims:
        result = audit(mechanism, claim=claim, pairs=FLIPPED, queries=[[0.0]])
        assert result.verdict == "not refuted"
        assert result.exact == pytest.approx(claim.promised, abs=1e-9)
    optimal = cast("DP", mechanism.claims[-1])
    assert optimal.delta == 0.01
    less = DP(epsilon=optimal.epsilon - 1e-6, delta=optimal.delta)
    assert audit(mechanism, claim=less, pairs=FLIPPED, queries=[[0.0]]).verdict == "refuted"


def test_where_delta_alone_is_enough_there_is_no_second_claim() -> None:
    assert optimal_composition(0.001, 3, 0.01) == 0
    assert facts(Interface(epsilon=0.001)) == [("printed", 0.003, 0.0)]


def test_large_losses_do_not_overflow() -> None:
    mechanism = Interface(base="projected-walk", epsilon=230.0)
    assert facts(mechanism)[0] == ("printed", 690.0, 0.0)
    assert [audit(mechanism, claim=claim).verdict for claim in mechanism.claims] == [
        "not refuted",
        "not refuted",
    ]


# Interfaces that forget to count


class Forgetful(PredictionInterface):
    """Never remembers that it answered."""

    def ask(self, x: Any) -> int | float:
        answer = super().ask(x)
        self._spent = 0
        return answer


class OneTooMany(PredictionInterface):
    """Counts from the second answer."""

    def __init__(
        self, mechanism: Any, data: Labelled, budget: int, rng: np.random.Generator
    ) -> None:
        super().__init__(mechanism, data, budget, rng)
        self._spent = -1


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [(PredictionInterface, "not refuted"), (Forgetful, "refuted"), (OneTooMany, "refuted")],
)
def test_an_interface_that_answers_too_often_is_refuted(
    kind: type[PredictionInterface], verdict: str
) -> None:
    """Budget 2, asked 3 times. Randomised response loses 1 nat an answer, so 2 of them are claimed
    and 3 are found out."""

    def conversation(
        data: Labelled, queries: Any, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        play_one = functools.partial(play, x=float(queries[0, 0]), asked=3, adversary=twin.repeat)
        return np.array([[play_one(kind(RandomisedResponse(), data, 2, rng))] for _ in range(size)])

    labels, claim = tuple(range(8)), DP(epsilon=2.0, unit="transcript of 2 predictions")
    found = audit(
        conversation,
        claim=claim,
        pairs=FLIPPED,
        queries=[[0.0]],
        labels=labels,
        budget=4000,
        executor="inline",
    )
    assert found.verdict == verdict
    assert (found.lower > 2.0) == (verdict == "refuted")


def one_coin_for_all(
    data: Labelled, queries: Any, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """An API that draws its noise once per call of several queries. The label of record 0 below 1,
    else 0, or wrong."""
    wrongly = rng.random((size, 1)) > 1 / (1 + math.exp(-1))
    truth = np.where(np.asarray(queries)[:, 0] < 1, data.y[0], 0)
    return (truth ^ wrongly).astype(np.int64)


def test_noise_drawn_once_per_call_is_found_by_asking_in_batches() -> None:
    """Every answer loses 1 nat, and so do 2 of different calls; 2 of one call more. They differ
    just where the label is 1."""
    found = {}
    for adversary in ("repeat", "sweep", "batch"):
        parameters = {"base": f"{__name__}:one_coin_for_all", "m": 2, "adversary": adversary}
        (claim,) = resolve("interface", parameters, (DP(epsilon=2.0),)).claims
        interface = resolve("interface", parameters).mechanism
        found[adversary] = audit(
            interface,
            claim=claim,
            pairs=FLIPPED,
            queries=[[0.0]],
            mode="monte-carlo",
            budget=4000,
            executor="inline",
            stop_early=False,
        )
    assert {adversary: result.verdict for adversary, result in found.items()} == {
        "repeat": "not refuted",
        "sweep": "not refuted",
        "batch": "refuted",
    }
    assert found["batch"].lower > 5


# Parameters, states, sampling


def test_reachable_states_for_the_adversary_that_repeats() -> None:
    target = resolve("interface", {"base": "soft-majority,r=3", "m": 2})
    found = any_size(target, target.claims[0])
    assert found is not None
    assert found.loss == pytest.approx(
        2 * math.log((1 + math.exp(1.5)) / (1 + math.exp(0.5))), abs=1e-12
    )
    assert {int(state[0]) for state in found.states} in ({0, 1}, {2, 3})
    assert "All 2 answers are given at one point" in found.argument
    for unknown in (
        {"adversary": "adaptive"},
        {"adversary": "sweep"},
        {"base": "soft-majority,partition=fresh"},
        {"base": RandomisedResponse()},
    ):
        assert resolve("interface", unknown).reachable() is None


def test_the_base_is_written_down_in_full() -> None:
    assert Interface().base == "soft-majority,r=25,learner=logistic,partition=fixed"
    assert (
        Interface(base=" projected-walk , T = 4 ").base
        == "projected-walk,T=4,feature=0,ties=sum,traversed=up-to"
    )
    built = Interface(base="soft-majority,r=5,learner=tree", epsilon=0.5)
    assert built.predictor == SoftMajority(epsilon=0.5, r=5, learner="tree")
    assert Interface(base=built.base, epsilon=0.5) == built


def test_an_object_brings_its_own_loss() -> None:
    base = SoftMajority(epsilon=0.25, r=3)
    mechanism = Interface(base=base)
    assert mechanism.epsilon == 0.25
    assert facts(mechanism)[0] == ("printed", 0.75, 0.0)
    assert Interface(base=base, epsilon=0.25) == mechanism
    with pytest.raises(
        InvalidInput, match=r"epsilon = 2.0: must be what the base claims, 0.25, or left out"
    ):
        Interface(base=base, epsilon=2.0)
    assert (
        Interface(
            base="tests.mechanisms.dwork_feldman_2018.test_interface:RandomisedResponse",
            epsilon=0.3,
        ).epsilon
        == 0.3
    )


def test_an_interface_of_one_prediction_is_the_base_and_can_be_one() -> None:
    single = Interface(base="projected-walk,T=2", m=1)
    nested = Interface(base=single, m=2)
    queries = points([[1.0], [3.0]], "queries")
    base = ProjectedWalk(T=2)
    law = single.distribution(single.prepare(LINE), queries)
    assert law is not None
    np.testing.assert_array_equal(law.log_p, base.distribution(base.prepare(LINE), queries).log_p)
    assert facts(nested)[0] == ("printed", 2.0, 0.0)


def test_samples_of_a_fresh_partition_without_a_law() -> None:
    """Too many partitions to enumerate. Each prediction of each trial has a partition of its
    own."""
    mechanism = Interface(
        base="soft-majority,r=3,learner=majority,partition=fresh", m=2, adversary="adaptive"
    )
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


def test_sampled_audit() -> None:
    result = audit(Interface(base="projected-walk,T=2", m=2), mode="monte-carlo", budget=2000)
    assert result.verdict in ("not refuted", "inconclusive")
    assert 0 < result.lower <= 2.0
