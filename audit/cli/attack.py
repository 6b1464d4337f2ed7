"""`dpassay attack`: what an attacker with query access learns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpassay.attacks.experiment.mechanisms import LEARNER
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.planning import enough, fresh_answers
from dpassay.attacks.experiment.poisoning import ADVERSARIES
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.experiment.subjects import Protected
from dpassay.attacks.experiment.vulnerability import FILE as RECORDS
from dpassay.attacks.experiment.vulnerability import records_csv
from dpassay.attacks.given.estimates import OWN
from dpassay.attacks.repeated.attacked import attack_repeatedly, can_be_repeated, enough_transcripts
from dpassay.attacks.repeated.run import ladder
from dpassay.attacks.scores.interface import Attack
from dpassay.attacks.scores.registry import ATTACKS
from dpassay.cli.arguments.in_force import in_force, said_by_variables
from dpassay.cli.arguments.options import (
    read_table,
    transcripts_of,
    workers_of,
)
from dpassay.cli.arguments.parser import (
    Parser,
    add_claim,
    add_foreign,
    add_option,
    add_options,
    add_output,
    add_parameters,
    add_targets,
    codes,
    examples,
)
from dpassay.cli.attacked import asked_of, attacked
from dpassay.cli.exit_codes import EVERY, of_attack
from dpassay.cli.gate.rules import accepted_rules
from dpassay.cli.interrupts import interrupts
from dpassay.cli.output.progress import announce, bars
from dpassay.cli.output.terminal import console
from dpassay.cli.sealed import sealed
from dpassay.cli.service import service_action
from dpassay.cli.shared import command_of, commit, deliver_attacks
from dpassay.cli.signals import GO_WITH, signals_action
from dpassay.config.attack_options import ATTACK_KEYS
from dpassay.config.load import Config
from dpassay.data import Table
from dpassay.engine.preflight import check
from dpassay.engine.run import opened_cluster
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, printable, require
from dpassay.pairs import replace_one
from dpassay.record.attack_baseline import ATTACK_BASELINE
from dpassay.targets.groups import Group
from dpassay.trials.isolation.limits import protections
from dpassay.trials.ledger import Ledger

DESCRIPTION = """Train many models on random halves of the records, and guess from their answers
which records were in the training set: every attack against the unprotected learner and against
mechanisms. Certified bounds are compared with the claims."""
EXAMPLES = examples(
    (
        "dpassay attack --out attack",
        """attack six mechanisms at five losses, and the unprotected tree, on scikit-learn's breast
        cancer data; then open attack/attack.html""",
    ),
    (
        "dpassay attack soft-majority --epsilon 0.5,8 --budgets 1,16 -p r=11 --learner logistic",
        (
            "attack one mechanism, at two losses of a single answer, with 1 or 16 answers about "
            "each record"
        ),
    ),
    (
        "dpassay attack --against base --data people.csv --label income --records 10000 --jobs 2",
        "attack only the unprotected learner, on your own data",
    ),
    (
        "dpassay attack --service my_module:factory --data people.csv --label income --epsilon 0.5",
        """probe a service of your own for defects, and compare repeated queries with its claim;
        factory(data, seed, user) opens a session whose ask(x) returns a label, or raises when the
        query budget is spent""",
    ),
    (
        "dpassay attack --signals signals.npz --out attack",
        """attack models that are already trained, by the scores that they gave to records: arrays
        scores and membership, a row for each model; the last models are attacked""",
    ),
    (
        "dpassay attack soft-majority --canaries 20 --adversary pois-miaq",
        (
            "plant 20 mislabelled records, and let the attacker poison the training sets and "
            "choose the queries"
        ),
    ),
    (
        "dpassay attack --out attack --executor dask --scheduler tcp://10.0.0.1:8786",
        "train the models on a Dask cluster; see docs/scale.md",
    ),
    (
        "dpassay attack --against base --data people.csv --label income --attribute sex",
        "guess which of two values of a column each training record has",
    ),
)
OF_MODELS = (
    *("budgets", "references", "models", "copies", "noise", "cache", "jobs", "canaries", "planted"),
    *("executor", "scheduler"),
    *("adversary", "poisoned", "poison_labels", "poison", "attribute", "slice_by"),
)
"""Options about the models that are trained and asked; a service has its own."""
OF_CLAIMS = ("epsilon", "budgets", "transcripts")
"""Options about mechanisms, which have a claim and draw coins."""
ON_DASK = "dask, all that an attack takes: the models are trained on a Dask cluster"
WHERE = ("jobs", "executor", "scheduler")
"""Who trains models."""
MODELS = "models.sqlite"
"""The ledger of trained models, in its folder."""
COUNTED_AGAIN = "accepted attack.json whose guesses are counted again, see dpassay baseline"
SMALLER = (
    "fewer with --models, --references, --records, --copies or --transcripts, faster with --jobs"
)
"""What makes the command shorter."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, f"{EXAMPLES}\n{codes(EVERY)}")
    add_targets(command)
    what = command.add_argument_group("what is attacked")
    add_options(what, "against", "epsilon", "service", "signals", "signal", "budgets")
    add_options(what, "transcripts")
    add_parameters(what)
    add_claim(what)
    add_foreign(what)
    how = command.add_argument_group("how it is attacked")
    add_options(
        how, "attacks", "records", "references", "models", "copies", "noise", "canaries", "planted"
    )
    add_options(how, "adversary", "poisoned", "poison_labels", "poison", "attribute", "slice_by")
    add_options(how, "seed", "confidence")
    add_options(command.add_argument_group("data"), "data", "label", "task")
    work = command.add_argument_group("output; no number depends on it")
    add_option(work, "jobs")
    add_option(work, "executor", text=ON_DASK, shown="--jobs processes of this machine train them")
    add_options(work, "scheduler", "shard_timeout", "memory", "cache")
    add_option(work, "baseline", text=COUNTED_AGAIN, shown=ATTACK_BASELINE)
    add_option(work, "out", text="write attack.json, its pages and the table of all records there")
    add_output(work)
    work.add_argument("--allow-inconclusive", action="store_true", help="exit with 0 instead of 4")


def action(arguments: argparse.Namespace) -> int:
    """Attack, print the table or the record, write the page."""
    config = in_force(arguments)
    _refuse_idle(arguments, config)
    if config.said("signals"):
        return signals_action(arguments, config)
    with sealed(config, arguments.words) as changed:
        if config.said("service"):
            return service_action(arguments, config, changed)
        alone = config.command_line
        transcripts_of(config)
        asked_for = asked_of(arguments, config)
        table = read_table(config, alone["slice_by"], task=alone["task"] or "")
        scenario = Scenario(seed=config.seed, **{key: alone[key] for key in _SCENARIO})
        data, laid = lay(table, scenario)
        known = accepted_rules(config, laid | {"data": table.source, "seed": config.seed})
        laid["commit"] = commit()  # before there is code that could change what is called
        with attacked(asked_for, arguments, config, table, data) as targets:
            again = [replace(each, again=known.get(each.name, {})) for each in targets]
            return _attack(arguments, config, again, table, data, laid, changed)


def _attack(
    arguments: argparse.Namespace,
    config: Config,
    targets: list[Target],
    table: Table,
    data: ExperimentData,
    laid: dict[str, Any],
    changed: Callable[[], dict[str, Any]],
) -> int:
    """Attack targets that are built, print and write what was found."""
    from dpassay.reports.attack.pages import print_attacks

    alone, transcripts = config.command_line, transcripts_of(config)
    known = OWN if table.numbers is not None else tuple(ATTACKS)
    for name in alone["attacks"] or ():
        require(name in known, "--attacks", name, f"one of {', '.join(known)}")
    attacks = {name: ATTACKS[name]() for name in alone["attacks"] or known}
    asked = [target for target in targets if transcripts != 0 and can_be_repeated(target)]
    # of alpha: of a subject, of a ladder of repeated queries
    share = (1 - config.confidence) / (len(targets) + len(asked))
    design = Design(references=alone["references"], confidence=1 - share * len(targets))
    design = replace(
        design,
        targets=alone["models"] or enough(targets, attacks, data, design, share),
        fresh=alone["models"] is None,
    )
    settings = Settings(seed=config.seed, confidence=config.confidence, **workers_of(config))
    _preflight(targets, data, settings)
    directory = None if config.out is None else Path(config.out)
    if not arguments.quiet:
        _foretell(targets, attacks, data, design, transcripts, share)
    found, tested, complete = [], list[dict[str, Any]](), True
    try:
        with (
            opened_cluster(settings) as cluster,
            _kept(alone["cache"], directory) as ledger,
            bars(quiet=arguments.quiet, smaller=SMALLER) as progress,
            redirect_stdout(sys.stderr),  # what a mechanism prints is no part of the record
        ):
            for outcome in experiment(
                targets,
                data,
                attacks,
                design,
                ledger=ledger,
                jobs=settings.jobs,
                cluster=cluster,
                progress=progress,
            ):
                found.append(outcome)
                if outcome.error and not arguments.quiet:
                    told = f"dpassay: {outcome.name}: error: {outcome.error}"
                    sys.stderr.write(f"{printable(told)}\n")
            for target in asked:
                tested.append(
                    attack_repeatedly(
                        target, data, transcripts=transcripts, alpha=share, progress=progress
                    )
                )
            interrupts.wait()
    except KeyboardInterrupt:
        complete = False
    facts = laid | {
        "command": command_of(arguments.words, said_by_variables(arguments, config)),
        "complete": complete,
        "confidence": config.confidence,
        "data": table.source,
        "learner": arguments.learner or LEARNER,
        "references": design.references,
        "seed": config.seed,
        "targets": design.targets,
        **changed(),
    }
    record = make_attack_record(
        facts, data.records, found, tested, lines=data.lines, columns=data.columns
    )
    shown = partial(print_attacks, record, console())
    beside = {RECORDS: records_csv(found, data)}
    deliver_attacks(
        record,
        directory,
        shown,
        beside,
        held=protections(),
        as_json=arguments.json,
        quiet=arguments.quiet,
    )
    return of_attack(record, allow_inconclusive=arguments.allow_inconclusive)


_SCENARIO = [option.name for option in fields(Scenario) if option.name != "seed"]


def _refuse_idle(arguments: argparse.Namespace, config: Config) -> None:
    """Refuse options that would change nothing, instead of ignoring them."""
    for key, why in _idle(config):
        if config.said(key):
            raise InvalidInput(f"--{key.replace('_', '-')}: has no effect {why}")
    if config.said("executor") and config.executor != "dask":
        raise InvalidInput(
            f"--executor {config.executor}: has no effect on attacks but with dask; --jobs says "
            "how many processes train"
        )
    for key in ("service", "signals"):
        for option in ("process", "http", "claim", "answers") if config.said(key) else ():
            if getattr(arguments, option):
                raise InvalidInput(f"--{option}: has no effect with --{key}")
    if config.command_line["against"] == "base":
        claimed = [] if arguments.claim is None else [arguments.claim]
        for given, named in (
            (arguments.targets, "TARGET"),
            (arguments.parameters, "-p"),
            (arguments.process, "--process"),
            (arguments.http, "--http"),
            (claimed, "--claim"),
        ):
            if given:
                raise InvalidInput(
                    f"{named} {given[0]}: has no effect with --against base, which attacks the "
                    "learner alone"
                )


def _idle(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the options that would change nothing, and with or without what."""
    alone = config.command_line
    if config.said("service"):
        yield from ((key, "with --service, which trains no models") for key in OF_MODELS)
        if not config.said("epsilon"):
            yield (
                "transcripts",
                "with --service but without --epsilon, the claim to compare them with",
            )
        return
    if config.said("signals"):
        others = [key for key in (*ATTACK_KEYS, "data", "label", *WHERE) if key not in GO_WITH]
        yield from ((key, "with --signals, which trains no models") for key in others)
        return
    yield "signal", "without --signals"
    if alone["against"] == "base":
        yield from ((key, "with --against base, which claims nothing") for key in OF_CLAIMS)
    if alone["copies"] == 0:
        yield "noise", "without --copies"
    if alone["canaries"] == 0:
        yield "planted", "without --canaries"
    if not ADVERSARIES[alone["adversary"]].poisons:
        yield from (
            (key, "without --adversary pois-minq or pois-miaq")
            for key in ("poisoned", "poison_labels", "poison")
        )


def _preflight(targets: Sequence[Target], data: ExperimentData, settings: Settings) -> None:
    """Refuse, before anything is trained, mechanisms that can never take these training sets.

    As before a run.
    """
    half = data.records.take(slice(0, len(data.records) // 2))
    base = data.behind(half)
    pairs = replace_one(base.X, base.y, pool=data.test, neighbours="one", seed=settings.seed)
    group = Group(pairs=pairs, queries=data.points.X, kind="data", reason=pairs.how)
    protected = [
        (each.subject.target, each.claim) for each in targets if isinstance(each.subject, Protected)
    ]
    check(
        [replace(target, claims=(claim,)) for target, claim in protected if claim is not None],
        group,
        settings,
    )


def _foretell(
    targets: Sequence[Target],
    attacks: Mapping[str, Attack],
    data: ExperimentData,
    design: Design,
    transcripts: int | None,
    alpha: float,
) -> None:
    """Say before the start that it takes long, if its size alone tells."""
    models = design.references + design.targets
    for target in targets:
        answers = sum(max(1, view.m or 1) for view in target.subject.views) * len(data.points.X)
        announce(
            target.name,
            f"{models:,} models asked at {len(data.points.X):,} points",
            models * answers,
            SMALLER,
        )
        fresh = fresh_answers(target, attacks, data, design, alpha)
        announce(target.name, f"{fresh:,} fresh answers", fresh, SMALLER)
        if target.claim is not None and transcripts != 0 and can_be_repeated(target):
            sides = 2 * (transcripts or enough_transcripts(target.claim, alpha))
            most = ladder(target.claim.epsilon)[-1]
            announce(
                target.name,
                f"{sides:,} transcripts of {most} answers",
                sides * most,
                SMALLER,
            )


@contextmanager
def _kept(cache: str | None, directory: Path | None) -> Iterator[Ledger | None]:
    """Open the ledger of trained models, in a folder of its own or in that of the record."""
    folder = directory if cache is None else Path(cache)
    if folder is None:
        yield None
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--cache = '{folder}': cannot be made ({error.strerror})") from None
    with Ledger(folder / MODELS, resume=True, remedy=f"remove {MODELS}") as ledger:
        yield ledger
