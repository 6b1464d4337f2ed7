"""What the reports of `dpassay attack` say: what was done, what came of it, what it means not."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from dpassay.numerics import percent
from dpassay.record.attack_record import (
    BROKEN,
    HELD,
    UNEXAMINED,
    UNSEEN,
    blind_to,
    broken,
    renyi_name,
    told_of_claims,
)
from dpassay.reports.attack.paired import paired
from dpassay.reports.attack.tables import FRESH, certified_words, detected, nats
from dpassay.reports.attack.view import (
    BASELINE,
    BLIND,
    FAILED,
    INSIDE,
    LIRA,
    SubjectView,
    ViewOutcome,
    ladders,
    pair,
    share,
    sound,
)
from dpassay.reports.run.words import ended
from dpassay.reports.shared.numbers import clean, count, plain, plural, value

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
    run, defects, told = record["run"], record["defects"], list(told_of_claims(record).values())
    failed, probe = len(subjects) - len(sound(subjects)), run.get("probe", {})
    found = []
    if told:
        # what could not have been seen is never counted as 'not broken'
        wrong, seen, unseen, not_looked = map(told.count, (BROKEN, HELD, UNSEEN, UNEXAMINED))
        parts = [f"{wrong} BROKEN" if wrong else "0 broken"]
        parts += [f"{seen} not broken (could have seen it)", f"{unseen} could not have been seen"]
        parts += [f"{not_looked} not examined"] if not_looked else []
        found.append(f"{plural(len(told), 'claim')}, {', '.join(parts)}")
    elif subjects:
        found.append("nothing was claimed" if sound(subjects) else "no attack gave a result")
    found += [f"{failed} failed"] if failed else []
    if "service" in run:
        where = "" if defects or not probe.get("untold") else " in what was examined"
        found.insert(0, f"{plural(len(defects), 'defect')} found{where}")
        found += ["not everything could be examined"] if probe.get("blind") else []
        return f"Attacks on {clean(run['service'])}: {', '.join(found)}"
    if not subjects:
        return "Nothing was attacked" + ("" if run["complete"] else ": interrupted")
    found += [f"{plural(len(defects), 'defect')} found"] if defects else []
    found += [] if run["complete"] else ["interrupted"]
    return f"Attacks on {plural(len(subjects), 'subject')}: {', '.join(found)}"


def opening(record: Raw, subjects: Sequence[SubjectView]) -> tuple[str, ...]:
    """Say in plain words what was done and what came of it."""
    fine, unexamined, defects = sound(subjects), "", ""
    if UNEXAMINED in told_of_claims(record).values():
        why = ", and ".join(blind_to(record))
        unexamined = f"The claim was not examined: {why}. No observed answer broke it."
    if record["defects"]:
        number = plural(len(record["defects"]), "defect")
        defects = f"{number} found in the attacked code; see 'Defects'."
    parts = (
        _done(record, fine),
        " ".join(_reached(fine)),
        _claims(record["run"], fine),
        unexamined,
        " ".join(_repeated(record)),
        defects,
    )
    return tuple(filter(None, parts))


def notes(record: Raw, subjects: Sequence[SubjectView]) -> tuple[str, ...]:
    """Say what the reader must know before believing a number."""
    run, probe = record["run"], record["run"].get("probe", {})
    said = ended(run, "subjects")
    found = [said] if said else []
    found += [f"Not examined: {each}." for each in probe.get("untold", ())]
    found += [f"Remark: {clean(each)}." for each in probe.get("remarks", ())]
    found += [
        f"{subject.name}: {subject.status.word}: {subject.error}"
        for subject in subjects
        if subject.status is FAILED
    ]
    found += _of_signals(run["signals"]) if run.get("signals") is not None else []
    non_members = run.get("targets", 0) * (run["records"] // 2)
    few = [rate for rate in (0.01, 0.001) if non_members * rate < 10 * (1 - 1e-12)]
    if subjects and few:
        found.append(
            f"No rates at FPR {percent(few[0])}: {count(non_members)} answers about non-members "
            f"are fewer than the {count(round(10 / few[0]))} that such a rate needs."
        )
    return tuple(found)


def _of_signals(signals: Raw) -> Iterator[str]:
    """Say what numbers about given members mean, whom no coins of ours chose."""
    yield UNDRAWN
    shift = signals["shift"]
    if shift is None:
        yield "Whether they are alike could not be tested: there is nothing to test it on."
    else:
        alike = shift["low"] <= 0.5 <= shift["high"]
        yield (
            f"{'No difference was seen' if alike else 'They differ'} without the attacked models: "
            f"AUC {share(shift['auc'])}, 95 % interval {share(shift['low'])} to "
            f"{share(shift['high'])}, from {clean(shift['from'])}."
            + ("" if alike else " An attack that does no better has shown nothing.")
        )
    reasons: dict[str, list[str]] = {}
    for each in signals["left_out"]:
        name, _, reason = clean(each).partition(": ")
        reasons.setdefault(reason, []).append(name)
    yield from (f"Left out: {', '.join(names)}: {why}." for why, names in reasons.items())


def _done(record: Raw, fine: Sequence[SubjectView]) -> str:
    """Say what was attacked, how, and what was planted, poisoned or chosen for it."""
    run = record["run"]
    data, records = clean(run["data"].get("name", "the data")), count(run["records"])
    if "service" in run:
        return (
            f"The service was opened on {records} records of {data}, probed for defects, and "
            "queried repeatedly."
        )
    if "signals" in run:
        was, it = ("was", "it") if run["targets"] == 1 else ("were", "they")
        return (
            f"{plural(run['targets'], 'model')}, already trained, {was} attacked by what {it} "
            f"showed at {records} records ({clean(run['signals']['kind'])}), after "
            f"{plural(run['references'], 'reference model')}."
        )
    looks = [look for subject in fine for look in subject.looks]
    attacks = {each["attack"] for look in looks for each in look.outcomes}
    texts = [
        f"The {records} records of {data} were paired, and for each model a fair "
        "coin chose which record of each pair was in its training set. The attacker trained "
        f"{count(run['references'])} reference models of the same kind, then queried "
        f"{count(run['targets'])} target models about every record and guessed which records were "
        "in" + (f", by {plural(len(attacks), 'attack')}." if attacks else ".")
    ]
    if fresh := {look.fresh for look in looks if look.fresh}:
        least, most = count(min(fresh)), count(max(fresh))
        texts.append(
            "At the records that have a bound of their own it guessed "
            f"{most if least == most else f'{least} to {most}'} times more, from {FRESH}."
        )
    if run["attribute"] is not None:
        texts.append(
            f"The two records of a pair differ in {clean(run['attribute'])} alone. The attacker "
            "guesses which of its two values the training record has; 'member' means the record "
            "with that value."
        )
    if run["canaries"]:
        number = plural(len(run["canaries"]), "record")
        texts.append(f"{number} were replaced by canaries, with random {clean(run['planted'])}.")
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
    return " ".join(texts)


def _reached(fine: Sequence[SubjectView]) -> Iterator[str]:
    """Tell who wins, against what nothing is promised of and against what is claimed."""

    def success(subject: SubjectView) -> float:
        return float(subject.best.best["auc"])

    for subject in fine:
        if subject.epsilon is None:
            yield _best(subject, f"Against {subject.name}, the best attack is")
            yield from _compared(subject)
    claimed = [subject for subject in fine if subject.epsilon is not None]
    if claimed:
        top = max(claimed, key=success)
        lead = "Highest AUC among mechanisms with a claim:" if len(claimed) > 1 else "With a claim:"
        yield _best(top, f"{lead} {top.name}:")
        small = [subject for subject in claimed if (subject.epsilon or 0.0) <= 1]
        if small and top not in small:
            best = max(small, key=success)
            yield _best(best, f"Highest AUC at ε ≤ 1: {best.name}:")


def _best(subject: SubjectView, lead: str) -> str:
    """Say what the best attack on a subject reached."""
    look, best = subject.best, subject.best.best
    low, high = share(best["auc_low"]), share(best["auc_high"])
    said = (
        f"{lead} {clean(best['attack'])} on {look.name}, with AUC {share(best['auc'])} "
        f"(95 % interval {low} to {high}"
        + (f"; if nothing leaked, up to {subject.chance})" if subject.chance else ")")
    )
    simple, found = look.of(BASELINE), best["operating"][0]
    if subject.epsilon is None and simple is not None and simple is not best:
        said += f", where the loss threshold has {share(simple['auc'])}"
    if found is not None:
        said += (
            f"; it identifies {plain(round(100 * found['tpr'], 1))} % of the members at a false "
            f"positive rate of {plain(round(100 * found['fpr'], 2))} %"
        )
    return f"{said}."


def _compared(subject: SubjectView) -> Iterator[str]:
    """Say how LiRA beats the loss threshold in the best view, or the first that compares."""
    for look in (subject.best, *subject.looks):
        one, other = look.of(LIRA), look.of(BASELINE)
        found = None if one is None or other is None else paired(one, other)
        if found is not None:
            more, fewer = "finds more members than", "finds fewer members than"
            unlike = more if found.low > 0 else fewer if found.high < 0 else ""
            yield (
                f"On {look.name}, at FPR 1 %, ties broken by a coin, LiRA "
                f"{unlike or 'is not distinguishable from'} the loss threshold: "
                f"{100 * found.difference:+.1f} points, paired 95 % interval "
                f"{100 * found.low:+.1f} to {100 * found.high:+.1f} (an estimate)."
            )
            return


def _claims(run: Raw, fine: Sequence[SubjectView]) -> str:
    """Say what guesses certified against the claims, and what they could not have."""
    claimed = [look for subject in fine for look in subject.looks if look.allowed is not None]
    if not claimed:
        return ""
    if all(look.lower is None for look in claimed):
        return "No certified bound was available to test a claim."
    texts = [*_broken(run, fine)]
    able = {
        subject.name for subject in fine if any(look.status is INSIDE for look in subject.looks)
    }
    looks = [look for look in claimed if look.status is INSIDE]
    if looks:
        fresh = " and from fresh answers" if any(look.fresh for look in looks) else ""
        texts.append(
            f"Guesses at {count(run['targets'])} targets{fresh} could have broken "
            f"{_claims_of(able)}. If they "
            "reveal the whole leak of a record that the reference models single out, breaking a "
            f"claim with probability 0.9 takes {_needed(looks)}; smaller leaks may exist."
        )
    blind = [subject for subject in fine if subject.status is BLIND]
    if blind:
        looks = [look for subject in blind for look in subject.looks]
        most = max([int(run["targets"]), *(look.guesses for look in looks)])
        caps = [nats(max(look.cap or 0.0 for look in looks))]
        for look in looks:
            if look.renyi_bound is not None:
                renyi = look.renyi_bound["renyi"]
                caps.append(f"{renyi_name(renyi)} {nats(value(renyi['cap']))}")
        texts.append(
            f"They could not have broken {_claims_of({each.name for each in blind})}, since "
            f"{count(most)} correct guesses certify no more than {', '.join(dict.fromkeys(caps))}: "
            f"{', '.join(each.name for each in blind)}."
        )
    return " ".join(texts)


def _claims_of(names: Collection[str]) -> str:
    return plural(len(names), "claim")


def _broken(run: Raw, fine: Sequence[SubjectView]) -> Iterator[str]:
    """Say which claims are broken, and where most is certified."""
    wrong = [(subject, each) for subject in fine for each in broken(subject.raw)]
    sure = f"at a simultaneous confidence of {percent(run['confidence'])}"
    if not wrong:
        yield (
            f"No certified lower bound on the loss of a record, {sure}, exceeds what a claim "
            "allows."
        )
        return
    subject, bound = max(wrong, key=lambda each: float(each[1]["lower"]))
    look = next(look for look in subject.looks if bound in look.bounds)
    names = ", ".join(dict.fromkeys(each.name for each, _ in wrong))
    yield f"Claims are broken, certified {sure}: {names}."
    where = f"on {look.name} of {subject.name}"
    if "renyi" in bound:
        loss = certified_words(bound["renyi"])
        yield f"The most: record {bound['record']} has, {where}, {loss}."
    else:
        yield (
            f"The most: record {bound['record']} loses at least {plain(float(bound['lower']))} "
            f"{where}, where the claim allows {pair(look.allowed)}."
        )


def _needed(looks: Sequence[ViewOutcome]) -> str:
    """Return the leaks, each enough for all its views, that would be seen at each allowed loss."""
    most: dict[tuple[str, float], float] = {}
    for look in looks:
        scale, leak, (allowed, _) = "ε", look.detectable, look.allowed or (0.0, 0.0)
        if look.renyi_bound is not None:
            renyi = look.renyi_bound["renyi"]
            scale, leak = renyi_name(renyi), value(renyi["detectable"])
            allowed = float(renyi["allowed"])
        known = most.get((scale, allowed), 0.0)
        most[scale, allowed] = max(known, math.inf if leak is None else leak)
    return ", ".join(
        f"a leak of {detected(leak)} where {scale} = {plain(allowed)} is allowed"
        for (scale, allowed), leak in sorted(most.items())
    )


def _repeated(record: Raw) -> Iterator[str]:
    """Tell where repeated answers break a claim, where they could have, and the remarks."""
    found = ladders(record["repeated"], blind=bool(blind_to(record)))
    held, blind = ([each.name for each in found if each.word == word] for word in (HELD, UNSEEN))
    if held:
        yield (
            f"Repeated answers to one query on worst pairs did not break {_claims_of(held)} that "
            "they could have broken, for some number of answers; the table of repeated queries "
            "shows the leak that this would have taken."
        )
    if blind:
        names = ", ".join(blind)
        yield f"Repeated answers could not have broken {_claims_of(blind)}: {names}."
    for ladder in found:
        worst = next((rung for rung in ladder.rungs if rung.broken), None)
        if worst is not None:
            least, claimed = plain(worst.lower or 0.0), plain(worst.claimed or 0.0)
            lost = f"at m = {worst.m} the loss is at least {least}; the claim is {claimed}"
            yield f"Repeated answers of {ladder.name} break its claim: {lost}."
        if ladder.why:
            yield f"{ladder.name}: {ladder.why.rstrip('.')}."


def defect_words(defect: Raw) -> str:
    """Write what a defect is, what was seen, how likely chance is, and how to see it again."""
    known = ("subject", "name", "words", "why", "seen")
    told = (clean(defect[key]).rstrip(".") for key in known if isinstance(defect.get(key), str))
    texts, chance = [": ".join(told) or "a defect"], defect.get("probability")
    if isinstance(chance, int | float):
        likely = f"with probability at most {plain(chance)}" if chance else "never"
        texts.append(f"A correct interface shows this {likely}")
    if isinstance(defect.get("again"), str):
        texts.append(f"To reproduce it: {clean(defect['again']).rstrip('.')}")
    return ". ".join(texts) + "."
