"""Repeated queries of a worst pair, as the record has them.

One ladder per interface, one rung per number of answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.record.attack_record import HELD, UNEXAMINED, UNSEEN, rungs_of
from dpassay.reports.shared.numbers import clean, value

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRow:
    """m answers to the query; whatever is not known is None.

    The losses are of the m answers together, in nats, at `delta`: `claimed` by composition,
    certified at least (`lower`), and to the optimal attacker (`ceiling`). The advantages are
    the one that was reached, an estimate, the one that the composed claim allows, and the
    optimal attacker's (`most`). `cap` is what the bound could have been at most, `detectable`
    the smallest leak that would have exceeded the claim with probability 0.9.
    """

    m: int
    claimed: float | None
    lower: float | None
    ceiling: float | None
    advantage: float | None
    allowed: float | None
    most: float | None
    broken: bool  # whether the certified bound exceeds what is claimed
    cap: float | None = None
    detectable: float | None = None
    losing: str = ""  # the pair of the bound; may be empty
    telling: str = ""  # the pair of the advantage; may be empty
    delta: float = 0.0
    blind: bool = False  # the service could not be looked at: only a broken claim says anything

    @property
    def word(self) -> str:
        """Return what became of the claim here."""
        if self.blind and not self.broken:
            return UNEXAMINED
        could = self.cap is not None and self.claimed is not None and self.cap > self.claimed
        return "claim broken" if self.broken else HELD if could else UNSEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptTests:
    """All rungs of one interface, by ascending m."""

    name: str
    epsilon: float | None  # claimed of one answer
    why: str  # remarks of the attack; may be empty
    sticky: bool  # whether repeated answers never differed
    rungs: tuple[TranscriptRow, ...]

    @property
    def broken(self) -> bool:
        """Return whether a composed claim is certainly exceeded."""
        return any(rung.broken for rung in self.rungs)

    @property
    def word(self) -> str:
        """Return what became of the claim at any number of answers."""
        words = {rung.word for rung in self.rungs}
        return next(each for each in ("claim broken", HELD, UNSEEN, UNEXAMINED) if each in words)


def ladders(repeated: Sequence[Raw], *, blind: bool = False) -> tuple[TranscriptTests, ...]:
    """Read the list `repeated` of a record; entries have `rungs`, or are one rung each.

    `blind` as in `TranscriptRow`.
    """
    found: dict[str, list[tuple[Raw, Raw]]] = {}
    for each in repeated:
        found.setdefault(clean(each.get("name", "an interface")), []).extend(
            (each, rung) for rung in rungs_of(each)
        )
    made = []
    for name, rows in found.items():
        if rows:
            first = rows[0][0]
            rungs = sorted((_rung(rung, blind=blind) for _, rung in rows), key=lambda rung: rung.m)
            why, sticky = clean(first.get("why", "")), bool(first.get("sticky", False))
            made.append(
                TranscriptTests(
                    name=name,
                    epsilon=value(first.get("epsilon")),
                    why=why,
                    sticky=sticky,
                    rungs=tuple(rungs),
                )
            )
    return tuple(made)


def _rung(rung: Raw, *, blind: bool) -> TranscriptRow:
    limits: Raw = rung.get("limits") or {}
    claimed, lower = value(rung.get("basic", rung.get("epsilon_claimed"))), value(rung.get("lower"))
    return TranscriptRow(
        m=int(rung["m"]),
        claimed=claimed,
        lower=lower,
        ceiling=value(limits.get("epsilon", rung.get("ceiling"))),
        advantage=value(rung.get("advantage")),
        allowed=value(rung.get("allowed")),
        most=value(limits.get("adaptive", limits.get("advantage"))),
        broken=bool(
            rung.get("broken", claimed is not None and lower is not None and lower > claimed)
        ),
        cap=value(rung.get("cap")),
        detectable=value(rung.get("detectable")),
        losing=clean(rung.get("losing", "")),
        telling=clean(rung.get("telling", "")),
        delta=float(rung.get("delta", 0.0)),
        blind=blind,
    )
