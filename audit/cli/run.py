r"""Audit mechanisms against their claims.

Without TARGET, this audits the mechanisms of dpassay.toml (see `dpassay
init`), or the whole built-in catalogue if nothing is configured. Options that
are not given are taken from the configuration.

  dpassay init && dpassay run
      audit your own mechanisms, which dpassay.toml lists with their claims
  dpassay run --out report
      audit the whole catalogue on scikit-learn's breast cancer data; then
      open report/index.html
  dpassay run soft-majority -p epsilon=0.5 -p r=11 --learner tree
      audit one mechanism; parameters have the paper's letters
  dpassay run projected-walk --mode exhaustive -p T=3 --n 5 --domain 3
      find the true worst case over all datasets of 5 records on 3 points
  dpassay run my_module:my_predict --claim epsilon=1 --data people.csv \
      --label income
      audit your own function(data, queries, size, rng), or a scikit-learn
      pipeline, on your own data
  dpassay run --process 'node server.js' --claim epsilon=1 \
      --search scalars,low=0,high=1
      audit a program in any language that answers on stdin and stdout; see
      docs/process.md
  dpassay run my_module:my_predict --claim epsilon=1 --out report \
      --jobs 4 --resume
      run the trials in four processes; go on where an earlier run into report
      has ended
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from dpassay.cli.exit_codes import EVERY, of_record
from dpassay.cli.interrupts import interrupts
from dpassay.cli.mechanisms import OF_SEARCH, WantedMechanisms, on_data, opened, wanted_of
from dpassay.cli.parser import DATA, SIZES, SUBJECT, Parser, add, add_switch, codes, in_force
from dpassay.cli.plan import dry_run
from dpassay.cli.sealed import sealed
from dpassay.cli.settings import data_of, read_table, refuse_idle_limits, settings_of
from dpassay.cli.shared import clear, command_of, deliver, write_sidecars
from dpassay.cli.terminal import console
from dpassay.config.load import Config
from dpassay.data import Labelled, split
from dpassay.engine.preflight import check
from dpassay.engine.result import Result
from dpassay.engine.run import Baseline, assay, opened_cluster
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, first_line, printable
from dpassay.progress import announce, bars
from dpassay.record.baseline import cells_of
from dpassay.record.files import exists
from dpassay.record.kinds import RUNS
from dpassay.record.places import add_places
from dpassay.record.run_record import make_record
from dpassay.search.spaces import space_of
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import AnswerKind, resolve
from dpassay.targets.source import commit
from dpassay.trials.isolation.limits import protections
from dpassay.trials.ledger import Ledger

DESCRIBING = (
    *("process", "http", "parameters", "learner", "claim", "answers", *OF_SEARCH, "configured"),
)
"""Options that say what is audited; the zoo has its own functions, claims and data."""
GO_ON = "; finished trials are in its ledger: go on with --resume"
"""What to do where the reports cannot be written."""
WRITTEN = "write record.json, index.html, report.md, junit.xml, witnesses/ and cells.csv.gz there"


class Log:
    """Tells that a mechanism is done, and when: a line each, where there are no progress bars."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock, self._began = stream, clock, clock()
        self._verdicts: list[str] = []

    def __call__(self, result: Result) -> None:
        """Take note of a result; the last one of its mechanism makes the line."""
        self._verdicts.append(result.verdict)
        if len(self._verdicts) < len(result.target.claims):
            return
        said, self._verdicts = ", ".join(self._verdicts), []
        name, seconds = printable(result.target.name), self._clock() - self._began
        self._stream.write(f"{seconds:8.1f} s  {name}: {said}\n")
        self._stream.flush()


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__, codes(EVERY))
    add(command, "targets")
    text = "fail instead of auditing the catalogue if there is no TARGET and no configuration"
    add_switch(command, "--configured", text)
    text = "audit broken mechanisms and their correct twins; TARGET names some (docs/zoo.md)"
    command.add_argument("--catalogue", choices=("zoo",), help=text)
    add(command, "--process --http")
    add(command, SUBJECT, "what is audited")
    keys = f"mode {SIZES} n domain budget detect stop_early"
    how = add(command, keys, "how it is audited")
    add_switch(how, "--dry-run", "show what would be done and what it would cost, and stop")
    work = add(
        command,
        "jobs executor scheduler shard_timeout memory",
        "how trials are run; no number depends on it",
    )
    text = "continue the run in DIR/ledger.sqlite of --out DIR; code and data must be the same"
    add_switch(work, "--resume", text)
    add(command, DATA, "data")
    out = command.add_argument_group("output")
    out.add_argument("--out", metavar="DIR", help=WRITTEN)
    add(out, "--json --quiet")
    add_switch(out, "-v --verbose", "a line for every result, however many")
    add(out, "--allow-inconclusive")


def action(arguments: argparse.Namespace) -> int:
    """Audit, print the table or the record, write the reports."""
    config = in_force(arguments)
    directory = config.folder
    if directory is not None and not arguments.dry_run:
        clear(directory)
    wanted = (
        _zoo_of(arguments, mode=config.mode)
        if arguments.catalogue
        else wanted_of(arguments, config, mode=config.mode)
    )
    if arguments.configured and not wanted.named:
        raise InvalidInput(
            "--configured: there is nothing to audit: no mechanism is configured and no TARGET "
            "given (dpassay init)"
        )
    settings = settings_of(config, resume=arguments.resume)
    accepted = _accepted(None if arguments.dry_run else Path(config.baseline))
    facts = config.some("seed", "confidence", "budget", "profile")
    facts |= {"command": command_of(arguments, config), "commit": commit()}
    with sealed(config, arguments.words) as changed:
        wanted = on_data(wanted, config, settings.limits)
        spoiled = changed()
        data, records, source = _data(config, wanted, settings)
        with opened(wanted, records, settings.limits) as targets:
            refuse_idle_limits(config, targets, settings)
            check(targets, data, settings)
            if arguments.dry_run:
                return dry_run(targets, data, settings, as_json=arguments.json)
            sampled = not arguments.quiet and settings.domain is None
            for each in targets if sampled else ():
                if each.space is None and (settings.mode == "monte-carlo" or not each.has_law):
                    queries = 1 if data is None else max(1, len(data.queries))
                    announce(each.name, 2 * settings.budget * queries)
            started, held = time.monotonic(), protections()
            results, complete = _audited(targets, data, settings, accepted, directory, arguments)
        spoiled |= changed()
    facts |= {"catalogue": not wanted.named, "data": source, "complete": complete}
    record = make_record(facts | spoiled, results)
    said = arguments.targets or arguments.process or arguments.http
    listed = () if said else config.mechanisms
    add_places(record, {each.id: each.target.address for each in results}, listed)
    seconds = time.monotonic() - started
    from dpassay import reports
    from dpassay.reports.run.terminal import print_summary

    def write(folder: Path) -> None:
        reports.write(record, ("json",), folder)
        write_sidecars(folder, results, seconds, held)
        interrupts.settle(f"{folder / 'record.json'} is written, its pages are not")
        pages = [each for each in reports.DEFAULT if each != "json"]
        reports.write(record, pages, folder, protections=held)

    show = partial(
        print_summary, record, console(), everything=arguments.verbose, directory=directory
    )
    page = None if directory is None else directory / "index.html"
    deliver(record, page, write, show, arguments, GO_ON)
    return of_record(record, allow_inconclusive=arguments.allow_inconclusive)


def _zoo_of(arguments: argparse.Namespace, *, mode: str) -> WantedMechanisms:
    """Return the broken mechanisms that a command line names, or all, each before its twin."""
    from dpassay.mechanisms.broken.zoo import specimens

    if any(getattr(arguments, key) for key in DESCRIBING):
        raise InvalidInput(f"--catalogue zoo: goes without {', '.join(DESCRIBING)}")
    known = {each.name: each for each in specimens()}
    for name in arguments.targets:
        if name not in known:
            raise InvalidInput(f"TARGET = '{name}': must be one of {', '.join(known)}")
    members = []
    for name in arguments.targets or known:
        each = known[name]
        space = space_of(each.data)
        claim = replace(each.claim, relation=space.relation)
        for called, function, told in (
            (name, each.function, replace(claim, expected="refuted")),
            (f"{name}-twin", each.twin, claim),
        ):
            address = f"{function.__module__}:{function.__name__}"
            answers = AnswerKind(free=True, bits=each.bits)
            target = resolve(address, None, (told,), answers, name=called)
            members.append(replace(target, space=space))
    return WantedMechanisms(mechanisms=(), named=True, mode=mode, members=tuple(members))


def _data(
    config: Config, wanted: WantedMechanisms, settings: Settings
) -> tuple[PairGroup | None, int | Labelled, dict[str, Any] | None]:
    """Return pairs and queries, the records or how many, and where they came from.

    Only what somebody looks at is read: a search brings its own pairs.
    """
    if settings.domain is not None:
        return None, settings.domain.n, None
    if None in wanted.searches:
        data = data_of(config)
        return data, data.pairs.base, data.source
    if any(each is not None and each.of_records for each in wanted.searches):
        sizes = config.some("train", "queries", "seed")
        parts = split(read_table(config), **sizes)
        return None, parts.train, parts.source
    return None, 0, None


def _accepted(path: Path | None) -> Baseline:
    """Return what says which cells of the accepted baseline are counted again.

    Without a sound one, none are.
    """
    nothing: dict[str, Any] = {"results": []}
    try:
        return cells_of(RUNS.read(path, "baseline") if path and exists(path) else nothing)
    except InvalidInput as error:
        sys.stderr.write(f"dpassay: {error}; none of its cells is counted again\n")
        return cells_of(nothing)


def _audited(
    targets: list[AuditTarget],
    data: PairGroup | None,
    settings: Settings,
    accepted: Baseline,
    directory: Path | None,
    arguments: argparse.Namespace,
) -> tuple[list[Result], bool]:
    """Return the results, and whether they are all there are; errors are told on stderr."""
    results: list[Result] = []
    path = None if directory is None else directory / "ledger.sqlite"
    alone = len(targets) == 1 or arguments.quiet
    log = None if alone or sys.stderr.isatty() else Log(sys.stderr)
    try:
        with (
            opened_cluster(settings) as cluster,
            nullcontext() if path is None else Ledger(path, resume=arguments.resume) as ledger,
            bars(quiet=arguments.quiet) as progress,
            redirect_stdout(sys.stderr),  # what a mechanism prints is no part of the record
        ):
            for result in assay(targets, data, settings, progress, ledger, accepted, cluster):
                results.append(result)
                if log is not None:
                    log(result)
                if result.verdict == "error" and not arguments.quiet:
                    detail = result.outcome.detail
                    detail = detail if arguments.debug else first_line(detail)
                    cause = ": ".join(filter(None, (result.outcome.reason, detail)))
                    told = printable(f"dpassay: {result.id}: error: {cause}", line=False)
                    sys.stderr.write(f"{told}\n")
            interrupts.wait()
    except KeyboardInterrupt:
        return results, False
    return results, True
