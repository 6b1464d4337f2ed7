"""Early stopping: what it saves, what it costs, that it is sound, and that nothing else changes."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, gammaln
from scipy.stats import binom

from dpassay.api import audit
from dpassay.claims import DP, GDP, PredictionStability, Stability
from dpassay.data import Labelled
from dpassay.engine.budget import Budget, lots
from dpassay.engine.evidence import Evidence, Stopped
from dpassay.engine.guards import Guards
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.engine.testers import events
from dpassay.errors import InvalidInput, TargetError
from dpassay.pairs import FlipLabel
from dpassay.record.replay import replay
from dpassay.record.run_record import make_record
from dpassay.record.schemas import fault, read_schema
from dpassay.record.witness import make_witness, witness_fault
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound
from dpassay.stats.eprocess import log_e_of, threshold
from dpassay.stats.scales import scale_of
from tests.core.toys import Sampled, flip_group, target_of
from tests.engine.recorded import hunted
from tests.engine.test_searched import LEAKS
from tests.statistical import dependent
from tests.statistical.test_guards import ALONE, PAIRS, audited
from tests.statistical.wald import as_promised
from tests.stats.wealth import log_e

Rng = np.random.Generator
Points = NDArray[np.float64]

Answer = Callable[[Labelled, NDArray[np.float64], int, np.random.Generator], Any]
BUDGET = 20_000


def response(epsilon: float) -> Answer:
    """Randomised response on the label of record 0: its loss is epsilon exactly."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        return dependent.rows(data, len(queries), size, rng, epsilon)

    return answer


def no_noise(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
    return np.full((size, len(queries)), data.y[0])


class Counting:
    """Counts the rows that a function is asked for."""

    def __init__(self, function: Answer) -> None:
        self.function, self.rows = function, 0

    def __call__(self, data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        self.rows += size
        return self.function(data, queries, size, rng)


def run(function: Any, *, claim: Any = None, **settings: Any) -> Result:
    usual: dict[str, Any] = {"budget": BUDGET, "executor": "inline", "mode": "monte-carlo"}
    given = usual | settings
    return audit(function, claim=claim or DP(epsilon=1.0), pairs=PAIRS, queries=[[0.0]], **given)


def evidence_of(result: Result) -> tuple[Evidence, Stopped]:
    assert result.evidence is not None
    assert result.stopped_early is not None
    return result.evidence, result.stopped_early


def test_lots_are_looks_four_times_the_last_and_add_up() -> None:
    assert lots(20_000) == (79, 234, 937, 3750, 15_000)
    assert lots(20_000, early=False) == (20_000,)
    assert lots(196) == (196,)
    assert lots(200) == (50, 150)
    for draws in (*range(100, 3000, 7), 10**10):
        sizes = lots(draws)
        looks = list(itertools.accumulate(sizes))
        assert looks[-1] == draws
        assert min(sizes) >= 50
        assert all(later <= 4 * look for look, later in itertools.pairwise(looks))


@pytest.mark.parametrize(
    ("function", "claim", "most"),
    [
        (no_noise, DP(epsilon=1.0), 79),
        (response(2.0), DP(epsilon=1.0, delta=0.01), 313),
        (response(1.5), GDP(mu=0.7), 313),
        (response(1.0), Stability(gamma=0.1), 313),
    ],
)
def test_a_broken_mechanism_is_red_within_few_trials(
    function: Answer, claim: Any, most: int
) -> None:
    """The number in the report comes from other trials, the refutation is replayed on yet others.

    All of them together, the screening and the guards included, are an eighth of the usual ones:
    the replay looks several times, so that each of its looks has a quarter of the error.
    """
    seen, stopping = Counting(function), Counting(function)
    slow, fast = run(seen, claim=claim), run(stopping, claim=claim, stop_early=True)
    assert (slow.verdict, fast.verdict) == ("refuted", "refuted")
    evidence, stopped = evidence_of(fast)
    assert stopped.trials <= most
    assert evidence.lower.counts is not None
    assert abs(evidence.lower.counts.n1 - 3 * stopped.trials) <= 3
    assert fast.lower > claim.promised
    assert evidence.trials <= 2 * (150 + 4 * stopped.trials)
    assert stopping.rows < min(10_000, seen.rows / 8)


def test_the_refutation_can_be_computed_from_the_record() -> None:
    result = run(response(2.0), stop_early=True)
    evidence, stopped = evidence_of(result)
    counts = np.array(stopped.pairs)
    assert counts.sum() == stopped.trials
    assert float(log_e(counts, 1.0, 0.0)) == pytest.approx(stopped.log_e)
    assert evidence.spending is not None
    assert stopped.log_threshold == threshold(evidence.spending.each_sequential)
    assert stopped.log_e >= stopped.log_threshold
    assert f"after {stopped.trials} of 20,000 trials per side" in result.outcome.reason
    assert "the e-process refuted it" in result.outcome.reason
    assert "on fresh trials the loss is at least" in result.outcome.reason


def test_a_claim_that_holds_is_audited_as_ever_but_for_the_parts_of_alpha() -> None:
    """All lots are drawn, and nothing more; every lower bound has three quarters of its part."""
    plain, early = Counting(response(1.0)), Counting(response(1.0))
    usual, found = run(plain), run(early, stop_early=True)
    assert (usual.verdict, found.verdict) == ("not refuted", "not refuted")
    assert usual.evidence is not None
    assert found.evidence is not None
    assert found.stopped_early is None
    assert found.evidence.trials == usual.evidence.trials
    assert found.evidence.lower.counts is not None
    assert found.evidence.lower.counts.n1 == BUDGET
    # shares of calls are cut off to whole rows; the guards ask again at both ends
    assert early.rows <= plain.rows + 2000
    assert found.evidence.spending is not None
    assert usual.evidence.spending is not None
    assert found.evidence.spending.each_lower == 0.75 * usual.evidence.spending.each_lower
    assert found.evidence.parts == (
        ("certify", 79),
        ("certify 1", 234),
        ("certify 2", 937),
        ("certify 3", 3750),
        ("certify 4", 15_000),
    )
    assert usual.evidence.parts == ()


def test_the_first_part_of_a_screening_that_chooses_events_alone_finds_gross_leaks() -> None:
    """Two parts make up the whole, an eighth; where pairs must be chosen there is one."""
    budget = Budget(draws=BUDGET, alpha=1e-3, stop_early=True)
    alone, many = (
        flip_group(records=records, queries=1, changes=tuple(map(FlipLabel, range(records))))
        for records in (1, 5)
    )
    assert budget.screening_lots((alone,)) == ((150,), (2263,))
    assert budget.spending((alone,), profiled=True).rounds == 2
    assert budget.screening_lots((many,)) == (budget.screening_of((many,)), ())
    assert budget.spending((many,), profiled=True).rounds == 1
    assert replace(budget, stop_early=False).screening_lots((alone,)) == ((2413,), ())
    found = run(response(1.0), stop_early=True)
    assert found.evidence is not None
    assert found.evidence.searched["screening_trials"] == 2413


def test_claims_share_trials_though_one_of_them_stops_early() -> None:
    """The claim of 3 holds, that of 0.5 does not; the first is audited as if it were alone."""
    target = target_of(Sampled(table=((0.9, 0.1), (0.1, 0.9))))
    claims = (DP(epsilon=0.5), DP(epsilon=3.0))
    settings = Settings(mode="monte-carlo", budget=4000, stop_early=True, executor="inline")
    both = replace(target, claims=claims)
    broken, held = assay([both], flip_group(queries=1), settings)
    assert broken.stopped_early is not None
    assert (broken.verdict, held.verdict) == ("refuted", "not refuted")
    assert held.evidence is not None
    assert held.evidence.lower.counts is not None
    assert held.evidence.lower.counts.n1 == 4000
    other_way, also = assay([replace(target, claims=claims[::-1])], flip_group(queries=1), settings)
    assert (other_way.lower, also.lower) == (held.lower, broken.lower)


def test_alpha_is_spent_once() -> None:
    usual = Spending(alpha=1e-3, cells=4, queries=2)
    assert "sequential" not in usual.as_json()
    assert usual.bounds == 1e-3
    running = Spending(alpha=1e-3, cells=4, queries=2, looks=5)
    stopped = Spending(alpha=1e-3, cells=4, queries=2, looks=5, stopped=True)
    for each in (running, stopped):
        parts = each.lower + each.upper + each.profile
        assert parts == pytest.approx(each.bounds)
    assert running.bounds + stopped.bounds + running.sequential == pytest.approx(1e-3)
    assert stopped.as_json()["looks"] == 5


def exact_stops(pairs: int, epsilon: float, p1: float, p0: float, at_least: float) -> float:
    """P[ln E >= at_least] after so many pairs, summed over all counts of independent trials."""
    counts = np.array(
        [
            (pairs - i - j - k, i, j, k)
            for i in range(pairs + 1)
            for j in range(pairs + 1 - i)
            for k in range(pairs + 1 - i - j)
        ]
    )
    chance = np.array([(1 - p1) * (1 - p0), (1 - p1) * p0, p1 * (1 - p0), p1 * p0])
    log_p = gammaln(pairs + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(chance)
    return float(np.exp(log_p[log_e(counts, epsilon, 0.0) >= at_least]).sum())


@pytest.mark.slow
@pytest.mark.usefixtures("bounds_only")
def test_early_stops_are_as_frequent_as_enumerated() -> None:
    """Exact, at the one look of this budget, and counted in audits: on the boundary and beyond it.

    At confidence 0.5 the e-processes have a sixteenth, half of it in each of the two rounds. By
    symmetry every event and direction that the screening may choose has the same law on the
    boundary, so that two cells at most stop twice as often; beyond it it chooses the right one.
    """
    claim, audits, look = 0.1, 40, 50
    exact = {}
    for truth in (claim, 0.8):
        p1, p0 = float(expit(truth)), float(expit(-truth))
        exact[truth] = exact_stops(look, claim, p1, p0, threshold(0.5 / 8, 2))
        stops = 0
        for seed in range(audits):
            settings: dict[str, Any] = {"budget": 200, "confidence": 0.5, "detect": 3.0}
            settings |= {"claim": DP(epsilon=claim), "stop_early": True, "seed": seed}
            result = run(response(truth), **settings)
            assert result.evidence is not None
            stops += result.evidence.stopped is not None
        cells = 2 if truth == claim else 1
        low = binom.ppf(0.005, audits, exact[truth])
        assert low <= stops <= binom.ppf(0.995, audits, cells * exact[truth])
    assert 0.0005 < exact[claim] <= 0.5 / 16
    assert 0.3 < exact[0.8] < 0.99


@pytest.mark.slow
def test_whole_audits_on_the_boundary_are_refuted_as_rarely_as_promised() -> None:
    """By either test: an error of 5 % fails once in 100 times, one of 15 % passes twice in 100."""
    settings: dict[str, Any] = {"stop_early": True, "budget": 400, "confidence": 0.95}
    refuted = (
        run(response(1.0), seed=seed, **settings).verdict == "refuted" for seed in itertools.count()
    )
    assert as_promised(refuted, 0.05, 0.15)


def test_trials_that_are_not_independent_are_still_an_error() -> None:
    for name in ("one_coin_per_call", "own_seed", "drifting"):
        found = audited(name, 1, budget=2000, executor="inline", stop_early=True)
        assert found.verdict == "error"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ALONE))
def test_every_audit_of_trials_that_are_not_independent_is_an_error(name: str) -> None:
    for seed, budget in enumerate((400, 2000)):
        assert audited(name, seed, budget=budget, stop_early=True).verdict == "error"


def bounded_by(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    """Let every lower bound be this one."""

    def weak(method: Any, counts: Any, *, scale: Any, alpha: float) -> Bound:
        return Bound(value=value, alpha=alpha, method="stouffer", counts=counts)

    monkeypatch.setattr(events, "lower_bound", weak)


def test_a_refutation_is_replayed_before_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the bound would not ask for it; a replay that differs is an error."""
    bounded_by(monkeypatch, 0.9)
    asked: list[tuple[int, int, int]] = []

    def confirmed(guards: Guards, group: int, pair: int, *_: Any) -> None:
        asked.append((group, pair, guards.draws))
        raise TargetError("the refutation did not come out again")

    monkeypatch.setattr(Guards, "confirmed", confirmed)
    result = run(response(2.0), stop_early=True)
    assert result.verdict == "error"
    ((group, pair, draws),) = asked
    assert (group, pair) == (0, 0)
    assert draws in (313, 1250)  # what stopped it, and the fresh trials


def test_the_bound_may_lie_below_the_claim_and_the_verdict_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounded_by(monkeypatch, 0.9)
    monkeypatch.setattr(Guards, "confirmed", lambda *_: None)  # it is refuted by such bounds too
    result = run(response(2.0), stop_early=True)
    assert result.verdict == "refuted"
    assert result.lower == 0.9
    assert "that bound is not above the claim, which the e-process alone refutes" in (
        result.outcome.reason
    )
    witness = make_witness(result)
    assert witness is not None
    assert witness["loss"] == 0.9


def test_replay_draws_both_the_bound_and_the_refutation_again() -> None:
    result = run(response(2.0), stop_early=True)
    witness = make_witness(result)
    assert witness is not None
    assert witness_fault(witness) == ""
    assert witness["trials"]["parts"][0]["phase"].startswith("fresh")
    found = replay(witness, target=result.target, group=_group(result))
    assert (found.reproduced, found.refuted) == (True, True)
    weaker = json.loads(json.dumps(witness)) | {"loss": 0.9}
    assert replay(weaker, target=result.target, group=_group(result)).refuted
    early = weaker["stopped_early"]
    early["pairs"] = [early["pairs"][k] for k in (0, 2, 1, 3)]
    forged = replay(weaker, target=result.target, group=_group(result))
    assert (forged.reproduced, forged.refuted) == (False, False)
    held = run(response(1.0), stop_early=True)
    witness = make_witness(held)
    assert witness is not None
    assert replay(witness, target=held.target, group=_group(held)).reproduced


def _group(result: Result) -> Any:
    assert result.evidence is not None
    return result.evidence.groups[0]


@pytest.mark.slow
def test_the_record_has_the_field_where_trials_ended_early_and_nowhere_else() -> None:
    run_facts = {"seed": 0, "confidence": 0.999, "budget": BUDGET, "profile": "default"}
    facts = run_facts | {"command": "c", "catalogue": False, "complete": True, "data": None}
    results = [
        run(response(2.0), stop_early=True, budget=2000),
        run(response(1.0), stop_early=True, budget=2000),
        run(response(2.0), budget=2000),
    ]
    record = json.loads(json.dumps(make_record(facts | {"commit": None}, results)))
    assert fault(record, "record") == ""
    early, held, usual = record["results"]
    assert set(early["stopped_early"]) == {"test", "trials", "planned", "e_value", "threshold"}
    assert early["stopped_early"]["e_value"] > early["stopped_early"]["threshold"]
    assert early["stopped_early"]["test"] == "e-process"
    assert "stopped_early" not in held | usual
    assert (
        "stopped_early" not in read_schema("record")["properties"]["results"]["items"]["required"]
    )
    assert (held["spending"]["looks"], usual["spending"]["looks"]) == (3, 1)
    assert set(held["spending"]) - set(usual["spending"]) == {
        "sequential",
        "each_sequential",
        "fresh",
    }
    early["stopped_early"]["e_value"] = 0.5
    assert "e_value" in fault(record, "record")


def test_the_same_bytes_whatever_the_number_of_jobs() -> None:
    found = []
    everywhere: list[dict[str, Any]] = [{"executor": "inline"}, {"executor": "local", "jobs": 2}]
    for who in everywhere:
        result = run(response(2.0), stop_early=True, budget=2000, **who)
        evidence, stopped = evidence_of(result)
        found.append((result.outcome, stopped, make_witness(result), evidence.trials))
    assert found[0] == found[1]


def test_claims_about_means_run_on_and_alone_are_refused() -> None:
    def share(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        return np.clip(0.4 + 0.2 * data.y[0] + rng.normal(0, 0.05, (size, len(queries))), 0, 1)

    claim = PredictionStability(gamma=0.3)
    with pytest.raises(InvalidInput, match=r"^stop_early = True: has no effect on .* means$"):
        run(share, claim=claim, numbers=(0.0, 1.0), stop_early=True)


def test_half_lines_of_numbers_stop_early_too() -> None:
    def noisy(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        return data.y[0] + rng.laplace(0, 0.4, size=(size, len(queries)))

    result = run(noisy, numbers=(-math.inf, math.inf), stop_early=True, budget=4000)
    evidence, stopped = evidence_of(result)
    assert result.verdict == "refuted"
    assert 1.0 < result.lower < 2.5
    allowed = scale_of(result.claim).allowed(1.0)
    assert float(log_e_of(np.array(stopped.pairs), allowed)) == pytest.approx(stopped.log_e)
    assert evidence.worst.query == stopped.query


def test_wrong_values_are_refused() -> None:
    with pytest.raises(InvalidInput, match="stop_early = 'yes': must be True or False"):
        run(response(1.0), stop_early="yes")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a number", "a sequence"])
def test_a_searched_audit_stops_early_and_is_replayed(name: str) -> None:
    function, data = LEAKS[name]
    result = hunted(function, data, budget=20_000, stop_early=True)
    _, stopped = evidence_of(result)
    assert stopped.trials <= 5000
    witness = make_witness(result)
    assert witness is not None
    found = replay(witness, target=result.target, group=_group(result))
    assert (found.reproduced, found.refuted) == (True, True)
