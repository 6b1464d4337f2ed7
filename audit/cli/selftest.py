"""`dpassay selftest`: check the harness itself on this machine."""

from __future__ import annotations

import argparse
import math
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpassay.cli.arguments.parser import Parser, add_option, add_output, codes, examples
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.progress import bars
from dpassay.cli.output.terminal import console
from dpassay.cli.shared import delivering
from dpassay.config.options import OPTIONS
from dpassay.record.files import dumps, writable, write_text
from dpassay.selftest.check import Check
from dpassay.selftest.golden import exact_check
from dpassay.selftest.run import DEEP, DEFAULT, selftest
from dpassay.targets.resolve import resolve

SCHEMA = "dpassay/selftest/1"
BY_HAND = {
    "soft-majority": ({"r": 2, "epsilon": 1.0}, math.log((1 + math.e) / 2)),
    "soft-majority-overview": ({"r": 2, "epsilon": 1.0}, math.log((1 + math.e**2) / 2)),
}
"""Catalogue entries whose worst loss over two records at one point is worked out by hand: two
teachers agree, or they do not."""


DESCRIPTION = """Check that the harness raises no false alarms and detects leaks: exact error \
probabilities of its tests, whole
audits of mechanisms with a known loss, golden numbers, replays. Takes about a minute."""
EXAMPLES = examples(
    ("dpassay selftest --out selftest", "then open selftest/selftest.html"),
    (
        "dpassay selftest --deep --seed 1",
        "more of everything, with other random numbers; about five minutes",
    ),
)
CODES = codes(
    (
        (Exit.NOTHING, "every check passed"),
        (Exit.FAILED, "a check failed: do not trust the harness on this machine"),
        (Exit.INTERRUPTED, "interrupted; nothing is written"),
    )
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, f"{EXAMPLES}\n{CODES}")
    command.add_argument(
        "--deep", action="store_true", help="more trials, audits and claims; about five minutes"
    )
    add_option(command, "seed")
    add_option(command, "out", text="write selftest.html and selftest.json there")
    add_output(command)


def action(arguments: argparse.Namespace) -> int:
    """Check the harness, print the table or the checks, write the page."""
    from dpassay.reports.selftest.pages import print_checks, to_html

    seed = OPTIONS["seed"].default if arguments.seed is None else arguments.seed
    directory = None if arguments.out is None else Path(arguments.out)
    if directory is not None:
        writable(directory)
    with bars(quiet=arguments.quiet) as progress:
        size = DEEP if arguments.deep else DEFAULT
        checks = list(selftest(size, seed=seed, progress=progress))
        for name, (given, known) in BY_HAND.items():
            checks.append(exact_check(resolve(name, given), known))
    document = _document(checks, deep=arguments.deep, seed=seed)
    if directory is not None:
        with delivering():
            write_text(directory / "selftest.json", dumps(document))
            write_text(directory / "selftest.html", to_html(document))
    if arguments.json:
        sys.stdout.write(dumps(document))
    else:
        print_checks(document, console())
    if directory is not None and not arguments.quiet:
        sys.stderr.write(f"report: {directory / 'selftest.html'}\n")
    return Exit.NOTHING if document["passed"] else Exit.FAILED


def _document(checks: list[Check], *, deep: bool, seed: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "passed": bool(checks) and all(check.passed for check in checks),
        "checks": [check.as_json() for check in checks],
        "facts": {
            "command": " ".join(
                ["dpassay selftest", *(["--deep"] if deep else []), f"--seed {seed}"]
            ),
            "python": platform.python_version(),
            **{name: version(name) for name in ("dpassay", "numpy", "scipy")},
            "machine": f"{platform.system()} {platform.machine()}",
        },
    }
