"""Whole audits of claims of Gaussian differential privacy: exact, exhaustive, sampled, replayed."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay import GDP, Domain, InvalidInput, Labelled, Noise, NoiseLaw, audit, replace_one
from dpassay.claims import claim_from_json
from dpassay.cli.main import main
from dpassay.engine.detection.families import answers_of
from dpassay.engine.kinds import TESTERS
from dpassay.engine.result import Result
from dpassay.record.rebound import at_alpha, detectable_at_alpha, upper_at_alpha
from dpassay.record.run_record import result_json
from dpassay.reports.run.kinds import KINDS as WORDS
from dpassay.reports.run.kinds import words_of
from dpassay.reports.shared.gaussian import gaussian_delta
from dpassay.selftest.golden import GaussianRelease
from dpassay.stats.divergence import gaussian_shift
from dpassay.stats.scales import ShiftScale
from tests.core.toys import Sampled, TableMechanism
from tests.engine.recorded import evidence_of
from tests.statistical.wald import as_promised

Rng = np.random.Generator
Points = NDArray[np.float64]
Table = tuple[tuple[float, ...], tuple[float, ...]]

E = math.e
PAIR = replace_one([[0.0], [0.0]], [0, 0], neighbours="flip")
QUERY = [[0.0]]


def table(mu: float, third: float = 0.0) -> Table:
    """Randomised response of distance mu. A third answer may come as often as told."""
    p = float(ndtr(mu / 2))
    right = (p * (1 - third), (1 - p) * (1 - third))
    rest = (third,) if third else ()
    return (*right, *rest), (*right[::-1], *rest)


def sampled(mechanism: Any, mu: float, **changes: Any) -> Result:
    settings: dict[str, Any] = {"budget": 3000, "confidence": 0.99, "stop_early": False}
    settings |= {"pairs": PAIR, "queries": QUERY, "executor": "inline"} | changes
    return audit(mechanism, claim=GDP(mu=mu), mode="monte-carlo", **settings)


def computed(mechanism: Any, mu: float) -> Result:
    return audit(mechanism, claim=GDP(mu=mu), pairs=PAIR, queries=QUERY, mode="exact")


# the claim


@pytest.mark.parametrize("mu", [0, -1.0, 30.1, math.nan, math.inf, "1"])
def test_a_claim_out_of_range_is_refused(mu: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^mu = .*: must be a number in \[1e-100, 30\]$"):
        GDP(mu=mu)


def test_a_claim_is_read_back() -> None:
    claim = GDP(mu=0.75, relation="replace-2", unit="a value", source="me", expected="refuted")
    told = claim.as_json()
    assert told["mu"] == claim.promised == 0.75
    assert claim_from_json(json.loads(json.dumps(told)), "refuted") == claim
    assert (str(claim), claim.profiled, claim.beside()) == ("GDP(0.75)", True, None)
    assert math.isinf(claim.most(None))


# exact


@pytest.mark.parametrize("sigma", [1.0, 0.5, 4.0])
def test_normal_noise_has_the_shift_over_its_deviation(sigma: float) -> None:
    mechanism = GaussianRelease(sigma=sigma, claimed=1 / sigma)
    result, half = (computed(mechanism, mu) for mu in (1 / sigma, 0.5 / sigma))
    assert (result.verdict, half.verdict) == ("not refuted", "refuted")
    assert result.exact == pytest.approx(1 / sigma, rel=1e-12)
    worst = evidence_of(half).worst
    assert float(ShiftScale().between(worst.p1, worst.p0)) == pytest.approx(1 / sigma)


def test_laplace_noise_projected_to_a_range_has_the_same_distance() -> None:
    class Limited:
        numbers = (0.0, 1.0)
        claims = (GDP(mu=1.1),)

        def prepare(self, data: Labelled) -> float:
            return float(data.y[0])

        def sample(self, state: float, queries: Points, size: int, rng: Rng) -> Any:
            return np.clip(state + rng.laplace(size=(size, len(queries))), 0.0, 1.0)

        def distribution(self, state: float, queries: NDArray[np.float64]) -> NoiseLaw:
            noise = Noise(kind="laplace", scale=1.0)
            return NoiseLaw(
                values=np.full(len(queries), state), noise=noise, error=0.0, low=0.0, high=1.0
            )

    result = computed(Limited(), 1.1)
    assert result.exact == pytest.approx(-2 * ndtri(math.exp(-0.5) / 2), rel=1e-12)


def test_the_law_of_labels_is_read_in_exact_and_exhaustive_mode() -> None:
    known, domain = TableMechanism(table=table(1.0)), Domain(n=2, points=1)
    exact = computed(known, 1.0)
    assert exact.verdict == "not refuted"
    assert exact.exact == pytest.approx(1.0, abs=1e-12)
    for mu, verdict in ((0.9, "refuted"), (1.1, "verified")):
        whole = audit(known, claim=GDP(mu=mu), mode="exhaustive", domain=domain)
        assert whole.verdict == verdict
        assert whole.exact == pytest.approx(1.0, abs=1e-12)


def test_a_union_of_labels_may_be_the_worst_event() -> None:
    """A third answer that tells nothing. Added to the likelier one or not, neither label alone
    shows all."""
    three = ((0.30, 0.30, 0.40), (0.2, 0.2, 0.6))
    found = computed(TableMechanism(table=three), 0.1)
    assert found.exact == pytest.approx(float(ndtri(0.6) - ndtri(0.4)))
    wide = sampled(Sampled(table=three), 0.1)
    assert answers_of(ShiftScale(), 3).unions
    assert found.exact is not None
    assert 0.3 < wide.lower < found.exact < wide.upper < 0.8


def test_an_answer_that_only_one_side_gives_has_no_finite_distance() -> None:
    result = computed(TableMechanism(table=((1.0, 0.0), (0.5, 0.5))), 29.0)
    assert (result.verdict, result.exact) == ("refuted", math.inf)


# sampled


@pytest.mark.parametrize("third", [0.0, 0.3])
def test_labels_are_refuted_or_not(third: float) -> None:
    laws = table(1.0, third)
    truth = float(gaussian_shift(*np.log(laws)).value)
    for mu, word in ((0.4, "refuted"), (1.0, "not refuted")):
        result = sampled(Sampled(table=laws), mu)
        assert result.verdict == word
        assert 0.6 < result.lower < truth < result.upper < 1.4


@pytest.mark.parametrize(("mu", "word"), [(0.5, "refuted"), (1.0, "not refuted")])
def test_numbers_are_refuted_or_not(mu: float, word: str) -> None:
    result = sampled(GaussianRelease(sigma=1.0, claimed=1.0), mu)
    assert result.verdict == word
    assert 0.7 < result.lower < 1.0
    assert math.isinf(result.upper)  # of all half-lines there is no bound from above
    assert mu < result.detectable < 1.5 * mu


def test_nothing_that_moves_is_inconclusive() -> None:
    result = sampled(Sampled(table=table(1e-9)), 1.0)
    assert (result.verdict, result.lower) == ("inconclusive", 0.0)


@pytest.mark.slow
def test_a_claim_that_holds_is_refuted_no_more_often_than_promised() -> None:
    """An error of 10 % fails here once in 100 times, one of 30 % passes twice in 100."""
    runs = (
        sampled(Sampled(table=table(1.0)), 1.0, seed=seed, budget=300, confidence=0.8)
        for seed in itertools.count()
    )
    # half of what is not confidence is for the lower bound
    assert as_promised((run.verdict == "refuted" for run in runs), 0.1, 0.3)


# record, bounds made anew, words


def test_a_record_is_bounded_anew() -> None:
    result = sampled(Sampled(table=table(1.0)), 0.5)
    raw = json.loads(json.dumps(result_json(result, 0.99)))
    assert (raw["claim"]["kind"], raw["claim"]["mu"], raw["verdict"]) == ("GDP", 0.5, "refuted")
    cell, spent = raw["per_query"][0], raw["spending"]["each_lower"]
    assert at_alpha(cell, result.claim, spent) == pytest.approx(result.lower, rel=1e-11)
    assert at_alpha(cell, result.claim, 1e-6) < result.lower < 1.0
    assert upper_at_alpha(cell, result.claim, 1e-6) > 1.0
    seen = [detectable_at_alpha(raw, result.claim, draws, 1e-3) for draws in (1000, 10_000)]
    assert 0.5 < seen[1] < seen[0]
    profile = (cell["profile"][name] for name in ("epsilon", "lower", "upper"))
    for epsilon, low, high in zip(*profile, strict=True):
        assert low <= gaussian_delta(1.0, epsilon) + 0.05
        assert high >= max(0.0, (E**-epsilon * ndtr(0.5) - ndtr(-0.5)) if epsilon else 0.0)


@pytest.mark.parametrize("mu", [0.2, 1.0, 5.0])
def test_the_claimed_profile_is_that_of_two_normal_laws(mu: float) -> None:
    noise = Noise(kind="gaussian", scale=1.0)
    for epsilon in (0.0, 0.5 * mu, mu + mu**2 / 2):
        wanted = float(noise.hockey_stick(np.array(mu), np.array(epsilon)))
        assert gaussian_delta(mu, epsilon) == pytest.approx(wanted, rel=1e-9, abs=1e-15)
    words = words_of({"kind": "GDP", "mu": mu, "relation": "replace-one"})
    levels = [0.0, 0.05, 0.5, 1.0]
    assert words.allowed(levels) == pytest.approx([float(ndtr(-ndtri(a) - mu)) for a in levels])
    assert "N(0, 1)" in words.sentence("")


@pytest.mark.slow
def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = [
        "run", "soft-majority", "--profile", "quick", "--claim", "mu=0.4", "--mode", "monte-carlo",
        "--budget", "3000",
    ]  # fmt: skip
    assert main([*run, "--out", "out", "-q"]) == 1
    report = Path("out/report.md").read_text(encoding="utf-8")
    assert "0.4-Gaussian differential privacy" in report
    assert "on the claimed curve" in Path("out/index.html").read_text(encoding="utf-8")
    (witness,) = Path("out/witnesses").iterdir()
    assert main(["replay", str(witness), "--trust"]) == 1  # it is refuted here too
    assert "reproduced" in capsys.readouterr().out
    assert main(["compare", "out/record.json", "out/record.json"]) == 1  # refuted is never excused
    assert main([*run[:5], "mu=0.4,delta=1"]) == 2
    assert "or mu=M" in capsys.readouterr().err
    Path("dpassay.toml").write_text(
        '[[mechanisms]]\ntarget = "soft-majority"\nclaim = { mu = 0.4 }\n', encoding="utf-8"
    )
    assert main(["run", "--configured", "--profile", "quick", "-q"]) == 1
    assert "μ = 0.4" in capsys.readouterr().out


# one class per kind


def test_every_kind_has_a_tester_and_words() -> None:
    from dpassay.claims import KINDS

    assert list(KINDS) == list(WORDS) == list(TESTERS)


FOLDERS = ("audit", "reports")
OWN = {
    "audit/targets/coupled.py",
    "audit/cli/attack.py",
    "audit/cli/plan.py",
    "audit/targets/guard.py",
    "audit/config/mechanisms.py",
}
"""Of one kind only, score stability or what an attack is held against; or whether something is a
claim at all."""


def test_no_one_asks_of_what_kind_a_claim_is() -> None:
    root = Path(__file__).parents[2]
    paths = [file for name in FOLDERS for file in (root / name).rglob("*.py")]
    files = {str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in paths}
    chains = {
        name for name, text in files.items() if re.search(r"isinstance\((\w+\.)*claim,", text)
    }
    assert chains <= OWN
    kinds = re.compile(
        r"\[['\"]kind['\"]\] (==|!=) ['\"](DP|GDP|Stability|PredictionStability|ScoreStability|"
        r"Accuracy)"
    )
    assert not [name for name, text in files.items() if kinds.search(text)]
