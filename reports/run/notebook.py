"""A result in a notebook: a small card, a picture of its query points, and what a search found.

No record of the user's stands in them: a row of the user's is named by its place, and only what a
search made up is written down.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from dpassay.engine.wording import seen_words
from dpassay.numerics import DOWN, percent
from dpassay.reports.run.lead import briefs, lead
from dpassay.reports.run.view import CAVEAT
from dpassay.reports.run.words import shares
from dpassay.reports.shared.chart import PALETTE
from dpassay.reports.shared.numbers import clean, plural
from dpassay.reports.shared.statuses import ERROR, HELD, INCONCLUSIVE, WRONG

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpassay.data import Dataset
    from dpassay.engine.result import Result

MOST_SHOWN = 24  # datasets of more numbers are told by their size and by what was changed
MOST_NUMBERED = 24  # query points whose numbers stand below them
MOST_NAMED = 6  # columns that are named


def card(result: Result) -> str:
    """Write a result as a small piece of HTML that reads in light and dark."""
    from dpassay.record.run_record import result_json

    confidence = 1.0 if result.evidence is None else 1 - result.evidence.alpha
    run = {"catalogue": False, "complete": True, "confidence": confidence}
    record = {"run": run, "results": [result_json(result, confidence)]}
    (r,) = briefs(record)
    colour = PALETTE[r.status.slug]
    how = "computed"
    if r.sampled and result.evidence is not None:
        how = f"{percent(1 - result.evidence.alpha)} confidence"
    numbers = f"claimed {r.claimed} · found {r.found} ({how}){f'; about {r.about}' * bool(r.about)}"
    if r.status is ERROR:
        numbers = f"claimed {r.claimed}; {_without_values(r.reason)}"
    limits = ""  # what would have been seen, and what to do about an audit that decided nothing
    if r.status is INCONCLUSIVE:
        limits = _without_values(r.reason)
    elif r.status is HELD:
        limits = "Any excess at the examined pairs would have been found"
        if r.sampled:
            seen = seen_words(result.claim.quantity, result.detectable, result.sight.frequency)
            limits = f"Would have been refuted at the examined pairs: {seen}"
        limits = f"{limits}. {CAVEAT}"
    bars = ""  # how often the answer comes on S and on S'
    if r.status in WRONG and len(r.sides) == 2 and all(0 <= p <= 1 for _, p in r.sides):
        bars = "<br>".join(
            f'<span style="display:inline-block;width:2em">{escape(side)}</span>'
            f'<span style="display:inline-block;height:.7em;width:{20 * p:.3f}em;'
            f'background:{colour}"></span> {escape(told)}'
            for (side, p), told in zip(r.sides, r.shown, strict=True)
        )
    parts = [
        f"<strong>{r.status.symbol} {escape(lead(record))}</strong>",
        escape(numbers),
        *(escape(_without_values(line)) for line in (r.seen, *r.lines)),
        bars,
        f'<span style="opacity:.75;font-size:90%">{escape(limits)}</span>',
    ]
    style = f"border-left:.3em solid {colour};padding:.3em .9em;max-width:46em"
    return f'<div style="{style}">{"<br>".join(part for part in parts if part)}</div>'


def plot(result: Result, ax: Axes | None = None) -> Axes:
    """Draw what is known of the leak at every query point, the worst first, beside the claim.

    Of a loss ε, the axis on the right is the ratio e^ε; few points are named by their number.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    from dpassay.record.run_record import result_json
    from dpassay.reports.shared.statuses import status_of

    def logarithm(ratio: Any) -> Any:
        """Return it at 0 too, from which an axis may begin."""
        return np.log(np.maximum(ratio, np.finfo(float).tiny))

    axes = plt.gca() if ax is None else ax
    cells = [] if result.evidence is None else list(result.evidence.cells)
    colour = PALETTE[status_of(result_json(result, 1.0)).slug]
    bounds = ((cell.exact or cell.lower, cell.exact or cell.upper, cell) for cell in cells)
    known = sorted(
        ((low.value, high.value, cell.query) for low, high, cell in bounds), reverse=True
    )
    most = max([result.claim.promised, *(low for low, *_ in known if low < float("inf"))])
    top = 1.05 * max([most, *(high for _, high, _ in known if high < 2 * most)])
    for place, (low, high, _) in enumerate(known):
        axes.vlines(place, min(low, top), min(high, top), color=colour, alpha=0.5, linewidth=3)
    axes.scatter(
        range(len(known)),
        [min(low, top) for low, *_ in known],
        color=colour,
        edgecolors="white",
        linewidths=0.5,
        label="exact" if result.exact is not None else "certified lower bound",
    )
    claimed = f"claim: {result.claim}"
    axes.axhline(result.claim.promised, linestyle="--", color="gray", label=claimed)
    axes.set(xlabel="query points, the worst first", ylabel=result.claim.quantity)
    axes.set_title(result.target.name, loc="left")
    if 0 < len(known) <= MOST_NUMBERED:
        axes.set_xticks(range(len(known)), [str(query) for *_, query in known])
        axes.set_xlabel("number of the query point, from 0, the worst first")
    if result.claim.letter == "epsilon":
        axes.secondary_yaxis("right", functions=(np.exp, logarithm)).set_ylabel("ratio e^ε")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
    return axes


def _without_values(text: str) -> str:
    """Leave out a record that a change names by its values."""
    from dpassay.engine.evidence import VALUES

    return re.sub(VALUES, "", text)


def found_lines(result: Result) -> tuple[str, ...]:
    """Return what refutes a searched claim: how pairs are told apart, which, by which event."""
    from dpassay.engine.verdicts import apart  # with NumPy

    lines = []
    for number, each in enumerate(result.findings):
        also = f"{each.claim.quantity} at least {apart(each.lower, each.claim.promised, DOWN)[0]}"
        if number or each.certain:
            lines.append(f"{'also' if number else 'certain'}: {each.certain or also}")
        lines += [f"{name}: {told}" for name, told in found(each).items()]
    return tuple(lines)


def found(result: Result) -> dict[str, str]:
    """Return at which two datasets a searched claim is refuted, and through which event.

    By 'S', "S'" and 'event', with the shares of the event in the order of the sides; empty if
    the claim is not refuted, or nothing was searched for.
    """
    from dpassay.data import Values  # these import NumPy
    from dpassay.record.witness_words import event_words
    from dpassay.rows.rows import Rows
    from dpassay.targets.groups import DIRECTIONS

    evidence = result.evidence
    if evidence is None or result.verdict != "refuted":
        return {}
    cell = evidence.worst
    forth = cell.direction == DIRECTIONS[0]
    one, other = shares(*((cell.p1, cell.p0) if forth else (cell.p0, cell.p1)))
    group = evidence.groups[cell.group]
    base, change = group.pairs.base, group.pairs.changes[cell.pair]
    neighbour, relation = change.apply(base), group.pairs.relation
    few = max(each.arrays[0].size for each in (base, neighbour)) <= MOST_SHOWN
    event = event_words(result, cell.event, group.queries[cell.query])
    told = f"{clean(event)}; {one} on S, {other} on S'"
    if few and group.mine is not None:
        sides = (written(each, relation, group.mine) for each in (base, neighbour))
        return dict(zip(("S", "S'"), sides, strict=True)) | {"event": told}
    size = plural(len(base), "number" if isinstance(base, Values) else "record")
    changed = _without_values(str(change))
    if isinstance(base, Rows) and len(base) == len(neighbour) > 1:
        size += f", {len({row.tobytes() for row in base.values}):,} different"
        moved = (base.values != neighbour.values).any(axis=0)
        columns = [name for name, each in zip(base.form.names, moved, strict=True) if each]
        more = f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else ""
        changed += f" (in {', '.join(columns[:MOST_NAMED])}{more})"
    return {"S": size, "S'": clean(f"the same, {changed}"), "event": told}


def written(data: Dataset, relation: str, mine: dict[bytes, int]) -> str:
    """Write a dataset down, but for the user's own records."""
    from dpassay.data import Values
    from dpassay.record.witness_words import contents
    from dpassay.relations import answers_moved
    from dpassay.rows.rows import Rows

    if isinstance(data, Values):
        what = "numbers" if answers_moved(relation) is None else "answers"
        return f"{what} {contents(data)}"
    if not isinstance(data, Rows):
        return f"records {contents(data)}"
    rows = (
        f"your row {mine[row.tobytes()]}"
        if row.tobytes() in mine
        else data.form.words(row.tolist())
        for row in data.values
    )
    return clean(f"records {{{', '.join(rows)}}}") if len(data) else "no records"
