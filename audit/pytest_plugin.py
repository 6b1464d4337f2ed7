"""The pytest plugin: the fixture `assay`, a section in the summary, properties in the JUnit file.

It imports nothing of dpassay but the table of options until a test uses it, and can be switched off
with `-p no:dpassay`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dpassay.config.options import OPTIONS

if TYPE_CHECKING:
    from dpassay.testing import Assayed

PROPERTY = "dpassay"
"""Name of the property that a report carries from the test, also from another process, to the
summary."""
ONE_OF, BEGAN = "one of the pairs looked at", "one of the pairs that the search began with"
KEYS = ("seed", "confidence", "budget", "stop_early", "jobs")
"""Options of `dpassay.config.options` that a test, or the command line of pytest, may set."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    group = parser.getgroup("dpassay", "privacy audits")
    for key in KEYS:
        option = OPTIONS[key]
        default = "one per commit" if key == "seed" else option.default_words
        text = f"{option.help} (default: {default})"
        if option.switch:
            group.addoption(_flag(key), action="store_true", default=None, help=text)
        else:
            name = key.upper()
            group.addoption(_flag(key), type=option.kind, default=None, metavar=name, help=text)
    group.addoption(
        "--dpassay-out",
        default=".dpassay",
        metavar="DIR",
        help="where witnesses of refuted claims are written (default: %(default)s)",
    )


def _flag(key: str) -> str:
    return OPTIONS[key].flag.replace("--", "--dpassay-", 1)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    how = "how the fixture `assay` finds out in this test, unless it is told otherwise"
    config.addinivalue_line("markers", f"dpassay({', '.join(KEYS)}, detect): {how}")


@pytest.fixture
def assay(request: pytest.FixtureRequest) -> Iterator[Callable[..., Assayed]]:
    """Audit a mechanism or function.

    `assay(my_predict, claim=DP(epsilon=1.0), pairs=..., queries=...)`.

    Takes what `dpassay.audit` takes; seed, confidence, budget, stop_early and jobs come from the
    call, else from the test's marker, else from the command line. Returns the result, with
    `assert_not_refuted(detectable=...)`. A claim that is refuted, or could not be audited, fails
    the test at its end if neither that was called nor the result's `verdict` read.
    """
    from dpassay.errors import require
    from dpassay.testing import assayed, commit_seed

    config = request.config
    given = {name: config.getoption(_flag(name)) for name in KEYS}
    settings = {name: value for name, value in given.items() if value is not None}
    for marker in reversed(list(request.node.iter_markers("dpassay"))):
        allowed = f"given by name: {', '.join((*KEYS, 'detect'))}"
        require(not marker.args, "@pytest.mark.dpassay", marker.args, allowed)
        settings |= marker.kwargs
    settings.setdefault("seed", commit_seed(config.rootpath))
    folder = config.rootpath / str(config.getoption("--dpassay-out"))
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.nodeid).strip("-")
    rerun = f"python -m pytest {shlex.quote(request.node.nodeid)}"
    calls: list[Assayed] = []

    def run(mechanism: Any, **arguments: Any) -> Assayed:
        path = folder / f"{name}{f'-{len(calls) + 1}' if calls else ''}.json"
        done = assayed(mechanism, path=Path(path), rerun=rerun, **(settings | arguments))
        calls.append(done)
        # not by the fixture `record_property`: it warns of every JUnit file of the default family
        request.node.user_properties.append((PROPERTY, json.dumps(done.facts(), sort_keys=True)))
        return done

    yield run
    unasked = [text for done in calls if (text := done.unasked())]
    if unasked:
        pytest.fail("\n".join(unasked), pytrace=False)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say of every assay what it found and what it could have seen."""
    lines = [
        (report.nodeid, facts)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == PROPERTY and (facts := _facts(value))
    ]
    if not lines:
        return
    from dpassay.numerics import DOWN, UP, written

    terminalreporter.section("dpassay")
    for nodeid, facts in sorted(lines, key=lambda line: (line[0], line[1]["mechanism"])):
        terminalreporter.write_line(f"{facts['verdict']}: {nodeid}")
        known = f"    {facts['claim']}, at least {written(float(facts['lower']), way=DOWN)}"
        if facts["verdict"] == "error":
            terminalreporter.write_line(f"{known}, {facts['reason']}, seed {facts['seed']}")
            continue
        seen = f"detectable {written(float(facts['detectable']), way=UP)}"
        terminalreporter.write_line(f"{known}, {seen}, seed {facts['seed']}")
        if facts["through"]:
            pair = BEGAN if facts.get("searched") else ONE_OF
            terminalreporter.write_line(f"    detectable at {pair}, {facts['through']}")
    terminalreporter.write_line("Not refuted does not mean private.")


def _facts(value: object) -> dict[str, Any]:
    """Read a property that we wrote; one of the user's that is called like ours gives nothing."""
    try:
        facts = json.loads(str(value))
    except ValueError:
        return {}
    wanted = {"verdict", "mechanism", "claim", "lower", "detectable", "through", "reason", "seed"}
    return facts if isinstance(facts, dict) and wanted <= set(facts) else {}
