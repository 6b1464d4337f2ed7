"""Excess error against n on thresholds.

Dagan and Feldman (2020), Theorems 1 and 2, Corollary 1, and the baselines.

`python benchmarks/excess_error.py` writes docs/excess_error.json, docs/excess_error.md and
docs/figures/excess_error.svg.

Two distributions. *Noisy threshold*: x uniform on [0, 1], the label 1[x >= 1/2] wrong with
probability 0.2; the mean excess error over random S, by the exact law of the answer at a grid of
points where there is one and by trials elsewhere. *Hardest point*: one point whose label is 1 with
probability 1/2 + margin; the largest mean excess error over margins of either sign, computed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.claims import Claim
from dpassay.data import Labelled, points
from dpassay.mechanisms.dagan_feldman_2020.bagged import Bagged
from dpassay.mechanisms.dagan_feldman_2020.label_flip import LabelFlip
from dpassay.mechanisms.dagan_feldman_2020.relabelled import Relabelled
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.seeds import stream

DOCS = Path(__file__).parents[1] / "docs"
GAMMA, EPSILON, NOISE = 0.1, 1.0, 0.2
SIZES = (100, 200, 400, 800, 1600, 3200, 6400)
OFFSETS = np.append(0.0, np.geomspace(1e-6, 0.5, 200))
EDGES = np.concatenate([0.5 - OFFSETS[::-1], 0.5 + OFFSETS[1:]])
GRID, WIDTHS = points(((EDGES[:-1] + EDGES[1:]) / 2)[:, None], "queries"), np.diff(EDGES)
"""Cells of [0, 1], the finer the nearer they are to the threshold."""
MARGINS = np.geomspace(1e-3, 0.5, 40)
RESAMPLES = 1_000
DRAWS = 400
"""Trials at each query where there is no exact law."""


def flip_rate(n: int) -> float:
    """Return Corollary 1's alpha at n records, n = 4 ln n / (epsilon alpha^2); at most 0.4."""
    return min(0.4, math.sqrt(4 * math.log(n) / (EPSILON * n)))


LEARNERS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "non-private": ("√(d/n)", lambda n: Bagged(n=n, r=1, learner="threshold")),
    "bagged": ("√(d/(γn))", lambda n: Bagged(n=n, r=round(1 / GAMMA), learner="threshold")),
    "stable-learner": ("d/(γn) + √(d/n)", lambda n: StableLearner(n=n, gamma=GAMMA)),
    "label-flip": (
        "√(d/(εn))",
        lambda n: LabelFlip(n=n, epsilon=EPSILON, alpha=flip_rate(n), base="stable-learner"),
    ),
    "relabelled": ("d²/(εn) + √(d/n)", lambda n: Relabelled(n=n, alpha=flip_rate(n))),
}
"""Name, the order of the excess error that the paper predicts but for logarithms, and what makes it
for n records."""


def ones(
    mechanism: Any, data: Labelled, queries: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Probability of label 1 at each query: exact where there is a law, else a frequency."""
    state = mechanism.prepare(data)
    law = mechanism.distribution(state, queries)
    if law is not None:
        return np.asarray(law.p[:, 1])
    return np.asarray(mechanism.sample(state, queries, DRAWS, rng).mean(axis=0))


def noisy_threshold(name: str, n: int, repeats: int) -> list[float]:
    """Excess error on random datasets of the first distribution."""
    make, found = LEARNERS[name][1], []
    mechanism = make(n)
    for repeat in range(repeats):
        rng = stream(0, "excess error", n, repeat)  # the same dataset for every learner
        x = rng.random(n)
        y = (x >= 0.5) ^ (rng.random(n) < NOISE)
        p = ones(
            mechanism, Labelled(x[:, None], y.astype(np.int64)), GRID, stream(0, name, n, repeat)
        )
        found.append(float((1 - 2 * NOISE) * np.abs(p - (GRID[:, 0] >= 0.5)) @ WIDTHS))
    return found


def hardest_point(name: str, n: int) -> float:
    """Largest mean excess error over the margins of one point."""
    mechanism, query = LEARNERS[name][1](n), points([[0.0]], "queries")
    spread = 8 * math.sqrt(n) / 2
    counts = np.arange(max(0, int(n / 2 - spread)), min(n, math.ceil(n / 2 + spread)) + 1)
    counts = np.unique(np.concatenate([counts, np.linspace(0, n, 81).round().astype(int)]))
    rng = stream(0, name, n, "point")
    p = np.array(
        [
            ones(
                mechanism,
                Labelled(np.zeros((n, 1)), (np.arange(n) < k).astype(np.int64)),
                query,
                rng,
            )[0]
            for k in counts
        ]
    )
    every = np.interp(np.arange(n + 1), counts, p)
    worst = 0.0
    for margin in MARGINS:
        right, wrong = (
            binom.pmf(np.arange(n + 1), n, 0.5 + sign * margin) @ every for sign in (1, -1)
        )
        worst = max(worst, float(2 * margin * (1 - right)), float(2 * margin * wrong))
    return worst


def slope(errors: list[float]) -> float:
    """Slope of the logarithm of the error against that of n, over the larger half of the sizes."""
    half = len(SIZES) // 2
    return float(np.polyfit(np.log(SIZES[half:]), np.log(errors[half:]), 1)[0])


def slope_words(each: list[list[float]]) -> str:
    """Slope of the means, with a bootstrap interval of 95 % if there are several datasets."""
    values = np.array(each)
    told = f"{slope(list(values.mean(axis=1))):.2f}"
    if values.shape[1] == 1:
        return told
    rng = stream(0, "excess error", "bootstrap")
    drawn = (
        np.take_along_axis(values, rng.integers(values.shape[1], size=values.shape), axis=1)
        for _ in range(RESAMPLES)
    )
    slopes = [slope(list(again.mean(axis=1))) for again in drawn]
    low, high = np.percentile(slopes, [2.5, 97.5])
    return f"{told} ({low:.2f} to {high:.2f})"


def page(found: dict[str, Any]) -> str:
    """Write the table."""
    lines = [
        "# Excess error against n",
        "",
        "How fast does the excess error fall with the number n of records? The learners are",
        (
            "thresholds on a line (d = 1). `python benchmarks/excess_error.py` writes this page; "
            "the numbers"
        ),
        "are in `excess_error.json`.",
        "",
        (
            f"`bagged` and `stable-learner` are {GAMMA:g}-stable. `label-flip` and `relabelled` "
            "flip answers"
        ),
        "with probability α = √(4 ln n / n), at most 0.4. `label-flip` is",
        (
            f"{EPSILON:g}-private. An order is the paper's rate for the worst case, without "
            "logarithms. Slopes are"
        ),
        (
            "fitted on a log-log scale to the larger half of the sizes. Noisy threshold: the mean "
            "over random"
        ),
        "datasets, ± its standard error. Hardest point: the largest mean over all margins.",
        "",
        "In brackets: a bootstrap interval of 95 % for the slope, over the datasets.",
        "[rates.md](rates.md) has learners of Dwork and Feldman (2018), and slopes against ε.",
        "",
        "![Excess error against n](figures/excess_error.svg)",
        "",
    ]
    sizes = " | ".join(f"n = {n:,}" for n in SIZES)
    for title, key in (("Noisy threshold", "noisy"), ("Hardest point", "hardest")):
        lines += [
            f"## {title}",
            "",
            f"| learner | order | slope | {sizes} |",
            "|---|---|---|" + "---|" * len(SIZES),
        ]
        for name, (order, _) in LEARNERS.items():
            each = found[name][key]
            means = [float(np.mean(errors)) for errors in each]
            told = [
                f"{mean:.4f} ± {np.std(errors, ddof=1) / math.sqrt(len(errors)):.4f}"
                if key == "noisy"
                else f"{mean:.4f}"
                for mean, errors in zip(means, each, strict=True)
            ]
            lines.append(f"| {name} | {order} | {slope_words(each)} | {' | '.join(told)} |")
        lines.append("")
    lines += ["## What each claims", "", f"| learner | {sizes} |", "|---|" + "---|" * len(SIZES)]
    for name, (_, make) in LEARNERS.items():
        told = [
            " and ".join(sorted({str(least) for least in smallest(make(n).claims)})) for n in SIZES
        ]
        lines.append(f"| {name} | {' | '.join(told)} |")
    return "\n".join([*lines, ""])


def smallest(claims: tuple[Claim, ...]) -> list[Claim]:
    """Return the smallest claim of each kind, printed or corrected."""
    kinds = {type(claim) for claim in claims}
    return [
        min((claim for claim in claims if type(claim) is kind), key=lambda claim: claim.promised)
        for kind in kinds
    ]


def draw(found: dict[str, Any]) -> None:
    """Draw both distributions side by side, with lines of the slopes of the two orders."""
    import seaborn as sns
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(
        {"svg.hashsalt": "excess", "svg.fonttype": "none", **sns.axes_style("whitegrid")}
    ):
        figure = Figure(figsize=(10, 4))
        colours = sns.color_palette("colorblind", len(LEARNERS))
        for k, (title, key) in enumerate(
            (("noisy threshold", "noisy"), ("hardest point", "hardest"))
        ):
            axes = figure.add_subplot(1, 2, k + 1)
            for colour, (name, (order, _)) in zip(colours, LEARNERS.items(), strict=True):
                means = [float(np.mean(errors)) for errors in found[name][key]]
                axes.loglog(
                    SIZES, means, "o-", color=colour, label=f"{name}: {order}", markersize=3
                )
            top = float(np.mean(found["bagged"][key][0])) * 1.5
            for power, style in ((-0.5, ":"), (-1.0, "--")):
                line = [top * (n / SIZES[0]) ** power for n in SIZES]
                axes.loglog(SIZES, line, style, color="grey", linewidth=1)
                axes.annotate(f"n^{power:g}", (SIZES[-1], line[-1]), color="grey", fontsize=8)
            axes.set(xlabel="n", ylabel="excess error" if k == 0 else "", title=title)
        axes.legend(fontsize=7)
        figure.tight_layout()
        (DOCS / "figures").mkdir(exist_ok=True)
        figure.savefig(DOCS / "figures" / "excess_error.svg", metadata={"Date": None})


def main() -> None:
    """Run everything and write the three files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=20, help="random datasets of each size (default: 20)"
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="only write page and figure again, from the numbers that are there",
    )
    arguments = parser.parse_args()
    stored = DOCS / "excess_error.json"
    found: dict[str, Any] = json.loads(stored.read_text(encoding="utf-8")) if arguments.page else {}
    for name in () if arguments.page else LEARNERS:
        noisy = [noisy_threshold(name, n, arguments.repeats) for n in SIZES]
        hardest = [[hardest_point(name, n)] for n in SIZES]
        found[name] = {"noisy": noisy, "hardest": hardest}
        print(f"{name}: {', '.join(f'{np.mean(each):.4f}' for each in noisy)}")
    stored.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (DOCS / "excess_error.md").write_text(page(found), encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
