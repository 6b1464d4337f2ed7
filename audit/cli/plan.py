r"""Show how many trials a sampled audit needs to detect a leak above the claim.

It also shows about how long they take. With --attack: how many models `dpassay
attack` must attack.

  dpassay plan soft-majority -p epsilon=0.5
      for leaks of 5 to 100 % above the claim
  dpassay plan my_module:my_predict --claim epsilon=1 --detect 1.1 \
      --data people.csv --label income
      for one leak, in your own function on your own data
  dpassay plan --attack soft-majority --epsilon 1 --detect 2
      how many models `dpassay attack` must attack to detect a leak of 2
      against a claim of 1
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import Any

from dpassay.claims import DP, spelled
from dpassay.cli.arguments.mechanisms import opened, wanted_of
from dpassay.cli.arguments.options import data_of, settings_of
from dpassay.cli.arguments.parser import (
    Parser,
    add_data,
    add_option,
    add_output,
    add_sizes,
    add_subject,
    add_targets,
    in_force,
)
from dpassay.cli.arguments.subject import claim_numbers
from dpassay.cli.costs import cost_json, costs_of
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.terminal import console, plain_table, print_json
from dpassay.config.load import Config
from dpassay.engine.preflight import check
from dpassay.errors import InvalidInput
from dpassay.record.attack_record import renyi_name

LADDER = (0.5, 1.0, 2.5, 5.0)
"""Leaks above the claim that attacks are planned for where none is asked for."""
EPSILON = "ε"
"""The loss that is claimed unless RDP or zCDP is; see `renyi_name`."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    add_targets(command)
    command.add_argument(
        "--attack", action="store_true", help="plan `dpassay attack`: how many --models it needs"
    )
    add_option(command, "epsilon", text="with --attack: the claims")
    add_option(command, "detect", shown="5 to 100 % above the claim")
    add_option(command, "stop_early")
    add_output(command, quiet=False)
    add_subject(command)
    add_sizes(command)
    add_data(command)


def action(arguments: argparse.Namespace) -> int:
    """Say what it takes to see a leak, by an audit or by guesses at membership."""
    config = in_force(arguments)
    if arguments.attack:
        return _plan_attack(arguments, config)
    if config.said("epsilon"):
        raise InvalidInput("--epsilon: requires --attack; for an audit use --claim")
    if len(arguments.targets) != 1:
        said = f" = '{' '.join(arguments.targets)}'" if arguments.targets else " is missing"
        raise InvalidInput(f"TARGET{said}: must be exactly one mechanism")
    sampled = replace(config, values={**config.values, "mode": "monte-carlo"})
    settings = settings_of(sampled)
    wanted = wanted_of(arguments, config, mode=settings.mode)
    if not wanted.of_pairs:
        raise InvalidInput(
            "--search: what a search can see is not known before it has run; for its "
            "cost use dpassay run --search ... --dry-run"
        )
    data = data_of(config)
    with opened(wanted, len(data.pairs.base), settings.limits) as (target,):
        check([target], data, settings)
        costs = costs_of(target, data, settings)
    if arguments.json:
        print_json([cost_json(each) | {"detect": leak} for leak, each in costs])
        return Exit.NOTHING
    claim, (_, first) = target.claims[0], costs[0]
    table = plain_table(
        f"to see a {claim.quantity} of", "--budget", "trials in all", "about, on one core"
    )
    for leak, each in costs:
        table.add_row(f"{leak:g}", f"{each.draws:,}", f"{each.trials:,}", f"{each.seconds:,.0f} s")
    out = console()
    out.print(
        f"{target.name}, {claim}: {first.certified} certified cells, confidence "
        f"{settings.confidence}. With these budgets a leak is detected with probability 0.9, "
        "screening included."
    )
    out.print(table)
    if (rarest := first.sight.frequency) is not None:
        out.print(
            f"This holds for a {claim.quantity} at one of the {first.pairs:,} pairs, through an "
            f"answer of probability {rarest:g} or more; a rarer answer takes more trials."
        )
    return Exit.NOTHING


def _plan_attack(arguments: argparse.Namespace, config: Config) -> int:
    """Say how many target models it takes to see a leak by guesses at membership."""
    from dpassay.attacks.experiment.mechanisms import PROTECTED
    from dpassay.attacks.experiment.planning import VIEWS, at_the_claim, share_of
    from dpassay.attacks.experiment.power import renyi_claim
    from dpassay.attacks.repeated.run import bounds_of

    names, claims = dict.fromkeys(arguments.targets or PROTECTED), _claims(arguments, config)
    all_claims, alone = len(names) * len(claims), 1 - config.confidence
    alpha = share_of(all_claims, alone)
    rows = [
        row | {"at_the_claim": kept}
        for claim in claims
        for kept in [
            at_the_claim(
                claim.epsilon,
                all_claims,
                alone,
                bounds_of(claim.epsilon) if claim.epsilon > 0 else 1,
                delta=claim.delta,
                promised=renyi_claim(claim, 1),
            )
        ]
        for row in _rows(claim, config.detect, alpha)
    ]
    if arguments.json:
        print_json(rows)
        return Exit.NOTHING
    table = plain_table("claim", "to see a leak of", "--models", "cap then")
    for row in rows:
        leak = "all there is" if row["detect"] is None else f"{row['detect']:g}"
        table.add_row(_short(row), leak, f"{row['models']:,}", f"{row['cap']:.3f}")
    out = console()
    out.print(
        f"Guesses at membership; mechanisms: {len(names)}, losses: {len(claims)}, and the "
        f"learner, with {VIEWS} views of each. Confidence {config.confidence:g} for all together, "
        f"so alpha is {alpha:.2g} for each bound. A leak is detected with probability 0.9 if the "
        "record is one of those chosen and the guesses reveal the whole leak. 'all there is': "
        "every guess is right."
    )
    out.print(table)
    out.print(
        "To certify 85 % of a claim that is just kept (median; randomised response): guesses at a "
        "single record, guesses of one run about all the answers, --transcripts of one answer, "
        "guesses at a record for the Rényi loss (of order 2, if ε is claimed). '-': no number up "
        "to ten million, or not planned for such a claim. A guess at a record takes a target "
        "model; without --models, fresh answers take the place of those that are lacking, up to "
        "100,000 about each of the records chosen."
    )
    needed = plain_table("claim", "one record", "one run", "--transcripts", "Rényi loss")
    for name, each in {_short(row): row["at_the_claim"] for row in rows}.items():
        needed.add_row(name, *(f"{n:,}" if n else "-" for n in each.values()))
    out.print(needed)
    return Exit.NOTHING


def _claims(arguments: argparse.Namespace, config: Config) -> list[DP]:
    """Return what attacks are planned against."""
    if arguments.claim is None:
        return [DP(epsilon=epsilon) for epsilon in config.epsilon]
    if config.said("epsilon"):
        raise InvalidInput("--epsilon: cannot be combined with --claim")
    numbers = claim_numbers(arguments.claim)
    claim = spelled(numbers, "--claim", labels=True)
    if not isinstance(claim, DP) or not (claim.epsilon > 0 or claim.curve is not None):
        raise InvalidInput(
            f"--claim = '{arguments.claim}': with --attack it must be 'epsilon=E', "
            "'epsilon=E,delta=D', 'rho=R' or 'alpha=A,epsilon=E', with a loss > 0"
        )
    return [claim]


def _short(row: dict[str, Any]) -> str:
    named = "" if row["loss"] == EPSILON else f"{row['loss']} = "
    return f"{named}{row['claim']:g}" + (f", δ = {row['delta']:g}" if row["delta"] else "")


def _rows(claim: DP, detect: float | None, alpha: float) -> list[dict[str, Any]]:
    """A total leak, then the leaks that were asked for or those of the ladder."""
    from dpassay.attacks.experiment.power import GuessClaim, guesses_to_see, reach, renyi_claim

    promised = renyi_claim(claim, 1)
    held = promised or GuessClaim(allowed=claim.epsilon, delta=claim.delta)
    loss = EPSILON if promised is None else renyi_name({"order": promised.order})
    claimed, delta = held.allowed, claim.delta if promised is None else 0.0
    found = []
    for leak in (None, *([claimed + each for each in LADDER] if detect is None else [detect])):
        models = guesses_to_see(held, leak, alpha=alpha)
        if models == 0:
            option = "--claim" if delta or promised is not None else "--epsilon"
            raise InvalidInput(f"{option} = {claimed:g}: needs more than 10 million models")
        shown = reach(held, models, alpha=alpha)
        found.append(
            {
                "loss": loss,
                "claim": claimed,
                "delta": delta,
                "detect": leak,
                "models": models,
                "cap": shown.cap,
                "detectable": shown.detectable if shown.detectable < math.inf else None,
                "alpha": alpha,
            }
        )
    return found
