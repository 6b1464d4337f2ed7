"""List the mechanisms of the catalogue by their source.

With NAME: what this mechanism claims, where the claim is published, its
parameters, and how it can be audited.

  dpassay list
      all names; audit one with `dpassay run NAME`
  dpassay list soft-majority
      claims, sources and parameters of one mechanism
  dpassay list --json
      everything about all of them, for programs
"""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, Any

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser, add, add_mechanism
from dpassay.cli.terminal import console, print_json
from dpassay.promise import SINGLE
from dpassay.targets.catalogue import ENTRIES

if TYPE_CHECKING:
    from rich.console import Console

    from dpassay.targets.guard import AuditTarget

WRONG = "△"
"""Marks a mechanism with a claim that is known to be wrong; as in the reports."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    add_mechanism(command, "name", metavar="NAME", nargs="?", help="one mechanism")
    add(command, "--json")


def action(arguments: argparse.Namespace) -> int:
    """Print the catalogue, or one mechanism of it."""
    if arguments.json or arguments.name is not None:
        from dpassay.targets.resolve import resolve

        names = list(ENTRIES) if arguments.name is None else [arguments.name]
        entries = [_entry(resolve(name)) for name in names]
        if arguments.json:
            print_json(entries)
        else:
            _print_one(entries[0])
        return Exit.NOTHING
    # what the catalogue's table says: no mechanism is imported for it
    out = console()
    sources: dict[str, list[str]] = {}
    for name, entry in ENTRIES.items():
        sources.setdefault(entry.cited, []).append(f"{name}{WRONG if entry.expected else ''}")
    lines: list[str] = []
    for source, listed in sources.items():
        text = f"{source}: {', '.join(listed)}"
        if lines and len(f"{lines[-1]}; {text}") <= out.width:
            lines[-1] += f"; {text}"
        else:
            lines.append(text)
    for line in lines:
        _wrapped(out, line)
    more = f"More: dpassay list {next(iter(ENTRIES))}"
    told = f"{len(ENTRIES)} mechanisms; {WRONG} a claim is known to be wrong. {more}"
    _wrapped(out, told, indent=0)
    return Exit.NOTHING


def _print_one(entry: dict[str, Any]) -> None:
    out = console()
    _wrapped(out, f"{entry['name']}: {entry['about']} {entry['source']}.", indent=0)
    for claim in entry["claims"]:
        mark, wrong = (WRONG, ", known to be wrong") if claim["expected"] else ("●", "")
        told = f"{mark} {claim['text']}, {claim['status']}{wrong}: {claim['source']}"
        _wrapped(out, told if claim["unit"] == SINGLE else f"{told}; {claim['unit']}")
    given = ", ".join(f"{name}={value}" for name, value in entry["parameters"].items())
    _wrapped(out, f"parameters: {given or 'none'}")
    _wrapped(out, f"audited by: {', '.join(entry['modes'])}")
    _wrapped(out, f"audit it:   dpassay run {entry['name']}")


def _wrapped(out: Console, text: str, indent: int = 4) -> None:
    """Print a text in lines that break between words only."""
    lines = textwrap.wrap(
        text,
        out.width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    out.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _entry(target: AuditTarget) -> dict[str, Any]:
    modes = ["exact", "exhaustive"] if target.has_law else []
    modes += ["monte-carlo"] + (["any size"] if target.has_reachable else [])
    claims = [
        claim.as_json() | {"text": str(claim), "expected": claim.expected}
        for claim in target.claims
    ]
    return {
        "name": target.name,
        "source": ENTRIES[target.name].cited if target.name in ENTRIES else "",
        "about": (type(target.given).__doc__ or "").strip().partition("\n")[0],
        "parameters": target.parameters,
        "claims": claims,
        "modes": modes,
    }
