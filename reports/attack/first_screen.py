"""The first screen of the page of attacks: what was found, how bad it is, and what to do now."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpassay.numerics import DOWN, UP, percent, written
from dpassay.record.attack_record import BROKEN as CLAIM_BROKEN
from dpassay.record.attack_record import (
    HELD,
    UNEXAMINED,
    UNSEEN,
    blind_to,
    renyi_name,
    told_of_claims,
)
from dpassay.reports.attack.tables import FRESH
from dpassay.reports.attack.view import (
    BLIND,
    BROKEN,
    FAILED,
    INSIDE,
    UNCLAIMED,
    UNKNOWN,
    WRONG,
    SubjectView,
    TranscriptRow,
    TranscriptTests,
    ViewOutcome,
    fresh_guesses,
    pair,
    share,
)
from dpassay.reports.attack.words import UNDRAWN
from dpassay.reports.shared.cards import Bar, Card, LargeNumber, NumberLine, Step, number_line
from dpassay.reports.shared.numbers import clean, count, plain, plural, value
from dpassay.reports.shared.statuses import Status

Raw = Mapping[str, Any]

MOST_CARDS = 2
"""Subjects that are shown in full; the others have a row each in the summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The strongest number that is held against a claim: of guesses, or of repeated answers."""

    lower: float
    allowed: tuple[float, float]
    cap: float | None
    detectable: float | None
    how: str
    by: str  # what certifies it: one of the two things that do
    holds: str  # where the leak would have been seen
    seen: str = ""
    sides: tuple[tuple[str, float, str], ...] = ()
    fresh: int = 0
    renyi: str = ""  # which Rényi loss it is of, and `allowed` has no delta; else empty

    @property
    def times(self) -> float:
        """Return what is lost at least, as a multiple of the claim."""
        return self.lower / self.allowed[0] if self.allowed[0] else math.inf

    @property
    def breaks(self) -> bool:
        """Return whether it is more than is claimed."""
        return self.lower > self.allowed[0]

    @property
    def least(self) -> str:
        """Return what is lost at least."""
        return written(self.lower, 3, DOWN)

    @property
    def words(self) -> str:
        """Return the multiple, rounded down; empty where the claim holds or allows nothing."""
        return written(self.times, 3, DOWN) if self.breaks and math.isfinite(self.times) else ""

    def numbers(self, sure: str) -> Iterator[LargeNumber]:
        """Yield what is claimed, what is certified, and how much more that is or was to be seen."""
        claim = f"{self.renyi} = {plain(self.allowed[0])}" if self.renyi else pair(self.allowed)
        yield LargeNumber(name="Claimed", text=claim, note=f"for {self.how}")
        name, note = f"Certified {self.renyi}".rstrip(), f"{sure} confidence, by {self.by}"
        yield LargeNumber(name=name, text=f"≥ {self.least}", note=note)
        if self.words:
            yield LargeNumber(name="Leak ÷ claim", text=f"≥ {self.words} ×")
        elif self.cap is not None:
            seen = self.detectable is not None and math.isfinite(self.detectable)
            most = written(self.cap, 3, DOWN)
            yield LargeNumber(
                name="Would have seen",
                text=f"≥ {written(self.detectable or 0.0, 3, UP)}" if seen else "nothing",
                note=f"with probability 0.9; could certify at most {most}",
            )

    def line(self) -> NumberLine | None:
        """Return the claim and what is certified on a line."""
        claim = self.allowed[0], f"claim {plain(self.allowed[0])}"
        return number_line(claim, (self.lower, f"≥ {self.least}"))


def origin(record: Raw) -> tuple[str, ...]:
    """Say what was attacked with which data; no date."""
    run = record["run"]
    commit = () if run["commit"] is None else (f"commit {clean(run['commit'])[:10]}",)
    data = clean(run["data"].get("name", "unnamed data"))
    return ("dpassay attack", *commit, f"{data}, {plural(run['records'], 'record')}")


def lead(record: Raw, cards: Sequence[Card]) -> str:
    """Say in one sentence what came of it."""
    if not cards:
        return "Nothing was attacked" + ("" if record["run"]["complete"] else ": interrupted")
    defects, about = len(record["defects"]), _claimed(cards)
    if len(about) == 1:
        return _lead_of(about[0], defects)
    claims = list(told_of_claims(record).values())
    broken, failed = claims.count(CLAIM_BROKEN), sum(card.status is FAILED for card in cards)
    blind = claims.count(UNSEEN) + claims.count(UNEXAMINED)
    told = [f"{plural(len(cards), 'subject')} attacked, nothing was claimed"]
    if broken:
        verb = "is" if broken == 1 else "are"
        told = [f"{broken} of {plural(len(claims), 'claim')} {verb} broken"]
    elif claims:
        told = [f"None of {plural(len(claims), 'claim')} was broken"]
    told += [f"{blind} could not have been"] if blind else []
    told += [f"{plural(defects, 'defect')} found"] if defects else []
    told += [f"{failed} failed"] if failed else []
    return ", ".join(told)


def _claimed(cards: Sequence[Card]) -> Sequence[Card]:
    """Return those of which something is claimed or known to be wrong, or all."""
    return [card for card in cards if card.status is not UNCLAIMED] or cards


def _lead_of(card: Card, defects: int) -> str:
    has = f"{card.name} has {plural(defects, 'defect')}" if defects else card.name
    if card.status is BROKEN:
        much = f"leaks at least {card.times} times what" if card.times else "leaks more than"
        return f"{has}{' and' * bool(defects)} {much} it claims"
    if defects:
        return has
    return {
        FAILED.word: f"The attacks on {card.name} failed",
        BLIND.word: f"These attacks could not have broken the claim of {card.name}",
        INSIDE.word: f"No attack broke the claim of {card.name}",
        UNKNOWN.word: f"Nothing is known of {card.name}: it was not examined",
        UNCLAIMED.word: f"{card.name} was attacked; nothing was claimed",
    }[card.status.word]


def cards_of(
    record: Raw, subjects: Sequence[SubjectView], repeated: Sequence[TranscriptTests]
) -> tuple[Card, ...]:
    """Return a card for each subject, the worst first; of a service one for all."""
    if "service" in record["run"]:
        return (_service(record, repeated),)
    by_name = {each.name: each for each in repeated}
    cards = [_subject(each, by_name.get(each.name), record["run"]) for each in subjects]
    return tuple(sorted(cards, key=lambda card: card.status.rank))


def chosen(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return up to `MOST_CARDS` to show in full: the worst broken or failed, or the only one.

    That is the only one with a claim, where there is one.
    """
    bad = [card for card in cards if card.status in (BROKEN, WRONG, FAILED)]
    alone = _claimed(cards)
    return tuple(bad[:MOST_CARDS] or (alone if len(alone) == 1 else ()))


def _service(record: Raw, repeated: Sequence[TranscriptTests]) -> Card:
    run, defects, blind = record["run"], record["defects"], " and ".join(blind_to(record))
    found = _strongest(_of_rung(rung) for each in repeated for rung in each.rungs)
    words = {each.word for each in repeated}
    which = (
        (any(each.broken for each in repeated), BROKEN),
        (bool(defects), WRONG),
        (bool(blind), UNKNOWN),
        (HELD in words, INSIDE),
        (UNSEEN in words, BLIND),
    )
    status = next((status for so, status in which if so), UNCLAIMED)
    number = LargeNumber(
        name="Defects", text=str(len(defects)), note="named below" if defects else ""
    )
    untold = run.get("probe", {}).get("untold", ())
    return Card(
        name=clean(run["service"]),
        anchor="repeated",
        status=status,
        numbers=(number, *(found.numbers(percent(run["confidence"])) if found else ())),
        seen=(f"{'; '.join(clean(each['name']) for each in defects)}.",) if defects else (),
        line=found.line() if found else None,
        verdict=f"{blind[:1].upper()}{blind[1:]}." if blind else "",
        steps=tuple(_service_steps(status, defects, clean(run["command"]))),
        looked=tuple(f"Not examined: {clean(each)}." for each in untold),
        times=found.words if found else "",
    )


def _service_steps(status: Status, defects: Sequence[Raw], command: str) -> Iterator[Step]:
    if defects:
        yield Step(text=f"See it again: {clean(defects[0]['again']).rstrip('.')}.")
        yield Step(text="Mend the defect, or declare what is meant to be so (docs/services.md).")
    worst_case = "Audit the worst case of the mechanism behind it with dpassay run."
    told = {
        BROKEN.word: "Claim what is true, or add noise: repeated answers lose more.",
        UNKNOWN.word: "Let its answers depend on the data that it is opened with.",
        BLIND.word: "Ask more: raise --transcripts.",
        INSIDE.word: worst_case,
        UNCLAIMED.word: worst_case,
    }
    if status.word in told:
        yield Step(text=told[status.word])
    yield Step(text="Attack it again:", command=command)


def _subject(subject: SubjectView, repeated: TranscriptTests | None, run: Raw) -> Card:
    base = Card(name=subject.name, anchor=subject.anchor, status=subject.status)
    command = clean(run["command"])
    if subject.error:
        steps = (Step(text="Mend what the message names."), Step(text="Again:", command=command))
        return replace(base, verdict=subject.error, steps=steps)
    best = subject.best.best
    note = f"{clean(best['attack'])}, {subject.best.name}; an estimate"
    note += f"; if nothing leaked, up to {subject.chance}" if subject.chance else ""
    auc = LargeNumber(name="Best AUC", text=share(best["auc"]), note=note)
    rungs = () if repeated is None else repeated.rungs
    found = _strongest([*map(_of_look, subject.looks), *map(_of_rung, rungs)])
    if found is None:
        step = "Hold it against a claim: dpassay run audits its worst case."
        if "signals" in run:
            step = "To certify a bound, let dpassay train the models, by its own coins."
        looked = (UNDRAWN,) if "signals" in run else ()
        return replace(base, numbers=(auc,), steps=(Step(text=step),), looked=looked)
    moved = len(found.sides) == 2 and found.sides[0][1] != found.sides[1][1]
    bars = (
        Bar(side=side, text=text, width=round(100 * rate, 1)) for side, rate, text in found.sides
    )
    return replace(
        base,
        numbers=(*found.numbers(percent(run["confidence"])), auc),
        seen=(found.seen,) if moved else (),
        bars=tuple(bars) if moved else (),
        line=found.line(),
        steps=tuple(_subject_steps(subject, found, command)),
        looked=tuple(_looked(found, run)),
        times=found.words,
    )


def _strongest(found: Iterable[_Evidence | None]) -> _Evidence | None:
    """Return the largest multiple of the claim, of what could break it where there is such."""

    def rank(each: _Evidence) -> tuple[bool, float]:
        return each.cap is not None and each.cap > each.allowed[0], each.times

    return max((each for each in found if each is not None), key=rank, default=None)


def _of_look(look: ViewOutcome) -> _Evidence | None:
    if look.allowed is None or look.lower is None:
        return None
    bound = look.renyi_bound or look.bounds[0]
    renyi, counts = bound.get("renyi"), bound.get("counts")
    held = renyi or bound
    sides: tuple[tuple[str, float, str], ...] = ()
    if counts is not None and counts["n1"] and counts["n0"]:
        sides = tuple(
            (side, counts[x] / counts[n], f"{counts[x]} of {counts[n]}")
            for side, x, n in (("in", "x", "n1"), ("out", "y", "n0"))
        )
    return _Evidence(
        lower=float(held["lower"]),
        allowed=look.allowed if renyi is None else (float(renyi["allowed"]), 0.0),
        cap=value(held.get("cap")),
        detectable=value(held.get("detectable")),
        renyi="" if renyi is None else renyi_name(renyi),
        fresh=fresh_guesses(bound),
        how=look.name,
        by="guesses at membership",
        holds="where guesses reveal the whole leak of a record that the reference models single "
        "out",
        seen=f"Record {bound['record']} is called a member, from {look.name}, when it is in and "
        "when it is out:",
        sides=sides,
    )


def _of_rung(rung: TranscriptRow) -> _Evidence | None:
    if rung.claimed is None or rung.lower is None:
        return None
    return _Evidence(
        lower=rung.lower,
        allowed=(rung.claimed, rung.delta),
        cap=rung.cap,
        detectable=rung.detectable,
        by="answers to one query, asked again and again",
        how="one answer" if rung.m == 1 else f"{rung.m} repeated answers",
        holds="for the pair and the query that were asked again and again, if one event tells all",
    )


def _subject_steps(subject: SubjectView, found: _Evidence, command: str) -> Iterator[Step]:
    mechanism = re.fullmatch(r"[a-z][a-z0-9-]*", subject.family)
    if subject.status is BROKEN:
        every = f": every {found.renyi or 'ε'} below {found.least} for {found.how} is broken too"
        more = every if found.breaks else ""
        yield Step(text=f"Fix the mechanism, or claim what is true{more}.")
        yield Step(text="Attack it again:", command=command)
    elif subject.status is BLIND:
        asked = f"{subject.family} --epsilon {plain(subject.epsilon or 0.0)}"
        yield Step(
            text="See how many target models would do, and give them with --models:",
            command=f"dpassay plan --attack {asked}" if mechanism else "",
        )
    else:
        yield Step(text="Let the attacker poison the data and choose the queries: --adversary.")
    if mechanism is not None:
        yield Step(text="Audit its worst case:", command=f"dpassay run {subject.family}")


def _looked(found: _Evidence, run: Raw) -> Iterator[str]:
    more = f"; {count(found.fresh)} guesses more are from {FRESH}" if found.fresh else ""
    yield (
        f"{plural(run['targets'], 'target model')} were attacked, after "
        f"{plural(run['references'], 'reference model')}{more}."
    )
    if not found.breaks:
        yield (
            f"What would have been seen holds {found.holds}. Smaller leaks and stronger attacks "
            "are not covered."
        )
