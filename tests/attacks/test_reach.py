"""Cap and detectable by enumeration; the default takes enough targets to see a total leak."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks.experiment.one_run import largest_rejected
from dpassay.attacks.experiment.planning import ABOVE, FEWEST, MOST
from dpassay.attacks.experiment.power import (
    GuessClaim,
    RunClaim,
    guesses_to_see,
    reach,
    reach_of_counts,
)
from dpassay.claims import DP, Claim
from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import choose, lower_bound
from dpassay.stats.scales import Ratio
from tests.attacks.command import attack, record_of

SMALL = (
    f"{__name__}:Nearest --epsilon 1 --budgets 1 --against mechanism --records 200 --references 16 "
    "--copies 0 --transcripts 0 -q"
)


@dataclass(frozen=True)
class Nearest:
    """A plain 1-nearest-neighbour, behind a claim."""

    epsilon: float = 1.0
    labels = (0, 1)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon),)

    def prepare(self, data: Labelled) -> Labelled:
        return data

    def sample(self, state: Labelled, queries: Any, size: int, rng: np.random.Generator) -> Any:
        distances = ((queries[:, None] - state.X) ** 2).sum(axis=2)
        return np.tile(state.y[distances.argmin(axis=1)], (size, 1))


def leak(q: float, delta: float) -> float:
    return math.log((q - delta) / (1 - q))


@pytest.mark.parametrize(
    ("trials", "claimed", "delta", "alpha"),
    list(itertools.product((5, 32, 53, 200), (0.0, 0.5, 1.0, 2.0), (0.0, 0.01), (1e-2, 1e-7))),
)
def test_the_reach_of_guesses_by_enumeration(
    trials: int, claimed: float, delta: float, alpha: float
) -> None:
    found = reach(GuessClaim(allowed=claimed, delta=delta), trials, alpha=alpha)
    q = alpha ** (1 / trials)  # P[all right] = alpha: the Clopper-Pearson limit of T in T
    assert found.cap == pytest.approx(max(0.0, leak(q, delta)) if q > delta else 0.0, abs=1e-9)
    single = GuessClaim(delta=delta)
    breaking = [k for k in range(trials + 1) if single.certified(k, trials, alpha) > claimed]
    if not breaking:
        assert found.cap <= claimed
        assert found.detectable == math.inf
        return
    assert found.detectable > claimed
    chance = (math.exp(found.detectable) + delta) / (1 + math.exp(found.detectable))
    assert sum(binom.pmf(k, trials, chance) for k in breaking) == pytest.approx(0.9, abs=1e-9)


def test_the_reach_of_the_one_run_audit_by_enumeration() -> None:
    found = reach(RunClaim(coins=400), 40, alpha=1e-3)
    assert found.cap == largest_rejected(40, 40, m=400, alpha=1e-3)
    telling = [v for v in range(41) if largest_rejected(v, 40, m=400, alpha=1e-3) > 0]
    chance = 1 / (1 + math.exp(-found.detectable))
    assert sum(binom.pmf(v, 40, chance) for v in telling) == pytest.approx(0.9, abs=1e-9)
    assert reach(RunClaim(coins=50), 5, alpha=1e-3).detectable == math.inf  # 2^-5 is above alpha


def test_the_reach_of_a_rung_is_that_of_its_test() -> None:
    found = reach_of_counts(500, claimed=1.0, delta=0.0, alpha=1e-4)
    most = lower_bound(
        "clopper-pearson", Counts(x=500, n1=500, y=0, n0=500), scale=Ratio(0.0), alpha=1e-4
    ).value
    assert found.cap >= most > 1
    assert 1.2 < found.detectable < 1.6
    assert reach_of_counts(500, claimed=8.0, delta=0.0, alpha=1e-4).detectable == math.inf


def test_what_is_detectable_is_seen_nine_times_in_ten() -> None:
    """200 counts of randomised response that loses just what is detectable; .8 would show."""
    found, rng = reach_of_counts(500, claimed=1.0, delta=0.0, alpha=1e-4), np.random.default_rng(0)
    p = 1 / (1 + math.exp(-found.detectable))
    test = choose(
        round(500 * p), round(500 * (1 - p)), 500, 500, labels=2, scale=Ratio(0.0), alpha=1e-4
    )
    right, wrong = (rng.binomial(500, q, 200).tolist() for q in (p, 1 - p))
    seen = sum(
        lower_bound(test, Counts(x=x, n1=500, y=y, n0=500), scale=Ratio(0.0), alpha=1e-4).value > 1
        for x, y in zip(right, wrong, strict=True)
    )
    assert binom.ppf(0.005, 200, 0.9) <= seen <= binom.isf(0.005, 200, 0.9)


def test_the_numbers_of_the_issue() -> None:
    """A subject of 61, three views, one bound beside 12 attacks, five records."""
    alpha = 1e-3 / 61 / (3 * 13) / 5
    assert reach(GuessClaim(allowed=1.0), 32, alpha=alpha).cap == pytest.approx(0.41, abs=0.005)
    for claimed, needed in ((1.0, 53), (2.0, 129)):
        assert guesses_to_see(GuessClaim(allowed=claimed), None, alpha=alpha) == needed


def test_targets_that_see_a_leak() -> None:
    needed = guesses_to_see(GuessClaim(allowed=1.0), 3.0, alpha=1e-6)
    assert reach(GuessClaim(allowed=1.0), needed, alpha=1e-6).detectable <= 3
    assert guesses_to_see(GuessClaim(allowed=1.0), 3.0, alpha=1e-6, most=20) == 0
    assert guesses_to_see(GuessClaim(), None, alpha=0.4) == 2
    for wrong in (1.0, 0.5, math.nan):
        with pytest.raises(InvalidInput, match="--detect"):
            guesses_to_see(GuessClaim(allowed=1.0), wrong, alpha=1e-6)


def test_a_plain_nearest_neighbour_behind_a_claim_is_broken(tmp_path: Path) -> None:
    """32 targets, all guessed, could say nothing; the default takes more, and fresh answers."""
    assert attack(f"{SMALL} --attacks gap --out {tmp_path}") == Exit.REFUTED
    record = record_of(tmp_path)
    best = record["subjects"][0]["certified"][0]
    right = best["counts"]["x"] + best["counts"]["n0"] - best["counts"]["y"]
    fresh = best["fresh"]["n1"] + best["fresh"]["n0"]
    assert right == record["run"]["targets"] + fresh
    told = (tmp_path / "attack.md").read_text(encoding="utf-8")
    assert f"{right:,} of {right:,}, {fresh:,} fresh" in told
    assert f"it guessed {fresh:,} times more, from fresh answers" in told
    alone = best["counts"]["n1"] - best["fresh"]["n1"] + best["counts"]["n0"] - best["fresh"]["n0"]
    assert alone == record["run"]["targets"]
    assert best["lower"] == pytest.approx(best["cap"])
    assert FEWEST < record["run"]["targets"] <= MOST
    assert best["detectable"] <= 1 + ABOVE
    assert "1 claim, 1 BROKEN" in told


def test_few_targets_could_not_have_seen_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{SMALL} --models 10 --out {tmp_path}"
    assert attack(words) == Exit.INCONCLUSIVE
    told = capsys.readouterr().out
    seen = "1 claim, 0 broken, 0 not broken (could have seen it), 1 could not have been seen"
    assert seen in " ".join(told.split())
    assert "could not have seen it" in told
    for page in ("attack.html", "attack.md"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "could not have seen it" in text
        assert "detectable" in text
    assert attack(f"{words} --allow-inconclusive") == Exit.NOTHING
    report = ["report", str(tmp_path / "attack.json"), "-o", str(tmp_path), "--exit-code"]
    assert main(report) == Exit.INCONCLUSIVE
    assert main([*report, "--allow-inconclusive"]) == Exit.NOTHING
