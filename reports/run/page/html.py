"""The HTML report: index.html, no JavaScript, readable in light, dark and on paper.

A catalogue has a page for each of its mechanisms besides: what was found and what to do, pictures,
stories.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dpassay.engine.wording import query_words
from dpassay.reports.run.findings import notions_table
from dpassay.reports.run.lead import lead, lead_of
from dpassay.reports.run.page.catalogue import (
    GENERATOR,
    MARKS,
    MechanismGroup,
    make_catalogue,
    overview_plot,
)
from dpassay.reports.run.page.first_screen import card, chosen, claimed_number, origin, replayed
from dpassay.reports.run.page.plots import (
    profile_plot,
    profile_table,
    query_plot,
    sight_plot,
    sight_table,
    trade_off_plot,
    trade_off_table,
)
from dpassay.reports.run.view import FullView, make_view
from dpassay.reports.run.words import ended
from dpassay.reports.shared.cards import Card, Step
from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.statuses import HELD, STAND, UNDECIDED, WRONG
from dpassay.reports.shared.tables import TextTable
from dpassay.reports.shared.templating import page

Raw = Mapping[str, Any]
LONG = 36  # with more mechanisms than this, the overview has two columns


class Picture(NamedTuple):
    """A picture, which is drawn when it is called for, with the table of its numbers."""

    draw: Callable[[], str]
    table: TextTable


def to_html(record: Raw) -> str:
    """Write a record as one self-contained HTML page; equal records give equal bytes.

    The page of the catalogue folds every mechanism, and `mechanism_pages` tells and draws them;
    that of other mechanisms has everything.
    """
    view = make_view(record)
    common: dict[str, Any] = {
        "view": view,
        "lead": lead(record) if view.results else view.headline,
        "origin": origin(record),
        "units": view.units,
        "ended": ended(record["run"]) if view.results else "",
    }
    if record["run"]["catalogue"] and view.results:
        catalogue = make_catalogue(view.results)
        rows = [(group.name, group.dots) for group in catalogue.groups]
        half = (len(rows) + 1) // 2 if len(rows) > LONG else len(rows)
        overview = [
            overview_plot(some, name=f"o{number}", part=f", part {number} of 2" * (some != rows))
            for number, some in enumerate((rows[:half], rows[half:]), 1)
            if some
        ]
        return page("catalogue", **common, catalogue=catalogue, overview=overview, marks=MARKS)
    shown = chosen(view.results)
    return page(
        "index",
        **common,
        cards=[card(each, record["run"]) for each in shown],
        rest=[each for each in view.results if each not in shown],
        every=view.results,
        pictures={each.anchor: tuple(pictures_of(each)) for each in view.results},
    )


def pictures_of(r: FullView) -> Iterator[Picture]:
    """Prepare the pictures of one result: leaks, profile, trade-off, and what would be seen."""
    name, table, profile = f"p{r.place}", r.query_table, r.profile
    if len(r.queries) > 1:
        claimed = claimed_number(r)
        yield Picture(partial(query_plot, r, claimed=claimed, name=f"{name}q"), table)
    if profile is not None:
        title, slug = f"{r.id}, {query_words(profile.label)}", r.status.slug
        draw = partial(profile_plot, profile, slug=slug, name=f"{name}d", title=title)
        yield Picture(draw, profile_table(profile))
        draw = partial(trade_off_plot, profile, slug=slug, name=f"{name}t", title=title)
        yield Picture(draw, trade_off_table(profile))
    points = [
        (float(point), math.inf if leak is None else float(leak))
        for point, leak in (r.raw.get("sight") or {}).get("curve", ())
    ]
    if len(points) > 1 and not r.first_proof:
        draw = partial(sight_plot, points, claim=r.promised, name=f"{name}s", of=r.id)
        yield Picture(draw, sight_table(points))


def mechanism_pages(record: Raw) -> dict[str, str]:
    """Write a self-contained page for each mechanism of the catalogue.

    The keys are paths, 'mechanisms/NAME.html', from the folder of the page that `to_html` makes,
    in its order. Equal records give equal pages. A record of other mechanisms has none.
    """
    if not record["run"]["catalogue"]:
        return {}
    view, pages = make_view(record), {}
    groups = make_catalogue(view.results).groups
    for before, group, after in zip((None, *groups), groups, (*groups[1:], None), strict=False):
        shown = _shown(group.results)
        pages[group.page] = page(
            "mechanism",
            lead=lead_of(group.results),
            origin=origin(record),
            ended=ended(record["run"]),
            view=view,
            group=group,
            cards=[_card(each, group, record["run"]) for each in shown],
            shown=shown,
            pictures={each.anchor: tuple(pictures_of(each)) for each in group.results},
            notions=notions_table([each.raw for each in group.results]),
            index="../index.html",
            before=before,
            after=after,
            generator=GENERATOR,
        )
    return pages


def _shown(results: Sequence[FullView]) -> list[FullView]:
    """Choose the results of the first screen, which also are drawn; the others have tables.

    Those that are wrong, undecided or exceeded; else the worst one.
    """
    shown = [
        r for r in results if r.status in WRONG | UNDECIDED or (r.exceeds and r.status in STAND)
    ]
    return shown or list(results[:1])


def _card(r: FullView, group: MechanismGroup, run: Raw) -> Card:
    """Make the card of a result, with what its reader can do, who is not its author."""
    made = card(r, run)
    if r.status in UNDECIDED:
        return made
    steps = [Step(text="Rely on the claim only as far as the audit looked, as told below.")]
    if r.status in WRONG:
        steps = [Step(text=_instead(r, group)), replayed(r)]
    elif r.exceeds:
        text = "Do not rely on this claim: a dataset that was not audited breaks it, as told below."
        steps = [Step(text=text)]
    command, name = clean(run["command"]), shlex.quote(group.name)
    ours = re.match(r"dpassay run( |$)", command)
    options = re.sub(r" --profile[ =]\S+", "", command.removeprefix("dpassay run")) if ours else ""
    alone = Step(
        text="Audit it alone, under the deep profile:",
        command=f"dpassay run {name}{options} --profile deep --out {name}",
    )
    return replace(made, steps=(*steps, alone))


def _instead(r: FullView, group: MechanismGroup) -> str:
    """Return what to rely on in place of a wrong claim."""
    if not r.printed:
        return "Nothing to mend: no paper prints this claim, which was declared wrong beforehand."
    other = next((pair.other for pair in group.pairs if pair.printed is r), None)
    if other is None or other.status not in STAND or other.exceeds:
        return "Do not rely on this claim."
    held = "was not refuted at the audited cells"
    held = held if other.status is HELD else "was verified on every dataset of the domain"
    return f"Do not rely on this claim. The corrected one, {other.claimed}, {held}."
