"""Bugs of privacy libraries that were reported in public, audited with a description of the data.

`python -m benchmarks.real_bugs` makes an environment for each bug with venv and pip, runs the
release of benchmarks/bugs there and audits it over the process protocol; then its control, which is
a repaired version or the same release done right. It prints a row as soon as it is done; `--write`
puts it into docs/real_bugs.json and docs/real_bugs.md, beside the rows that are there.

A description follows a rule and not the report: the columns, with limits where the interface
states some, else those of the type; what the interface lets be null may be missing; as many records
as the interface allows, else a few.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpassay import DP, Answers, Scalars, Tables, audit, zCDP
from dpassay.config.profiles import CONFIDENCE
from dpassay.engine.result import Result
from dpassay.errors import DpassayError
from dpassay.reports.run.notebook import found_lines
from dpassay.targets.foreign import ProcessLimits, process

ROOT = Path(__file__).parents[1]
DOCS, ENVIRONMENTS = ROOT / "docs", ROOT / "build" / "real_bugs"
SERVER = Path(__file__).parent / "bugs" / "server.py"
BUDGET, SLOW = 20_000, 2_000
"""Certification trials per side; of releases that take more than a few milliseconds."""
SEARCH = 300.0
"""Seconds that a search may take."""
LIMITS = ProcessLimits(start=180.0, memory=8.0)
TIMEOUT = 120.0
DELTA = 0.01
"""Where a claim is a curve, this point of it is held against."""
I32, I64, F64 = (-(2**31), 2**31 - 1), (1 - 2**53, 2**53 - 1), (-1e300, 1e300)
"""Limits of types, as far as a column can have them."""
FAR = (-1e6, 1e6)
MOST_SHOWN = 300
"""Characters of a message."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a release runs: nothing of it is in the project's lock file.

    Parameters
    ----------
    name : str
        Its folder.
    pins : tuple of str
        What pip installs.
    bare : tuple of str
        What pip installs without what it depends on.
    python : str
        Version of the interpreter, which has to be on the PATH.
    """

    name: str
    pins: tuple[str, ...]
    bare: tuple[str, ...] = ()
    python: str = "3.11"


NUMERIC = ("numpy==2.4.6", "scipy==1.17.1")
CURRENT = Environment(
    "current",
    (
        *("opendp==0.16.0", "polars==1.36.1", "pyarrow==26.0.1", "randomgen==2.5.1"),
        *("diffprivlib==0.6.6", "scikit-learn==1.6.1", "dp-accounting==0.6.0"),
        *("DataSynthesizer==0.1.13", "pandas==3.1.1", "opacus==1.6.0", "torch==2.13.0"),
        *NUMERIC,
    ),
)
"""All releases that go together share one: nothing is installed twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What must not be refuted; what is None is as in its row.

    Parameters
    ----------
    function : str
        Its name in the file.
    environment : Environment, optional
        That of a repaired version.
    claim, data : object, optional
        What it is held against, what its datasets look like.
    """

    function: str = "control"
    environment: Environment | None = None
    claim: DP | None = None
    data: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One bug.

    Parameters
    ----------
    name : str
    reference : str
        Where it is public.
    version : str
        What is audited.
    claim : DP or None
        What the library says, or the nearest that it implies; None if nothing can be claimed.
    says : str
        What the library says, and what is true.
    data : Space
        A description of the domain, not chosen from the report.
    environment : Environment
        That of all current releases by default.
    file : str
        In benchmarks/bugs; that of the name by default.
    function : str
        What is audited.
    control : Control or None
    broken : bool
        Whether there is a bug at all.
    note : str
        What cannot be expressed, or is known of the row.
    budget : int
    bits : bool
        Whether the low bits of numbers are looked at too.
    """

    name: str
    reference: str
    version: str
    claim: DP | None
    says: str
    data: Any
    environment: Environment = CURRENT
    file: str = ""
    function: str = "release"
    control: Control | None = field(default_factory=Control)
    broken: bool = True
    note: str = ""
    budget: int = BUDGET
    bits: bool = False


OLD_DIFFPRIVLIB = Environment(
    "diffprivlib030",
    ("diffprivlib==0.3.0", "scikit-learn==0.23.2", "numpy==1.21.6", "scipy==1.5.4"),
    python="3.8",
)
SYNTH = Environment("snsynth104", ("pandas==2.3.3", *NUMERIC), ("smartnoise-synth==1.0.4",))
NEW_SYNTH = Environment("snsynth108", ("pandas==2.3.3", *NUMERIC), ("smartnoise-synth==1.0.8",))
PRIVBAYES = Environment("datasynth014", ("DataSynthesizer==0.1.4", "pandas==3.1.1", *NUMERIC))


def other_feature(data: Any) -> Any:
    """Replace the feature of the first record, which keeps its label."""
    X = np.array(data.X, dtype=float)
    X[0, 0] = 0.0 if X[0, 0] > 0.5 else 1.0
    return X, data.y


RNG = np.random.default_rng(7)
NAMES = ["ann", "bob", "carol", "dave", "ann", "carol", "carol", "bob", "ann", "carol"]
FLOATS = pd.DataFrame({"x": RNG.uniform(0, 10, 16).round(3)})
DIVIDED = pd.DataFrame({"n": RNG.integers(0, 100, 16), "m": RNG.integers(1, 10, 16)})
SUMMED = pd.DataFrame({"x": RNG.uniform(-10, 10, 11).round(3)})
BINNED = pd.DataFrame({"x": RNG.uniform(0, 2, 101).round(3)})
THREE = pd.DataFrame({"A": ["a", "a", "a"], "B": [3, -7, 10]})
USERS = pd.DataFrame({"id": RNG.integers(0, 5, 40), "g": RNG.integers(0, 1000, 40)})
LINE = pd.DataFrame(RNG.random((10, 2)).round(3), columns=["x", "y"])
CLASSES = RNG.random((12, 1)).round(3), np.arange(12) % 3
VECTORS = RNG.uniform(-0.7, 0.7, (10, 2)).round(3)
COVARIED = pd.DataFrame(RNG.random((50, 2)).round(3), columns=["x", "y"])
BITS = pd.DataFrame({"a": RNG.integers(0, 2, 100), "b": RNG.integers(0, 2, 100)})
WIDE = RNG.uniform(-1, 1, (4, 100)).round(3)

NULLS = "NaN and null are one on the wire (null); the release reads it as NaN. "
INSIDE = "An L2 ball cannot be described; this is one of two boxes inside it. "
CURVE = f"The accountant gives one point: held against it at delta = {DELTA:g}. "
ISSUE, IBM = "opendp/opendp ", "IBM/differential-privacy-library "
LOW = 2.0**50
ROWS = (
    Row(
        name="opendp_2911",
        reference=ISSUE + "2911",
        version="OpenDP 0.16.0",
        claim=zCDP(0.5),
        says="rho = .5; not a bug",
        data=Answers(2, 1.0),
        control=None,
        broken=False,
    ),
    Row(
        name="opendp_2922",
        reference=ISSUE + "2922",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=1.0, delta=0.00492584),
        says="delta = .0049; true .0134",
        data=Tables(NAMES, relation="add-remove"),
    ),
    Row(
        name="opendp_2923",
        reference=ISSUE + "2923",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=2.0),
        says="epsilon = 2; true 3.15",
        data=Scalars(LOW, LOW + 1, size=1024, fixed=True),
    ),
    Row(
        name="opendp_2924",
        reference=ISSUE + "2924",
        version="OpenDP 0.16.0",
        claim=zCDP(0.32),
        says="rho = .32; true 1.36",
        data=Answers(16, 1.0, *I32),
        note=INSIDE,
    ),
    Row(
        name="opendp_2924_one_leaf",
        file="opendp_2924",
        reference=ISSUE + "2924",
        version="OpenDP 0.16.0",
        claim=zCDP(0.32),
        says="rho = .32; true 1.36",
        data=Answers(16, 4.0, *I32, moved=1),
        control=None,
        note=INSIDE + "Nothing is wrong in this one.",
        broken=False,
    ),
    Row(
        name="opendp_2925",
        reference=ISSUE + "2925",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; disjoint supports",
        data=Answers(2, 1.0, *I32, moved=1),
        note="Missed at first, when a search kept to the limits of Answers but did not go there: "
        "answers at their limits have been proposed since.",
    ),
    Row(
        name="opendp_2938",
        reference=ISSUE + "2938",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=0.0),
        says="epsilon = 0; a count without noise",
        data=Tables(FLOATS, limits={"x": F64}, values={"x": [None]}),
        note=NULLS,
    ),
    Row(
        name="opendp_2939",
        reference=ISSUE + "2939",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=0.0),
        says="epsilon = 0; a count without noise",
        data=Tables(FLOATS, limits={"x": F64}, values={"x": [None]}),
        note=NULLS,
    ),
    Row(
        name="opendp_2940",
        reference=ISSUE + "2940",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=0.0),
        says="epsilon = 0; a count without noise",
        data=Tables(
            DIVIDED.astype("Int64"),
            limits={"n": I64, "m": I64},
            values={"n": [None], "m": [None]},
        ),
        note="Integers beyond 2^53 cannot be described.",
    ),
    Row(
        name="opendp_2941",
        reference=ISSUE + "2941",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=1.0 + 1e-12),
        says="epsilon = 1; an infinity on one side",
        data=Tables(SUMMED, relation="add-remove", limits={"x": F64}),
    ),
    Row(
        name="opendp_2944",
        reference=ISSUE + "2944",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; disjoint supports in effect",
        data=Tables(BINNED, relation="add-remove", limits={"x": F64}),
    ),
    Row(
        name="opendp_2945",
        reference=ISSUE + "2945",
        version="OpenDP 0.16.0",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; true 2",
        data=Tables(THREE, relation="replace-3", limits={"B": I32}, fixed=True),
    ),
    Row(
        name="opendp_2949",
        reference=ISSUE + "2949",
        version="OpenDP 0.16.0",
        claim=zCDP(0.00125),
        says="rho = .00125; true 12.5",
        data=Tables(USERS, relation="add-remove-user", group="id", limits={"g": I64}),
        note="With 40 records a user has fewer than the 100 rows of the worst case.",
    ),
    Row(
        name="diffprivlib_105",
        reference=IBM + "105",
        version="diffprivlib 0.6.6",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; without limit",
        data=Tables(LINE, limits={"x": (0, 1), "y": (0, 1)}, fixed=True),
        note="Where all numbers are 0 a run takes a third of a second, not two milliseconds.",
    ),
    Row(
        name="diffprivlib_nb",
        reference="arXiv 2602.17454, " + IBM + "106",
        version="diffprivlib 0.6.6",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; a class on one side only",
        data=Tables(CLASSES, limits={"x0": (0, 1)}, fixed=True),
        control=Control(
            data=Tables(
                CLASSES,
                limits={"x0": (0, 1)},
                fixed=True,
                relation="own",
                neighbour=other_feature,
            )
        ),
        note="The control: labels are public, a feature is replaced.",
    ),
    Row(
        name="diffprivlib_laplace",
        reference="Haney et al. 2022, " + IBM + "94",
        version="diffprivlib 0.6.6",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; low bits give the value away",
        data=Scalars(0, 1, size=1),
        bits=True,
    ),
    Row(
        name="diffprivlib_laplace_030",
        file="diffprivlib_laplace",
        reference=IBM + "19",
        version="diffprivlib 0.3.0",
        environment=OLD_DIFFPRIVLIB,
        claim=DP(epsilon=1.0),
        says="epsilon = 1; low bits give the value away",
        data=Scalars(0, 1, size=1),
        bits=True,
    ),
    Row(
        name="diffprivlib_wishart",
        reference=IBM + "23",
        version="diffprivlib 0.3.0",
        environment=OLD_DIFFPRIVLIB,
        claim=DP(epsilon=1.0),
        says="epsilon = 1; disjoint supports",
        data=Tables(VECTORS, limits={"x0": (-1, 1), "x1": (-1, 1)}, fixed=True),
    ),
    Row(
        name="diffprivlib_wishart_regression",
        file="diffprivlib_wishart",
        function="regression",
        reference=IBM + "42",
        version="diffprivlib 0.3.0",
        environment=OLD_DIFFPRIVLIB,
        claim=DP(epsilon=1.0),
        says="epsilon = 1; at least 3.7",
        data=Tables(VECTORS, limits={"x0": (-1, 1), "x1": (-1, 1)}, fixed=True),
        control=None,
    ),
    Row(
        name="dp_accounting_378",
        reference="google/differential-privacy 378",
        version="dp-accounting 0.6.0",
        claim=DP(epsilon=2.753131, delta=DELTA),  # RdpAccountant, REPLACE_ONE, multiplier 1
        says="epsilon = 5.2 at delta = 1e-6; true 11.0",
        data=Scalars(-5, 5, size=10, fixed=True),
        control=Control(claim=DP(epsilon=6.925081, delta=DELTA)),  # multiplier 1/2
        note=CURVE + "At delta = 1e-6 no number of runs sees it.",
    ),
    Row(
        name="snsynth_622",
        reference="opendp/smartnoise-sdk 622",
        version="smartnoise-synth 1.0.4",
        environment=SYNTH,
        claim=DP(epsilon=1.0),
        says="epsilon = 1; disjoint supports in effect",
        data=Tables(COVARIED, limits={"x": FAR, "y": FAR}, fixed=True),
        control=Control(environment=NEW_SYNTH),
        budget=SLOW,
    ),
    Row(
        name="datasynthesizer_34",
        reference="DataResponsibly/DataSynthesizer 34",
        version="DataSynthesizer 0.1.4",
        environment=PRIVBAYES,
        claim=DP(epsilon=1.0),
        says="epsilon = 1; about 100 times that",
        data=Tables(BITS, relation="add-remove", fixed=True),
        control=Control(environment=CURRENT),
        note="Both versions also give the largest value of a column away, see the next row: four "
        "public records keep that out of this one. Held against replace-one first: the noise of "
        "0.1.13 has scale (d - k) / epsilon, which is that of add-remove, and the control was "
        "refuted at 1.08",
        budget=SLOW,
    ),
    Row(
        name="datasynthesizer_domain",
        file="datasynthesizer_34",
        function="bare",
        reference="arXiv 2405.10994",
        version="DataSynthesizer 0.1.13",
        claim=DP(epsilon=1.0),
        says="epsilon = 1; the values of a column are those that occur",
        data=Tables(BITS, relation="add-remove", fixed=True),
        control=Control(function="control"),
        note="The control: four public records, in which every value occurs.",
        budget=SLOW,
    ),
    Row(
        name="opacus_819",
        reference="meta-pytorch/opacus 571, 819",
        version="Opacus 1.6.0",
        claim=DP(epsilon=1.911964, delta=DELTA),  # get_epsilon(.01) after one step
        says="epsilon = 1.91 at delta = .01; without limit as weights are added",
        data=Tables(
            WIDE,
            relation="add-remove",
            limits={f"x{j}": (-1, 1) for j in range(100)},
            fixed=True,
        ),
        note=CURVE,
        budget=SLOW,
    ),
)


class NotMade(Exception):
    """An environment cannot be made; the text says why."""


def interpreter(environment: Environment, folder: Path) -> Path:
    """Return the interpreter of an environment, which is made unless it is there.

    Processes that ask for the same one at once wait for the first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{environment.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _made(environment, folder)


def _made(environment: Environment, folder: Path) -> Path:
    place = folder / environment.name
    python, begun = place / "bin" / "python", folder / f".{environment.name}.begun"
    if python.exists() and not begun.exists():
        return python
    base = f"python{environment.python}"
    if shutil.which(base) is None:
        raise NotMade(f"there is no {base} on the PATH")
    begun.touch()  # what is left half made is made anew
    _run([base, "-m", "venv", "--clear", str(place)])
    # what is never imported need not be compiled; what is will be by the first that does
    pip = [str(python), "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
    if environment.pins:
        _run([*pip, *environment.pins])
    if environment.bare:
        _run([*pip, "--no-deps", *environment.bare])
    begun.unlink()
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = (done.stderr.strip() or "no message").splitlines()
        raise NotMade(f"{' '.join(command[1:4])}: {lines[-1]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How rows are audited; see `main`."""

    folder: Path
    budget: int | None
    search: float | None
    seed: int


def one_audit(
    row: Row, function: str, environment: Environment, claim: DP, data: Any, options: Options
) -> dict[str, Any]:
    """Audit a function of a row's file and return what came out."""
    begun = time.monotonic()
    told: dict[str, Any] = {"claim": str(claim), "data": data.words}
    try:
        python = interpreter(environment, options.folder)
        begun = time.monotonic()
        command = [str(python), "-W", "ignore", str(SERVER), row.file or row.name, function]
        result = audit(
            process(command, timeout=TIMEOUT, limits=LIMITS),
            claim=claim,
            data=data,
            bits=row.bits,
            budget=row.budget if options.budget is None else options.budget,
            search_seconds=options.search,
            seed=options.seed,
        )
    except (NotMade, DpassayError, OSError) as error:
        told |= {"verdict": "error", "reason": shown(error)}
    else:
        told |= facts_of(result)
    return told | {"seconds": round(time.monotonic() - begun, 1)}


def facts_of(result: Result) -> dict[str, Any]:
    """Return verdict, numbers and witness of a result, without a path of this machine."""
    evidence = result.evidence
    searched = {} if evidence is None else evidence.searched
    return {
        "verdict": result.verdict,
        "bound": finite(result.lower),
        "detectable": finite(result.detectable),
        "witness": [shown(line) for line in found_lines(result)],
        "changed": "" if evidence is None else changed(result),
        "reason": shown(result.outcome.reason),
        "trials": result.draws,
        "search_ended_by_time": bool((searched.get("limit") or {}).get("ended", False)),
    }


def changed(result: Result) -> str:
    """Say what was changed at the certified pair, its values too: the data are no one's."""
    assert result.evidence is not None
    cell = result.evidence.worst
    return shown(result.evidence.groups[cell.group].pairs.changes[cell.pair])


def finite(number: float) -> float | None:
    """Return a number, None where it is infinite."""
    return round(number, 4) if math.isfinite(number) else None


def shown(message: object) -> str:
    """Return a message on one line, without paths."""
    text = re.sub(r"(?:/[\w.+@-]+){2,}", "...", " ".join(str(message).split()))
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def audited(row: Row, options: Options) -> dict[str, Any]:
    """Audit release and control of a row."""
    facts: dict[str, Any] = {
        "seed": options.seed,
        "search_seconds": options.search,
        "date": datetime.now(tz=UTC).date().isoformat(),
    }
    if row.claim is None:
        return facts | {"outcome": "cannot be claimed yet"}
    release = of_release(row, row.claim, options)
    facts |= {"release": release, "outcome": outcome(row, release)}
    return facts if row.control is None else facts | {"control": of_control(row, options)}


def of_release(row: Row, claim: DP, options: Options) -> dict[str, Any]:
    """Audit what has the bug."""
    return one_audit(row, row.function, row.environment, claim, row.data, options)


def of_control(row: Row, options: Options) -> dict[str, Any]:
    """Audit the control of a row that has one, and a claim."""
    control, claim = row.control, row.claim
    assert control is not None
    assert claim is not None
    return one_audit(
        row,
        control.function,
        control.environment or row.environment,
        control.claim or claim,
        control.data or row.data,
        options,
    )


def outcome(row: Row, release: dict[str, Any]) -> str:
    """Say in a word what came out of a release."""
    if release["verdict"] == "error":
        return "error"
    refuted = release["verdict"] == "refuted"
    if row.broken:
        return "found" if refuted else "missed"
    return "false alarm" if refuted else "not refuted, rightly"


def numbers(told: dict[str, Any] | None) -> str:
    """Return verdict, bound, certification trials per side and seconds for a table."""
    if told is None:
        return "–"
    if told["verdict"] == "error":
        return f"error ({told['seconds']:g} s)"
    return f"{told['verdict']}, {told['bound']:.2f} ({told['trials']:,}; {told['seconds']:g} s)"


def line(row: Row, facts: dict[str, Any]) -> str:
    """Return the row of the page's table."""
    release, control = facts.get("release"), facts.get("control")
    cells = [
        f"`{row.name}`",
        row.reference,
        row.version,
        row.says,
        release["claim"] if release else "–",
        row.data.relation,
        f"**{facts['outcome']}**",
        numbers(release),
        numbers(control),
    ]
    return f"| {' | '.join(cells)} |"


Done = tuple[Row, dict[str, Any]]
HEADS = (
    "row",
    "reference",
    "version",
    "says; true",
    "held against",
    "neighbours",
    "outcome",
    "release: verdict, bound (trials per side; time)",
    "control",
)


def page(rows: dict[str, dict[str, Any]]) -> str:
    """Return docs/real_bugs.md."""
    done = [(row, rows[row.name]) for row in ROWS if row.name in rows]
    left = [f"`{row.name}`" for row in ROWS if row.name not in rows]
    bugs = sum(row.broken for row, _ in done)
    found = sum(facts["outcome"] == "found" for _, facts in done)
    controls = [facts["control"]["verdict"] for _, facts in done if "control" in facts]
    tally = (
        f"Of {bugs} rows with a bug that were audited, {found} were found. Of "
        f"{len(controls)} controls {controls.count('refuted')} were refuted and "
        f"{controls.count('error')} ended as an error."
    )
    if left:
        tally += f" Not audited yet: {', '.join(left)}."
    intro = (
        "`python -m benchmarks.real_bugs --write` audits releases of other libraries, each in an "
        "environment of its own, over [the process protocol](process.md). dpassay is told the "
        "claim and what the data look like, not the pair and not the event. The limits are those "
        "that the library's interface states, else those of the type, else wide ones. Whoever "
        "wrote them down had read the reports, so they are no blind test; nothing was changed "
        "after an audit to make a row found. A control is a repaired version, or the same release "
        f"done right. Bounds are in nats, at {CONFIDENCE:.1%} confidence and at the delta of the "
        "claim. Seconds are those of the clock, with imports, search and certification. "
        f"{spent(done)}"
    )
    lines = [
        "# Bugs that were reported in public",
        "",
        intro,
        "",
        tally,
        "",
        f"| {' | '.join(HEADS)} |",
        "|" + "---|" * len(HEADS),
        *(line(row, facts) for row, facts in done),
        "",
        *section("Witnesses", done, "found", "false alarm"),
        *section("What was missed", done, "missed"),
        *section("What ended as an error", done, "error", "cannot be claimed yet"),
        *section("What was rightly not refuted", done, "not refuted, rightly"),
        *refuted_controls(done),
    ]
    return "\n".join(lines).rstrip() + "\n"


def spent(done: list[Done]) -> str:
    """Say how many trials there were, and when searches were ended."""
    most = max(
        (told["trials"] for _, facts in done if (told := facts["release"])["verdict"] != "error"),
        default=0,
    )
    seconds = sorted({facts["search_seconds"] for _, facts in done})
    ended = f"{seconds[0]:g}" if len(seconds) == 1 else f"{seconds[0]:g} to {seconds[-1]:g}"
    return (
        f"No row had more certification trials per side than {most:,}, where {BUDGET:,} is the "
        f"default; a search was ended after {ended} s."
    )


def section(title: str, done: list[Done], *outcomes: str) -> list[str]:
    """Return the rows of some outcomes, each with what there is to say about it."""
    told = [
        f"* `{row.name}`: {sentence(row, facts)}"
        for row, facts in done
        if facts["outcome"] in outcomes
    ]
    return [f"## {title}", "", *told, ""] if told else []


def sentence(row: Row, facts: dict[str, Any]) -> str:
    """Say the witness, or what would have been seen, and the note."""
    told = facts.get("release", {})
    parts = []
    if told.get("witness"):
        parts = witness(told)
    elif told.get("verdict") == "error":
        parts = [told["reason"]]
    elif told:
        seen = told["detectable"]
        least = "no leak" if seen is None else f"a leak of {seen:.2f} or more"
        parts = [f"would see {least}, at one of the pairs that the search began with"]
        if told["search_ended_by_time"]:
            parts.append("time ended the search")
    if row.note:
        parts.append(row.note.strip().rstrip("."))
    return ". ".join(part[:1].upper() + part[1:] for part in parts) + "."


def witness(told: dict[str, Any]) -> list[str]:
    """Return pair and event, and what was changed where the pair leaves that out."""
    pair = told["witness"][0]
    more = [] if told["changed"] in pair or "against" in pair else [f"change: {told['changed']}"]
    return [*told["witness"], *more]


def refuted_controls(done: list[Done]) -> list[str]:
    """Return the controls that were refuted or failed, with the witness or the reason."""
    told = []
    for row, facts in done:
        control = facts.get("control", {})
        if control.get("verdict") == "refuted":
            said = ". ".join(filter(None, [*witness(control), row.note.strip().rstrip(".")]))
            told.append(f"* `{row.name}`: {said}.")
        elif control.get("verdict") == "error":
            told.append(f"* `{row.name}`: {control['reason']}.")
    return ["## Controls that were refuted, or failed", "", *told, ""] if told else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Audit the rows one after the other, print each, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", action="append", default=[], help="a row; may be repeated")
    parser.add_argument(
        "--envs", type=Path, default=ENVIRONMENTS, help="where environments are; those are reused"
    )
    parser.add_argument("--budget", type=int, help="certification trials per side, of every row")
    parser.add_argument("--search-seconds", type=float, default=SEARCH)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write docs/real_bugs.*")
    told = parser.parse_args(arguments)
    unknown = set(told.only) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"no such rows: {', '.join(sorted(unknown))}")
    options = Options(
        folder=told.envs.resolve(),
        budget=told.budget,
        search=told.search_seconds,
        seed=told.seed,
    )
    for row in ROWS:
        if told.only and row.name not in told.only:
            continue
        facts = audited(row, options)
        print(line(row, facts), flush=True)
        print(f"  {sentence(row, facts)}", flush=True)
        if told.write:
            write(row.name, facts)


def write(name: str, facts: dict[str, Any]) -> None:
    """Put a row into docs/real_bugs.json, and make the page anew."""
    place = DOCS / "real_bugs.json"
    rows = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    rows[name] = facts
    place.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (DOCS / "real_bugs.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
