"""How processor time and memory of a run grow with cells, trials, records and queries.

Each series changes one size over more than a decade and leaves the others as they are. Two
exponents are given, each with the 95 % interval of a straight line through the logarithms: of the
whole run's processor time, imports and pages included; and of what it takes more than a run of next
to nothing, which is measured too and printed. The smallest of several runs counts, as other
processes only add time.

    python -m benchmarks.bench_growth [SERIES ...] [--times N] [--write]

With `--write` the numbers go to docs/growth.json and the table into docs/scale.md; series that are
not named stay as they were.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from benchmarks.bench_scale import measure
from benchmarks.capacity import replaced_section

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 140
FACTS = DOCS / "growth.json"
HEADING = "## How the time grows\n"
NOTHING: dict[str, Any] = {"pairs": 50, "queries": 10, "trials": 1000}
VOTE: dict[str, Any] = {"auditee": "Vote"}
EXACT: dict[str, Any] = {"mode": "exact", "trials": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Sizes of one kind, and what is run at each.

    Parameters
    ----------
    what : str
        For the table: what grows, and what does not.
    sizes : tuple of int
    runs : tuple of dict
        Arguments of `measure`, one for each size.
    """

    what: str
    sizes: tuple[int, ...]
    runs: tuple[dict[str, Any], ...]

    @property
    def nothing(self) -> dict[str, Any]:
        """Arguments of a run of next to nothing, of the same auditee in the same mode."""
        return self.runs[0] | NOTHING


def grown(of: str, what: str, sizes: tuple[int, ...], **fixed: Any) -> Series:
    """Return a series in which one argument of `measure` is the size."""
    return Series(what=what, sizes=sizes, runs=tuple(fixed | {of: size} for size in sizes))


def more_pairs(what: str, sizes: tuple[int, ...], queries: int, trials: int) -> Series:
    """Return a series of ever more pairs, each of them screened by so many trials a side."""
    runs = tuple(
        {"pairs": pairs, "queries": queries, "trials": trials * pairs // queries} | VOTE
        for pairs in sizes
    )
    return Series(what=what, sizes=sizes, runs=runs)


SERIES = {
    "cells": more_pairs(
        "pairs, and so cells and records, at 100 queries",
        (1800, 3300, 6200, 11_600, 21_600),
        100,
        1000,
    ),
    "trials": grown(
        "trials",
        "trials of a finalist, 50 pairs at 50 queries",
        (120_000, 220_000, 415_000, 770_000, 1_440_000),
        **(VOTE | {"pairs": 50, "queries": 50}),
    ),
    "queries": grown(
        "queries",
        "queries, 200 pairs",
        (1050, 1950, 3600, 6800, 12_600),
        **(VOTE | {"pairs": 200, "trials": 1200}),
    ),
    "records": grown(
        "pairs",
        "records, each of them flipped, by exact laws at 20 queries",
        (36_000, 66_000, 123_000, 228_000, 420_000),
        **(EXACT | {"auditee": "BinDraw", "queries": 20}),
    ),
    "exact cells": grown(
        "queries",
        "queries, and so cells, by exact laws of 1,000 pairs",
        (600, 1080, 1950, 3500, 6300),
        **(EXACT | {"auditee": "KernelDraw", "pairs": 1000}),
    ),
}


def slope(sizes: list[int], found: list[float]) -> tuple[float, float]:
    """Return the slope of log against log, and half of its 95 % interval."""
    fit = scipy.stats.linregress(np.log(sizes), np.log(found))
    half = float(scipy.stats.t.ppf(0.975, len(sizes) - 2)) * float(fit.stderr)
    return float(fit.slope), half


def measured(arguments: dict[str, Any]) -> dict[str, float]:
    """Run once."""
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), **arguments)
    return {
        "seconds": round(found["seconds"], 2),
        "sampler": round(found["sampler"], 2),
        "mib": round(found["peak"]),
    }


def better(one: dict[str, float] | None, other: dict[str, float]) -> dict[str, float]:
    """Return the run that took less."""
    return other if one is None or other["seconds"] < one["seconds"] else one


def exponents(found: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the slopes of a series: of all processor time, of that above nothing, of memory."""
    seconds = [run["seconds"] for run in found["runs"]]
    nothing = found["nothing"]["seconds"]
    series = {
        "whole": seconds,
        "above": [each - nothing for each in seconds],
        "memory": [run["mib"] for run in found["runs"]],
    }
    return {name: slope(found["sizes"], numbers) for name, numbers in series.items()}


def _row(name: str, found: dict[str, Any]) -> str:
    said = {key: f"{a:.2f} ± {half:.2f}" for key, (a, half) in exponents(found).items()}
    runs, sizes = found["runs"], found["sizes"]
    cells = (
        f"{name}: {SERIES[name].what}",
        f"{sizes[0]:,} to {sizes[-1]:,}",
        f"{found['nothing']['seconds']:.1f} s",
        f"{', '.join(format(run['seconds'], '.1f') for run in runs)} s",
        said["whole"],
        said["above"],
        f"{runs[-1]['sampler'] / runs[-1]['seconds']:.0%}",
        f"{runs[-1]['mib']:,.0f} MiB",
    )
    return f"| {' | '.join(cells)} |"


def section(facts: dict[str, Any]) -> str:
    """Write the section of docs/scale.md."""
    rows = [_row(name, found) for name, found in facts["series"].items()]
    text = textwrap.fill(
        f"`python -m benchmarks.bench_growth --write` (docs/growth.json): processor time, user and "
        f"system, of the whole run with all its processes; the least of {facts['times']}. "
        "'Nothing' is the same with 50 pairs, 10 queries and 1,000 trials: imports, one page, and "
        "a check of its limits against statsmodels. The exponent 'whole' is of the times as they "
        "are, 'above' is of the times less 'nothing'; both with intervals of 95 %. 'Sampler' is "
        "the share of the auditee's `sample` in the largest run, 'memory' the peak of all its "
        "processes.",
        WIDTH,
    )
    head = (
        "| what grows | sizes | nothing | processor time | whole | above | sampler | memory |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    return "\n".join((HEADING, text, "", head + "\n".join(rows) + "\n"))


def write(facts: dict[str, Any]) -> None:
    """Write docs/growth.json, and the section of docs/scale.md."""
    FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    page = DOCS / "scale.md"
    text = replaced_section(page.read_text(encoding="utf-8"), HEADING, section(facts))
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("series", nargs="*", default=list(SERIES))
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    told = parser.parse_args()
    found: dict[str, Any] = {
        name: {
            "sizes": list(SERIES[name].sizes),
            "nothing": None,
            "runs": [None] * len(SERIES[name].sizes),
        }
        for name in told.series
    }
    kept = json.loads(FACTS.read_text(encoding="utf-8"))["series"]
    for times in range(1, told.times + 1):
        for name, each in found.items():
            each["nothing"] = better(each["nothing"], measured(SERIES[name].nothing))
            for place, arguments in enumerate(SERIES[name].runs):
                each["runs"][place] = better(each["runs"][place], measured(arguments))
                print(name, each["sizes"][place], each["runs"][place], flush=True)
        facts = {"times": times, "series": kept | found}
        print(section(facts), flush=True)
        if told.write:
            write(facts)


if __name__ == "__main__":
    main()
