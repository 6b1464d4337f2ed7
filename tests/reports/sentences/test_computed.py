"""What a report says of exact audits."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import Claim, Stability
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exact import exact_evidence, group_laws
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.engine.wording import query_words
from dpassay.laws import FiniteLaw
from dpassay.pairs import replace_one
from dpassay.record.run_record import make_record
from dpassay.record.witness_words import in_words
from dpassay.reports.run.lead import briefs
from dpassay.reports.run.markdown import text_md, to_markdown
from dpassay.reports.run.terminal import row_of
from dpassay.reports.run.view import FullView, make_view
from dpassay.targets.groups import PairGroup, groups_for, silent
from dpassay.targets.resolve import resolve
from tests.core.toys import TableMechanism, flip_group, target_of
from tests.reports import conftest as make
from tests.reports.sentences.told import FACTS, computed, computed_record, held, only, told

INTERFACE = {"base": "soft-majority,r=3"}
DP, SCORE, ERROR = "DP", "ScoreStability", "Accuracy"
WITNESS, VERDICT, LOOKED = "Witness", "Verdict", "What was searched"
PROFILE, ALL = "Privacy profile", "Worst over all datasets"
HINGE, TWICE, SPLIT = "algorithm-3-hinge-loss", "theorem-4-score-at-zero", "example61-noisy-max"


def views(name: str, kind: str, given: Any = ()) -> tuple[FullView, ...]:
    """The results on claims of some kind, where the audits are exact."""
    record = computed_record(name, **dict(given))
    kept = [result for result in record["results"] if result["claim"]["kind"] == kind]
    assert kept
    return tuple(make_view(record | {"results": kept}).results)


@pytest.mark.parametrize(
    ("name", "given", "kind", "title", "said"),
    [
        # coded answers are told in words
        ("interface", INTERFACE, DP, WITNESS, "the answer 7 (the transcript 1, 1, 1) has"),
        ("distance-to-instability", {}, DP, WITNESS, "(2 is bottom, no label) has"),
        (HINGE, {}, DP, WITNESS, "The answer 4 (1 <= <w, u> < 1.001) has"),
        # so is what of a release was looked at
        (HINGE, {}, DP, "Claim", "Only a part of the release was looked at"),
        (HINGE, {}, DP, PROFILE, "A test of the whole release may do better."),
        (HINGE, {}, DP, PROFILE, "of what was looked at ("),
        (HINGE, {}, DP, VERDICT, "loss of what was looked at (the bin of <w, u> alone) at the"),
        (HINGE, {}, DP, VERDICT, "9.277792, so that of the whole release is at least as large"),
        (SPLIT, {"n": 20}, DP, VERDICT, "; that of the whole release may be larger"),
        (
            SPLIT,
            {"n": 20},
            DP,
            VERDICT,
            "for each t_i whether it is at least a threshold (0 or 1))",
        ),
        ("histogram", {}, DP, "Claim", "Only a part of the release was looked at"),
        # and what was searched
        ("projected-walk-error", {"n": 20}, ERROR, LOOKED, "1 pair of neighbours (of own worst"),
        ("projected-walk-error", {"n": 20}, ERROR, LOOKED, "There are no queries, since what was"),
        ("histogram", {}, SCORE, LOOKED, "3 pairs of neighbours (of own worst case 1, one of them"),
        ("histogram", {}, SCORE, LOOKED, "whichever of the others is worse for the string)"),
        (TWICE, {}, DP, LOOKED, "Own worst case 2 (against this claim it shows nothing): for the"),
        (TWICE, {}, DP, LOOKED, "Own worst case 1: for the"),
        (
            TWICE,
            {},
            SCORE,
            LOOKED,
            "Own worst case 1 (against this claim it shows nothing): for the",
        ),
        (TWICE, {}, SCORE, LOOKED, "Own worst case 2: for the"),
        # what was proven of strings, or of minimisers, is not what was found
        (SPLIT, {"n": 20}, SCORE, VERDICT, "is at most 8.89e-16"),
        (
            SPLIT,
            {"n": 20},
            SCORE,
            VERDICT,
            "above the claim by rounding at most; the claim allows 0",
        ),
        ("erm-laplace", {}, DP, ALL, "of exact minimisers (released weights lie within 1e-06 of"),
        ("interface", INTERFACE, DP, ALL, "this number is for one repeated query"),
        ("stable-laplace", {}, DP, "Mechanism", "gamma = 0.04 (derived)"),
        ("projected-walk-error", {"n": 20, "T": 1}, ERROR, "Counts", "excess error"),
    ],
)
def test_it_is_said(name: str, given: Any, kind: str, title: str, said: str) -> None:
    for view in views(name, kind, given):
        assert said in told(view, title)


@pytest.mark.parametrize(
    ("name", "given", "kind", "titles", "unsaid"),
    [
        (SPLIT, {"n": 20}, SCORE, (VERDICT,), "equal to the claim"),
        ("example61-exponential", {"n": 20, "release": "index"}, DP, (), "looked at ("),
        ("histogram", {}, SCORE, (), "part of the release"),
        ("projected-walk-error", {"n": 20}, ERROR, (WITNESS,), "query"),
        ("soft-majority", {}, DP, ("Mechanism",), "(derived)"),
    ],
)
def test_it_is_not_said(name: str, given: Any, kind: str, titles: Any, unsaid: str) -> None:
    for view in views(name, kind, given):
        assert unsaid not in told(view, *titles)


def test_the_loss_of_a_verdict_is_one_at_a_delta() -> None:
    (refuted,) = (each for each in computed("distance-by-margin") if each.verdict == "refuted")
    assert refuted.outcome.reason.startswith("the worst loss at δ = 0.001 at the audited cells is ")


@dataclass(frozen=True, kw_only=True)
class Blurred(TableMechanism):
    """Claimed to be 0.5-stable; its law is known up to an error."""

    error: float

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (Stability(gamma=0.5),)

    def distribution(self, state: int, queries: NDArray[np.float64]) -> FiniteLaw:
        return FiniteLaw(log_p=super().distribution(state, queries).log_p, error=self.error)


def test_what_tables_hold() -> None:
    (table, *_) = (view.query_table for view in views("histogram", DP))
    events = [row[table.columns.index("event")] for row in table.rows]
    assert any("2 (n~_i >= n - m, no other n~_j > 0)" in event for event in events)
    for kind, place in ((DP, 2), (SCORE, 1)):
        for view in views(TWICE, kind):
            row = view.query_table.rows[place - 1]
            assert row[3:7] == ("–", "–", "none", "–")
            assert row[7].startswith("record ")
    (excess,) = views("projected-walk-error", ERROR, {"n": 20, "T": 1})
    assert excess.top.startswith("= ")
    assert {row[6] for row in excess.query_table.rows} <= {"excess error", "S to S'", "S' to S"}
    over_all = make_view(computed_record("erm-laplace")).findings
    assert over_all is not None
    assert any("of exact minimisers" in row[6] for row in over_all.rows)


def test_the_worst_of_a_domain_is_not_the_worst_of_all_datasets() -> None:
    """Unless the mechanism's own argument says so of datasets of any size."""
    small = Settings(mode="exhaustive", domain=Domain(n=3, points=2))
    record = make_record(FACTS, assay([resolve("soft-majority", {"r": 3})], None, small))
    for size in (True, False):
        if not size:
            for result in record["results"]:
                result["any_size"] = result["other"]["any_size"] = None
        table = make_view(record).notions
        (row,) = table.rows
        for name in ("ε", "γ"):
            assert row[table.columns.index(name)].startswith("≥") is not size
        assert "an enumerated domain" in " ".join(table.caption.split())


# several answers


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("soft-majority", {}),
        ("label-flip-above-one-half", {}),
        ("pate", {}),
        ("private-knn", {}),
        ("relabelled", {"n": 20, "n_prime": 3, "r": 4}),
    ],
)
def test_the_command_for_several_answers_asks_the_same_of_the_same_data(
    name: str, sizes: dict[str, int]
) -> None:
    """It left the interface's own epsilon, 1, in the place of .75, and n out."""
    record = computed_record(name, **sizes)
    parameters = record["results"][0]["parameters"]
    ((command, more),) = set(
        re.findall(r"interface -p base=(\S+)((?: -p \S+)*)", to_markdown(record))
    )
    given = dict(re.findall(r"-p (\S+?)=(\S+)", more))
    assert given.pop("adversary") == "batch"
    assert {key: float(text) for key, text in given.items()} == {
        key: parameters[key] for key in ("epsilon",) if key in parameters
    }
    assert command.split(",")[0] == name
    batch: Any = resolve("interface", {"base": command, "adversary": "batch"})
    assert batch.labels[0] == 0
    if "n" in parameters:
        assert batch.mechanism.predictor.n == parameters["n"]


# losses and changes of probabilities, side by side


def test_the_change_measured_beside_a_loss_is_of_single_answers() -> None:
    view = make_view(computed_record("example61-noisy-max", n=20))
    said = told(view.results[0]) + told(view.results[1])
    assert "change of one answer's probability" in said
    assert (
        "Only single answers were looked at; the probability of a set of answers may "
        "change by more."
    ) in said
    assert (
        "for γ, only single answers, while an event of several answers may change more"
        in view.notions.caption
    )
    assert view.notions.rows[0][6].startswith("≥ ")
    record = computed_record("soft-majority", r=3)
    two = make_view(record)
    assert "single answers" not in told(two.results[0])
    assert not two.notions.rows[0][6].startswith("≥")  # of datasets of any size
    text = to_markdown(record)
    for table in (two.summary, two.findings, two.notions):
        assert f"{text_md(table.caption)}\n\n| " in text


# parts of a release


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("the number <w, u> alone", "not refuted (number <w, u> only)"),
        ("for each t_i whether it is at least 0,", "not refuted (a part only)"),
        ("", "any excess would show"),
    ],
)
def test_what_of_the_release_was_looked_at_stands_beside_the_verdict(part: str, shown: str) -> None:
    (brief,) = briefs(make.record(held(0.5) | {"mode": "exhaustive", "looked_at": part}))
    assert row_of(brief, 0.999)[-1] == shown


# claims about scores


def test_a_proportion_known_within_its_error_is_no_probability_of_1() -> None:
    view = make_view(computed_record("theorem-4-score-at-zero"))
    (result,) = (each for each in view.results if each.id.endswith(".printed.exact.2"))
    place = result.query_table.columns.index("p1")
    shown = {row[place] for row in result.query_table.rows}
    assert any(each.startswith("≥ 0.94") for each in shown)
    assert "1" not in shown


def test_a_witness_that_no_string_is_bad_says_so() -> None:
    (result,) = (each for each in computed(SPLIT, n=20) if each.claim.kind == SCORE)
    said = in_words(result)
    assert ": with all others no audited change moves the score" in said
    assert "probability 1" not in said


def test_no_proportion_is_above_1() -> None:
    """Logarithms of a law are known up to an error that would take the upper bound beyond 1."""
    target = target_of(Blurred(table=((1.0, 0.0), (0.0, 1.0)), error=0.05))
    group = flip_group(1)
    laws = group_laws(target, group, silent)
    assert laws is not None
    found = exact_evidence(target, target.claims[0], (group,), (laws,), None)
    assert found.upper.value == found.cells[0].upper.value == found.table["upper"].max() == 1.0
    assert found.lower.value < 1.0


# what was searched


@pytest.mark.parametrize("release", ["vector", "bins"])
def test_released_weights_depend_on_no_query(release: str) -> None:
    """Each query was counted, and equal rows printed, of weights that are released once."""
    target = resolve("output-perturbation", {"release": release, "n": 12})
    X, y = np.linspace(1.0, 2.0, 12)[:, None], np.arange(12) % 2
    pairs = replace_one(X, y, neighbours="flip")
    data = PairGroup(pairs=pairs, queries=X.copy(), kind="data", reason=pairs.how)
    record = make_record(FACTS, assay([target], data, Settings(mode="exact")))
    privacy = [each for each in record["results"] if each["claim"]["kind"] == "DP"]
    for result in make_view(record | {"results": privacy}).results:
        assert [row[0] for row in result.query_table.rows if row[1] == "data"] == ["–"]
        assert "At query" not in told(result, "Witness")
        searched = told(result, "What was searched")
        assert searched.startswith(
            "14 pairs of neighbours (12 of the data; 1 of each of own worst cases 1 to 2), in both"
        )
        assert "28 cells. There are no queries, since" in searched
    uneven = resolve("output-perturbation", {"release": "bins", "edges": "0;1", "n": 12})
    assert all(group.asked for group in groups_for(uneven, data))


def test_pairs_and_cells_add_up() -> None:
    """796 + 1 was 799, and nothing said that each pair of a worst case is looked at together
    with the others too."""
    for name in ("soft-majority", "histogram", "distance-by-margin"):
        for entry in computed_record(name)["results"]:
            searched = entry["searched"]
            parts = searched["parts"]
            assert sum(part["pairs"] for part in parts) == searched["pairs"]
            assert sum(2 * part["pairs"] * part["queries"] for part in parts) == searched["cells"]
            assert len(parts) == len(searched["how"])


def test_no_witness_where_nothing_was_found() -> None:
    """'0 or 2 has probability 1 on both sides' was called a witness."""
    record = computed_record("distance-to-instability", r=3)
    silent = [each for each in record["results"] if each["exact"] == 0]
    assert silent
    for result in make_view(record | {"results": silent}).results:
        assert told(result, "Witness").startswith("There is none: at δ = 0.001, the claim's, ")
        assert "Replay" not in {part.title for part in result.parts}
    said = "no event leaks more than δ = 0.001 allows, here or at any other audited cell"
    assert all(said in each["witness"]["words"] for each in silent)


@pytest.mark.parametrize("name", ["soft-majority", "histogram", "interface"])
def test_a_query_has_one_name(name: str) -> None:
    """The witness said 'query 0' where table and profile said 'own 2'."""
    for result in make_view(computed_record(name)).results:
        labels = {query_words(row[0]) for row in result.query_table.rows}
        for title in ("Witness", "Privacy profile"):
            text = told(result, title)
            said = re.findall(r"(?:[Aa]t |\()(own worst case \d(?:, query \d)?)", text)
            assert set(said) <= labels
            assert said or "query" not in text
            assert "query 0 " not in text.replace(", query 0 ", "")


# verdicts and profiles


def test_what_is_not_refuted_never_looks_above_the_claim() -> None:
    """Both numbers of a section have the same six decimals."""
    record = computed_record("psgd-laplace", n=20)
    for result in record["results"]:
        if result["verdict"] == "not refuted":
            worst, allowed = result["reason"].split(" is ")[1].split("; the claim allows ")
            worst, allowed = worst.split(",")[0], allowed.split(" (")[0]
            assert float(worst) <= float(allowed)
            (shown,) = make_view(record | {"results": [result]}).results
            assert shown.top == f"= {worst}"
            assert allowed in shown.claim


def test_what_is_inconclusive_by_its_numerical_error_is_not_said_to_have_been_missed() -> None:
    """Of a law that is known up to .1 the page said that a violation could have been missed, or
    nothing was seen to move."""
    vague = target_of(Blurred(table=((1.0, 0.0), (0.5, 0.5)), error=0.1))
    record = make_record(FACTS, assay([vague], flip_group(1), Settings(mode="exact")))
    (result,) = record["results"]
    assert result["verdict"] == "inconclusive"
    assert "numerical error" in result["reason"]
    assert "numerical error" in only(record).status.meaning


def test_a_profile_tells_of_other_pairs_where_a_reachable_one_exceeds_the_claim() -> None:
    record = copy.deepcopy(computed_record("soft-majority"))
    assert "Other pairs" not in told(only(record), "Privacy profile")
    record["results"][0]["any_size"] |= {"exact": 1.5, "exceeds": True}
    assert "Other pairs may need a larger δ" in told(only(record), "Privacy profile")
