"""The pages of the catalogue's mechanisms: what was found and what to do, pictures, stories."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpassay.reports.run.brief import briefs, lead_of
from dpassay.reports.run.notions import notions_table
from dpassay.reports.run.page.catalogue import UNDECIDED, WRONG, Entry, Group, make_catalogue
from dpassay.reports.run.page.first_screen import Card, card, origin, replayed
from dpassay.reports.run.page.folder import GENERATOR
from dpassay.reports.run.page.html import pictures_of
from dpassay.reports.run.run_words import ended
from dpassay.reports.run.view import View, make_view
from dpassay.reports.shared.cards import Step
from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.statuses import HELD, VERIFIED
from dpassay.reports.shared.templating import template

Raw = Mapping[str, Any]

INDEX = "../index.html"
"""From a page of a mechanism to that of the catalogue."""


def mechanism_pages(record: Raw) -> dict[str, str]:
    """Write a self-contained page for each mechanism of the catalogue.

    The keys are paths, 'mechanisms/NAME.html', from the folder of the page that
    `dpassay.reports.run.page.html.to_html` makes, in its order. Equal records give equal pages.
    A record of other mechanisms has none.
    """
    if not record["run"]["catalogue"]:
        return {}
    view = make_view(record)
    groups = make_catalogue(record["results"], briefs(record), view.results).groups
    beside = (None, *groups, None)
    return {
        group.page: _page(record, view, group, beside[k], beside[k + 2])
        for k, group in enumerate(groups)
    }


def _page(record: Raw, view: View, group: Group, before: Group | None, after: Group | None) -> str:
    run = record["run"]
    entries = [entry for entry, _ in group.stories]
    results, shown = [entry.raw for entry in entries], _shown(entries)
    pictures = {
        entry.result.anchor: tuple(pictures_of(entry.raw, entry.brief, entry.result))
        for entry in entries
    }
    return template("mechanism.html.j2").render(
        view=view,
        group=group,
        lead=lead_of([entry.brief for entry in entries]),
        origin=origin(record),
        ended=ended(run),
        cards=[_card(entry, group, run) for entry in shown],
        pictures=pictures,
        drawn={entry.result.anchor for entry in shown},
        notions=notions_table(results),
        index=INDEX,
        before=before,
        after=after,
        generator=GENERATOR,
    )


def _shown(entries: Sequence[Entry]) -> list[Entry]:
    """Choose the results of the first screen, which also are drawn; the others have tables.

    Those that are wrong, undecided or exceeded; else the worst one.
    """
    shown = [
        each
        for each in entries
        if each.brief.status in WRONG | UNDECIDED or (each.brief.exceeds and _stands(each))
    ]
    return shown or list(entries[:1])


def _stands(entry: Entry) -> bool:
    return entry.brief.status in {HELD, VERIFIED}


def _card(entry: Entry, group: Group, run: Raw) -> Card:
    """Make the card of a result, with what its reader can do, who is not its author."""
    made = card(entry.raw, entry.brief, entry.result, run)
    if entry.brief.status in UNDECIDED:
        return made
    return replace(made, steps=tuple(_steps(entry, group, clean(run["command"]))))


def _steps(entry: Entry, group: Group, command: str) -> Iterator[Step]:
    brief = entry.brief
    if brief.status in WRONG:
        yield Step(text=_instead(entry, group))
        yield replayed(brief)
    elif brief.exceeds:
        yield Step(
            text="Do not rely on this claim: a dataset that was not audited breaks it, as told "
            "below."
        )
    else:
        yield Step(text="Rely on the claim only as far as the audit looked, as told below.")
    name, ours = shlex.quote(group.name), re.match(r"dpassay run( |$)", command)
    options = re.sub(r" --profile[ =]\S+", "", command.removeprefix("dpassay run")) if ours else ""
    yield Step(
        text="Audit it alone, under the deep profile:",
        command=f"dpassay run {name}{options} --profile deep --out {name}",
    )


def _instead(entry: Entry, group: Group) -> str:
    """Say what to rely on in place of a wrong claim."""
    if not entry.printed:
        return "Nothing to mend: no paper prints this claim, which was declared wrong beforehand."
    other = next((pair.other for pair in group.pairs if pair.printed is entry), None)
    if other is None or not _stands(other) or other.brief.exceeds:
        return "Do not rely on this claim."
    return (
        f"Do not rely on this claim. The corrected one, {other.brief.claimed}, was not refuted at "
        "the audited cells."
        if other.brief.status is HELD
        else f"Do not rely on this claim. The corrected one, {other.brief.claimed}, was verified "
        "on every dataset of the domain."
    )
