"""Reports of `dpassay attack`: a table for the terminal, one HTML page with figures, Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from dpassay.numerics import percent
from dpassay.record.attack_record import blind_to
from dpassay.record.files import dumps
from dpassay.reports import Format
from dpassay.reports.attack.first_screen import cards_of, chosen, lead, origin
from dpassay.reports.attack.junit import to_junit
from dpassay.reports.attack.tables import (
    REACH,
    apart_table,
    attacks_table,
    certified_words,
    exposed_table,
    nats,
    overview_table,
    paired_table,
    reach,
    renyi_table,
    repeated_table,
    slices_table,
    summary_table,
    vulnerable_table,
)
from dpassay.reports.attack.view import (
    LIRA,
    OF_SERVICES,
    STATUSES,
    SubjectView,
    ViewOutcome,
    at,
    ladders,
    share,
    sound,
    subject_views,
    with_interval,
)
from dpassay.reports.attack.words import (
    CAVEAT,
    CAVEAT_DETAIL,
    defect_words,
    headline,
    notes,
    opening,
)
from dpassay.reports.run.markdown import captioned, code_md, folded, text_md
from dpassay.reports.run.run_words import ended
from dpassay.reports.shared.numbers import MISSING, clean, count, plain, shorten
from dpassay.reports.shared.tables import TextTable
from dpassay.reports.shared.templating import page

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]

STYLES = {
    "refuted": "bold red",
    "error": "bold magenta",
    "inconclusive": "bold yellow",
    "held": "bold",
    "unclaimed": "bold",
}
FACTS = (
    *("records", "references", "targets", "test", "learner", "seed", "confidence", "commit"),
    "protections",
)
TITLES = {
    "summary": "Summary",
    "renyi": "Rényi losses",
    "apart": "Groups of records apart",
    "paired": "LiRA and the loss threshold, paired",
    "repeated": "Repeated queries",
    "exposed": "The most exposed records",
    "slices": "Slices",
}
"""Headings of the tables in Markdown, in order."""
TERMINAL = 80
COLUMNS = (("view", 16), ("attack", 16), ("AUC [95 %]", 18), ("TPR at FPR", 14), ("adv.", 5))
"""Columns of the table in a terminal, with their widths: less than 80 in all."""


def print_attacks(record: Raw, console: Console) -> None:
    """Print two lines per subject and view, and what they mean, for 80 columns or more."""
    from rich.text import Text

    subjects = subject_views(record)
    console.print(Text(headline(record, subjects), style="bold"))
    if sound(subjects):
        console.print(Text("\n" + _line([(title,) for title, _ in COLUMNS])))
        for subject in sound(subjects):
            told = subject.raw["accuracy"]
            accuracy = "" if told is None else f", accuracy {told['mean']:.3f}"
            delta = 0.0 if subject.epsilon is None else float(subject.raw["claim"]["delta"])
            slack = f", δ = {plain(delta)}" if delta else ""
            head = f"{subject.status.symbol} {subject.name}{slack}: {subject.status.word}{accuracy}"
            console.print(Text(f"\n{head}", style=STYLES[subject.status.slug]))
            for look in subject.looks:
                console.print(Text(_line(_cells(look))))
                if look.bounds:
                    console.print(Text(_certified(look)))
        console.print(Text(f"\n{_legend(record, subjects)}"))
    for text in (
        *opening(record, subjects),
        *notes(record, subjects),
        *map(defect_words, record["defects"]),
    ):
        console.print(Text(f"\n{text}"))
    console.print(Text(f"\n{CAVEAT} {CAVEAT_DETAIL}"))


def _legend(record: Raw, subjects: Sequence[SubjectView]) -> str:
    """Say what the numbers of the table are."""
    best = "For each view, the attack with the highest AUC, and LiRA."
    if not any(look.bounds for subject in subjects for look in subject.looks):
        return f"{best} All numbers are estimates."
    return (
        f"{best} 'ε ≥' is certified: the largest lower bound on the loss of a record, at a "
        f"simultaneous confidence of {percent(record['run']['confidence'])}; 'claim' is the ε that "
        f"the claim allows for all answers of the view. {REACH} All other numbers are estimates."
    )


def _line(columns: Sequence[tuple[str, ...]]) -> str:
    """Put the lines of some columns side by side."""
    texts = []
    for row in zip_longest(*columns, fillvalue=""):
        cells = (
            text.ljust(width) if title in ("view", "attack") else text.rjust(width)
            for text, (title, width) in zip(row, COLUMNS, strict=True)
        )
        texts.append(" ".join(cells).rstrip())
    return "\n".join(texts)


def _cells(look: ViewOutcome) -> list[tuple[str, ...]]:
    """Columns of a view: two lines each, one where LiRA is the best or was not tried."""
    lira, best = look.of(LIRA), look.best
    both = [best] if lira is None or lira is best else [best, lira]
    return [
        tuple(wrap(look.name, COLUMNS[0][1])),
        tuple(shorten(clean(each["attack"]), COLUMNS[1][1]) for each in both),
        tuple(with_interval(each) for each in both),
        tuple(at(each) for each in both),
        tuple(share(each["advantage"]) for each in both),
    ]


def _certified(look: ViewOutcome) -> str:
    """Write what is certified of a view, its cap, and what it is held against."""
    lower, cap, detectable = reach(look)
    bound, status = look.renyi_bound, f": {look.status.word}"
    told = "nothing claimed"
    if look.allowed is not None:
        epsilon, delta = look.allowed
        at = f", δ = {plain(delta)}" if delta else ""
        told = f"claim {nats(epsilon)}{at}{status if bound is None else ''}"
    lines = [f"  ε ≥ {lower}, cap {cap}, detectable {detectable}, {told}"]
    lines += [] if bound is None else [f"  {certified_words(bound['renyi'])}{status}"]
    if look.fresh:
        lines.append(f"  from {count(look.guesses)} guesses, {count(look.fresh)} by fresh answers")
    return "\n".join(
        line if len(line) <= TERMINAL else line.replace(", claim", ",\n  claim") for line in lines
    )


def to_html(record: Raw) -> str:
    """Write a record of attacks as one self-contained page; equal records give equal bytes."""
    from dpassay.reports.attack.figures import figures

    subjects = subject_views(record)
    found = ladders(record["repeated"], blind=bool(blind_to(record)))
    cards = cards_of(record, subjects, found)
    return page(
        "attack",
        origin=origin(record),
        lead=lead(record, cards),
        ended=ended(record["run"], "subjects"),
        cards=chosen(cards),
        several=len(cards) > 1,
        headline=headline(record, subjects),
        counts=[(sum(each.status is status for each in subjects), status) for status in STATUSES],
        opening=opening(record, subjects),
        notes=notes(record, subjects),
        caveat=CAVEAT,
        caveat_detail=CAVEAT_DETAIL,
        tables=_tables(record, subjects),
        anchors={subject.name: subject.anchor for subject in subjects},
        figures=figures(subjects, found),
        defects=[defect_words(defect) for defect in record["defects"]],
        subjects=[(each, _own_tables(each)) for each in subjects],
        command=clean(record["run"]["command"]),
        facts=_facts(record),
        glossary=(*STATUSES, *(OF_SERVICES if "service" in record["run"] else ())),
    )


def _tables(record: Raw, subjects: Sequence[SubjectView]) -> dict[str, TextTable]:
    """Return the tables about all subjects by the anchor of each on the page."""
    sure = percent(record["run"]["confidence"])
    # reference models tell how records move with their membership
    moved = [subject for subject in sound(subjects) if subject.raw["separations"]]
    return {
        "overview": overview_table(subjects, sure),
        "summary": summary_table(subjects, sure),
        "renyi": renyi_table(subjects, sure),
        "apart": apart_table(subjects),
        "paired": paired_table(subjects),
        "repeated": repeated_table(ladders(record["repeated"], blind=bool(blind_to(record)))),
        "exposed": vulnerable_table(moved),
        "slices": slices_table(moved),
    }


def _own_tables(subject: SubjectView) -> list[TextTable]:
    """Return the tables of a subject with its name: no two of a page have the same caption."""
    if subject.error:
        return []
    made = attacks_table(subject), exposed_table(subject)
    return [replace(table, caption=f"{subject.name}. {table.caption}") for table in made]


def to_markdown(record: Raw) -> str:
    """Write words and main tables of a record of attacks as GitHub-flavoured Markdown."""
    subjects = subject_views(record)
    texts = [f"# {text_md(headline(record, subjects))}"]
    texts += map(text_md, (*opening(record, subjects), *notes(record, subjects)))
    texts.append(f"> **{text_md(CAVEAT)}** {text_md(CAVEAT_DETAIL)}")
    if defects := [f"* {text_md(defect_words(defect))}" for defect in record["defects"]]:
        texts += ["## Defects", "\n".join(defects)]
    tables = _tables(record, subjects)
    for name, title in TITLES.items():
        texts += [f"## {title}", captioned(tables[name])] if tables[name] else []
    for subject in sound(subjects):
        table = attacks_table(subject)
        texts.append(folded(f"{subject.name}: every attack", f"{captioned(table)}\n\n").rstrip())
    facts = "\n".join(f"* {text_md(name)}: {text_md(fact)}" for name, fact in _facts(record))
    texts += ["## Reproduce", code_md(clean(record["run"]["command"])), facts]
    return "\n\n".join(texts) + "\n"


def _facts(record: Raw) -> list[tuple[str, str]]:
    """Return what a reader needs to repeat the attack; a service trains no models of ours."""
    run = record["run"]
    data = ", ".join(f"{clean(key)} = {clean(each)}" for key, each in sorted(run["data"].items()))
    facts = [("data", data)]
    for name in FACTS:
        if name in run:
            found = run[name]
            text = plain(found) if isinstance(found, float) else clean(found)
            facts.append((name, MISSING if found is None else text))
    return facts


FORMATS: dict[str, Format] = {
    "html": Format("attack.html", to_html),
    "md": Format("attack.md", to_markdown),
    "json": Format("attack.json", dumps),
    "junit": Format("attack.xml", to_junit),
}
"""Every format of a record of attacks."""
