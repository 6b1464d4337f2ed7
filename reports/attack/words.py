"""What the reports of `dpassay attack` say in sentences.

What was done, what came of it, what it does not mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.numerics import percent
from dpassay.record.attack_record import BROKEN, HELD, UNEXAMINED, UNSEEN, blind_to, told_of_claims
from dpassay.reports.attack.claim_words import claims_of, claims_words
from dpassay.reports.attack.paired import paired
from dpassay.reports.attack.tables import FRESH
from dpassay.reports.attack.transcripts import TranscriptTests, ladders
from dpassay.reports.attack.view import BASELINE, FAILED, LIRA, SubjectView, share, sound
from dpassay.reports.run.words import ended
from dpassay.reports.shared.numbers import clean, count, plain, plural

Raw = Mapping[str, Any]

CAVEAT = "These attacks are averages over records, and other attacks may do better."
CAVEAT_DETAIL = (
    "An average understates the worst case: one record may lose far more than the average curve "
    "shows. 'dpassay run' audits that worst case. AUC, rates and advantages are estimates, and by "
    "chance the best of many attacks looks better than it is. Only bounds stated with a "
    "confidence are certified."
)

BALANCED = (
    " Half of the labels around a record were its own, so that the record decided their vote: "
    "noise hides a move least there."
)


UNDRAWN = (
    "Membership was not drawn by us: all numbers are estimates, and nothing is certified. They are "
    "about privacy only if members and non-members are alike."
)


def headline(record: Raw, subjects: Sequence[SubjectView]) -> str:
    """Say in one line what came out; every claim is counted once."""
    run, found = record["run"], []
    told = list(told_of_claims(record).values())
    if told:
        found.append(tally(told))
    elif subjects:
        found.append("nothing was claimed" if sound(subjects) else "no attack gave a result")
    failed = len(subjects) - len(sound(subjects))
    found += [f"{failed} failed"] if failed else []
    if "service" in run:
        seen = (
            "found"
            if record["defects"] or not run.get("probe", {}).get("untold")
            else "found in what was examined"
        )
        found.insert(0, f"{plural(len(record['defects']), 'defect')} {seen}")
        found += ["not everything could be examined"] if run.get("probe", {}).get("blind") else []
        return f"Attacks on {clean(run['service'])}: {', '.join(found)}"
    if not subjects:
        return "Nothing was attacked" + ("" if run["complete"] else ": interrupted")
    found += [f"{plural(len(record['defects']), 'defect')} found"] if record["defects"] else []
    found += [] if run["complete"] else ["interrupted"]
    return f"Attacks on {plural(len(subjects), 'subject')}: {', '.join(found)}"


def tally(told: Sequence[str]) -> str:
    """Count claims by what became of them; what could not be seen is never 'not broken'."""
    wrong, seen, unseen = (told.count(word) for word in (BROKEN, HELD, UNSEEN))
    parts = [f"{wrong} BROKEN" if wrong else "0 broken", f"{seen} not broken (could have seen it)"]
    parts.append(f"{unseen} could not have been seen")
    parts += [f"{told.count(UNEXAMINED)} not examined"] if UNEXAMINED in told else []
    return f"{plural(len(told), 'claim')}, {', '.join(parts)}"


def opening(record: Raw, subjects: Sequence[SubjectView]) -> tuple[str, ...]:
    """Say in plain words what was done and what came of it."""
    fine = sound(subjects)
    return tuple(
        text
        for text in (
            _done(record, fine),
            _reached(fine),
            claims_words(record["run"], fine),
            _unexamined(record),
            _ladders(ladders(record["repeated"], blind=bool(blind_to(record)))),
            _defects(record),
        )
        if text
    )


def notes(record: Raw, subjects: Sequence[SubjectView]) -> tuple[str, ...]:
    """Say what the reader must know before believing a number."""
    run, found = record["run"], []
    if said := ended(run, "subjects"):
        found.append(said)
    found += [f"Not examined: {each}." for each in run.get("probe", {}).get("untold", ())]
    found += [f"Remark: {clean(each)}." for each in run.get("probe", {}).get("remarks", ())]
    found += [
        f"{subject.name}: {subject.status.word}: {subject.error}"
        for subject in subjects
        if subject.status is FAILED
    ]
    found += _of_signals(run.get("signals"))
    non_members = run.get("targets", 0) * (run["records"] // 2)
    for rate in (0.01, 0.001):
        if subjects and non_members * rate < 10 * (1 - 1e-12):
            needed = f"fewer than the {count(round(10 / rate))} that such a rate needs"
            found.append(
                f"No rates at FPR {percent(rate)}: {count(non_members)} answers about non-members "
                f"are {needed}."
            )
            break
    return tuple(found)


def _of_signals(signals: Raw | None) -> list[str]:
    """Say what numbers about given members mean; nothing where coins of ours chose them."""
    if signals is None:
        return []
    found = [UNDRAWN]
    shift = signals["shift"]
    if shift is None:
        found.append("Whether they are alike could not be tested: there is nothing to test it on.")
    else:
        alike = shift["low"] <= 0.5 <= shift["high"]
        found.append(
            f"{'No difference was seen' if alike else 'They differ'} without the attacked models: "
            f"AUC {share(shift['auc'])}, 95 % interval {share(shift['low'])} to "
            f"{share(shift['high'])}, from {clean(shift['from'])}."
            + ("" if alike else " An attack that does no better has shown nothing.")
        )
    reasons: dict[str, list[str]] = {}
    for each in signals["left_out"]:
        name, _, reason = clean(each).partition(": ")
        reasons.setdefault(reason, []).append(name)
    found += [f"Left out: {', '.join(names)}: {why}." for why, names in reasons.items()]
    return found


def _done(record: Raw, fine: Sequence[SubjectView]) -> str:
    run = record["run"]
    attacks = {
        each["attack"] for subject in fine for look in subject.looks for each in look.outcomes
    }
    data = clean(run["data"].get("name", "the data"))
    if "service" in run:
        return (
            f"The service was opened on {count(run['records'])} records of {data}, probed for "
            "defects, and queried repeatedly."
        )
    if "signals" in run:
        return (
            f"{plural(run['targets'], 'model')}, already trained, "
            f"{'was' if run['targets'] == 1 else 'were'} attacked by what "
            f"{'it' if run['targets'] == 1 else 'they'} showed at {count(run['records'])} records "
            f"({clean(run['signals']['kind'])}), after "
            f"{plural(run['references'], 'reference model')}."
        )
    return (
        f"The {count(run['records'])} records of {data} were paired, and for each model a fair "
        "coin chose which record of each pair was in its training set. The attacker trained "
        f"{count(run['references'])} reference models of the same kind, then queried "
        f"{count(run['targets'])} target models about every record and guessed which records were "
        "in"
        + (f", by {plural(len(attacks), 'attack')}." if attacks else ".")
        + _fresh(fine)
        + _adversary(run)
    )


def _fresh(fine: Sequence[SubjectView]) -> str:
    """Say how many fresh answers were guessed from; empty where none were."""
    found = {look.fresh for subject in fine for look in subject.looks if look.fresh}
    if not found:
        return ""
    least, most = count(min(found)), count(max(found))
    many = most if least == most else f"{least} to {most}"
    return (
        f" At the records that have a bound of their own it guessed {many} times more, "
        f"from {FRESH}."
    )


def _adversary(run: Raw) -> str:
    """Say what was planted, poisoned, chosen or guessed instead of membership, if anything."""
    texts = []
    if run["attribute"] is not None:
        texts.append(
            f"The two records of a pair differ in {clean(run['attribute'])} alone. The attacker "
            "guesses which of its two values the training record has; 'member' means the record "
            "with that value."
        )
    if run["canaries"]:
        texts.append(
            f"{plural(len(run['canaries']), 'record')} were replaced by canaries, with random "
            f"{clean(run['planted'])}."
        )
    if run["poisoned"]:
        texts.append(
            f"The adversary put {plural(run['background'], 'poisoned record')} into every "
            f"training set, around {count(len(run['poisoned']))} of the records."
            + (BALANCED if run.get("poison_labels") == "balanced" else "")
        )
    if run["adversary"].endswith("miaq"):
        texts.append(
            "For each record it queried a point chosen on the reference models, not the record "
            "itself."
        )
    return "".join(f" {text}" for text in texts)


def _reached(fine: Sequence[SubjectView]) -> str:
    """Tell who wins, against what nothing is promised of and against what is claimed."""
    texts = [
        _best(subject, "Against") + _paired_words(subject)
        for subject in fine
        if subject.epsilon is None
    ]
    claimed = [subject for subject in fine if subject.epsilon is not None]
    if claimed:
        top = max(claimed, key=lambda subject: float(subject.best.best["auc"]))
        lead = "Highest AUC among mechanisms with a claim:" if len(claimed) > 1 else "With a claim:"
        texts.append(_best(top, lead))
        small = [subject for subject in claimed if (subject.epsilon or 0.0) <= 1]
        if small and top not in small:
            texts.append(
                _best(
                    max(small, key=lambda subject: float(subject.best.best["auc"])),
                    "Highest AUC at ε ≤ 1:",
                )
            )
    return " ".join(texts)


def _best(subject: SubjectView, lead: str) -> str:
    look, best = subject.best, subject.best.best
    said = f"{lead} {subject.name}"
    said += ", the best attack is" if lead == "Against" else ": "
    low, high = share(best["auc_low"]), share(best["auc_high"])
    said = (
        f"{said.rstrip()} {clean(best['attack'])} on {look.name}, with AUC {share(best['auc'])} "
        f"(95 % interval {low} to {high}"
        + (f"; if nothing leaked, up to {subject.chance})" if subject.chance else ")")
    )
    simple = look.of(BASELINE)
    if subject.epsilon is None and simple is not None and simple is not best:
        said += f", where the loss threshold has {share(simple['auc'])}"
    found = best["operating"][0]
    if found is not None:
        said += (
            f"; it identifies {plain(round(100 * found['tpr'], 1))} % of the members at a false "
            "positive rate of "
        )
        said += f"{plain(round(100 * found['fpr'], 2))} %"
    return f"{said}."


def _paired_words(subject: SubjectView) -> str:
    """Say how LiRA beats the loss threshold in the best view, or the first that compares."""
    for look in (subject.best, *subject.looks):
        one, other = look.of(LIRA), look.of(BASELINE)
        found = None if one is None or other is None else paired(one, other)
        if found is not None and one is not None and other is not None:
            return f" {comparison_words(found.difference, found.low, found.high, look.name)}"
    return ""


def comparison_words(difference: float, low: float, high: float, view: str) -> str:
    """Say what a paired comparison found."""
    better = (
        "finds more members than"
        if low > 0
        else "finds fewer members than"
        if high < 0
        else "is not distinguishable from"
    )
    gap = (
        f"{100 * difference:+.1f} points, paired 95 % interval {100 * low:+.1f} to "
        f"{100 * high:+.1f}"
    )
    return (
        f"On {view}, at FPR 1 %, ties broken by a coin, LiRA {better} the loss threshold: {gap} "
        "(an estimate)."
    )


def _unexamined(record: Raw) -> str:
    """Say why a service's claim was not examined; empty where it was."""
    if UNEXAMINED not in told_of_claims(record).values():
        return ""
    return (
        f"The claim was not examined: {', and '.join(blind_to(record))}. No observed answer broke "
        "it."
    )


def _ladders(found: Sequence[TranscriptTests]) -> str:
    """Tell where repeated answers break a claim, where they could have, and the remarks."""
    texts = []
    held, blind = ([each for each in found if each.word == word] for word in (HELD, UNSEEN))
    if held:
        texts.append(
            "Repeated answers to one query on worst pairs did not break "
            f"{claims_of([each.name for each in held])} that they could have broken, for some "
            "number of answers; the table of repeated queries shows the leak that this would "
            "have taken."
        )
    if blind:
        names = ", ".join(each.name for each in blind)
        texts.append(
            f"Repeated answers could not have broken {claims_of([each.name for each in blind])}: "
            f"{names}."
        )
    for ladder in found:
        worst = next((rung for rung in ladder.rungs if rung.broken), None)
        if worst is not None:
            least, claimed = plain(worst.lower or 0.0), plain(worst.claimed or 0.0)
            lost = f"at m = {worst.m} the loss is at least {least}; the claim is {claimed}"
            texts.append(f"Repeated answers of {ladder.name} break its claim: {lost}.")
        if ladder.why:
            texts.append(f"{ladder.name}: {ladder.why.rstrip('.')}.")
    return " ".join(texts)


def _defects(record: Raw) -> str:
    found = record["defects"]
    return (
        ""
        if not found
        else f"{plural(len(found), 'defect')} found in the attacked code; see 'Defects'."
    )


def defect_words(defect: Raw) -> str:
    """Write what a defect is, what was seen, how likely chance is, and how to see it again."""
    known = ("subject", "name", "words", "why", "seen")
    said = ": ".join(
        clean(defect[key]).rstrip(".") for key in known if isinstance(defect.get(key), str)
    )
    texts = [said or "a defect"]
    if isinstance(defect.get("probability"), int | float):
        likely = (
            f"with probability at most {plain(defect['probability'])}"
            if defect["probability"]
            else "never"
        )
        texts.append(f"A correct interface shows this {likely}")
    if isinstance(defect.get("again"), str):
        texts.append(f"To reproduce it: {clean(defect['again']).rstrip('.')}")
    return ". ".join(texts) + "."
