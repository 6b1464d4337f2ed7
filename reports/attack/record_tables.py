"""The tables of attacks about records: the most exposed, and kinds of records apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.attack.tables import FRESH, REACH, detected, guesses, nats, ran, reach
from dpassay.reports.attack.view import SubjectView, ViewOutcome, pair, share, sound
from dpassay.reports.shared.numbers import MISSING, clean, count
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]


def vulnerable_table(subjects: Sequence[SubjectView]) -> TextTable:
    """The most exposed record of each subject, and the one that most is certified about."""
    rows = []
    for subject in sound(subjects):
        top = next(iter(subject.raw["exposed"]), None)
        rows.append((subject.name, *_exposed_cells(top), *_bound_cells(subject.hardest)))
    caption = (
        "The record whose scores depend most on its membership, on the reference models (an "
        "estimate), and the record with the largest certified bound; 'right guesses' are "
        f"counted on targets that were not used to choose it, 'fresh' ones on {FRESH}. {REACH}"
    )
    titles = (
        "subject | record: | label: | separation: | line: | certified record: | its line: | view | "
        "ε ≥: | cap: | detectable: | claim, composed: | right guesses:"
    )
    table = TextTable.of(caption, titles, rows)
    lined = any("line" in each for subject in sound(subjects) for each in subject.raw["exposed"])
    return table if lined else table.without("line", "its line")


def exposed_table(subject: SubjectView) -> TextTable:
    """All records that are named: the most exposed, and those with bounds of their own."""
    bounds: dict[int, dict[str, float]] = {}
    named = {each["record"]: each for each in subject.raw["exposed"]}
    lines = dict[int, Raw]()
    for look in subject.looks:
        for bound in look.bounds:
            bounds.setdefault(bound["record"], {})[look.name] = float(bound["lower"])
            lines[bound["record"]] = bound
    lines |= named
    rows = []
    for record in [*named, *(record for record in bounds if record not in named)]:
        own = bounds.get(record, {})
        cells = (str(record), *_exposed_cells(named.get(record))[1:3], _line(lines[record]))
        rows.append((*cells, *(nats(own.get(look.name)) for look in subject.looks)))
    caption = (
        "Records whose scores depend most on their membership, then others with a certified "
        "bound of their own. A dash means not certified, or not among the most exposed."
    )
    found = (
        f"ε ≥, {look.name} (cap {nats(look.cap)}, detectable {detected(look.detectable)}):"
        for look in subject.looks
    )
    table = TextTable.of(caption, ["record:", "label:", "separation:", "line:", *found], rows)
    return table if any("line" in each for each in lines.values()) else table.without("line")


def slices_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Separation by class, and by the column that was asked for."""
    rows = [
        (
            subject.name,
            clean(part["slice"]),
            count(part["records"]),
            f"{part['mean']:.3f}",
            f"{part['high']:.3f}",
        )
        for subject in sound(subjects)
        for part in subject.raw["slices"]
    ]
    caption = (
        "How much the scores of records depend on their membership, by class "
        "and by the column of --slice-by: mean and 95 % quantile of the separation, on the "
        "reference models; an estimate."
    )
    titles = "subject | slice | records: | mean: | 95 % quantile:"
    return TextTable.of(caption, titles, rows)


def apart_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Table canaries, poisoned and natural records, if any, by the attack of the highest AUC."""
    rows = []
    for subject in sound(subjects):
        found = [
            (outcome, part)
            for outcome in subject.raw["outcomes"]
            for part in outcome.get("slices", ())
        ]
        for name in dict.fromkeys(part["slice"] for _, part in found):
            outcome, part = max(
                (each for each in found if each[1]["slice"] == name),
                key=lambda each: -1.0 if each[1]["auc"] is None else each[1]["auc"],
            )
            bits = part["exposure"]["mean"]
            rows.append(
                (
                    *(
                        subject.name,
                        clean(name),
                        count(part["records"]),
                        clean(outcome["view"]["name"]),
                        clean(outcome["attack"]),
                    ),
                    MISSING if part["auc"] is None else f"{part['auc']:.3f}",
                    MISSING if part["advantage"] is None else share(part["advantage"]),
                    MISSING if bits is None else f"{bits:.2f} of {part['exposure']['highest']:.2f}",
                    *((MISSING,) * 3 if part["one_run"] is None else ran(part["one_run"])),
                )
            )
    caption = (
        "Canaries, records surrounded by poisoned ones, natural records, and the slices by a "
        "column separately: for each group the attack with the highest AUC. Exposure is in "
        "bits: the mean over the target models, and the highest possible value. 'Certified' is "
        "a lower bound on the loss of all answers of a target, by one-run guesses on these "
        "records; the others are estimates."
    )
    titles = (
        "subject | records | number: | view | attack | AUC: | advantage: | exposure: | "
        "certified ε ≥: | cap: | detectable:"
    )
    return TextTable.of(caption, titles, rows)


def _line(told: Raw) -> str:
    """Write the line of a record in the file of the data."""
    return count(told["line"]) if "line" in told else MISSING


def _exposed_cells(record: Raw | None) -> tuple[str, str, str, str]:
    """Write a record whose scores depend on its membership: number, label, how much, line."""
    if record is None:
        return (MISSING,) * 4
    return (
        str(record["record"]),
        str(record["label"]),
        f"{record['separation']:.3g}",
        _line(record),
    )


def _bound_cells(look: ViewOutcome) -> tuple[str, ...]:
    if not look.bounds:
        return (*(MISSING,) * 2, look.name, *(MISSING,) * 3, pair(look.allowed), MISSING)
    bound = look.bounds[0]
    head = str(bound["record"]), _line(bound), look.name
    return (*head, *reach(look), pair(look.allowed), guesses(bound))
