"""What a run found, in one sentence, from its results in brief."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpassay.reports.run.result import LEAKS, ResultView
from dpassay.reports.shared.numbers import INFINITY, clean, plural
from dpassay.reports.shared.statuses import (
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    VERIFIED,
    WRONG,
)

Raw = Mapping[str, Any]


def briefs(record: Raw) -> tuple[ResultView, ...]:
    """Return every result of a record in brief, in the record's order."""
    return tuple(ResultView(*each) for each in named(record))


def named(record: Raw) -> Iterator[tuple[Raw, str, int]]:
    """Yield every result with the shortest name that no other one has, and its place.

    The mechanism; its id without the mode; its id.
    """
    results = record["results"]
    ids = [clean(raw["id"]) for raw in results]
    bare = [i.replace(f".{raw['mode']}", "", 1) for i, raw in zip(ids, results, strict=True)]
    choices = [[clean(raw["mechanism"]) for raw in results], bare, ids]
    alone = [{name for name, k in Counter(names).items() if name and k == 1} for names in choices]
    for place, (raw, *names) in enumerate(zip(results, *choices, strict=True)):
        kept = [name for name, among in zip(names, alone, strict=True) if name in among]
        yield raw, (kept or names[-1:])[0], place


def lead(record: Raw) -> str:
    """Return in one sentence what was found: which claim is wrong, and by how much."""
    found = briefs(record)
    if record["run"]["catalogue"]:
        return _of_catalogue(found)
    wrong = [each for each in found if each.status is REFUTED]
    if len(wrong) == 1:
        return f"{wrong[0].name} {leaks(wrong[0])}"
    if wrong:
        named = _listed([each.name for each in wrong])
        return f"{len(wrong)} of {plural(len(found), 'claim')} refuted: {named}"
    return _nothing_refuted(found)


def lead_of(found: Sequence[ResultView]) -> str:
    """Return in one sentence what was found of one mechanism of the catalogue."""
    wrong = [each for each in found if each.status in WRONG]
    if not wrong:
        return _nothing_refuted(found)
    more = f"; {len(wrong)} of its {plural(len(found), 'claim')} are wrong" if wrong[1:] else ""
    return f"{wrong[0].mechanism} {leaks(wrong[0])}{more}"


def leaks(r: ResultView) -> str:
    """Return how much a refuted result leaks, as a multiple of the claim where there is one.

    An error, or a share of bad random strings, is no leak: it is had.
    """
    if r.certain:
        return f"gives a record away: {r.certain}"
    if r.times in {"", INFINITY}:
        return f"{r.verb} {r.found.removeprefix('= ')}, and claims {r.claimed}"
    at_least = "" if r.found.startswith("=") else "at least "
    if r.first_proof:  # of a claim about events
        return f"{r.verb} more than it claims ({at_least}{r.times} times)"
    what = "what it claims" if r.verb == LEAKS else f"the {r.quantity} that it claims"
    return f"{r.verb} {at_least}{r.times} times {what}"


def _nothing_refuted(found: Sequence[ResultView]) -> str:
    """Return what a run that refuted nothing unexpected can say, the worst first."""
    for status, words in (
        (ERROR, "could not be audited"),
        (MISSED, "known to be wrong, not refuted"),
        (INCONCLUSIVE, "undecided"),
    ):
        if those := [each.name for each in found if each.status is status]:
            return f"{len(those)} of {plural(len(found), 'claim')} {words}: {_listed(those)}"
    if not found:
        return "Nothing was audited"
    if beyond := [each.name for each in found if each.exceeds]:
        named = _listed(beyond)
        return f"{named}: a dataset that was not audited breaks the claim, by the mechanism's law"
    if known := [each.name for each in found if each.status is EXPECTED]:
        return f"{plural(len(known), 'claim')} refuted, as declared: {_listed(known)}"
    mechanisms = list(dict.fromkeys(each.mechanism for each in found))
    if all(each.status is VERIFIED for each in found):
        return f"{_listed(mechanisms)}: verified on every dataset of the domain"
    claim = "claims" if len(mechanisms) == 1 else "claim"
    return f"No leak above what {_listed(mechanisms)} {claim} was found"


def _of_catalogue(found: Sequence[ResultView]) -> str:
    """Count claims that papers print, and claims of other sources."""
    numbers = Counter((each.raw["verdict"], each.printed) for each in found)
    wrong = numbers["refuted", True]
    stand = numbers["not refuted", True] + numbers["verified", True]
    printed = sum(number for (_, told), number in numbers.items() if told)
    undecided = sum(each.status is INCONCLUSIVE for each in found)
    missed = sum(each.status in {MISSED, ERROR} for each in found)
    more = f"; {plural(undecided, 'claim')} undecided" if undecided else ""
    more += f"; {plural(missed, 'result')} not as declared" if missed else ""
    return (
        f"{wrong} of {plural(printed, 'published claim')} {'is' if wrong == 1 else 'are'} wrong; "
        f"{stand} held where we looked{more}"
    )


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
