"""Figures of attacks by subject: accuracy against success, and how exposed its records are."""

from __future__ import annotations

from collections.abc import Sequence

from dpassay.reports.attack.panels import BOX, UNCLAIMED, Drawn, families, legend, losses
from dpassay.reports.attack.view import SubjectView
from dpassay.reports.shared.figures import (
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

ROW = 0.25
"""Height of a subject, in inches."""


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
    wide, height = (WIDTH - 0.75 - 0.15 - 0.75 * 2) / 3, BOX + 1.5
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
        legend(figure, [*entries, (UNCLAIMED, ":", "nothing claimed (star)")])
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
    """Draw how membership moves records, a row per subject; None without reference models."""
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


def _accuracy(subject: SubjectView) -> float:
    return float(subject.raw["accuracy"]["mean"])
