"""The HTML report: index.html, no JavaScript, readable in light, dark and on paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpassay.engine.wording import query_words
from dpassay.reports.run.brief import lead
from dpassay.reports.run.page.catalogue import Catalogue, make_catalogue
from dpassay.reports.run.page.first_screen import card, chosen, claimed_number, origin
from dpassay.reports.run.page.overview_plot import MARKS, overview_plot
from dpassay.reports.run.page.plots import (
    profile_plot,
    profile_table,
    query_plot,
    sight_plot,
    sight_table,
    trade_off_plot,
    trade_off_table,
)
from dpassay.reports.run.run_words import ended, units_words
from dpassay.reports.run.view import ResultView, make_view
from dpassay.reports.shared.tables import TextTable
from dpassay.reports.shared.templating import page

LONG = 36
"""With more mechanisms than this, the overview has two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture, which is drawn when it is called for, with the table of its numbers."""

    draw: Callable[[], str]
    table: TextTable


def to_html(record: Mapping[str, Any]) -> str:
    """Write a record as one self-contained HTML page; equal records give equal bytes.

    The page of the catalogue folds every mechanism, and
    `dpassay.reports.run.page.mechanisms.mechanism_pages` tells and draws them; that of other
    mechanisms has everything.
    """
    view = make_view(record)
    common: dict[str, Any] = {
        "view": view,
        "lead": lead(record) if view.results else view.headline,
        "origin": origin(record),
        "units": units_words({result.unit for result in view.results}),
        "ended": ended(record["run"]) if view.results else "",
    }
    if record["run"]["catalogue"] and view.results:
        catalogue = make_catalogue(view.results)
        overview = tuple(_overview(catalogue))
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


def pictures_of(result: ResultView) -> Iterator[Picture]:
    """Prepare the pictures of one result: leaks, profile, trade-off, and what would be seen."""
    name, table, profile = f"p{result.place}", result.query_table, result.profile
    if len(result.queries) > 1:
        claimed = claimed_number(result.brief)
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
        for point, leak in (result.raw.get("sight") or {}).get("curve", ())
    ]
    if len(points) > 1:
        claim, of = result.claimed, result.id
        draw = partial(sight_plot, points, claim=claim, name=f"{name}s", of=of)
        yield Picture(draw=draw, table=sight_table(points))
