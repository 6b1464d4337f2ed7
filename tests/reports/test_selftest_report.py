"""The table and the page of the self-test, from checks as plain data."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from rich.console import Console

from dpassay.reports.selftest.pages import print_checks, to_html
from dpassay.reports.selftest.plots import calibration_plot, error_plot, power_plot
from tests.reports.conftest import links_of

Document = dict[str, Any]


def check(group: str, name: str, value: float | None, limit: float, **rest: Any) -> Document:
    facts = {
        "what": f"What {name} is.",
        "relation": "at most",
        "points": [],
        "passed": value is not None and value <= limit,
    }
    return {"group": group, "name": name, "value": value, "limit": limit} | facts | rest


def make(*more: Document) -> Document:
    error: Document = {"n": 100, "attained": 0.03, "at_most": 0.04, "p1": 0.2, "p0": 0.1}
    errors = [
        error | {"method": test, "epsilon": epsilon, "delta": delta}
        for test in ("stouffer", "fisher")
        for epsilon in (0.1, 1.0)
        for delta in (0.0, 0.01)
    ]
    alarms = [
        {"claim": "DP(1)", "runs": 200, "refuted": 3, "upper_missed": 1, "alpha": 0.05, "limit": 18}
    ]
    rate = {"runs": 100, "refuted": 80, "rate": 0.8, "low": 0.7, "high": 0.9}
    region = {"kind": "observed", "expected": 0.8, "least": 70, "most": 90}
    leaks = [
        *({"factor": factor} | region | rate for factor in (1.2, 2.0)),
        *(
            {"kind": "predicted", "method": "stouffer", "factor": k, "power": k / 3, "exact": k / 3}
            for k in (1.0, 2.0)
        ),
    ]
    reached = [{"kind": "detectable", "factor": 1.4} | rate]
    checks = [
        check("error", "error of stouffer, n = 100", 0.04, 0.05, points=errors),
        check("calibration", "false alarms, DP(1) true", 4, 18, points=alarms),
        check("sight", "leaks", 0, 0, points=leaks),
        check("sight", "refutations", 186, 170, relation="at least", passed=True, points=reached),
        check("golden", "exact loss of a toy, off by", 2.22e-16, 1e-12),
        *more,
    ]
    facts = {"command": "dpassay selftest --seed 0", "python": "3.11.2", "machine": "Linux x86_64"}
    passed = all(each["passed"] for each in checks)
    return {"schema": "dpassay/selftest/1", "passed": passed, "checks": checks, "facts": facts}


BAD = check("replay", "audits that ignore their seed", 4, 0)
LOST = check("golden", "golden could not be checked", None, 0)


def printed(document: Document, width: int = 80) -> str:
    stream = io.StringIO()
    print_checks(document, Console(file=stream, width=width))
    return stream.getvalue()


def test_the_table_fits_80_columns_and_tells_what_failed() -> None:
    text = printed(make())
    assert text.startswith("5 checks, all ok\n")
    assert max(map(len, text.splitlines())) <= 80
    assert "● ok" in text
    assert "≥ 170" in text
    text = printed(make(BAD, LOST))
    assert text.startswith("2 of 7 checks FAILED: do not trust the harness here\n")
    assert "▲ FAILED  audits that ignore their seed" in text
    assert "audits that ignore their seed: What audits that ignore their seed is." in text
    assert re.search(r"could not be checked +–", text)


def test_the_page_stands_alone() -> None:
    document = make(BAD)
    page = to_html(document)
    assert to_html(json.loads(json.dumps(document))) == page
    links = links_of(page)
    assert links.outside == set()
    assert links.drawn == 3
    assert page.index("audits that ignore their seed: 4, required: ≤ 0.") < page.index("<svg")
    assert "FAILED" in page
    document["checks"] = [each | {"points": []} for each in document["checks"]]
    assert "<svg" not in to_html(document)


@pytest.mark.parametrize("worst", [0.04, 0.2])
def test_figures_are_well_formed_and_show_what_breaks_a_limit(worst: float) -> None:
    document = make()
    errors, alarms, leaks, reached = (document["checks"][k]["points"] for k in range(4))
    errors[0]["at_most"] = worst
    alarms[0]["refuted"] = 3 if worst < 0.05 else 60
    seen = [point for point in leaks if point["kind"] == "observed"] + reached
    plots = [error_plot(errors), calibration_plot(alarms), power_plot(seen, leaks[2:])]
    for plot in plots:
        ET.fromstring(plot)
        assert not re.search(r"#[0-9a-f]{6}", plot)
    assert all(("var(--refuted" in plot) == (worst > 0.05) for plot in plots[:2])


def test_foreign_text_stays_text() -> None:
    document = make(check("error", "<script>alert(1)</script>\x1b[2J", None, 0))
    assert "<script" not in to_html(document)
    assert "\x1b" not in to_html(document)
    assert "\x1b" not in printed(document)
