"""All figures of attacks: ROC, advantage, repeated queries, accuracy, exposed records."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpassay.reports.attack.roc import (
    HEIGHT,
    AttackFigure,
    losses_of,
    spaced,
    styles_of,
    unclaimed_roc,
    view_roc,
)
from dpassay.reports.attack.view import (
    SubjectView,
    TranscriptTests,
    ViewOutcome,
    pair,
    sound,
    view_names,
)
from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIM, CLAIMED, GUESSING, INK, PALETTE
from dpassay.reports.shared.numbers import plural, shorten

ROW = 0.22
"""Of a subject, in inches."""
UNCLAIMED = chart.Look(INK, ":", width=1)


def figures(
    subjects: Sequence[SubjectView], found: Sequence[TranscriptTests]
) -> list[AttackFigure]:
    """Return all figures that a record has numbers for, in the order of the page."""
    fine = sound(subjects)
    if not fine:
        return []
    views = (view_roc(fine, view, found, k) for k, view in enumerate(view_names(fine)))
    rocs = [each for each in (unclaimed_roc(fine), *views) if each is not None]
    made = [
        *(each._replace(title="" if k else "ROC curves") for k, each in enumerate(rocs)),
        advantage_plot(fine),
        *(repeated_plot(found, loss=loss) for loss in (True, False)),
        trade_plot(fine),
        exposure_plot(fine),
    ]
    return [each for each in made if each is not None]


def advantage_plot(subjects: Sequence[SubjectView]) -> AttackFigure | None:
    """Draw the largest advantage of any attack by number of answers, a panel per claimed loss."""
    losses, styles = losses_of(subjects), styles_of(subjects)
    if not losses:
        return None
    looks = [look for subject in subjects for look in subject.looks]
    answers = sorted({look.m for look in looks if look.m is not None})
    ends, top = (answers[0] / 1.3, answers[-1] * 1.3), 2.2 * max(map(_most, looks)) + 0.02
    grid = spaced(*ends)
    with chart.drawing(HEIGHT, panels=len(losses), foot=0.6) as panels:
        for axes, epsilon in zip(panels, losses, strict=True):
            here = [subject for subject in subjects if subject.epsilon == epsilon]
            delta = max(float(subject.raw["claim"]["delta"]) for subject in here)
            allowed = [allowed_advantage(m * epsilon, min(1.0, m * delta)) for m in grid]
            chart.band(axes, grid, [0.0] * len(grid), allowed, CLAIM, 0.13)
            for subject in here:
                style = styles[subject.family]
                own, copied = (
                    [
                        (look.m, _most(look))
                        for look in subject.looks
                        if look.m is not None and bool(look.copies) == copies
                    ]
                    for copies in (False, True)
                )
                dotted = style._replace(marker="o", size=3.6)
                chart.line(axes, sorted(own), dotted, shorten(subject.family, 30))
                diamond = style._replace(marker="D", hollow=True, size=4.5, width=1)
                chart.marks(axes, copied, diamond)
            chart.line(axes, zip(grid, allowed, strict=True), CLAIMED, "allowed by the claim")
            for base in (each for each in subjects if each.epsilon is None):
                chart.rule(axes, max(map(_most, base.looks)), UNCLAIMED, label="nothing claimed")
            chart.frame(
                axes,
                ends,
                (0, min(1.02, top)),
                logarithmic="x",
                x_ticks={m: str(m) for m in answers},
                names=("answers m", "advantage"),
                title=f"{pair((epsilon, 0.0))} per answer",
            )
        svg = chart.svg(
            panels[0],
            name="plot-advantage",
            title="Advantage of the best attack against the number of answers",
            description=(
                f"{plural(len(losses), 'panel')}, one per claimed loss of an answer. The "
                "tables of attacks tell the numbers."
            ),
        )
    caption = (
        "Largest TPR - FPR of any attack, an estimate, by the number of answers about each "
        "record; diamonds: answers at noisy copies instead of the record. Shaded: what the "
        "composed claim allows, at the largest δ claimed. Dotted: the most that was got "
        "out of what makes no claim."
    )
    return AttackFigure("Advantage and the number of answers", "advantage", svg, caption)


def repeated_plot(found: Sequence[TranscriptTests], *, loss: bool) -> AttackFigure | None:
    """Draw certified loss or advantage of m answers in what is claimed, with the best attacker."""
    fields = ("lower", "ceiling", "claimed") if loss else ("advantage", "most", "allowed")
    first = "certified lower bound" if loss else "reached, an estimate"
    rows = (
        (fields[0], first, chart.Look(PALETTE["held"], marker="o", size=4)),
        (fields[1], "most there is, by the exact laws", chart.Look(PALETTE["refuted"], "-.")),
        (fields[2], "composed claim", CLAIMED),
    )
    shown = [
        each for each in found if any(getattr(rung, fields[0]) is not None for rung in each.rungs)
    ]
    if not shown:
        return None
    what = "Loss" if loss else "Advantage"
    with chart.drawing(HEIGHT, panels=len(shown), foot=0.6) as panels:
        for axes, ladder in zip(panels, shown, strict=True):
            for field, label, style in rows:
                points = [(rung.m, getattr(rung, field)) for rung in ladder.rungs]
                known = [(m, number) for m, number in points if number is not None]
                chart.line(axes, known, style, label)
            chart.frame(
                axes,
                logarithmic="x",
                x_ticks={rung.m: str(rung.m) for rung in ladder.rungs},
                names=("answers m to one query", "loss of all m, in nats" if loss else "advantage"),
                title=shorten(ladder.name.replace("epsilon = ", "ε = "), 34),
            )
            axes.set_ylim(bottom=0)
        svg = chart.svg(
            panels[0],
            name=f"plot-repeated-{what.lower()}",
            title=f"{what} of repeated answers",
            description=(
                f"{plural(len(shown), 'interface')}, one panel each. The table of repeated "
                "queries has the same numbers."
            ),
        )
    caption = (
        f"{what} of m answers to one query together, at the pair of datasets that is worst "
        "for it among those looked at: what was reached, what the composed claim allows, "
        "and the most that there is on any such pair, where the exact laws tell it."
    )
    title = "Repeated queries" if loss else ""
    return AttackFigure(title, f"repeated queries, {what.lower()}", svg, caption)


def trade_plot(subjects: Sequence[SubjectView]) -> AttackFigure | None:
    """Draw accuracy, success of the best attack, and the one against the other."""
    subjects = [  # a claim of 0 has no place on a logarithmic axis
        subject
        for subject in subjects
        if subject.raw["accuracy"] is not None and subject.epsilon != 0
    ]
    losses = losses_of(subjects)
    if not losses:
        return None
    with chart.drawing(HEIGHT, panels=3, foot=0.6) as panels:
        left, middle, right = panels
        for family, style in styles_of(subjects).items():
            own = sorted(
                (each.epsilon or 0.0, _accuracy(each), each.best.best)
                for each in subjects
                if each.family == family
            )
            x, accuracy, best = zip(*own, strict=True)
            success = [float(each["auc"]) for each in best]
            dotted, label = style._replace(marker="o", size=3.6), shorten(family, 30)
            for axes, across, up in (
                (left, x, accuracy),
                (middle, x, success),
                (right, success, accuracy),
            ):
                chart.line(axes, zip(across, up, strict=True), dotted, label)
            ends = [(float(each["auc_low"]), float(each["auc_high"])) for each in best]
            intervals = [(at, *each) for at, each in zip(x, ends, strict=True)]
            chart.spans(middle, intervals, style._replace(width=0.8))
        star = UNCLAIMED._replace(marker="*", size=10)
        for base in (each for each in subjects if each.epsilon is None):
            reached = float(base.best.best["auc"])
            chart.rule(left, _accuracy(base), UNCLAIMED)
            chart.rule(middle, reached, UNCLAIMED)
            chart.marks(right, [(reached, _accuracy(base))], star, "nothing claimed (also dotted)")
        guess = GUESSING._replace(dashes="-", width=0.8)
        chart.rule(middle, 0.5, guess)
        chart.rule(right, 0.5, guess, upright=True)
        ticks = {epsilon: f"{epsilon:g}" for epsilon in losses}
        under, success_name = "claimed ε per answer", "AUC of the best attack"
        for axes, name in ((left, "accuracy"), (middle, success_name)):
            chart.frame(axes, logarithmic="x", x_ticks=ticks, names=(under, name))
        chart.frame(right, names=(success_name, "accuracy"))
        svg = chart.svg(
            panels[0],
            name="plot-trade",
            title="Accuracy against attack success",
            description=(
                "Three panels: accuracy of a single answer by the claimed loss, AUC of the "
                "best attack by the claimed loss, and the one against the other. The summary "
                "table tells the numbers."
            ),
        )
    caption = (
        "Accuracy of the targets on the test records, and AUC of the best attack in any "
        "view with its 95 % interval; estimates. Bottom right is worst: little accuracy, "
        "much success. An AUC of 0.5 is guessing."
    )
    return AttackFigure("Accuracy and attack success", "accuracy and attack success", svg, caption)


def exposure_plot(subjects: Sequence[SubjectView]) -> AttackFigure | None:
    """Draw how membership moves records, a row per subject; None without reference models."""
    subjects = [subject for subject in subjects if subject.raw["separations"]]
    if not subjects:
        return None
    values = [[float(each) for each in subject.raw["separations"]] for subject in subjects]
    with chart.drawing(ROW * len(subjects) + 0.8, left=3.3, across=chart.WIDE) as (axes,):
        axes.set_xscale("symlog", linthresh=1, linscale=1)
        lowest, highest = min(map(min, values)), max(map(max, values))
        for row, (subject, own) in enumerate(zip(subjects, values, strict=True)):
            colour = INK if subject.epsilon is None else PALETTE["held"]
            for start, end, width in ((0.0, 1.0, 0.6), (0.05, 0.95, 2.2), (0.25, 0.75, 5.0)):
                places = [(own[round(part * (len(own) - 1))], row) for part in (start, end)]
                chart.line(axes, places, chart.Look(colour, width=width))
        middles = [(own[round(0.5 * (len(own) - 1))], row) for row, own in enumerate(values)]
        chart.marks(axes, middles, chart.Look(marker="|", size=11, width=1.4))
        most = [(own[-1], row) for row, own in enumerate(values)]
        chart.marks(axes, most, chart.Look(PALETTE["refuted"], marker="o", size=4.5))
        chart.rule(axes, 0, GUESSING._replace(dashes="-"), upright=True)
        sizes = (0.5, 1, 2, 5, 10, 20, 50, 100, 1000)
        ticks = sorted({0.0, *sizes, *(-size for size in sizes)})
        within = [tick for tick in ticks if min(lowest, 0) <= tick <= max(highest, -lowest)]
        chart.frame(
            axes,
            y=(len(subjects) - 0.4, -0.6),
            x_ticks={tick: f"{tick:g}" for tick in within},
            y_ticks={k: shorten(subject.name, 42) for k, subject in enumerate(subjects)},
            names=("separation, in standard deviations", ""),
        )
        axes.grid(visible=False, axis="y")
        svg = chart.svg(
            axes,
            name="plot-exposure",
            title="How far records move with their membership",
            description=(
                f"{plural(len(subjects), 'subject')}, one row each: the range, 90 %, the "
                "middle half and the median of all records, and the most exposed one. The "
                "table of exposed records tells the largest."
            ),
        )
    caption = (
        "By how many standard deviations the log-odds of a record's own label rise when it "
        "is in the training set, on the reference models, in the first view; an estimate. "
        "Thin: all records; thick: 90 % and the middle half; upright: the median; dot: "
        "the most exposed record. Of few reference models the spread around 0 is chance."
    )
    return AttackFigure("Records", "separation of records", svg, caption)


def allowed_advantage(epsilon: float, delta: float) -> float:
    """Return the largest TPR - FPR under DP: (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)."""
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(min(epsilon, 700.0)) + 1))


def _most(look: ViewOutcome) -> float:
    return max(float(each["advantage"]) for each in look.outcomes)


def _accuracy(subject: SubjectView) -> float:
    return float(subject.raw["accuracy"]["mean"])
