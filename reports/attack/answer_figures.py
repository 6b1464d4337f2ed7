"""Figures of attacks by the number of answers: the advantage, and queries that are repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpassay.reports.attack.panels import (
    ACROSS,
    UNCLAIMED,
    Drawn,
    families,
    finish,
    height_of,
    legend,
    losses,
    panel,
)
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import Look, SubjectView, pair
from dpassay.reports.shared.figures import CLAIM, PALETTE, as_svg, figure_of
from dpassay.reports.shared.numbers import plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def allowed_advantage(epsilon: float, delta: float) -> float:
    """Return the largest TPR - FPR under DP: (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)."""
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(min(epsilon, 700.0)) + 1))


def advantage_plot(subjects: Sequence[SubjectView]) -> Drawn | None:
    """Draw the largest advantage of any attack by number of answers, a panel per claimed loss."""
    panels, styles = losses(subjects), families(subjects)
    if not panels:
        return None
    answers = sorted(
        {look.m for subject in subjects for look in subject.looks if look.m is not None}
    )
    high = min(
        1.02, 2.2 * max(_most(look) for subject in subjects for look in subject.looks) + 0.02
    )
    with figure_of(height_of(len(panels), legend=True)) as figure:
        for k, epsilon in enumerate(panels):
            axes = panel(figure, k, len(panels))
            here = [subject for subject in subjects if subject.epsilon == epsilon]
            delta = max(float(subject.raw["claim"]["delta"]) for subject in here)
            grid = [answers[0] * (answers[-1] / answers[0]) ** (step / 40) for step in range(41)]
            top = [allowed_advantage(m * epsilon, min(1.0, m * delta)) for m in grid]
            axes.fill_between(
                grid, [0] * len(grid), top, color=CLAIM, alpha=0.13, linewidth=0, zorder=1
            )
            axes.plot(grid, top, "--", color=CLAIM, linewidth=1.1, zorder=2)
            if len(answers) == 1:
                axes.plot(answers, top[:1], "_", color=CLAIM, markersize=24, zorder=2)
            for subject in here:
                _advantage(axes, subject, *styles[subject.family])
            for base in (each for each in subjects if each.epsilon is None):
                reached = max(_most(look) for look in base.looks)
                axes.axhline(reached, color=UNCLAIMED, linewidth=0.9, dashes=(1, 2), zorder=1)
            axes.set_xscale("log")
            axes.minorticks_off()
            axes.set_xticks(answers, [str(m) for m in answers])
            axes.set_xlim(answers[0] / 1.3, answers[-1] * 1.3)
            axes.set_ylim(0, high)
            finish(
                axes,
                f"{pair((epsilon, 0.0))} per answer",
                "answers m",
                "advantage",
                k,
                len(panels),
            )
            axes.tick_params(axis="y", labelleft=k % ACROSS == 0)
        entries = [(*style, shorten(name, 30)) for name, style in styles.items()]
        legend(
            figure,
            [*entries, (CLAIM, "--", "allowed by the claim"), (UNCLAIMED, ":", "nothing claimed")],
        )
        svg = as_svg(
            figure,
            name="plot-advantage",
            title="Advantage of the best attack against the number of answers",
            description=(
                f"{plural(len(panels), 'panel')}, one per claimed loss of an answer. The tables "
                "of attacks tell the numbers."
            ),
        )
    caption = (
        "Largest TPR - FPR of any attack, an estimate, by the number of answers about each "
        "record; diamonds: answers at noisy copies instead of the record. Shaded: what the "
        "composed claim allows, at the largest δ claimed. Dotted: the most that was got out of "
        "what makes no claim."
    )
    return Drawn(
        title="Advantage and the number of answers", label="advantage", svg=svg, caption=caption
    )


def repeated_plot(found: Sequence[TranscriptTests], *, loss: bool) -> Drawn | None:
    """Draw certified loss or advantage of m answers in what is claimed, with the best attacker."""
    fields = ("claimed", "ceiling", "lower") if loss else ("allowed", "most", "advantage")
    shown = [
        ladder
        for ladder in found
        if any(getattr(rung, fields[2]) is not None for rung in ladder.rungs)
    ]
    if not shown:
        return None
    looks = ((CLAIM, "--", ""), (PALETTE["refuted"][0], "-.", ""), (PALETTE["held"][0], "-", "o"))
    with figure_of(height_of(len(shown), legend=True)) as figure:
        for k, ladder in enumerate(shown):
            axes = panel(figure, k, len(shown))
            for field, (colour, dashes, marker) in zip(fields, looks, strict=True):
                line = [
                    (rung.m, getattr(rung, field))
                    for rung in ladder.rungs
                    if getattr(rung, field) is not None
                ]
                line = [point for point in line if math.isfinite(point[1])]
                if line:
                    axes.plot(
                        *zip(*line, strict=True),
                        dashes,
                        marker=marker,
                        markersize=4,
                        color=colour,
                        linewidth=1.3,
                    )
            answers = [rung.m for rung in ladder.rungs]
            axes.set_xscale("log")
            axes.minorticks_off()
            axes.set_xticks(answers, [str(m) for m in answers])
            axes.set_ylim(bottom=0)
            up = "loss of all m, in nats" if loss else "advantage"
            finish(
                axes,
                shorten(ladder.name.replace("epsilon = ", "ε = "), 34),
                "answers m to one query",
                up,
                k,
                len(shown),
            )
        words = (
            "composed claim",
            "most there is, by the exact laws",
            "certified lower bound" if loss else "reached, an estimate",
        )
        legend(
            figure,
            [
                (colour, dashes, word)
                for (colour, dashes, _), word in zip(looks, words, strict=True)
            ][::-1],
        )
        what = "Loss" if loss else "Advantage"
        svg = as_svg(
            figure,
            name="plot-repeated-loss" if loss else "plot-repeated-advantage",
            title=f"{what} of repeated answers",
            description=(
                f"{plural(len(shown), 'interface')}, one panel each. The table of repeated "
                "queries has the same numbers."
            ),
        )
    caption = (
        f"{what} of m answers to one query together, at the pair of datasets that is worst for it "
        "among those looked at: what was reached, what the composed claim allows, and the most "
        "that there is on any such pair, where the exact laws tell it."
    )
    return Drawn(
        title="Repeated queries" if loss else "",
        label=f"repeated queries, {what.lower()}",
        svg=svg,
        caption=caption,
    )


def _advantage(axes: Axes, subject: SubjectView, colour: str, dashes: str) -> None:
    line = [
        (look.m, _most(look)) for look in subject.looks if look.m is not None and not look.copies
    ]
    line.sort()
    axes.plot(
        [m for m, _ in line],
        [most for _, most in line],
        dashes,
        marker="o",
        markersize=3.6,
        color=colour,
        linewidth=1.2,
    )
    for look in subject.looks:
        if look.copies and look.m is not None:
            axes.plot(
                look.m,
                _most(look),
                "D",
                markerfacecolor="none",
                markeredgecolor=colour,
                markersize=4.5,
            )


def _most(look: Look) -> float:
    return max(float(each["advantage"]) for each in look.outcomes)
