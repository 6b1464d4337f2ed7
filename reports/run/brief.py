"""In brief: what a result says in a few words, for first screens, terminals, cards and comments.

Numbers have three significant digits, or as many as tell them from the claim; bounds are rounded
outwards. The record and the rest of a report have them in full.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.numerics import DOWN, NEAREST, UP, told_apart, written
from dpassay.promise import SINGLE
from dpassay.reports.run.bound_parts import below_claim, stopped_early
from dpassay.reports.run.findings import unit_words
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.seen_cell import (
    at_most_words,
    certain,
    lines_of,
    looked_words,
    pair_words,
    replay_command,
    seen_words,
    shown_cell,
    shown_sides,
    sides_of,
    sight_words,
)
from dpassay.reports.run.words import blurred, exceeds, looked_at
from dpassay.reports.shared.numbers import (
    DIGITS,
    INFINITY,
    clean,
    plural,
    promise,
    short_beside,
    short_number,
    value,
)
from dpassay.reports.shared.statuses import (
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    VERIFIED,
    Status,
    status_of,
)

Raw = Mapping[str, Any]
LEAKS, HAS = "leaks", "has"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """One result in a few words."""

    id: str
    name: str
    mechanism: str
    sampled: bool
    status: Status
    claimed: str  # 'ε = 1'
    about: str  # unit of the claim, and what of that was looked at; empty for a single prediction
    found: str  # '≥ 1.89', '= 2', '0.92 to 1.11'; empty for an error
    times: str  # how many times the claim it is for certain; empty where no such factor is known
    certain: str  # how the pair is told apart for certain, which no factor describes
    lines: tuple[str, ...]  # what else was found, and what a reader must know of a search
    above: bool  # whether it is above the claim for certain, though no bound says by how much
    least: float | None  # of leak / claim
    quantity: str
    verb: str  # `HAS` where the claim bounds an error or a share, which is no leak
    exceeds: bool  # whether a dataset that was not audited breaks the claim for certain
    unit: str  # quantities of different units share no axis
    part: str  # what of the release was looked at, 'sign'; empty where that is all of it
    pair: str  # the two datasets, where a search found them
    seen: str  # what changed where, and how a sequential test refuted the claim, if one did
    sides: tuple[tuple[str, float], ...]  # probabilities, or values, on S and on S'
    shown: tuple[str, ...]  # the two sides as written
    sight: str  # '≥ 1.25', or 'any excess' where the leak was computed
    at_most: str
    looked: str
    replay: str  # a command to be run beside the record, or with its folder for REPORT
    reason: str


def briefs(record: Raw) -> tuple[Brief, ...]:
    """Return every result of a record in brief, in the record's order."""
    names = _names(record["results"])
    return tuple(
        _brief(result, name) for result, name in zip(record["results"], names, strict=True)
    )


def lead(record: Raw) -> str:
    """Say in one sentence what was found: which claim is wrong, and by how much."""
    all_of_them = briefs(record)
    if record["run"]["catalogue"]:
        return _of_catalogue(record["results"], all_of_them)
    wrong = [each for each in all_of_them if each.status is REFUTED]
    if len(wrong) == 1:
        return f"{wrong[0].name} {leaks(wrong[0])}"
    if wrong:
        named = _listed([each.name for each in wrong])
        return f"{len(wrong)} of {plural(len(all_of_them), 'claim')} refuted: {named}"
    return _nothing_refuted(all_of_them)


def _nothing_refuted(found: Sequence[Brief]) -> str:
    """Say what a run that refuted nothing unexpected can say, the worst first."""
    for status, words in (
        (ERROR, "could not be audited"),
        (MISSED, "known to be wrong, not refuted"),
        (INCONCLUSIVE, "undecided"),
    ):
        those = [each.name for each in found if each.status is status]
        if those:
            return f"{len(those)} of {plural(len(found), 'claim')} {words}: {_listed(those)}"
    if not found:
        return "Nothing was audited"
    beyond = [each.name for each in found if each.exceeds]
    if beyond:
        named = _listed(beyond)
        return f"{named}: a dataset that was not audited breaks the claim, by the mechanism's law"
    known = [each.name for each in found if each.status is EXPECTED]
    if known:
        return f"{plural(len(known), 'claim')} refuted, as declared: {_listed(known)}"
    mechanisms = list(dict.fromkeys(each.mechanism for each in found))
    if all(each.status is VERIFIED for each in found):
        return f"{_listed(mechanisms)}: verified on every dataset of the domain"
    claim = "claims" if len(mechanisms) == 1 else "claim"
    return f"No leak above what {_listed(mechanisms)} {claim} was found"


def lead_of(found: Sequence[Brief]) -> str:
    """Say in one sentence what was found of one mechanism of the catalogue."""
    wrong = [each for each in found if each.status in {REFUTED, EXPECTED}]
    if not wrong:
        return _nothing_refuted(found)
    more = f"; {len(wrong)} of its {plural(len(found), 'claim')} are wrong" if wrong[1:] else ""
    return f"{wrong[0].mechanism} {leaks(wrong[0])}{more}"


def leaks(brief: Brief) -> str:
    """Say how much a refuted result leaks, as a multiple of the claim where there is one.

    An error, or a share of bad random strings, is no leak: it is had.
    """
    if brief.certain:
        return f"gives a record away: {brief.certain}"
    if brief.above:
        return f"{brief.verb} more than it claims ({brief.claimed})"
    if brief.times in {"", INFINITY}:
        return f"{brief.verb} {brief.found.removeprefix('= ')}, and claims {brief.claimed}"
    at_least = "" if brief.found.startswith("=") else "at least "
    what = "what it claims" if brief.verb == LEAKS else f"the {brief.quantity} that it claims"
    return f"{brief.verb} {at_least}{brief.times} times {what}"


def _of_catalogue(results: Sequence[Raw], found: Sequence[Brief]) -> str:
    """Count claims that papers print, and claims of other sources."""
    numbers = Counter(
        (result["verdict"], result["claim"]["status"] == "printed") for result in results
    )
    wrong, others = numbers["refuted", True], numbers["refuted", False]
    stand = numbers["not refuted", True] + numbers["verified", True]
    missed = sum(each.status in {MISSED, ERROR} for each in found)
    more = f"; {plural(others, 'claim')} of no paper refuted too" if others else ""
    undecided = sum(each.status is INCONCLUSIVE for each in found)
    more += f"; {plural(undecided, 'claim')} undecided" if undecided else ""
    more += f"; {plural(missed, 'result')} not as declared" if missed else ""
    printed = sum(number for (_, told), number in numbers.items() if told)
    return (
        f"{wrong} of {plural(printed, 'claim')}, as papers print them or can be read, "
        f"{'is' if wrong == 1 else 'are'} wrong; {stand} {'stands' if stand == 1 else 'stand'} "
        f"where we looked{more}"
    )


def _listed(names: Sequence[str], most: int = 4) -> str:
    shown = list(names[:most])
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def _names(results: Sequence[Raw]) -> list[str]:
    """Return for each result the shortest name that no other one has.

    The mechanism; its id without the mode; its id.
    """
    ids = [clean(result["id"]) for result in results]
    choices = [
        [clean(result["mechanism"]) for result in results],
        [
            name.replace(f".{result['mode']}", "", 1)
            for name, result in zip(ids, results, strict=True)
        ],
        ids,
    ]
    numbers = [Counter(names) for names in choices]
    return [
        next(
            (name for name, among in zip(names, numbers, strict=True) if name and among[name] == 1),
            names[-1],
        )
        for names in zip(*choices, strict=True)
    ]


def _brief(result: Raw, name: str) -> Brief:
    words, status = words_of(result["claim"]), status_of(result)
    claimed = words.promised
    refuted, bounded = result["verdict"] == "refuted", not below_claim(result)
    shown = _promise(claimed, value(result["lower"]) if refuted and bounded else None)
    beside = float(shown)
    lower, upper, leak = (value(result[key]) for key in ("lower", "upper", "exact"))
    part = looked_at(result)
    known = leak is not None and not blurred(result) and not part
    least = leak if known else lower
    cell, short = shown_cell(result), words.short(shown)
    return Brief(
        id=clean(result["id"]),
        name=name,
        mechanism=clean(result["mechanism"]),
        sampled=result["mode"] == "monte-carlo",
        status=status,
        claimed=f"{words.symbol} = {short}" if short.startswith(shown) else short,
        about="" if (about := unit_words(result)) == SINGLE else about,
        found=_found(
            lower, upper, leak if known else None, beside, refuted=refuted, part=bool(part)
        ),
        times=_times(lower, leak if known else None, claimed)
        if refuted and bounded and not certain(result)
        else "",
        certain=certain(result),
        lines=lines_of(result),
        above=not bounded,
        least=_ratio(least, claimed),
        quantity=words.quantity,
        verb=HAS if words.computed or words.strings else LEAKS,
        exceeds=exceeds(result),
        unit=words.unit,
        pair="" if cell is None else pair_words(cell),
        part=_part(part),
        seen=" ".join(
            filter(None, ("" if cell is None else seen_words(result, cell), stopped_early(result)))
        ),
        sides=() if cell is None else sides_of(result, cell),
        shown=() if cell is None else shown_sides(result, cell),
        sight=sight_words(result),
        at_most="" if known or part else at_most_words(result, upper, beside),
        looked=looked_words(result),
        replay=replay_command(result),
        reason=clean(result["reason"]),
    )


def _part(looked: str) -> str:
    """Name a part of the release in a word or two: 'the sign of <w, x> alone' is 'sign'."""
    short = looked.removeprefix("the ").removesuffix(" alone").split(" of ")[0]
    return short if looked.startswith("the ") or not looked else "a part"


def _promise(claimed: float, found: float | None) -> str:
    """Write a claimed number with four digits, more where what was found needs them."""
    text = written(claimed, DIGITS + 1, UP)
    if float(text) == claimed or math.isclose(float(text), claimed, rel_tol=1e-12):
        return text
    if found is not None and found <= float(text):
        return promise(claimed, found)
    return text


def _found(
    lower: float | None,
    upper: float | None,
    leak: float | None,
    claimed: float,
    *,
    refuted: bool,
    part: bool,
) -> str:
    if lower is None:
        return ""
    if leak is not None:
        return f"= {short_beside(leak, claimed, NEAREST, beyond=refuted)}"
    least = short_beside(lower, claimed, DOWN, beyond=refuted)
    if part or upper is None or math.isinf(upper) or refuted:
        return f"≥ {least}"
    return f"{least} to {short_beside(upper, claimed, UP, beyond=upper > claimed)}"


def _ratio(found: float | None, claimed: float) -> float | None:
    if found is None:
        return None
    return found / claimed if claimed else math.inf if found else 0.0


def _times(lower: float | None, leak: float | None, claimed: float) -> str:
    """Write how many times the claim is leaked: nearest where that is known, else at least."""
    way = DOWN if leak is None else NEAREST
    ratio = _ratio(lower if leak is None else leak, claimed)
    if ratio is None or math.isinf(ratio):
        return INFINITY if ratio else ""
    text = short_number(ratio, way)
    return text if float(text) > 1 else told_apart(ratio, 1.0, way)
