"""ROC curves of attacks on two logarithmic axes, with the region that a claim allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpassay.reports.attack.paired import tossed
from dpassay.reports.attack.panels import (
    ACROSS,
    Drawn,
    families,
    finish,
    height_of,
    legend,
    panel,
)
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import BASELINE, LIRA, Look, SubjectView, pair, view_names
from dpassay.reports.shared.figures import (
    CLAIM,
    FAINT,
    INK,
    PALETTE,
    as_svg,
    figure_of,
)
from dpassay.reports.shared.numbers import clean, plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Raw = Mapping[str, Any]

POINTS = 40
"""Points of a curve that are drawn."""


def unclaimed_roc(subjects: Sequence[SubjectView]) -> Drawn | None:
    """Draw every attack on what makes no claim, one panel per view."""
    panels = [
        (subject, look) for subject in subjects if subject.epsilon is None for look in subject.looks
    ]
    if not panels:
        return None
    several = len({subject.name for subject, _ in panels}) > 1
    left = _least(look for _, look in panels)
    with figure_of(height_of(len(panels), legend=True)) as figure:
        for k, (subject, look) in enumerate(panels):
            axes = panel(figure, k, len(panels))
            marked = {
                LIRA: (PALETTE["held"][0], "-", "LiRA"),
                BASELINE: (PALETTE["refuted"][0], "--", "loss threshold"),
            }
            styled = {name: colour for name, (colour, _, _) in marked.items()}
            for each in reversed(look.outcomes):
                if each["attack"] not in marked:
                    _curve(axes, each, left, FAINT, "-", 0.7)
            if look.best["attack"] not in marked:
                _curve(axes, look.best, left, INK, "-", 1.3)
            for name, (colour, dashes, _) in marked.items():
                found = look.of(name)
                if found is not None:
                    _curve(axes, found, left, colour, dashes, 1.5)
            _dress(
                axes,
                left,
                f"{subject.name}, {look.name}" if several else look.name,
                k,
                len(panels),
            )
            _band(axes, look.best, left, styled.get(look.best["attack"], INK))
            _note(axes, f"best: {clean(look.best['attack'])}, AUC {look.best['auc']:.3f}")
        entries = [(colour, dashes, label) for colour, dashes, label in marked.values()]
        legend(
            figure,
            [
                *entries,
                (INK, "-", "highest AUC, if another"),
                (FAINT, "-", "other attacks"),
                (FAINT, ":", "guessing"),
            ],
        )
        svg = as_svg(
            figure,
            name="plot-roc-unclaimed",
            title="ROC curves of all attacks on what makes no claim",
            description=(
                f"{plural(len(panels), 'panel')}, one per view, both axes logarithmic. The tables "
                "of attacks tell the rates."
            ),
        )
    caption = (
        "True against false positive rate of every attack, over all targets and records together; "
        "estimates. Shaded: 95 % around the best attack at each rate, over the target models. "
        "Dotted: guessing."
    )
    return Drawn(
        title="ROC curves", label="attacks on what makes no claim", svg=svg, caption=caption
    )


def view_roc(
    subjects: Sequence[SubjectView], view: str, found: Sequence[TranscriptTests], k: int
) -> Drawn | None:
    """Draw the best attacks of a view in the allowed region, a panel per claimed loss."""
    styles, looks = families(subjects), []
    for subject in subjects:
        looks += [
            (subject, look)
            for look in subject.looks
            if look.name == view and look.allowed is not None
        ]
    if not looks:
        return None
    panels = sorted({subject.epsilon for subject, _ in looks if subject.epsilon is not None})
    left = _least(look for _, look in looks)
    drawn: set[str] = set()
    optimal = False
    with figure_of(height_of(len(panels), legend=True)) as figure:
        for place, epsilon in enumerate(panels):
            axes = panel(figure, place, len(panels))
            here = [(subject, look) for subject, look in looks if subject.epsilon == epsilon]
            regions = sorted({look.allowed for _, look in here if look.allowed is not None})
            for region in regions:
                _region(axes, region, left, first=region == regions[0])
            for subject, look in here:
                colour, dashes = styles[subject.family]
                drawn.add(subject.family)
                _curve(axes, look.best, left, colour, dashes, 1.2)
                _band(axes, look.best, left, colour)
                ceiling = _ceiling(found, subject, look)
                if ceiling is not None:
                    optimal = True
                    _line(
                        axes,
                        (ceiling, look.allowed[1] if look.allowed else 0.0),
                        left,
                        colour,
                        "-.",
                    )
            _dress(axes, left, f"{pair((epsilon, 0.0))} per answer", place, len(panels))
            _note(
                axes, "together " + pair(regions[0]) + (", or more δ" if len(regions) > 1 else "")
            )
        entries = [(*styles[name], shorten(name, 30)) for name in styles if name in drawn]
        entries += [(INK, "-.", "edge of the exact loss, worst pair")] if optimal else []
        legend(
            figure, [*entries, (CLAIM, "--", "edge of what is allowed"), (FAINT, ":", "guessing")]
        )
        svg = as_svg(
            figure,
            name=f"plot-roc-{k}",
            title=f"ROC curves of the best attack, {view}",
            description=(
                f"{plural(len(panels), 'panel')}, one per claimed loss of an answer; both axes "
                "are logarithmic. Curves above the shaded region would break the claim. The "
                "summary table tells the rates."
            ),
        )
    caption = (
        f"View: {view}. The attack with the highest AUC on each mechanism, and 95 % around it at "
        "each rate, over the target models. The shaded region is what the composed claim allows; "
        "above it a claim would be broken, if the curve were more than an "
        "estimate of the best of many attacks."
    )
    return Drawn(title="", label=f"best attacks, {view}", svg=svg, caption=caption)


def roc_figures(subjects: Sequence[SubjectView], found: Sequence[TranscriptTests]) -> list[Drawn]:
    """Return the ROC curves: what makes no claim, then the mechanisms view by view."""
    made = [
        unclaimed_roc(subjects),
        *(view_roc(subjects, view, found, k) for k, view in enumerate(view_names(subjects))),
    ]
    return [
        each._replace(title="" if k else "ROC curves") for k, each in enumerate(filter(None, made))
    ]


def allowed_tpr(fpr: float, region: tuple[float, float]) -> float:
    """Return the largest true positive rate under (epsilon, delta)-differential privacy.

    Source: Kairouz, Oh and Viswanath (2015).
    """
    epsilon, delta = region
    growth = math.exp(min(epsilon, 700.0))
    return min(1.0, growth * fpr + delta, max(0.0, 1 - (1 - delta - fpr) / growth))


def _ceiling(found: Sequence[TranscriptTests], subject: SubjectView, look: Look) -> float | None:
    """Loss of a view's answers to the optimal attacker, where a ladder of its subject has it."""
    if look.copies:
        return None
    own = [
        each
        for each in found
        if each.name == subject.name
        or (each.name, each.epsilon) == (subject.family, subject.epsilon)
    ]
    return next((rung.ceiling for each in own for rung in each.rungs if rung.m == look.m), None)


def _least(looks: Any) -> float:
    """Return the left edge.

    Ten times the smallest rate above 0 of any curve, rounded down to a power of ten; 0.1 at most.

    What lies left of it hangs on fewer than ten non-members.
    """
    rates = [
        rate for look in looks for each in look.outcomes for rate in each["roc"]["fpr"] if rate > 0
    ]
    return float(
        max(1e-6, 10 ** math.floor(math.log10(min(0.1, 10 * min(rates, default=0.1))) + 1e-9))
    )


def _curve(axes: Axes, outcome: Raw, left: float, colour: str, dashes: str, width: float) -> None:
    """Draw a curve, with a coin where scores tie."""
    places = [left ** (1 - k / (POINTS - 1)) for k in range(POINTS)]
    shown = [(x, y) for x, y in ((x, tossed(outcome, x)) for x in places) if y > 0]
    axes.plot(
        [x for x, _ in shown],
        [y for _, y in shown],
        dashes,
        color=colour,
        linewidth=width,
        zorder=3,
    )


def _band(axes: Axes, outcome: Raw, left: float, colour: str) -> None:
    """Shade 95 % around a curve, where the record has it."""
    if "low" not in outcome["roc"]:
        return
    places = _grid(left)
    low, high = ([tossed(outcome, x, end) for x in places] for end in ("low", "high"))
    axes.fill_between(
        places, [max(y, left / 10) for y in low], high, color=colour, alpha=0.18, linewidth=0
    )


def _grid(left: float) -> list[float]:
    return [left ** (1 - k / 60) for k in range(61)]


def _region(axes: Axes, region: tuple[float, float], left: float, *, first: bool) -> None:
    grid = _grid(left)
    top = [allowed_tpr(rate, region) for rate in grid]
    if first:
        axes.fill_between(
            grid, [left / 10] * len(grid), top, color=CLAIM, alpha=0.13, linewidth=0, zorder=1
        )
    _line(axes, region, left, CLAIM, "--")


def _line(axes: Axes, region: tuple[float, float], left: float, colour: str, dashes: str) -> None:
    grid = _grid(left)
    axes.plot(
        grid,
        [allowed_tpr(rate, region) for rate in grid],
        dashes,
        color=colour,
        linewidth=1.1,
        zorder=2,
    )


def _dress(axes: Axes, left: float, title: str, k: int, panels: int) -> None:
    ticks = [10.0**power for power in range(round(math.log10(left)), 1)]
    axes.plot([left, 1], [left, 1], ":", color=FAINT, linewidth=1.1, zorder=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, 1)
    axes.set_ylim(left, 1.12)
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    finish(axes, shorten(title, 34), "false positive rate", "true positive rate", k, panels)
    axes.tick_params(axis="y", labelleft=k % ACROSS == 0)


def _note(axes: Axes, text: str) -> None:
    axes.annotate(
        shorten(text, 44),
        (1, 0.03),
        xycoords="axes fraction",
        ha="right",
        fontsize="x-small",
        color=INK,
        zorder=5,
    )
