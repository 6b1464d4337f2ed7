"""Claims that are curves: the audit chooses the point, fresh trials certify it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay import DP, RDP, Profile, Scalars, audit, replace_one, zCDP
from dpassay.cli.main import main
from dpassay.engine.result import Result
from dpassay.privacy_curves import Renyi, most
from tests.core.toys import Sampled, TableMechanism

pytestmark = pytest.mark.usefixtures("few_pairs")

NUMBER = Scalars(0, 1, size=1)
PAIR = replace_one([[0.0], [0.0]], [0, 0], neighbours="flip")
ORDERS = ((2.0, 0.3), (8.0, 0.9))


def noisy(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Gaussian noise of scale 0.7: rho = 1.0204."""
    return np.asarray(sum(data) + rng.normal(0, 0.7, size))


def response(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A fair coin, or one of probability 0.7."""
    return np.asarray(rng.random(size) < 0.5 + 0.2 * data[0])


def constant(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Leak nothing."""
    return np.asarray(rng.normal(size=size))


def label(p: float, q: float, *, known: bool = False) -> TableMechanism:
    """Answers 1 with probability p on the one dataset, q on the other."""
    return (TableMechanism if known else Sampled)(table=((1 - p, p), (1 - q, q)))


def hunted(function: Any, claim: DP, budget: int = 5000) -> Result:
    return audit(
        function, claim=claim, data=NUMBER, budget=budget, executor="inline", stop_early=False
    )


def held(mechanism: Any, claim: DP, **options: Any) -> Result:
    how: dict[str, Any] = {"executor": "inline"} | options
    return audit(mechanism, claim=claim, pairs=PAIR, queries=[[0.0]], **how)


@pytest.mark.parametrize("claim", [zCDP(0.5), RDP(8, 2.0), Profile([(4.9, 1e-6), (1.0, 0.1)])])
def test_a_broken_curve_is_refuted_at_one_of_its_points(claim: DP) -> None:
    found = hunted(noisy, claim)
    assert found.verdict == "refuted"
    assert found.claim in claim.points
    assert found.claim.promised < found.lower
    assert str(found).startswith(f"{claim} of ")
    assert f"at δ = {found.claim.delta:g}" in found.outcome.reason


def test_the_point_that_hides_the_leak_is_not_taken() -> None:
    """At delta = 1e-6 the same budget sees nothing: the reason for curves."""
    assert hunted(noisy, DP(epsilon=5.22267, delta=1e-6)).verdict == "inconclusive"


@pytest.mark.slow
def test_a_kept_curve_is_not_refuted_and_something_is_said_of_it() -> None:
    found = hunted(noisy, zCDP(1.1))
    assert found.verdict == "not refuted"
    assert 0 < found.lower < found.claim.promised


def test_nothing_may_leak() -> None:
    claim = DP(epsilon=0.0)
    assert hunted(response, claim).verdict == "refuted"
    kept = hunted(constant, claim, budget=20_000)
    assert kept.lower == 0
    assert kept.detectable < 0.5


@pytest.mark.parametrize("known", [True, False])
def test_given_pairs_choose_the_point_too(known: bool) -> None:
    claim = Profile([(5.0, 1e-6), (0.1, 0.2)])
    found = held(label(0.7, 0.3, known=known), claim)
    assert found.verdict == "refuted"
    assert isinstance(found.claim, DP)
    assert (found.claim.epsilon, found.claim.delta) == (0.1, 0.2)
    assert found.mode == ("exact" if known else "monte-carlo")


def test_exact_laws_on_the_boundary_are_not_refuted() -> None:
    q = 0.2
    p = most(np.log([q]), ORDERS).item()
    claim = RDP(dict(ORDERS))
    assert held(label(p, q, known=True), claim).verdict == "not refuted"
    assert any(p + 0.02 > math.exp(e) * q + d for e, d in Renyi(ORDERS).points())
    assert held(label(p + 0.02, q, known=True), claim).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.usefixtures("bounds_only")
def test_error_of_a_mechanism_on_the_boundary() -> None:
    """Where several points are tight, choosing one costs nothing: fresh trials certify."""
    q, runs = 0.1, 60
    points = [(math.log((0.3 - delta) / q), delta) for delta in (0.0, 0.05, 0.1, 0.15)]

    def refuted(p: float, runs: int) -> int:
        mechanism, told = label(p, q), {"budget": 400, "confidence": 0.9}
        found = [held(mechanism, Profile(points), seed=seed, **told) for seed in range(runs)]
        return sum(each.verdict == "refuted" for each in found)

    assert refuted(0.3, runs) <= binom.isf(0.01, runs, 0.1)  # 30 % would be seen in .94 of cases
    assert refuted(0.6, 5) == 5


@pytest.mark.slow
def test_record_replay_and_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "curved.py").write_text(
        "def noisy(data, size, rng):\n    return sum(data) + rng.normal(0, 0.7, size)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run = ["run", "curved:noisy", "--search", "scalars,low=0,high=1,size=1", "--budget", "2000"]
    assert main([*run, "--claim", "rho=0.5", "--out", "one", "-q"]) == 1
    assert "of zCDP(0.5)" in capsys.readouterr().out
    record = json.loads(Path("one/record.json").read_text())
    assert record["results"][0]["claim"]["curve"] == {"kind": "zCDP", "rho": 0.5}
    witness = next(Path("one/witnesses").iterdir())
    assert main(["replay", str(witness), "--trust"]) == 1  # it is refuted there
    assert "reproduced" in capsys.readouterr().out
    assert main([*run, "--claim", "rho=0.9", "--out", "two", "-q", "--seed", "1"]) == 4
    capsys.readouterr()
    main(["compare", "one/record.json", "two/record.json"])
    assert "the claim is zCDP(0.9) and was zCDP(0.5)" in " ".join(capsys.readouterr().out.split())
