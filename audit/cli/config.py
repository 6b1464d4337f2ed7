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

from dpassay.cli.arguments.parser import Parser, add_data, add_output, add_sizes, in_force
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.terminal import console
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.options import OPTIONS
from dpassay.config.values import written
from dpassay.record.files import dumps

OPEN = {
    "executor": "as it needs",
    "detect": "1.5 times the claim",
    "output": "a few runs show it",
    "search_seconds": "no limit",
    "data": "breast-cancer",
    "label": "its own",
}
"""What it means that a key has no value, where it is not none."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    command.add_argument("--show", action="store_true", help="print it (the default)")
    add_output(command, quiet=False)
    add_sizes(command)
    add_data(command)


def action(arguments: argparse.Namespace) -> int:
    """Show what is in force and where it was said."""
    config = in_force(arguments)
    if arguments.json:
        sys.stdout.write(dumps(_as_json(config)))
    else:
        _print(config)
    return Exit.NOTHING


def _as_json(config: Config) -> dict[str, Any]:
    values = {key: {"value": getattr(config, key), "from": config.origin(key)} for key in OPTIONS}
    mechanisms = [each.as_json() for each in config.mechanisms]
    lists: dict[str, Any] = {
        "mechanisms": mechanisms,
        "suppressions": [str(each) for each in config.suppressions],
    }
    return values | {
        key: {"value": each, "from": config.origin(key)} for key, each in lists.items()
    }


def _print(config: Config) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("key", "value", "from"):
        table.add_column(column, overflow="fold")
    for key in OPTIONS:
        value = getattr(config, key)
        table.add_row(
            key, Text(OPEN.get(key, "none") if value is None else _shown(value)), config.origin(key)
        )
    if not config.mechanisms:
        table.add_row("mechanisms", "the catalogue", config.origin("mechanisms"))
    for k, mechanism in enumerate(config.mechanisms, 1):
        table.add_row(f"mechanism {k}", Text(_told(mechanism)), config.origin("mechanisms"))
    for each in config.suppressions:
        table.add_row("suppression", Text(str(each)), config.origin("suppressions"))
    console().print(table)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _told(mechanism: Configured) -> str:
    """Return one line per thing that was said of a mechanism."""
    lines = [mechanism.called] + ([mechanism.target] if mechanism.name else [])
    if mechanism.claim is not None:
        lines.append(
            "claim " + ", ".join(f"{name} = {value:g}" for name, value in mechanism.claim.items())
        )
    lines += [f"answers {mechanism.answers}"] if mechanism.answers else []
    lines += [f"search {mechanism.search}"] if mechanism.search else []
    lines += ["all answers of a run together"] if mechanism.together else []
    lines += [f"output {mechanism.output}"] if mechanism.output else []
    shown = {
        name: value if isinstance(value, str) else written(value)
        for name, value in mechanism.parameters.items()
    }
    return "\n".join([*lines, *(f"{name} = {value}" for name, value in shown.items())])
