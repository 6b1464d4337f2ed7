"""What the record of `dpassay attack` says of its claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BROKEN, HELD, UNSEEN = "broken", "not broken", "could not have seen it"
"""What is said of a claim. The last: the certified number could not have exceeded it, however much
leaks; its cap is too low."""
UNEXAMINED = "not examined"
"""What is said of a service's claim that is not broken where one of `UNLOOKED` could not be looked
at."""
UNLOOKED = {
    "control": "no change of its answers was seen when its data changed",
    "coins": "the randomness of its answers could not be examined",
    "live": "its data are fixed, so that no change of its answers could be seen",
}
"""Why nothing is known of a service, by what of it could not be looked at; see
`dpassay.attacks.services.defects.Probe`."""
VERDICTS = {BROKEN: "refuted", HELD: "not refuted", None: "not refuted"}
"""By what is said of a claim, None where nothing is claimed; everything else is inconclusive."""


def broken(subject: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield certified bounds above the composed claim of their view, in nats or as Rényi losses."""
    yield from (bound for bound, allowed in _held(subject) if exceeds(bound, allowed))


def exceeds(bound: Mapping[str, Any], allowed: float) -> bool:
    """Return whether a certified number, or its Rényi loss, is above what is allowed."""
    renyi = bound.get("renyi")
    return float(bound["lower"]) > allowed or (
        renyi is not None and float(renyi["lower"]) > float(renyi["allowed"])
    )


def could_see(bound: Mapping[str, Any], allowed: float) -> bool:
    """Return whether a certified number, or its Rényi loss, could have exceeded the claim.

    It is false where nothing is recorded of its cap.
    """
    renyi = bound.get("renyi")
    return float(bound.get("cap", 0.0)) > allowed or (
        renyi is not None and float(renyi["cap"]) > float(renyi["allowed"])
    )


def renyi_name(renyi: Mapping[str, Any]) -> str:
    """Return which loss the Rényi number of a certified bound is, in words."""
    return "ρ" if renyi["order"] is None else f"Rényi loss of order {renyi['order']:g}"


def _held(subject: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float]]:
    """Yield bounds of a subject with what they are held against."""
    if subject["error"] is None and subject["claim"] is not None:
        allowed = {each["view"]["name"]: each["allowed"] for each in subject["outcomes"]}
        for bound in subject["certified"]:
            yield bound, float(allowed[bound["view"]]["epsilon"])


def rungs_of(repeated: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the rungs of an entry of `repeated`, which may be one rung itself."""
    found: Sequence[Mapping[str, Any]] = repeated.get(
        "rungs", [repeated] if "m" in repeated else []
    )
    return found


def outspent(repeated: Mapping[str, Any]) -> bool:
    """Return whether some number of repeated answers certainly loses more than is allowed."""
    return any(rung.get("broken", False) for rung in rungs_of(repeated))


def blind_to(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return why nothing is known of a service's claim unless it is broken.

    It is empty where the claim can be judged.
    """
    found: Sequence[str] = record["run"].get("probe", {}).get("blind", ())
    return tuple(UNLOOKED[each] for each in found)


def told_of_repeated(repeated: Mapping[str, Any]) -> str:
    """Return what became of a claim under repeated answers: broken, not broken, or unseen."""
    seen = any(
        could_see(rung, float(rung.get("basic", rung.get("epsilon_claimed", "inf"))))
        for rung in rungs_of(repeated)
    )
    return BROKEN if outspent(repeated) else HELD if seen else UNSEEN


def told_of_claims(record: Mapping[str, Any]) -> dict[str, str]:
    """Say what became of each claim, by the name of its subject.

    It is 'not broken' only if the guesses at membership could have broken it; that repeated answers
    could is told with them. A service is not examined, unless broken, where `blind_to` says why.
    """
    repeated = record["repeated"]
    if "service" in record["run"]:
        told = {told_of_repeated(each) for each in repeated}
        if blind_to(record):
            told = {word if word == BROKEN else UNEXAMINED for word in told}
        words = (BROKEN, HELD, UNSEEN, UNEXAMINED)
        return (
            {record["run"]["service"]: next(each for each in words if each in told)} if told else {}
        )
    wrong = {each["name"] for each in repeated if outspent(each)}
    found = {}
    for subject in record["subjects"]:
        if subject["claim"] is not None and (subject["error"] is None or subject["name"] in wrong):
            bad = subject["name"] in wrong or any(broken(subject))
            seen = any(could_see(bound, allowed) for bound, allowed in _held(subject))
            found[subject["name"]] = BROKEN if bad else HELD if seen else UNSEEN
    return found | dict.fromkeys(wrong, BROKEN)


def names_of_attacks(record: Mapping[str, Any]) -> list[str]:
    """Return the names of subjects and repeated answers; where there are none, of the service."""
    names = dict.fromkeys(each["name"] for each in (*record["subjects"], *record["repeated"]))
    return [*names] or [each for key, each in record["run"].items() if key == "service"]


def entries_of_attacks(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a record says of each subject, or of its service, in the terms of every record.

    `told` is what became of the claim, None where nothing is claimed; `subject` holds the guesses
    and `repeated` the repeated answers, None where there are none; `failed` is why one of them
    could not be made.
    """
    told = told_of_claims(record)
    subjects, repeated = (
        {each["name"]: each for each in record[name]} for name in ("subjects", "repeated")
    )
    found = []
    for name in names_of_attacks(record):
        parts = {"subject": subjects.get(name), "repeated": repeated.get(name)}
        errors = (each["error"] for each in parts.values() if each and each.get("error"))
        word, failed = told.get(name, told.get(record["run"].get("service"))), next(errors, "")
        verdict = VERDICTS.get(word, "inconclusive")
        verdict = "error" if failed and verdict != "refuted" else verdict
        facts = {"id": name, "told": word, "failed": failed, "reason": failed or word or ""}
        facts |= {"verdict": verdict, "expected": None}
        found.append(facts | parts)
    return found
