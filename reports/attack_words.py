"""What the reports of `dpassay attack` say in sentences: what was done, what came of it, what it does not mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.attack_record import broken
from dpassay.documents import percent
from dpassay.reports.attack_view import BASELINE, FAILED, LIRA, Look, SubjectView, pair, share, sound
from dpassay.reports.ladders import Ladder, ladders
from dpassay.reports.numbers import clean, count, plain, plural
from dpassay.reports.paired import paired

Raw = Mapping[str, Any]

CAVEAT = "These attacks are averages over records, and other attacks may do better."
CAVEAT_DETAIL = (
    "An average understates the worst case: one record may lose far more than the curve of all shows. The audit, 'dpassay run', "
    "says what leaks there. AUC, rates and advantages are estimates; the best of many attacks looks better than it is, by "
    "chance. Only bounds that name their confidence are certified."
)


def headline(record: Raw, subjects: Sequence[SubjectView]) -> str:
    """Say in one line what came out."""
    run = record["run"]
    fine = sound(subjects)
    if "service" in run:
        broken_ones = sum(ladder.broken for ladder in ladders(record["repeated"]))
        told_of = f", {plural(broken_ones, 'claim')} BROKEN by repeated answers" if broken_ones else ""
        return f"Attacks on {clean(run['service'])}: {plural(len(record['defects']), 'defect')} found{told_of}"
    if not subjects:
        return "Nothing was attacked" + ("" if run["complete"] else ": interrupted")
    wrong = [subject for subject in fine if any(broken(subject.raw))]
    claimed = [subject for subject in fine if subject.epsilon is not None]
    failed = len(subjects) - len(fine)
    told = (
        f"{len(wrong)} of {plural(len(claimed), 'claim')} BROKEN" if wrong else f"none of {plural(len(claimed), 'claim')} broken"
    )
    repeated = sum(ladder.broken for ladder in ladders(record["repeated"]))
    defects = [f"{plural(len(record['defects']), 'defect')} found"] if record["defects"] else []
    parts = [told if claimed else "nothing was claimed" if fine else "nothing was found out"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{plural(repeated, 'claim')} BROKEN by repeated answers"] if repeated else []
    parts += defects
    parts += [] if run["complete"] else ["interrupted"]
    return f"Attacks on {plural(len(subjects), 'subject')}: {', '.join(parts)}"


def opening(record: Raw, subjects: Sequence[SubjectView]) -> tuple[str, ...]:
    """Say in plain words what was done and what came of it."""
    fine = sound(subjects)
    return tuple(
        text
        for text in (
            _done(record, fine),
            _reached(fine),
            _claims(record["run"], fine),
            _ladders(ladders(record["repeated"])),
            _defects(record),
        )
        if text
    )


def notes(record: Raw, subjects: Sequence[SubjectView]) -> tuple[str, ...]:
    """Say what the reader must know before believing a number."""
    run, found = record["run"], []
    if not run["complete"]:
        found.append("Interrupted: the subjects that were not done are missing.")
    found += [f"Not looked at: {each}." for each in run.get("probe", {}).get("untold", ())]
    found += [f"{subject.name}: {subject.status.word}: {subject.error}" for subject in subjects if subject.status is FAILED]
    non_members = run.get("targets", 0) * (run["records"] // 2)
    for rate in (0.01, 0.001):
        if subjects and non_members * rate < 10 * (1 - 1e-12):
            needed = f"fewer than the {count(round(10 / rate))} that a rate needs"
            found.append(f"No rates at FPR {percent(rate)}: {count(non_members)} answers about non-members are {needed}.")
            break
    return tuple(found)


def _done(record: Raw, fine: Sequence[SubjectView]) -> str:
    run = record["run"]
    attacks = {each["attack"] for subject in fine for look in subject.looks for each in look.outcomes}
    data = clean(run["data"].get("name", "the data"))
    if "service" in run:
        return (
            f"The service was opened on {count(run['records'])} records of {data}, probed for defects, and asked again and again."
        )
    return (
        f"A fair coin for each pair of the {count(run['records'])} records of {data} said which of the two a model was trained "
        f"on. The attacker trained {count(run['references'])} reference models of the same kind, then asked "
        f"{count(run['targets'])} target models about every record and guessed who was in"
        + (f", by {plural(len(attacks), 'attack')}." if attacks else ".")
        + _adversary(run)
    )


def _adversary(run: Raw) -> str:
    """Say what was planted, poisoned, chosen or guessed instead of membership; empty where nothing was."""
    texts = []
    if run["attribute"] is not None:
        texts.append(
            f"The two of a pair differ in {clean(run['attribute'])} alone: what is guessed is which of two values of it the "
            "training record has, and 'member' means that value."
        )
    if run["canaries"]:
        texts.append(f"{plural(len(run['canaries']), 'record')} were replaced by canaries, with random {clean(run['planted'])}.")
    if run["poisoned"]:
        texts.append(
            f"The adversary put {plural(run['background'], 'poisoned record')} into every training set, around "
            f"{count(len(run['poisoned']))} of the records."
        )
    if run["adversary"].endswith("miaq"):
        texts.append("It asked about each record at a point chosen on reference models, not at the record itself.")
    return "".join(f" {text}" for text in texts)


def _reached(fine: Sequence[SubjectView]) -> str:
    """Tell who wins, against what nothing is promised of and against what is claimed."""
    texts = [_best(subject, "Against") + _paired_words(subject) for subject in fine if subject.epsilon is None]
    claimed = [subject for subject in fine if subject.epsilon is not None]
    if claimed:
        top = max(claimed, key=lambda subject: float(subject.best.best["auc"]))
        lead = "Of all that make a claim" if len(claimed) > 1 else "Of what makes a claim"
        texts.append(_best(top, f"{lead}, the most was got out of"))
        small = [subject for subject in claimed if (subject.epsilon or 0.0) <= 1]
        if small and top not in small:
            texts.append(_best(max(small, key=lambda subject: float(subject.best.best["auc"])), "At ε ≤ 1, out of"))
    return " ".join(texts)


def _best(subject: SubjectView, lead: str) -> str:
    look, best = subject.best, subject.best.best
    said = f"{lead} {subject.name}"
    said += ", the best attack is" if lead == "Against" else ": "
    low, high = share(best["auc_low"]), share(best["auc_high"])
    said = (
        f"{said.rstrip()} {clean(best['attack'])} on {look.name}, with AUC {share(best['auc'])} (95 % interval {low} to {high})"
    )
    simple = look.of(BASELINE)
    if subject.epsilon is None and simple is not None and simple is not best:
        said += f", where the loss threshold has {share(simple['auc'])}"
    found = best["operating"][0]
    if found is not None:
        said += f"; it names {plain(round(100 * found['tpr'], 1))} % of the members while it accuses "
        said += f"{plain(round(100 * found['fpr'], 2))} % of the others"
    return f"{said}."


def _paired_words(subject: SubjectView) -> str:
    """Say by how much LiRA beats the loss threshold in the subject's best view, or in the first that can be compared."""
    for look in (subject.best, *subject.looks):
        one, other = look.of(LIRA), look.of(BASELINE)
        found = None if one is None or other is None else paired(one, other)
        if found is not None and one is not None and other is not None:
            return f" {comparison_words(found.difference, found.low, found.high, look.name)}"
    return ""


def comparison_words(difference: float, low: float, high: float, view: str) -> str:
    """Say what a paired comparison found."""
    better = "finds more members than" if low > 0 else "finds fewer members than" if high < 0 else "cannot be told apart from"
    gap = f"{100 * difference:+.1f} points, paired 95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    return f"On {view}, at FPR 1 %, ties broken by a coin, LiRA {better} the loss threshold: {gap} (an estimate)."


def _claims(run: Raw, fine: Sequence[SubjectView]) -> str:
    claimed = [(subject, look) for subject in fine for look in subject.looks if look.allowed is not None]
    if not claimed:
        return ""
    wrong = [(subject, each) for subject in fine for each in broken(subject.raw)]
    sure = f"at confidence {percent(run['confidence'])} for all of them together"
    if wrong:
        subject, bound = max(wrong, key=lambda found: float(found[1]["lower"]))
        look = next(look for look in subject.looks if bound in look.bounds)
        names = ", ".join(dict.fromkeys(found.name for found, _ in wrong))
        return (
            f"Claims are broken, certified {sure}: {names}. The most: record {bound['record']} loses at least "
            f"{plain(float(bound['lower']))} on {look.name} of {subject.name}, where the claim allows {pair(look.allowed)}."
        )
    if all(look.lower is None for _, look in claimed):
        return "No claim could be held against a certified bound."
    hard = [(subject, subject.hardest) for subject in fine if subject.epsilon is not None]
    subject, look = max(hard, key=_closeness)
    lost = plain(look.lower or 0.0)
    most = f"it is closest on {look.name} of {subject.name}: at least {lost}, where {pair(look.allowed)} is allowed"
    close = most if look.lower else "no bound is above 0"
    none = f"no certified lower bound, {sure}, exceeds what the claim allows the answers together"
    return f"No claim was broken here: {none}; {close}."


def _closeness(found: tuple[SubjectView, Look]) -> float:
    look = found[1]
    return (look.lower or 0.0) / max(look.allowed[0], 1e-300) if look.allowed is not None else 0.0


def _ladders(found: Sequence[Ladder]) -> str:
    """Tell where repeated answers break a claim, and what the attack remarks about them."""
    texts = []
    for ladder in found:
        worst = next((rung for rung in ladder.rungs if rung.broken), None)
        if worst is not None:
            lost = f"at m = {worst.m} at least {plain(worst.lower or 0.0)} is lost where {plain(worst.claimed or 0.0)} is claimed"
            texts.append(f"Repeated answers of {ladder.name} break its claim: {lost}.")
        if ladder.why:
            texts.append(f"{ladder.name}: {ladder.why.rstrip('.')}.")
    return " ".join(texts)


def _defects(record: Raw) -> str:
    found = record["defects"]
    return "" if not found else f"{plural(len(found), 'defect')} found of what was attacked, see 'Defects'."


def defect_words(defect: Raw) -> str:
    """Write a defect as text: what it is, what was seen, how likely chance is, how to see it again."""
    known = ("subject", "name", "words", "why", "seen")
    said = ": ".join(clean(defect[key]).rstrip(".") for key in known if isinstance(defect.get(key), str))
    texts = [said or "a defect"]
    if isinstance(defect.get("probability"), int | float):
        likely = f"with probability at most {plain(defect['probability'])}" if defect["probability"] else "never"
        texts.append(f"A correct interface shows this {likely}")
    if isinstance(defect.get("again"), str):
        texts.append(f"To see it again: {clean(defect['again']).rstrip('.')}")
    return ". ".join(texts) + "."
