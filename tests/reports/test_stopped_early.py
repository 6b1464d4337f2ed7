"""A claim that an e-process refuted: one sentence on every surface, and no false one."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from dpassay.engine.wording import stopped_words
from dpassay.record.schemas import fault
from dpassay.reports.run.lead import briefs, lead
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.pipeline import to_comment, to_junit
from dpassay.reports.run.terminal import print_explanation, print_summary

Record = dict[str, Any]
SENTENCE = (
    "The e-process refuted it after 313 of 5,000 trials per side (E = 5e+10, and 1.6e+04 refutes)"
)
BELOW = "the bound, of fresh trials, is not above the claim"


def stopped(make: Any, lower: float, **fields: Any) -> Record:
    early = {"test": "e-process", "trials": 313, "planned": 5000}
    made: Record = make.sampled(
        "mine.own.monte-carlo",
        "refuted",
        lower=lower,
        upper=2.5,
        stopped_early=early | {"e_value": 5.0e10, "threshold": 16000.0},
        **fields,
    )
    made["spending"] |= {"looks": 4, "sequential": 3.125e-05, "fresh": 3.125e-05}
    return made


def surfaces(record: Record) -> dict[str, str]:
    """What every surface says, in one line each."""
    found: dict[str, str] = {
        "page": to_html(record),
        "report.md": to_markdown(record),
        "comment": to_comment(record),
    }
    for name in ("terminal", "explain"):
        console = Console(file=StringIO(), width=10_000)
        if name == "terminal":
            print_summary(record, console)
        else:
            print_explanation(record, record["results"][0]["id"], console)
        found[name] = console.file.getvalue()  # type: ignore[attr-defined]
    return {name: " ".join(text.split()) for name, text in found.items()}


def test_every_surface_says_which_test_refuted(make: Any) -> None:
    record = make.record(stopped(make, 1.5))
    assert fault(record, "record") == ""
    for name, text in surfaces(record).items():
        assert SENTENCE in text, name
        assert BELOW not in text, name
    usual = make.record(make.sampled("mine.own.monte-carlo", "refuted", lower=1.5))
    for name, text in surfaces(usual).items():
        assert "e-process" not in text, name


def test_a_bound_below_the_claim_is_said_to_be_and_no_factor_is_made_up(make: Any) -> None:
    record = make.record(stopped(make, 0.93))
    assert lead(record) == "mine leaks more than it claims (ε = 1)"
    (found,) = briefs(record)
    assert (found.found, found.times) == ("≥ 0.93", "")
    for name, text in surfaces(record).items():
        assert f"{SENTENCE}; {BELOW}" in text, name
        for false in ("0.93 times", "0.93×", "0.93 ×", "below 0.93", "1 times"):
            assert false not in text, (name, false)
    assert "every ε up to 1 is refuted too" in surfaces(record)["page"]
    assert "| &gt; 1.000000 | &gt; 1 × |" in surfaces(record)["report.md"]  # among the findings
    assert "refuted" in to_junit(record)


def test_how_alpha_was_spent(make: Any) -> None:
    told = surfaces(make.record(stopped(make, 1.5)))["explain"]
    assert "looking 4 times is paid with the part for the e-processes" in told
    assert "The e-processes of all cells and looks have 3.125e-05" in told
    assert "the rest was for bounds on all the trials that were planned" in told
    assert "looked at once" not in told
    held = stopped(make, 0.5)
    del held["stopped_early"]
    held["verdict"] = "not refuted"
    told = surfaces(make.record(held))["explain"]
    assert "bounds on fresh trials, if one of them refutes, 3.125e-05." in told
    assert "the rest was" not in told


def test_every_query_is_named_by_its_own_numbers(make: Any) -> None:
    """A claim of one sort or another: the sentence is about trials and E alone."""
    for kind in ("Stability", "GDP"):
        made = stopped(make, 0.9)
        made["claim"] |= {"kind": kind, "epsilon": None, "delta": None}
        made["claim"] |= {"gamma": 0.2} if kind == "Stability" else {"mu": 0.5, "gamma": None}
        for name, text in surfaces(make.record(made)).items():
            assert SENTENCE in text, (kind, name)


@pytest.mark.parametrize(
    ("e_value", "shown"), [(1e300, "E = 1e+300, and 2e+04 refutes"), (19999.6, "")]
)
def test_what_is_reached_is_never_shown_below_what_refutes(e_value: float, shown: str) -> None:
    needed = 2e4 if shown else 19999.5
    told = stopped_words(79, 20_000, e_value, needed)
    assert told.startswith("the e-process refuted it after 79 of 20,000 trials per side")
    numbers = told.partition("(E = ")[2].removesuffix(" refutes)").split(", and ")
    assert float(numbers[0]) >= float(numbers[1])
    assert shown in told
