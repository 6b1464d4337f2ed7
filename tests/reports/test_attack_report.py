"""The table, the page and the Markdown of `dpassay attack`, from records made by hand."""

from __future__ import annotations

import copy
import io
import math
import re
import xml.etree.ElementTree as ET
from statistics import mean, stdev
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from dpassay.cli.exit_codes import Exit, of_record
from dpassay.record.attack_record import BROKEN as BROKEN_WORD
from dpassay.record.attack_record import HELD, UNSEEN, told_of_claims
from dpassay.record.schemas import read_schema
from dpassay.reports.attack.figures import allowed_advantage, figures
from dpassay.reports.attack.pages import print_attacks, to_html, to_markdown
from dpassay.reports.attack.paired import paired, tossed
from dpassay.reports.attack.roc import allowed_tpr, view_roc
from dpassay.reports.attack.tables import (
    attacks_table,
    exposed_table,
    overview_table,
    repeated_table,
    summary_table,
    vulnerable_table,
)
from dpassay.reports.attack.view import (
    BLIND,
    BROKEN,
    INSIDE,
    UNCLAIMED,
    ladders,
    sound,
    subject_views,
)
from dpassay.reports.attack.words import defect_words, headline, opening
from tests.reports.conftest import CLAIM, HOSTILE, links_of

Record = dict[str, Any]
VIEWS = {"scores": (None, 0), "one label": (1, 0), "8 labels": (8, 0), "labels of 8 copies": (8, 8)}


def outcome(attack: str, view: str, epsilon: float | None, auc: float, tpr: float = 0.05) -> Record:
    m, copies = VIEWS[view]
    one_run = {"epsilon": 0.25, "delta": 0.0, "r": 80, "v": 60, "m": 800, "alpha": 1e-5}
    found: Record = {"attack": attack, "view": {"name": view, "m": m, "copies": copies}}
    found |= {"auc": auc, "auc_low": auc - 0.02, "auc_high": auc + 0.02, "advantage": 2 * auc - 1}
    found["operating"] = [{"asked": 0.01, "fpr": 0.0095, "tpr": tpr, "threshold": "inf"}, None]
    found["tpr_per_target"] = [[tpr, tpr + 0.01, tpr + 0.03], [None, None, None]]
    found["roc"] = {"fpr": [0.0, 0.0095, 0.2, 1.0], "tpr": [0.001, tpr, 0.2 + auc / 3, 1.0]}
    found |= {"slices": [], "one_run": one_run | {"cap": 1.5, "detectable": 0.9}}
    if epsilon is None:
        return found | {"allowed": None, "beyond": None}
    return found | {"allowed": {"epsilon": (m or 1) * epsilon, "delta": 0.0}, "beyond": 0.0}


def subject(
    name: str,
    epsilon: float | None,
    *views: str,
    lower: float = 0.5,
    auc: float = 0.55,
    cap: float = 2.0,
) -> Record:
    attacks = {
        "loss-threshold": (auc - 0.03, 0.02),
        "lira": (auc, 0.05),
        "rmia": (auc + 0.01, 0.04),
    }
    blind = epsilon is not None and cap <= epsilon
    bound: Record = {"record": 7, "gamma": 0.2, "alpha": 1e-5, "method": "coins", "cap": cap}
    bound["rule"] = {"record": 7, "threshold": 0.5, "above": True, "expected": 0.9}
    bound["counts"] = {"x": 10, "n1": 14, "y": 3, "n0": 18}
    bound["detectable"] = "inf" if blind else (epsilon or 0.0) + 2.5
    return {
        "name": name,
        "claim": None if epsilon is None else CLAIM | {"epsilon": epsilon},
        "error": None,
        "accuracy": {"mean": 0.9, "low": 0.88, "high": 0.92},
        "outcomes": [
            outcome(attack, view, epsilon, *found)
            for view in views
            for attack, found in attacks.items()
        ],
        "certified": [{"view": view, "lower": lower, **bound} for view in views],
        "separations": [-1.0, -0.1, 0.0, 0.2, 3.0],
        "exposed": [
            {"record": record, "label": k, "separation": 2.5 + k / 2}
            for record, k in ((3, 1), (7, 0))
        ],
        "slices": [
            {"slice": f"label {k}", "records": 20, "mean": 0.1, "high": 1.5} for k in (0, 1)
        ],
    }


def ladder(name: str, *lowers: float, **fields: Any) -> Record:
    rungs = [
        {
            "m": 2**k,
            "basic": 2.0**k,
            "lower": lower,
            "advantage": 0.1 * (k + 1),
            "allowed": math.tanh(2**k / 2),
            "limits": {"epsilon": 0.9 * 2**k, "advantage": 0.2, "auc": 0.7, "adaptive": 0.3},
            "broken": lower > 2**k,
            "cap": 3.0,
            "detectable": "inf" if 2**k >= 3 else 2**k + 0.5,
        }
        for k, lower in enumerate(lowers)
    ]
    facts = {"name": name, "epsilon": 1.0, "delta": 0.0, "sticky": False, "why": ""}
    return facts | {"rungs": rungs} | fields


def make(*subjects: Record, **fields: Any) -> Record:
    facts = {"command": "dpassay attack", "commit": None, "complete": True, "confidence": 0.999}
    sizes = {"records": 400, "references": 64, "targets": 32, "test": 100, "data": {"name": "iris"}}
    told = {"learner": "tree", "seed": 0, "adversary": "nat-minq", "background": 0}
    added: Record = {"attribute": None, "canaries": [], "planted": None, "poisoned": []}
    record = {"schema": "dpassay/attack/1", "run": facts | sizes | told | added}
    empty: Record = {"repeated": [], "defects": []}
    return copy.deepcopy(record | empty | fields | {"subjects": list(subjects)})


def build() -> Record:
    """Something of everything."""
    views = ("one label", "8 labels", "labels of 8 copies")
    crash = {"claim": CLAIM, "error": "sample returned NaN"}
    sticky = {"name": "sticky noise", "seen": "24 of 24 sessions agree", "again": "ask twice"}
    record = make(
        subject("tree (unprotected)", None, "scores", "one label", "labels of 8 copies", auc=0.7),
        subject("soft-majority, epsilon = 0.1", 0.1, *views, lower=0.0),
        subject("soft-majority, epsilon = 1", 1.0, *views, auc=0.56),
        subject("broken, epsilon = 1", 1.0, *views, lower=1.5),
        {"name": "crash, epsilon = 1"} | crash,
        repeated=[
            ladder("soft-majority", 0.5, 1.2, 3.1),
            ladder("sticky", 0.5, 0.5, 0.5, sticky=True, why="the noise is sticky"),
            ladder("shared", 1.5, 3.0, 5.0),
        ],
        defects=[sticky | {"probability": 1e-9}],
    )
    record["run"]["complete"] = False
    return record


@pytest.fixture
def whole() -> Record:
    return build()


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(build())


def pictures(page: str) -> list[str]:
    """The pictures of a page, each of them well formed."""
    found = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    for each in found:
        ET.fromstring(each)
    return found


def printed(record: Record, width: int = 80) -> str:
    stream = io.StringIO()
    print_attacks(record, Console(file=stream, width=width))
    return stream.getvalue()


def test_the_records_of_these_tests_are_records(whole: Record) -> None:
    jsonschema.Draft202012Validator(read_schema("attack")).validate(whole)


def test_the_table_fits_80_columns_and_names_the_best_and_lira(whole: Record) -> None:
    lines = printed(whole).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[3] == "view             attack                   AUC [95 %]     TPR at FPR  adv."
    place = lines.index("▲ broken, epsilon = 1: claim broken, accuracy 0.900")
    assert lines[place + 1 : place + 4] == [
        "one label        rmia             0.560 [.540, .580] 0.040 at .0095 0.120",
        "                 lira             0.550 [.530, .570] 0.050 at .0095 0.100",
        "  ε ≥ 1.5, cap 2, detectable 3.5, claim 1: claim broken",
    ]
    assert lines[place + 6] == "  ε ≥ 1.5, cap 2, detectable 3.5, claim 8: could not have seen it"
    assert lines[place + 7].startswith("labels of 8      rmia ")
    assert lines[place + 8].startswith("copies           lira ")
    assert "○ tree (unprotected): nothing claimed, accuracy 0.900" in lines
    assert "crash, epsilon = 1: error: sample returned NaN" in lines


def test_the_words_tell_what_came_of_it(whole: Record) -> None:
    subjects = subject_views(whole)
    words = ["nothing claimed", INSIDE.word, INSIDE.word, BROKEN.word, "error"]
    assert [each.status.word for each in subjects] == words
    assert headline(whole, subjects).startswith(
        "Attacks on 5 subjects: 4 claims, 2 BROKEN, 2 not broken (could have seen it), 0 could "
        "not have been seen, 1 failed, "
    )
    done, reached, claims, repeated, defects = opening(whole, subjects)
    assert "64 reference models" in done
    assert "the best attack is rmia on scores, with AUC 0.710" in reached
    assert "it identifies 4 % of the members at a false positive rate of 0.95 %" in reached
    assert "LiRA finds more members than the loss threshold: +3.0 points" in reached
    assert claims.startswith(
        "Claims are broken, certified at a simultaneous confidence of 99.9 %: broken, epsilon = "
        "1. The most: record 7 loses at least 1.5 on one label of broken, epsilon = 1, where the "
        "claim allows ε = 1. Guesses at 32 targets could have broken 2 claims. If they reveal the "
        "whole leak of a record that the reference models single out, breaking a claim with "
        "probability 0.9 takes a leak of 2.6 where ε = 0.1 is allowed, "
    )
    assert claims.endswith("a leak of 3.5 where ε = 1 is allowed; smaller leaks may exist.")
    assert (
        "Repeated answers of shared break its claim: at m = 1 the loss is at least 1.5; the "
        "claim is 1."
    ) in repeated
    assert "sticky: the noise is sticky." in repeated
    assert "1 defect" in defects
    assert defect_words(whole["defects"][0]).startswith(
        "sticky noise: 24 of 24 sessions agree. A correct interface shows this with probability "
        "at most 1e-09."
    )


def test_without_a_broken_claim_none_is_told(whole: Record) -> None:
    record = make(*whole["subjects"][:3])
    assert opening(record, subject_views(record))[2].startswith(
        "No certified lower bound on the loss of a record, at a simultaneous confidence of 99.9 %, "
        "exceeds what a claim allows. Guesses at 32"
    )
    assert headline(make(), ()) == "Nothing was attacked"
    alone = make(whole["subjects"][0])
    assert headline(alone, subject_views(alone)) == "Attacks on 1 subject: nothing was claimed"


def test_what_could_not_have_been_seen_is_never_called_not_broken(whole: Record) -> None:
    """32 guesses certify at most .41: of claims of .1, 1 and 8 they could break the first alone."""
    names = {f"m, epsilon = {epsilon:g}": epsilon for epsilon in (0.1, 1.0, 8.0)}
    record = make(*(subject(*each, "one label", lower=0.0, cap=0.41) for each in names.items()))
    subjects = subject_views(record)
    assert [each.status for each in subjects] == [INSIDE, BLIND, BLIND]
    assert told_of_claims(record) == dict(zip(names, (HELD, UNSEEN, UNSEEN), strict=True))
    assert headline(record, subjects) == (
        "Attacks on 3 subjects: 3 claims, 0 broken, 1 not broken (could have seen it), 2 could "
        "not have been seen"
    )
    assert (
        "They could not have broken 2 claims, since 32 correct guesses certify no more than "
        "0.41: m, epsilon = 1, m"
    ) in (opening(record, subjects)[2])
    for text in (printed(record), to_markdown(record)):
        assert "could not have seen it" in text
        assert "0.41" in text
    assert of_record(record, allow_inconclusive=False) == Exit.INCONCLUSIVE
    assert of_record(record, allow_inconclusive=True) == Exit.NOTHING
    assert of_record(make(record["subjects"][0]), allow_inconclusive=False) == Exit.NOTHING
    assert of_record(whole, allow_inconclusive=False) == 130
    old = make(record["subjects"][0])
    del old["subjects"][0]["certified"][0]["cap"]
    assert told_of_claims(old) == {"m, epsilon = 0.1": UNSEEN}  # a record that says nothing of caps
    assert set(told_of_claims(whole).values()) == {BROKEN_WORD, HELD}


def test_a_claim_is_counted_once() -> None:
    """'None of 1 claim broken, 1 claim BROKEN' stood in one headline.

    Guesses did not break it, repeated answers did.
    """
    name = "m, epsilon = 1"
    for lower, told in ((1.5, "1 BROKEN, 0 not broken"), (0.5, "0 broken, 1 not broken")):
        record = make(subject(name, 1.0, "one label", lower=0.0), repeated=[ladder(name, lower)])
        subjects = subject_views(record)
        assert (subjects[0].status is BROKEN) == (lower > 1)
        assert headline(record, subjects) == (
            f"Attacks on 1 subject: 1 claim, {told} (could have seen it), 0 could not have been "
            "seen"
        )


def test_every_certified_number_stands_beside_its_cap_and_its_detectable(whole: Record) -> None:
    subjects, sure = sound(subject_views(whole)), "99.9 %"
    repeated = repeated_table(ladders(whole["repeated"]))
    assert repeated is not None
    for table in (
        summary_table(subjects, sure),
        overview_table(subjects, sure),
        vulnerable_table(subjects),
        attacks_table(subjects[1]),
        repeated,
    ):
        (place,) = [k for k, name in enumerate(table.columns) if name.endswith("ε ≥")]
        assert table.columns[place + 1 : place + 3] == ("cap", "detectable")
        assert all(not {"", "–"} & set(row[place + 1 : place + 3]) for row in table.rows)
        assert len({len(row) for row in table.rows} | {len(table.numeric), len(table.columns)}) == 1
    assert exposed_table(subjects[1]).columns[3] == "ε ≥, one label (cap 2, detectable 2.6)"


def test_no_text_calls_anything_private_or_safe(whole: Record, page: str) -> None:
    for text in (printed(whole), page, to_markdown(whole)):
        assert not re.search(r"\b(safe|private|secure)\b(?!-knn)", text, re.IGNORECASE)
        assert "estimate" in text
        assert "dpassay run" in text


def test_paired_intervals_are_students() -> None:
    one, other = (
        {"tpr_per_target": [[0.3, 0.5, 0.4, None]]},
        {"tpr_per_target": [[0.1, 0.2, 0.3, 0.2]]},
    )
    found = paired(one, other)
    gaps = [0.2, 0.3, 0.1]
    half = 4.302652729911275 * stdev(gaps) / math.sqrt(3)
    assert found is not None
    assert (found.difference, found.low, found.high, found.targets) == pytest.approx(
        (mean(gaps), mean(gaps) - half, mean(gaps) + half, 3)
    )
    assert paired({"tpr_per_target": [[None, 0.1]]}, {"tpr_per_target": [[0.1, 0.1]]}) is None


def test_ties_are_broken_by_a_coin() -> None:
    tied = {"roc": {"fpr": [0.0, 0.9, 1.0], "tpr": [0.0, 1.0, 1.0]}}
    assert [tossed(tied, x) for x in (0.0, 0.09, 0.9, 0.95, 1.0)] == pytest.approx(
        [0.0, 0.1, 1.0, 1.0, 1.0]
    )
    assert tossed({"roc": {"fpr": [0.0, 1.0], "tpr": [0.2, 1.0]}}, 0.5) == pytest.approx(0.6)


def test_what_is_allowed() -> None:
    assert allowed_tpr(0.01, (1.0, 0.0)) == pytest.approx(math.e * 0.01)
    assert allowed_tpr(0.9, (1.0, 0.0)) == pytest.approx(1 - math.exp(-1) * 0.1)
    assert allowed_tpr(0.01, (1.0, 0.1)) == pytest.approx(math.e * 0.01 + 0.1)
    assert allowed_tpr(0.01, (800.0, 0.0)) == 1.0
    grid = [k / 10000 for k in range(10001)]
    for region in ((1.0, 0.0), (0.1, 0.05), (3.0, 0.2)):
        assert allowed_advantage(*region) == pytest.approx(
            max(allowed_tpr(x, region) - x for x in grid), abs=2e-3
        )


def test_the_page_stands_alone(page: str) -> None:
    links = links_of(page)
    assert links.outside == set()
    assert links.drawn == 1 + 3 + 1 + 2 + 1 + 1
    assert page.index("record 7 loses at least 1.5") < page.index("<svg")


def test_figures_are_well_formed_and_themed(whole: Record, page: str) -> None:
    drawn = pictures(page)
    assert not re.search(r"#[0-9a-f]{6}", "".join(drawn))
    assert "ROC curves of all attacks on what makes no claim" in drawn[0]
    assert "ROC curves of the best attack, one label" in drawn[1]
    assert "edge of the exact loss, worst pair" in drawn[1]
    without = view_roc(subject_views(whole), "one label", (), 0)
    assert without is not None
    assert "worst pair" not in without.svg


@pytest.mark.parametrize("kept", [[0], [4], []])
def test_parts_alone_make_reports(whole: Record, kept: list[int]) -> None:
    record = make(*(whole["subjects"][k] for k in kept))
    assert printed(record)
    assert "</html>" in to_html(record)
    assert to_markdown(record).startswith("# ")
    assert len(sound(subject_views(record))) == (kept == [0])


def test_unlucky_numbers_make_reports() -> None:
    other = subject("m", 1.0, "one label", lower=0.0)
    other["separations"], other["exposed"], other["certified"] = [0.0, 0.0], [], []
    for each in other["outcomes"]:
        each |= {"auc": 1.0, "auc_low": 1.0, "auc_high": 1.0, "advantage": 0.0}
        each |= {"operating": [None, None], "roc": {"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]}}
    record = make(other | {"claim": CLAIM | {"epsilon": 1.0, "delta": 0.01}})
    assert "1.000 [1.00, 1.00]" in printed(record)
    assert "m, δ = 0.01: could not have seen it" in printed(record)
    ET.fromstring(figures(subject_views(record), ())[0].svg)
    assert "No certified bound was available to test a claim." in to_markdown(record)


def test_a_record_of_ladders_in_one_row_each() -> None:
    rows = [
        {"name": "a", "m": m, "epsilon_claimed": 1.0 * m, "lower": 0.5 * m, "ceiling": 0.9 * m}
        for m in (2, 1)
    ]
    (found,) = ladders([each | {"advantage": 0.1} for each in rows])
    assert [
        (rung.m, rung.claimed, rung.lower, rung.ceiling, rung.broken) for rung in found.rungs
    ] == [(1, 1.0, 0.5, 0.9, False), (2, 2.0, 1.0, 1.8, False)]
    assert ladders([{"name": "nothing"}]) == ()


def test_foreign_text_stays_text() -> None:
    bad = subject(HOSTILE, 1.0, "one label")
    bad["slices"][0]["slice"] = bad["outcomes"][0]["attack"] = HOSTILE
    crash = {"name": HOSTILE + "!", "claim": None, "error": HOSTILE}
    told = {"repeated": [ladder(HOSTILE, 0.5, why=HOSTILE)]}
    record = make(bad, crash, defects=[{"name": HOSTILE, "seen": HOSTILE}], **told)
    record["run"] |= {"command": HOSTILE, "data": {"name": HOSTILE}}
    page, markdown = to_html(record), to_markdown(record)
    assert "<script" not in page
    assert "<script" not in markdown[: markdown.index("## Reproduce")]
    assert "\x1b" not in page + markdown + printed(record)
    assert "[red]x" in printed(record)
    assert pictures(page)


def test_markdown_has_the_words_and_the_tables(whole: Record) -> None:
    text = to_markdown(whole)
    titles = re.findall(r"(?m)^## (.*)$", text)
    assert {"Defects", "Summary", "Repeated queries", "The most exposed records"} < set(titles)
    assert "LiRA and the loss threshold, paired" in titles
    assert "<svg" not in text
    assert UNCLAIMED.word in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)
