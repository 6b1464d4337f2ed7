from __future__ import annotations

from typing import Any

import pytest

from dpassay.record.baseline import Judged
from dpassay.record.compare import compare
from dpassay.reports.run.pipeline import LIMIT, to_comment
from tests.reports.conftest import HOSTILE

Record = dict[str, Any]


def judged(old: Record, new: Record) -> Record:
    comparison = compare(old, new)
    return Judged(comparison=comparison, open=comparison.regressions).as_json()


def test_the_first_screen_says_what_was_checked_found_how_bad_and_what_to_do(make: Any) -> None:
    places = [{"role": "definition", "file": "my_api.py", "line": 7}]
    text = to_comment(
        make.record(
            make.sampled("held", "not refuted"), make.sampled("api", "refuted", 1.9, places=places)
        )
    )
    head = text.splitlines()
    assert head[0] == "### api leaks at least 1.9 times what it claims"
    assert "Checked: 2 claims of 2 mechanisms on iris" in text
    assert r"(my\_api.py:7)" in text
    assert "claimed ε = 1, found ≥ 1.9, certified at 99.9 % confidence" in text
    assert "dpassay replay REPORT/witnesses/" in text
    first_screen = text.partition("<details>")[0]
    assert "correct the mechanism, or claim less" in first_screen
    assert len(first_screen.splitlines()) < 25
    assert "Not refuted does not mean private." in text


def test_nothing_found_says_no_more_than_that(make: Any) -> None:
    text = to_comment(make.record(make.sampled("api", "not refuted", 0.5, 0.8)))
    assert text.startswith("### No leak above what api claims was found\n")
    assert "found 0.5 to 0.8 where it was certified" in text
    assert "Do now" not in text
    assert "Not refuted does not mean private." in text


def test_the_difference_to_the_baseline_by_groups(make: Any) -> None:
    def held(name: str, loss: float = 0.5, **fields: Any) -> Record:
        return dict(make.computed(name, "not refuted", loss, **fields))

    weaker = held("weak")
    weaker["claim"]["epsilon"] = 2.0
    gone, rose = held("gone", 0.25, parameters={"r": 1}), make.computed("rose", "refuted", 1.5)
    old = make.record(gone, held("weak"), held("rose", 0.25), held("fell", 0.75), held("same"))
    new = make.record(held("fresh"), weaker, rose, held("fell", 0.25), held("same"))
    text = to_comment(new, judged(old, new))
    groups = ("Refuted or failing now", "Worse", "Gone", "New", "Better")
    order = [text.index(f"\n{title}:\n") for title in groups]
    assert order == sorted(order)
    assert "**Against the accepted baseline:** 4 privacy regressions" in text
    for line in ("* ▲ rose:", "* ↑ rose:", "* ▽ weak:", "* ✖ gone:", "* + fresh:", "* ↓ fell:"):
        assert line in text
    assert "same:" not in text.partition("<details>")[0]


@pytest.mark.parametrize("number", [1, 60])
def test_never_above_the_limit(make: Any, number: int) -> None:
    long = "ä" * 1000
    record = make.record(
        *(make.sampled(f"m{k} {long}", "refuted", 1.9, reason=long) for k in range(number)),
        *(make.sampled(f"h{k} {long}", "not refuted") for k in range(number)),
    )
    text = to_comment(record, judged(make.record(make.sampled("x", "not refuted")), record))
    assert len(text.encode()) <= LIMIT
    assert text.count("<details>") == text.count("</details>")
    assert ("see the report" in text) == (number > 1)


def test_hostile_names_stay_text_and_call_nobody(make: Any) -> None:
    record = make.record(
        make.sampled(f"{HOSTILE} @octocat #12", "refuted", 1.9),
        make.result("e", "error", reason=f"@octocat {HOSTILE}"),
    )
    text = to_comment(record, judged(make.record(make.computed("@x #1", "verified")), record))
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "@octocat" not in text
    assert "#12" not in text
    assert "@x" not in text


@pytest.mark.parametrize("complete", [True, False])
def test_an_empty_run_says_so(make: Any, complete: bool) -> None:
    text = to_comment(make.record(complete=complete))
    assert "Nothing was audited" in text
    assert ("interrupted" in text) is not complete
