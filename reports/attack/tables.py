"""The tables of attacks about what was attacked, and how certified numbers stand in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.record.attack_record import renyi_name
from dpassay.reports.attack.paired import paired, tossed
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import (
    BASELINE,
    LIRA,
    SubjectView,
    ViewOutcome,
    at,
    fresh_guesses,
    pair,
    share,
    sound,
    with_interval,
)
from dpassay.reports.shared.numbers import INFINITY, MISSING, clean, count, value
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]
REACH = (
    "'Cap' is the largest bound that could have been certified, if every guess had been correct; "
    "'detectable' is the smallest leak that would have been certified above the claim (above 0 if "
    "there is none) with probability 0.9, if guesses reveal all of it."
)
FRESH = "fresh answers at one fixed pair of training sets, with the record and with its partner"
"""What guesses are made from besides the answers of target models."""
BY_GUESSES = (
    "Guesses at membership certify it; repeated answers to one query certify another number, which "
    "has a table of its own."
)
"""Which of the two certified numbers a table has."""


def summary_table(subjects: Sequence[SubjectView], confidence: str) -> TextTable:
    """One row per subject and view: the best attack, LiRA, and what is certified."""
    rows = []
    for subject in sound(subjects):
        for look in subject.looks:
            lira = look.of(LIRA)
            rows.append(
                (
                    subject.name,
                    look.name,
                    clean(look.best["attack"]),
                    with_interval(look.best),
                    share(subject.no_leak),
                    at(look.best),
                    share(look.best["advantage"]),
                    MISSING if lira is None else share(lira["auc"]),
                    MISSING if lira is None else at(lira),
                    *reach(look),
                    pair(look.allowed),
                    look.status.word,
                )
            )
    caption = (
        "The attack with the highest AUC in each view, and LiRA; 'certified' is the largest "
        "lower bound on the loss of a record, in nats, simultaneously at confidence "
        f"{confidence}. {BY_GUESSES} {REACH} 'No leak' is what the highest AUC of a "
        "subject stays below in 95 % of all cases if nothing leaks. All other numbers are "
        "estimates."
    )
    titles = (
        "subject | view | best attack | AUC [95 %]: | no leak: | TPR at FPR: | advantage: | "
        "LiRA: AUC: | TPR at FPR: | certified ε ≥: | cap: | detectable: | claim, composed: | status"
    )
    return TextTable.of(caption, titles, rows)


def overview_table(subjects: Sequence[SubjectView], confidence: str) -> TextTable:
    """One row per subject.

    The largest certified bound with what it could have been, and where the highest AUC was reached.
    """
    rows = []
    for subject in sound(subjects):
        best, hardest = subject.best, subject.hardest
        rows.append(
            (
                subject.name,
                subject.status.word,
                *reach(hardest),
                MISSING if hardest.allowed is None else nats(hardest.allowed[0]),
                hardest.name,
                f"{clean(best.best['attack'])}, {best.name}",
                with_interval(best.best),
                share(best.best["advantage"]),
            )
        )
    caption = (
        "'Certified' is the lower bound on the loss of a record, in nats, that is largest "
        f"relative to its claim, simultaneously at confidence {confidence}; 'claim' is the "
        f"loss that the claim allows for all answers of that view. {BY_GUESSES} {REACH} The "
        "last columns show the attack with the highest AUC; these are estimates."
    )
    titles = (
        "subject | status | certified ε ≥: | cap: | detectable: | claim: | in view | best attack | "
        "AUC [95 %]: | adv.:"
    )
    return TextTable.of(caption, titles, rows)


def paired_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Table LiRA minus the loss threshold where nothing is claimed."""
    rows = []
    for subject in sound(subjects):
        for look in subject.looks if subject.epsilon is None else ():
            one, other = look.of(LIRA), look.of(BASELINE)
            if one is None or other is None:
                continue
            found = paired(one, other)
            if found is not None:
                tail = (
                    f"{found.difference:+.4f}",
                    f"[{found.low:+.4f}, {found.high:+.4f}]",
                    count(found.targets),
                )
                coins = (
                    share(tossed(each, each["operating"][0]["asked"])) for each in (one, other)
                )
                rows.append((subject.name, look.name, *coins, *tail))
    caption = (
        "LiRA minus the loss threshold: mean difference of the TPR on the same targets at an "
        "FPR of 1 %, with Student's 95 % interval over the targets; an estimate. Ties of "
        "scores are broken at random, so that both attacks have that FPR."
    )
    titles = "subject | view | LiRA: | loss threshold: | difference: | 95 % interval: | targets:"
    return TextTable.of(caption, titles, rows)


def attacks_table(subject: SubjectView) -> TextTable:
    """Every attack in every view of a subject."""
    rows = []
    for look in subject.looks:
        for each in look.outcomes:
            run = each["one_run"]
            rows.append(
                (
                    clean(each["attack"]),
                    look.name,
                    with_interval(each),
                    at(each, 0),
                    at(each, 1),
                    share(each["advantage"]),
                    MISSING if each["beyond"] is None else share(each["beyond"]),
                    *(
                        (MISSING,) * 4
                        if run is None
                        else (*ran(run), f"{count(run['v'])} of {count(run['r'])}")
                    ),
                )
            )
    caption = (
        "Every attack in every view, the highest AUC first. 'Above' is how far the curve "
        "rises above the region that the composed claim allows, an estimate that chance alone "
        "can raise. 'Transcript' is the certified one-run bound on the loss of all answers of "
        "a target; it is not compared with claims about single answers. 'Cap' is its value if "
        "all guesses had been correct, 'detectable' the smallest leak that lifts it above 0 "
        "with probability 0.9."
    )
    titles = (
        "attack | view | AUC [95 %]: | TPR at FPR ≤ 1 %: | TPR at FPR ≤ 0.1 %: | advantage: | "
        "above: | transcript ε ≥: | cap: | detectable: | right guesses:"
    )
    return TextTable.of(caption, titles, rows)


def repeated_table(found: Sequence[TranscriptTests]) -> TextTable:
    """Return what repeated queries showed."""
    rows = [
        (
            ladder.name,
            count(rung.m),
            *(
                f"{nats(rung.claimed)}{f', δ = {rung.delta:.4g}' if rung.delta else ''}",
                nats(rung.lower),
                nats(rung.cap),
                detected(rung.detectable),
                nats(rung.ceiling),
            ),
            *(share(number) for number in (rung.advantage, rung.allowed, rung.most)),
            f"{rung.word}{', sticky' if ladder.sticky else ''}",
        )
        for ladder in found
        for rung in ladder.rungs
    ]
    caption = (
        "Repeated answers to one query: the joint loss of all m answers, in nats, and the "
        "advantage, each at the worst of the examined pairs of datasets. 'Certified' is a "
        "lower bound; 'exact' and 'optimal' are the maxima over these pairs, for any "
        f"attacker, by the exact laws; the advantage is an estimate. {REACH}"
    )
    titles = (
        "interface | m: | claim, composed: | certified ε ≥: | cap: | detectable: | exact: | "
        "advantage: | allowed: | optimal: | claim"
    )
    return TextTable.of(caption, titles, rows)


def renyi_table(subjects: Sequence[SubjectView], confidence: str) -> TextTable:
    """One row per view of each subject that claims RDP or zCDP."""
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
    caption = (
        "The Rényi loss of the record about which most guesses were right, against claims of "
        "RDP and zCDP composed for all answers of the view, whose status it decides; "
        f"certified, simultaneously at confidence {confidence}. Of several claimed orders it "
        "is the one that allows the "
        "fewest right guesses. 'Cap' is the value if every guess had been right, 'detectable' "
        "the smallest loss that would have exceeded the claim with probability 0.9."
    )
    titles = (
        "subject | view | record: | loss | certified ≥: | cap: | detectable: | claim: | "
        "right guesses:"
    )
    return TextTable.of(caption, titles, rows)


def certified_words(renyi: Raw) -> str:
    """Write a Rényi loss with its cap and what it is held against."""
    return (
        f"{renyi_name(renyi)} ≥ {nats(value(renyi['lower']))}, cap {nats(value(renyi['cap']))}, "
        f"detectable {detected(value(renyi['detectable']))}, claim {nats(value(renyi['allowed']))}"
    )


def reach(look: ViewOutcome) -> tuple[str, str, str]:
    """Write the certified bound of a view, its cap, and the leak that it would have shown."""
    return nats(look.lower), nats(look.cap), detected(look.detectable)


def ran(run: Raw) -> tuple[str, str, str]:
    """Write a one-run bound, its cap, and the leak that it would have shown."""
    return (
        nats(float(run["epsilon"])),
        nats(value(run.get("cap"))),
        detected(value(run.get("detectable"))),
    )


def detected(leak: float | None) -> str:
    """Write the smallest leak that would have been seen."""
    return "no leak" if leak == float("inf") else nats(leak)


def guesses(bound: Raw) -> str:
    """Write how many guesses about a record were right."""
    counts = bound["counts"]
    if counts is None:
        return MISSING
    right, fresh = counts["x"] + counts["n0"] - counts["y"], fresh_guesses(bound)
    told = f"{count(right)} of {count(counts['n1'] + counts['n0'])}"
    return told + (f", {count(fresh)} fresh" if fresh else "")


def nats(number: float | None) -> str:
    """Write a loss with up to four significant digits."""
    if number is None:
        return MISSING
    return INFINITY if number == float("inf") else f"{number:.4g}"
