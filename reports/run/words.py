"""What a record says of claims, cells and events, read and worded; results and cells share it."""

from __future__ import annotations

import json
import math
import shlex
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dpassay.engine.wording import query_label
from dpassay.numerics import NEAREST, UP, VISIBLE, rounded, written
from dpassay.record.files import witness_file
from dpassay.record.trust import trust_of
from dpassay.reports.run.kinds import words_of
from dpassay.reports.shared.numbers import clean, half_line_words, plural, promise, value

Raw = Mapping[str, Any]
ORIGIN = {
    "printed": "computed from what is printed",
    "corrected": "corrected, with a derivation",
    "own": "declared with the mechanism",
    "measured": "nobody claims it",
}
ROUNDED = 1e-11  # part of a number that writing it down with 12 digits changes, at most
FOLDER = "REPORT/"  # the folder of a report in a command that is run elsewhere


class Part(NamedTuple):
    """One titled piece of the story of a result."""

    title: str
    texts: tuple[str, ...]
    command: str | None = None


def looked_at(raw: Raw) -> str:
    """Return what of the release was looked at; empty where that is all of it."""
    return clean(raw.get("looked_at", "")).rstrip(",")


def unit_words(raw: Raw) -> str:
    """Return what is released, and what of it was looked at where that is not all."""
    unit, part = clean(raw["claim"]["unit"]), looked_at(raw)
    unit = "all that one run returns" if one_output(raw) else unit
    return f"{unit}; looked at: {part}" if part else unit


def one_output(raw: Raw) -> bool:
    """Return whether a search took all that one run returns as one output."""
    searched = raw["searched"] or {}
    together = searched.get("together", False) or not searched.get("asked", True)
    return "search" in searched and together


def exceeds(raw: Raw) -> bool:
    """Return whether the worst case over datasets of any size is above the claim for certain.

    The audit decides that, from numbers that are not rounded. A record from before it wrote that
    down has rounded ones: there the leak must be above by more than its error and the rounding.
    """
    found = raw["any_size"]
    if found is None or "exceeds" in found:
        return found is not None and bool(found["exceeds"])
    exact, claimed = float(found["exact"]), words_of(raw["claim"]).promised
    return exact - float(found["error"]) > claimed + ROUNDED * max(exact, claimed)


def blurred(raw: Raw) -> bool:
    """Return whether the error of a computed number reaches digits that a report shows."""
    exact, error = value(raw["exact"]), value(raw.get("error")) or 0.0
    return exact is not None and math.isfinite(exact) and error > VISIBLE * max(1.0, abs(exact))


def nothing_found(raw: Raw) -> bool:
    """Return whether no audited pair, query and event is a witness of anything."""
    return raw["witness"] is not None and no_event(value(raw["exact"]), raw["witness"]["event"])


def no_event(leak: float | None, event: Any) -> bool:
    """Return whether what stands as a worst event stands there for want of one that leaks."""
    return leak == 0 and event != []  # values are no events


def is_pattern(event: Any) -> bool:
    """Return whether an event was learned, see `dpassay.search.events`."""
    return isinstance(event, Mapping) and "pattern" in event


def event_words(event: Any) -> str:
    """Return an event's labels, half-line or pattern; nothing where a claim is about means."""
    if is_pattern(event):
        return clean(event["words"])
    if isinstance(event, Mapping):
        ((kind, threshold),) = event.items()
        return half_line_words(float(threshold), above=kind == "at_least")
    return " or ".join(str(label) for label in event)


def change_words(cell: Raw) -> str:
    """Return what a pair changes, by lines of the data file where the record has them."""
    return clean(cell.get("in_file", cell)["change"])


def datasets_words(searched: Raw) -> str:
    """Return the number of datasets of a domain, and of their representatives if there are any."""
    found, datasets = searched.get("symmetry"), plural(searched["datasets"], "dataset")
    if found is None:
        return datasets
    return f"{datasets} through {plural(found['representatives'], 'representative')}"


def replay_of(witness: Raw, name: str) -> str:
    """Return the command that runs a witness again by its name; empty where only Python can."""
    data, target = witness["data"], witness["target"]
    if target is None or data.get("kind") == "memory":
        return ""
    # a module of the user's own is found in its project's folder only
    file = FOLDER * (":" in target) + shlex.quote(witness_file(name))
    from_file = data.get("kind") == "source" and data["source"]["kind"] == "file"
    return f"dpassay replay {file}{trust_of(witness)}{' --data FILE' * from_file}"


def shares(
    one: float, other: float, breaks: Callable[[float, float], bool] = lambda p, q: p != q
) -> tuple[str, str]:
    """Write two probabilities as per cents, nearest, with as many digits as show what they show."""
    texts = ("", "")
    for digits in (2, 3, 4, 6, 9, 12):
        first, second = (rounded(100 * each, digits, NEAREST) for each in (one, other))
        shown = max(digits, 3)  # of 100
        texts = (f"{first:.{shown}g} %", f"{second:.{shown}g} %")
        certain = any(
            number in {0.0, 100.0} and each not in {0.0, 1.0}
            for number, each in ((first, one), (second, other))
        )
        if not certain and breaks(first / 100, second / 100):
            break
    return texts


def labels(cells: Sequence[Raw]) -> Iterator[str]:
    """Yield the names of query points; the mechanism's own worst cases are numbered."""
    own = [cell["group"] == "own" for cell in cells]
    starts = [place for place, cell in enumerate(cells) if own[place] and cell["query"] == 0]
    for place, cell in enumerate(cells):
        after = place + 1 < len(cells) and own[place + 1] and cells[place + 1]["query"] > 0
        yield query_label(
            cell["group"],
            cell["query"],
            own=max(1, bisect_right(starts, place)),
            several=cell["query"] > 0 or after,
            point=cell["point"],
        )


def json_words(parameter: object) -> str:
    """Write a parameter as JSON, a text as it is."""
    if isinstance(parameter, str):
        return parameter
    return json.dumps(parameter, ensure_ascii=False, sort_keys=True)


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def ended(run: Raw, of: str = "claims") -> str:
    """Return why a run is not complete; empty where it is."""
    if run["complete"]:
        return ""
    interrupted = f"The run was interrupted; {of} that it did not reach are missing."
    return str(run.get("changed", interrupted))


def claim_short(claim: Raw, found: float | None = None) -> str:
    """Write the claimed numbers for a table, with the digits that show a leak above them."""
    words = words_of(claim)
    return words.short(promise(words.promised, found))


def taken(n: int | None) -> str:
    """Return that a mechanism takes datasets of one size only, where it does."""
    return "" if n is None else f" that the mechanism takes (n = {clean(json_words(n))})"


def folder(command: str) -> str:
    """Return in which folder a command for a witness is run."""
    if FOLDER not in command:
        return "in the folder of this report"
    return "where the mechanism can be imported, with the folder of this report for REPORT"


def error_words(found: Raw) -> str:
    """Return how large the numerical error of a computed number is at most."""
    error = value(found["error"]) or 0.0
    return f"numerical error at most {written(error, 2, UP)}" if error else "no numerical error"
