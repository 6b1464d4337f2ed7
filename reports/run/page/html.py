"""The HTML report: index.html, no JavaScript, readable in light, dark and on paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpassay.engine.wording import query_words
from dpassay.numerics import percent
from dpassay.reports.run.brief import Brief, briefs, lead
from dpassay.reports.run.page.catalogue import Catalogue, make_catalogue
from dpassay.reports.run.page.first_screen import card, chosen, claimed_number, origin
from dpassay.reports.run.page.method_notes import Story
from dpassay.reports.run.page.overview_plot import MARKS, overview_plot
from dpassay.reports.run.page.picture_tables import (
    profile_table,
    sight_table,
    trade_off_table,
)
from dpassay.reports.run.page.plots import query_plot, sight_plot
from dpassay.reports.run.page.profile_plots import profile_plot, trade_off_plot
from dpassay.reports.run.run_words import ended, units_words
from dpassay.reports.run.view import ResultView, View, make_view
from dpassay.reports.shared.tables import Table
from dpassay.reports.shared.templating import template

Raw = Mapping[str, Any]

LONG = 36
"""With more mechanisms than this, the overview has two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture, which is drawn when it is called for, with the table of its numbers."""

    draw: Callable[[], str]
    table: Table


def to_html(record: Mapping[str, Any]) -> str:
    """Write a record as one self-contained HTML page; equal records give equal bytes.

    The page of the catalogue folds every mechanism, and
    `dpassay.reports.run.page.mechanisms.mechanism_pages` tells and draws them; that of other
    mechanisms has everything.
    """
    view, found = make_view(record), briefs(record)
    common = {
        "view": view,
        "lead": lead(record) if view.results else view.headline,
        "origin": origin(record),
        "confidence": percent(record["run"]["confidence"]),
        "units": units_words({result.unit for result in view.results}),
        "ended": ended(record["run"]),
    }
    if record["run"]["catalogue"] and view.results:
        return _catalogue_page(record["results"], found, view, common)
    return _own_page(record, found, view, common)


def _own_page(record: Raw, found: Sequence[Brief], view: View, common: Raw) -> str:
    results = record["results"]
    cards = [
        card(results[each.place], found[each.place], each, record["run"]) for each in view.results
    ]
    shown, rest = chosen(cards)
    pictures = {
        each.anchor: tuple(pictures_of(results[each.place], found[each.place], each))
        for each in view.results
    }
    return template("index.html.j2").render(
        common,
        cards=shown,
        rest=rest,
        every=cards,
        plain_parts=lambda result: Story(parts=result.parts, notes=()),
        pictures=pictures,
    )


def _catalogue_page(results: Sequence[Raw], found: Sequence[Brief], view: View, common: Raw) -> str:
    catalogue = make_catalogue(results, found, view.results)
    return template("catalogue.html.j2").render(
        common,
        catalogue=catalogue,
        overview=tuple(_overview(catalogue)),
        marks=MARKS,
    )


def _overview(catalogue: Catalogue) -> Iterator[str]:
    """Draw the overview, in two halves where it is long."""
    rows = [(group.name, group.dots) for group in catalogue.groups]
    if len(rows) <= LONG:
        yield overview_plot(rows, name="o1")
        return
    half = (len(rows) + 1) // 2
    for number, some in enumerate((rows[:half], rows[half:]), 1):
        part = f", part {number} of 2"
        yield overview_plot(some, name=f"o{number}", part=part)


def pictures_of(raw: Raw, brief: Brief, result: ResultView) -> Iterator[Picture]:
    """Prepare the pictures of one result: leaks, profile, trade-off, and what would be seen."""
    name, table, profile = f"p{result.place}", result.query_table, result.profile
    if len(result.queries) > 1 and table is not None:
        claimed = claimed_number(brief)
        draw = partial(query_plot, result, claimed=claimed, name=f"{name}q")
        yield Picture(draw=draw, table=table)
    if profile is not None:
        title, slug = f"{result.id}, {query_words(profile.label)}", result.status.slug
        draw = partial(profile_plot, profile, slug=slug, name=f"{name}d", title=title)
        yield Picture(draw=draw, table=profile_table(profile))
        draw = partial(trade_off_plot, profile, slug=slug, name=f"{name}t", title=title)
        yield Picture(draw=draw, table=trade_off_table(profile))
    points = [
        (float(point), math.inf if leak is None else float(leak))
        for point, leak in (raw.get("sight") or {}).get("curve", ())
    ]
    if len(points) > 1:
        claim, of = result.claimed, result.id
        draw = partial(sight_plot, points, claim=claim, name=f"{name}s", of=of)
        yield Picture(draw=draw, table=sight_table(points))
