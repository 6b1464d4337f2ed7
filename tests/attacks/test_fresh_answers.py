"""Guesses from fresh answers, of the stage itself: valid, and median .85 of the claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from dpassay.attacks.experiment.certified import (
    MOST,
    Rule,
    asked_again,
    certify,
    fresh_guesses,
    guess_again,
)
from dpassay.attacks.experiment.models import ExperimentData, build_data, toss
from dpassay.attacks.experiment.planning import fresh_answers, share_of
from dpassay.attacks.experiment.power import SHARE, renyi_claim
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.subjects import Protected, asked
from dpassay.attacks.observed import Observed
from dpassay.attacks.scores import ATTACKS
from dpassay.claims import DP, RDP, zCDP
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.mechanism import Mechanism
from dpassay.record import kinds
from dpassay.record.attack_compare import counted_again
from dpassay.stats.guesses import concentrated, divergence
from tests.attacks.command import attack
from tests.attacks.toys import Toy
from tests.core.toys import target_of

REPETITIONS, ALPHA, CHECKS, WRONG = 200, 0.05, 3, 19
"""P[Bin(200, 0.05) > 19] <= 1 % / 3; an error of .16 shows."""
MODELS = 193
"""Of the default experiment, see tests/attacks/test_boundary_designs.py."""
E = 8
RECORD = 2
RULE = Rule(record=RECORD, threshold=0.5, above=True, expected=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Responding(Mechanism):
    """Says by randomised response at a loss whether the record that is asked about is in."""

    loss: float
    claims: tuple[Any, ...] = (DP(epsilon=1.0),)

    def prepare(self, data: Labelled) -> NDArray[np.float64]:
        return data.X[:, 0]

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        inside = np.isin(queries[:, 0], state)
        told = rng.random((size, len(queries))) < expit(self.loss)
        return np.asarray(told == inside).astype(np.int64)


def subject(loss: float, budgets: tuple[int, ...] = (1,)) -> Protected:
    mechanism = Responding(loss=loss)
    return Protected(target=target_of(mechanism, "responding"), budgets=budgets)


@lru_cache(maxsize=1)
def data() -> ExperimentData:
    places, ones = np.arange(2.0 * E)[:, None], np.ones(E, dtype=np.int64)
    records, test = Labelled(places[:E], ones), Labelled(places[E:], ones)
    return build_data(records, test, copies=0, noise=0.0, seed=0)


def at_targets(epsilon: float, rng: np.random.Generator) -> tuple[Observed, NDArray[np.bool_]]:
    """What the target models of the default design answer about the record, and its coins."""
    inside = rng.random((MODELS, E)) < 0.5
    shown = inside == (rng.random(inside.shape) < expit(epsilon))
    seen = np.stack([~shown, shown], axis=2).astype(float)
    return Observed(seen=seen, y=np.ones(E, dtype=np.int64), m=1), inside


CLAIMS = {
    "epsilon": lambda epsilon: DP(epsilon=epsilon),
    "order 2": lambda epsilon: RDP(2.0, divergence(float(expit(epsilon)), 2.0)),
    "rho": lambda epsilon: zCDP(concentrated(float(expit(epsilon)))),
}


def test_the_region() -> None:
    assert binom.sf(WRONG, REPETITIONS, ALPHA) <= 0.01 / CHECKS
    assert binom.sf(WRONG - 1, REPETITIONS, ALPHA) > 0.01 / CHECKS


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "kind"), [*zip([0.5, 1.0, 2.0], CLAIMS, strict=True)])
def test_by_default_a_record_certifies_85_percent_and_is_wrong_with_alpha_at_most(
    kind: str, epsilon: float
) -> None:
    """Of thirty claims that are just kept; with the guesses at the target models."""
    claim, share = CLAIMS[kind](epsilon), share_of(30, 1e-3)
    number = fresh_guesses(asked(1), claim, alpha=share, targets=MODELS)
    assert 0 < number + MODELS <= MOST
    promised, rng = renyi_claim(claim, 1), np.random.default_rng(8)
    responding, wrong, found = subject(epsilon), 0, []
    for seed in range(REPETITIONS):
        more = guess_again(responding, replace(data(), seed=seed), asked(1), [RULE], number)
        seen, inside = at_targets(epsilon, rng)
        strict, loose = (
            certify([RULE], seen, inside, delta=0.0, alpha=alpha, fresh=more)[0]
            for alpha in (share, ALPHA)
        )
        wrong += loose.lower.value > epsilon
        assert strict.guesses == number + MODELS
        found.append(
            strict.lower.value / epsilon
            if promised is None
            else promised.certified(strict.right, strict.guesses, share) / promised.allowed
        )
    assert wrong <= WRONG
    assert np.median(found) >= SHARE


def experimented(loss: float, claim: DP | None) -> Any:
    attacks = {"loss-threshold": ATTACKS["loss-threshold"]}
    target = Target(name="responding", subject=subject(loss, (1, 8)), claim=claim)
    design = Design(references=16, targets=8, certified=2, fresh=True, confidence=0.999)
    (found,) = experiment([target], data(), attacks, design)
    assert fresh_answers(target, attacks, data(), design, 1e-3) == 2 * max(
        bound.fresh.n1 + bound.fresh.n0 for bound in found.certified["one label"]
    )
    return found


def test_a_leak_of_everything_is_broken_though_8_targets_could_not_see_it() -> None:
    found = experimented(40.0, DP(epsilon=1.0))
    single, eight = (found.certified[name][0] for name in ("one label", "8 labels"))
    assert single.right == single.guesses > 3000
    assert single.lower.value > 5
    assert single.fresh.x == single.fresh.n1
    assert single.fresh.y == 0
    # fresh answers are asked for where the claim of the fewest answers is tested
    assert eight.guesses == 8
    assert eight.fresh.n1 == eight.fresh.n0 == 0


def test_nothing_is_asked_for_where_nothing_is_claimed() -> None:
    found = experimented(1.0, None)
    assert {bound.guesses for bounds in found.certified.values() for bound in bounds} == {8}


def test_what_runs_outside_has_coins_of_its_own_or_no_labels_is_not_asked_again() -> None:
    @dataclass(frozen=True)
    class Foreign(Responding):
        foreign: bool = True

    told = subject(1.0)
    assert asked_again(told, DP(epsilon=1.0)) == asked(1)

    @dataclass(frozen=True)
    class Unseeded(Responding):
        seeded: bool = False

    for other in (Foreign(loss=1.0), Unseeded(loss=1.0)):
        same = replace(told, target=replace(told.target, mechanism=other))
        assert asked_again(same, DP(epsilon=1.0)) is None

    assert asked_again(Toy(tells=1.0), DP(epsilon=1.0)) is None


def test_the_number_is_that_of_the_claim_or_what_20_000_answers_are_enough_for() -> None:
    one = DP(epsilon=1.0)
    number = fresh_guesses(asked(1), one, alpha=1e-5, targets=0)
    assert fresh_guesses(asked(1), one, alpha=1e-5, targets=100) == number - 100
    assert fresh_guesses(asked(1), one, alpha=1e-5, targets=number + 1) == 0
    for large in (DP(epsilon=20.0), DP(epsilon=0.05), DP(epsilon=0.0, delta=0.1)):
        assert fresh_guesses(asked(1), large, alpha=1e-5, targets=193) == 20_000 - 193
        assert fresh_guesses(asked(8), large, alpha=1e-5, targets=193) == 2_500 - 193


def test_the_two_training_sets_differ_in_the_record_and_its_partner_alone() -> None:
    seen = []

    @dataclass(frozen=True)
    class Watching(Responding):
        def prepare(self, data: Labelled) -> NDArray[np.float64]:
            seen.append(set(data.X[:, 0].tolist()))
            return data.X[:, 0]

    told = subject(1.0)
    watched = replace(told, target=replace(told.target, mechanism=Watching(loss=1.0)))
    for record in range(E):
        seen.clear()
        (counts,) = guess_again(watched, data(), asked(1), [replace(RULE, record=record)], 50)
        with_it, without = seen
        assert with_it - without == {record}
        assert without - with_it == {record ^ 1}
        assert counts.n1 + counts.n0 == 50
        again = guess_again(watched, data(), asked(1), [replace(RULE, record=record)], 50)
        assert again == (counts,)
    others = toss(1, E, seed=0, who="fresh answers").membership[0]
    assert with_it & without <= set(np.flatnonzero(others).tolist())


def test_a_mechanism_that_fails_then_is_told_of() -> None:
    @dataclass(frozen=True)
    class Failing(Responding):
        def sample(
            self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
        ) -> NDArray[Any]:
            if size > 100:
                raise RuntimeError("no more than 100 answers")
            return Responding.sample(self, state, queries, size, rng)

    told = subject(1.0)
    failing = replace(told, target=replace(told.target, mechanism=Failing(loss=1.0)))
    with pytest.raises(TargetError, match="no more than 100 answers"):
        guess_again(failing, data(), asked(1), [RULE], 1000)
    target = Target(name="failing", subject=failing, claim=DP(epsilon=1.0))
    design = Design(references=4, targets=8, fresh=True)
    (found,) = experiment([target], data(), {}, design)
    assert "no more than 100 answers" in found.error


WORDS = (
    "soft-majority -p r=5 --epsilon 1 --against mechanism --attacks gap --records 60 "
    "--references 4 --budgets 1 --copies 0 --transcripts 0 -q"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fresh")
    assert attack(f"{WORDS} --out {made}") == 0
    return made


@pytest.fixture
def record(folder: Path) -> Any:
    return kinds.ATTACKS.read(folder / "attack.json")


def test_the_record_tells_them_apart(record: Any) -> None:
    targets = record["run"]["targets"]
    for bound in record["subjects"][0]["certified"]:
        counts, fresh = bound["counts"], bound["fresh"]
        assert counts["n1"] + counts["n0"] - fresh["n1"] - fresh["n0"] == targets
        assert bound["detectable"] < 1.3


def test_no_number_depends_on_the_processes_and_none_are_asked_with_models(
    record: Any, tmp_path: Path
) -> None:
    assert attack(f"{WORDS} --jobs 2 --out {tmp_path}") == 0
    assert kinds.ATTACKS.read(tmp_path / "attack.json")["subjects"] == record["subjects"]
    assert attack(f"{WORDS} --models 4 --allow-inconclusive --out {tmp_path}") == 0
    fewer = kinds.ATTACKS.read(tmp_path / "attack.json")["subjects"][0]["certified"]
    assert not any("fresh" in bound for bound in fewer)


def test_a_baseline_is_compared_by_the_guesses_at_targets_alone(record: Any) -> None:
    entry = {"subject": record["subjects"][0], "repeated": None}
    numbers, _, _ = counted_again(entry, entry, 0.0, 1e-3)
    assert len(numbers) == 5
    targets = record["run"]["targets"]
    assert all(f" of {targets}, and " in each.counts for each in numbers)


def test_the_terminal_and_the_page_tell_how_many(
    record: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder)]) == 0
    counts, fresh = (record["subjects"][0]["certified"][0][name] for name in ("counts", "fresh"))
    every, some = (f"{each['n1'] + each['n0']:,}" for each in (counts, fresh))
    told = capsys.readouterr().out + (folder / "attack.md").read_text(encoding="utf-8")
    assert f"of {every}, {some} fresh" in told
    page = (folder / "attack.html").read_text(encoding="utf-8")
    assert f"it guessed {some} times more, from fresh answers at one fixed pair" in page
    assert f"{some} guesses more are from fresh answers" in page
