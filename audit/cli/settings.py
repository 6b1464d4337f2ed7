"""From what is in force to settings and data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpassay.config.load import Config
from dpassay.config.options import TABLE
from dpassay.csv_files import shown
from dpassay.data import BUILT_IN, Table, load, split
from dpassay.engine.domains.domain import Domain
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.pairs import replace_one
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated

SIZES = ("train", "queries", "train_queries")
IDLE = ("budget", "detect", "stop_early", "jobs", "search", "together", "output", "search_seconds")
IDLE_OPTIONS = {
    "auto": ("n", "domain"),
    "monte-carlo": ("n", "domain"),
    "exact": ("n", "domain", *IDLE),
    "exhaustive": ("data", "label", *SIZES, "neighbours", *IDLE),
}
"""Options that would change nothing in a mode; they are refused, not ignored."""


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
    mode = config.mode
    on_workers = ("jobs",) if mode == "exhaustive" and config.executor == "dask" else ()
    idle = [key for key in IDLE_OPTIONS[mode] if key not in on_workers]
    refuse_idle(config, idle, f"with --mode {mode}")
    if resume and mode in ("exact", "exhaustive"):
        raise InvalidInput(f"--resume: has no effect with --mode {mode}")
    if resume and config.out is None:
        raise InvalidInput("--resume: requires --out DIR, the folder of the interrupted run")
    domain = None
    if mode == "exhaustive":
        if config.n is None or config.domain is None:
            raise InvalidInput(
                "--mode exhaustive: needs --n (records in a dataset) and --domain (points of the "
                "line, or of a grid)"
            )
        domain = Domain(n=config.n, points=config.domain)
    if config.said("executor") and config.executor == "dask" and mode == "exact":
        raise InvalidInput(
            "--executor dask: has no effect with --mode exact, which computes the laws "
            "of the pairs here; --mode exhaustive and trials use a cluster"
        )
    told = ("mode", "seed", "confidence", "budget", "detect", "stop_early", "search_seconds")
    limits = config.some("shard_timeout", "memory")
    return Settings(**config.some(*told), **limits, **workers_of(config), domain=domain)


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
    jobs = 1 if idle else config.jobs
    return {"executor": config.executor, "scheduler": scheduler, "jobs": jobs}


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
    """Return the pairs and queries made from the data that are asked for, with two labels."""
    table = read_table(config)
    labels = table.source["labels"]
    if len(labels) != 2:
        told = f"has {len(labels)} label{'' if len(labels) == 1 else 's'} ({', '.join(labels[:5])}"
        told += f"{', ...' if len(labels) > 5 else ''}); must have two"
        X = table.data.X
        two = [
            name
            for name, at in table.columns.items()
            if len(at) == 2 or (len(at) == 1 and len(set(X[:, at[0]])) == 2)
        ]
        if len({label.strip().lower() for label in labels}) == 2:
            told += "; some differ in upper case or blanks only"
        elif len(labels) > 1 and two:
            told += f"; columns with two values: {shown(two)}"
        raise InvalidInput(f"--label = '{config.label}': {told}")
    parts = split(table, **config.some(*SIZES), seed=config.seed)
    drawn = config.some("neighbours", "seed")
    pairs = replace_one(parts.train.X, parts.train.y, pool=parts.pool, **drawn)
    pairs = pairs.in_file(parts.lines)
    return PairGroup(
        pairs=pairs, queries=parts.queries, kind="data", reason=pairs.how, source=parts.source
    )
