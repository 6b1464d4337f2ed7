"""What the commands do: read the arguments, call the core, hand the record to the reports, choose the exit code."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.assay import Settings, assay, check
from dpassay.catalogue import CATALOGUE
from dpassay.claims import DP, Claim
from dpassay.data import BUILT_IN, load, split
from dpassay.documents import dumps, witness_file, writable, write_text
from dpassay.errors import InvalidInput
from dpassay.exhaustive import Domain
from dpassay.ledger import Ledger
from dpassay.mechanism import HasLaw, HasReachable
from dpassay.pairs import Neighbours, replace_one
from dpassay.plan import Group, Progress, groups_for, silent
from dpassay.planning import plan
from dpassay.record import cells_csv, make_record, read_record
from dpassay.result import Result
from dpassay.targets import accepts, resolve
from dpassay.witness import is_witness, make_witness, read_witness, replay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpassay.auditee import Auditee

NOTHING, USAGE, REFUTED, FAILED, INCONCLUSIVE, EMPTY, INTERRUPTED = 0, 2, 1, 3, 4, 5, 130


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


def run_command(arguments: argparse.Namespace, words: list[str]) -> int:
    """Audit, print the table or the record, write the reports."""
    from dpassay import reports
    from dpassay.reports.terminal import print_summary

    settings = _settings(arguments)
    auditees = _auditees(arguments)
    data = None if settings.mode == "exhaustive" else _data(arguments)
    check(auditees, data, settings)
    directory = None if arguments.out is None else Path(arguments.out)
    if directory is not None:
        writable(directory)

    started, results, complete = time.time(), [], True
    try:
        with _ledger(directory, resume=bool(arguments.resume)) as ledger, _bars(quiet=arguments.quiet) as progress:
            for result in assay(auditees, data, settings, progress, ledger):
                results.append(result)
                if result.verdict == "error" and not arguments.quiet:
                    cause = ": ".join(filter(None, (result.judgement.reason, result.judgement.detail)))
                    sys.stderr.write(f"dpassay: {result.id}: error: {cause}\n")
    except KeyboardInterrupt:
        complete = False
    except InvalidInput:
        if directory is not None:
            with suppress(OSError):
                directory.rmdir()  # only if we made it: a folder with anything in it stays
        raise

    facts = {
        "seed": settings.seed,
        "confidence": settings.confidence,
        "budget": settings.budget,
        "profile": arguments.profile,
        "command": _command(words),
        "catalogue": not arguments.targets,
        "complete": complete,
        "data": None if data is None else data.source,
        "commit": _commit(),
    }
    record = make_record(facts, results)
    if directory is not None:
        reports.write(record, list(reports.FORMATS), directory)
        _write_sidecars(directory, results, time.time() - started)
    with _readers_may_leave():
        if arguments.json:
            sys.stdout.write(dumps(record))
        else:
            print_summary(record, _console())
        sys.stdout.flush()
    if directory is not None and not arguments.quiet:
        sys.stderr.write(f"report: {directory / 'index.html'}\n")
    return _exit_code(results, allow_inconclusive=arguments.allow_inconclusive) if complete else INTERRUPTED


def plan_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Say what it takes to see a loss."""
    (auditee,) = _auditees(arguments)
    data = _data(arguments)
    settings = Settings(mode="monte-carlo", seed=arguments.seed, confidence=arguments.confidence, detect=arguments.detect)
    check([auditee], data, settings)
    groups = groups_for(auditee, data)
    needs = plan(auditee, groups, detect=settings.detect, alpha=(1 - settings.confidence) / len(auditee.claims))
    if arguments.json:
        sys.stdout.write(json.dumps([asdict(need) for need in needs], indent=2, sort_keys=True) + "\n")
        return NOTHING
    from rich.table import Table

    claim, cells = auditee.claims[0], sum(len(group.queries) for group in groups)
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("to see a loss of", "--budget", "trials in all", "about, on one core"):
        table.add_column(column, justify="right")
    for need in needs:
        table.add_row(f"{need.detect:g}", f"{need.draws:,}", f"{need.trials:,}", f"{need.seconds:,.0f} s")
    console = _console()
    console.print(
        f"{auditee.name}, {claim}, {cells} certified cells, confidence {settings.confidence:g}; probability 0.9 at one cell"
    )
    console.print(table)
    return NOTHING


def list_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001  (every command has one signature)
    """Print the catalogue."""
    entries = [_entry(resolve(name)) for name in CATALOGUE]
    if arguments.json:
        sys.stdout.write(json.dumps(entries, indent=2, sort_keys=True) + "\n")
        return NOTHING
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("mechanism", "claim", "source", "modes"):
        table.add_column(column, no_wrap=column == "mechanism")
    for entry in entries:
        for k, claim in enumerate(entry["claims"]):
            status = claim["status"] + (", known to be wrong" if claim["expected"] else "")
            modes = ", ".join(entry["modes"]) if k == 0 else ""
            table.add_row(entry["name"] if k == 0 else "", f"{claim['text']} ({status})", claim["source"], modes)
    _console().print(table)
    return NOTHING


def explain_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Explain one result of a record."""
    from dpassay.reports.terminal import print_explanation

    print_explanation(read_record(Path(arguments.record)), arguments.id, _console())
    return NOTHING


def replay_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Run one witness again."""
    witness = read_witness(Path(arguments.witness))
    found = replay(witness, file=arguments.data)
    outcome = "reproduced" if found.reproduced else "NOT reproduced"
    claim = witness["claim"]
    judged = f"the claim of {claim['epsilon']:g} is {'refuted' if found.refuted else 'not refuted'} here"
    if found.refuted and found.expected:
        judged += ", as is declared of it"
    sys.stdout.write(f"{witness['words']}\n{outcome}: {found.words}; {judged}\n")
    if found.refuted and not found.expected:
        return REFUTED
    return NOTHING if found.reproduced else FAILED


def report_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Make reports from a record."""
    from dpassay import reports

    record = read_record(Path(arguments.record))
    formats = [word.strip() for word in arguments.format.split(",")]
    for word in formats:
        if word not in reports.FORMATS:
            raise InvalidInput(f"--format = '{arguments.format}': must be a list of {', '.join(reports.FORMATS)}")
    reports.write(record, formats, Path(arguments.out))
    for word in formats:
        sys.stderr.write(f"{word}: {Path(arguments.out) / reports.FORMATS[word].filename}\n")
    return NOTHING


TRIALS_ONLY = ("budget", "detect", "jobs", "executor", "shard_timeout", "resume")
IDLE_OPTIONS = {
    "auto": ("n", "domain"),
    "monte-carlo": ("n", "domain"),
    "exact": ("n", "domain", *TRIALS_ONLY),
    "exhaustive": ("data", "target", "train", "queries", "neighbours", *TRIALS_ONLY),
}
"""Options that would change nothing in a mode; they are refused, not ignored."""


def _settings(arguments: argparse.Namespace) -> Settings:
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


def _auditees(arguments: argparse.Namespace) -> list[Auditee]:
    parameters = dict(_assignment(text, "-p") for text in arguments.parameters)
    if arguments.learner is not None:
        parameters["learner"] = arguments.learner
    targets = arguments.targets or list(CATALOGUE)
    claims = None if arguments.claim is None else (_claim(arguments.claim),)
    if len(targets) == 1:
        return [resolve(targets[0], parameters, claims)]
    for name in parameters:
        if not any(accepts(target, name) for target in targets):
            raise InvalidInput(f"-p {name}: none of {', '.join(targets)} has such a parameter")
    return [
        resolve(target, {name: value for name, value in parameters.items() if accepts(target, name)}, claims)
        for target in targets
    ]


def _claim(text: str) -> Claim:
    given = dict(_assignment(part, "--claim") for part in text.split(","))
    unknown = set(given) - {"epsilon", "delta"}
    if unknown or "epsilon" not in given:
        raise InvalidInput(f"--claim = '{text}': must be epsilon=E or epsilon=E,delta=D")
    try:
        return DP(epsilon=float(given["epsilon"]), delta=float(given.get("delta", 0)), source="--claim")
    except ValueError as error:
        raise (error if isinstance(error, InvalidInput) else InvalidInput(f"--claim = '{text}': must hold numbers")) from None


def _assignment(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise InvalidInput(f"{option} {text}: must have the form name=value")
    return name.strip(), value.strip()


def _data(arguments: argparse.Namespace) -> Group:
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


ALONE = ("--json", "-q", "--quiet", "--resume", "--allow-inconclusive")
WITH_A_VALUE = ("--out", "--jobs", "--executor", "--shard-timeout")
"""Options that change nothing in a record."""


def _command(words: list[str]) -> str:
    """Return the command that reproduces the record: where it was written to and how it was run does not belong to it."""
    kept, rest = [], iter(words)
    for word in rest:
        if word in WITH_A_VALUE:
            next(rest, None)
        elif word not in ALONE and word.partition("=")[0] not in WITH_A_VALUE:
            kept.append(word)
    return shlex.join(["dpassay", *kept])


@contextmanager
def _ledger(directory: Path | None, *, resume: bool) -> Iterator[Ledger | None]:
    """Open the ledger of a folder, if there is one to be had."""
    if directory is None:
        yield None
        return
    with Ledger(directory / "ledger.sqlite", resume=resume) as ledger:
        yield ledger


def _commit() -> str | None:
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)  # noqa: S607
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() if found.returncode == 0 else None


def _write_sidecars(directory: Path, results: list[Result], seconds: float) -> None:
    write_text(directory / "cells.csv", cells_csv(results))
    circumstances = {
        "seconds": round(seconds, 3),
        "host": platform.node(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    write_text(directory / "sidecar.json", json.dumps(circumstances, indent=2, sort_keys=True) + "\n")
    written = set()
    for result in results:
        witness = make_witness(result)
        if witness is not None:
            path = directory / witness_file(result.id)
            write_text(path, dumps(witness))
            written.add(path)
    for path in (directory / "witnesses").glob("*.json"):
        if path not in written and is_witness(path):
            path.unlink()  # of an earlier run into this folder


def _exit_code(results: Iterable[Result], *, allow_inconclusive: bool) -> int:
    found = list(results)
    if any(result.verdict == "refuted" and not result.as_expected for result in found):
        return REFUTED
    if any(result.verdict == "error" or not result.as_expected for result in found):
        return FAILED
    if any(result.verdict == "inconclusive" for result in found) and not allow_inconclusive:
        return INCONCLUSIVE
    return NOTHING if found else EMPTY


def _entry(auditee: Auditee) -> dict[str, Any]:
    modes = ["exact", "exhaustive"] if isinstance(auditee.mechanism, HasLaw) else []
    modes += ["monte-carlo"] + (["any size"] if isinstance(auditee.mechanism, HasReachable) else [])
    claims = [claim.as_json() | {"text": str(claim), "expected": claim.expected} for claim in auditee.claims]
    return {"name": auditee.name, "parameters": auditee.parameters, "claims": claims, "modes": modes}


def _console() -> Any:
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal loses a symbol, not the report
    return Console()


@contextmanager
def _readers_may_leave() -> Iterator[None]:
    """Go on when whoever reads our output has gone (`| head`): the exit code still tells what was found."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _bars(*, quiet: bool) -> Iterator[Progress]:
    """Progress bars on stderr, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show
