"""The tables of attacks, and how certified numbers stand in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.record.attack_record import renyi_name
from dpassay.reports.attack.paired import paired, tossed
from dpassay.reports.attack.view import (
    BASELINE,
    LIRA,
    SubjectView,
    TranscriptTests,
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
CERTIFIED = "certified ε ≥: | cap: | detectable:"
"""Titles of what `reach` and `ran` write."""


def summary_table(subjects: Sequence[SubjectView], confidence: str) -> TextTable:
    """Return one row per subject and view: the best attack, LiRA, and what is certified."""
    rows = []
    for subject, look in _views(subjects):
        best, lira = look.best, look.of(LIRA)
        reached = clean(best["attack"]), with_interval(best), share(subject.no_leak), at(best)
        other = (MISSING, MISSING) if lira is None else (share(lira["auc"]), at(lira))
        tail = *reach(look), pair(look.allowed), look.status.word
        rows.append((subject.name, look.name, *reached, share(best["advantage"]), *other, *tail))
    caption = (
        "The attack with the highest AUC in each view, and LiRA; 'certified' is the largest "
        "lower bound on the loss of a record, in nats, simultaneously at confidence "
        f"{confidence}. {BY_GUESSES} {REACH} 'No leak' is what the highest AUC of a "
        "subject stays below in 95 % of all cases if nothing leaks. All other numbers are "
        "estimates."
    )
    titles = (
        "subject | view | best attack | AUC [95 %]: | no leak: | TPR at FPR: | advantage: | "
        f"LiRA: AUC: | TPR at FPR: | {CERTIFIED} | claim, composed: | status"
    )
    return TextTable.of(caption, titles, rows)


def overview_table(subjects: Sequence[SubjectView], confidence: str) -> TextTable:
    """Return one row per subject: its largest certified bound, and its highest AUC."""
    rows = []
    for subject in sound(subjects):
        look, hardest = subject.best, subject.hardest
        allowed = MISSING if hardest.allowed is None else nats(hardest.allowed[0])
        best = f"{clean(look.best['attack'])}, {look.name}", with_interval(look.best)
        first = subject.name, subject.status.word, *reach(hardest), allowed, hardest.name
        rows.append((*first, *best, share(look.best["advantage"])))
    caption = (
        "'Certified' is the lower bound on the loss of a record, in nats, that is largest "
        f"relative to its claim, simultaneously at confidence {confidence}; 'claim' is the "
        f"loss that the claim allows for all answers of that view. {BY_GUESSES} {REACH} The "
        "last columns show the attack with the highest AUC; these are estimates."
    )
    titles = (
        f"subject | status | {CERTIFIED} | claim: | in view | best attack | AUC [95 %]: | adv.:"
    )
    return TextTable.of(caption, titles, rows)


def paired_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Return LiRA minus the loss threshold where nothing is claimed."""
    rows = []
    for subject, look in _views(subjects):
        both = look.of(LIRA), look.of(BASELINE)
        if subject.epsilon is None and both[0] is not None and both[1] is not None:
            found = paired(both[0], both[1])
            if found is not None:
                coins = (share(tossed(one, one["operating"][0]["asked"])) for one in both if one)
                gap = f"{found.difference:+.4f}", f"[{found.low:+.4f}, {found.high:+.4f}]"
                rows.append((subject.name, look.name, *coins, *gap, count(found.targets)))
    caption = (
        "LiRA minus the loss threshold: mean difference of the TPR on the same targets at an "
        "FPR of 1 %, with Student's 95 % interval over the targets; an estimate. Ties of "
        "scores are broken at random, so that both attacks have that FPR."
    )
    titles = "subject | view | LiRA: | loss threshold: | difference: | 95 % interval: | targets:"
    return TextTable.of(caption, titles, rows)


def attacks_table(subject: SubjectView) -> TextTable:
    """Return every attack in every view of a subject."""
    rows = []
    for _, look in _views([subject]):
        for each in look.outcomes:
            run, rates = each["one_run"], (with_interval(each), at(each, 0), at(each, 1))
            right = MISSING if run is None else f"{count(run['v'])} of {count(run['r'])}"
            numbers = share(each["advantage"]), share(each["beyond"]), *ran(run), right
            rows.append((clean(each["attack"]), look.name, *rates, *numbers))
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
    rows = []
    for ladder in found:
        for rung in ladder.rungs:
            claim = f"{nats(rung.claimed)}{f', δ = {rung.delta:.4g}' if rung.delta else ''}"
            losses = nats(rung.lower), nats(rung.cap), detected(rung.detectable), nats(rung.ceiling)
            advantages = share(rung.advantage), share(rung.allowed), share(rung.most)
            word = f"{rung.word}{', sticky' if ladder.sticky else ''}"
            rows.append((ladder.name, count(rung.m), claim, *losses, *advantages, word))
    caption = (
        "Repeated answers to one query: the joint loss of all m answers, in nats, and the "
        "advantage, each at the worst of the examined pairs of datasets. 'Certified' is a "
        "lower bound; 'exact' and 'optimal' are the maxima over these pairs, for any "
        f"attacker, by the exact laws; the advantage is an estimate. {REACH}"
    )
    titles = (
        f"interface | m: | claim, composed: | {CERTIFIED} | exact: | "
        "advantage: | allowed: | optimal: | claim"
    )
    return TextTable.of(caption, titles, rows)


def renyi_table(subjects: Sequence[SubjectView], confidence: str) -> TextTable:
    """Return one row per view of each subject that claims RDP or zCDP."""
    rows = []
    for subject, look in _views(subjects):
        bound = look.renyi_bound
        if bound is not None:
            found = bound["renyi"]
            first = subject.name, look.name, str(bound["record"]), renyi_name(found)
            rows.append((*first, *_renyi(found), guesses(bound)))
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


def vulnerable_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Return the most exposed record of each subject, and the one that most is certified about."""
    rows = []
    for subject in sound(subjects):
        look, top = subject.hardest, next(iter(subject.raw["exposed"]), None)
        number = MISSING if top is None else str(top["record"])
        own, right = (MISSING, MISSING), MISSING
        if look.bounds:
            own = str(look.bounds[0]["record"]), _line(look.bounds[0])
            right = guesses(look.bounds[0])
        tail = *own, look.name, *reach(look), pair(look.allowed), right
        rows.append((subject.name, number, *_exposed(top), _line(top), *tail))
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
    """Return all records that are named: the most exposed, and those with bounds of their own."""
    bounds: dict[int, dict[str, float]] = {}
    named = {each["record"]: each for each in subject.raw["exposed"]}
    told = dict[int, Raw]()
    for look in subject.looks:
        for bound in look.bounds:
            bounds.setdefault(bound["record"], {})[look.name] = float(bound["lower"])
            told[bound["record"]] = bound
    told |= named
    rows = []
    for record in [*named, *(record for record in bounds if record not in named)]:
        own = (nats(bounds.get(record, {}).get(look.name)) for look in subject.looks)
        rows.append((str(record), *_exposed(named.get(record)), _line(told[record]), *own))
    caption = (
        "Records whose scores depend most on their membership, then others with a certified "
        "bound of their own. A dash means not certified, or not among the most exposed."
    )
    found = (
        f"ε ≥, {look.name} (cap {nats(look.cap)}, detectable {detected(look.detectable)}):"
        for look in subject.looks
    )
    table = TextTable.of(caption, ["record:", "label:", "separation:", "line:", *found], rows)
    return table if any("line" in each for each in told.values()) else table.without("line")


def slices_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Return the separation by class, and by the column that was asked for."""
    rows = []
    for subject in sound(subjects):
        for part in subject.raw["slices"]:
            numbers = count(part["records"]), f"{part['mean']:.3f}", f"{part['high']:.3f}"
            rows.append((subject.name, clean(part["slice"]), *numbers))
    caption = (
        "How much the scores of records depend on their membership, by class "
        "and by the column of --slice-by: mean and 95 % quantile of the separation, on the "
        "reference models; an estimate."
    )
    titles = "subject | slice | records: | mean: | 95 % quantile:"
    return TextTable.of(caption, titles, rows)


def apart_table(subjects: Sequence[SubjectView]) -> TextTable:
    """Return canaries, poisoned and natural records, if any, by the attack of the highest AUC."""
    rows = []
    for subject in sound(subjects):
        best: dict[str, tuple[float, Raw, Raw]] = {}
        for outcome in subject.raw["outcomes"]:
            for part in outcome.get("slices", ()):
                auc = -1.0 if part["auc"] is None else part["auc"]
                if auc > best.get(part["slice"], (-math.inf,))[0]:
                    best[part["slice"]] = auc, outcome, part
        for name, (_, outcome, part) in best.items():
            bits, view = part["exposure"]["mean"], clean(outcome["view"]["name"])
            where = clean(name), count(part["records"]), view, clean(outcome["attack"])
            highest = part["exposure"]["highest"]
            exposure = MISSING if bits is None else f"{bits:.2f} of {highest:.2f}"
            reached = share(part["auc"]), share(part["advantage"]), exposure
            rows.append((subject.name, *where, *reached, *ran(part["one_run"])))
    caption = (
        "Canaries, records surrounded by poisoned ones, natural records, and the slices by a "
        "column separately: for each group the attack with the highest AUC. Exposure is in "
        "bits: the mean over the target models, and the highest possible value. 'Certified' is "
        "a lower bound on the loss of all answers of a target, by one-run guesses on these "
        "records; the others are estimates."
    )
    titles = (
        f"subject | records | number: | view | attack | AUC: | advantage: | exposure: | {CERTIFIED}"
    )
    return TextTable.of(caption, titles, rows)


def _views(subjects: Sequence[SubjectView]) -> list[tuple[SubjectView, ViewOutcome]]:
    return [(subject, look) for subject in sound(subjects) for look in subject.looks]


def _line(told: Raw | None) -> str:
    """Write the line of a record in the file of the data."""
    return count(told["line"]) if told is not None and "line" in told else MISSING


def _exposed(record: Raw | None) -> tuple[str, str]:
    """Write the label of a record, and how much its scores depend on its membership."""
    if record is None:
        return MISSING, MISSING
    return str(record["label"]), f"{record['separation']:.3g}"


def _renyi(found: Raw) -> tuple[str, str, str, str]:
    """Write a Rényi loss, its cap, the loss that would have been seen, and what is allowed."""
    lower, cap, allowed = (nats(value(found[key])) for key in ("lower", "cap", "allowed"))
    return lower, cap, detected(value(found["detectable"])), allowed


def certified_words(renyi: Raw) -> str:
    """Write a Rényi loss with its cap and what it is held against."""
    lower, cap, seen, allowed = _renyi(renyi)
    return f"{renyi_name(renyi)} ≥ {lower}, cap {cap}, detectable {seen}, claim {allowed}"


def reach(look: ViewOutcome) -> tuple[str, str, str]:
    """Write the certified bound of a view, its cap, and the leak that it would have shown."""
    return nats(look.lower), nats(look.cap), detected(look.detectable)


def ran(run: Raw | None) -> tuple[str, str, str]:
    """Write a one-run bound, its cap, and the leak that it would have shown."""
    if run is None:
        return MISSING, MISSING, MISSING
    cap, seen = value(run.get("cap")), value(run.get("detectable"))
    return nats(float(run["epsilon"])), nats(cap), detected(seen)


def detected(leak: float | None) -> str:
    """Write the smallest leak that would have been seen."""
    return "no leak" if leak == math.inf else nats(leak)


def guesses(bound: Raw) -> str:
    """Write how many guesses about a record were right."""
    counts, fresh = bound["counts"], fresh_guesses(bound)
    if counts is None:
        return MISSING
    right = counts["x"] + counts["n0"] - counts["y"]
    told = f"{count(right)} of {count(counts['n1'] + counts['n0'])}"
    return told + (f", {count(fresh)} fresh" if fresh else "")


def nats(number: float | None) -> str:
    """Write a loss with up to four significant digits."""
    if number is None:
        return MISSING
    return INFINITY if number == math.inf else f"{number:.4g}"
