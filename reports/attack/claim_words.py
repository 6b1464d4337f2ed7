"""What guesses at membership said about claims, in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dpassay.numerics import percent
from dpassay.record.attack_record import broken, renyi_name
from dpassay.reports.attack.tables import certified_words, detected, nats
from dpassay.reports.attack.view import BLIND, INSIDE, SubjectView, ViewOutcome, pair
from dpassay.reports.shared.numbers import count, plain, plural, value

Raw = Mapping[str, Any]


def claims_words(run: Raw, fine: Sequence[SubjectView]) -> str:
    """Describe what guesses certified against the claims, and what they could not have."""
    claimed = [
        (subject, look) for subject in fine for look in subject.looks if look.allowed is not None
    ]
    if not claimed:
        return ""
    if all(look.lower is None for _, look in claimed):
        return "No certified bound was available to test a claim."
    texts = [*_broken(run, fine)]
    able = [(subject, look) for subject, look in claimed if look.status is INSIDE]
    if able:
        number, seen = (
            claims_of({each.name for each, _ in able}),
            _needed([look for _, look in able]),
        )
        texts.append(
            f"Guesses at {count(run['targets'])} targets{_more(able)} could have broken {number}. "
            "If they "
            "reveal the whole leak of a record that the reference models single out, breaking a "
            f"claim with probability 0.9 takes {seen}; smaller leaks may exist."
        )
    blind = [subject for subject in fine if subject.status is BLIND]
    if blind:
        texts.append(
            f"They could not have broken {claims_of({each.name for each in blind})}, since "
            f"{count(_guesses(run, blind))} correct guesses certify no more than {_caps(blind)}: "
            f"{', '.join(each.name for each in blind)}."
        )
    return " ".join(texts)


def _more(able: Sequence[tuple[SubjectView, ViewOutcome]]) -> str:
    """Name the guesses that are not at targets; empty where there are none."""
    return " and from fresh answers" if any(look.fresh for _, look in able) else ""


def _guesses(run: Raw, blind: Sequence[SubjectView]) -> int:
    """Return how many guesses at a record there are at most."""
    found = (look.guesses for subject in blind for look in subject.looks)
    return max((int(run["targets"]), *found))


def claims_of(names: Collection[str]) -> str:
    """Write how many claims there are."""
    return plural(len(names), "claim")


def _broken(run: Raw, fine: Sequence[SubjectView]) -> Sequence[str]:
    """Say which claims are broken, and where most is certified."""
    wrong = [(subject, each) for subject in fine for each in broken(subject.raw)]
    sure = f"at a simultaneous confidence of {percent(run['confidence'])}"
    if not wrong:
        none = f"No certified lower bound on the loss of a record, {sure}, exceeds what a claim"
        return (f"{none} allows.",)
    subject, bound = max(wrong, key=lambda found: float(found[1]["lower"]))
    look = next(look for look in subject.looks if bound in look.bounds)
    names = ", ".join(dict.fromkeys(found.name for found, _ in wrong))
    most = f"The most: record {bound['record']}"
    return (
        f"Claims are broken, certified {sure}: {names}.",
        f"{most} loses at least {plain(float(bound['lower']))} on {look.name} of {subject.name}, "
        f"where the claim allows {pair(look.allowed)}."
        if "renyi" not in bound
        else f"{most} has, on {look.name} of {subject.name}, {certified_words(bound['renyi'])}.",
    )


def _caps(blind: Sequence[SubjectView]) -> str:
    """Tell the most that could have been certified; of Rényi losses as well where claimed."""
    looks = [look for subject in blind for look in subject.looks]
    bounds = [look.renyi_bound for look in looks]
    renyi = (
        f"{renyi_name(each['renyi'])} {nats(value(each['renyi']['cap']))}"
        for each in bounds
        if each is not None
    )
    return ", ".join(dict.fromkeys((nats(max(look.cap or 0.0 for look in looks)), *renyi)))


def _needed(looks: Sequence[ViewOutcome]) -> str:
    """Return the leaks, each enough for all its views, that would be seen at each allowed loss."""
    most: dict[tuple[str, float], float] = {}
    for look in looks:
        scale, allowed, leak = _held(look)
        known = most.get((scale, allowed), 0.0)
        most[scale, allowed] = max(known, math.inf if leak is None else leak)
    told = [
        f"a leak of {detected(leak)} where {scale} = {plain(allowed)} is allowed"
        for (scale, allowed), leak in sorted(most.items())
    ]
    return ", ".join(told)


def _held(look: ViewOutcome) -> tuple[str, float, float | None]:
    """Return what is allowed on the claim's scale, and the smallest leak to be seen there."""
    if look.renyi_bound is None:
        return "ε", look.allowed[0] if look.allowed else 0.0, look.detectable
    found = look.renyi_bound["renyi"]
    return renyi_name(found), float(found["allowed"]), value(found["detectable"])
