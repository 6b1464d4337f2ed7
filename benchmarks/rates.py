"""Error of the learners of thresholds against n and against epsilon, with the predicted slopes.

Dwork and Feldman (2018), Corollaries 4.2 and 4.8 and Theorem 2.4; Dagan and Feldman (2020),
Theorems 1 and 2 and Corollary 1. `python -m benchmarks.rates` writes docs/rates.json, docs/rates.md
and docs/figures/rates.svg; benchmarks/excess_error.py has harder distributions, and baselines.

x is uniform on [0, 1], the label 1[x >= 1/2], wrong with probability 0.2 where the statement is
agnostic. The error of a dataset is exact where the answer has a law. Each learner is run with the
parameters of its statement for the error alpha that n records are said to be enough for.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from benchmarks.excess_error import GRID, WIDTHS, ones
from dpassay.data import Labelled
from dpassay.mechanisms.dagan_feldman_2020.label_flip import LabelFlip
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.mechanisms.dwork_feldman_2018.noisy_average import NoisyAverage
from dpassay.mechanisms.dwork_feldman_2018.noisy_average_number import blocks_for
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.seeds import stream

DOCS: Final = Path(__file__).parents[1] / "docs"
EPSILONS: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
AT_EPSILON: Final = 0.5
NOISE, BETA, RESAMPLES = 0.2, 0.1, 2_000
LARGEST: Final = 0.4
"""Error that is asked for at most: above it nothing is learned."""
AXES: Final = {"n": "n", "epsilon": "ε"}
Found = dict[str, dict[str, list[list[float]]]]
"""Errors by learner and axis, for every n or epsilon those of the datasets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A statement about how many records are enough.

    Parameters
    ----------
    statement : str
    noise : float
        Probability of a wrong label: 0 where the statement is about realisable learning.
    order : dict
        Predicted slopes of the error in n and epsilon, but for logarithms; an axis that is left out
        is not one of the statement.
    size : callable
        Records for error alpha at epsilon, as the statement or its proof has it.
    make : callable
        The learner for n, epsilon and alpha.
    least_n : int
        Smallest n, where alpha is not yet `LARGEST`; it is doubled five times.
    epsilons : tuple of float
        At the second largest n.
    repeats : int
        Datasets for each n and epsilon.
    """

    statement: str
    noise: float
    order: dict[str, float]
    size: Callable[[float, float], float]
    make: Callable[[int, float, float], Any]
    least_n: int
    epsilons: tuple[float, ...] = EPSILONS
    repeats: int = 40

    def places(self, axis: str) -> list[tuple[int, float]]:
        """Return n and epsilon along an axis."""
        sizes = [self.least_n * 2**i for i in range(6)]
        if axis == "n":
            return [(n, AT_EPSILON) for n in sizes]
        return [(sizes[-2], epsilon) for epsilon in self.epsilons]

    def along(self, axis: str) -> list[float]:
        """Return what changes along an axis."""
        return [place[axis == "epsilon"] for place in self.places(axis)]

    def alpha(self, n: int, epsilon: float) -> float:
        """Return the error that n records are enough for, at most `LARGEST`."""
        if self.size(LARGEST, epsilon) >= n:
            return LARGEST
        low = math.log(1e-30)
        return math.exp(
            brentq(lambda a: self.size(math.exp(a), epsilon) - n, low, math.log(LARGEST))
        )

    def learner(self, n: int, epsilon: float) -> Any:
        """Return the learner with the parameters for this error."""
        return self.make(n, epsilon, self.alpha(n, epsilon))


def soft_blocks(alpha: float, epsilon: float) -> int:
    """Theorem 4.1's r."""
    return SoftMajority(epsilon=epsilon).blocks_for(alpha)


def soft_size(alpha: float, epsilon: float) -> float:
    """Return r m(alpha / 4, beta / r): a consistent threshold needs m(a, b) = ln(2 / b) / a."""
    r = 6 * math.log(4 / alpha) / epsilon
    return r * math.log(2 * r / BETA) / (alpha / 4)


def noisy_size(alpha: float, epsilon: float) -> float:
    """2 m(alpha / 2, 2 beta alpha epsilon) / (alpha epsilon), m(a, b) = (1 + ln(1 / b)) / a^2.

    The constant 1 stands for that of the O(.).
    """
    b = 2 * BETA * alpha * epsilon
    return 2 * (1 + math.log(1 / b)) / (alpha / 2) ** 2 / (alpha * epsilon)


RATES: Final[dict[str, Rate]] = {
    "soft-majority": Rate(
        statement="Dwork and Feldman, Corollary 4.2: d/(εα)",
        noise=0.0,
        order={"n": -1.0, "epsilon": -1.0},
        size=soft_size,
        least_n=3200,
        make=lambda n, epsilon, alpha: SoftMajority(
            epsilon=epsilon, r=min(n, soft_blocks(alpha, epsilon)), learner="threshold"
        ),
    ),
    "projected-walk": Rate(
        statement="Dwork and Feldman, Theorem 2.4: 12 ln(2/α)/(εα)",
        noise=0.0,
        order={"n": -1.0, "epsilon": -1.0},
        size=lambda alpha, epsilon: 12 * math.log(2 / alpha) / (alpha * epsilon),
        least_n=400,
        make=lambda n, epsilon, alpha: walk(epsilon, alpha),  # noqa: ARG005
    ),
    "projected-walk, ε = α/2": Rate(
        statement="Dwork and Feldman, Theorem 5.3: ln(1/α)/α²",
        noise=NOISE,
        order={"n": -0.5},
        size=lambda alpha, epsilon: 24 * math.log(2 / alpha) / alpha**2,  # noqa: ARG005
        least_n=800,
        make=lambda n, epsilon, alpha: walk(alpha / 2, alpha),  # noqa: ARG005
    ),
    "noisy-average": Rate(
        statement="Dwork and Feldman, Corollary 4.8: d/(εα³)",
        noise=NOISE,
        order={"n": -1 / 3, "epsilon": -1 / 3},
        size=noisy_size,
        least_n=3200,
        make=lambda n, epsilon, alpha: NoisyAverage(
            epsilon=epsilon, r=min(n, blocks_for(alpha, epsilon)), learner="threshold"
        ),
    ),
    "label-flip": Rate(
        statement="Dagan and Feldman, Corollary 1: d/(εα²)",
        noise=NOISE,
        order={"n": -0.5, "epsilon": -0.5},
        size=lambda alpha, epsilon: 4 * math.log(1 / alpha) / (epsilon * alpha**2),
        least_n=800,
        repeats=8,
        make=lambda n, epsilon, alpha: LabelFlip(
            n=n, epsilon=epsilon, alpha=alpha, base="stable-learner"
        ),
    ),
    "stable-learner": Rate(
        statement="Dagan and Feldman, Theorem 1: d/(γα) + d/α², γ for ε",
        noise=NOISE,
        order={"n": -0.5, "epsilon": -1.0},
        epsilons=(0.002, 0.004, 0.008, 0.016, 0.032),
        size=lambda alpha, gamma: math.log(1 / alpha) / (gamma * alpha) + 1 / alpha**2,
        least_n=400,
        make=lambda n, gamma, alpha: StableLearner(n=n, gamma=gamma),  # noqa: ARG005
    ),
}
"""By learner, in the order of the papers."""


def walk(epsilon: float, alpha: float) -> ProjectedWalk:
    """Theorem 2.4's walk for error alpha."""
    return ProjectedWalk(epsilon=epsilon, T=ProjectedWalk(epsilon=epsilon).bound_for(alpha))


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
a dataset is exact; means over datasets.

*Order*: the slope on a log-log scale without logarithms. *Promised*: the slope of α itself over the
same n or ε, with the logarithms. *Measured*: the slope of the mean error, with a bootstrap interval
of 95 % over the datasets. *Error/α*: at either end.

A statement bounds the level, for the worst distribution; on this one the error may fall faster
(`stable-learner`). It can fall more slowly than promised where it is far below α, if a logarithm
of the statement is not needed here (`soft-majority` against ε), and where so little is learned that
it is near its ceiling of {(1 - 2 * NOISE) / 2:g} (`label-flip`; `stable-learner` at small γ).

Harder distributions, baselines and `relabelled` (Dagan and Feldman, Theorem 2), which has no exact
law, are in [excess_error.md](excess_error.md), against n only.

![Error against n and ε](figures/rates.svg)

*Dotted: the promised slope, through the first point.*
"""


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
    return "\n".join(lines)


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
    stored = DOCS / "rates.json"
    found: Found = {}
    if parser.parse_args().page:
        found = json.loads(stored.read_text(encoding="utf-8"))
    else:
        with threadpool_limits(limits=1):
            for name, rate in RATES.items():
                found[name] = {axis: errors(name, axis) for axis in rate.order}
                print(
                    name, {axis: measured(name, axis, each) for axis, each in found[name].items()}
                )
        stored.write_text(json.dumps(found) + "\n", encoding="utf-8")
    (DOCS / "rates.md").write_text(page(found), encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
