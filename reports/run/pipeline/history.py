"""The history of a baseline: leak ÷ claim of every result at every accepted version."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpassay.record.history import Revision
from dpassay.reports.run.brief import Brief, briefs
from dpassay.reports.shared.figures import (
    CLAIM,
    FAINT,
    PALETTE,
    WIDTH,
    as_svg,
    axes_in,
    despine,
    figure_of,
)
from dpassay.reports.shared.lean import lean
from dpassay.reports.shared.numbers import MISSING, plural, shorten
from dpassay.reports.shared.statuses import HELD, REFUTED
from dpassay.reports.shared.tables import Table
from dpassay.reports.shared.templating import template

MOVED = 0.01
"""A ratio that differs by less than this part of it has not moved."""
DRAWN = 12
"""Results that the picture shows: those that moved most."""
LEAST, MOST = 0.02, 100.0


def to_history(revisions: Sequence[Revision], name: str) -> str:
    """Write the history of a baseline as a page.

    Parameters
    ----------
    revisions : sequence of Revision
        Oldest first.
    name : str
        Of the baseline's file.

    Returns
    -------
    str
        One HTML page: what moved, a picture, and the table of all results.
    """
    found = [
        {} if each.record is None else {one.id: one for one in briefs(each.record)}
        for each in revisions
    ]
    ids = list(dict.fromkeys(one for version in found for one in version))
    moves = {each: _move([version.get(each) for version in found]) for each in ids}
    moved = sorted((each for each in ids if moves[each] > MOVED), key=lambda each: -moves[each])
    drawn = (moved or ids)[:DRAWN]
    return template("history.html.j2").render(
        name=name,
        headline=_headline(revisions, moved),
        unread=[each for each in revisions if each.record is None],
        shown=len(drawn),
        plot=_plot(revisions, found, drawn) if drawn else "",
        data=_table(revisions, found, [*moved, *(each for each in ids if each not in moved)]),
    )


def _ratio(brief: Brief | None) -> float:
    """Return what is certain of leak ÷ claim; not a number where nothing is known."""
    return math.nan if brief is None or brief.least is None else brief.least


def _move(versions: Sequence[Brief | None]) -> float:
    """Return by which part the certain leak ÷ claim moved, at most, over the versions."""
    known = [ratio for ratio in map(_ratio, versions) if not math.isnan(ratio)]
    if not known or max(known) == min(known):
        return 0.0
    return math.inf if math.isinf(max(known)) or min(known) == 0 else max(known) / min(known) - 1


def _headline(revisions: Sequence[Revision], moved: Sequence[str]) -> str:
    since = f"{plural(len(revisions), 'accepted version')} since {revisions[0].date}"
    if not moved:
        return f"{since}: no leak moved by 1 % or more"
    return f"{since}: {plural(len(moved), 'result')} moved, {moved[0]} most"


def _plot(
    revisions: Sequence[Revision], found: Sequence[dict[str, Brief]], drawn: Sequence[str]
) -> str:
    """Draw leak ÷ claim over the versions, a line for each result."""
    height = 1.3 + 0.22 * max(8, len(drawn))
    places = range(len(revisions))
    with figure_of(height) as figure:
        axes = axes_in(figure, (0.9, 0.7, WIDTH - 4.4, height - 1.0), height)
        axes.set_yscale("log")
        axes.set_ylim(LEAST, MOST)
        axes.axhline(1, color=CLAIM, linewidth=1.2, dashes=(4, 2.5), zorder=1)
        for place, each in enumerate(drawn):
            ratios = [min(max(_ratio(version.get(each)), LEAST), MOST) for version in found]
            last = next(version[each] for version in reversed(found) if each in version)
            colour = PALETTE[(REFUTED if (last.least or 0) > 1 else HELD).slug][0]
            axes.plot(places, ratios, color=colour, marker="osD^v<>phX*d"[place], markersize=5)
        axes.set_xticks(places, [f"{each.date}\n{each.commit}" for each in revisions], fontsize=7.5)
        axes.set_xlim(-0.4, len(revisions) - 0.6)
        axes.set_yticks((0.1, 1, 10), ("0.1", "1: the claim", "10"))
        axes.set_yticks([], minor=True)
        axes.set_ylabel("leak ÷ claim")
        axes.grid(visible=True, axis="y", color=FAINT, alpha=0.22, linewidth=0.5)
        axes.legend(
            axes.lines[1:],
            [shorten(each, 44) for each in drawn],
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            frameon=False,
            fontsize=7.5,
        )
        despine(axes)
        return lean(
            as_svg(
                figure,
                name="history",
                title="Leak ÷ claim at every accepted version",
                description=(
                    f"{plural(len(drawn), 'result')} over {plural(len(revisions), 'version')}, on "
                    "a logarithmic axis with a dashed line at 1, the claim. The table below has "
                    "the same numbers."
                ),
            )
        )


def _table(
    revisions: Sequence[Revision], found: Sequence[dict[str, Brief]], ids: Sequence[str]
) -> Table:
    return Table(
        caption="Claim and what was found, those that moved most first",
        columns=("result", "claim", *(f"{each.date} {each.commit}" for each in revisions)),
        numeric=(False, False, *(True for _ in revisions)),
        rows=tuple(
            (
                each,
                next(version[each].claimed for version in reversed(found) if each in version),
                *(version[each].found if each in version else MISSING for version in found),
            )
            for each in ids
        ),
    )
