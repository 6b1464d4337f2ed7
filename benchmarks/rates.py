"""Error of the learners of thresholds against n and against epsilon, with the predicted slopes.

Dwork and Feldman (2018), Corollaries 4.2 and 4.8 and Theorem 2.4; Dagan and Feldman (2020),
Theorems 1 and 2 and Corollary 1. `python -m benchmarks.rates` writes docs/rates.json, docs/rates.md
and docs/figures/rates.svg, with `--only NAME` one learner anew; benchmarks/excess_error.py has
harder distributions, and baselines.

x is uniform on [0, 1], the label 1[x >= 1/2], wrong with probability 0.2 where the statement is
agnostic. The error of a dataset is exact where the answer has a law. Each learner is run with the
parameters of its statement for the error alpha that n records are said to be enough for.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.excess_error import DRAWS, GRID, WIDTHS, ones
from benchmarks.rate_statements import AT_EPSILON, LARGEST, NOISE, RATES, soft_size
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.seeds import stream
from dpassay.theorems.dagan_feldman_2020.relabelled_sizes import sizes

DOCS: Final = Path(__file__).parents[1] / "docs"
RESAMPLES: Final = 2_000
AXES: Final = {"n": "n", "epsilon": "ε"}
Found = dict[str, dict[str, list[list[float]]]]
"""Errors by learner and axis, for every n or epsilon those of the datasets."""


def error(mechanism: Any, n: int, noise: float, key: tuple[Any, ...]) -> float:
    """Excess error on one random dataset; the same for every learner."""
    rng = stream(0, "rates", n, key[-1])
    x = rng.random(n)
    y = (x >= 0.5) ^ (rng.random(n) < noise)
    p = ones(mechanism, Labelled(x[:, None], y.astype(np.int64)), GRID, stream(0, *key, n))
    return float((1 - 2 * noise) * np.abs(p - (GRID[:, 0] >= 0.5)) @ WIDTHS)


def errors(name: str, axis: str) -> list[list[float]]:
    """Excess errors of a learner along an axis, those of each place together."""
    rate = RATES[name]
    return [
        [
            round(error(rate.learner(n, e), n, rate.noise, (name, axis, e, repeat)), 7)
            for repeat in range(rate.repeats)
        ]
        for n, e in rate.places(axis)
    ]


def slope(name: str, axis: str, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slopes of log error against the logarithm of the axis, for means (..., places)."""
    x = np.log(RATES[name].along(axis))
    x = x - x.mean()
    found: NDArray[np.float64] = np.log(means) @ x / (x @ x)
    return found


def measured(name: str, axis: str, each: list[list[float]]) -> tuple[float, float, float]:
    """Slope, and a bootstrap interval of 95 % over the datasets of every place."""
    values = np.array(each)
    rng = stream(0, "rates", "bootstrap", name, axis)
    drawn = rng.integers(values.shape[1], size=(RESAMPLES, *values.shape))
    again = slope(name, axis, np.take_along_axis(values[None], drawn, axis=2).mean(axis=2))
    low, high = np.percentile(again, [2.5, 97.5])
    return float(slope(name, axis, values.mean(axis=1))), float(low), float(high)


def predicted(name: str, axis: str) -> float:
    """Slope over the same places of the alpha that the statement promises, logarithms included."""
    alphas = np.array([RATES[name].alpha(n, epsilon) for n, epsilon in RATES[name].places(axis)])
    return float(slope(name, axis, alphas))


INTRODUCTION = f"""\
# Rates

How does the error of the learners of thresholds (d = 1) fall with the number n of records, and with
ε? `python -m benchmarks.rates` writes this page; the numbers are in `rates.json`.

x is uniform, the label 1[x ≥ 1/2]. It is wrong with probability {NOISE:g} where the statement is
agnostic; the error is then the excess over {NOISE:g}. Along n, ε is {AT_EPSILON:g}. Every learner
has the parameters that its statement takes for the error α that so many records are said to be
enough for. The constant of an O(·) is not known: 1 was taken, and 4 for `label-flip`. The error of
a dataset is exact, or where the answer has no exact law (`relabelled`) from {DRAWS} answers at each
point; means over datasets.

*Order*: the slope on a log-log scale without logarithms. *Promised*: the slope of α itself over the
same n or ε, with the logarithms. *Measured*: the slope of the mean error, with a bootstrap interval
of 95 % over the datasets. *Error/α*: at either end.

A statement bounds the level, for the worst distribution; on this one the error may fall faster
(`stable-learner`). It can fall more slowly than promised where it is far below α, if a logarithm
of the statement is not needed here (`soft-majority` against ε), and where so little is learned that
it is near its ceiling of {(1 - 2 * NOISE) / 2:g} (`label-flip`; `stable-learner` at small γ).

Harder distributions and baselines are in [excess_error.md](excess_error.md), against n only.

![Error against n and ε](figures/rates.svg)

*Dotted: the promised slope, through the first point.*
"""
FLIPPED: Final = """\
## Theorem 2 without its flip

`relabelled` flips every answer with probability α at the end, which alone costs {cost:g} α: its
error, {error} α, falls as α does whatever the rest does. Before the flip it is
{before} α, and its slope is {slopes}.

Its n is what A^R takes, as `soft-majority`, and ln(1/α)/α² more. The first is {first} of it here:
α falls faster against n than the order, which is that of the second. Lemma 8 with the constants of
the proofs asks for more, {size:,} records at α = {largest:g}, most of them for an η-net that the
privacy rests on. Without them the loss that is proven here is {loss} ε; the theorem says O(ε).
"""


def before_flip(axis: str, each: list[list[float]]) -> NDArray[np.float64]:
    """Errors of `relabelled` before its answers are flipped, shape (places, datasets)."""
    alphas = np.array([[RATES["relabelled"].alpha(*at)] for at in RATES["relabelled"].places(axis)])
    left: NDArray[np.float64] = (np.array(each) - (1 - 2 * NOISE) * alphas) / (1 - 2 * alphas)
    return left


def flipped(found: dict[str, list[list[float]]]) -> str:
    """Write what of the error of `relabelled` is not its flip's, and what it is proven to lose."""
    rate = RATES["relabelled"]
    error, before, first, loss, slopes = [], [], [], [], []
    for axis, each in found.items():
        left = before_flip(axis, each)
        for (n, epsilon), whole, rest in zip(rate.places(axis), each, left, strict=True):
            alpha, claims = rate.alpha(n, epsilon), rate.learner(n, epsilon).claims
            error.append(float(np.mean(whole)) / alpha)
            before.append(float(np.mean(rest)) / alpha)
            first.append(soft_size(alpha, epsilon) / n)
            loss.append(min(each.epsilon for each in claims if isinstance(each, DP)) / epsilon)
        middle, low, high = measured("relabelled", axis, left.tolist())
        slopes.append(f"{middle:.2f} ({low:.2f} to {high:.2f}) against {AXES[axis]}")
    return FLIPPED.format(
        cost=1 - 2 * NOISE,
        error=f"{min(error):.2f} to {max(error):.2f}",
        before=f"{min(before):.2f} to {max(before):.2f}",
        slopes=" and ".join(slopes),
        first=f"{min(first):.0%} to {max(first):.0%}",
        size=sizes(1, LARGEST, AT_EPSILON).n,
        largest=LARGEST,
        loss=f"{min(loss):.2f} to {max(loss):.2f}",
    )


def page(found: Found) -> str:
    """Write the tables."""
    lines = [INTRODUCTION]
    for axis, letter in AXES.items():
        lines += [
            f"## Against {letter}",
            "",
            (
                f"| learner | enough records | {letter} | order | promised | measured | error/α | "
                "mean errors |"
            ),
            "|---|---|---|---|---|---|---|---|",
            *rows(found, axis),
            "",
        ]
    return "\n".join([*lines, flipped(found["relabelled"])])


def rows(found: Found, axis: str) -> Iterator[str]:
    """A row for each learner whose statement has the axis."""
    for name, rate in RATES.items():
        if axis not in rate.order:
            continue
        middle, low, high = measured(name, axis, found[name][axis])
        means = ", ".join(f"{np.mean(each):.4f}" for each in found[name][axis])
        along = rate.along(axis)
        span = f"{along[0]:,} to {along[-1]:,}"
        if axis == "epsilon":
            span += f" at n = {rate.places(axis)[0][0]:,}"
        yield (
            f"| {name} | {rate.statement} | {span} | {rate.order[axis]:.2f} | "
            f"{predicted(name, axis):.2f} | {middle:.2f} ({low:.2f} to {high:.2f}) | "
            f"{shares(name, axis, found[name][axis])} | {means} |"
        )


def shares(name: str, axis: str, each: list[list[float]]) -> str:
    """Mean error as a part of alpha at both ends of an axis."""
    rate = RATES[name]
    parts = [
        float(np.mean(errors)) / rate.alpha(*place)
        for place, errors in zip(rate.places(axis), each, strict=True)
    ]
    return f"{parts[0]:.2f}, {parts[-1]:.2f}"


def draw(found: Found) -> None:
    """Draw the errors along both axes; dotted: the promised slope through the first point."""
    import seaborn as sns
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style = {"svg.hashsalt": "rates", "svg.fonttype": "none", **sns.axes_style("whitegrid")}
    with rc_context(style):
        figure = Figure(figsize=(10, 5), layout="constrained")
        grid = figure.subplots(1, 2, sharey=True)
        colours = dict(zip(RATES, sns.color_palette("colorblind", len(RATES)), strict=True))
        for axes, (axis, letter) in zip(grid, AXES.items(), strict=True):
            for name, rate in RATES.items():
                if axis in rate.order:
                    along, means = rate.along(axis), np.array(found[name][axis]).mean(axis=1)
                    axes.loglog(along, means, "o-", color=colours[name], ms=3, label=name)
                    line = means[0] * (np.array(along) / along[0]) ** predicted(name, axis)
                    axes.loglog(along, line, ":", color=colours[name], linewidth=1)
            axes.set_xlabel(letter if axis == "n" else f"{letter} (γ of the stable learner)")
        grid[0].set_ylabel("excess error")
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        figure.savefig(DOCS / "figures" / "rates.svg", metadata={"Date": None})


def main() -> None:
    """Run everything and write the three files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="only page and figure, from the JSON")
    parser.add_argument(
        "--only", choices=RATES, action="append", help="this learner, the others from the JSON"
    )
    stored, said = DOCS / "rates.json", parser.parse_args()
    found: Found = {}
    if said.page or said.only:
        found = json.loads(stored.read_text(encoding="utf-8"))
    if not said.page:
        with threadpool_limits(limits=1):
            for name in said.only or RATES:
                rate = RATES[name]
                found[name] = {axis: errors(name, axis) for axis in rate.order}
                print(
                    name, {axis: measured(name, axis, each) for axis, each in found[name].items()}
                )
        stored.write_text(json.dumps(found) + "\n", encoding="utf-8")
    (DOCS / "rates.md").write_text(page(found), encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
