"""What a run of a thousand million cells takes: from measured constants, and from a simulation.

`python -m benchmarks.capacity --write` measures the constants of this machine, by `bench_executors`
and `bench_scale` too, simulates a thousand workers and writes docs/capacity.json and the last
section of docs/scale.md. It takes three minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_executors import overheads
from benchmarks.bench_scale import measure
from benchmarks.scheduler import SHARDS, Cluster, Outcome, cases, simulated
from dpassay.trials.blocks import BlockCounts
from dpassay.trials.ledger import Ledger
from dpassay.trials.wire import pack, unpack

DOCS = Path(__file__).parents[1] / "docs"
HEADING = "## What a thousand million cells take\n"
PAIRS, QUERIES, RUNS, BLOCK = 250_000, 1_000, 4_000, 1_000
"""Of the run that is reckoned: 4 events and directions for each pair and query, runs a dataset, and
runs of a shard."""
CELLS = 4 * PAIRS * QUERIES
ANSWERS = PAIRS * QUERIES * RUNS
SHARDS_OF_RUN = PAIRS * RUNS // BLOCK
ROWS = 2_000
MEASURED = 1_000, 1_000, 1_700
"""Pairs, queries and trials of a finalist in the run that an answer is measured in."""
MORE_PAIRS = 16_000
"""Pairs of the run whose memory is held against that of the same run with fewer."""
GB = 1e9
WIDTH = 140


def replaced_section(page: str, heading: str, section: str) -> str:
    """Put a section of a Markdown page in the place of the one with its heading, or at the end."""
    before, found, rest = page.partition(heading)
    following = re.search(r"^## ", rest, re.MULTILINE)
    after = rest[following.start() :] if found and following else ""
    return (
        "\n\n".join(part for part in (before.rstrip(), section.strip(), after.strip()) if part)
        + "\n"
    )


def rows() -> Iterator[tuple[tuple[bytes, int, int, int], BlockCounts]]:
    """Yield rows as a run of these sizes writes them."""
    rng = np.random.default_rng(0)
    for i in range(ROWS):
        ones = rng.binomial(BLOCK, 0.3, QUERIES)
        calls = np.stack([BLOCK - ones, ones], axis=1)[None].astype(np.int64)
        yield (
            (hashlib.sha256(str(i).encode()).digest(), 0, 1, BLOCK),
            BlockCounts(calls=calls, marks=(b"0123456789abcdef",)),
        )


def measured() -> dict[str, float]:
    """Measure what every constant is on this machine."""
    shard = overheads()[1]["Dask"].processor
    return messages() | samples() | memory() | {"shard_ms": round(1000 * shard, 2)}


def samples() -> dict[str, float]:
    """Measure what an answer of a vote costs."""
    pairs, queries, trials = MEASURED
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), pairs, queries, trials, auditee="Vote")
        record = json.loads((Path(folder) / "out" / "record.json").read_text(encoding="utf-8"))
    answers = queries * sum(result["trials"] for result in record["results"])
    return {"answer_ns": round(1e9 * found["sampler"] / answers, 1)}


def memory() -> dict[str, float]:
    """Measure what one more pair at a query takes of the memory."""
    pairs, queries, trials = MEASURED
    peaks = []
    for size in (pairs, MORE_PAIRS):
        with tempfile.TemporaryDirectory() as folder:
            peaks.append(measure(Path(folder), size, queries, trials)["peak"])
    more = (MORE_PAIRS - pairs) * queries
    return {"place_bytes": round((peaks[1] - peaks[0]) * 2**20 / more)}


def messages() -> dict[str, float]:
    """Measure what a row of the ledger costs, and an answer on the wire."""
    every = list(rows())
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        with Ledger(Path(folder) / "ledger.sqlite", resume=False) as ledger:
            for row in every:
                ledger.keep([row])
        seconds = time.process_time() - began
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    counts = every[0][1]
    message = pack(0, {"calls": counts.calls, "marks": list(counts.marks)})
    began = time.process_time()
    for _ in range(ROWS):
        unpack(message)
    return {
        "ledger_row_ms": round(1000 * seconds / ROWS, 3),
        "ledger_row_bytes": round(size / ROWS),
        "wire_bytes": len(message),
        "unpack_ms": round(1000 * (time.process_time() - began) / ROWS, 4),
    }


def cluster_of(facts: dict[str, Any]) -> Cluster:
    """Return a thousand workers with the measured overheads.

    Half of what a shard costs is taken for its submission and half for its result, and the
    scheduler is taken to be busy as long as for one of them.
    """
    half = facts["shard_ms"] / 2000
    return Cluster(submit=half, take=half + facts["ledger_row_ms"] / 1000, schedule=half)


def reckoned(facts: dict[str, Any]) -> dict[str, float]:
    """Return what the run takes, by the constants."""
    shard = (facts["shard_ms"] + facts["ledger_row_ms"]) / 1000
    places = PAIRS * QUERIES
    return {
        "core_hours": ANSWERS * facts["answer_ns"] * 1e-9 / 3600,
        "deciding_hours": SHARDS_OF_RUN * shard / 3600,
        "most_shards_a_second": 1 / shard,
        "ledger_gb": SHARDS_OF_RUN * facts["ledger_row_bytes"] / GB,
        "network_gb": SHARDS_OF_RUN * facts["wire_bytes"] / GB,
        "memory_gb": places * facts["place_bytes"] / GB,
    }


def simulations(facts: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return how the cases of `benchmarks.scheduler` go on that cluster."""
    return {
        name: {key: round(value, 4) for key, value in asdict(simulated(each, SHARDS)).items()}
        for name, each in cases(cluster_of(facts)).items()
    }


def section(facts: dict[str, Any]) -> str:
    """Write the section of docs/scale.md."""
    found, cluster = reckoned(facts), cluster_of(facts)
    shard, row = facts["shard_ms"], facts["ledger_row_ms"]
    busy = found["most_shards_a_second"]
    slower = "yours may take a thousand times as long"
    table = (
        ("what", "takes", "by"),
        ("---", "---", "---"),
        (
            "workers",
            f"{found['core_hours']:,.0f} core hours",
            f"{facts['answer_ns']:g} ns an answer, a vote of 25 teachers; {slower}",
        ),
        (
            "the deciding process",
            f"{found['deciding_hours']:.1f} h on one core",
            f"{shard:g} ms of processors a shard on Dask, {row:g} ms for its row in the ledger",
        ),
        ("network", f"{found['network_gb']:.1f} GB", f"{facts['wire_bytes']:,} bytes a shard"),
        ("ledger", f"{found['ledger_gb']:.1f} GB", f"{facts['ledger_row_bytes']:,} bytes a row"),
        (
            "memory of the deciding process",
            f"{found['memory_gb']:,.0f} GB",
            f"{facts['place_bytes']:,} bytes for one more pair at a query",
        ),
    )
    sizes = (
        f"Reckoned from constants of one machine by `python -m benchmarks.capacity` "
        f"(docs/capacity.json): {CELLS:.0e} cells ({PAIRS:,} pairs, {QUERIES:,} queries, two "
        f"directions, two labels) and {ANSWERS:.0e} trials ({RUNS:,} runs of each dataset at each "
        f"query), in {SHARDS_OF_RUN:,} shards."
    )
    bottlenecks = (
        "**The first bottleneck is the single thread of the deciding process.** It takes in at "
        f"most {busy:.0f} shards a second, so it keeps a thousand workers busy only if a shard "
        f"takes {1000 / busy:.1f} s or more. **The second is its memory.** Where a machine has "
        "less, cut the pairs into runs, and say to each its share of the error probability "
        "(`--confidence`): nothing divides it among runs. Each has a ledger of its own. A ledger "
        f"is cut for no other reason: it takes {1000 / row:,.0f} rows a second, many times what "
        "arrives."
    )
    simulated = (
        f"`python -m benchmarks.scheduler` simulates {cluster.workers:,} workers and {SHARDS:,} "
        f"shards of {cluster.work:g} s with these overheads. Losses are noticed after "
        f"{cluster.noticed:g} s, and a worker is replaced after {cluster.back:g} s. 'At work' is "
        "useful work over workers times seconds, with the end of the run, when the last slow "
        "shards are waited for. 'The window in order' is what dpassay did before: at most so many "
        "shards beyond the oldest one. Now the shards in flight are counted, so a slow one holds "
        "up no others."
    )
    parts = (
        HEADING,
        textwrap.fill(sizes, WIDTH),
        "\n".join(f"| {' | '.join(each)} |" for each in table),
        textwrap.fill(bottlenecks, WIDTH),
        textwrap.fill(simulated, WIDTH),
        "| case | seconds | workers at work | deciding process busy | run again |\n"
        f"|---|---|---|---|---|\n{lines(facts['simulated'])}".rstrip(),
    )
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def lines(found: dict[str, dict[str, float]]) -> str:
    """Write the rows of the simulations."""
    return "".join(
        f"| {name} | {each.seconds:,.0f} | {each.efficiency:.0%} | {each.deciding:.0%} | "
        f"{each.again:,} |\n"
        for name, each in ((name, Outcome(**found[name])) for name in cases(Cluster()))  # type: ignore[arg-type]
    )


def main() -> None:
    """Measure, simulate, print the section, and write it if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    facts: dict[str, Any] = measured()
    facts["simulated"] = simulations(facts)
    facts = json.loads(json.dumps(facts, sort_keys=True))
    print(section(facts))
    if given.write:
        text = json.dumps(facts, indent=1, sort_keys=True) + "\n"
        (DOCS / "capacity.json").write_text(text, encoding="utf-8")
        page = (DOCS / "scale.md").read_text(encoding="utf-8")
        page = replaced_section(page, HEADING, section(facts))
        (DOCS / "scale.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
