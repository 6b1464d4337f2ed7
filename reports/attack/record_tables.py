"""The tables of attacks about records: the most exposed, and kinds of records apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.attack.cell_words import FRESH, REACH, detected, guesses, nats, ran, reach
from dpassay.reports.attack.view import Look, SubjectView, pair, share, sound
from dpassay.reports.shared.numbers import MISSING, clean, count
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]


def vulnerable_table(subjects: Sequence[SubjectView]) -> Table:
    """The most exposed record of each subject, and the one that most is certified about."""
    rows = []
    lined = any("line" in each for subject in sound(subjects) for each in subject.raw["exposed"])
    for subject in sound(subjects):
        top = subject.raw["exposed"][:1]
        rows.append(
            (
                subject.name,
                *(
                    (str(top[0]["record"]), str(top[0]["label"]), f"{top[0]['separation']:.3g}")
                    if top
                    else (MISSING,) * 3
                ),
                *((_line(top[0] if top else None),) if lined else ()),
                *_bound_cells(subject.hardest, lined=lined),
            )
        )
    return Table(
        caption=(
            "The record whose scores depend most on its membership, on the reference models (an "
            "estimate), and the record with the largest certified bound; 'right guesses' are "
            f"counted on targets that were not used to choose it, 'fresh' ones on {FRESH}. {REACH}"
        ),
        columns=(
            *("subject", "record", "label", "separation", *(("line",) if lined else ())),
            *(
                "certified record",
                *(("its line",) if lined else ()),
                "view",
                "ε ≥",
                "cap",
                "detectable",
                "claim, composed",
                "right guesses",
            ),
        ),
        numeric=(False, *(True,) * (6 if lined else 4), False, *(True,) * 5),
        rows=tuple(rows),
    )


def exposed_table(subject: SubjectView) -> Table:
    """All records that are named: the most exposed, and those with bounds of their own."""
    bounds: dict[int, dict[str, float]] = {}
    lines: dict[int, Raw] = {}
    for look in subject.looks:
        for bound in look.bounds:
            bounds.setdefault(bound["record"], {})[look.name] = float(bound["lower"])
            lines[bound["record"]] = bound
    named = {each["record"]: each for each in subject.raw["exposed"]}
    lines |= named
    lined = any("line" in each for each in lines.values())
    rows = []
    for record in [*named, *(record for record in bounds if record not in named)]:
        own, told = bounds.get(record, {}), named.get(record)
        head = (
            (str(record), MISSING, MISSING)
            if told is None
            else (str(record), str(told["label"]), f"{told['separation']:.3g}")
        )
        at_line = (_line(lines[record]),) if lined else ()
        rows.append((*head, *at_line, *(nats(own.get(look.name)) for look in subject.looks)))
    return Table(
        caption=(
            "Records whose scores depend most on their membership, then others with a certified "
            "bound of their own. A dash means not certified, or not among the most exposed."
        ),
        columns=(
            *("record", "label", "separation", *(("line",) if lined else ())),
            *(
                f"ε ≥, {look.name} (cap {nats(look.cap)}, detectable {detected(look.detectable)})"
                for look in subject.looks
            ),
        ),
        numeric=(True,) * (3 + lined + len(subject.looks)),
        rows=tuple(rows),
    )


def slices_table(subjects: Sequence[SubjectView]) -> Table:
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
    return Table(
        caption=(
            "How much the scores of records depend on their membership, by class "
            "and by the column of --slice-by: mean and 95 % quantile of the separation, on the "
            "reference models; an estimate."
        ),
        columns=("subject", "slice", "records", "mean", "95 % quantile"),
        numeric=(False, False, True, True, True),
        rows=tuple(rows),
    )


def apart_table(subjects: Sequence[SubjectView]) -> Table | None:
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
    if not rows:
        return None
    return Table(
        caption=(
            "Canaries, records surrounded by poisoned ones, natural records, and the slices by a "
            "column separately: for each group the attack with the highest AUC. Exposure is in "
            "bits: the mean over the target models, and the highest possible value. 'Certified' is "
            "a lower bound on the loss of all answers of a target, by one-run guesses on these "
            "records; the others are estimates."
        ),
        columns=(
            *("subject", "records", "number", "view", "attack", "AUC", "advantage", "exposure"),
            *("certified ε ≥", "cap", "detectable"),
        ),
        numeric=(False, False, True, False, False, *(True,) * 6),
        rows=tuple(rows),
    )


def _line(told: Raw | None) -> str:
    """Write the line of a record in the file of the data."""
    return MISSING if told is None or "line" not in told else count(told["line"])


def _bound_cells(look: Look, *, lined: bool) -> tuple[str, ...]:
    bound = look.bounds[0] if look.bounds else None
    head = (MISSING if bound is None else str(bound["record"]), *((_line(bound),) if lined else ()))
    if bound is None:
        return (*head, look.name, *(MISSING,) * 3, pair(look.allowed), MISSING)
    return (*head, look.name, *reach(look), pair(look.allowed), guesses(bound))
