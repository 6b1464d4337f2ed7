"""The table, the page and the Markdown of `dpassay attack`, from records made by hand."""

from __future__ import annotations

import copy
import io
import json
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
from tests.reports.conftest import tags

Record = dict[str, Any]
HOSTILE = "<script>alert(1)</script> | [red]x[/red] `$\\frac{` \x1b[31m\n# a"
CLAIM = {
    **dict.fromkeys(("gamma", "beta1", "beta2")),
    "kind": "DP",
    "delta": 0.0,
    "relation": "replace-one",
    "unit": "single prediction",
    "coins": "all fresh",
    "source": "A Book 1999, Theorem 3",
    "status": "printed",
}
VIEWS = {"scores": (None, 0), "one label": (1, 0), "8 labels": (8, 0), "labels of 8 copies": (8, 8)}


def outcome(attack: str, view: str, epsilon: float | None, auc: float, tpr: float = 0.05) -> Record:
    m, copies = VIEWS[view]
    return {
        "attack": attack,
        "view": {"name": view, "m": m, "copies": copies},
        "allowed": None if epsilon is None else {"epsilon": (m or 1) * epsilon, "delta": 0.0},
        "auc": auc,
        "auc_low": auc - 0.02,
        "auc_high": auc + 0.02,
        "advantage": 2 * auc - 1,
        "operating": [{"asked": 0.01, "fpr": 0.0095, "tpr": tpr, "threshold": "inf"}, None],
        "tpr_per_target": [[tpr, tpr + 0.01, tpr + 0.03], [None, None, None]],
        "beyond": None if epsilon is None else 0.0,
        "one_run": {
            "epsilon": 0.25,
            "delta": 0.0,
            "r": 80,
            "v": 60,
            "m": 800,
            "alpha": 1e-5,
            "cap": 1.5,
            "detectable": 0.9,
        },
        "slices": [],
        "roc": {"fpr": [0.0, 0.0095, 0.2, 1.0], "tpr": [0.001, tpr, 0.2 + auc / 3, 1.0]},
    }


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
    rule = {"record": 7, "threshold": 0.5, "above": True, "expected": 0.9}
    bound = {
        "record": 7,
        "rule": rule,
        "gamma": 0.2,
        "alpha": 1e-5,
        "method": "coins",
        "counts": {"x": 10, "n1": 14, "y": 3, "n0": 18},
        "cap": cap,
        "detectable": "inf" if epsilon is not None and cap <= epsilon else (epsilon or 0.0) + 2.5,
    }
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
            {"record": 3, "label": 1, "separation": 3.0},
            {"record": 7, "label": 0, "separation": 2.5},
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
    return {
        "name": name,
        "epsilon": 1.0,
        "delta": 0.0,
        "sticky": False,
        "why": "",
        "rungs": rungs,
    } | fields


def make(*subjects: Record, **fields: Any) -> Record:
    facts = {
        "command": "dpassay attack",
        "commit": None,
        "complete": True,
        "confidence": 0.999,
        "learner": "tree",
        "seed": 0,
    }
    sizes = {"records": 400, "references": 64, "targets": 32, "test": 100, "data": {"name": "iris"}}
    sizes |= {
        "adversary": "nat-minq",
        "attribute": None,
        "background": 0,
        "canaries": [],
        "planted": None,
        "poisoned": [],
    }
    record = {
        "schema": "dpassay/attack/1",
        "run": facts | sizes,
        "repeated": [],
        "defects": [],
    } | fields
    return copy.deepcopy(record | {"subjects": list(subjects)})


@pytest.fixture
def whole() -> Record:
    return build()


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(build())


def build() -> Record:
    """Something of everything."""
    record = make(
        subject("tree (unprotected)", None, "scores", "one label", "labels of 8 copies", auc=0.7),
        subject(
            "soft-majority, epsilon = 0.1",
            0.1,
            "one label",
            "8 labels",
            "labels of 8 copies",
            lower=0.0,
        ),
        subject(
            "soft-majority, epsilon = 1",
            1.0,
            "one label",
            "8 labels",
            "labels of 8 copies",
            auc=0.56,
        ),
        subject(
            "broken, epsilon = 1", 1.0, "one label", "8 labels", "labels of 8 copies", lower=1.5
        ),
        {
            "name": "crash, epsilon = 1",
            "claim": CLAIM | {"epsilon": 1.0},
            "error": "sample returned NaN",
        },
        repeated=[
            ladder("soft-majority", 0.5, 1.2, 3.1),
            ladder("sticky", 0.5, 0.5, 0.5, sticky=True, why="the noise is sticky"),
            ladder("shared", 1.5, 3.0, 5.0),
        ],
        defects=[
            {
                "name": "sticky noise",
                "seen": "24 of 24 sessions agree",
                "probability": 1e-9,
                "again": "ask twice",
            }
        ],
    )
    record["run"]["complete"] = False
    return record


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
    assert (
        lines[place + 1]
        == "one label        rmia             0.560 [.540, .580] 0.040 at .0095 0.120"
    )
    assert (
        lines[place + 2]
        == "                 lira             0.550 [.530, .570] 0.050 at .0095 0.100"
    )
    assert lines[place + 3] == "  ε ≥ 1.5, cap 2, detectable 3.5, claim 1: claim broken"
    assert lines[place + 6] == "  ε ≥ 1.5, cap 2, detectable 3.5, claim 8: could not have seen it"
    assert lines[place + 7].startswith("labels of 8      rmia ")
    assert lines[place + 8].startswith("copies           lira ")
    assert "○ tree (unprotected): nothing claimed, accuracy 0.900" in lines
    assert "crash, epsilon = 1: error: sample returned NaN" in lines


def test_the_words_tell_what_came_of_it(whole: Record) -> None:
    subjects = subject_views(whole)
    assert [each.status.word for each in subjects] == [
        "nothing claimed",
        INSIDE.word,
        INSIDE.word,
        BROKEN.word,
        "error",
    ]
    said = headline(whole, subjects)
    assert said.startswith(
        "Attacks on 5 subjects: 4 claims, 2 BROKEN, 2 not broken (could have seen it), 0 could "
        "not have been seen, 1 failed, "
    )
    assert said.endswith("1 defect found, interrupted")
    done, reached, claims, repeated, defects = opening(whole, subjects)
    assert "64 reference models" in done
    assert "32 target models" in done
    assert (
        "Against tree (unprotected), the best attack is rmia on scores, with AUC 0.710" in reached
    )
    assert (
        "the loss threshold has 0.670; it identifies 4 % of the members at a false positive "
        "rate of 0.95 %"
    ) in reached
    assert (
        "On scores, at FPR 1 %, ties broken by a coin, LiRA finds more members than the loss "
        "threshold: +3.0 points"
    ) in reached
    assert claims == (
        "Claims are broken, certified at a simultaneous confidence of 99.9 %: broken, epsilon = "
        "1. The most: record 7 loses at least 1.5 on one label of broken, epsilon = 1, where the "
        "claim allows ε = 1. Guesses at 32 targets could have broken 2 claims. If they reveal the "
        "whole leak of a record that the reference models single out, breaking a claim with "
        "probability 0.9 takes a leak of 2.6 where ε = 0.1 is allowed, a leak of 2.6 where ε = "
        "0.8 is allowed, a leak of 3.5 where ε = 1 is allowed; smaller leaks may exist."
    )
    assert (
        "Repeated answers of shared break its claim: at m = 1 the loss is at least 1.5; the "
        "claim is 1."
    ) in repeated
    assert "sticky: the noise is sticky." in repeated
    assert "1 defect" in defects
    words = defect_words(whole["defects"][0])
    assert words.startswith(
        "sticky noise: 24 of 24 sessions agree. A correct interface shows this with probability "
        "at most 1e-09."
    )


def test_without_a_broken_claim_the_closest_bound_is_told(whole: Record) -> None:
    record = make(*whole["subjects"][:3])
    subjects = subject_views(record)
    assert headline(record, subjects) == (
        "Attacks on 3 subjects: 2 claims, 0 broken, 2 not broken (could have seen it), 0 could "
        "not have been seen"
    )
    said = opening(record, subjects)[2]
    sure = "at a simultaneous confidence of 99.9 %"
    assert said.startswith(
        f"No certified lower bound on the loss of a record, {sure}, exceeds what a claim allows. "
        "Guesses at 32"
    )
    assert headline(make(), ()) == "Nothing was attacked"
    alone = make(whole["subjects"][0])
    assert headline(alone, subject_views(alone)) == "Attacks on 1 subject: nothing was claimed"


def test_what_could_not_have_been_seen_is_never_called_not_broken(whole: Record) -> None:
    """32 guesses certify at most .41.

    Behind claims of .1, 1 and 8 they could break the first alone.
    """
    record = make(
        *(
            subject(f"m, epsilon = {epsilon:g}", epsilon, "one label", lower=0.0, cap=0.41)
            for epsilon in (0.1, 1.0, 8.0)
        )
    )
    subjects = subject_views(record)
    assert [each.status for each in subjects] == [INSIDE, BLIND, BLIND]
    assert told_of_claims(record) == {
        "m, epsilon = 0.1": HELD,
        "m, epsilon = 1": UNSEEN,
        "m, epsilon = 8": UNSEEN,
    }
    assert headline(record, subjects) == (
        "Attacks on 3 subjects: 3 claims, 0 broken, 1 not broken (could have seen it), 2 could "
        "not have been seen"
    )
    assert (
        "They could not have broken 2 claims, since 32 correct guesses certify no more than "
        "0.41: m, epsilon = 1, m"
    ) in (opening(record, subjects)[2])
    for text in (printed(record), to_html(record), to_markdown(record)):
        assert "could not have seen it" in text
        assert "0.41" in text
    assert of_record(record, allow_inconclusive=False) == Exit.INCONCLUSIVE
    assert of_record(record, allow_inconclusive=True) == Exit.NOTHING
    assert of_record(make(record["subjects"][0]), allow_inconclusive=False) == Exit.NOTHING
    old = make(subject("m, epsilon = 0.1", 0.1, "one label", lower=0.0))
    del old["subjects"][0]["certified"][0]["cap"]
    assert told_of_claims(old) == {"m, epsilon = 0.1": UNSEEN}  # a record that says nothing of caps
    assert set(told_of_claims(whole).values()) == {BROKEN_WORD, HELD}


def test_a_claim_is_counted_once(whole: Record) -> None:
    """'None of 1 claim broken, 1 claim BROKEN' stood in one headline.

    Guesses did not break it, repeated answers did.
    """
    record = make(
        subject("m, epsilon = 1", 1.0, "one label", lower=0.0),
        repeated=[ladder("m, epsilon = 1", 1.5)],
    )
    subjects = subject_views(record)
    assert headline(record, subjects) == (
        "Attacks on 1 subject: 1 claim, 1 BROKEN, 0 not broken (could have seen it), 0 could not "
        "have been seen"
    )
    assert subjects[0].status is BROKEN
    record["repeated"] = [ladder("m, epsilon = 1", 0.5)]
    assert headline(record, subject_views(record)).startswith(
        "Attacks on 1 subject: 1 claim, 0 broken, 1 not broken"
    )
    assert of_record(whole, allow_inconclusive=False) == 130


def test_every_certified_number_stands_beside_its_cap_and_its_detectable(whole: Record) -> None:
    subjects, sure = sound(subject_views(whole)), "99.9 %"
    tables = [
        summary_table(subjects, sure),
        overview_table(subjects, sure),
        vulnerable_table(subjects),
        attacks_table(subjects[1]),
    ]
    tables += [found for found in [repeated_table(ladders(whole["repeated"]))] if found is not None]
    for table in tables:
        (place,) = [k for k, name in enumerate(table.columns) if name.endswith("ε ≥")]
        assert table.columns[place + 1 : place + 3] == ("cap", "detectable")
        assert all(
            row[place + 1] not in ("", "–") and row[place + 2] not in ("", "–")
            for row in table.rows
        )
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


def test_the_page_stands_alone(whole: Record, page: str) -> None:
    found = tags(page)
    assert not {"script", "link", "iframe", "img"} & {tag for tag, _ in found}
    ids = [attributes["id"] for _, attributes in found if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [
        attributes[name]
        for _, attributes in found
        for name in ("href", "xlink:href")
        if name in attributes
    ]
    assert targets
    assert all(target is not None and target[1:] in ids for target in targets)
    assert sum(tag == "svg" for tag, _ in found) == 1 + 3 + 1 + 2 + 1 + 1
    assert page.index("record 7 loses at least 1.5") < page.index("<svg")
    assert to_html(json.loads(json.dumps(whole))) == page


def test_figures_are_well_formed_and_themed(whole: Record) -> None:
    drawn = figures(subject_views(whole), ladders(whole["repeated"]))
    for each in drawn:
        ET.fromstring(each.svg)
        assert not re.search(r"#[0-9a-f]{6}", each.svg)
    labels = [each.label for each in drawn]
    assert labels[:2] == ["attacks on what makes no claim", "best attacks, one label"]
    assert "edge of the exact loss, worst pair" in drawn[1].svg
    without = view_roc(subject_views(whole), "one label", (), 0)
    assert without is not None
    assert "worst pair" not in without.svg


@pytest.mark.parametrize("kept", [[0], [1], [4], []])
def test_parts_alone_make_reports(whole: Record, kept: list[int]) -> None:
    record = make(*(whole["subjects"][k] for k in kept))
    assert printed(record)
    assert "</html>" in to_html(record)
    assert to_markdown(record).startswith("# ")
    assert len(sound(subject_views(record))) == (kept in ([0], [1]))


def test_unlucky_numbers_make_reports() -> None:
    other = subject("m", 1.0, "one label", lower=0.0)
    other["separations"], other["exposed"], other["certified"] = [0.0, 0.0], [], []
    for each in other["outcomes"]:
        each |= {
            "auc": 1.0,
            "auc_low": 1.0,
            "auc_high": 1.0,
            "operating": [None, None],
            "advantage": 0.0,
        }
        each["roc"] = {"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]}
    record = make(other | {"claim": CLAIM | {"epsilon": 1.0, "delta": 0.01}})
    assert "1.000 [1.00, 1.00]" in printed(record)
    assert "m, δ = 0.01: could not have seen it" in printed(record)
    ET.fromstring(figures(subject_views(record), ())[0].svg)
    assert "No certified bound was available to test a claim." in to_markdown(record)


def test_a_record_of_ladders_in_one_row_each() -> None:
    rows = [
        {
            "name": "a",
            "m": m,
            "epsilon_claimed": 1.0 * m,
            "lower": 0.5 * m,
            "advantage": 0.1,
            "ceiling": 0.9 * m,
        }
        for m in (2, 1)
    ]
    (found,) = ladders(rows)
    assert [
        (rung.m, rung.claimed, rung.lower, rung.ceiling, rung.broken) for rung in found.rungs
    ] == [(1, 1.0, 0.5, 0.9, False), (2, 2.0, 1.0, 1.8, False)]
    assert ladders([{"name": "nothing"}]) == ()


def test_foreign_text_stays_text() -> None:
    bad = subject(HOSTILE, 1.0, "one label")
    bad["slices"][0]["slice"] = bad["outcomes"][0]["attack"] = HOSTILE
    crash = {"name": HOSTILE + "!", "claim": None, "error": HOSTILE}
    record = make(
        bad,
        crash,
        defects=[{"name": HOSTILE, "seen": HOSTILE}],
        repeated=[ladder(HOSTILE, 0.5, why=HOSTILE)],
    )
    record["run"] |= {"command": HOSTILE, "data": {"name": HOSTILE}}
    page, markdown = to_html(record), to_markdown(record)
    assert "<script" not in page
    assert "<script" not in markdown[: markdown.index("## Reproduce")]
    assert "\x1b" not in page + markdown + printed(record)
    assert "[red]x" in printed(record)
    for each in figures(subject_views(record), ladders(record["repeated"])):
        ET.fromstring(each.svg)


def test_markdown_has_the_words_and_the_tables(whole: Record) -> None:
    text = to_markdown(whole)
    for title in (
        "Defects",
        "Summary",
        "LiRA and the loss threshold, paired",
        "Repeated queries",
        "The most exposed records",
    ):
        assert f"\n## {title}\n" in text
    assert "<svg" not in text
    assert UNCLAIMED.word in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)
