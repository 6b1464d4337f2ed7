"""Check that the harness raises no false alarms and detects leaks.

It computes exact error probabilities of the tests, audits mechanisms with a
known loss, and compares numbers that are known and replays. It takes about a
minute.

  dpassay selftest --out selftest
      then open selftest/selftest.html
  dpassay selftest --deep --seed 1
      more of everything, with other random numbers; about five minutes

exit codes:
  0    every check passed
  3    a check failed: do not trust the harness on this machine
  130  interrupted; nothing is written
"""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from pathlib import Path

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser, add, add_option, add_switch
from dpassay.cli.shared import deliver
from dpassay.cli.terminal import console
from dpassay.config.options import OPTIONS
from dpassay.progress import bars
from dpassay.record.files import dumps, writable, write_text
from dpassay.selftest.run import DEEP, DEFAULT, selftest

SCHEMA = "dpassay/selftest/1"


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    add_switch(command, "--deep", "more trials, audits and claims; about five minutes")
    add(command, "seed")
    add_option(command, "out", "write selftest.html and selftest.json there")
    add(command, "--json --quiet")


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
    deep = " --deep" if arguments.deep else ""
    document = {
        "schema": SCHEMA,
        "passed": bool(checks) and all(check.passed for check in checks),
        "checks": [check.as_json() for check in checks],
        "facts": {
            "command": f"dpassay selftest{deep} --seed {seed}",
            "python": platform.python_version(),
            **{name: version(name) for name in ("dpassay", "numpy", "scipy")},
            "machine": f"{platform.system()} {platform.machine()}",
        },
    }

    def write(folder: Path) -> None:
        write_text(folder / "selftest.json", dumps(document))
        write_text(folder / "selftest.html", to_html(document))

    page = None if directory is None else directory / "selftest.html"
    deliver(document, page, write, lambda: print_checks(document, console()), arguments)
    return Exit.NOTHING if document["passed"] else Exit.FAILED
