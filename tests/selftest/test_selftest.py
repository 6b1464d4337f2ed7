"""The self-test passes here, and each of its checks fails when what it watches over is broken."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.claims import DP, Stability
from dpassay.engine.detection.audits import AuditDesign
from dpassay.engine.evidence import DetectionCurve
from dpassay.seeds import stream
from dpassay.selftest import golden
from dpassay.selftest import known as rehearsal
from dpassay.selftest import run as selftest
from dpassay.selftest import sensitivity as sight
from dpassay.selftest.check import Check
from dpassay.selftest.golden import golden_checks
from dpassay.selftest.known import KnownAudit
from dpassay.selftest.run import Size, calibration_checks, error_checks, replay_checks
from dpassay.selftest.sensitivity import sight_checks
from dpassay.stats import exact_error as enumeration
from dpassay.stats import lower_bounds, power
from dpassay.stats.alpha import Spending
from dpassay.stats.lower_bounds import NAMES, Method
from dpassay.stats.regions import LineRegion
from dpassay.targets.resolve import resolve
from dpassay.trials import blocks as trials

SMALL = Size(
    n=(20,), runs=10, factor_runs=8, claims=(DP(epsilon=1.0), Stability(gamma=0.2)), medians=30
)

FAST = dataclasses.replace(SMALL, claims=SMALL.claims[1:])


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sight, "FACTORS", (1.2, 2.0))
    monkeypatch.setattr(sight, "DRAWN", (1.0, 1.2, 1.5))
    monkeypatch.setattr(sight, "HONEST_RUNS", 2)
    monkeypatch.setattr(selftest, "CLAIMS", ((0.5, 0.0), (1.0, 0.01)))


def failed(checks: Iterator[Check]) -> set[str]:
    """Names of the checks that failed, without the numbers at their end."""
    return {check.name.partition(",")[0] for check in checks if not check.passed}


@pytest.mark.slow
def test_every_check_passes_and_is_data() -> None:
    seen: list[tuple[str, int, int]] = []
    checks = list(selftest.selftest(SMALL, progress=lambda *step: seen.append(step)))
    assert [check.name for check in checks if not check.passed] == []
    assert len({check.name for check in checks}) == len(checks)
    groups = {"error", "calibration", "sight", "golden", "replay"}
    assert {check.group for check in checks} == groups
    assert {f"error of {method}, n = 20" for method in NAMES} < {check.name for check in checks}
    json.dumps([check.as_json() for check in checks], allow_nan=False)
    assert all(0 <= done <= total for _, done, total in seen)
    assert len({what for what, _, _ in seen}) == 6


def test_no_number_is_no_pass() -> None:
    check = Check(group="golden", name="a", what="b", value=math.nan, limit=0)
    assert not check.passed
    assert not dataclasses.replace(check, relation="at least").passed
    assert check.as_json()["value"] is None


# the enumeration


@pytest.mark.parametrize("method", NAMES)
def test_probability_is_the_double_sum(method: Method) -> None:
    n, p1, p0 = 12, 0.8, 0.3
    largest = enumeration.frontier(method, n, allowed=LineRegion(0.5, 0.01), alpha=0.2)
    pairs = [(x, y) for x in range(n + 1) for y in range(n + 1) if y <= largest[x]]
    wanted = sum(binom.pmf(x, n, p1) * binom.pmf(y, n, p0) for x, y in pairs)
    found = enumeration.probability(largest, np.array([p1]), np.array([p0]))
    assert found[0] == pytest.approx(wanted, rel=1e-9)


def test_worst_error_of_stouffer_is_that_of_the_specification() -> None:
    largest = enumeration.frontier("stouffer", 100, allowed=LineRegion(1.0, 0.0), alpha=0.05)
    found = enumeration.worst_error("stouffer", largest, allowed=LineRegion(1.0, 0.0), alpha=0.05)
    assert 0.036 <= found.attained <= found.at_most <= 0.0415
    assert found.p1 == pytest.approx(min(1.0, math.e * found.p0))


def test_the_null_hypothesis_of_the_accuracy_test_holds_both_labels() -> None:
    p0 = np.linspace(0, 1, 101)
    p1 = enumeration.most_allowed("accuracy", p0, LineRegion(1.0, 0.01))
    assert (p1 <= math.e * p0 + 0.01 + 1e-12).all()
    assert (1 - p0 <= math.e * (1 - p1) + 0.01 + 1e-12).all()


# sabotage


def bolder(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, factor: float) -> None:
    """Have a function spend so many times the α that it is given."""
    honest = getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *args, alpha, **rest: honest(*args, alpha=factor * alpha, **rest)
    )


@pytest.mark.parametrize("method", NAMES)
def test_a_test_that_rejects_too_often_is_noticed(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "NAMES", {method: NAMES[method]})
    assert failed(error_checks(SMALL)) == set()
    bolder(monkeypatch, power, "largest_rejecting", 8)
    assert f"error of {method}" in failed(error_checks(SMALL))


def test_a_bound_that_is_bolder_than_its_test_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    bolder(monkeypatch, lower_bounds, "lower_bound", 4)
    assert failed(error_checks(SMALL)) == {"printed bounds bolder than enumerated"}


@pytest.mark.parametrize(
    "spent",
    [
        {"each_lower": lambda _: 0.4},
        {"lower": lambda all_: all_.alpha / 2, "upper": lambda _: 0.9999},
    ],
)
def test_false_alarms_and_upper_bounds_that_miss_are_noticed(
    spent: dict[str, Callable[[Spending], float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, share in spent.items():
        monkeypatch.setattr(Spending, name, property(share))
    assert failed(calibration_checks(FAST, 0)) == {"false alarms"}


LIES = "leaks refuted too rarely or too often"
MISSED = "refutations at the detectable loss"


@pytest.mark.parametrize(
    ("truth", "factor", "noticed"), [(0.5, 2.0, {LIES, MISSED}), (0.99, 1.2, {LIES})]
)
def test_a_harness_that_sees_less_or_more_than_there_is_is_noticed(
    truth: float, factor: float, noticed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each at the factor at which it shows."""
    honest = rehearsal.randomised_response
    monkeypatch.setattr(rehearsal, "randomised_response", lambda p: honest(truth))
    monkeypatch.setattr(sight, "FACTORS", (factor,))
    assert failed(sight_checks(10, 8, 0)) == noticed


@pytest.mark.parametrize(
    ("place", "name", "lie", "noticed"),
    [
        (Spending, "each_lower", property(lambda self: 1e-12), "detectable loss of such an audit"),
        (sight, "power", lambda *args, **rest: 1.0, "power promised"),
        (sight, "power", lambda *args, **rest: 0.0, "power promised"),
    ],
)
def test_a_power_that_lies_and_needless_weakness_are_noticed(
    place: object, name: str, lie: object, noticed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what is computed: the only audits are those that say what they can detect."""
    monkeypatch.setattr(place, name, lie)
    monkeypatch.setattr(sight, "FACTORS", (2.0,))
    assert failed(sight_checks(1, 1, 0)) == {noticed}


def test_a_detectable_loss_that_lies_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        AuditDesign, "sight", lambda design, _: DetectionCurve(detectable=1.1 * design.promised)
    )
    assert failed(sight_checks(10, 1, 0)) == {MISSED}


def test_a_bound_that_gives_away_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    bolder(monkeypatch, lower_bounds, "lower_bound", 0.1)
    monkeypatch.setattr(golden, "gaussian_checks", lambda seed: iter(()))
    medians = {f"median bound of {method}" for method in golden.MEDIANS}
    assert failed(golden_checks(SMALL.medians, 0)) == medians


def test_a_wrong_law_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        golden, "resolve", lambda name, given: resolve(name, given | {"epsilon": 1.001})
    )
    monkeypatch.setattr(golden, "MEDIANS", {})
    assert failed(golden_checks(1, 0)) == {f"exact loss of {name}" for name in golden.BY_HAND}


@pytest.mark.parametrize(
    ("drawn", "noticed"),
    [
        (lambda *key: np.random.default_rng(), "audits that did not repeat themselves"),
        (lambda seed, *key: stream(*key), "audits that ignore their seed"),
    ],
)
def test_a_sampler_that_has_or_heeds_no_seed_is_noticed(
    drawn: object, noticed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "stream", drawn)
    assert failed(replay_checks(0)) == {noticed}


def test_whatever_cannot_be_run_has_failed_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*args: Any) -> Any:
        raise OSError("no luck")

    monkeypatch.setattr(rehearsal, "randomised_response", lambda p: broken)
    monkeypatch.setattr(selftest, "error_checks", lambda *args: iter(()))
    checks = list(selftest.selftest(SMALL))
    lost = [check for check in checks if not check.passed]
    names = [f"{group} could not be checked" for group in ("calibration", "sight")]
    assert [check.name for check in lost] == [*names, "audits that did not repeat themselves"]
    assert all("TargetError" in check.what and "no luck" in check.what for check in lost[:2])
    assert any(check.group == "golden" and check.passed for check in checks)


def test_seeds_of_two_self_tests_share_nothing() -> None:
    assert not set(rehearsal.seeds(0, 1000)) & set(rehearsal.seeds(1, 1000))
    known = KnownAudit(truth=1.0, claim=DP(epsilon=1.0), queries=1, budget=100)
    one, other = known.runs(range(1, 3))
    assert rehearsal.counts_of(one) != rehearsal.counts_of(other)
