"""The pages of the catalogue's mechanisms: what was found and what to do, pictures, stories."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpassay.reports.run.brief import lead_of
from dpassay.reports.run.findings import notions_table
from dpassay.reports.run.page.catalogue import UNDECIDED, WRONG, MechanismGroup, make_catalogue
from dpassay.reports.run.page.first_screen import card, origin, replayed
from dpassay.reports.run.page.folder import GENERATOR
from dpassay.reports.run.page.html import pictures_of
from dpassay.reports.run.run_words import ended
from dpassay.reports.run.view import ResultView, RunView, make_view
from dpassay.reports.shared.cards import Card, Step
from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.statuses import HELD, VERIFIED
from dpassay.reports.shared.templating import page

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
    groups = make_catalogue(view.results).groups
    beside = (None, *groups, None)
    return {
        group.page: _page(record, view, group, beside[k], beside[k + 2])
        for k, group in enumerate(groups)
    }


def _page(
    record: Raw,
    view: RunView,
    group: MechanismGroup,
    before: MechanismGroup | None,
    after: MechanismGroup | None,
) -> str:
    shown = _shown(group.results)
    return page(
        "mechanism",
        lead=lead_of([each.brief for each in group.results]),
        origin=origin(record),
        ended=ended(record["run"]),
        view=view,
        group=group,
        cards=[_card(each, group, record["run"]) for each in shown],
        shown=shown,
        pictures={each.anchor: tuple(pictures_of(each)) for each in group.results},
        notions=notions_table([each.raw for each in group.results]),
        index=INDEX,
        before=before,
        after=after,
        generator=GENERATOR,
    )


def _shown(results: Sequence[ResultView]) -> list[ResultView]:
    """Choose the results of the first screen, which also are drawn; the others have tables.

    Those that are wrong, undecided or exceeded; else the worst one.
    """
    shown = [
        each
        for each in results
        if each.brief.status in WRONG | UNDECIDED or (each.brief.exceeds and _stands(each))
    ]
    return shown or list(results[:1])


def _stands(result: ResultView) -> bool:
    return result.brief.status in {HELD, VERIFIED}


def _card(result: ResultView, group: MechanismGroup, run: Raw) -> Card:
    """Make the card of a result, with what its reader can do, who is not its author."""
    made = card(result, run)
    if result.status in UNDECIDED:
        return made
    return replace(made, steps=tuple(_steps(result, group, clean(run["command"]))))


def _steps(result: ResultView, group: MechanismGroup, command: str) -> Iterator[Step]:
    brief = result.brief
    if brief.status in WRONG:
        yield Step(text=_instead(result, group))
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


def _instead(result: ResultView, group: MechanismGroup) -> str:
    """Say what to rely on in place of a wrong claim."""
    if not result.printed:
        return "Nothing to mend: no paper prints this claim, which was declared wrong beforehand."
    other = next((pair.other for pair in group.pairs if pair.printed is result), None)
    if other is None or not _stands(other) or other.brief.exceeds:
        return "Do not rely on this claim."
    return (
        f"Do not rely on this claim. The corrected one, {other.brief.claimed}, was not refuted at "
        "the audited cells."
        if other.brief.status is HELD
        else f"Do not rely on this claim. The corrected one, {other.brief.claimed}, was verified "
        "on every dataset of the domain."
    )
