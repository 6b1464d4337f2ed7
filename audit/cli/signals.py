"""What `dpassay attack --signals` does: attack models by what they showed, without training any."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from dpassay.attacks.given.estimates import estimate, record_of
from dpassay.attacks.given.signal_files import read_signals
from dpassay.attacks.given.signals import given_of
from dpassay.cli.arguments.in_force import said_by_variables
from dpassay.cli.exit_codes import of_attack
from dpassay.cli.output.terminal import console
from dpassay.cli.shared import command_of, commit, deliver_attacks
from dpassay.config.load import Config
from dpassay.errors import InvalidInput
from dpassay.record.files import writable

GO_WITH = ("attacks", "models", "signal", "signals", "out", "confidence", "seed")
"""Options that say something of saved signals."""


def signals_action(arguments: argparse.Namespace, config: Config) -> int:
    """Attack, print the table or the record, write the page."""
    from dpassay.reports.attack.pages import print_attacks

    for option, said in (("TARGET", arguments.targets), ("-p", arguments.parameters)):
        if said:
            raise InvalidInput(
                f"{option} {said[0]}: has no effect with --signals, which trains no models"
            )
    alone = config.command_line
    signals, source = read_signals(
        alone["signals"], kind=alone["signal"] or "", targets=alone["models"]
    )
    given = given_of(signals, Path(alone["signals"]).name)
    attacked, facts = estimate(given, alone["attacks"])
    directory = None if config.out is None else Path(config.out)
    if directory is not None:
        writable(directory)
    run = {
        "command": command_of(arguments.words, said_by_variables(arguments, config)),
        "commit": commit(),
        "confidence": config.confidence,
        "data": source,
        "seed": config.seed,
        "signals": facts,
    }
    record = record_of(run, given, attacked)
    shown = partial(print_attacks, record, console())
    deliver_attacks(record, directory, shown, as_json=arguments.json, quiet=arguments.quiet)
    return of_attack(record, allow_inconclusive=arguments.allow_inconclusive)
