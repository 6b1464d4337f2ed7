"""From the words of a command line to what is audited: settings, mechanisms, claims, data."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from dpassay.claims import SPELLED, SPELLINGS, spelled
from dpassay.config.load import Config, load_config
from dpassay.config.mechanisms import Configured
from dpassay.config.options import OPTIONS
from dpassay.data import BUILT_IN, load, split
from dpassay.engine.apart import CAN_FORK
from dpassay.engine.exhaustive import Domain
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.pairs import replace_one
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import Answers, accepts, answers_of, is_function, relation_of, resolve
from dpassay.trials.hosts import Limits
from dpassay.trials.isolated import Isolated, StandIn, introduced

TRIALS_ONLY = ("budget", "detect", "jobs", "resume")
IDLE_OPTIONS = {
    "auto": ("n", "domain"),
    "monte-carlo": ("n", "domain"),
    "exact": ("n", "domain", *TRIALS_ONLY),
    "exhaustive": ("data", "label", "train", "queries", "train_queries", "neighbours", *TRIALS_ONLY),
}
"""Options that would change nothing in a mode; they are refused, not ignored."""


def configure(arguments: argparse.Namespace) -> Config:
    """Fill what the command line leaves open from the environment, the file and the profile; return what is in force.

    Options that would change nothing are refused; what is configured for every run is not. `arguments.environment` is
    what variables said of the command's own options.
    """
    config = load_config({key: getattr(arguments, key, None) for key in OPTIONS})
    for option in IDLE_OPTIONS[config.mode] if hasattr(arguments, "mode") else ():
        if getattr(arguments, option) is not None:
            raise InvalidInput(f"--{option.replace('_', '-')}: changes nothing with --mode {config.mode}")
    for key in OPTIONS:
        if hasattr(arguments, key):
            setattr(arguments, key, getattr(config, key))
    arguments.mechanisms = config.mechanisms
    said = config.said_by_environment()
    arguments.environment = {key: value for key, value in said.items() if hasattr(arguments, key)}
    return config


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings of a run."""
    if arguments.resume and arguments.out is None:
        raise InvalidInput("--resume: requires --out DIR, the folder of the interrupted run")
    domain = None
    if arguments.mode == "exhaustive":
        if arguments.n is None or arguments.domain is None:
            raise InvalidInput(
                "--mode exhaustive: needs --n (records in a dataset) and --domain (points of the line, or of a grid)"
            )
        domain = Domain(n=arguments.n, points=_sides(arguments.domain))
    jobs, executor = arguments.jobs, arguments.executor
    given = {name: value for name in ("shard_timeout", "memory") if (value := getattr(arguments, name)) is not None}
    return Settings(
        mode=arguments.mode,
        seed=arguments.seed,
        confidence=arguments.confidence,
        budget=arguments.budget,
        detect=arguments.detect,
        domain=domain,
        jobs=jobs,
        executor=executor,
        **given,
    )


def refuse_idle_limits(arguments: argparse.Namespace, targets: Sequence[AuditTarget], settings: Settings) -> None:
    """Raise `InvalidInput` if limits are given to processes of which there are none."""
    if settings.kind == "local" or any(isinstance(target, Isolated) for target in targets):
        return
    for option in ("shard_timeout", "memory"):
        if getattr(arguments, option) is not None:
            said = f"--{option.replace('_', '-')}"
            raise InvalidInput(f"{said}: goes with your own code, or with --executor local; what runs inline cannot be stopped")


def _sides(text: str) -> int | tuple[int, ...]:
    """Read the points of a line, or of the sides of a grid."""
    try:
        sides = tuple(int(side) for side in text.split("x"))
    except ValueError:
        raise InvalidInput(f"--domain = '{text}': must be a number of points, or of points on each side of a grid, 3x2") from None
    return sides[0] if len(sides) == 1 else sides


@contextmanager
def opened(arguments: argparse.Namespace, records: int, limits: Limits | None) -> Iterator[list[AuditTarget]]:
    """Give what `targets_of` does, and end the processes that it has opened."""
    built: list[AuditTarget] = []
    try:
        built.extend(targets_of(arguments, records, limits if CAN_FORK else None))
        yield built
    finally:
        for target in built:
            if isinstance(target, Isolated):
                target.hosts.close()


def targets_of(arguments: argparse.Namespace, records: int, limits: Limits | None = None) -> Iterator[AuditTarget]:
    """Yield the mechanisms that are asked for, else the configured ones, else the catalogue; each with its claims.

    Built-in ones whose claims depend on the number n of records are told it, unless it was said. A user's own are imported and
    built in processes of their own, which have these limits; without limits in this one. Of the catalogue as a whole those are
    left out that no trials can say anything about, where trials are asked for.
    """
    parameters = dict(_assignment(text, "-p") for text in arguments.parameters)
    if arguments.learner is not None:
        parameters["learner"] = arguments.learner
    claim = None if arguments.claim is None else _claim_numbers(arguments.claim)
    answers = _answers(arguments.answers, "--answers")
    wanted = [Configured(target=target) for target in arguments.targets]
    wanted = wanted or list(arguments.mechanisms) or [Configured(target=target) for target in ENTRIES]
    sampled = getattr(arguments, "mode", "monte-carlo") == "monte-carlo"
    fixed = getattr(arguments, "mode", "auto") != "exhaustive"
    named = bool(arguments.targets or arguments.mechanisms)
    taken: set[str] = set()
    for each in wanted:
        build = partial(_chosen, _sized(each, records, fixed=fixed), parameters, claim, answers, several=len(wanted) > 1)
        if limits is None or not _is_foreign(each, parameters):
            target = build()
        else:
            target = introduced(each.called, build, limits, _fallback(each, claim, answers))
        known = parameters if isinstance(target, Isolated) and target.lost else target.parameters
        taken |= parameters.keys() & known.keys()
        if not sampled:
            yield target
        elif named or not target.only_computed:
            yield target.sampled
    for name in parameters:
        if name not in taken and len(wanted) > 1:
            raise InvalidInput(f"-p {name}: none of {', '.join(each.called for each in wanted)} has such a parameter")


def _chosen(
    wanted: Configured, parameters: dict[str, str], claim: dict[str, float] | None, answers: Answers | None, *, several: bool
) -> AuditTarget:
    """Build one mechanism; where there are several, with those of the parameters that it has."""
    own = {name: value for name, value in parameters.items() if not several or accepts(wanted.target, name)}
    with _placed(wanted):
        return _built(wanted, own, claim, answers)


def _is_foreign(wanted: Configured, parameters: Mapping[str, str]) -> bool:
    """Whether building a mechanism imports a module of the user's."""
    return any(":" in text for text in (wanted.target, *wanted.parameters.values(), *parameters.values()))


def _fallback(wanted: Configured, said: dict[str, float] | None, answers: Answers | None) -> AuditTarget | None:
    """Return what is known of a user's mechanism that could not be built, if a claim was said of it."""
    numbers = wanted.claim if said is None else said
    if numbers is None:
        return None
    with _placed(wanted):
        answers = (_answers(wanted.answers, "answers") if answers is None else answers) or Answers()
    source = "--claim" if said is not None else wanted.where.partition(",")[0]
    claim = spelled(numbers, source, labels=answers.numbers is None)
    has = {"labels": answers.labels} if answers.numbers is None else {"numbers": answers.numbers}
    return AuditTarget(name=wanted.called, address=wanted.target, parameters={}, mechanism=StandIn(has), claims=(claim,))


def _sized(wanted: Configured, records: int, *, fixed: bool) -> Configured:
    """Tell a mechanism the number of records; an entry may have its own, unless all datasets of one size are asked for."""
    chosen = fixed and wanted.target in ENTRIES and "n" in ENTRIES[wanted.target].parameters
    if wanted.target not in ENTRIES or chosen or not accepts(wanted.target, "n"):
        return wanted
    return replace(wanted, parameters={"n": str(records), **wanted.parameters})


@contextmanager
def _placed(wanted: Configured) -> Iterator[None]:
    """Say of what is refused where it was configured."""
    try:
        yield
    except InvalidInput as error:
        if wanted.where:
            raise InvalidInput(f"{wanted.where}: {error}") from error
        raise


def _built(wanted: Configured, given: dict[str, str], said: dict[str, float] | None, answers: Answers | None) -> AuditTarget:
    """Build one mechanism; what the command line says goes before what is configured for it."""
    option = "answers" if answers is None and wanted.where else "--answers"
    answers = _answers(wanted.answers, "answers") if answers is None else answers
    if answers is not None and not is_function(wanted.target):
        raise InvalidInput(f"{option}: go with a plain function; '{wanted.target}' names its own")
    parameters = wanted.parameters | given
    source = "--claim" if said is not None else wanted.where.partition(",")[0]
    numbers = wanted.claim if said is None else said
    if numbers is None:
        return resolve(wanted.target, parameters, None, answers, name=wanted.called)
    known = answers or answers_of(wanted.target, parameters)
    claim = spelled(numbers, source, labels=known.numbers is None)
    claim = replace(claim, relation=relation_of(wanted.target, parameters))
    return resolve(wanted.target, parameters, (claim,), answers, name=wanted.called)


def _claim_numbers(text: str) -> dict[str, float]:
    given = dict(_assignment(part, "--claim") for part in text.split(","))
    if set(given) not in SPELLINGS:
        raise InvalidInput(f"--claim = '{text}': must be {SPELLED}")
    try:
        return {name: float(value) for name, value in given.items()}
    except ValueError:
        raise InvalidInput(f"--claim = '{text}': must hold numbers") from None


def _answers(text: str | None, option: str) -> Answers | None:
    """Read what is answered: labels parted by commas, or the limits of real numbers parted by two dots."""
    if text is None:
        return None
    low, separator, high = text.partition("..")
    try:
        if separator:
            limits = (float(low) if low else -math.inf, float(high) if high else math.inf)
            if limits[0] < limits[1]:
                return Answers(labels=(), numbers=limits)
        else:
            labels = tuple(int(label) for label in text.split(","))
            if len(labels) >= 2 and len(set(labels)) == len(labels):
                return Answers(labels=labels)
    except ValueError:
        pass
    raise InvalidInput(f"{option} = '{text}': must be labels like 0,1,2 or limits of numbers like 0..1 (.. for any)")


def _assignment(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise InvalidInput(f"{option} {text}: must have the form name=value")
    return name.strip(), value.strip()


def data_of(arguments: argparse.Namespace) -> Group:
    """Return the pairs and queries made from the data that are asked for."""
    if arguments.label is not None and arguments.data in (None, BUILT_IN):
        raise InvalidInput(f"--label = '{arguments.label}': goes with --data FILE")
    table = load(BUILT_IN if arguments.data is None else arguments.data, arguments.label)
    labels = table.source["labels"]
    if len(labels) != 2:
        raise InvalidInput(f"--label = '{arguments.label}': has {len(labels)} labels ({', '.join(labels[:5])}); must have two")
    sizes = {"train": arguments.train, "queries": arguments.queries, "train_queries": arguments.train_queries}
    parts = split(table, **sizes, seed=arguments.seed)
    pairs = replace_one(parts.train.X, parts.train.y, pool=parts.pool, neighbours=arguments.neighbours, seed=arguments.seed)
    return Group(pairs=pairs, queries=parts.queries, kind="data", reason=pairs.how, source=parts.source)
