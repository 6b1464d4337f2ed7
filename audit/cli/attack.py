r"""Learn by queries of models who was in their training sets.

Train many models on random halves of the records, and guess from their answers
which records were in the training set: every attack against the unprotected
learner and against mechanisms. Certified bounds are compared with the claims.
`dpassay attack service` probes a service of your own; `dpassay attack signals`
attacks models that are already trained.

  dpassay attack --out attack
      attack six mechanisms at five losses, and the unprotected tree, on
      scikit-learn's breast cancer data; then open attack/attack.html
  dpassay attack soft-majority --epsilon 0.5,8 --budgets 1,16 -p r=11 \
      --learner logistic
      attack one mechanism, at two losses of a single answer, with 1 or 16
      answers about each record
  dpassay attack --against base --data people.csv --label income \
      --records 10000 --jobs 2
      attack only the unprotected learner, on your own data
  dpassay attack soft-majority --canaries 20 --adversary pois-miaq
      plant 20 mislabelled records, and let the attacker poison the training
      sets and choose the queries
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpassay.attacks.experiment.certified import Rule
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
from dpassay.attacks.repeated.run import (
    attack_repeatedly,
    can_be_repeated,
    enough_transcripts,
    ladder,
)
from dpassay.attacks.scores import ATTACKS, OWN
from dpassay.cli.attack_targets import AttackTargets
from dpassay.cli.baseline import baseline_in
from dpassay.cli.exit_codes import EVERY, of_record
from dpassay.cli.interrupts import interrupts
from dpassay.cli.parser import Parser, add, add_option, codes, in_force
from dpassay.cli.sealed import sealed
from dpassay.cli.settings import read_table, refuse_idle, workers_of
from dpassay.cli.shared import command_of, deliver_attacks
from dpassay.cli.terminal import console
from dpassay.config.load import Config
from dpassay.data import Table
from dpassay.engine.preflight import check
from dpassay.engine.run import opened_cluster
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, printable, require
from dpassay.pairs import replace_one
from dpassay.progress import announce, bars
from dpassay.record.baseline import require_same
from dpassay.record.files import exists
from dpassay.record.kinds import ATTACKS as KIND
from dpassay.targets.groups import PairGroup
from dpassay.targets.source import commit
from dpassay.trials.isolation.limits import protections
from dpassay.trials.ledger import Ledger

POISON = ("poisoned", "poison_labels", "poison")
IDLE: tuple[tuple[tuple[str, ...], Callable[[Config], bool], str], ...] = (
    (
        ("epsilon", "budgets", "transcripts"),
        lambda config: config.against == "base",
        "with --against base, which claims nothing",
    ),
    (("noise",), lambda config: config.copies == 0, "without --copies"),
    (("planted",), lambda config: config.canaries == 0, "without --canaries"),
    (
        POISON,
        lambda config: not ADVERSARIES[config.adversary].poisons,
        "without --adversary pois-minq or pois-miaq",
    ),
)
"""Options that would change nothing, when, and with or without what; they are refused."""
HOW = (
    "attacks records references models copies noise canaries planted adversary poisoned "
    "poison_labels poison attribute slice_by seed confidence"
)
ON_DASK = "dask, all that an attack takes: the models are trained on a Dask cluster"
MODELS = "models.sqlite"
"""The ledger of trained models, in its folder."""
COUNTED_AGAIN = "accepted attack.json whose guesses are counted again, see dpassay baseline"
SMALLER = (
    "fewer with --models, --references, --records, --copies or --transcripts, faster with --jobs"
)
"""What makes the command shorter."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__, codes(EVERY))
    add(command, "targets")
    keys = "against epsilon budgets transcripts -p --learner --claim --answers --process --http"
    add(command, keys, "what is attacked")
    add(command, HOW, "how it is attacked")
    add(command, "data label task", "data")
    work = add(command, "jobs", "output; no number depends on it")
    add_option(work, "executor", ON_DASK, "--jobs processes of this machine train them")
    add(work, "scheduler shard_timeout memory cache")
    add_option(work, "baseline", COUNTED_AGAIN, KIND.baseline)
    add_option(work, "out", "write attack.json, its pages and the table of all records there")
    add(work, "--json --quiet --allow-inconclusive")


def action(arguments: argparse.Namespace) -> int:
    """Attack, print the table or the record, write the page."""
    config = in_force(arguments)
    _refuse_idle(arguments, config)
    with sealed(config, arguments.words) as changed:
        asked = AttackTargets(arguments, config)
        table = read_table(config, config.slice_by, task=config.task or "")
        data, laid = lay(table, Scenario(**config.some(*(key.name for key in fields(Scenario)))))
        known = _accepted_rules(config, laid | {"data": table.source, "seed": config.seed})
        laid["commit"] = commit()  # before there is code that could change what is called
        with asked.built(table, data) as targets:
            again = [replace(each, again=known.get(each.name, {})) for each in targets]
            return _attack(arguments, config, again, table, data, laid, changed)


def _refuse_idle(arguments: argparse.Namespace, config: Config) -> None:
    """Refuse options that would change nothing, instead of ignoring them."""
    for keys, idle, why in IDLE:
        if idle(config):
            refuse_idle(config, keys, why)
    if config.said("executor") and config.executor != "dask":
        raise InvalidInput(
            f"--executor {config.executor}: has no effect on attacks but with dask; --jobs says "
            "how many processes train"
        )
    for named, given in (
        ("TARGET", arguments.targets),
        ("-p", arguments.parameters),
        ("--process", arguments.process),
        ("--http", arguments.http),
        ("--claim", [arguments.claim] if arguments.claim else []),
    ):
        if given and config.against == "base":
            raise InvalidInput(
                f"{named} {given[0]}: has no effect with --against base, which attacks the "
                "learner alone"
            )


def _accepted_rules(
    config: Config, facts: Mapping[str, Any]
) -> Mapping[str, Mapping[str, tuple[Rule, ...]]]:
    """Return the rules of the accepted attack, by subject and view, to be counted again.

    None without a sound baseline of the same experiment; why is told on stderr.
    """
    path = baseline_in(KIND, config)
    if not exists(path) and not config.said("baseline"):
        return {}
    try:
        record = KIND.accepted(path)
        known = {name: record["run"][name] for name in facts if name in record["run"]}
        require_same(record | {"run": known}, record | {"run": facts}, path)
    except InvalidInput as error:
        sys.stderr.write(f"dpassay: {error}; none of its numbers is counted again\n")
        return {}
    found: dict[str, dict[str, tuple[Rule, ...]]] = {}
    for subject in record["subjects"]:
        views = found.setdefault(subject["name"], {})
        for each in subject["certified"]:
            rule = Rule(**{**each["rule"], "threshold": float(each["rule"]["threshold"])})
            if rule.record < facts["records"]:
                views[each["view"]] = (*views.get(each["view"], ()), rule)
    return found


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

    transcripts, quiet, directory = config.transcripts, arguments.quiet, config.folder
    known = OWN if table.numbers is not None else tuple(ATTACKS)
    for name in config.attacks or ():
        require(name in known, "--attacks", name, f"one of {', '.join(known)}")
    attacks = {name: ATTACKS[name] for name in config.attacks or known}
    asked = [target for target in targets if transcripts != 0 and can_be_repeated(target)]
    # of alpha: of a subject, of a ladder of repeated queries
    share = (1 - config.confidence) / (len(targets) + len(asked))
    design = Design(references=config.references, confidence=1 - share * len(targets))
    number = config.models or enough(targets, attacks, data, design, share)
    design = replace(design, targets=number, fresh=config.models is None)
    settings = Settings(seed=config.seed, confidence=config.confidence, **workers_of(config))
    _preflight(targets, data, settings)
    for target in [] if quiet else targets:
        views = sum(max(1, view.m or 1) for view in target.subject.views)
        answers = (design.references + design.targets) * views * len(data.points.X)
        answers += fresh_answers(target, attacks, data, design, share)
        if target.claim is not None and target in asked:
            sides = 2 * (transcripts or enough_transcripts(target.claim, share))
            answers += sides * ladder(target.claim.epsilon)[-1]
        announce(target.name, answers, SMALLER)
    found, tested, complete = [], list[dict[str, Any]](), True
    try:
        with (
            opened_cluster(settings) as cluster,
            _kept(config.cache, directory) as ledger,
            bars(quiet=quiet, smaller=SMALLER) as progress,
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
                if outcome.error and not quiet:
                    told = f"dpassay: {outcome.name}: error: {outcome.error}"
                    sys.stderr.write(f"{printable(told)}\n")
            told_of = {"transcripts": transcripts, "alpha": share, "progress": progress}
            for target in asked:
                tested.append(attack_repeatedly(target, data, **told_of))
            interrupts.wait()
    except KeyboardInterrupt:
        complete = False
    facts = laid | {
        "command": command_of(arguments, config),
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
    deliver_attacks(record, directory, shown, arguments, beside, protections())
    return of_record(record, allow_inconclusive=arguments.allow_inconclusive)


def _preflight(targets: list[Target], data: ExperimentData, settings: Settings) -> None:
    """Refuse, before anything is trained, mechanisms that can never take these training sets."""
    half = data.records.take(slice(0, len(data.records) // 2))
    base = data.behind(half)
    pairs = replace_one(base.X, base.y, pool=data.test, neighbours="one", seed=settings.seed)
    group = PairGroup(pairs=pairs, queries=data.points.X, kind="data", reason=pairs.how)
    protected = [
        replace(each.subject.target, claims=(each.claim,))
        for each in targets
        if isinstance(each.subject, Protected) and each.claim is not None
    ]
    check(protected, group, settings)


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
