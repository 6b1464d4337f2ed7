"""`dpassay list`: the catalogue."""

from __future__ import annotations

import argparse
from typing import Any

from dpassay.claims import SINGLE
from dpassay.cli.costs import plain_table, print_json
from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser, add_output, examples
from dpassay.cli.shared import console
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve

DESCRIPTION = (
    "List the mechanisms of the catalogue: what each claims, where the claim is published, and "
    "how it can be audited."
)
EXAMPLES = examples(
    ("dpassay list", "the table; audit one entry with `dpassay run NAME`"),
    ("dpassay list --json", "the same for programs, with all parameters"),
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, EXAMPLES)
    add_output(command, quiet=False)


def action(arguments: argparse.Namespace) -> int:
    """Print the catalogue."""
    entries = [_entry(resolve(name)) | {"source": entry.cited} for name, entry in ENTRIES.items()]
    if arguments.json:
        print_json(entries)
        return Exit.NOTHING
    out = console()
    for entry in entries:
        out.print(
            f"{entry['name']}  [dim]({', '.join(entry['modes'])})[/]",
            highlight=False,
            soft_wrap=False,
        )
        table = plain_table("", "", justify="left")
        table.show_header = False
        for claim in entry["claims"]:
            table.add_row("  " + claim["text"], _about(claim))
        out.print(table)
    out.print(
        f"{len(entries)} mechanisms. Audit one: dpassay run {entries[0]['name']} -p epsilon=0.5",
        highlight=False,
    )
    return Exit.NOTHING


def _about(claim: dict[str, Any]) -> str:
    """Say where a claim comes from, and what is known about it."""
    wrong = ", known to be wrong" if claim["expected"] else ""
    unit = "" if claim["unit"] == SINGLE else f"; {claim['unit']}"
    return f"{claim['status']}{wrong}: {claim['source']}{unit}"


def _entry(target: AuditTarget) -> dict[str, Any]:
    modes = ["exact", "exhaustive"] if target.has_law else []
    modes += ["monte-carlo"] + (["any size"] if target.has_reachable else [])
    claims = [
        claim.as_json() | {"text": str(claim), "expected": claim.expected}
        for claim in target.claims
    ]
    return {"name": target.name, "parameters": target.parameters, "claims": claims, "modes": modes}
