"""From the words of a command line to what is audited: settings, mechanisms, claims, data."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

from dpassay.auditee import Auditee
from dpassay.catalogue import CATALOGUE
from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.data import BUILT_IN, load, split
from dpassay.errors import InvalidInput
from dpassay.exhaustive import Domain
from dpassay.pairs import Neighbours, replace_one
from dpassay.plan import Group
from dpassay.settings import Settings
from dpassay.targets import Answers, accepts, answers_of, is_function, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Sizes of everything that the user did not size."""

    train: int
    queries: int
    neighbours: Neighbours
    budget: int


PROFILES = {
    "quick": Profile(train=100, queries=5, neighbours="one", budget=5_000),
    "default": Profile(train=400, queries=20, neighbours="one+flip", budget=20_000),
    "deep": Profile(train=1000, queries=50, neighbours="one+flip", budget=200_000),
}

TRIALS_ONLY = ("budget", "detect", "jobs", "executor", "shard_timeout", "resume")
IDLE_OPTIONS = {
    "auto": ("n", "domain"),
    "monte-carlo": ("n", "domain"),
    "exact": ("n", "domain", *TRIALS_ONLY),
    "exhaustive": ("data", "target", "train", "queries", "neighbours", *TRIALS_ONLY),
}
"""Options that would change nothing in a mode; they are refused, not ignored."""


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings of a run; options that would change nothing are refused."""
    for option in IDLE_OPTIONS[arguments.mode]:
        if getattr(arguments, option) is not None:
            raise InvalidInput(f"--{option.replace('_', '-')}: changes nothing with --mode {arguments.mode}")
    if arguments.resume and arguments.out is None:
        raise InvalidInput("--resume: goes with --out DIR, the folder of the run that is to be gone on with")
    domain = None
    if arguments.mode == "exhaustive":
        if arguments.n is None or arguments.domain is None:
            raise InvalidInput("--mode exhaustive: needs --n (records in a dataset) and --domain (points of the line)")
        domain = Domain(n=arguments.n, points=arguments.domain)
    jobs, executor = _or(arguments.jobs, 1), arguments.executor
    if arguments.shard_timeout is not None and (executor or ("inline" if jobs == 1 else "local")) == "inline":
        raise InvalidInput("--shard-timeout: goes with --executor local; what runs inline cannot be stopped")
    return Settings(
        mode=arguments.mode,
        seed=arguments.seed,
        confidence=arguments.confidence,
        budget=_or(arguments.budget, PROFILES[arguments.profile].budget),
        detect=arguments.detect,
        domain=domain,
        jobs=jobs,
        executor=executor,
        shard_timeout=60.0 if arguments.shard_timeout is None else arguments.shard_timeout,
    )


def auditees_of(arguments: argparse.Namespace) -> list[Auditee]:
    """Return the mechanisms that are asked for, each with the claims it is held against."""
    parameters = dict(_assignment(text, "-p") for text in arguments.parameters)
    if arguments.learner is not None:
        parameters["learner"] = arguments.learner
    targets, answers = arguments.targets or list(CATALOGUE), _answers(arguments.answers)
    if len(targets) == 1:
        return [_auditee(targets[0], parameters, arguments.claim, answers)]
    for name in parameters:
        if not any(accepts(target, name) for target in targets):
            raise InvalidInput(f"-p {name}: none of {', '.join(targets)} has such a parameter")
    return [
        _auditee(target, {name: value for name, value in parameters.items() if accepts(target, name)}, arguments.claim, answers)
        for target in targets
    ]


def _auditee(target: str, parameters: dict[str, str], claim: str | None, answers: Answers | None) -> Auditee:
    if answers is not None and not is_function(target):
        raise InvalidInput(f"--answers: go with a plain function; '{target}' names its own")
    claims = None if claim is None else (_claim(claim, answers or answers_of(target, parameters)),)
    return resolve(target, parameters, claims, answers)


def _claim(text: str, answers: Answers) -> Claim:
    given = dict(_assignment(part, "--claim") for part in text.split(","))
    if set(given) not in ({"epsilon"}, {"epsilon", "delta"}, {"gamma"}):
        raise InvalidInput(f"--claim = '{text}': must be epsilon=E, or epsilon=E,delta=D, or gamma=G")
    try:
        numbers = {name: float(value) for name, value in given.items()}
    except ValueError:
        raise InvalidInput(f"--claim = '{text}': must hold numbers") from None
    if "epsilon" in numbers:
        return DP(epsilon=numbers["epsilon"], delta=numbers.get("delta", 0.0), source="--claim")
    kind = Stability if answers.numbers is None else PredictionStability
    return kind(gamma=numbers["gamma"], source="--claim")


def _answers(text: str | None) -> Answers | None:
    """Read --answers: labels parted by commas, or the limits of real numbers parted by two dots."""
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
    raise InvalidInput(f"--answers = '{text}': must be labels like 0,1,2 or limits of numbers like 0..1 (.. for any)")


def _assignment(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise InvalidInput(f"{option} {text}: must have the form name=value")
    return name.strip(), value.strip()


def data_of(arguments: argparse.Namespace) -> Group:
    """Return the pairs and queries made from the data that are asked for."""
    profile = PROFILES[arguments.profile]
    if arguments.target is not None and arguments.data in (None, BUILT_IN):
        raise InvalidInput(f"--target = '{arguments.target}': goes with --data FILE")
    table = load(BUILT_IN if arguments.data is None else arguments.data, arguments.target)
    labels = table.source["labels"]
    if len(labels) != 2:
        raise InvalidInput(f"--target = '{arguments.target}': has {len(labels)} labels ({', '.join(labels[:5])}); must have two")
    parts = split(
        table,
        train=_or(arguments.train, profile.train),
        queries=_or(arguments.queries, profile.queries),
        seed=arguments.seed,
    )
    neighbours = arguments.neighbours or profile.neighbours
    pairs = replace_one(parts.train.X, parts.train.y, pool=parts.pool, neighbours=neighbours, seed=arguments.seed)
    return Group(pairs=pairs, queries=parts.queries, kind="data", reason=pairs.how, source=parts.source)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
