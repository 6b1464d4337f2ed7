"""What `dpassay config` and `dpassay init` do: show what is in force, write a configuration to begin with."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dpassay.cli.options import configure
from dpassay.cli.run import NOTHING
from dpassay.cli.shared import console, readers_may_leave
from dpassay.config.load import FILE, PROJECT, Config, read_file
from dpassay.config.mechanisms import Configured
from dpassay.config.options import OPTIONS
from dpassay.config.template import CONFIG_TEXT, EXAMPLE_TEXT
from dpassay.errors import InvalidInput
from dpassay.record.files import dumps

EXAMPLE = "dpassay_example.py"
OPEN = {"detect": "1.5 times the claim", "out": "nowhere", "data": "breast-cancer", "label": "its own"}
"""What it means that a key has no value."""


def config_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001  (every command has one signature)
    """Show what is in force and where it was said."""
    config = configure(arguments)
    for key, checked in OPTIONS.items():
        if config.origin(key) == "command line":
            checked.value(getattr(config, key), f"--{key}")
    with readers_may_leave():
        if arguments.json:
            values = {key: {"value": getattr(config, key), "from": config.origin(key)} for key in OPTIONS}
            mechanisms = [each.as_json() for each in config.mechanisms]
            passed = [str(each) for each in config.suppressions]
            lists = {"mechanisms": mechanisms, "suppressions": passed}
            sys.stdout.write(dumps(values | {k: {"value": each, "from": config.origin(k)} for k, each in lists.items()}))
        else:
            _print(config)
        sys.stdout.flush()
    return NOTHING


def init_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Write a configuration that runs, and the example that it audits; nothing is overwritten."""
    for name in (FILE, EXAMPLE):
        if Path(name).exists() or Path(name).is_symlink():
            raise InvalidInput(f"{name}: is there already, it is not overwritten; move it away first")
    if read_file(Path.cwd()) is not None:
        raise InvalidInput(f"{PROJECT}: holds [tool.dpassay] already; a {FILE} beside it would be a second configuration")
    written: list[Path] = []
    for name, text in ((EXAMPLE, EXAMPLE_TEXT), (FILE, CONFIG_TEXT)):
        try:
            with Path(name).open("x", encoding="utf-8", newline="\n") as file:
                written.append(Path(name))
                file.write(text)
        except OSError as error:
            for path in written:
                path.unlink(missing_ok=True)
            raise InvalidInput(f"{name}: cannot be written ({error.strerror})") from None
    sys.stdout.write(f"{FILE}: what is audited and how\n{EXAMPLE}: an example, for your own function\nnext: dpassay run\n")
    return NOTHING


def _print(config: Config) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("key", "value", "from"):
        table.add_column(column, overflow="fold")
    for key in OPTIONS:
        value = getattr(config, key)
        table.add_row(key, Text(OPEN[key] if value is None else _shown(value)), config.origin(key))
    if not config.mechanisms:
        table.add_row("mechanisms", "the catalogue", config.origin("mechanisms"))
    for k, mechanism in enumerate(config.mechanisms, 1):
        table.add_row(f"mechanism {k}", Text(_told(mechanism)), config.origin("mechanisms"))
    for each in config.suppressions:
        table.add_row("suppression", Text(str(each)), config.origin("suppressions"))
    out.print(table)


def _shown(value: Any) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _told(mechanism: Configured) -> str:
    """Return one line per thing that was said of a mechanism."""
    lines = [mechanism.called] + ([mechanism.target] if mechanism.name else [])
    if mechanism.claim is not None:
        lines.append("claim " + ", ".join(f"{name} = {value:g}" for name, value in mechanism.claim.items()))
    lines += [f"answers {mechanism.answers}"] if mechanism.answers else []
    lines += [f"{name} = {value}" for name, value in mechanism.parameters.items()]
    return "\n".join(lines)
