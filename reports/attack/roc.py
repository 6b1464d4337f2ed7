"""ROC curves of attacks on two logarithmic axes, with the region that a claim allows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dpassay.reports.attack.paired import tossed
from dpassay.reports.attack.view import (
    BASELINE,
    LIRA,
    SubjectView,
    TranscriptTests,
    ViewOutcome,
    pair,
)
from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIM, CLAIMED, FAINT, GUESSING, INK, PALETTE
from dpassay.reports.shared.numbers import clean, plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Raw = Mapping[str, Any]
Region = tuple[float, float]

HEIGHT = 3.1
"""Of a row of panels, in inches."""
POINTS = 50
"""Points of a curve that are drawn."""
COLOURS = ("held", "refuted", "verified", "error", "inconclusive", "missed")
"""Colours of the mechanisms, in their order; from the seventh on dashed."""


class AttackFigure(NamedTuple):
    """A figure of the page; without a title it stands under the heading of the one before."""

    title: str
    label: str
    svg: str
    caption: str


def unclaimed_roc(subjects: Sequence[SubjectView]) -> AttackFigure | None:
    """Draw every attack on what makes no claim, one panel per view."""
    shown = [
        (subject, look) for subject in subjects if subject.epsilon is None for look in subject.looks
    ]
    if not shown:
        return None
    several = len({subject.name for subject, _ in shown}) > 1
    left = _least(look for _, look in shown)
    named = {
        LIRA: ("LiRA", chart.Look(PALETTE["held"], width=1.5)),
        BASELINE: ("loss threshold", chart.Look(PALETTE["refuted"], "--", width=1.5)),
    }
    with chart.drawing(HEIGHT, panels=len(shown), foot=0.6) as panels:
        for axes, (subject, look) in zip(panels, shown, strict=True):
            best = look.best["attack"]
            for each in reversed(look.outcomes):
                if each["attack"] not in named and each is not look.best:
                    _curve(axes, each, left, chart.Look(FAINT, width=0.7), "other attacks")
            if best not in named:
                _curve(axes, look.best, left, chart.Look(), "highest AUC, if another")
            for name, (label, style) in named.items():
                if (outcome := look.of(name)) is not None:
                    _curve(axes, outcome, left, style, label)
            _frame_roc(axes, left, f"{subject.name}, {look.name}" if several else look.name)
            _spread(axes, look.best, left, named[best][1].colour if best in named else INK)
            told = f"best: {clean(best)}, AUC {look.best['auc']:.3f}"
            chart.note(axes, shorten(told, 44), (1, 0.03), "right")
        svg = chart.svg(
            panels[0],
            name="plot-roc-unclaimed",
            title="ROC curves of all attacks on what makes no claim",
            description=(
                f"{plural(len(shown), 'panel')}, one per view, both axes logarithmic. The "
                "tables of attacks tell the rates."
            ),
        )
    caption = (
        "True against false positive rate of every attack, over all targets and records "
        "together; estimates. Shaded: 95 % around the best attack at each rate, over the "
        "target models. Dotted: guessing."
    )
    return AttackFigure("", "attacks on what makes no claim", svg, caption)


def view_roc(
    subjects: Sequence[SubjectView], view: str, found: Sequence[TranscriptTests], k: int
) -> AttackFigure | None:
    """Draw the best attacks of a view in the allowed region, a panel per claimed loss."""
    styles = styles_of(subjects)
    looks = [
        (subject, look, look.allowed)
        for subject in subjects
        for look in subject.looks
        if look.name == view and look.allowed is not None
    ]
    if not looks:
        return None
    losses = losses_of([subject for subject, *_ in looks])
    left = _least(look for _, look, _ in looks)
    rates = spaced(left, 1.0)

    def edge(region: Region) -> list[tuple[float, float]]:
        return [(rate, allowed_tpr(rate, region)) for rate in rates]

    with chart.drawing(HEIGHT, panels=len(losses), foot=0.6) as panels:
        for axes, epsilon in zip(panels, losses, strict=True):
            here = [each for each in looks if each[0].epsilon == epsilon]
            regions = sorted({allowed for *_, allowed in here})
            tops = [top for _, top in edge(regions[0])]
            chart.band(axes, rates, [left / 10] * len(rates), tops, CLAIM, 0.13)
            for subject, look, allowed in here:
                style = styles[subject.family]
                _curve(axes, look.best, left, style, shorten(subject.family, 30))
                _spread(axes, look.best, left, style.colour)
                ceiling = _ceiling(found, subject, look)
                if ceiling is not None:
                    exact = style._replace(dashes="-.", width=1.1)
                    label = "edge of the exact loss, worst pair"
                    chart.line(axes, edge((ceiling, allowed[1])), exact, label)
            for region in regions:
                chart.line(axes, edge(region), CLAIMED, "edge of what is allowed")
            _frame_roc(axes, left, f"{pair((epsilon, 0.0))} per answer")
            more = ", or more δ" if len(regions) > 1 else ""
            chart.note(axes, shorten(f"together {pair(regions[0])}{more}", 44), (1, 0.03), "right")
        svg = chart.svg(
            panels[0],
            name=f"plot-roc-{k}",
            title=f"ROC curves of the best attack, {view}",
            description=(
                f"{plural(len(losses), 'panel')}, one per claimed loss of an answer; both axes "
                "are logarithmic. Curves above the shaded region would break the claim. The "
                "summary table tells the rates."
            ),
        )
    caption = (
        f"View: {view}. The attack with the highest AUC on each mechanism, and 95 % around "
        "it at each rate, over the target models. The shaded region is what the composed "
        "claim allows; above it a claim would be broken, if the curve were more than an "
        "estimate of the best of many attacks."
    )
    return AttackFigure("", f"best attacks, {view}", svg, caption)


def allowed_tpr(fpr: float, region: Region) -> float:
    """Return the largest true positive rate under (epsilon, delta)-differential privacy.

    Source: Kairouz, Oh and Viswanath (2015).
    """
    epsilon, delta = region
    growth = math.exp(min(epsilon, 700.0))
    return min(1.0, growth * fpr + delta, max(0.0, 1 - (1 - delta - fpr) / growth))


def styles_of(subjects: Sequence[SubjectView]) -> dict[str, chart.Look]:
    """Return colour and dashes by the family of the subjects that make a claim."""
    named = dict.fromkeys(subject.family for subject in subjects if subject.epsilon is not None)
    looks = [chart.Look(PALETTE[slug], dashes) for dashes in ("-", "--", ":") for slug in COLOURS]
    return {name: looks[k % len(looks)] for k, name in enumerate(named)}


def losses_of(subjects: Sequence[SubjectView]) -> list[float]:
    """Return the claimed losses of single answers, ascending."""
    return sorted({subject.epsilon for subject in subjects if subject.epsilon is not None})


def _ceiling(
    found: Sequence[TranscriptTests], subject: SubjectView, look: ViewOutcome
) -> float | None:
    """Return the exact loss of a view's answers, where repeated answers of its subject have it."""
    same = (subject.name, (subject.family, subject.epsilon))
    own = [each for each in found if each.name == same[0] or (each.name, each.epsilon) == same[1]]
    rungs = [rung for each in own for rung in each.rungs if rung.m == look.m and not look.copies]
    return rungs[0].ceiling if rungs else None


def _least(looks: Iterable[ViewOutcome]) -> float:
    """Return the left edge of the curves: what lies left of it hangs on under ten non-members.

    It is ten times the smallest rate above 0, rounded down to a power of ten, and at most 0.1.
    """
    rates = [
        rate for look in looks for each in look.outcomes for rate in each["roc"]["fpr"] if rate > 0
    ]
    power = math.floor(math.log10(min(0.1, 10 * min(rates, default=0.1))) + 1e-9)
    return float(max(1e-6, 10.0**power))


def spaced(low: float, high: float) -> list[float]:
    """Return the numbers at which a curve is read off, on a logarithmic axis."""
    return [low * (high / low) ** (k / (POINTS - 1)) for k in range(POINTS)]


def _curve(axes: Axes, outcome: Raw, left: float, look: chart.Look, label: str) -> None:
    """Draw a ROC curve, with a coin where scores tie."""
    shown = [(x, tossed(outcome, x)) for x in spaced(left, 1.0)]
    chart.line(axes, [(x, y) for x, y in shown if y > 0], look, label)


def _spread(axes: Axes, outcome: Raw, left: float, colour: str) -> None:
    """Shade 95 % around a curve, where the record has it."""
    if "low" in outcome["roc"]:
        rates = spaced(left, 1.0)
        low, high = ([tossed(outcome, x, end) for x in rates] for end in ("low", "high"))
        chart.band(axes, rates, [max(y, left / 10) for y in low], high, colour, 0.18)


def _frame_roc(axes: Axes, left: float, title: str) -> None:
    """Draw the line of guessing, and set the axes of a ROC curve."""
    chart.line(axes, [(left, left), (1, 1)], GUESSING, "guessing")
    ticks = {10.0**power: f"{10.0**power:g}" for power in range(round(math.log10(left)), 1)}
    chart.frame(
        axes,
        (left, 1),
        (left, 1.12),
        logarithmic="xy",
        x_ticks=ticks,
        y_ticks=ticks,
        names=("false positive rate", "true positive rate"),
        title=shorten(title, 34),
    )
