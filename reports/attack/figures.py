"""Figures of the attacks besides the ROC curves.

Advantage, accuracy against success, records, repeated queries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpassay.reports.attack.roc import ACROSS, Drawn, _legend, _panel, families, losses, roc_figures
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import SubjectView, pair, sound
from dpassay.reports.shared.figures import (
    CLAIM,
    FAINT,
    INK,
    PALETTE,
    WIDTH,
    as_svg,
    axes_in,
    despine,
    figure_of,
)
from dpassay.reports.shared.numbers import plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Raw = Mapping[str, Any]

ROW, PANEL = 0.25, 3.2
UNCLAIMED = INK


def figures(subjects: Sequence[SubjectView], found: Sequence[TranscriptTests]) -> list[Drawn]:
    """Return all figures that a record has numbers for, in the order of the page."""
    fine = sound(subjects)
    if not fine:
        return []
    made = [
        *roc_figures(fine, found),
        advantage_plot(fine),
        *(repeated_plot(found, loss=loss) for loss in (True, False)),
    ]
    made += [trade_plot(fine), exposure_plot(fine)]
    return [each for each in made if each is not None]


def allowed_advantage(epsilon: float, delta: float) -> float:
    """Return the largest TPR - FPR under (epsilon, delta)-differential privacy.

    It is (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).
    """
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
    with figure_of(_rows(len(panels))) as figure:
        for k, epsilon in enumerate(panels):
            axes = _panel(figure, k, len(panels))
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
            _finish(
                axes,
                f"{pair((epsilon, 0.0))} per answer",
                "answers m",
                "advantage",
                k,
                len(panels),
            )
            axes.tick_params(axis="y", labelleft=k % ACROSS == 0)
        entries = [(*style, shorten(name, 30)) for name, style in styles.items()]
        _legend(
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


def trade_plot(subjects: Sequence[SubjectView]) -> Drawn | None:
    """Draw accuracy, success of the best attack, and the one against the other."""
    subjects = [  # a claim of 0 has no place on a logarithmic axis
        subject
        for subject in subjects
        if subject.raw["accuracy"] is not None and subject.epsilon != 0
    ]
    panels, styles = losses(subjects), families(subjects)
    if not panels:
        return None
    wide, height = (WIDTH - 0.75 - 0.15 - 0.75 * 2) / 3, PANEL + 0.75
    with figure_of(height) as figure:
        left, middle, right = (
            axes_in(figure, (0.75 + k * (wide + 0.75), 1.25, wide, height - 1.45), height)
            for k in range(3)
        )
        for name, (colour, dashes) in styles.items():
            own = sorted(
                (each for each in subjects if each.family == name),
                key=lambda each: each.epsilon or 0.0,
            )
            points = [(each.epsilon or 0.0, _accuracy(each), each.best.best) for each in own]
            x = [point[0] for point in points]
            accuracy = [point[1] for point in points]
            success = [float(point[2]["auc"]) for point in points]
            for axes, across, up in (
                (left, x, accuracy),
                (middle, x, success),
                (right, success, accuracy),
            ):
                axes.plot(
                    across,
                    up,
                    dashes,
                    marker="o",
                    markersize=3.6,
                    color=colour,
                    linewidth=1.2,
                    zorder=3,
                )
            for point in points:
                lows = [float(point[2][end]) for end in ("auc_low", "auc_high")]
                middle.plot([point[0]] * 2, lows, color=colour, linewidth=0.8, alpha=0.7, zorder=2)
        for base in (each for each in subjects if each.epsilon is None):
            left.axhline(_accuracy(base), color=UNCLAIMED, linewidth=1, dashes=(1, 2), zorder=1)
            middle.axhline(
                float(base.best.best["auc"]), color=UNCLAIMED, linewidth=1, dashes=(1, 2), zorder=1
            )
            right.plot(
                float(base.best.best["auc"]),
                _accuracy(base),
                "*",
                color=UNCLAIMED,
                markersize=10,
                zorder=4,
            )
        for axes in (middle, right):
            (axes.axhline if axes is middle else axes.axvline)(
                0.5, color=FAINT, linewidth=0.8, zorder=1
            )
        for axes, under, beside in (
            (left, "claimed ε per answer", "accuracy"),
            (middle, "claimed ε per answer", "AUC of the best attack"),
            (right, "AUC of the best attack", "accuracy"),
        ):
            if axes is not right:
                axes.set_xscale("log")
                axes.minorticks_off()
                axes.set_xticks(panels, [f"{epsilon:g}" for epsilon in panels])
            axes.set_xlabel(under)
            axes.set_ylabel(beside)
            axes.grid(visible=True, color=FAINT, alpha=0.2, linewidth=0.5)
            despine(axes)
        entries = [(*style, shorten(name, 30)) for name, style in styles.items()]
        _legend(figure, [*entries, (UNCLAIMED, ":", "nothing claimed (star)")])
        svg = as_svg(
            figure,
            name="plot-trade",
            title="Accuracy against attack success",
            description=(
                "Three panels: accuracy of a single answer by the claimed loss, AUC of the best "
                "attack by the claimed loss, and the one against the other. The summary table "
                "tells the numbers."
            ),
        )
    caption = (
        "Accuracy of the targets on the test records, and AUC of the best attack in any view with "
        "its 95 % interval; estimates. Bottom right is worst: little accuracy, much success. An "
        "AUC of 0.5 is guessing."
    )
    return Drawn(
        title="Accuracy and attack success",
        label="accuracy and attack success",
        svg=svg,
        caption=caption,
    )


def exposure_plot(subjects: Sequence[SubjectView]) -> Drawn | None:
    """Draw how far records move with their membership, one row per subject.

    None where there are no reference models that would tell it.
    """
    subjects = [subject for subject in subjects if subject.raw["separations"]]
    if not subjects:
        return None
    height = ROW * len(subjects) + 0.85
    with figure_of(height) as figure:
        axes = axes_in(figure, (3.3, 0.6, WIDTH - 3.5, height - 0.7), height)
        for row, subject in enumerate(subjects):
            colour = UNCLAIMED if subject.epsilon is None else PALETTE["held"][0]
            values = [float(each) for each in subject.raw["separations"]]
            low, quarter, half, three, high = (
                values[round(part * (len(values) - 1))] for part in (0.05, 0.25, 0.5, 0.75, 0.95)
            )
            axes.plot(
                [values[0], values[-1]],
                [row, row],
                color=colour,
                linewidth=0.6,
                alpha=0.6,
                zorder=2,
            )
            axes.plot(
                [low, high],
                [row, row],
                color=colour,
                linewidth=2.2,
                alpha=0.6,
                zorder=2,
                solid_capstyle="butt",
            )
            axes.plot(
                [quarter, three],
                [row, row],
                color=colour,
                linewidth=5,
                zorder=3,
                solid_capstyle="butt",
            )
            axes.plot([half] * 2, [row - 0.32, row + 0.32], color=INK, linewidth=1.4, zorder=4)
            axes.plot(
                values[-1],
                row,
                "o",
                color=PALETTE["refuted"][0],
                markersize=4.5,
                zorder=4,
                clip_on=False,
            )
        axes.axvline(0, color=FAINT, linewidth=0.8, zorder=1)
        axes.set_xscale("symlog", linthresh=1, linscale=1)
        axes.minorticks_off()
        most = max(abs(float(each)) for subject in subjects for each in subject.raw["separations"])
        ticks = [
            sign * size
            for sign in (-1, 1)
            for size in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000)
            if size <= most
        ] + [0]
        lowest = min(float(subject.raw["separations"][0]) for subject in subjects)
        ticks = sorted(tick for tick in ticks if tick >= lowest)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_ylim(len(subjects) - 0.4, -0.6)
        axes.set_yticks(range(len(subjects)), [shorten(subject.name, 42) for subject in subjects])
        axes.set_xlabel("separation, in standard deviations")
        axes.grid(visible=True, axis="x", color=FAINT, alpha=0.25, linewidth=0.6)
        despine(axes, left=True)
        axes.tick_params(axis="y", length=0, pad=8)
        svg = as_svg(
            figure,
            name="plot-exposure",
            title="How far records move with their membership",
            description=(
                f"{plural(len(subjects), 'subject')}, one row each: the range, 90 %, the middle "
                "half and the median of all records, and the most exposed one. The table of "
                "exposed records tells the largest."
            ),
        )
    caption = (
        "By how many standard deviations the log-odds of a record's own label rise when it is in "
        "the training set, on the reference models, in the first view; an estimate. Thin: all "
        "records; thick: 90 % and the middle half; upright: the median; dot: the most exposed "
        "record. Of few reference models the spread around 0 is chance."
    )
    return Drawn(title="Records", label="separation of records", svg=svg, caption=caption)


def repeated_plot(found: Sequence[TranscriptTests], *, loss: bool) -> Drawn | None:
    """Draw the certified loss of m answers to one query, or their advantage.

    In what is claimed, with the optimal attacker.
    """
    fields = ("claimed", "ceiling", "lower") if loss else ("allowed", "most", "advantage")
    shown = [
        ladder
        for ladder in found
        if any(getattr(rung, fields[2]) is not None for rung in ladder.rungs)
    ]
    if not shown:
        return None
    looks = ((CLAIM, "--", ""), (PALETTE["refuted"][0], "-.", ""), (PALETTE["held"][0], "-", "o"))
    with figure_of(_rows(len(shown))) as figure:
        for k, ladder in enumerate(shown):
            axes = _panel(figure, k, len(shown))
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
            _finish(
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
        _legend(
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


def _most(look: Any) -> float:
    return max(float(each["advantage"]) for each in look.outcomes)


def _accuracy(subject: SubjectView) -> float:
    return float(subject.raw["accuracy"]["mean"])


def _rows(panels: int) -> float:
    return math.ceil(panels / ACROSS) * PANEL + 0.75


def _finish(axes: Axes, title: str, across: str, up: str, k: int, panels: int) -> None:
    axes.set_title(title, fontsize="medium", loc="left")
    axes.grid(visible=True, color=FAINT, alpha=0.2, linewidth=0.5)
    despine(axes)
    if k + ACROSS >= panels:
        axes.set_xlabel(across)
    if k % ACROSS == 0:
        axes.set_ylabel(up)
