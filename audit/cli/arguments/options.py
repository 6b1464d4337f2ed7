"""From what is in force to settings and data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpassay.config.load import Config
from dpassay.config.options import TABLE
from dpassay.csv_files import shown
from dpassay.data import BUILT_IN, Labelled, Table, load, split
from dpassay.engine.domains.domain import Domain
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.pairs import replace_one
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated

TRIALS_ONLY = ("budget", "detect", "stop_early", "jobs")
SEARCHED = ("search", "together", "output", "search_seconds")
IDLE_OPTIONS = {
    "auto": ("n", "domain"),
    "monte-carlo": ("n", "domain"),
    "exact": ("n", "domain", *TRIALS_ONLY, *SEARCHED),
    "exhaustive": (
        "data",
        "label",
        "train",
        "queries",
        "train_queries",
        "neighbours",
        *TRIALS_ONLY,
        *SEARCHED,
    ),
}
"""Options that would change nothing in a mode; they are refused, not ignored."""
RESUMABLE = ("auto", "monte-carlo")
"""Modes with trials that can be taken up again."""


def refuse_idle(config: Config, keys: Iterable[str], why: str) -> None:
    """Raise `InvalidInput` if the command line says an option that would change nothing."""
    for key in keys:
        if config.said(key):
            raise InvalidInput(f"{TABLE[key].flag}: has no effect {why}")


def settings_of(config: Config, *, resume: bool = False) -> Settings:
    """Return the settings of a run; `resume` continues an interrupted one.

    Options must go together, and each that was said must change something. What is configured
    for every run may change nothing.
    """
    on_workers = ("jobs",) if config.mode == "exhaustive" and config.executor == "dask" else ()
    idle = [key for key in IDLE_OPTIONS[config.mode] if key not in on_workers]
    refuse_idle(config, idle, f"with --mode {config.mode}")
    if resume and config.mode not in RESUMABLE:
        raise InvalidInput(f"--resume: has no effect with --mode {config.mode}")
    if resume and config.out is None:
        raise InvalidInput("--resume: requires --out DIR, the folder of the interrupted run")
    domain = None
    if config.mode == "exhaustive":
        if config.n is None or config.domain is None:
            raise InvalidInput(
                "--mode exhaustive: needs --n (records in a dataset) and --domain (points of the "
                "line, or of a grid)"
            )
        domain = Domain(n=config.n, points=config.domain)
    if config.said("executor") and config.executor == "dask" and config.mode == "exact":
        raise InvalidInput(
            "--executor dask: has no effect with --mode exact, which computes the laws "
            "of the pairs here; --mode exhaustive and trials use a cluster"
        )
    limits = {key: getattr(config, key) for key in ("shard_timeout", "memory")}
    shared: dict[str, Any] = {
        key: getattr(config, key)
        for key in (
            *("mode", "seed", "confidence", "budget", "detect", "stop_early"),
            "search_seconds",
        )
    }
    return Settings(**shared, **workers_of(config), **limits, domain=domain)


def limits_of(config: Config) -> Limits:
    """Return what a process with a user's code may take."""
    return Limits(seconds=config.shard_timeout, memory=config.memory)


def workers_of(config: Config) -> dict[str, Any]:
    """Return where work is done, as `Settings` takes it.

    What is configured for every run may be idle; what the command line says may not.
    """
    on_cluster = config.executor == "dask"
    scheduler = config.scheduler if on_cluster else None
    if config.said("scheduler") and not on_cluster:
        raise InvalidInput("--scheduler: requires --executor dask")
    if config.said("jobs") and scheduler is not None:
        raise InvalidInput(
            f"--jobs: has no effect with a scheduler ({config.origin('scheduler')}), "
            "whose workers do the work"
        )
    idle = scheduler is not None or (config.executor == "inline" and not config.said("jobs"))
    return {
        "executor": config.executor,
        "scheduler": scheduler,
        "jobs": 1 if idle else config.jobs,
    }


def refuse_idle_limits(config: Config, targets: Sequence[AuditTarget], settings: Settings) -> None:
    """Raise `InvalidInput` if limits are given to processes or searches of which there are none."""
    if config.said("search_seconds") and all(target.space is None for target in targets):
        raise InvalidInput("--search-seconds: requires --search")
    if settings.kind != "inline" or any(isinstance(target, Isolated) for target in targets):
        return
    for key in ("shard_timeout", "memory"):
        if config.said(key):
            raise InvalidInput(
                f"{TABLE[key].flag}: requires your own code or --executor local; code that runs "
                "inline cannot be stopped"
            )


def read_table(config: Config, slice_by: str | None = None, *, task: str | None = None) -> Table:
    """Return the data that are asked for; `slice_by` as in `dpassay.data.load`.

    The task of an attack says whether the label is one of `classes` or `numbers`, empty if the
    file tells it; then features may be missing.
    """
    if config.label is not None and config.data in (None, BUILT_IN):
        raise InvalidInput(f"--label = '{config.label}': requires --data FILE")
    source = BUILT_IN if config.data is None else config.data
    if task is None:
        return load(source, config.label, slice_by)
    if task == "numbers" and source == BUILT_IN:
        raise InvalidInput("--task = 'numbers': requires --data FILE with a label that is a number")
    numbers = {"classes": False, "numbers": True}.get(task)
    return load(source, config.label, slice_by, missing=True, numbers=numbers)


def data_of(config: Config) -> PairGroup:
    """Return the pairs and queries made from the data that are asked for.

    There must be two labels.
    """
    table = read_table(config)
    if len(table.source["labels"]) != 2:
        raise InvalidInput(f"--label = '{config.label}': {_not_two(table)}")
    sizes = {
        "train": config.train,
        "queries": config.queries,
        "train_queries": config.train_queries,
    }
    parts = split(table, **sizes, seed=config.seed)
    drawn: dict[str, Any] = {"neighbours": config.neighbours, "seed": config.seed}
    pairs = replace_one(parts.train.X, parts.train.y, pool=parts.pool, **drawn)
    pairs = pairs.in_file(parts.lines)
    return PairGroup(
        pairs=pairs, queries=parts.queries, kind="data", reason=pairs.how, source=parts.source
    )


def records_of(config: Config) -> tuple[Labelled, dict[str, Any]]:
    """Return the training records of the data that are asked for, and where they came from."""
    sizes = {"train": config.train, "queries": config.queries}
    parts = split(read_table(config), **sizes, seed=config.seed)
    return parts.train, parts.source


def _not_two(table: Table) -> str:
    """Say how many labels there are, and what was perhaps meant."""
    labels = table.source["labels"]
    more = ", ..." if len(labels) > 5 else ""
    has = f"has {len(labels)} label{'' if len(labels) == 1 else 's'}"
    told = f"{has} ({', '.join(labels[:5])}{more}); must have two"
    if len(labels) == 1:
        return told
    if len({label.strip().lower() for label in labels}) == 2:
        return f"{told}; some differ in upper case or blanks only"
    X = table.data.X
    two = [
        name
        for name, at in table.columns.items()
        if len(at) == 2 or (len(at) == 1 and len(set(X[:, at[0]])) == 2)
    ]
    return f"{told}; columns with two values: {shown(two)}" if two else told
