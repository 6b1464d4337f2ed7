r"""Probe a prediction service of your own for defects.

Repeated queries are compared with its claim, if it has one. SERVICE is
module:factory or an address like http://host:port; factory(data, seed, user)
opens a session whose ask(x) returns a label, or raises when the query budget is
spent. See docs/services.md.

  dpassay attack service my_module:factory --data people.csv --label income \
      --epsilon 0.5
      open sessions on your own data, and hold them against a claim of 0.5
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from typing import Any

from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.repeated.run import Repeated, failed
from dpassay.attacks.repeated.transcript_tests import TranscriptTest
from dpassay.attacks.services.collusion import attack_service
from dpassay.attacks.services.defects import Probe, ProbeCost, probe
from dpassay.attacks.services.hosted import service_of
from dpassay.claims import DP
from dpassay.cli.exit_codes import EVERY, of_record
from dpassay.cli.parser import Parser, add, add_option, codes, in_force
from dpassay.cli.sealed import sealed
from dpassay.cli.settings import limits_of, read_table
from dpassay.cli.shared import command_of, deliver_attacks
from dpassay.config.load import Config
from dpassay.errors import InvalidInput, TargetError, printable, require
from dpassay.progress import bars
from dpassay.record.attack_record import HELD, UNEXAMINED, UNLOOKED, UNSEEN
from dpassay.seeds import stream
from dpassay.targets.source import commit
from dpassay.trials.isolation.limits import protections

TRANSCRIPTS = 1000
"""Sessions a side, unless something else is said."""
SMALLER = "fewer with --transcripts or --records"
"""What makes it shorter."""
KINDS = ("openings", "queries")
LEGEND = """\
  cap: the most that could have been certified; detectable: the smallest leak that would have been \
certified above
  the claim with probability 0.9, if answers show all of it; advantage: an estimate"""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__, codes(EVERY))
    command.add_argument("service", metavar="SERVICE", help="module:factory, or http://host:port")
    add_option(command, "epsilon", "the claimed loss of an answer, one number", "none")
    add_option(command, "transcripts", shown=str(TRANSCRIPTS))
    add_option(command, "records", "records that are asked about")
    add(command, "data label seed confidence shard_timeout memory")
    add_option(command, "out", "write attack.json and its pages there")
    add(command, "--json --quiet --allow-inconclusive")


def action(arguments: argparse.Namespace) -> int:
    """Probe, attack, print what was found, write the record and the pages.

    The code is 1 where a claim is broken or a defect was found, 4 where the claim could not
    have been seen to be broken, its coins could not be looked at, or the control failed, 0
    otherwise.
    """
    config = in_force(arguments)
    claim = None
    if config.said("epsilon"):
        losses = config.epsilon
        shown = ",".join(f"{loss:g}" for loss in losses)
        require(len(losses) == 1, "--epsilon", shown, "one number, the claimed loss of an answer")
        claim = DP(epsilon=losses[0], source="--epsilon")
    elif config.said("transcripts"):
        raise InvalidInput("--transcripts: requires --epsilon, the claim to compare them with")
    with sealed(config, arguments.words) as changed:
        return _attack(arguments, config, claim, changed)


def _attack(
    arguments: argparse.Namespace,
    config: Config,
    claim: DP | None,
    changed: Callable[[], dict[str, Any]],
) -> int:
    transcripts = TRANSCRIPTS if config.transcripts is None else config.transcripts
    table, seed = read_table(config), config.seed
    order = stream(seed, "service", table.source["sha256"]).permutation(len(table.data))
    data = table.data.take(order[: config.records])
    code = commit()  # before there is any that could change what is called
    tested: tuple[Repeated, ...] = ()
    lost: list[dict[str, Any]] = []
    with (
        closing(service_of(arguments.service, seed=seed, limits=limits_of(config))) as service,
        bars(quiet=arguments.quiet, smaller=SMALLER) as progress,
        redirect_stdout(sys.stderr),
    ):
        announce = (lambda _: None) if arguments.quiet else announced
        told_of: dict[str, Any] = {"claim": claim, "seed": seed, "progress": progress}
        seen = probe(service, data, announce=announce, **told_of)
        if claim is not None and transcripts and not service.says("live"):
            try:
                tested = attack_service(
                    service,
                    data,
                    claim,
                    transcripts=transcripts,
                    room=seen.room,
                    shared=service.shares_seed,
                    alpha=1 - config.confidence,
                    seed=seed,
                    progress=progress,
                )
            except TargetError as error:  # what the probe has seen stands in the record
                lost = [failed(arguments.service, claim, str(error))]
                sys.stderr.write(f"dpassay: error: {error}\n")
    facts: dict[str, Any] = {
        "command": command_of(arguments, config),
        "commit": code,
        "complete": True,
        "confidence": config.confidence,
        "data": table.source,
        "records": len(data),
        "seed": seed,
        "service": arguments.service,
        "probe": seen.facts,
        **changed(),
    }
    record = make_attack_record(
        facts, data, (), lost + [each.as_json() for each in tested], seen.as_json()
    )

    def show() -> None:
        sys.stdout.write(printable(told(arguments.service, seen, tested), line=False))

    deliver_attacks(record, config.folder, show, arguments, held=protections())
    return of_record(record, allow_inconclusive=arguments.allow_inconclusive)


def announced(plan: tuple[ProbeCost, ...]) -> None:
    """Write down what a probe costs at most, before it starts."""
    row = "  {:<30} {:>9} {:>9}  {}\n".format
    sys.stderr.write(row("at most", "openings", "queries", "false alarm"))
    for each in plan:
        alarm = f"{each.alpha:.1g}" if each.alpha else "-"
        sys.stderr.write(row(each.name, f"{each.openings:,}", f"{each.queries:,}", alarm))
    openings, queries = (sum(getattr(each, what) for each in plan) for what in KINDS)
    sys.stderr.write(row("all", f"{openings:,}", f"{queries:,}", "").rstrip() + "\n")
    sys.stderr.flush()


def told(name: str, seen: Probe, tested: tuple[Repeated, ...]) -> str:
    """Return in plain text what was found."""
    number = len(seen.defects)
    defects = f"{number or 'no'} defect{'' if number == 1 else 's'}"
    said = [defects] if number or not seen.blind else []
    if seen.blind:
        said.append(f"inconclusive, {' and '.join(UNLOOKED[each] for each in seen.blind)}")
    lines = [f"{name}: {'; '.join(said)}"]
    for defect in seen.defects:
        chance = f"of a correct service with probability at most {defect.probability:.1g}"
        chance = f" ({chance})" if defect.probability else ""
        lines += [f"  {defect.name}: {defect.seen}{chance}", f"    again: {defect.again}"]
    if not number:
        lines.append(f"  a correct service gets a defect with probability at most {seen.alpha:g}")
    lines += [f"  not looked at: {each}" for each in seen.untold]
    lines += [f"  remark: {each}" for each in seen.remarks]
    for each in tested:
        lines += ["", f"repeated queries of {each.name}: {each.reason}"]
        lines.append(
            f"  {'m':>3}  {'certified':>9}  {'cap':>7}  {'detectable':>10}  {'claimed':>8}  "
            f"{'advantage':>9}  {'allowed':>8}"
        )
        lines += [_row(test, blind=bool(seen.blind)) for test in each.tests]
        lines += [f"  {each.why}"] if each.why else []
        lines.append(
            f"  {each.transcripts} transcripts a side; all certified numbers hold together with "
            f"{1 - each.alpha:.4g}"
        )
    return "\n".join([*lines, *([LEGEND] if tested else []), ""])


def _row(test: TranscriptTest, *, blind: bool) -> str:
    held = UNEXAMINED if blind else HELD if test.reach.cap > test.basic else UNSEEN
    word = "claim broken" if test.broken else held
    detectable = f"{test.reach.detectable:.3f}" if test.reach.detectable < math.inf else "no leak"
    return (
        f"  {test.m:>3}  {test.lower.value:>9.3f}  {test.reach.cap:>7.3f}  {detectable:>10}  "
        f"{test.basic:>8.3f}  {test.advantage:>9.3f}  {test.allowed:>8.3f}  {word}"
    )
