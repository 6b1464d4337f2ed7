"""One mechanism attacked by the four adversaries, on one scale: the loss of m answers, in nats.

Naturally, poisoned, with chosen queries, by repeated queries at the worst pair; beside it what the
exact laws say and what is claimed, and why these differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.numerics import DOWN, written
from dpassay.reports.attack.transcripts import TranscriptTest, ladders
from dpassay.reports.attack.view import Look, subject_views
from dpassay.reports.shared.numbers import MISSING, plain
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]

WORDS = {
    "nat-minq": "natural data, asked at the record",
    "nat-miaq": "natural data, asked at chosen points",
    "pois-minq": "poisoned data, asked at the record",
    "pois-miaq": "poisoned data, asked at chosen points",
}
"""What the adversaries of Chadha et al. (2024) do."""
COLUMNS = ("attack", "loss ≥", "cap", "estimate", "AUC")
CERTIFIED, EXACT, CLAIMED = "certified", "exact", "claimed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """What one kind of attack says of the loss of m answers about a record.

    Parameters
    ----------
    name : str
    kind : str
        `certified`: `loss` is a lower bound; `exact`; or `claimed`, an upper bound.
    loss : float or None
        In nats.
    cap : float or None
        The largest bound that could have been certified.
    estimate : float or None
        Loss that shows the largest advantage, of the surrounded records where there are any.
    auc : float or None
        The highest, of the same records; an estimate.
    """

    name: str
    kind: str
    loss: float | None
    cap: float | None = None
    estimate: float | None = None
    auc: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corners:
    """All attacks on one subject.

    Parameters
    ----------
    name : str
    m : int
        Answers about a record.
    corners : tuple of Corner
    """

    name: str
    m: int
    corners: tuple[Corner, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the numbers, for programs."""
        return {
            "name": self.name,
            "m": self.m,
            "corners": [
                {name: getattr(each, name) for name in Corner.__slots__} for each in self.corners
            ],
        }

    @property
    def table(self) -> Table:
        """One row per attack."""
        return Table(
            caption=(
                f"{self.name}: loss of {self.m} answers about a record, in nats. 'Loss ≥' is "
                "certified for the attacks, and computed for the worst pair where it says exact. "
                "'Cap' is the largest bound that the attack could have certified. Estimates are of "
                "the records that poison surrounds, where there are any."
            ),
            columns=COLUMNS,
            numeric=(False, True, True, True, True),
            rows=tuple(_row(each) for each in self.corners),
        )

    @property
    def sentence(self) -> str:
        """Explain the distances between the rows."""
        loss = {each.name: each.loss for each in self.corners}
        bounds = [each.loss or 0.0 for each in self.corners if each.name in WORDS.values()]
        natural, best = bounds[0], max(bounds)
        texts = [
            f"Poison and chosen queries raise what is certified from {_nats(natural)} to "
            f"{_nats(best)}"
            if best > natural
            else f"Neither poison nor chosen queries raise what is certified, {_nats(natural)}"
        ]
        repeated, exact, claim = (loss.get(name) for name in (REPEATED, WORST, CLAIM))
        if repeated is not None:
            texts.append(
                f"repeated queries at the worst pair show {_nats(repeated)}, since records and "
                "models of an experiment are seldom the worst"
            )
        if exact is not None:
            texts.append(
                f"exactly the worst pair loses {_nats(exact)}: the rest is what this many "
                "targets and transcripts cannot show"
            )
        if exact is not None and claim is not None:
            texts.append(
                f"the claim of {_nats(claim)} leaves {_nats(max(0.0, claim - exact))} to its proof "
                "and to composition"
            )
        return "; ".join(texts) + "."


REPEATED, WORST, CLAIM = "repeated queries, worst pair", "exact, worst pair", "claim, composed"


def corners_of(records: Mapping[str, Raw]) -> tuple[Corners, ...]:
    """Return the table of each subject with a claim.

    Parameters
    ----------
    records : mapping
        Of schema `dpassay/attack/1`, by the name of the adversary, of one experiment each with the
        same subjects and views. Repeated answers are taken from the first.
    """
    first = next(iter(records.values()))
    tests = {each.name: each.rungs for each in ladders(first["repeated"])}
    views = {
        name: {each.name: each for each in subject_views(record)}
        for name, record in records.items()
    }
    found = []
    for subject in subject_views(first):
        if subject.epsilon is None or subject.error:
            continue
        own = [look for look in subject.looks if not look.copies]
        for m in sorted({look.m for look in own if look.m}):
            corners = [
                _corner(name, of[subject.name].looks, m)
                for name, of in views.items()
                if subject.name in of and not of[subject.name].error
            ]
            rung = next((each for each in tests.get(subject.name, ()) if each.m == m), None)
            corners += _worst(rung)
            corners.append(Corner(name=CLAIM, kind=CLAIMED, loss=m * subject.epsilon))
            found.append(Corners(name=subject.name, m=m, corners=tuple(corners)))
    return tuple(found)


def _corner(name: str, looks: Sequence[Look], m: int) -> Corner:
    look = next(each for each in looks if each.m == m and not each.copies)
    told = [_told(outcome) for outcome in look.outcomes]
    advantage = max((each["advantage"] or 0.0 for each in told), default=0.0)
    return Corner(
        name=WORDS[name],
        kind=CERTIFIED,
        loss=look.lower,
        cap=look.cap,
        estimate=math.log1p(advantage) - math.log1p(-advantage) if advantage < 1 else math.inf,
        auc=max((each["auc"] or 0.0 for each in told), default=None),
    )


def _told(outcome: Raw) -> Raw:
    """What is told of the surrounded records, or else of all."""
    return next((part for part in outcome["slices"] if part["slice"] == "poisoned"), outcome)


def _worst(rung: TranscriptTest | None) -> list[Corner]:
    if rung is None:
        return []
    return [
        Corner(name=REPEATED, kind=CERTIFIED, loss=rung.lower, cap=rung.cap),
        Corner(name=WORST, kind=EXACT, loss=rung.ceiling),
    ]


def _row(corner: Corner) -> tuple[str, ...]:
    loss = MISSING if corner.loss is None else _nats(corner.loss)
    if corner.kind == CLAIMED and corner.loss is not None:
        loss = f"≤ {plain(corner.loss)}"
    return (
        corner.name,
        loss,
        MISSING if corner.cap is None else _nats(corner.cap),
        MISSING if corner.estimate is None else f"{corner.estimate:.2f}",
        MISSING if corner.auc is None else f"{corner.auc:.3f}",
    )


def _nats(number: float) -> str:
    return "∞" if math.isinf(number) else written(number, 3, DOWN)
