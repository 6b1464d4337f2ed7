"""Rényi losses in the reports of `dpassay attack`: numbers held against claims of RDP and zCDP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.record.attack_record import renyi_name
from dpassay.reports.attack.cell_words import detected, guesses, nats
from dpassay.reports.attack.view import SubjectView, sound
from dpassay.reports.shared.numbers import value
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]


def renyi_table(subjects: Sequence[SubjectView], confidence: str) -> Table | None:
    """One row per view of each subject that claims RDP or zCDP; None where nobody does."""
    rows = []
    for subject in sound(subjects):
        for look in subject.looks:
            bound = look.renyi_bound
            if bound is not None:
                found = bound["renyi"]
                rows.append(
                    (
                        subject.name,
                        look.name,
                        str(bound["record"]),
                        renyi_name(found),
                        nats(value(found["lower"])),
                        nats(value(found["cap"])),
                        detected(value(found["detectable"])),
                        nats(value(found["allowed"])),
                        guesses(bound),
                    )
                )
    if not rows:
        return None
    return Table(
        caption=(
            "The Rényi loss of the record about which most guesses were right, against claims of "
            "RDP and zCDP composed for all answers of the view, whose status it decides; "
            f"certified, simultaneously at confidence {confidence}. Of several claimed orders it "
            "is the one that allows the "
            "fewest right guesses. 'Cap' is the value if every guess had been right, 'detectable' "
            "the smallest loss that would have exceeded the claim with probability 0.9."
        ),
        columns=(
            *("subject", "view", "record", "loss", "certified ≥", "cap", "detectable", "claim"),
            "right guesses",
        ),
        numeric=(False, False, True, False, *(True,) * 5),
        rows=tuple(rows),
    )


def certified_words(renyi: Raw) -> str:
    """Write a Rényi loss with its cap and what it is held against."""
    return (
        f"{renyi_name(renyi)} ≥ {nats(value(renyi['lower']))}, cap {nats(value(renyi['cap']))}, "
        f"detectable {detected(value(renyi['detectable']))}, claim {nats(value(renyi['allowed']))}"
    )
