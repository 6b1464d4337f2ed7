"""What `dpassay selftest` does: run the checks, print the table, write the page, choose the exit code."""

from __future__ import annotations

import argparse
import math
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpassay.cli.run import FAILED, NOTHING
from dpassay.cli.shared import bars, console, readers_may_leave
from dpassay.errors import is_count, require
from dpassay.record.files import dumps, writable, write_text
from dpassay.selftest.check import Check
from dpassay.selftest.golden import exact_check
from dpassay.selftest.run import DEEP, DEFAULT, selftest
from dpassay.targets.groups import Progress
from dpassay.targets.resolve import resolve

SCHEMA = "dpassay/selftest/1"
BY_HAND = {
    "soft-majority": ({"r": 2, "epsilon": 1.0}, math.log((1 + math.e) / 2)),
    "soft-majority-overview": ({"r": 2, "epsilon": 1.0}, math.log((1 + math.e**2) / 2)),
}
"""Catalogue entries whose worst loss over two records at one point is worked out by hand: two teachers agree, or they do not."""


def selftest_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001  (every command has one signature)
    """Check the harness, print the table or the checks, write the page."""
    from dpassay.reports.selftest.pages import print_checks, to_html

    require(is_count(arguments.seed, 0), "--seed", arguments.seed, "an integer >= 0")
    directory = None if arguments.out is None else Path(arguments.out)
    if directory is not None:
        writable(directory)
    with bars(quiet=arguments.quiet) as progress:
        checks = list(_checks(deep=arguments.deep, seed=arguments.seed, progress=progress))
    document = _document(checks, deep=arguments.deep, seed=arguments.seed)
    if directory is not None:
        write_text(directory / "selftest.json", dumps(document))
        write_text(directory / "selftest.html", to_html(document))
    with readers_may_leave():
        if arguments.json:
            sys.stdout.write(dumps(document))
        else:
            print_checks(document, console())
        sys.stdout.flush()
    if directory is not None and not arguments.quiet:
        sys.stderr.write(f"report: {directory / 'selftest.html'}\n")
    return NOTHING if document["passed"] else FAILED


def _checks(*, deep: bool, seed: int, progress: Progress) -> Iterator[Check]:
    yield from selftest(DEEP if deep else DEFAULT, seed=seed, progress=progress)
    for name, (parameters, known) in BY_HAND.items():
        yield exact_check(resolve(name, parameters), known)


def _document(checks: list[Check], *, deep: bool, seed: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "passed": bool(checks) and all(check.passed for check in checks),
        "checks": [check.as_json() for check in checks],
        "facts": {
            "command": " ".join(["dpassay selftest", *(["--deep"] if deep else []), f"--seed {seed}"]),
            "python": platform.python_version(),
            **{name: version(name) for name in ("dpassay", "numpy", "scipy")},
            "machine": f"{platform.system()} {platform.machine()}",
        },
    }
