"""Options: one row each, the source of the command line, file, environment, pytest and page.

The page is docs/configuration.md.

Those of `OPTIONS` may be set everywhere, those of `COMMAND_LINE` on the command line alone.
"""

from __future__ import annotations

import os
import re
from typing import Any

from dpassay.config.option import Option, count, number, one_of, several, switch, text
from dpassay.config.profiles import BUDGET, CONFIDENCE, MEMORY, PROFILES, SHARD_TIMEOUT
from dpassay.config.searches import (
    OUTPUTS,
    SEARCHES,
    output_meant,
    output_text,
    search_meant,
    search_text,
)
from dpassay.config.values import listed
from dpassay.errors import is_count

MOST_BUDGET = 10**10
"""More trials would never end."""
MOST_JOBS = 1024
MOST_MEMORY = 2.0**20
"""GiB; nobody has more."""
LEAST_TRANSCRIPTS = 20
"""A side; see `dpassay.attacks.repeated.run`."""
MODES = ("auto", "exact", "exhaustive", "monte-carlo")
NEIGHBOURS = ("one", "flip", "one+flip", "all")
EXECUTORS = ("inline", "local", "dask")


def is_address(text: Any) -> bool:
    """Return whether a text is the address of a scheduler, as Dask writes it."""
    return isinstance(text, str) and re.fullmatch(r"[a-z]+://[^\s/]+:\d{1,5}", text) is not None


def _sides(given: Any) -> int | tuple[int, ...]:
    """Read a number of points, or of points on each side of a grid: `3x2`, or `[3, 2]`."""
    found = tuple(map(int, given.split("x") if "x" in str(given) else listed(given)))
    return found[0] if len(found) == 1 else found


# a table: what each value is, then what it means
# fmt: off
_EVERYWHERE = (
    one_of("profile", PROFILES, default="default", metavar="PROFILE",
        help="quick, default or deep: the sizes of everything that is not set otherwise"),
    count("seed", 0, default=0, help="root of all random streams"),
    number("confidence", "[0.5, 1)", default=CONFIDENCE, metavar="PART",
        help="confidence of the whole run, at least 0.5"),
    one_of("mode", MODES, default="auto", metavar="MODE",
        help="auto (exact where the mechanism has a law), exact, exhaustive or monte-carlo"),
    count("budget", 100, MOST_BUDGET, why="more trials would never end", default=BUDGET,
        shown="by profile", metavar="TRIALS",
        help="certification trials per side and finalist, for monte-carlo"),
    count("jobs", 1, MOST_JOBS, default=1,
        meant=lambda n: "" if is_count(n) else f"this machine has {os.cpu_count() or 1} processors",
        help="processes that run trials or train models; no number depends on it"),
    one_of("executor", EXECUTORS, metavar="WHERE",
        shown="your own code in its own processes, the catalogue here unless --jobs > 1",
        help="local (all trials in worker processes), dask (on a Dask cluster) or inline (one "
        "trial after another, for debugging; your own code keeps its process)"),
    Option("scheduler", str, is_address, "like tcp://HOST:PORT", metavar="ADDRESS",
        shown="--jobs workers on this machine",
        help="scheduler of the Dask cluster, as tcp://HOST:PORT, for --executor dask"),
    number("detect", "(0, inf)", metavar="LEAK",
        shown="1.5 times the claim, at most half-way to the largest possible leak",
        help="leak that sampling must be able to detect, above the claim and in its units"),
    switch("stop_early", default=None, shown="for your own code and in a search",
        help="end with the first proof; else the audit goes on to the worst pair, and all trials "
        "bound it; an eighth of alpha is set aside for the proof"),
    text("out", shown="none", metavar="DIR", help="folder for the record and the reports"),
    text("baseline", default="dpassay-baseline.json", metavar="FILE",
        help="the accepted record, which later runs are compared with"),
    number("tolerance", "[0, 1]", default=0.05, metavar="PART",
        help="part of a claim by which a bound may rise before it is a regression"),
    Option("search", search_text, lambda value: search_meant(value) == "", SEARCHES,
        meant=search_meant, shown="none: pairs come from the data and from the mechanism",
        metavar="SPACE",
        help="search for the worst pair among such data: answers,size=5,sensitivity=1 (vectors "
        "of true answers), scalars,low=0,high=1,size=10 (lists of numbers) or records (like "
        "those of the data); the answers may be of any kind"),
    switch("together", help="with a search of records: all answers of one run are one output"),
    Option("output", output_text, lambda value: output_meant(value) == "", OUTPUTS,
        meant=output_meant, shown="a few runs show it", metavar="KIND",
        help="with a search: what one run returns: label (never read as a number), number, "
        "vector, sequence, text, or all values that occur, like yes,no"),
    number("search_seconds", "(0, inf)", shown="no limit", metavar="SECONDS",
        help="end a search after so many seconds, and certify what it has found; then what it "
        "finds depends on the machine"),
    text("data", shown="scikit-learn's breast cancer data", metavar="FILE",
        help="CSV file with a header line, or Parquet file (pip install pyarrow)"),
    text("label", shown="none", metavar="COLUMN", help="the column of --data that holds the label"),
    count("train", 1, shown="by profile", default=400, help="training records, at most"),
    count("queries", 1, shown="by profile", default=20, help="held-out query points, at most"),
    count("train_queries", 0, shown="by profile", default=0,
        help="training records whose points are query points too, at most"),
    one_of("neighbours", NEIGHBOURS, shown="by profile", default="one+flip", metavar="WHICH",
        help="per training record: one (replaced from the pool), flip (its label), one+flip, or "
        "all (every replacement)"),
)
_COMMAND_LINE = (
    # of `run`
    count("n", 1, shown="none", help="records in a dataset, for --mode exhaustive"),
    Option("domain", _sides, lambda value: not isinstance(value, str),
        "a number of points, or of points on each side of a grid like 3x2", shown="none",
        metavar="POINTS",
        help="points of a line, or of each side of a grid (3x2), for --mode exhaustive"),
    number("shard_timeout", "(0, inf)", default=SHARD_TIMEOUT, metavar="SECONDS",
        help="time limit for one step of your code (import, one prepare, a portion of trials); "
        "then its process is killed"),
    number("memory", f"(0, {MOST_MEMORY})", allowed=f"a number > 0 and below {MOST_MEMORY:g}",
        default=MEMORY, metavar="GIB", help="memory limit for a process of your code, on Linux"),
    # of attacks
    one_of("against", ("base", "mechanism"), shown="both", metavar="WHICH",
        help="attack only the unprotected base learner, or only mechanisms"),
    several("epsilon", number("epsilon", "(0, 700]"), "numbers in (0, 700]",
        default=(0.1, 0.5, 1.0, 2.0, 8.0), shown="0.1,0.5,1,2,8",
        help="claimed losses of a single answer"),
    one_of("task", ("classes", "numbers"), metavar="WHAT",
        shown="numbers if the label has values that are not whole",
        help="what is predicted: one of some classes, or a number"),
    one_of("signal", ("probability", "logit", "loss"), metavar="KIND",
        shown="what the file says, or the range of the scores tells",
        help="what the scores are: probability, logit or loss of the own label"),
    Option("transcripts", int,
        lambda n: is_count(n, 0) and (n == 0 or LEAST_TRANSCRIPTS <= n <= 10**9),
        f"0, or an integer from {LEAST_TRANSCRIPTS} to 1,000,000,000",
        shown="20000, or what the claim takes", metavar="N",
        help="transcripts per side for repeated queries of the worst pair; 0 for none"),
    several("budgets", count("answers", 1, 10**6), "integers from 1 to 1,000,000", default=(1, 8),
        shown="1,8", help="numbers of answers that the attacker gets about each record"),
    several("attacks", text("attack"), "names", shown="all", help="attacks to run, by name"),
    count("records", 2, default=400, help="records whose membership is guessed"),
    count("references", 4, 10**9, default=64, help="models that the attacker trains"),
    count("models", 2, 10**9,
        shown="from 32 to 256: enough to see a leak 2.5 above each claim and to certify 85 % of "
        "each in one run, of those that 256 are enough for; and fresh answers about the chosen "
        "records, to certify 85 % of the claim of one answer",
        help="target models, and no fresh answers; see dpassay plan --attack"),
    count("copies", 0, 10**6, default=8, help="noisy copies of each record"),
    number("noise", "[0, inf)", default=0.1, metavar="PART",
        help="noise of a copy, in standard deviations of its column"),
    count("canaries", 0, default=0, help="records replaced by canaries, reported separately"),
    one_of("planted", ("labels", "features"), default="labels", metavar="WHAT",
        help="what is random in a canary: its label or its features"),
    one_of("adversary", ("nat-minq", "nat-miaq", "pois-minq", "pois-miaq"), default="nat-minq",
        metavar="WHO",
        help="nat (natural data) or pois (poison in every training set); minq (asks about the "
        "records themselves) or miaq (at points chosen on reference models)"),
    count("poisoned", 0, shown="20, at most half",
        help="records surrounded by poison, with pois-..."),
    one_of("poison_labels", ("other", "balanced"), default="other", metavar="WHICH",
        help="labels of the poison: another one than the record's, or both in balance, so that "
        "the record decides a vote of its K nearest"),
    count("poison", 0, shown="2, or 25 where balanced", metavar="K",
        help="poisoned copies around each of these records"),
    text("attribute", shown="none", metavar="COLUMN",
        help="guess which of two values this column has, instead of membership: a column name, "
        "its number, or label"),
    text("slice_by", shown="none", metavar="COLUMN",
        help="tell records apart by this column: its categories, or quarters of its numbers"),
    text("cache", shown="the folder of --out", metavar="DIR",
        help="folder that keeps the answers of trained models; empty it when your own code "
        "changes"),
    # of comparisons
    count("splits", 2, 1000, default=5, help="random cuts of the data; intervals are over them"),
    switch("membership", default=True, help="try membership inference on every mechanism"),
)
# fmt: on
OPTIONS: dict[str, Option] = {option.key: option for option in _EVERYWHERE}
"""Every option that a file or the environment may set."""
COMMAND_LINE: dict[str, Option] = {option.key: option for option in _COMMAND_LINE}
"""Every option of `run`, `attack` and `compare-mechanisms` that the command line alone may set."""
TABLE = OPTIONS | COMMAND_LINE
"""Every option."""
