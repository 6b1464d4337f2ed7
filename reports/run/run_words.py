"""What a report says about a run: headline, notes, findings, units, and facts that repeat it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpassay.numerics import percent
from dpassay.reports.run.findings import Finding
from dpassay.reports.run.kinds import ERROR as ERROR_UNIT
from dpassay.reports.run.kinds import BadStrings, Change, Distance, Loss, Movement
from dpassay.reports.run.search_words import without_data
from dpassay.reports.shared.numbers import (
    MISSING,
    clean,
    count,
    plain,
    plural,
    shorten,
)
from dpassay.reports.shared.statuses import (
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
)

if TYPE_CHECKING:
    from dpassay.reports.run.view import ResultView

Raw = Mapping[str, Any]


def ended(run: Raw) -> str:
    """Say why a run is not complete; empty where it is."""
    if run["complete"]:
        return ""
    interrupted = "The run was interrupted; claims that it did not reach are missing."
    return str(run.get("changed", interrupted))


def headline_of(numbers: Mapping[str, int], results: Sequence[ResultView], run: Raw) -> str:
    """Say in one line what came of a run, and how sure that is."""
    if not results:
        return (
            "Nothing was audited"
            if run["complete"]
            else "Nothing was audited: the run was interrupted"
        )
    expected, refuted = numbers[EXPECTED.slug], numbers[REFUTED.slug] + numbers[EXPECTED.slug]
    text = f"{refuted} of {plural(len(results), 'claim')} refuted{_how_sure(results, refuted, run)}"
    if expected:
        text += ", as expected" if expected == refuted else f", {expected} of them as expected"
    others = (
        (numbers[ERROR.slug], "ended in an error"),
        (numbers[MISSED.slug], "known to be wrong was not refuted"),
        (numbers[INCONCLUSIVE.slug], "inconclusive"),
    )
    text += "".join(f"; {number} {words}" for number, words in others if number)
    return text if run["complete"] else f"{text}; the run is incomplete"


def _how_sure(results: Sequence[ResultView], refuted: int, run: Raw) -> str:
    """Say at which confidence claims were refuted.

    What was computed is certain, and is told apart.
    """
    if not any(result.sampled for result in results):
        return ""
    confidence = f"at {percent(run['confidence'])} confidence"
    drawn = sum(result.sampled and result.status in (REFUTED, EXPECTED) for result in results)
    return (
        f" {confidence}"
        if drawn == refuted
        else f" ({drawn} from trials, {confidence}; {refuted - drawn} computed)"
    )


def notes_of(
    numbers: Mapping[str, int], results: Sequence[ResultView], run: Raw
) -> tuple[str, ...]:
    """Say what limits the results, a sentence for each reason."""
    notes = []
    if said := ended(run):
        notes.append(said)
    if run["catalogue"]:
        notes.append("This run audited the built-in catalogue, not a mechanism of yours.")
    if numbers[MISSED.slug]:
        notes.append(
            "A claim known to be wrong was not refuted: this audit was too weak for it, or blind "
            "to it."
        )
    known = [result for result in results if result.bar is not None]
    sampled = sum(result.sampled for result in known)
    if sampled:
        rest = f", {len(known) - sampled} computed" * (sampled < len(known))
        sure = percent(run["confidence"])
        notes.append(
            f"{plural(sampled, 'result')} {'is' if sampled == 1 else 'are'} sampled{rest}; all "
            f"sampled bounds hold simultaneously with a probability of at least {sure}."
        )
        if any(result.sampled and result.upper not in (None, math.inf) for result in known):
            notes.append(
                "A sampled upper bound (≤) covers the certified cells, not those that were only "
                "screened."
            )
        through = {result.through for result in known if result.through}
        if through:
            which = (
                through.pop()
                if len(through) == 1
                else "through an answer of the probability that the result states"
            )
            of = "For sampled results, 'detectable'" if sampled < len(known) else "'Detectable'"
            rarer = (
                "through a rarer answer only a larger leak, or none, is promised to be refuted "
                "with probability 0.9"
            )
            notes.append(f"{of} is a leak {_at(known)}, {which}; {rarer}.")
    elif known:
        notes.append("Every number was computed from an exact law; none was sampled.")
    return tuple(notes)


def _at(results: Sequence[ResultView]) -> str:
    """Say at which pairs 'detectable' holds."""
    sought = {result.sought for result in results if result.sampled}
    if sought == {True}:
        return "at one of the pairs that the search began with"
    apart = ", or of those that the search began with" if True in sought else ""
    return f"at one of the examined pairs{apart}"


def findings_words(findings: Sequence[Finding], audited: int) -> tuple[str, ...]:
    """Say what the kinds of findings mean that there are, and which claims have none."""
    texts = []
    if audited and all(finding.kind == "tight" for finding in findings):
        texts.append("No claim was refuted or found to be loose.")
    if any(finding.kind == "exceeded" for finding in findings):
        texts.append("Exceeded: a reachable dataset outside the audited ones violates the claim.")
    if any(finding.kind == "tight" for finding in findings):
        texts.append(
            "Tight: at these parameters the true worst leak is at least 99 % of the claim; if a δ "
            "is claimed, the worst loss at that δ is at least 99 % of the claimed ε."
        )
    if any(finding.kind == "loose" for finding in findings):
        texts.append(
            "Loose: at these parameters it is less than that; at others the same claim may be "
            "tight."
        )
    if findings and audited > len(findings):
        texts.append(
            "Claims missing from this table either ended in an error, or were not refuted and "
            "their worst case, over all datasets and the whole release, is not known."
        )
    return tuple(texts)


def facts_of(record: Raw) -> tuple[tuple[str, str], ...]:
    """Return what is needed to repeat a run, by name."""
    run = record["run"]
    packages = ", ".join(
        f"{clean(name)} {clean(version)}" for name, version in sorted(run["packages"].items())
    )
    return (
        ("version", f"dpassay {clean(run['version'])}"),
        ("commit", MISSING if run["commit"] is None else clean(run["commit"])),
        ("seed", str(run["seed"])),
        ("confidence", percent(run["confidence"])),
        ("profile", clean(run["profile"])),
        ("budget", f"{count(run['budget'])} certification trials per side and finalist"),
        ("data", _data(record)),
        ("packages", packages or MISSING),
        *((name, clean(run[name])) for name in ("protections",) if name in run),
    )


def _data(record: Raw) -> str:
    data = record["run"]["data"]
    if data is None:
        return f"no file; {without_data(record['results'])}"
    rest = {key: entry for key, entry in data.items() if key not in {"name", "kind"}}
    words = ", ".join(f"{clean(key)} {_fact(entry)}" for key, entry in sorted(rest.items()))
    name = clean(data.get("name", "unnamed"))
    return f"{name} ({words})" if words else name


def _fact(entry: object) -> str:
    if isinstance(entry, Mapping):
        return " ".join(f"{clean(key)} {_fact(inner)}" for key, inner in sorted(entry.items()))
    if isinstance(entry, list):
        return "/".join(_fact(inner) for inner in entry)
    if isinstance(entry, float) and math.isfinite(entry):
        return plain(entry)
    return shorten(clean(entry if isinstance(entry, str) else json.dumps(entry)))


def units_words(units: set[str]) -> str:
    """Say what the numbers of a table are measured in, given the units of its rows."""
    words = ["Losses in nats"] if Loss.unit in units else []
    moved = sorted(units & {Change.unit, Movement.unit})
    if moved:
        both = "γ is a change of a probability or of a prediction"
        words.append(both if Loss.unit in units else f"γ is a {' or a '.join(moved)}")
    if Distance.unit in units:
        words.append("μ is a Gaussian distance, in standard deviations")
    if any(unit.endswith(ERROR_UNIT) for unit in units):
        words.append("the unit of the claim says which error is meant")
    if BadStrings.unit in units:
        words.append(
            "rows with β give the share of bad random strings, to be compared with the claimed δ"
        )
    told = "; ".join(words)
    # a Greek letter names a number and stays small
    return f"{told[:1].upper()}{told[1:]}." if told[:1].isascii() else f"{told}."
