"""What `dpassay plan --attack` does: how many target models it takes to see a leak against a claim."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

from dpassay.attacks.experiment.reach import of_guesses, targets_to_break, targets_to_see
from dpassay.attacks.experiment.run import Design, shares
from dpassay.attacks.scores.registry import ATTACKS
from dpassay.cli.attack import LOSSES, PROTECTED, numbers
from dpassay.cli.options import configure
from dpassay.cli.shared import console
from dpassay.errors import InvalidInput

VIEWS = 3
"""Of a mechanism, unless budgets are said otherwise: one label, eight labels, labels of copies."""
LADDER = (0.5, 1.0, 2.5, 5.0)
"""Leaks above the claim, in nats, that are planned for where none is asked for."""


def plan_command(arguments: argparse.Namespace, words: list[str]) -> int:
    """Say what it takes to see a leak, by an audit or by guesses at membership."""
    if not arguments.attack:
        from dpassay.cli.run import plan_command as of_audit

        if arguments.epsilon is not None:
            raise InvalidInput("--epsilon: goes with --attack; of an audit say --claim")
        if len(arguments.targets) != 1:
            raise InvalidInput(f"TARGET = '{' '.join(arguments.targets)}': must be one mechanism")
        return of_audit(arguments, words)
    configure(arguments)
    epsilons = numbers(arguments.epsilon or LOSSES, "--epsilon", float)
    names = dict.fromkeys(arguments.targets or PROTECTED)
    alpha = share_of(len(names) * len(epsilons), 1 - arguments.confidence)
    rows = [row for epsilon in epsilons for row in _rows(epsilon, arguments.detect, alpha)]
    if arguments.json:
        sys.stdout.write(json.dumps(rows, indent=2, sort_keys=True) + "\n")
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("claim", "to see a leak of", "--models", "cap then"):
        table.add_column(column, justify="right")
    for row in rows:
        leak = "all there is" if row["detect"] is None else f"{row['detect']:g}"
        table.add_row(f"{row['claim']:g}", leak, f"{row['models']:,}", f"{row['cap']:.3f}")
    out = console()
    out.print(
        f"Guesses at membership, mechanisms: {len(names)}, losses: {len(epsilons)}, and the learner, {VIEWS} "
        f"views of each, confidence {arguments.confidence:g} for all together: {alpha:.2g} for each bound. A leak is seen with "
        "probability 0.9, if the record is among those chosen and guesses show all of it; 'all there is': every guess is right."
    )
    out.print(table)
    return 0


def share_of(claims: int, alpha: float) -> float:
    """Return the error probability of each bound of a single record in `dpassay attack`.

    Parameters
    ----------
    claims : int
        Mechanisms times losses; each is attacked by guesses and by repeated queries, and the learner by guesses.
    alpha : float
        Of all together.
    """
    single, _ = shares(alpha / (2 * claims + 1), VIEWS, len(ATTACKS), 0)
    return single / Design().certified


def _rows(epsilon: float, detect: float | None, alpha: float) -> list[dict[str, Any]]:
    """A total leak, then the leaks that were asked for or those of the ladder."""
    leaks = [epsilon + each for each in LADDER] if detect is None else [detect]
    needed: list[tuple[float | None, int]] = [(None, targets_to_break(epsilon, alpha=alpha))]
    needed += [(leak, targets_to_see(leak, epsilon, alpha=alpha)) for leak in leaks]
    found = []
    for leak, models in needed:
        if models == 0:
            raise InvalidInput(f"--epsilon = {epsilon:g}: takes more than 10 million models")
        reach = of_guesses(models, claimed=epsilon, delta=0.0, alpha=alpha)
        least = reach.detectable if reach.detectable < math.inf else None
        found.append({"claim": epsilon, "detect": leak, "models": models, "cap": reach.cap, "detectable": least, "alpha": alpha})
    return found
