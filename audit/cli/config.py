"""Show the configuration that `dpassay run` would use here.

It also shows where each value comes from. The command line overrides environment
variables (DPASSAY_SEED and so on), these override dpassay.toml or [tool.dpassay]
in pyproject.toml, and these override the profile.

  dpassay config --show
      what is in force in this folder
  DPASSAY_SEED=3 dpassay config --show --profile deep
      what would be in force with another seed and profile
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import DATA, SIZES, Parser, add, add_switch, in_force
from dpassay.cli.terminal import console
from dpassay.config.mechanisms import Configured
from dpassay.config.options import OPTIONS
from dpassay.config.values import written
from dpassay.record.files import dumps

OPEN = {
    "executor": "as it needs",
    "detect": "1.5 times the claim",
    "stop_early": "own code, searches",
    "output": "a few runs show it",
    "search_seconds": "no limit",
    "data": "breast-cancer",
    "label": "its own",
}
"""What it means that a key has no value, where it is not none."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    add_switch(command, "--show", "print it (the default)")
    add(command, f"--json {SIZES}")
    add(command, DATA, "data")


def action(arguments: argparse.Namespace) -> int:
    """Show what is in force and where it was said."""
    config = in_force(arguments)
    if arguments.json:
        whole: dict[str, Any] = config.some(*OPTIONS) | {
            "mechanisms": [each.as_json() for each in config.mechanisms],
            "suppressions": [str(each) for each in config.suppressions],
        }
        told = {key: {"value": value, "from": config.origin(key)} for key, value in whole.items()}
        sys.stdout.write(dumps(told))
        return Exit.NOTHING
    from rich.table import Table
    from rich.text import Text

    rows = [
        (key, OPEN.get(key, "none") if value is None else _shown(value), key)
        for key, value in config.some(*OPTIONS).items()
    ]
    mechanisms = [_told(each) for each in config.mechanisms]
    rows += [(f"mechanism {k}", told, "mechanisms") for k, told in enumerate(mechanisms, 1)]
    rows += [] if mechanisms else [("mechanisms", "the catalogue", "mechanisms")]
    rows += [("suppression", str(each), "suppressions") for each in config.suppressions]
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("key", "value", "from"):
        table.add_column(column, overflow="fold")
    for name, value, key in rows:
        table.add_row(name, Text(value), config.origin(key))
    console().print(table)
    return Exit.NOTHING


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _told(mechanism: Configured) -> str:
    """Return one line per thing that was said of a mechanism."""
    claim = (mechanism.claim or {}).items()
    words = ", ".join(f"{name} = {value:g}" for name, value in claim)
    lines: tuple[Any, ...] = (
        mechanism.called,
        mechanism.name and mechanism.target,
        words and f"claim {words}",
        mechanism.answers and f"answers {mechanism.answers}",
        mechanism.search and f"search {mechanism.search}",
        mechanism.together and "all answers of a run together",
        mechanism.output and f"output {mechanism.output}",
        *(
            f"{name} = {value if isinstance(value, str) else written(value)}"
            for name, value in mechanism.parameters.items()
        ),
    )
    return "\n".join(filter(None, lines))
