"""What the reports of `dpassay attack` show of its record: subjects, views, repeated answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from dpassay.record.attack_record import (
    HELD,
    UNEXAMINED,
    UNSEEN,
    broken,
    could_see,
    outspent,
    rungs_of,
)
from dpassay.reports.shared import statuses
from dpassay.reports.shared.numbers import MISSING, clean, plain, value
from dpassay.reports.shared.statuses import VERIFIED, Status

Raw = Mapping[str, Any]

BROKEN = replace(
    statuses.REFUTED,
    word="claim broken",
    meaning="A certified lower bound exceeds what the claim allows the answers to lose together.",
)
FAILED = replace(statuses.ERROR, meaning="It failed; nothing is known about it.")
BLIND = replace(
    statuses.INCONCLUSIVE,
    word=UNSEEN,
    meaning=(
        "The certified number could not have exceeded the claim, however much leaks: its cap is "
        "not above. Nothing is known."
    ),
)
INSIDE = replace(
    statuses.HELD,
    word=HELD,
    meaning=(
        "No certified bound exceeds the claim, and in one view at least it could have: "
        "'detectable' says how much had to leak. Smaller leaks, other records and stronger "
        "attacks are not covered."
    ),
)
UNCLAIMED = Status(
    "unclaimed", "nothing claimed", "○", VERIFIED.rank, "It makes no promise that could be broken."
)
WRONG = replace(
    statuses.REFUTED,
    word="defect",
    meaning="A service does what no correct one does, or next to never.",
)
UNKNOWN = replace(
    BLIND,
    word=UNEXAMINED,
    meaning="A part of a service could not be looked at without which nothing is known.",
)
STATUSES = (BROKEN, FAILED, BLIND, INSIDE, UNCLAIMED)
"""Every status of a subject, worst first."""
OF_SERVICES = (WRONG, UNKNOWN)
"""Those that only a service has."""
LIRA, BASELINE = "lira", "loss-threshold"
"""The strongest attack of the literature, and the simplest, by their names in the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOutcome:
    """What came out of one view of one subject."""

    name: str
    m: int | None  # answers per record; None where scores are shown
    copies: int  # noisy copies that were asked about instead of the record
    # (m epsilon, m delta) of the claim; None where nothing is claimed
    allowed: tuple[float, float] | None
    outcomes: tuple[Raw, ...]  # the highest AUC first
    bounds: tuple[Raw, ...]  # certified, the largest first
    status: Status

    @property
    def best(self) -> Raw:
        """Return the outcome with the highest AUC."""
        return self.outcomes[0]

    @property
    def lower(self) -> float | None:
        """Return the largest certified bound, in nats."""
        return value(self.bounds[0]["lower"]) if self.bounds else None

    @property
    def cap(self) -> float | None:
        """Return what it could have been at most, of an attacker who is always right."""
        return value(self.bounds[0].get("cap")) if self.bounds else None

    @property
    def detectable(self) -> float | None:
        """Return the smallest leak that would exceed the claim with probability 0.9, or inf."""
        return value(self.bounds[0].get("detectable")) if self.bounds else None

    @property
    def guesses(self) -> int:
        """Return the guesses at the coin of a record that has a bound; 0 if that is not known."""
        return max((_trials(each.get("counts")) for each in self.bounds), default=0)

    @property
    def fresh(self) -> int:
        """Return how many guesses are from fresh answers at a fixed pair of training sets."""
        return max(map(fresh_guesses, self.bounds), default=0)

    @property
    def renyi_bound(self) -> Raw | None:
        """Return the bound with the largest Rényi loss, where the claim is about these."""
        found = (each for each in self.bounds if "renyi" in each)
        return max(found, key=lambda each: float(each["renyi"]["lower"]), default=None)

    @property
    def times(self) -> float:
        """Return the largest certified loss over what is allowed, on the claim's own scale."""
        bound = self.renyi_bound
        if bound is not None:
            return float(bound["renyi"]["lower"]) / float(bound["renyi"]["allowed"])
        return (self.lower or 0.0) / (max(self.allowed[0], 1e-300) if self.allowed else 1.0)

    def of(self, attack: str) -> Raw | None:
        """Return what an attack reached here."""
        return next((each for each in self.outcomes if each["attack"] == attack), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectView:
    """One subject; those that differ only in their loss share their `family`.

    The claim is broken if some view or repeated answers break it, not broken if some view could
    have, and not to be seen otherwise.
    """

    name: str
    anchor: str  # the id of its section
    family: str  # the mechanism without its loss
    epsilon: float | None  # claimed loss of a single answer; None where nothing is claimed
    promise: str  # the claim in a few words
    error: str  # why there is nothing
    looks: tuple[ViewOutcome, ...]
    raw: Raw  # as in the record
    status: Status  # of its claim

    @property
    def best(self) -> ViewOutcome:
        """Return the view with the highest AUC."""
        return max(self.looks, key=lambda look: float(look.best["auc"]))

    @property
    def no_leak(self) -> float | None:
        """Estimate what the highest AUC stays below in 95 % of cases if nothing leaks."""
        found = self.raw.get("no_leak")
        return None if found is None else float(found["high"])

    @property
    def chance(self) -> str:
        """Return the same in words, as '0.512 for the best of 36'; empty where it is not known."""
        if self.no_leak is None:
            return ""
        return f"{share(self.no_leak)} for the best of {self.raw['no_leak']['attacks']}"

    @property
    def hardest(self) -> ViewOutcome:
        """Return the view with the largest share of what is allowed, of those that could exceed."""
        return max(self.looks, key=lambda look: (look.status in (BROKEN, INSIDE), look.times))


def subject_views(record: Raw) -> tuple[SubjectView, ...]:
    """Return the subjects of a record of schema `dpassay/attack/1`, in its order."""
    wrong = {clean(each["name"]) for each in record["repeated"] if outspent(each)}
    return tuple(
        _subject(subject, f"subject-{k}", wrong) for k, subject in enumerate(record["subjects"])
    )


def sound(subjects: Sequence[SubjectView]) -> list[SubjectView]:
    """Return those that did not fail."""
    return [subject for subject in subjects if not subject.error]


def view_names(subjects: Sequence[SubjectView]) -> list[str]:
    """Return the views in order: scores, then by the number of answers, copies last."""
    looks = {look.name: look for subject in subjects for look in subject.looks}
    return sorted(looks, key=lambda name: (looks[name].copies, looks[name].m or 0))


def _subject(subject: Raw, anchor: str, wrong: AbstractSet[str]) -> SubjectView:
    claim, name, failed = subject["claim"], clean(subject["name"]), subject["error"] is not None
    looks = () if failed else _looks(subject)
    seen = {look.status for look in looks} | ({BROKEN} if name in wrong else set())
    order = (BROKEN, INSIDE, BLIND, UNCLAIMED)
    epsilon, promise = None, "nothing claimed"
    if claim is not None:
        epsilon = float(claim["epsilon"])
        promise = f"claims {pair((claim['epsilon'], claim['delta']))} per answer"
    return SubjectView(
        name=name,
        anchor=anchor,
        family=name if claim is None else name.rpartition(", epsilon = ")[0] or name,
        epsilon=epsilon,
        promise=promise,
        error=(clean(subject["error"]) or "no cause was recorded") if failed else "",
        looks=looks,
        raw=subject,
        status=FAILED if failed else next(each for each in order if each in seen),
    )


def _looks(subject: Raw) -> tuple[ViewOutcome, ...]:
    wrong = {each["view"] for each in broken(subject)}
    found = []
    for name in dict.fromkeys(each["view"]["name"] for each in subject["outcomes"]):
        outcomes = [each for each in subject["outcomes"] if each["view"]["name"] == name]
        bounds = [each for each in subject["certified"] if each["view"] == name]
        view, claim = outcomes[0]["view"], outcomes[0]["allowed"]
        allowed = None if claim is None else (float(claim["epsilon"]), float(claim["delta"]))
        status = UNCLAIMED
        if allowed is not None:
            seen = any(could_see(each, allowed[0]) for each in bounds)
            status = BROKEN if name in wrong else INSIDE if seen else BLIND
        found.append(
            ViewOutcome(
                name=clean(name),
                m=view["m"],
                copies=view["copies"],
                allowed=allowed,
                outcomes=tuple(sorted(outcomes, key=lambda each: -float(each["auc"]))),
                bounds=tuple(sorted(bounds, key=lambda each: -float(each["lower"]))),
                status=status,
            )
        )
    return tuple(found)


def fresh_guesses(bound: Raw) -> int:
    """Return how many guesses of a bound are from fresh answers at a fixed pair."""
    return _trials(bound.get("fresh"))


def _trials(counts: Raw | None) -> int:
    return 0 if counts is None else int(counts["n1"] + counts["n0"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRow:
    """Repeated answers of a worst pair, m to one query; whatever is not known is None.

    The losses are of the m answers together, in nats, at `delta`. `cap` is what the bound could
    have been at most, `detectable` the smallest leak that would have exceeded the claim with
    probability 0.9.
    """

    m: int
    claimed: float | None  # by composition
    lower: float | None  # certified
    ceiling: float | None  # to the optimal attacker
    advantage: float | None  # that was reached, an estimate
    allowed: float | None  # advantage that the composed claim allows
    most: float | None  # the optimal attacker's advantage
    broken: bool  # whether the certified bound exceeds what is claimed
    cap: float | None
    detectable: float | None
    delta: float
    blind: bool  # the service could not be looked at: only a broken claim says anything

    @property
    def word(self) -> str:
        """Return what became of the claim here."""
        if self.blind and not self.broken:
            return UNEXAMINED
        could = self.cap is not None and self.claimed is not None and self.cap > self.claimed
        return "claim broken" if self.broken else HELD if could else UNSEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptTests:
    """All rows of one interface, by ascending m."""

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
    """Read the list `repeated` of a record; entries have `rungs`, or are one each."""
    found: dict[str, list[tuple[Raw, Raw]]] = {}
    for each in repeated:
        rows = found.setdefault(clean(each.get("name", "an interface")), [])
        rows.extend((each, rung) for rung in rungs_of(each))
    return tuple(
        TranscriptTests(
            name=name,
            epsilon=value(rows[0][0].get("epsilon")),
            why=clean(rows[0][0].get("why", "")),
            sticky=bool(rows[0][0].get("sticky", False)),
            rungs=tuple(
                sorted((_rung(rung, blind=blind) for _, rung in rows), key=lambda rung: rung.m)
            ),
        )
        for name, rows in found.items()
        if rows
    )


def _rung(rung: Raw, *, blind: bool) -> TranscriptRow:
    limits: Raw = rung.get("limits") or {}
    claimed, lower = value(rung.get("basic", rung.get("epsilon_claimed"))), value(rung.get("lower"))
    above = claimed is not None and lower is not None and lower > claimed
    return TranscriptRow(
        m=int(rung["m"]),
        claimed=claimed,
        lower=lower,
        ceiling=value(limits.get("epsilon", rung.get("ceiling"))),
        advantage=value(rung.get("advantage")),
        allowed=value(rung.get("allowed")),
        most=value(limits.get("adaptive", limits.get("advantage"))),
        broken=bool(rung.get("broken", above)),
        cap=value(rung.get("cap")),
        detectable=value(rung.get("detectable")),
        delta=float(rung.get("delta", 0.0)),
        blind=blind,
    )


def pair(allowed: tuple[float, float] | None) -> str:
    """Write epsilon, and delta where there is one."""
    if allowed is None:
        return MISSING
    return f"ε = {plain(allowed[0])}" + (f", δ = {plain(allowed[1])}" if allowed[1] else "")


def share(number: float | None) -> str:
    """Write an AUC, a rate or an advantage with three decimals."""
    return MISSING if number is None else f"{number:.3f}"


def with_interval(outcome: Raw) -> str:
    """Write an AUC with its interval, as short as can be: '0.612 [.597, .627]'."""
    ends = []
    for number in (float(outcome["auc_low"]), float(outcome["auc_high"])):
        text = f"{number:.3f}".replace("0.", ".", 1) if abs(number) < 0.9995 else f"{number:.2f}"
        ends.append(text.replace("-.000", ".000"))
    return f"{share(outcome['auc'])} [{', '.join(ends)}]"


def at(outcome: Raw, k: int = 0) -> str:
    """Write the TPR at the k-th asked FPR, and the realised one; a dash where there is none."""
    found = outcome["operating"][k]
    if found is None:
        return MISSING
    realised = f"{found['fpr']:.{4 + k}f}"[1:] if found["fpr"] else "0"
    return f"{found['tpr']:.3f} at {realised}"
