"""Sentences of a report say what their numbers carry, and no more."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import jsonschema
import numpy as np
import pytest

from dpassay.claims import ScoreStability, Stability
from dpassay.data import Labelled
from dpassay.engine.detection.alternatives import Answers
from dpassay.engine.detection.design import Design, sight
from dpassay.engine.domains.domain import Domain
from dpassay.engine.evidence import HalfLine
from dpassay.engine.exact import exact_evidence, group_laws
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.laws import FiniteLaw
from dpassay.pairs import FlipLabel, Pairs, replace_one
from dpassay.record.run_record import make_record, record_schema
from dpassay.record.witness_words import in_words
from dpassay.reports.run.markdown import text_md, to_markdown
from dpassay.reports.run.view import ResultView, make_view
from dpassay.reports.run.words import event_words
from dpassay.reports.shared.numbers import promise
from dpassay.stats.power import Screening
from dpassay.stats.profile import exact_profile, trade_off
from dpassay.stats.scales import Ratio
from dpassay.targets.adapter import full
from dpassay.targets.groups import Group, groups_for, silent
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve

Record = dict[str, Any]
FACTS: Record = {
    "confidence": 0.999,
    "seed": 0,
    "profile": "default",
    "command": "",
    "catalogue": True,
    "complete": True,
}
FACTS |= {"data": None, "budget": 0, "commit": None}


@cache
def computed_record(name: str, *given: tuple[str, Any]) -> Record:
    """The record of an exact audit of one entry on its own worst cases."""
    return make_record(FACTS, assay([resolve(name, dict(given))], None, Settings(mode="exact")))


def told(result: ResultView, *titles: str) -> str:
    return " ".join(
        text for part in result.parts if not titles or part.title in titles for text in part.texts
    )


def only(record: Record) -> ResultView:
    (result,) = make_view(record).results
    return result


def of_score(make: Any, share: float, upper: float, lower: float | None = None) -> Record:
    """A result on score stability: its worst event is 'good' where the proportion is 0."""
    result: Record = make.computed("score.exact", "not refuted", share)
    betas = {"beta1": 1.0, "beta2": 1.092103}
    result["claim"] |= betas | {
        "kind": "ScoreStability",
        "epsilon": None,
        "delta": 0.01,
        "unit": "score",
    }
    event, p1, p0 = ([1], share, 0.0) if share else ([0], 1.0, 1.0)
    least = share if lower is None else lower
    numbers = {"lower": least, "upper": upper, "exact": share}
    result |= numbers | {"error": upper - share, "parameters": {"n": 398, "m": 10}}
    result["witness"] |= {"event": event, "p1": p1, "p0": p0, "loss": share}
    result["per_query"] = [
        make.cell(0, least, upper, exact=share) | {"event": event, "p1": p1, "p0": p0}
    ]
    return result


def curve(make: Any, query: int, exact: float, low: float, high: float, **more: Any) -> Record:
    """A cell whose profile lies in [low, high] at the claimed epsilon."""
    levels = {"false_positive": [0.0, 0.0544967, 1.0], "trade_off_lower": [1.0, 0.871733, 0.0]}
    bands = {
        "epsilon": [0.0, 1.0],
        "lower": [0.5, low],
        "upper": [0.5, high],
        "trade_off_upper": [1.0, 0.871734, 0.0],
    }
    cell: Record = make.cell(query, exact, exact, exact=exact, group=more.pop("group", "data"))
    return cell | more | {"profile": levels | bands | {"alpha": 0.0}}


def profiled(make: Any, *cells: Record, worst: int = 0) -> Record:
    result: Record = make.computed("a", "not refuted", 0.75)
    result["per_query"] = list(cells)
    result["witness"] |= {
        name: cells[worst][name] for name in ("query", "direction", "event", "p1", "p0")
    }
    return result


class TestProfile:
    @staticmethod
    @pytest.mark.parametrize(
        ("low", "high", "said"),
        [
            (0.0, 3.3375e-14, "is at most 3.4e-14; the"),
            (0.0, 0.0, "is 0; the"),
            (0.931616, 0.931703, "is between 0.931616 and 0.931703; the"),
            (0.177994, 0.177995, "is 0.178; the"),
            (0.1779949, 0.1779951, "is 0.177995; the"),
        ],
    )
    def test_no_middle_of_a_band_is_told_as_the_number(
        make: Any, low: float, high: float, said: str
    ) -> None:
        assert f"δ(1) {said}" in told(
            only(make.record(profiled(make, curve(make, 0, 0.75, low, high)))), "Privacy profile"
        )

    @staticmethod
    def test_the_pair_is_named_and_a_worse_one_too(make: Any) -> None:
        here = curve(
            make,
            16,
            0.75,
            0.001,
            0.001,
            change="record 3 replaced by record 9 of the pool",
            p1=0.25,
        )
        cells = (
            curve(make, 2, 0.75, 0.0, 0.0),
            here,
            curve(make, 0, 0.5, 0.0004, 0.0004, group="own"),
        )
        said = told(only(make.record(profiled(make, *cells, worst=1))), "Privacy profile")
        assert "query 16, record 3 replaced by record 9 of the pool" in said
        assert "needs the largest" not in said
        assert "Pairs that were not audited may need a larger δ." in said
        cells = *cells[:2], curve(make, 0, 0.5, 0.002, 0.002, group="own")
        said = told(only(make.record(profiled(make, *cells, worst=1))), "Privacy profile")
        assert "the one at query own 1 needs the largest δ: 0.002." in said
        result = profiled(make, *cells, worst=1)
        result["searched"] |= {"asked": False}
        assert "the one at own 1 needs the largest δ: 0.002." in told(
            only(make.record(result)), "Privacy profile"
        )

    @staticmethod
    def test_a_false_negative_rate_is_bounded_at_the_level_that_was_looked_at(make: Any) -> None:
        said = told(
            only(make.record(profiled(make, curve(make, 0, 0.75, 0.1, 0.1)))), "Privacy profile"
        )
        allowed = math.floor(1e6 * max(1 - math.e * 0.0544967, (1 - 0.0544967) / math.e)) / 1e6
        assert (
            "a false positive rate of 0.0544967, has a false negative rate of at least 0.871733;"
            in said
        )
        assert said.endswith(f"guarantees at least {allowed}.")
        assert "at best" not in said
        assert "answer with" not in said

    @staticmethod
    def test_no_test_reaches_the_hull_of_both_directions() -> None:
        """Why it is 'at least'.

        Between two tests of opposite directions the hull is below both trade-off functions.
        """
        p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
        low, high = trade_off(
            exact_profile(np.log(p), np.log(q), np.array([1.0]), 0.0), level := np.array([0.3])
        )
        # of S: always S', or S' on label 1 (.1, .5), of S': S on label 0 (.5, .1)
        reached = min(
            float(np.interp(level[0], [0, 0.1, 1], [1, 0.5, 0])),
            float(np.interp(level[0], [0, 0.5, 1], [1, 0.1, 0])),
        )
        assert low[0] <= high[0] < reached - 0.05


class TestClaim:
    @staticmethod
    def test_several_answers_were_not_looked_at(make: Any) -> None:
        """The interface takes what answers 0 or 1 and claims a loss.

        Its batch alone shares coins between answers.
        """
        known = make.computed("a", "not refuted")
        known["witness"]["target"] = "soft-majority"
        pointer = (
            "To audit several answers together: dpassay run interface -p base=soft-majority -p "
            "epsilon=1.0 -p adv"
        )
        said = told(only(make.record(known)), "Claim")
        assert "what several answers reveal together was not looked at." in said
        assert pointer in said
        assert "same noise" not in said
        others = [
            make.of_kind(make.computed("a", "not refuted"), "Stability", 0.5),
            make.computed("a", "not refuted"),
        ]
        others += [make.computed("a", "not refuted")]
        others[1]["witness"]["labels"], others[2]["witness"]["target"] = [0, 1, 2], "module:object"
        for each in others:
            assert "dpassay run" not in told(only(make.record(each)), "Claim")

    @staticmethod
    @pytest.mark.parametrize(
        "base",
        ["soft-majority", "noisy-average", "pate", "private-knn", "subsampled", "label-flip"],
    )
    def test_the_interface_takes_what_is_sent_there(base: str) -> None:
        assert resolve("interface", {"base": base, "adversary": "batch"}).labels[0] == 0

    @staticmethod
    @pytest.mark.parametrize(
        "name", ["soft-majority", "label-flip-above-one-half", "subsampled", "pate", "private-knn"]
    )
    def test_the_command_that_is_named_asks_the_algorithm_of_the_claim(name: str) -> None:
        """It left the interface's own epsilon, 1, in the place of .75.

        And base=NAME,epsilon=.75 is refused.
        """
        record = computed_record(name)
        parameters = record["results"][0]["parameters"]
        said = next(
            told(each, "Claim")
            for each in make_view(record).results
            if "interface" in told(each, "Claim")
        )
        given = dict(
            part.split("=", 1)
            for part in re.findall(r"-p (\S+)", said.split("interface", 1)[1].split("(")[0])
        )
        assert given.pop("base") == name + (f",n={parameters['n']}" if "n" in parameters else "")
        assert given.pop("adversary") == "batch"
        assert {key: float(text) for key, text in given.items()} == {
            key: parameters[key] for key in ("epsilon",) if key in parameters
        }

    @staticmethod
    @pytest.mark.parametrize(("epsilon", "shown"), [(1.0, "e^1 ≈ 2.71828 "), (0.0, "e^0 ≈ 1 ")])
    def test_a_rounded_factor_is_no_equality(make: Any, epsilon: float, shown: str) -> None:
        result = make.computed("a", "not refuted")
        result["claim"] |= {"epsilon": epsilon, "delta": 0.001}
        assert f"any event by at most {shown}and adds at most δ = 0.001 to it." in told(
            only(make.record(result)), "Claim"
        )

    @staticmethod
    def test_n_is_the_number_of_training_records(make: Any) -> None:
        said = told(only(make.record(of_score(make, 0.005, 0.005))), "Claim")
        assert "1 divided by the number of training records" in said
        assert "1.092103 divided by the number of validation records" in said

    @staticmethod
    def test_no_promise_is_written_smaller_than_it_is() -> None:
        written = {
            0.0322141234: "0.032215",
            1.092103: "1.092103",
            1051.6312345: "1051.631235",
            0.25: "0.25",
            1 / 3: "0.333334",
        }
        assert {number: promise(number) for number in written} == written
        assert promise(0.1 + 0.2) == "0.3"

    @staticmethod
    def test_an_error_is_promised_on_datasets_of_the_size_that_is_taken(make: Any) -> None:
        result = make.computed("a", "not refuted", 0.1)
        result["claim"] |= {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.5}
        result["parameters"] = {"n": 398}
        assert "on every dataset that the mechanism takes (n = 398). S" in told(
            only(make.record(result)), "Claim"
        )


class TestAnySize:
    @staticmethod
    @pytest.mark.parametrize(
        ("parameters", "over"),
        [
            ({}, "datasets of any size"),
            ({"n": 398}, "all datasets that the mechanism takes (n = 398)"),
            ({"n": None}, "datasets of any size"),
            ({"adversary": "repeat"}, "datasets of any size (adversary 'repeat')"),
            ({"n": 398, "fixed": None}, "datasets of any size"),
            ({"fixed": 7}, "all datasets that the mechanism takes (n = 7)"),
        ],
    )
    def test_the_worst_case_is_of_what_is_taken(make: Any, parameters: Record, over: str) -> None:
        """A parameter n says it only in older records; some mechanisms use it otherwise."""
        result = make.computed(
            "a", "not refuted", 0.7, any_size=make.any_size(0.7), parameters=parameters
        )
        if "fixed" in parameters:
            result["fixed_n"] = parameters.pop("fixed")
        result["other"] = {
            "id": "a.gamma",
            "kind": "Stability",
            "exact": 0.5,
            "error": 0.0,
            "any_size": make.any_size(0.5),
        }
        result["other"]["witness"] = result["witness"]
        view = make_view(make.record(result))
        said = told(view.results[0])
        assert f"Over {over}, the worst loss is 0.700000" in said
        assert f"Over {over} it is 0.500000" in said
        assert view.findings is not None
        assert over in view.findings.rows[0]
        assert said.count("any size") == 2 * over.count("any size")

    @staticmethod
    @pytest.mark.parametrize("name", ["erm-laplace", "erm-regulariser-on-the-sum"])
    def test_it_is_of_exact_minimisers_where_a_solver_comes_near_them(name: str) -> None:
        record = computed_record(name)
        jsonschema.validate(record, record_schema())
        view, clause = (
            make_view(record),
            "of exact minimisers (released weights lie within 1e-06 of them)",
        )
        assert view.findings is not None
        rows = [row for row in view.findings.rows if "all datasets" in row[6]]
        assert rows
        assert all(clause in row[6] for row in rows)
        for result in view.results:
            assert clause + ", the worst " in told(result, "Worst over all datasets")

    @staticmethod
    def test_one_query_is_repeated() -> None:
        record = computed_record("interface", ("base", "soft-majority,r=3"))
        assert (
            "this number is for one repeated query" in record["results"][0]["any_size"]["argument"]
        )


class TestScores:
    @staticmethod
    def test_a_proportion_known_within_its_error_is_no_probability_of_1() -> None:
        (result,) = (
            each
            for each in make_view(computed_record("theorem-4-score-at-zero")).results
            if each.id == "theorem-4-score-at-zero.printed.exact.2"
        )
        assert result.query_table is not None
        place = result.query_table.columns.index("p1")
        shown = {row[place] for row in result.query_table.rows}
        assert any(each.startswith("≥ 0.94") for each in shown)
        assert "1" not in shown

    @staticmethod
    def test_a_proportion_of_0_is_no_certainty(make: Any) -> None:
        """The worst event is 'good' there: its probability of 1 is none of bad strings."""
        view = make_view(make.record(of_score(make, 0.0, 2.5e-08)))
        (result,) = view.results
        assert (
            told(result, "Counts")
            == "A random string is bad with probability at most 2.5e-08, by the law; no trials."
        )
        made = told(result, "How the bound was made")
        assert "proven upper bound" in made
        assert made.endswith(
            "2.5e-08 is such an upper bound, rounding included; no proportion above 0 was "
            "computed, so it is not a numerical error."
        )
        assert "Numerical error" not in made
        assert result.top == "≤ 2.5e-08"
        assert result.query_table is not None
        assert result.query_table.rows[0][2:7] == ("≤ 2.5e-08", "–", "–", "none", "–")

    @staticmethod
    def test_the_witness_says_so_too() -> None:
        (result,) = (
            each
            for each in computed("example61-noisy-max", n=20)
            if each.claim.kind == "ScoreStability"
        )
        said = in_words(result)
        assert ": with all others no audited change moves the score" in said
        assert "probability 1" not in said
        assert "is at most 8.89e-16" in result.outcome.reason

    @staticmethod
    def test_some_strings_are_bad(make: Any) -> None:
        some = only(make.record(of_score(make, 0.005, 0.005 + 1e-12)))
        assert "bad with probability 0.005000" in told(some, "Counts")
        assert "Numerical error at most" in told(some, "How the bound was made")
        blurred = told(
            only(make.record(of_score(make, 1.0, 1.0, 0.948595) | {"error": 0.052})), "Counts"
        )
        assert "bad with probability at least 0.948595" in blurred

    @staticmethod
    def test_good_strings_that_were_counted_are_not_bad_ones(make: Any) -> None:
        result = make.sampled("a", "not refuted", lower=0.0)
        result["claim"] |= {
            "kind": "ScoreStability",
            "epsilon": None,
            "delta": 0.01,
            "beta1": 1.0,
            "beta2": 1.0,
        }
        result["witness"] |= {
            "event": [0],
            "trials": {"seed": 0, "draws": 5000, "x": 5000, "y": 4990},
        }
        assert told(only(make.record(result)), "Counts").startswith(
            "10 of 5,000 random strings were bad."
        )

    @staticmethod
    def test_no_proportion_is_above_1() -> None:
        """Logarithms of a law are known up to an error that would take the upper bound beyond 1."""

        class Sure:
            claims = (Stability(gamma=0.5),)

            def prepare(self, data: Labelled) -> int:
                return int(data.y[0])

            def sample(self, state: int, queries: Any, size: int, rng: Any) -> Any:
                return np.full((size, len(queries)), state)

            def distribution(self, state: int, queries: Any) -> FiniteLaw:
                row = [0.0, -np.inf] if state == 0 else [-np.inf, 0.0]
                return FiniteLaw(log_p=np.array([row] * len(queries)), error=0.05)

        target = AuditTarget(
            name="sure", address=None, parameters={}, mechanism=full(Sure()), claims=Sure.claims
        )
        pairs = Pairs(
            base=Labelled(np.zeros((1, 1)), np.zeros(1, dtype=np.int64)),
            changes=(FlipLabel(0),),
            how="x",
        )
        group = Group(pairs=pairs, queries=np.zeros((1, 1)), kind="data", reason="x")
        laws = group_laws(target, group, silent)
        assert laws is not None
        found = exact_evidence(target, target.claims[0], (group,), (laws,), None)
        assert found.upper.value == found.cells[0].upper.value == found.table["upper"].max() == 1.0
        assert found.lower.value < 1.0


def computed(name: str, **given: Any) -> Iterable[Any]:
    return assay([resolve(name, given)], None, Settings(mode="exact"))


class TestZero:
    @staticmethod
    @pytest.mark.parametrize(
        ("delta", "more", "named"),
        [
            (0.0, "", "the loss"),
            (0.00135914, " by more than δ = 0.00135914", "the loss at δ = 0.00135914"),
        ],
    )
    def test_a_loss_of_0_has_no_formula(make: Any, delta: float, more: str, named: str) -> None:
        result = make.computed("a", "not refuted", 0.0)
        result["claim"]["delta"] = delta
        result["witness"] |= {"p1": 1.0, "p0": 1.0}
        said = told(only(make.record(result)), "Counts")
        assert "ln(" not in said
        assert said.endswith(
            f"At no audited cell does the probability of an event change{more}: {named} is 0."
        )

    @staticmethod
    def test_an_error_below_0_is_not_told_as_0(make: Any) -> None:
        result = make.computed("a", "not refuted", 0.0)
        result["claim"] |= {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.5}
        result["per_query"] = [
            make.cell(0, 0.0, 0.0, exact=0.0) | {"event": [], "p1": -0.225791, "p0": -0.225909}
        ]
        result["witness"] |= {"event": [], "p1": -0.225791, "p0": -0.225909}
        shown = only(make.record(result))
        assert shown.query_table is not None
        assert shown.query_table.rows[0][2:5] == ("≤ 0.000000", "-0.225791", "-0.225909")
        # a record from before such errors were kept
        assert (shown.lower, shown.top) == ("–", "≤ 0.000000")

    @staticmethod
    def test_an_excess_below_0_is_shown_as_it_was_computed() -> None:
        shown = only(computed_record("projected-walk-error", ("n", 20), ("T", 1)))
        assert shown.top.startswith("= ")
        assert "excess error" in told(shown, "Claim", "Counts", "Verdict")
        assert shown.query_table is not None
        assert "excess error" in shown.query_table.caption
        assert {row[6] for row in shown.query_table.rows} <= {"excess error", "S to S'", "S' to S"}


class TestFindings:
    @staticmethod
    @pytest.mark.parametrize(
        ("delta", "loss", "said"),
        [
            (0.001, 0.995, "tight in ε at this δ"),
            (0.001, 0.5, "loose in ε at this δ"),
            (0.001, 0.0, "loose in ε: at this δ the loss is 0"),
            (0.0, 0.995, "tight"),
            (0.0, 0.0, "loose"),
        ],
    )
    def test_epsilon_alone_was_compared(make: Any, delta: float, loss: float, said: str) -> None:
        result = make.computed("a", "not refuted", loss, any_size=make.any_size(loss))
        result["claim"]["delta"] = delta
        found = make_view(make.record(result)).findings
        assert found is not None
        assert found.rows[0][1] == said


class TestVerdict:
    @staticmethod
    def test_what_is_not_refuted_never_looks_above_the_claim() -> None:
        """Both numbers of a section have the same six decimals."""
        record = computed_record("psgd-laplace", ("n", 20))
        for result in record["results"]:
            if result["verdict"] == "not refuted":
                worst, allowed = result["reason"].split(" is ")[1].split("; the claim allows ")
                worst, allowed = worst.split(",")[0], allowed.split(" (")[0]
                assert float(worst) <= float(allowed)
                assert worst == make_view(record | {"results": [result]}).results[
                    0
                ].top.removeprefix("= ")
                assert allowed in make_view(record | {"results": [result]}).results[0].claim

    @staticmethod
    def test_what_is_inconclusive_by_its_numerical_error_is_not_said_to_have_been_missed() -> None:
        """Of a law that is known up to .1 the page said that a violation could have been missed, or
        nothing was seen to move."""

        class Vague:
            claims = (Stability(gamma=0.5),)

            def prepare(self, data: Labelled) -> int:
                return int(data.y[0])

            def sample(self, state: int, queries: Any, size: int, rng: Any) -> Any:
                return (
                    rng.integers(0, 2, (size, len(queries)))
                    if state
                    else np.zeros((size, len(queries)))
                )

            def distribution(self, state: int, queries: Any) -> FiniteLaw:
                row = np.log([0.5, 0.5]) if state else [0.0, -np.inf]
                return FiniteLaw(log_p=np.array([row] * len(queries)), error=0.1)

        target = AuditTarget(
            name="vague", address=None, parameters={}, mechanism=full(Vague()), claims=Vague.claims
        )
        pairs = Pairs(
            base=Labelled(np.zeros((1, 1)), np.zeros(1, dtype=np.int64)),
            changes=(FlipLabel(0),),
            how="x",
        )
        group = Group(pairs=pairs, queries=np.zeros((1, 1)), kind="data", reason="x")
        record = make_record(FACTS, assay([target], group, Settings(mode="exact")))
        (result,) = record["results"]
        assert result["verdict"] == "inconclusive"
        assert "numerical error" in result["reason"]
        assert "numerical error" in only(record).status.meaning

    @staticmethod
    def test_the_bounds_allow_for_the_error(make: Any) -> None:
        said = told(only(make.record(make.computed("a", "not refuted"))), "How the bound was made")
        assert "Numerical error at most 1e-14, at the worst cell; the bounds already" in said


class TestAnswers:
    @staticmethod
    @pytest.mark.parametrize(
        ("name", "given", "said"),
        [
            (
                "interface",
                {"base": "soft-majority,r=3"},
                "the answer 7 (the transcript 1, 1, 1) has",
            ),
            ("example61-noisy-max", {"n": 20}, "the answer 3 (t_1 >= 1, t_2 >= 1) has"),
            ("example61-exponential", {"n": 20}, "the answer 1 (i* = 1, t_1 >= 1, t_2 < 0) has"),
            ("distance-to-instability", {}, "(2 is bottom, no label) has"),
            ("algorithm-3-hinge-loss", {}, "The answer 4 (1 <= <w, u> < 1.001) has"),
        ],
    )
    def test_a_coded_answer_is_told_in_words(name: str, given: Record, said: str) -> None:
        assert said in in_words(next(iter(computed(name, **given))))

    @staticmethod
    @pytest.mark.parametrize("name", ["example61-noisy-max", "example61-exponential"])
    def test_what_of_the_release_was_looked_at(name: str) -> None:
        result = next(iter(computed(name, n=20)))
        assert (
            "for each t_i whether it is at least a threshold (0 or 1)) at the audited cells is"
            in result.outcome.reason
        )
        assert result.outcome.reason.endswith("; that of the whole release may be larger")
        alone = next(iter(computed(name, n=20, release="index")))
        assert "looked at" not in alone.outcome.reason

    @staticmethod
    def test_the_change_measured_beside_a_loss_is_of_single_answers() -> None:
        view = make_view(computed_record("example61-noisy-max", ("n", 20)))
        said = told(view.results[0]) + told(view.results[1])
        assert "change of one answer's probability" in said
        assert (
            "Only single answers were looked at; the probability of a set of answers may "
            "change by more."
        ) in said
        assert view.notions is not None
        assert (
            "for γ, only single answers, while an event of several answers may change more"
            in view.notions.caption
        )
        assert view.notions.rows[0][6].startswith("≥ ")
        two = told(make_view(computed_record("soft-majority", ("r", 3))).results[0])
        assert "single answers" not in two

    @staticmethod
    @pytest.mark.parametrize(
        ("status", "said"), [("corrected", "γ = 0.5, corrected"), ("printed", "γ = 0.5")]
    )
    def test_a_corrected_constant_is_no_promise_of_the_paper(
        make: Any, status: str, said: str
    ) -> None:
        one, other = (
            make.computed("a", "not refuted", 0.25, any_size=make.any_size(0.25)) for _ in "ab"
        )
        make.of_kind(other, "Stability", 0.5)["claim"]["status"] = status
        for each in (one, other):
            kind = "DP" if each is other else "Stability"
            each["other"] = {
                "id": "b",
                "kind": kind,
                "exact": 0.25,
                "error": 0.0,
                "any_size": None,
                "witness": None,
            }
        notions = make_view(make.record(one, other)).notions
        assert notions is not None
        row = dict(zip(notions.columns, notions.rows[0], strict=True))
        assert row["γ claimed"] == said

    @staticmethod
    def test_predictions_are_no_probabilities(make: Any) -> None:
        value = make.of_kind(make.computed("a", "not refuted", 0.1), "PredictionStability", 0.5)
        for cell in value["per_query"]:
            cell["event"] = []
        sampled = make.of_means(make.sampled("b", "not refuted"))
        for result, title in ((value, "value, one side"), (sampled, "mean, one side")):
            table = only(make.record(result)).query_table
            assert table is not None
            assert title in table.columns
            assert not {"p1", "p0", "event", "in event, one side"} & set(table.columns)

    @staticmethod
    def test_what_is_left_out_is_not_null(make: Any) -> None:
        result = make.computed("a", "not refuted", parameters={"h": None, "r": 3})
        assert told(only(make.record(result)), "Mechanism") == "a; h = not given, r = 3."

    @staticmethod
    def test_what_is_left_out_is_shown_as_it_is_in_force(make: Any) -> None:
        parameters = {"h": None, "edges": "", "public": "", "r": 3}
        result = make.computed(
            "a", "not refuted", parameters=parameters, derived={"h": 0.1, "edges": "0.0;1.0"}
        )
        record = make.record(result)
        jsonschema.validate(record, record_schema())
        assert (
            told(only(record), "Mechanism")
            == "a; edges = 0.0;1.0 (derived), h = 0.1 (derived), public = not given, r = 3."
        )

    @staticmethod
    @pytest.mark.parametrize(
        ("name", "derived"),
        [
            ("stable-laplace", {"predictor": "the mean of 25 classifiers", "gamma": 0.04}),
            ("erm-laplace", {"lambda_": 0.282842712475}),
            ("soft-majority", None),
        ],
    )
    def test_the_record_has_what_was_derived(name: str, derived: dict[str, Any] | None) -> None:
        record = computed_record(name)
        jsonschema.validate(record, record_schema())
        assert [result.get("derived") for result in record["results"]] == [derived] * len(
            record["results"]
        )

    @staticmethod
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("histogram", "2 (n~_i >= n - m, no other n~_j > 0)"),
            ("objective-perturbation", " <= <w, u> < "),
        ],
    )
    def test_answers_are_read_in_tables_too(name: str, words: str) -> None:
        record = computed_record(name)
        jsonschema.validate(record, record_schema())
        privacy = next(each for each in make_view(record).results if each.unit == "loss in nats")
        table = privacy.query_table
        assert table is not None
        assert words in " ".join(row[table.columns.index("event")] for row in table.rows)


class TestSearched:
    @staticmethod
    def test_nothing_is_asked() -> None:
        record = computed_record("projected-walk-error", ("n", 20))
        (result,) = record["results"]
        assert result["searched"]["asked"] is False
        jsonschema.validate(record, record_schema())
        shown = make_view(record).results[0]
        assert "query" not in told(shown, "Witness")
        said = (
            "1 pair of neighbours (of own worst case 1), in both directions: 2 cells; there are "
            "no queries, since what was"
        )
        assert told(shown, "What was searched").startswith(f"{said} looked at depends on none. ")
        for group in groups_for(resolve("projected-walk-error", {"n": 20}), None):
            assert not group.asked

    @staticmethod
    @pytest.mark.parametrize("given", [(("release", "vector"),), (("release", "bins"),)])
    def test_released_weights_depend_on_no_query(given: tuple[tuple[str, Any], ...]) -> None:
        """Twenty queries were counted, and twenty equal rows printed, of weights that are released
        once."""
        target = resolve("output-perturbation", dict(given) | {"n": 20})
        X, y = np.linspace(1.0, 2.0, 20)[:, None], np.arange(20) % 2
        pairs = replace_one(X, y, neighbours="flip")
        data = Group(pairs=pairs, queries=X.copy(), kind="data", reason=pairs.how)
        record = make_record(FACTS, assay([target], data, Settings(mode="exact")))
        jsonschema.validate(record, record_schema())
        privacy = [each for each in record["results"] if each["claim"]["kind"] == "DP"]
        for result in make_view(record | {"results": privacy}).results:
            assert result.query_table is not None
            assert [row[0] for row in result.query_table.rows if row[1] == "data"] == ["–"]
            assert "At query" not in told(result, "Witness")
            searched = told(result, "What was searched")
            assert searched.startswith(
                "22 pairs of neighbours (20 of the data; 1 of each of own worst cases 1 to 2), in "
                "both"
            )
            assert (
                "44 cells; there are no queries, since what was looked at depends on none."
                in searched
            )
        chosen = groups_for(resolve("algorithm-2-over-algorithm-3"), None)
        assert len(chosen) == 4
        assert not any(group.asked for group in chosen)
        uneven = resolve("output-perturbation", {"release": "bins", "edges": "0;1", "n": 20})
        assert all(group.asked for group in groups_for(uneven, data))

    @staticmethod
    def test_pairs_and_cells_add_up() -> None:
        """796 + 1 was 799, and nothing said that each pair of a worst case is looked at together
        with the others too."""
        for name in ("soft-majority", "histogram", "distance-by-margin"):
            for entry in computed_record(name)["results"]:
                searched = entry["searched"]
                parts = searched["parts"]
                assert sum(part["pairs"] for part in parts) == searched["pairs"]
                assert (
                    sum(2 * part["pairs"] * part["queries"] for part in parts) == searched["cells"]
                )
                assert len(parts) == len(searched["how"])
        scores = [
            each
            for each in computed_record("histogram")["results"]
            if each["claim"]["kind"] == "ScoreStability"
        ]
        said = told(
            make_view(computed_record("histogram") | {"results": scores[:1]}).results[0],
            "What was searched",
        )
        assert said.startswith(
            "3 pairs of neighbours (of own worst case 1, one of them whichever of the others is "
            "worse for the string), in both"
        )

    @staticmethod
    def test_an_enumerated_domain_asks_every_pair_everywhere(make: Any) -> None:
        result = make.computed("a", "verified", mode="exhaustive")
        result["searched"] |= {"datasets": 8, "how": ["all datasets", "own worst case: one"]}
        said = told(only(make.record(result)), "What was searched")
        assert said.startswith(
            "8 datasets, 3 pairs of neighbours and 2 queries, each pair at every query, in both "
            "directions: 12 cells, and the mechanism's own worst cases besides. "
        )

    @staticmethod
    def test_what_shows_nothing_against_a_claim_is_said_to(make: Any) -> None:
        """An own worst case for the score stood among those for the weights, as '1 or 2' of
        probability 1 on both sides."""
        view = make_view(computed_record("theorem-4-score-at-zero"))
        for result in view.results:
            lost = "DP" if result.unit == "loss in nats" else "score"
            silent, loud = (2, 1) if lost == "DP" else (1, 2)
            searched = told(result, "What was searched")
            assert (
                f"Own worst case {silent} (against this claim it shows nothing): for the"
                in searched
            )
            assert f"Own worst case {loud}: for the" in searched
            assert result.query_table is not None
            row = result.query_table.rows[silent - 1]
            assert row[3:7] == ("–", "–", "none", "–")
            assert row[7].startswith("record ")

    @staticmethod
    def test_no_witness_where_nothing_was_found() -> None:
        """'0 or 2 has probability 1 on both sides' was called a witness."""
        record = computed_record("distance-to-instability", ("r", 3))
        held = [each for each in record["results"] if each["exact"] == 0]
        assert held
        for result in make_view(record | {"results": held}).results:
            assert (
                told(result, "Witness")
                == "There is none: at δ = 0.001, the claim's, no audited cell has a loss above 0."
            )
            assert told(result, "Counts").startswith(
                "No trials. At no audited cell does the probability of an event change"
            )
            assert "Replay" not in {part.title for part in result.parts}
        assert all(
            "no event leaks more than δ = 0.001 allows, here or at any other audited cell"
            in each["witness"]["words"]
            for each in held
        )

    @staticmethod
    def test_query_points_that_are_alike_are_one_row(make: Any) -> None:
        result = make.computed("a", "not refuted")
        losses = [0.5, 0.25, 0.5, 0.5, 0.0, 0.0]
        result["per_query"] = [
            make.cell(query, loss, loss, exact=loss) for query, loss in enumerate(losses)
        ]
        shown = only(make.record(result))
        assert shown.query_table is not None
        assert [row[0] for row in shown.query_table.rows] == ["0, 2 to 3", "1", "4 to 5"]
        assert len(shown.queries) == 6
        assert shown.more == 0

    @staticmethod
    def test_two_changes_of_each_record_are_two_pairs() -> None:
        X, y = [[0.0], [1.0]], [0, 1]
        hows = {
            which: replace_one(X, y, pool=(X, y), neighbours=which).how
            for which in ("one", "flip", "one+flip", "all")
        }
        assert hows["one+flip"] == (
            "each of 2 records replaced once by one drawn from a pool of 2, and its label flipped "
            "once (4 pairs)"
        )
        assert [
            hows[which].endswith(f"({pairs} pairs)")
            for which, pairs in (("one", 2), ("flip", 2), ("all", 6))
        ] == [True] * 3

    @staticmethod
    def test_cells_are_no_product(make: Any) -> None:
        said = told(only(make.record(make.computed("a", "not refuted"))), "What was searched")
        assert said.startswith(
            "3 pairs of neighbours and 2 queries, each pair at its own queries, in both "
            "directions: 12 cells."
        )

    @staticmethod
    @pytest.mark.parametrize("name", ["soft-majority", "histogram", "interface"])
    def test_a_query_has_one_name(name: str) -> None:
        """The witness said 'query 0' where table and profile said 'own 2'."""
        record = computed_record(name)
        for result in make_view(record).results:
            assert result.query_table is not None
            labels = {
                row[0] if "query" in row[0] else f"query {row[0]}"
                for row in result.query_table.rows
            }
            for title in ("Witness", "Privacy profile"):
                said = re.findall(
                    r"(?:[Aa]t |\()((?:query )?own \d(?:, query \d)?)", told(result, title)
                )
                assert set(said) <= labels
                assert said or "query" not in told(result, title)
                assert "query 0 " not in told(result, title).replace(", query 0 ", "")

    @staticmethod
    def test_own_worst_cases_have_names(make: Any) -> None:
        result = make.computed("a", "not refuted")
        result["searched"]["how"] = ["all pairs", "own worst case: one", "own worst case: two"]
        where = [("data", 0), ("own", 0), ("own", 0), ("own", 1)]
        result["per_query"] = [
            make.cell(query, 0.5, 0.5, exact=0.5, group=group) for group, query in where
        ]
        shown = only(make.record(result))
        assert shown.query_table is not None
        assert [row[0] for row in shown.query_table.rows] == [
            "0",
            "own 1",
            "own 2, query 0",
            "own 2, query 1",
        ]
        assert "Own worst case 1: one. Own worst case 2: two." in told(shown, "What was searched")


class TestPart:
    """Numbers of a part of a release are none of the release, but from below.

    But for what they say about it from below.
    """

    PART = "the sign of <w, x> alone"

    @staticmethod
    def of_part(make: Any, verdict: str = "not refuted", loss: float = 0.75, **more: Any) -> Record:
        result: Record = make.computed("a", verdict, loss, looked_at=TestPart.PART, **more)
        result["claim"]["unit"] = "released weights"
        return result

    @staticmethod
    def test_a_verdict_is_of_what_was_looked_at() -> None:
        (result,) = (
            each for each in computed("algorithm-3-hinge-loss") if each.verdict == "refuted"
        )
        said = (
            "the worst loss of what was looked at (the bin of <w, u> alone) at the audited cells "
            "is 9.277792, so that of the whole release is at least as large; the claim"
        )
        assert result.outcome.reason.startswith(said)

    @staticmethod
    @pytest.mark.parametrize("name", ["algorithm-3-hinge-loss", "histogram"])
    def test_the_record_says_what_was_looked_at(name: str) -> None:
        record = computed_record(name)
        jsonschema.validate(record, record_schema())
        privacy = [result for result in record["results"] if result["claim"]["kind"] == "DP"]
        others = [result for result in record["results"] if result["claim"]["kind"] != "DP"]
        assert all(result["looked_at"] for result in privacy)
        assert all("looked_at" not in result for result in others)
        for result in privacy:
            (shown,) = make_view(record | {"results": [result]}).results
            assert shown.top.startswith("≥ ")
            assert "Only a part of the release was looked at" in told(shown, "Claim")
            assert "A test of the whole release may do better." in told(shown, "Privacy profile")
            assert "of what was looked at (" in told(shown, "Privacy profile")

    @staticmethod
    @pytest.mark.parametrize("verdict", ["refuted", "not refuted"])
    def test_the_tables_say_at_least(make: Any, verdict: str) -> None:
        loss = 1.5 if verdict == "refuted" else 0.75
        whole = make_view(make.record(make.computed("a", verdict, loss)))
        part = make_view(make.record(TestPart.of_part(make, verdict, loss)))
        assert (whole.results[0].top, part.results[0].top) == (f"= {loss:.6f}", f"≥ {loss:.6f}")
        assert part.results[0].released == f"released weights; looked at: {TestPart.PART}"
        assert part.summary is not None
        assert whole.summary is not None
        assert "'detectable' is a leak of that part" in part.summary.caption
        assert "part" not in whole.summary.caption
        if verdict == "refuted":
            assert part.findings is not None
            assert part.findings.rows[0][3:5] == ("≥ 1.500000", "≥ 1.50 ×")

    @staticmethod
    def test_a_part_verifies_nothing_of_the_rest(make: Any) -> None:
        """'The claim holds for every dataset of the named domain' stood behind 'that of the whole
        release may be larger'."""
        said = told(
            only(make.record(TestPart.of_part(make, "verified", 0.5, mode="exhaustive"))), "Verdict"
        )
        assert "The claim holds" not in said
        assert (
            "satisfies the claim in what was looked at, for the declared law. It says nothing "
            "beyond these."
        ) in said

    @staticmethod
    def test_an_upper_bound_of_a_part_is_none(make: Any) -> None:
        result = make.sampled("a", "not refuted", lower=0.1, upper=0.9)
        assert only(make.record(result)).top == "≤ 0.900000"
        assert only(make.record(result | {"looked_at": TestPart.PART})).top == "–"
        seen = told(
            only(make.record(result | {"looked_at": TestPart.PART})), "What would have been seen"
        )
        assert "in the part of the release looked at, would have led" in seen

    @staticmethod
    def test_a_part_shows_no_claim_to_be_loose(make: Any) -> None:
        whole = make.computed("a", "not refuted", 0.5, any_size=make.any_size(0.5))
        assert make_view(make.record(whole)).findings is not None
        assert (
            make_view(
                make.record(TestPart.of_part(make, loss=0.5, any_size=make.any_size(0.5)))
            ).findings
            is None
        )
        tight = make_view(
            make.record(TestPart.of_part(make, loss=0.995, any_size=make.any_size(0.995)))
        ).findings
        assert tight is not None
        assert tight.rows[0][1:4] == ("tight", "1", "≥ 0.994999")  # its error is taken off

    @staticmethod
    def test_both_notions_say_at_least(make: Any) -> None:
        results = [TestPart.of_part(make), make.computed("b", "not refuted")]
        for result in results:
            result["any_size"] = make.any_size(0.75)
        for result, labels in zip(results, ([0, 1], [0, 1, 2]), strict=True):
            result["other"] = {
                "id": "c",
                "kind": "Stability",
                "exact": 0.25,
                "error": 1e-12,
                "any_size": make.any_size(0.5),
            }
            result["other"]["witness"] = result["witness"] | {"labels": labels}
        notions = make_view(make.record(*results)).notions
        assert notions is not None
        assert [row[3] for row in notions.rows] == ["≥ 0.749999", "0.750000"]
        # a part; single answers of three
        assert [row[6] for row in notions.rows] == ["≥ 0.499999", "≥ 0.499999"]


class TestNumbers:
    @staticmethod
    def test_a_lower_bound_goes_down(make: Any) -> None:
        """0.7500009 would be shown as 0.750001."""
        result = make.computed("a", "not refuted", 0.7500009)
        result["other"] = {
            "id": "b",
            "kind": "Stability",
            "exact": 0.2500009,
            "error": 0.0,
            "any_size": None,
        }
        result["other"]["witness"] = result["witness"]
        notions = make_view(make.record(result)).notions
        assert notions is not None
        assert (notions.rows[0][3], notions.rows[0][6]) == ("≥ 0.750000", "≥ 0.250000")

    @staticmethod
    def test_a_witness_of_another_number_says_which(make: Any) -> None:
        result = make.computed("a", "refuted", 1.5, any_size=make.any_size(2.0))
        result["other"] = {
            "id": "b",
            "kind": "Stability",
            "exact": 0.25,
            "error": 0.0,
            "any_size": make.any_size(0.5),
        }
        result["other"]["witness"] = result["witness"]
        view = make_view(make.record(result))
        assert view.notions is not None
        assert view.findings is not None
        assert (
            view.notions.rows[0][4]
            == view.findings.rows[0][7]
            == "witnesses/a.json (audited: 1.500000)"
        )
        assert view.notions.rows[0][7] == "witnesses/b.json (audited: 0.250000)"
        assert "The worst audited cell: S: 8 records" in told(view.results[0])
        result["any_size"]["exact"] = 1.5
        same = make_view(make.record(result)).notions
        assert same is not None
        assert same.rows[0][4] == "witnesses/a.json"

    @staticmethod
    @pytest.mark.parametrize("loss", [1.5, math.inf])
    def test_the_worst_of_the_audited_cells_is_a_lower_bound(make: Any, loss: float) -> None:
        """One number must not be 'true 1.500000' in the findings and '≥ 1.500000' in 'Both
        notions'."""
        result = make.computed("a", "refuted", loss if math.isfinite(loss) else "inf")
        result["other"] = {
            "id": "b",
            "kind": "Stability",
            "exact": 0.25,
            "error": 0.0,
            "any_size": None,
        }
        result["other"]["witness"] = result["witness"]
        view = make_view(make.record(result))
        assert view.findings is not None
        assert view.notions is not None
        known = ("≥ 1.500000", "≥ 1.50 ×") if math.isfinite(loss) else ("∞", "∞ ×")
        assert view.findings.rows[0][3:5] == known
        assert view.notions.rows[0][3] == known[0]
        if math.isfinite(loss):
            result["any_size"] = make.any_size(loss)
            over_all = make_view(make.record(result)).findings
            assert over_all is not None
            assert over_all.rows[0][3:5] == ("1.500000", "1.50 ×")

    @staticmethod
    @pytest.mark.parametrize(
        ("status", "claimed"), [("printed", "1"), ("own", "1, own"), ("corrected", "1, corrected")]
    )
    def test_a_claim_that_no_paper_prints_is_marked(make: Any, status: str, claimed: str) -> None:
        result = make.computed("a", "not refuted")
        result["claim"]["status"] = status
        result["other"] = {
            "id": "b",
            "kind": "Stability",
            "exact": 0.25,
            "error": 0.0,
            "any_size": None,
        }
        result["other"]["witness"] = result["witness"]
        notions = make_view(make.record(result)).notions
        assert notions is not None
        assert notions.rows[0][2] == claimed

    @staticmethod
    def test_k_counts_the_ends_of_the_intervals() -> None:
        """Thr_(N, 1) of section 5 are the thresholds: not the unions of one interval."""
        for name in ("projected-walk-error", "projected-walk-risk"):
            assert "union of intervals with at most 1 end" in resolve(name, {}).claims[0].unit
            assert (
                "union of intervals with at most 2 ends" in resolve(name, {"k": 2}).claims[0].unit
            )

    @staticmethod
    def test_an_upper_bound_above_a_claim_of_0_is_no_equality() -> None:
        """8.89e-16 of the strings may be bad by what was proven, 0 by what was found.

        That is not 'equal to' the claim.
        """
        (outcome,) = (
            each.outcome
            for each in computed("example61-noisy-max")
            if isinstance(each.claim, ScoreStability)
        )
        assert "above the claim by rounding at most; the claim allows 0" in outcome.reason
        assert "equal to the claim" not in outcome.reason

    @staticmethod
    def test_the_command_for_several_answers_runs_on_the_same_data() -> None:
        """Without n the command printed beside `relabelled` ended in 'n = 400.

        Must be the number of records, 398'.
        """
        record = computed_record("relabelled", ("n", 20), ("n_prime", 3), ("r", 4))
        (base,) = set(
            re.findall(r"interface -p base=(\S+) .*?-p adversary=batch", to_markdown(record))
        )
        mechanism: Any = resolve("interface", {"base": base, "adversary": "batch"}).mechanism
        assert mechanism.predictor.n == 20

    @staticmethod
    def test_a_half_line_ends_at_the_number_before_its_threshold(make: Any) -> None:
        assert event_words({"below": math.nextafter(0.0, 1.0)}) == "≤ 0"
        assert event_words({"below": math.nextafter(2.5, 3.0)}) == "≤ 2.5"
        assert [event_words({kind: 2.5}) for kind in ("below", "at_least")] == ["< 2.5", "≥ 2.5"]
        assert str(HalfLine(threshold=math.nextafter(0.0, 1.0), above=False)) == "≤ 0"

    @staticmethod
    def test_the_loss_is_one_at_a_delta(make: Any) -> None:
        (refuted,) = (each for each in computed("distance-by-margin") if each.verdict == "refuted")
        assert refuted.outcome.reason.startswith(
            "the worst loss at δ = 0.001 at the audited cells is "
        )
        result = make.computed("a", "not refuted", 0.5, any_size=make.any_size(0.5))
        result["claim"]["delta"] = 0.001
        assert "the worst loss at δ = 0.001 is" in told(
            only(make.record(result)), "Worst over all datasets"
        )

    @staticmethod
    def test_an_error_is_the_one_that_the_unit_names(make: Any) -> None:
        result = make.computed("a", "not refuted", 0.1)
        unit = "empirical error beyond that of the best threshold"
        result["claim"] |= {
            "kind": "Accuracy",
            "epsilon": None,
            "delta": None,
            "bound": 0.5,
            "unit": unit,
        }
        result["witness"]["event"] = []
        shown = only(make.record(result))
        assert told(shown, "Claim").count(f"The error is the {unit}.") == 1
        assert "the error (see the unit) is" in told(shown, "Counts")


class TestSampled:
    @staticmethod
    def test_certified_cells_that_the_table_does_not_show_are_told_of(make: Any) -> None:
        result = make.sampled("a", "not refuted")
        result["searched"]["certified_cells"] = len(result["per_query"]) + 1
        more = ", of which the table shows the worst at each query."
        assert more in told(only(make.record(result)), "How the bound was made")
        result["searched"]["certified_cells"] = len(result["per_query"])
        assert more not in told(only(make.record(result)), "How the bound was made")

    @staticmethod
    def test_cells_may_have_upper_bounds_where_the_largest_leak_has_none(make: Any) -> None:
        """'No upper bound' stood above a table with one."""
        result = make.sampled("a", "not refuted")
        result["upper"] = "inf"
        result["per_query"][0]["upper"] = 1.5
        shown = only(make.record(result))
        assert "No upper bound" not in told(shown, "How the bound was made")
        assert "The largest leak of the certified cells has no finite upper bound" in told(
            shown, "How the bound was made"
        )
        assert shown.query_table is not None
        assert "1.500000" in shown.query_table.rows[0]

    @staticmethod
    def test_what_has_no_numerical_error_is_not_given_one(make: Any) -> None:
        result = make.computed("a", "refuted", 1.5, any_size=make.any_size(1.5))
        result["error"], result["any_size"]["error"] = 0.0, 0.0
        said = told(only(make.record(result)))
        assert "at most 0;" not in said
        assert "No numerical error." in told(only(make.record(result)), "How the bound was made")
        assert "is 1.500000 (no numerical error), between" in told(
            only(make.record(result)), "Worst over all datasets"
        )

    @staticmethod
    def test_trials_serve_more_than_one_bound(make: Any) -> None:
        said = told(only(make.record(make.sampled("a", "not refuted"))), "How the bound was made")
        assert "no draw served both screening and certification" in said
        assert "no draw was used twice" not in said
        assert "The same trials of S may serve several cells" in said

    @staticmethod
    def test_the_frequency_is_capped_and_nothing_may_be_seen(make: Any) -> None:
        view = make_view(make.record(make.sampled("a", "not refuted", upper=1.5)))
        said = told(view.results[0], "What would have been seen")
        assert (
            "is that of the answer that looked worst, rounded down to two digits and capped:"
            in said
        )
        assert "Through an answer of probability 0.1 it takes a leak of 1.5." in said
        assert said.endswith(
            "Through an answer of probability 0.01 or less, no leak, however large, would be "
            "refuted with probability 0.9."
        )
        assert any(
            (
                "through a rarer answer only a larger leak, or none, would be refuted with "
                "probability 0.9."
            )
            in note
            for note in view.notes
        )

    @staticmethod
    def test_a_frequency_is_capped_at_the_worst_face() -> None:
        """An answer that came in .93 of the runs is told as less, by the claim's worst face."""
        screening = Screening(draws=200, pairs=1, finalists=1)
        answers = Answers(labels=2, unions=False)
        design = Design(
            scale=Ratio(), promised=1.0, answers=answers, n=5000, alpha=1e-4, screening=screening
        )
        capped = sight(design, 0.928).frequency
        assert capped is not None
        assert capped == sight(design, 0.8).frequency
        assert capped < 0.8
        assert sight(design, 0.3).frequency == 0.3


class TestUnits:
    @staticmethod
    def test_one_prediction_of_a_number_is_one_too(make: Any) -> None:
        result = make.computed("a", "not refuted")
        result["claim"]["unit"] = "whether the number of a single prediction is at least 0.2"
        result["witness"]["target"] = "psgd-in-random-order"
        said = told(only(make.record(result)), "Claim")
        assert "what several answers reveal together was not looked at." in said
        assert "dpassay run" not in said

    @staticmethod
    def test_a_claim_of_one_dataset_says_that_others_are_held_against_it() -> None:
        claim = resolve("pate-data-dependent", {}).claims[0]
        assert "claimed for such datasets only" in claim.coins
        assert "tested here on all datasets" in claim.coins

    @staticmethod
    def test_what_is_tight_or_loose_is_so_at_these_parameters(make: Any) -> None:
        tight = make.computed("a", "not refuted", 0.995, any_size=make.any_size(0.995))
        loose = make.computed("b", "not refuted", 0.5, any_size=make.any_size(0.5))
        words = make_view(make.record(tight, loose)).findings_words
        assert any(
            "at these parameters" in text and "at that δ is at least 99 % of the claimed ε" in text
            for text in words
        )
        assert any(text.startswith("Loose: at these parameters") for text in words)

    @staticmethod
    def test_markdown_has_the_captions(make: Any) -> None:
        result = make.computed("a", "refuted", 1.5)
        result["other"] = {
            "id": "b",
            "kind": "Stability",
            "exact": 0.25,
            "error": 0.0,
            "any_size": None,
        }
        result["other"]["witness"] = result["witness"]
        record = make.record(result)
        view, text = make_view(record), to_markdown(record)
        for table in (view.summary, view.findings, view.notions):
            assert table is not None
            assert f"{text_md(table.caption)}\n\n| " in text


class TestInputsThatTheDefaultReportLacks:
    @staticmethod
    def test_a_mean_has_no_events(make: Any) -> None:
        """And its bounds no band, where no α was spent for one."""
        mean = make.of_means(make.sampled("mean", "not refuted", lower=0.0625, upper=0.5))
        mean["spending"]["profile"] = mean["spending"]["each_profile"] = 0.0
        said = told(only(make.record(mean)), "How the bound was made", "How α was spent")
        assert "selected the pairs and directions that looked worst" in said
        assert "intersection-union over directions and certified cells" in said
        assert "Choosing the direction and test of each cell" in said
        assert "the bounds of a cell come from the same trials" in said
        assert "event" not in said
        loss = only(make.record(make.sampled("loss", "not refuted", lower=0.5, upper=2.0)))
        said = told(loss, "How the bound was made", "How α was spent")
        assert "pairs, directions and events" in said
        assert "the bounds and the band of a cell" in said
        assert "direction, event and test" in said

    @staticmethod
    @pytest.mark.parametrize("share", [0.001, 0.00995])
    def test_strings_have_no_epsilon_that_could_be_loose(make: Any, share: float) -> None:
        """Their δ is what is bounded, and no slack beside it."""
        result = of_score(make, share, share)
        result["mode"] = "exhaustive"
        finding = only(make.record(result)).finding
        assert finding is not None
        assert finding.told == finding.kind == ("loose" if share < 0.005 else "tight")

    @staticmethod
    @pytest.mark.parametrize("excess", [False, True])
    def test_an_error_need_not_be_an_excess(make: Any, excess: bool) -> None:
        result = make.computed("error", "refuted", 0.25)
        more = {"kind": "Accuracy", "epsilon": None, "bound": 0.125, "excess": excess}
        result["claim"] |= more | {"unit": "share of wrong labels"}
        result["witness"]["event"] = []
        for each in result["per_query"]:
            each["event"] = []
        view = make_view(make.record(result))
        assert view.summary is not None
        assert view.findings is not None
        assert "The unit of the claim says which error is meant." in view.summary.caption
        assert "for an error that error (see the unit)" in view.findings.caption
        assert "excess" not in view.summary.caption + view.findings.caption

    @staticmethod
    def test_a_profile_tells_of_other_pairs_where_a_reachable_one_exceeds_the_claim() -> None:
        record = copy.deepcopy(computed_record("soft-majority"))
        assert "Other pairs" not in told(only(record), "Privacy profile")
        record["results"][0]["any_size"] |= {"exact": 1.5, "exceeds": True}
        assert "Other pairs may need a larger δ" in told(only(record), "Privacy profile")

    @staticmethod
    def test_the_worst_of_a_domain_is_not_the_worst_of_all_datasets() -> None:
        """Unless the mechanism's own argument says so of datasets of any size."""
        small = Settings(mode="exhaustive", domain=Domain(n=3, points=2))
        target = resolve("soft-majority", {"r": 3})
        record = make_record(FACTS, assay([target], None, small))
        for size, mark in ((True, ""), (False, "≥ ")):
            if not size:
                for result in record["results"]:
                    result["any_size"] = result["other"]["any_size"] = None
            table = make_view(record).notions
            assert table is not None
            (row,) = table.rows
            for name in ("ε", "γ"):
                shown = row[table.columns.index(name)]
                assert shown.startswith("≥") == bool(mark), shown
            assert "an enumerated domain" in " ".join(table.caption.split())
