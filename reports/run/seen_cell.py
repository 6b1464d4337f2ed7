"""What was seen, in brief: what changed, how often an answer came, and how far the audit looked."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from dpassay.engine.wording import query_words
from dpassay.numerics import DOWN, NEAREST, UP, plain, rounded, written
from dpassay.record.curves import WITNESSED
from dpassay.record.files import clearest_id, witness_file
from dpassay.record.trust import trust_of
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.queries import labels
from dpassay.reports.run.search_words import datasets_words, searched_pairs
from dpassay.reports.run.words import (
    blurred,
    capital,
    change_words,
    event_words,
    is_pattern,
    nothing_found,
    within,
)
from dpassay.reports.shared.numbers import (
    DIGITS,
    clean,
    count,
    plural,
    short_beside,
    short_number,
    value,
)

Raw = Mapping[str, Any]


def shown_cell(result: Raw) -> Raw | None:
    """Return the witness that is shown to a person: the worst cell, whose leak is the headline."""
    return None if nothing_found(result) else result["witness"]


def seen_words(result: Raw, cell: Raw) -> str:
    """Say what changed: which record, where, and how often the answer came before and after.

    Of the worst cell, then of the clearest one where that is another.
    """
    told = _told(result, cell)
    clearest = result.get("clearest")
    if not clearest:
        return told
    leak = written(value(clearest["loss"]) or 0.0, DIGITS, DOWN)
    amount = words_of(result["claim"]).amount
    return f"{told} {_told(result, clearest)} There the {amount} is {leak}, and easier to see."


def pair_words(cell: Raw) -> str:
    """Write the two datasets of a witness that a search found; empty of another."""
    told = re.match(r"(S: .*? S': .*?\.) .* A search found the pair, ", cell["words"], re.DOTALL)
    return clean(told[1]) if told else ""


def _told(result: Raw, cell: Raw) -> str:
    change, query, answer = _place(result, cell)
    change = f"another pair, {change}" if cell is result.get("clearest") else change
    words, sides = words_of(result["claim"]), sides_of(result, cell)
    if words.computed:
        return f"The {words.quantity} is {plain(value(cell['p1']) or 0.0)} on an audited dataset."
    if words.strings or not sides:
        share = value(result["exact"])
        known = share is not None and not blurred(result)
        told = written(share, DIGITS) if share is not None and known else ""
        told = told or f"at least {short_number(value(result['lower']) or 0.0, DOWN)}"
        return f"{capital(change)}: a random string is bad with probability {told}."
    (_, one), (_, other) = sides
    trials = cell["trials"]
    if not answer:
        before, after = (written(each, DIGITS + 1, NEAREST) for each in (one, other))
        return f"{capital(change)}: {query}the mean prediction went from {before} to {after}."
    of = f" of {count(trials['draws'])} runs" if trials else ""
    before, after = shares(one, other, _breaks(result))
    went = f"went from {before} to {after}{of}"
    if is_pattern(cell["event"]):  # its words are a clause: 'the answer is below 3'
        of = of or " of the runs"
        return (
            f"{capital(change)}: {query}{answer} in {before}{of} before the change, in {after} "
            "after it."
        )
    return f"{capital(change)}: {query}the answer {answer} {went}."


def certain(result: Raw) -> str:
    """Say how the worst pair is told apart for certain; empty where the leak is a factor."""
    return clean(result.get("findings", [{"certain": ""}])[0]["certain"])


def lines_of(result: Raw) -> tuple[str, ...]:
    """Say what else refutes a claim, and what a reader must know of a search, a line each."""
    quantity = words_of(result["claim"]).quantity
    also = [
        f"Also: {clean(each['certain'])}."
        if each["certain"]
        else f"Also, with a {quantity} of at least {written(float(each['lower']), DIGITS, DOWN)}: "
        f"{seen_words(result, each['witness'])}"
        for each in result.get("findings", ())[1:]
    ]
    return *also, *map(clean, (result["searched"] or {}).get("notes", ()))


def _place(result: Raw, cell: Raw) -> tuple[str, str, str]:
    """Return the change, the query with a comma behind it, and the answer of a witness."""
    cells = result["per_query"]
    for label, each in zip(labels(cells), cells, strict=True):
        if all(each.get(name) == cell.get(name) for name in WITNESSED):
            told = f'"{clean(each["answer"])}"' if "answer" in each else ""
            asked = (result["searched"] or {}).get("asked", True)
            return (
                change_words(each),
                _where(label) if asked else "",
                told or event_words(cell["event"]),
            )
    found = re.search(r"S': (.+?)\. ", cell["words"])
    change = clean(found[1]) if found else "one record changed"
    return change, "", event_words(cell["event"])


def _where(label: str) -> str:
    """Say at which query, with a blank behind it; the mechanism's own worst cases have numbers."""
    own = label.removeprefix("own ")
    return f"at {query_words(label)} " if own == label else f"in its own worst case {own} "


def shown_sides(result: Raw, cell: Raw) -> tuple[str, ...]:
    """Return the two sides as they are written."""
    sides = sides_of(result, cell)
    if not sides:
        return ()
    (_, one), (_, other) = sides
    if cell["event"] == []:
        return written(one, DIGITS + 1, NEAREST), written(other, DIGITS + 1, NEAREST)
    return shares(one, other, _breaks(result))


def sides_of(result: Raw, cell: Raw) -> tuple[tuple[str, float], ...]:
    """Return the probability of the witness's answer, or its value, on S and then on S'."""
    if words_of(result["claim"]).strings:
        return ()
    p1, p0 = value(cell.get("p1")), value(cell.get("p0"))
    if p1 is None or p0 is None:
        return ()
    here, there = (p1, p0) if cell["direction"] == "S to S'" else (p0, p1)
    return (("S", here), ("S'", there))


def shares(
    one: float, other: float, breaks: Callable[[float, float], bool] = lambda p, q: p != q
) -> tuple[str, str]:
    """Write two probabilities as per cents, nearest, with as many digits as show what they show."""
    texts = ("", "")
    for digits in (2, 3, 4, 6, 9, 12):
        numbers = [rounded(100 * each, digits, NEAREST) for each in (one, other)]
        shown = max(digits, 3)  # of 100
        texts = (f"{numbers[0]:.{shown}g} %", f"{numbers[1]:.{shown}g} %")
        certain = any(
            number in {0.0, 100.0} and each not in {0.0, 1.0}
            for number, each in zip(numbers, (one, other), strict=True)
        )
        if not certain and breaks(numbers[0] / 100, numbers[1] / 100):
            break
    return texts


def _breaks(result: Raw) -> Callable[[float, float], bool]:
    """Return what tells whether two probabilities break a claim of (epsilon, delta), either way.

    Of a result that is not refuted, or a claim of another kind: whether they differ.
    """
    claim = result["claim"]
    if result["verdict"] != "refuted" or claim["epsilon"] is None:
        return lambda p, q: p != q
    most, delta = math.exp(min(float(claim["epsilon"]), 700.0)), float(claim["delta"])
    return lambda p, q: p > most * q + delta or q > most * p + delta


def sight_words(result: Raw) -> str:
    """Write the smallest leak that would have been seen; empty where none would."""
    detectable = value(result["detectable"])
    if detectable is None or math.isinf(detectable):
        return ""
    if result["mode"] != "monte-carlo" and not blurred(result):
        return "any excess"
    return f"≥ {written(detectable, DIGITS, UP)}"


def at_most_words(result: Raw, upper: float | None, claimed: float) -> str:
    """Write a finite upper bound with the cells that it covers."""
    if upper is None or math.isinf(upper):
        return ""
    cells = (result["searched"] or {}).get("certified_cells", len(result["per_query"]))
    where = "audited" if result["mode"] != "monte-carlo" else "certified"
    the = f"the {where} cells" if where == "audited" or not cells else f"the {cells} {where} cells"
    the = f"the {where} cell" if cells == 1 else the
    return f"≤ {short_beside(upper, claimed, UP, beyond=upper > claimed)} at {the}"


def looked_words(result: Raw) -> str:
    """Count pairs and queries: each pair of the data at every query of the data."""
    searched = result["searched"]
    if searched is None:
        return ""
    if "search" in searched:
        found = searched_pairs(searched["search"])
        if result["mode"] != "monte-carlo":
            own = sum(part["kind"] == "own" for part in searched["parts"])
            return f"{found}, {plural(own, 'worst case')} of its own" if own else found
        return f"{found}; {plural(searched['certified_cells'], 'pair')} certified on fresh runs"
    asked, parts = searched.get("asked", True), searched.get("parts", ())
    data = [part for part in parts if part["kind"] == "data"]
    own, learned = (
        sum(part["pairs"] for part in parts if part["kind"] == kind) for kind in ("own", "learned")
    )
    if not parts or "datasets" in searched:
        told = [
            *([datasets_words(searched)] if "datasets" in searched else ()),
            plural(searched["pairs"], "pair") + (" of neighbours" if asked else ""),
            *([plural(searched["queries"], "query")] if asked else ()),
        ]
        return ", ".join(told)
    told = [
        plural(part["pairs"], "pair") + (f" × {plural(part['queries'], 'query')}" if asked else "")
        for part in data
    ]
    told += [f"{plural(own, 'worst case')} of its own"] if own else []
    told += [f"{plural(learned, 'pair')} again in a learned direction"] if learned else []
    return ", ".join(told)


def replay_command(result: Raw) -> str:
    """Return the command that runs the clearest witness again; empty where only Python can."""
    clear = result.get("clearest")
    cell, name = (clear, clearest_id(result["id"])) if clear else (shown_cell(result), result["id"])
    return "" if cell is None else replay_of(cell, name)


def replay_of(witness: Raw, name: str) -> str:
    """Return the command that runs a witness again by its name; empty where only Python can."""
    data = witness["data"]
    if witness["target"] is None or data.get("kind") == "memory":
        return ""
    file = f"{within(witness)}{shlex.quote(witness_file(name))}"
    command = f"dpassay replay {file}{trust_of(witness)}"
    from_file = data.get("kind") == "source" and data["source"]["kind"] == "file"
    return f"{command} --data FILE" if from_file else command
