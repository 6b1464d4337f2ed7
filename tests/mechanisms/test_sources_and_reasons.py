"""What entries say in words. Where a claim comes from, which coins it is about, and why a pair is
bad."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.engine.exact import any_size
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_exponential import (
    Example61Exponential,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_noisy_max import (
    Example61NoisyMax,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate import Validate
from dpassay.mechanisms.dagan_feldman_2020.exponential import CERTAIN, Exponential
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE

SUM = "erm-regulariser-on-the-sum"


def own_losses(mechanism: Any, claim: Claim) -> list[float]:
    """The exact leak of each of the mechanism's own worst cases."""
    result = audit(mechanism, claim=claim, mode="exact")
    assert result.evidence is not None
    worst = [0.0] * len(mechanism.pairs())
    for cell in result.evidence.cells:
        assert cell.exact is not None
        worst[cell.group] = max(worst[cell.group], cell.exact.value)
    return worst


def sources(name: str, status: str, parameters: dict[str, Any] | None = None) -> set[str]:
    return {claim.source for claim in resolve(name, parameters).claims if claim.status == status}


def test_where_a_number_of_erm_is_derived_and_of_what_it_is() -> None:
    for name, rate, section in (
        ("erm-laplace", "/ (lambda n)", "Theorem 4.9"),
        (SUM, "/ lambda", "The regulariser on the sum"),
    ):
        known: Any = resolve(name, {"loss": "absolute"}).mechanism
        argument = known.reachable().argument
        assert f"L_f^2 L_l {rate} (docs/findings.md, '{section}')" in argument
        assert "exact minimisers" in argument
    target = resolve(SUM)
    worst = any_size(target, target.claims[3])
    assert worst is not None
    assert worst.loss == pytest.approx(1.0)  # L_f^2 L_l / lambda, not a fifth of it


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("label-flip", "Corollary 1"),
        ("label-flip-above-one-half", "Corollary 1 above one half"),
        ("example61-exponential", "Section 6.1"),
        ("example61-standard-deviation", "The noise in section 6.1"),
        ("example61-half-scale", "The noise in section 6.1"),
        ("erm-laplace", "Theorem 4.9"),
        (SUM, "The regulariser on the sum"),
        ("psgd-laplace", "Theorem 4.12"),
        ("psgd-in-random-order", "Corollary 4.13 in a random order"),
    ],
)
def test_a_corrected_claim_names_the_section_that_derives_it(name: str, section: str) -> None:
    corrected = sources(name, "corrected")
    assert corrected
    for source in corrected:
        assert source.endswith(f"docs/findings.md, '{section}'")


def test_every_section_that_is_named_is_there() -> None:
    for name in ENTRIES:
        for claim in resolve(name).claims:
            for section in re.findall(r"docs/findings\.md, '([^']*)'", claim.source):
                assert f"\n## {section}\n" in PAGE, claim.source


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("m", [0, 2])
def test_the_pair_of_section_6_1_is_the_one_that_is_described(n: int, m: int) -> None:
    assert (
        f"raises every candidate's share by 1/{n},"
        in Example61NoisyMax(n=n + m, m=m).pairs()[0].reason
    )
    mechanism = Example61Exponential(n=n + m, m=m)
    for case in mechanism.pairs():
        counts = mechanism.counts(case.pairs.base)
        said = (
            f"{counts[0]} of {n} training records have a large value for candidate 1, {counts[1]} "
            f"of {n} for "
        )
        assert said in case.reason
        if "pair of section 6.1" in case.reason:
            assert counts[0] == n
            assert ("the closest to" in case.reason) == (n % 2 == 1)
        moved = mechanism.counts(case.pairs.changes[0].apply(case.pairs.base))
        assert np.abs(moved - counts).tolist() == [1, 1]


@pytest.mark.parametrize("name", ENTRIES)
def test_a_noisy_answer_is_not_said_to_have_no_coins(name: str) -> None:
    """Stability of its mean is about the prediction before the noise. What is sampled, and tested
    for its law, is noisy."""
    target = resolve(name)
    private = any(isinstance(claim, DP) for claim in target.claims)
    for claim in target.claims:
        if private and isinstance(claim, PredictionStability):
            assert claim.coins.startswith(
                "prediction before noise: none; answer: fresh noise of mean 0"
            )


STRINGS = {
    5: (
        "frozen, from seed 5 (good strings: all are no longer than the length that is exceeded "
        "with probability delta / k = 0.25)"
    ),
    2: (
        "frozen, from seed 2 (bad strings: not all are no longer than the length that is exceeded "
        "with probability delta / k = 0.25; Equation 9 does not cover them)"
    ),
}


@pytest.mark.parametrize("seed", STRINGS)
def test_frozen_strings_are_named_and_good_is_explained(seed: int) -> None:
    target = resolve("equation-9-with-theorem-4", {"seed": seed})
    mechanism: Any = target.mechanism
    assert mechanism.good == (seed == 5)
    for claim in target.claims:
        assert STRINGS[seed] in claim.coins
        if claim.status == "corrected":
            assert claim.source == "docs/findings.md, 'Equation 9', for these strings"


@pytest.mark.parametrize("coins", ["frozen", "fresh"])
def test_a_searched_pair_says_what_was_searched(coins: Literal["frozen", "fresh"]) -> None:
    mechanism = Validate(base="output-perturbation,lambdas=1;1,n=5", m=2, coins=coins)
    found = [case.reason for case in mechanism.pairs() if "a search over datasets" in case.reason]
    assert len(found) == 2
    for reason, where in zip(found, ("training", "validation"), strict=True):
        values = "at -1, -1/2, 0, 1/2 or 1 (label times feature)"
        assert (
            f"all records of T (n = 3) are equal and all of V (m = 2) are equal, {values}" in reason
        )
        assert f"and one {where} record moves to another of these values" in reason
        assert ("coarse" in reason) == (coins == "fresh")
        # fresh strings choose between equal parameters by a fair coin, whatever the dataset
        assert reason.startswith("largest loss of the index alone") == (coins == "frozen")


@pytest.mark.parametrize(
    "name",
    ["distance-to-instability", "distance-by-margin", "pate-data-dependent", "pate", "private-knn"],
)
def test_the_worst_move_of_a_vote_is_worst_at_the_delta_that_is_named(name: str) -> None:
    """Whichever claim the pair stands under. Its reason is about delta, and where nothing is lost
    it says so."""
    target = resolve(name)
    reasons = [case.reason for case in target.mechanism.pairs()]
    assert not any("DP(" in reason for reason in reasons)
    for claim in target.claims:
        assert isinstance(claim, DP)
        worst = any_size(target, claim)
        assert worst is not None
        at = f" at delta = {claim.delta:.9g}" if any(each.delta for each in target.claims) else ""  # type: ignore[union-attr]
        most = re.compile(rf"(^|; )largest loss of all changes of one vote{at}($|;)")
        told = [i for i, reason in enumerate(reasons) if most.search(reason)]
        if worst.loss > 0:
            assert [own_losses(target.mechanism, claim)[i] for i in told] == pytest.approx(
                [worst.loss], abs=1e-12
            )
        else:
            assert told == []
            assert any(f"no change of one vote has a loss{at}" in reason for reason in reasons)


def test_epsilon_is_approached() -> None:
    mechanism = Exponential()
    known = mechanism.reachable()
    assert known is not None
    assert "The loss approaches epsilon as the log-odds tend to -inf" in known.argument
    assert f"below -{CERTAIN:g} it falls short of epsilon by less than 5e-18" in known.argument
    assert np.exp(-CERTAIN) < 5e-18
    rare = mechanism.pairs()[0].reason
    assert "by a factor of e^epsilon, up to an error of less than 5e-18 in the logarithm" in rare


@pytest.mark.parametrize("name", ["output-perturbation", "objective-perturbation"])
def test_a_worst_case_says_what_it_is_the_worst_case_of(name: str) -> None:
    """A validation record moves the score and no weight, a training record the weights. A training
    record of the other case."""
    mechanism: Any = resolve(
        name, {"n": 110, "m": 10, "lambdas": "2", "release": "prediction"}
    ).mechanism
    weights, score = mechanism.pairs()
    assert weights.reason.startswith("for the weights, ")
    assert score.reason.startswith("for the score, ")
    assert score.reason.endswith("; the weights do not depend on it")
    losses = own_losses(mechanism, mechanism.claims[0])
    assert losses[0] > 0.2
    assert losses[1] == 0


SOURCES = """\
noisy-average-number | | Corollary 4.7
noisy-average-number | epsilon=2.0 | Lemmas 4.5 and 4.6 (Corollary 4.7 is for epsilon <= 1)
noisy-average | | Corollary 4.7
noisy-average | epsilon=2.0 | Lemmas 4.5 and 4.6 (Corollary 4.7 is for epsilon <= 1)
noisy-average-number | gamma=0.5 | Lemma 4.5 (Corollary 4.7 is for the mean of Boolean functions)
stable-laplace | gamma=0.04 | Lemma 4.5
stable-laplace | gamma=0.01 | Lemma 4.5, with gamma = 0.01 as given; the predictor claims 0.04
stable-gaussian | gamma=0.01 | Theorem 8, with gamma = 0.01 as given; the predictor claims 0.04
label-flip | epsilon=0.9 | section 3, steps 1 and 2 (proof of Corollary 1)
label-flip | | (proof of Corollary 1); Corollary 1 itself is for epsilon < 1
validate | | Theorem 1 (Equation 9)
validate | beta2=0.5 | Theorem 1 (Equation 9), with beta_2 = 0.5 as given
""".splitlines()


@pytest.mark.parametrize("line", SOURCES)
def test_a_source_is_within_its_hypotheses(line: str) -> None:
    name, given, said = (each.strip() for each in line.split("|"))
    for source in sources(name, "printed", dict([given.split("=")] if given else [])):
        assert source.endswith(said)


def test_what_no_line_of_a_paper_says_is_not_called_printed() -> None:
    """Section 6.1 gives the noise of scale l / (alpha n) to A' alone."""
    target = resolve("example61-half-scale")
    assert [claim.status for claim in target.claims] == ["own", "corrected"]
    assert target.claims[0].source.startswith("not printed: ")
    assert [claim.expected for claim in target.claims] == ["refuted", None]


OF_ITS_OWN = {"n", "threshold", "public", "edges", "h"}
"""Parameters that may be left out because nothing is in force for them: datasets of any size, a
number instead of a label ..."""


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_left_out_is_told_and_makes_the_same_claims(name: str) -> None:
    target = resolve(name)
    left_out = {
        parameter for parameter, value in target.parameters.items() if value is None or value == ""
    }
    assert left_out - OF_ITS_OWN <= set(target.derived) <= left_out
    given = {
        parameter: value
        for parameter, value in target.derived.items()
        if parameter not in ("predictor", "public")
    }
    found: Any = target.mechanism
    made = type(found)(
        **{name: value for name, value in target.parameters.items() if value is not None} | given
    )
    claims = [[replace(claim, expected=None) for claim in each.claims] for each in (made, found)]
    assert claims[0] == claims[1]


def test_bins_and_the_rounding_of_a_kink_are_told() -> None:
    assert {"edges"} <= set(resolve("objective-perturbation").derived)
    assert {"L_l", "h"} == set(resolve("psgd-laplace").derived)
    assert "origin" in str(resolve("output-perturbation", {"release": "auc"}).derived["public"])
    assert resolve("projected-walk-risk").derived == {"samples": 76}
    assert resolve("pate-data-dependent").derived == {"lead": 25}


@pytest.mark.parametrize(
    ("loss", "lambda_", "said"),
    [
        ("huber", 0.001, ""),
        ("huber", 1.0, "all other training records are at the origin"),
        ("logistic", 0.001, ""),
    ],
)
def test_where_the_other_training_records_are(loss: str, lambda_: float, said: str) -> None:
    given = {"loss": loss, "lambda_": lambda_, "n": 20, "m": 5}
    mechanism: Any = resolve("objective-perturbation", given).mechanism
    case = mechanism.pairs()[0]
    others = case.pairs.base.X[1:15]
    assert bool(others.any()) == (not said)
    assert case.reason.endswith(said or "pulls the other way")


def test_a_query_that_is_nobodys_place_is_not_said_to_be_a_records() -> None:
    for case in resolve("stable-learner-rounded-up").mechanism.pairs():
        if not (case.queries == case.pairs.base.X).all(axis=1).any():
            assert "at its point" not in case.reason


@pytest.mark.parametrize("r", [4, 7, 25])
def test_votes_before_the_flip_are_those_of_the_pair(r: int) -> None:
    (case,) = resolve("noisy-average-number", {"r": r}).mechanism.pairs()[-1:]
    ones = case.pairs.base.y.sum()
    assert case.reason == f"{ones} of the {r} predictions are 1, and one more becomes 1"


def test_last_labels_that_decide_a_walk_are_equal() -> None:
    mechanism: Any = resolve("projected-walk-tied-in-order").mechanism
    (case,) = mechanism.pairs()
    few = re.search(r"last (\d+) labels, which are equal", case.reason)
    assert few
    assert len(set(case.pairs.base.y[-int(few[1]) :])) == 1


def test_the_noise_of_many_records_is_compared_with_what_v_requires() -> None:
    """The search stops at 1000 records, which may be too few."""
    mechanism: Any = resolve("validate").mechanism
    (case,) = (each for each in mechanism.pairs() if "what V requires" in each.reason)
    beta1, beta2 = mechanism.betas
    n, m = len(case.pairs.base) - mechanism.m, mechanism.m
    assert f"only {beta1 / n / (beta2 / m):.3g} times what V requires" in case.reason
    assert beta1 / n > beta2 / m


@pytest.mark.parametrize("name", ["stable-learner", "stable-learner-rounded-up", "label-flip"])
def test_the_worst_of_equal_records_is_called_what_it_was_chosen_for(name: str) -> None:
    mechanism: Any = resolve(name).mechanism
    reasons = [case.reason for case in mechanism.pairs()]
    ours = [k for k, reason in enumerate(reasons) if "by the law, this is the largest" in reason]
    change = own_losses(mechanism, Stability(gamma=1.0))
    (first,) = (k for k in ours if "change of a probability" in reasons[k])
    assert change[first] == max(change[k] for k in ours)


def test_no_own_pair_stands_twice() -> None:
    for name in ("alpha-split", "random-choice", "data-split"):
        pairs = [case.pairs for case in resolve(name).mechanism.pairs()]
        seen = {(each.base.digest, str(each.changes)) for each in pairs}
        assert len(seen) == len(pairs)


def test_both_kinds_of_change_of_a_histogram_are_told() -> None:
    (case,) = resolve("histogram").mechanism.pairs()
    changed = {change.index for change in case.pairs.changes}
    assert len(changed) == 2
    assert "a record of V leaves that bin" in case.reason
