"""The command line: what can be asked. What is then done stands in `dpassay.cli.run`."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from dpassay.cli.attack_options import attack_parser
from dpassay.cli.parser import Parser, add_options, one_of
from dpassay.errors import DpassayError, InvalidInput, TargetError

EXIT_CODES = """exit codes:
  0    nothing refuted, or only what is declared as expected
  1    a claim refuted, or a regression against the baseline
  2    wrong usage or configuration; nothing was run, nothing was written
  3    a mechanism failed, or a claim that is known to be wrong was not refuted
  4    inconclusive: the asked power was not reached
  5    nothing was audited
  130  interrupted; what was finished is in the record
"""

RUN_EXAMPLES = """examples:
  dpassay init && dpassay run
      what dpassay.toml holds: your own mechanisms, each with its claim
  dpassay run --out report
      the whole catalogue on scikit-learn's breast cancer data; open report/index.html
  dpassay run soft-majority -p epsilon=0.5 -p r=11 --learner tree
      one mechanism with parameters in the paper's letters
  dpassay run projected-walk --mode exhaustive -p T=3 --n 5 --domain 3
      the true worst case over all datasets of 5 records on 3 points
  dpassay run soft-majority -p epsilon=2 --claim epsilon=1 --mode monte-carlo
      hold a mechanism against another claim than its own, by sampling
  dpassay run my_module:my_predict --claim epsilon=1 --data people.csv --label income
      your own function(data, queries, size, rng) on your own data
  dpassay run my_module:my_score --answers 0..1 --claim gamma=0.1 --dry-run
      what it would take to hold a function that answers numbers against a claim of stability

"""


DEBUG = "--debug"
MODULES = {
    "selftest": "selftest",
    "config": "config",
    "init": "config",
    "compare": "baseline",
    "baseline": "baseline",
    "attack": "attack",
    "plan": "attack_plan",
}
"""Where commands are done that are not done in `dpassay.cli.run`."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = Parser(prog="dpassay", description="Test a randomised algorithm against the privacy it claims.", epilog=EXIT_CODES)
    top.add_argument("--version", action="store_true", help="print the version and stop")
    top.add_argument(
        DEBUG, action="store_true", help="show the traceback of an error, of your own code too; goes with every command"
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    _run(commands)
    _plan(commands)
    listing = commands.add_parser("list", help="mechanisms, their claims, sources and modes", description="List the catalogue.")
    listing.add_argument("--json", action="store_true", help="as JSON")
    explain = commands.add_parser(
        "explain",
        help="one result: witness, counts, bound, how to replay",
        description="Explain one result of a record.",
    )
    explain.add_argument("id", metavar="ID", help="id of a result, as the table shows it")
    explain.add_argument("--record", default="report/record.json", metavar="FILE", help="record to read (default: %(default)s)")
    replay = commands.add_parser(
        "replay",
        help="run one witness again, alone",
        description="Run one witness again: the same pair, query and event, with the same seed.",
        epilog="examples:\n  dpassay replay report/witnesses/soft-majority.printed.exact.json\n\n"
        "exit codes: 0 reproduced, 1 reproduced and the claim is refuted, 3 not reproduced",
    )
    replay.add_argument("witness", metavar="WITNESS", help="a file of the folder witnesses/ that run --out writes")
    replay.add_argument("--data", metavar="FILE", help="where the CSV file of the witness lies now (default: where it lay)")
    attack_parser(commands)
    _selftest(commands)
    _config(commands)
    _baseline(commands)
    report = commands.add_parser(
        "report",
        help="reports from a record",
        description="Make reports from a record.",
        epilog="examples:\n  dpassay report report/record.json --format html,md -o pages\n"
        "  dpassay report report/record.json --format junit -o report    # report/junit.xml, for a CI server",
    )
    report.add_argument("record", metavar="RECORD", help="record.json of a run, or attack.json")
    report.add_argument(
        "--format", default="html,md,json,junit", metavar="LIST", help="of html, md, json, junit (default: %(default)s)"
    )
    report.add_argument("-o", "--out", default="report", metavar="DIR", help="where to write (default: %(default)s)")
    report.add_argument("--exit-code", action="store_true", help="leave with the exit code of a run that ended with this record")
    report.add_argument("--allow-inconclusive", action="store_true", help="with --exit-code: 0 instead of 4")
    return top


def _run(commands: Any) -> None:
    run = commands.add_parser(
        "run",
        help="audit mechanisms against their claims",
        description="Audit mechanisms against their claims. Without TARGET: those of dpassay.toml (see `dpassay init`), "
        "else the whole built-in catalogue. What is not said here is taken from there.",
        epilog=RUN_EXAMPLES + EXIT_CODES,
    )
    run.add_argument("targets", nargs="*", metavar="TARGET", help="a name of `dpassay list`, or module:object of your own")
    run.add_argument(
        "--configured", action="store_true", help="refuse to audit the catalogue: something is configured, or a TARGET given"
    )
    _subject(run)
    how = run.add_argument_group("how it is found out")
    add_options(how, "mode")
    _sizes(how)
    how.add_argument("--n", type=int, metavar="N", help="records in a dataset, for --mode exhaustive")
    how.add_argument("--domain", metavar="POINTS", help="points of the line, or of a grid (3x2), for --mode exhaustive")
    add_options(how, "budget", "detect")
    how.add_argument("--dry-run", action="store_true", help="say what would be done and what it would cost, and stop")
    work = run.add_argument_group("how trials are run; no number depends on it")
    add_options(work, "jobs")
    work.add_argument(
        "--executor",
        type=one_of("inline", "local"),
        metavar="WHERE",
        help="local (all trials in worker processes) or inline (all in this process, to debug: what hangs or dies there ends the "
        "run); by default your own code runs in processes of its own, the catalogue in this one unless there are more jobs",
    )
    work.add_argument(
        "--shard-timeout",
        type=float,
        metavar="SECONDS",
        help="time that your code may take over one step (import, one prepare, a portion of trials) before its process is killed "
        "(default: 60)",
    )
    work.add_argument(
        "--memory",
        type=float,
        metavar="GIB",
        help="memory that a process of your code may take, on Linux (default: 4)",
    )
    work.add_argument(
        "--resume",
        action="store_true",
        default=None,
        help="go on with the run that DIR/ledger.sqlite of --out DIR holds, whose code and data must be the same",
    )
    _data(run)
    out = run.add_argument_group("output")
    out.add_argument(
        "--out", metavar="DIR", help="write record.json, index.html, report.md, junit.xml, cells.csv.gz and witnesses/ there"
    )
    out.add_argument("--json", action="store_true", help="print the record on stdout instead of the table")
    out.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks on stderr")
    out.add_argument("--allow-inconclusive", action="store_true", help="exit 0 instead of 4")


def _plan(commands: Any) -> None:
    plan = commands.add_parser(
        "plan",
        help="how many trials a wanted detectable loss takes",
        description="Say how many trials, and about how long, a sampled audit takes to see a loss above the claim.",
        epilog="examples:\n  dpassay plan soft-majority -p epsilon=0.5\n      for a ladder of losses\n"
        "  dpassay plan my_module:my_predict --claim epsilon=1 --detect 1.1 --data people.csv --label income\n"
        "  dpassay plan --attack soft-majority --epsilon 1 --detect 2\n"
        "      how many models `dpassay attack` must attack to see a leak of 2 against a claim of 1",
    )
    plan.add_argument("targets", nargs="*", metavar="TARGET", help="a name of `dpassay list`, or module:object of your own")
    plan.add_argument("--attack", action="store_true", help="of the guesses of `dpassay attack`: how many --models they take")
    plan.add_argument("--epsilon", metavar="LIST", help="with --attack: the claims (default: 0.1,0.5,1,2,8)")
    plan.add_argument(
        "--detect",
        type=float,
        metavar="LOSS",
        help="leak to be seen, above the claim and in its units (default: 5 to 100 %% above it)",
    )
    plan.add_argument("--json", action="store_true", help="as JSON")
    _subject(plan)
    _sizes(plan)
    _data(plan)


def _selftest(commands: Any) -> None:
    selftest = commands.add_parser(
        "selftest",
        help="is the harness itself right? shown on this machine, with figures",
        description="Show that the harness raises no false alarms and is not blind: exact errors of its tests, whole audits of "
        "mechanisms whose loss is known, golden numbers, replays. Takes about a minute.",
        epilog="examples:\n  dpassay selftest --out selftest\n      then open selftest/selftest.html\n"
        "  dpassay selftest --deep --seed 1\n      more of everything, other random numbers; about five minutes\n\n"
        "exit codes: 0 every check passed, 3 one failed: do not trust the harness here",
    )
    selftest.add_argument("--deep", action="store_true", help="more trials, audits and claims; about five minutes")
    selftest.add_argument("--seed", type=int, default=0, help="root of all random streams (default: %(default)s)")
    selftest.add_argument("--out", metavar="DIR", help="write selftest.html and selftest.json there")
    selftest.add_argument("--json", action="store_true", help="print the checks on stdout instead of the table")
    selftest.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks on stderr")


def _config(commands: Any) -> None:
    commands.add_parser(
        "init",
        help="a commented dpassay.toml and an example that runs",
        description="Write dpassay.toml, with what can be configured, and dpassay_example.py into the working directory.",
        epilog="examples:\n  dpassay init && dpassay run\n      then put your own function in the place of the example",
    )
    config = commands.add_parser(
        "config",
        help="what is in force and from where",
        description="Show what a run would take: the command line goes before variables DPASSAY_SEED and so on, these before "
        "dpassay.toml or [tool.dpassay] in pyproject.toml, these before the profile.",
        epilog="examples:\n  dpassay config --show\n  DPASSAY_SEED=3 dpassay config --show --profile deep",
    )
    config.add_argument("--show", action="store_true", help="print it (done in any case)")
    config.add_argument("--json", action="store_true", help="as JSON")
    _sizes(config)
    _data(config)


COMPARED = """what is a regression:
  refuted    a claim is refuted, whatever it was before
  failed     an entry could not be audited, or a claim that is known to be wrong was not refuted
  vanished   an entry is not there any more
  repointed  an entry's name stands for another target than it did
  weakened   a claim promises less than it did
  rose       the leak rose by more than the tolerance at cells that both have certified, and the intervals do not meet
  blinder    fewer pairs or queries, looked elsewhere, sampled where it was computed, less detectable for want of trials
what is news only: elsewhere (more leaks at a cell that was not certified before), fell, tightened, recovered, reworded, new

exit codes: 0 no regression shown, 1 a regression, 2 wrong usage, or a record or baseline that is missing or stale, 4 a sampled
entry could not have shown a rise, because none of the old record's cells was counted again
"""


def _baseline(commands: Any) -> None:
    pair = commands.add_parser(
        "compare",
        help="what has become worse from one record to another",
        description="Hold a record against an older one, entry by entry, all bounds made anew at one error probability.",
        epilog=f"examples:\n  dpassay compare last-week/record.json report/record.json\n\n{COMPARED}",
    )
    pair.add_argument("old", metavar="OLD", help="record.json of a run, or a baseline")
    pair.add_argument("new", metavar="NEW", help="record.json of a later run")
    pair.add_argument(
        "--tolerance",
        type=float,
        default=0.05,
        metavar="PART",
        help="of a claim, by which bounds may move (default: %(default)s)",
    )
    _compared(pair, "nowhere")
    baseline = commands.add_parser(
        "baseline",
        help="accept a record, and hold later ones against it",
        description="Keep the record that you have looked at and accepted, and hold later ones against it.",
        epilog="examples:\n  dpassay run && dpassay baseline accept\n      then commit dpassay-baseline.json\n"
        "  dpassay run && dpassay baseline check\n      in the pipeline",
    )
    actions = baseline.add_subparsers(dest="action", metavar="accept|check", required=True, parser_class=Parser)
    accept = actions.add_parser("accept", help="make a record the baseline", description="Make a record the baseline.")
    check = actions.add_parser(
        "check",
        help="hold a record against the baseline",
        description="Hold a record against the baseline. Suppressions of the configuration let regressions pass.",
        epilog=f"examples:\n  dpassay baseline check\n  dpassay baseline check ci/record.json --tolerance 0.1\n\n{COMPARED}",
    )
    for action in (accept, check):
        action.add_argument("record", nargs="?", metavar="RECORD", help="record.json of a run (default: the last one's)")
        action.add_argument(
            "--baseline", metavar="FILE", help="the accepted record (default: as configured, else dpassay-baseline.json)"
        )
    check.add_argument("--tolerance", type=float, metavar="PART", help="of a claim, by which bounds may move (default: 0.05)")
    _compared(check, "where the record of a run is written, if that is configured")


def _compared(command: Any, place: str) -> None:
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument(
        "-o",
        "--out",
        dest="pages",  # not the key `out` of the configuration, which says where records lie
        metavar="DIR",
        help=f"write comparison.md, comparison.json and comparison.xml (JUnit) there (default: {place})",
    )


def _subject(command: Any) -> None:
    what = command.add_argument_group("what is audited")
    what.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter, in the paper's letters; repeat for more",
    )
    what.add_argument(
        "--learner",
        metavar="NAME",
        help="base learner: logistic, majority, tree, stump, nearest, naive-bayes, threshold or module:object",
    )
    what.add_argument(
        "--claim",
        metavar="CLAIM",
        help="hold it against this claim instead of its own: epsilon=E, or epsilon=E,delta=D, or mu=M (Gaussian), or gamma=G "
        "(stability)",
    )
    what.add_argument(
        "--answers",
        metavar="WHICH",
        help="what a plain function answers: labels like 0,1,2 or numbers like 0..1, or .. for any (default: 0,1)",
    )


def _sizes(command: Any) -> None:
    add_options(command, "profile", "confidence", "seed")


def _data(command: Any) -> None:
    data = command.add_argument_group("data")
    add_options(data, "data", "label", "train", "queries", "train_queries", "neighbours")


def parse(words: list[str]) -> argparse.Namespace:
    """Read the words of a command line; an option that does not exist is refused."""
    arguments, unknown = parser().parse_known_args(words)
    if unknown:
        place = f"dpassay {arguments.command} --help" if arguments.command else "dpassay --help"
        raise InvalidInput(f"{unknown[0]}: no such option or argument (see {place})")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        The exit code; see `EXIT_CODES`.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    words = [word for word in given if word != DEBUG]  # wherever it stands; no number depends on it
    debug = len(words) < len(given)
    try:
        arguments = parse(words)
        arguments.debug = debug
        if arguments.version:
            from dpassay import __version__

            sys.stdout.write(f"dpassay {__version__}\n")
            return 0
        if arguments.command is None:
            parser().print_help()
            return 2
        commands = import_module(f"dpassay.cli.{MODULES.get(arguments.command, 'run')}")
        return int(getattr(commands, f"{arguments.command}_command")(arguments, words))
    except DpassayError as error:
        _complain(f"dpassay: error: {' '.join(str(error).split())}\n", error if debug else None)
        return 2 if isinstance(error, InvalidInput) else 3
    except KeyboardInterrupt:
        _complain("dpassay: interrupted\n")
        return 130
    except Exception as error:  # noqa: BLE001  (exit 1 means 'refuted': no bug of ours may leave with it)
        text = " ".join(str(error).split())
        told = f"dpassay: error: {type(error).__name__}: {text} (a bug of dpassay, or a file or terminal that failed)\n"
        _complain(told, error if debug else None)
        return 3


def _complain(text: str, error: BaseException | None = None) -> None:
    """Write a complaint, and how it came to an error if that is given."""
    with suppress(OSError):  # whoever reads stderr may have gone
        sys.stderr.write(text)
        if error is not None:
            sys.stderr.writelines(traceback.format_exception(error))
            if isinstance(error, TargetError) and error.__cause__ is None and error.detail:
                sys.stderr.write(f"{error.detail}\n")  # it came from another process, which alone had the traceback
