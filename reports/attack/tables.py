"""The tables of the reports of `dpassay attack`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.attack.paired import paired, tossed
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import (
    BASELINE,
    LIRA,
    Look,
    SubjectView,
    at,
    fresh_guesses,
    pair,
    share,
    sound,
    with_interval,
)
from dpassay.reports.shared.numbers import INFINITY, MISSING, clean, count, value
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]
REACH = (
    "'Cap' is the largest bound that could have been certified, if every guess had been correct; "
    "'detectable' is the smallest leak that would have been certified above the claim (above 0 if "
    "there is none) with probability 0.9, if guesses reveal all of it."
)

FRESH = "fresh answers at one fixed pair of training sets, with the record and with its partner"
"""What guesses are made from besides the answers of target models."""


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
            f"{confidence}. {REACH} 'No leak' is what the highest AUC of a subject stays below in "
            "95 % of all cases if nothing leaks. All other numbers are estimates."
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
            f"loss that the claim allows for all answers of that view. {REACH} The last columns "
            "show the attack with the highest AUC; these are estimates."
        ),
        columns=(
            *("subject", "status", "certified ε ≥", "cap", "detectable", "claim", "in view"),
            *("best attack", "AUC [95 %]", "adv."),
        ),
        numeric=(False, False, *(True,) * 4, False, False, True, True),
        rows=tuple(rows),
    )


def paired_table(subjects: Sequence[SubjectView]) -> Table | None:
    """LiRA minus the loss threshold against what makes no claim.

    None where there is nothing to compare.
    """
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


def _line(told: Raw | None) -> str:
    """Write the line of a record in the file of the data."""
    return MISSING if told is None or "line" not in told else count(told["line"])


def _bound_cells(look: Look, *, lined: bool) -> tuple[str, ...]:
    bound = look.bounds[0] if look.bounds else None
    head = (MISSING if bound is None else str(bound["record"]), *((_line(bound),) if lined else ()))
    if bound is None:
        return (*head, look.name, *(MISSING,) * 3, pair(look.allowed), MISSING)
    return (*head, look.name, *reach(look), pair(look.allowed), guesses(bound))


def reach(look: Look) -> tuple[str, str, str]:
    """Write the certified bound of a view, its cap, and the leak that it would have shown."""
    return nats(look.lower), nats(look.cap), detected(look.detectable)


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
                    *((MISSING,) * 4 if run is None else _guessed(run)),
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
    """Canaries, poisoned and natural records apart, each with the attack of the highest AUC.

    None where there were none.
    """
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


def repeated_table(found: Sequence[TranscriptTests]) -> Table | None:
    """What repeated queries showed; None where there were none."""
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


def _guessed(run: Raw) -> tuple[str, ...]:
    return (*ran(run), f"{count(run['v'])} of {count(run['r'])}")


def ran(run: Raw) -> tuple[str, str, str]:
    """Write a one-run bound, its cap, and the leak that it would have shown."""
    return (
        nats(float(run["epsilon"])),
        nats(value(run.get("cap"))),
        detected(value(run.get("detectable"))),
    )


def nats(number: float | None) -> str:
    """Write a loss with up to four significant digits."""
    if number is None:
        return MISSING
    return INFINITY if number == float("inf") else f"{number:.4g}"
