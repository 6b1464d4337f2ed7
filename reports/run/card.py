"""A result in a notebook: a small card, and a picture of its query points.

Neither shows a record of any dataset.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from dpassay.engine.wording import seen_words
from dpassay.numerics import percent
from dpassay.reports.run.brief import Brief, briefs, lead
from dpassay.reports.run.view import CAVEAT
from dpassay.reports.shared.chart import PALETTE
from dpassay.reports.shared.statuses import ERROR, HELD, INCONCLUSIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpassay.engine.result import Result

QUIET = "opacity:.75;font-size:90%"


def card(result: Result) -> str:
    """Write a result as a small piece of HTML that reads in light and dark."""
    record = _record(result)
    (found,) = briefs(record)
    colour = PALETTE[found.status.slug]
    parts = [
        f"<strong>{found.status.symbol} {escape(lead(record))}</strong>",
        escape(_numbers(found, result)),
        *(escape(_without_values(line)) for line in (found.seen, *found.lines)),
        _bars(found, colour) if found.status.slug in {"refuted", "expected"} else "",
        f'<span style="{QUIET}">{escape(_limits(found, result))}</span>',
    ]
    style = f"border-left:.3em solid {colour};padding:.3em .9em;max-width:46em"
    return f'<div style="{style}">{"<br>".join(part for part in parts if part)}</div>'


def plot(result: Result, ax: Axes | None = None) -> Axes:
    """Draw what is known of the leak at every query point, the worst first, beside the claim."""
    import matplotlib.pyplot as plt

    axes = plt.gca() if ax is None else ax
    cells = [] if result.evidence is None else list(result.evidence.cells)
    (found,) = briefs(_record(result))
    colour = PALETTE[found.status.slug]
    known = sorted(
        (
            (cell.lower.value, cell.upper.value)
            if cell.exact is None
            else (cell.exact.value, cell.exact.value)
            for cell in cells
        ),
        reverse=True,
    )
    top = 1.1 * max([result.claim.promised, *(low for low, _ in known if low < float("inf"))])
    for place, (low, high) in enumerate(known):
        axes.vlines(place, min(low, top), min(high, top), color=colour, alpha=0.5, linewidth=3)
    axes.scatter(
        range(len(known)),
        [min(low, top) for low, _ in known],
        color=colour,
        edgecolors="white",
        linewidths=0.5,
        label="exact" if result.exact is not None else "certified lower bound",
    )
    claimed = f"claim: {result.claim}"
    axes.axhline(result.claim.promised, linestyle="--", color="gray", label=claimed)
    axes.set(xlabel="query points, the worst first", ylabel=result.claim.quantity, title=result.id)
    axes.legend()
    return axes


def _record(result: Result) -> dict[str, Any]:
    """Return what a report is made of, of this result alone."""
    from dpassay.record.run_record import result_json

    confidence = 1.0 if result.evidence is None else 1 - result.evidence.alpha
    run = {"catalogue": False, "complete": True, "confidence": confidence}
    return {"run": run, "results": [result_json(result, confidence)]}


def _numbers(found: Brief, result: Result) -> str:
    if found.status is ERROR:
        return f"claimed {found.claimed}; {_without_values(found.reason)}"
    how = "computed"
    if found.sampled and result.evidence is not None:
        how = f"{percent(1 - result.evidence.alpha)} confidence"
    about = f"; about {found.about}" if found.about else ""
    return f"claimed {found.claimed} · found {found.found} ({how}){about}"


def _limits(found: Brief, result: Result) -> str:
    """Say what would have been seen, and what to do about an audit that decided nothing."""
    if found.status is INCONCLUSIVE:
        return _without_values(found.reason)
    if found.status is not HELD:
        return ""
    if not found.sampled:
        return f"Any excess at the examined pairs would have been found. {CAVEAT}"
    seen = seen_words(result.claim.quantity, result.detectable, result.sight.frequency)
    return f"Would have been refuted at the examined pairs: {seen}. {CAVEAT}"


def _bars(found: Brief, colour: str) -> str:
    """Draw two bars: how often the answer comes on S and on S'."""
    if len(found.sides) != 2 or not all(0 <= p <= 1 for _, p in found.sides):
        return ""
    rows = [(side, p, told) for (side, p), told in zip(found.sides, found.shown, strict=True)]
    return "".join(
        f'<span style="display:inline-block;width:2em">{escape(side)}</span>'
        f'<span style="display:inline-block;height:.7em;width:{20 * p:.3f}em;'
        f'background:{colour}"></span> {escape(told)}<br>'
        for side, p, told in rows
    ).removesuffix("<br>")


def _without_values(text: str) -> str:
    """Leave out a record that a change names by its values."""
    from dpassay.engine.evidence import VALUES

    return re.sub(VALUES, "", text)
