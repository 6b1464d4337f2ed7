"""The tables of attacks about what was attacked: by view, by subject, by attack, by interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.attack.cell_words import REACH, detected, nats, ran, reach
from dpassay.reports.attack.paired import paired, tossed
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import (
    BASELINE,
    LIRA,
    SubjectView,
    at,
    pair,
    share,
    sound,
    with_interval,
)
from dpassay.reports.shared.numbers import MISSING, clean, count
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]


BY_GUESSES = (
    "Guesses at membership certify it; repeated answers to one query certify another number, which "
    "has a table of its own."
)
"""Which of the two certified numbers a table has."""


def summary_table(subjects: Sequence[SubjectView], confidence: str) -> Table:
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
    return Table(
        caption=(
            "The attack with the highest AUC in each view, and LiRA; 'certified' is the largest "
            "lower bound on the loss of a record, in nats, simultaneously at confidence "
            f"{confidence}. {BY_GUESSES} {REACH} 'No leak' is what the highest AUC of a "
            "subject stays below in 95 % of all cases if nothing leaks. All other numbers are "
            "estimates."
        ),
        columns=(
            *("subject", "view", "best attack", "AUC [95 %]", "no leak", "TPR at FPR", "advantage"),
            *(
                "LiRA: AUC",
                "TPR at FPR",
                "certified ε ≥",
                "cap",
                "detectable",
                "claim, composed",
                "status",
            ),
        ),
        numeric=(False, False, False, *(True,) * 10, False),
        rows=tuple(rows),
    )


def overview_table(subjects: Sequence[SubjectView], confidence: str) -> Table:
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
    return Table(
        caption=(
            "'Certified' is the lower bound on the loss of a record, in nats, that is largest "
            f"relative to its claim, simultaneously at confidence {confidence}; 'claim' is the "
            f"loss that the claim allows for all answers of that view. {BY_GUESSES} {REACH} The "
            "last columns show the attack with the highest AUC; these are estimates."
        ),
        columns=(
            *("subject", "status", "certified ε ≥", "cap", "detectable", "claim", "in view"),
            *("best attack", "AUC [95 %]", "adv."),
        ),
        numeric=(False, False, *(True,) * 4, False, False, True, True),
        rows=tuple(rows),
    )


def paired_table(subjects: Sequence[SubjectView]) -> Table | None:
    """Table LiRA minus the loss threshold where nothing is claimed; None if there is no pair."""
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
    if not rows:
        return None
    return Table(
        caption=(
            "LiRA minus the loss threshold: mean difference of the TPR on the same targets at an "
            "FPR of 1 %, with Student's 95 % interval over the targets; an estimate. Ties of "
            "scores are broken at random, so that both attacks have that FPR."
        ),
        columns=(
            "subject",
            "view",
            "LiRA",
            "loss threshold",
            "difference",
            "95 % interval",
            "targets",
        ),
        numeric=(False, False, True, True, True, True, True),
        rows=tuple(rows),
    )


def attacks_table(subject: SubjectView) -> Table:
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
    return Table(
        caption=(
            "Every attack in every view, the highest AUC first. 'Above' is how far the curve "
            "rises above the region that the composed claim allows, an estimate that chance alone "
            "can raise. 'Transcript' is the certified one-run bound on the loss of all answers of "
            "a target; it is not compared with claims about single answers. 'Cap' is its value if "
            "all guesses had been correct, 'detectable' the smallest leak that lifts it above 0 "
            "with probability 0.9."
        ),
        columns=(
            *(
                "attack",
                "view",
                "AUC [95 %]",
                "TPR at FPR ≤ 1 %",
                "TPR at FPR ≤ 0.1 %",
                "advantage",
                "above",
            ),
            *("transcript ε ≥", "cap", "detectable", "right guesses"),
        ),
        numeric=(False, False, *(True,) * 9),
        rows=tuple(rows),
    )


def repeated_table(found: Sequence[TranscriptTests]) -> Table | None:
    """Return what repeated queries showed; None where there were none."""
    if not found:
        return None
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
    return Table(
        caption=(
            "Repeated answers to one query: the joint loss of all m answers, in nats, and the "
            "advantage, each at the worst of the examined pairs of datasets. 'Certified' is a "
            "lower bound; 'exact' and 'optimal' are the maxima over these pairs, for any "
            f"attacker, by the exact laws; the advantage is an estimate. {REACH}"
        ),
        columns=(
            *("interface", "m", "claim, composed", "certified ε ≥", "cap", "detectable", "exact"),
            *("advantage", "allowed", "optimal", "claim"),
        ),
        numeric=(False, *(True,) * 9, False),
        rows=tuple(rows),
    )
