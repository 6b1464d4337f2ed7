"""Attack models that are already trained, by the scores that they gave to records.

FILE has arrays scores and membership, a row for each model (.npz), or a line for
each model and record (.csv). The last models are attacked; none is trained.

  dpassay attack signals signals.npz --out attack
      attack a quarter of the models, with the others as reference models
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from dpassay.attacks.user_models.estimates import estimate, record_of
from dpassay.attacks.user_models.signals import given_of, read_signals
from dpassay.cli.exit_codes import EVERY, of_record
from dpassay.cli.parser import Parser, add, add_option, codes, in_force
from dpassay.cli.shared import command_of, deliver_attacks
from dpassay.cli.terminal import console
from dpassay.record.files import writable
from dpassay.targets.source import commit


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__, codes(EVERY))
    command.add_argument("signals", metavar="FILE", help="what models showed: .npz or .csv")
    add(command, "signal attacks")
    add_option(command, "models", "models that are attacked, the last ones", "a quarter")
    add(command, "seed confidence")
    add_option(command, "out", "write attack.json and its pages there")
    add(command, "--json --quiet --allow-inconclusive")


def action(arguments: argparse.Namespace) -> int:
    """Attack, print the table or the record, write the page."""
    from dpassay.reports.attack.pages import print_attacks

    config = in_force(arguments)
    path, kind = arguments.signals, config.signal or ""
    signals, source = read_signals(path, kind=kind, targets=config.models)
    given = given_of(signals, Path(path).name)
    attacked, facts = estimate(given, config.attacks)
    directory = config.folder
    if directory is not None:
        writable(directory)
    run = {
        "command": command_of(arguments, config),
        "commit": commit(),
        "confidence": config.confidence,
        "data": source,
        "seed": config.seed,
        "signals": facts,
    }
    record = record_of(run, given, attacked)
    shown = partial(print_attacks, record, console())
    deliver_attacks(record, directory, shown, arguments)
    return of_record(record, allow_inconclusive=arguments.allow_inconclusive)
