"""What the commands do: read the arguments, call the core, hand the record to the reports, choose the exit code."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.claims import SINGLE, claim_from_json
from dpassay.cli.options import configure, data_of, opened, refuse_idle_limits, settings_of
from dpassay.cli.shared import bars, clear, command_of, commit, console, foretell, readers_may_leave, write_sidecars
from dpassay.engine.monte_carlo import Budget
from dpassay.engine.planning import Cost, cost, draws_needed, ladder, measure
from dpassay.engine.preflight import check
from dpassay.engine.result import Result
from dpassay.engine.run import Baseline, assay
from dpassay.engine.settings import Settings
from dpassay.engine.wording import seen_words
from dpassay.errors import InvalidInput, first_line
from dpassay.numerics import upper_number
from dpassay.record.attack_record import UNSEEN, broken, is_attack_record, outspent, read_attack_record, told_of_claims
from dpassay.record.baseline import cells_of
from dpassay.record.files import dumps, writable
from dpassay.record.run_record import make_record, read_record
from dpassay.record.witness import read_witness, replay
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.groups import groups_for
from dpassay.targets.resolve import resolve
from dpassay.trials.ledger import Ledger

if TYPE_CHECKING:
    from dpassay.targets.groups import Group
    from dpassay.targets.guard import AuditTarget

REPORTS = "html,md,json,junit"
"""What `dpassay report` writes unless it is told."""
NOTHING, USAGE, REFUTED, FAILED, INCONCLUSIVE, EMPTY, INTERRUPTED = 0, 2, 1, 3, 4, 5, 130


def run_command(arguments: argparse.Namespace, words: list[str]) -> int:
    """Audit, print the table or the record, write the reports."""
    config = configure(arguments)
    directory = None if arguments.out is None else Path(arguments.out)
    if directory is not None and not arguments.dry_run:
        clear(directory)
    if arguments.configured and not (arguments.targets or config.mechanisms):
        raise InvalidInput(
            "--configured: nothing would be audited: no mechanism is configured and no TARGET given (dpassay init)"
        )
    settings = settings_of(arguments)
    data = None if settings.mode == "exhaustive" else data_of(arguments)
    limits = None if settings.executor == "inline" else settings.limits
    with opened(arguments, settings.domain.n if settings.domain else len(data.pairs.base) if data else 0, limits) as targets:
        refuse_idle_limits(arguments, targets, settings)
        check(targets, data, settings)
        if arguments.dry_run:
            return _dry_run(targets, data, settings, as_json=arguments.json)
        if directory is not None:
            writable(directory)
        if not arguments.quiet:
            sampled = (each.name for each in targets if settings.mode == "monte-carlo" or not each.has_law)
            foretell(() if settings.domain else sampled, settings.budget, 0 if data is None else len(data.queries))
        started = time.time()
        results, complete = _audited(targets, data, settings, _accepted(Path(config.baseline)), directory, arguments)
    facts = {
        "seed": settings.seed,
        "confidence": settings.confidence,
        "budget": settings.budget,
        "profile": arguments.profile,
        "command": command_of(words, arguments.environment),
        "catalogue": not (arguments.targets or config.mechanisms),
        "complete": complete,
        "data": None if data is None else data.source,
        "commit": commit(),
    }
    record = make_record(facts, results)
    _deliver(record, results, directory, arguments, time.time() - started)
    return exit_code(record, allow_inconclusive=arguments.allow_inconclusive)


def _accepted(path: Path) -> Baseline:
    """Return what says which cells of the accepted baseline are counted again; without a sound one, none are."""
    nothing: dict[str, Any] = {"results": []}
    try:
        return cells_of(read_record(path, "baseline") if path.exists() else nothing)
    except InvalidInput as error:
        sys.stderr.write(f"dpassay: {error}; none of its cells is counted again\n")
        return cells_of(nothing)


def _audited(
    targets: list[AuditTarget],
    data: Group | None,
    settings: Settings,
    accepted: Baseline,
    directory: Path | None,
    arguments: argparse.Namespace,
) -> tuple[list[Result], bool]:
    """Return the results, and whether they are all there are; errors are told on stderr."""
    results: list[Result] = []
    try:
        with (
            _ledger(directory, resume=bool(arguments.resume)) as ledger,
            bars(quiet=arguments.quiet) as progress,
            redirect_stdout(sys.stderr),  # what a mechanism prints is no part of the record
        ):
            for result in assay(targets, data, settings, progress, ledger, accepted):
                results.append(result)
                if result.verdict == "error" and not arguments.quiet:
                    detail = result.outcome.detail if arguments.debug else first_line(result.outcome.detail)
                    cause = ": ".join(filter(None, (result.outcome.reason, detail)))
                    sys.stderr.write(f"dpassay: {result.id}: error: {cause}\n")
    except KeyboardInterrupt:
        return results, False
    except InvalidInput:
        if directory is not None:
            with suppress(OSError):
                directory.rmdir()  # only if we made it: a folder with anything in it stays
        raise
    return results, True


def _deliver(
    record: dict[str, Any], results: list[Result], directory: Path | None, arguments: argparse.Namespace, seconds: float
) -> None:
    """Write the reports, and print the table or the record."""
    from dpassay import reports
    from dpassay.reports.run.terminal import print_summary

    if directory is not None:
        reports.write(record, list(reports.FORMATS), directory)
        write_sidecars(directory, results, seconds)
    with readers_may_leave():
        if arguments.json:
            sys.stdout.write(dumps(record))
        else:
            print_summary(record, console())
        sys.stdout.flush()
    if directory is not None and not arguments.quiet:
        with readers_may_leave(sys.stderr):
            sys.stderr.write(f"report: {directory / 'index.html'}\n")


def plan_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Say what it takes to see a leak."""
    configure(arguments)
    data = data_of(arguments)
    settings = Settings(mode="monte-carlo", seed=arguments.seed, confidence=arguments.confidence, detect=arguments.detect)
    with opened(arguments, len(data.pairs.base), settings.limits) as (target,):
        return _plan(target, data, settings, arguments)


def _plan(target: AuditTarget, data: Group, settings: Settings, arguments: argparse.Namespace) -> int:
    check([target], data, settings)
    groups, claim = groups_for(target, data), target.claims[0]
    speed, alpha = measure(target, groups), (1 - settings.confidence) / len(target.claims)
    leaks = ladder(target, claim) if settings.detect is None else (settings.detect,)
    costs = []
    for leak in leaks:
        draws = draws_needed(target, claim, groups, leak, alpha)
        costs.append((leak, cost(target, claim, groups, Budget(draws=draws, alpha=alpha), speed)))
    if arguments.json:
        sys.stdout.write(
            json.dumps([_cost_json(each) | {"detect": leak} for leak, each in costs], indent=2, sort_keys=True) + "\n"
        )
        return NOTHING
    table = _plain_table(f"to see a {claim.quantity} of", "--budget", "trials in all", "about, on one core")
    for leak, each in costs:
        table.add_row(f"{leak:g}", f"{each.draws:,}", f"{each.trials:,}", f"{each.seconds:,.0f} s")
    certified = costs[0][1].certified
    out = console()
    out.print(
        f"{target.name}, {claim}, {certified} certified cells, confidence {settings.confidence}; probability 0.9, "
        "screening included"
    )
    out.print(table)
    if (rarest := costs[0][1].sight.frequency) is not None:
        out.print(
            f"a {claim.quantity} at one of the {costs[0][1].pairs:,} pairs, through an answer of probability {rarest:g} or more; "
            "through a rarer one it takes more"
        )
    return NOTHING


def _dry_run(targets: list[AuditTarget], data: Group | None, settings: Settings, *, as_json: bool) -> int:
    """Say what a run would do, and about how long it would take; nothing is audited and nothing written."""
    out = console()
    if settings.domain is not None:
        datasets = len(settings.domain.records) ** settings.domain.n
        out.print(f"{settings.domain}: the laws of {datasets:,} datasets of each of {len(targets)}; no trials")
        return NOTHING
    share = (1 - settings.confidence) / max(1, sum(len(target.claims) for target in targets))
    budget, plans = Budget(draws=settings.budget, alpha=share), []
    for target in targets:
        groups = groups_for(target, data)
        speed = measure(target, groups)
        law = settings.mode != "monte-carlo" and target.has_law
        plans += [(target.name, claim, law, cost(target, claim, groups, budget, speed)) for claim in target.claims]
    if as_json:
        shown = [{"mechanism": name, "claim": str(claim), "law": law} | _cost_json(each) for name, claim, law, each in plans]
        sys.stdout.write(json.dumps(shown, indent=2, sort_keys=True) + "\n")
        return NOTHING
    for name, claim, law, each in plans:
        out.print(f"{name}, {claim}: {each.pairs:,} pairs, {each.queries:,} queries, {each.cells:,} cells")
        if law:
            only = claim.computed
            out.print(f"  exact, without trials{'' if only else ', if its law is known for these data; else sampled as follows'}")
            if only:
                continue
        out.print(f"  screening: {each.screening:,} trials of each of {each.pairs + 1:,} datasets at least")
        out.print(
            f"  certification: {each.certified:,} cells, {each.draws:,} trials per side; {each.trials:,} runs in all at most"
        )
        spent = each.spending
        out.print(
            f"  alpha {spent.alpha:.3g}: lower bounds {spent.lower:.3g} ({spent.each_lower:.3g} each), upper bounds "
            f"{spent.upper:.3g}, profiles {spent.profile:.3g}"
        )
        seen = seen_words(claim.quantity, each.sight.detectable, each.sight.frequency)
        out.print(f"  detectable: {seen}, at one of these pairs (assumed: the run says what it saw)")
        out.print(f"  about {each.seconds:,.0f} s on one core")
    return NOTHING


def _cost_json(each: Cost) -> dict[str, Any]:
    seen = {"detectable": upper_number(each.sight.detectable), "sight": each.sight.as_json()}
    return {name: value for name, value in asdict(each).items() if name != "sight"} | {"spending": each.spending.as_json()} | seen


def _plain_table(*columns: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def list_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001  (every command has one signature)
    """Print the catalogue."""
    entries = [_entry(resolve(name)) | {"source": entry.cited} for name, entry in ENTRIES.items()]
    if arguments.json:
        sys.stdout.write(json.dumps(entries, indent=2, sort_keys=True) + "\n")
        return NOTHING
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in ("mechanism", "claim", "source", "modes"):
        table.add_column(column, no_wrap=column == "mechanism", overflow="fold")
    for entry in entries:
        for k, claim in enumerate(entry["claims"]):
            status = claim["status"] + (", known to be wrong" if claim["expected"] else "")
            modes = ", ".join(entry["modes"]) if k == 0 else ""
            unit = "" if claim["unit"] == SINGLE else f", {claim['unit']}"
            table.add_row(entry["name"] if k == 0 else "", f"{claim['text']} ({status}){unit}", claim["source"], modes)
    console().print(table)
    return NOTHING


def explain_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Explain one result of a record."""
    from dpassay.reports.run.terminal import print_explanation

    print_explanation(read_record(Path(arguments.record)), arguments.id, console())
    return NOTHING


def replay_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Run one witness again."""
    witness = read_witness(Path(arguments.witness))
    found = replay(witness, file=arguments.data)
    outcome = "reproduced" if found.reproduced else "NOT reproduced"
    claim = claim_from_json(witness["claim"])
    judged = f"the claim of {claim.promised:g} is {'refuted' if found.refuted else 'not refuted'} here"
    judged = "nothing is claimed of it" if claim.status == "measured" else judged
    if found.refuted and found.expected:
        judged += ", as is declared of it"
    sys.stdout.write(f"{witness['words']}\n{outcome}: {found.words}; {judged}\n")
    if found.refuted and not found.expected:
        return REFUTED
    return NOTHING if found.reproduced else FAILED


def report_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Make reports from a record of an audit, or of attacks; there is no JUnit report of these."""
    from dpassay import reports
    from dpassay.reports.attack.pages import FORMATS

    path = Path(arguments.record)
    attacks = is_attack_record(path)
    known = FORMATS if attacks else reports.FORMATS
    record = read_attack_record(path) if attacks else read_record(path)
    asked = ",".join(known) if attacks and arguments.format == REPORTS else arguments.format
    formats = [word.strip() for word in asked.split(",")]
    if not set(formats) <= set(known):
        kind = " for a record of attacks" if attacks else ""
        raise InvalidInput(f"--format = '{arguments.format}': must be a list of {', '.join(known)}{kind}")
    reports.write(record, formats, Path(arguments.out), known)
    for word in formats:
        sys.stderr.write(f"{word}: {Path(arguments.out) / known[word].filename}\n")
    if not arguments.exit_code:
        return NOTHING
    allow = bool(arguments.allow_inconclusive)
    return attack_exit_code(record, allow_inconclusive=allow) if attacks else exit_code(record, allow_inconclusive=allow)


def attack_exit_code(record: Mapping[str, Any], *, allow_inconclusive: bool) -> int:
    """A claim that what was certified breaks is refuted; what failed comes next, then what could not have been seen."""
    if not record["run"]["complete"]:
        return INTERRUPTED
    subjects = record["subjects"]
    if any(any(broken(subject)) for subject in subjects) or any(map(outspent, record["repeated"])) or record["defects"]:
        return REFUTED
    if any(each.get("error") for each in (*subjects, *record["repeated"])):
        return FAILED
    blind = UNSEEN in told_of_claims(record).values() or record["run"].get("probe", {}).get("blind")
    if blind and not allow_inconclusive:
        return INCONCLUSIVE
    return NOTHING if subjects or "service" in record["run"] else EMPTY


@contextmanager
def _ledger(directory: Path | None, *, resume: bool) -> Iterator[Ledger | None]:
    """Open the ledger of a folder, if there is one to be had."""
    if directory is None:
        yield None
        return
    with Ledger(directory / "ledger.sqlite", resume=resume) as ledger:
        yield ledger


def exit_code(record: Mapping[str, Any], *, allow_inconclusive: bool) -> int:
    """Return what a run leaves with, by its record."""
    if not record["run"]["complete"]:
        return INTERRUPTED
    found = [(result["verdict"], result["expected"]) for result in record["results"]]
    if ("refuted", None) in found:
        return REFUTED
    if any(verdict == "error" or (expected is not None and verdict != expected) for verdict, expected in found):
        return FAILED
    if ("inconclusive", None) in found and not allow_inconclusive:
        return INCONCLUSIVE
    return NOTHING if found else EMPTY


def _entry(target: AuditTarget) -> dict[str, Any]:
    modes = ["exact", "exhaustive"] if target.has_law else []
    modes += ["monte-carlo"] + (["any size"] if target.has_reachable else [])
    claims = [claim.as_json() | {"text": str(claim), "expected": claim.expected} for claim in target.claims]
    return {"name": target.name, "parameters": target.parameters, "claims": claims, "modes": modes}
