"""In brief: what a result says in a few words, for first screens, terminals, cards and comments.

Numbers have three significant digits, or as many as tell them from the claim; bounds are rounded
outwards. The record and the rest of a report have them in full.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.claims import SINGLE
from dpassay.engine.wording import query_words
from dpassay.numerics import DOWN, NEAREST, UP, plain, rounded, told_apart, written
from dpassay.record.curves import WITNESSED
from dpassay.record.files import clearest_id, trust_of, witness_file
from dpassay.reports.run.bound_parts import below_claim, stopped_early
from dpassay.reports.run.domain_words import datasets_words
from dpassay.reports.run.findings import unit_words
from dpassay.reports.run.kinds import Words, words_of
from dpassay.reports.run.queries import labels
from dpassay.reports.run.search_words import searched_pairs
from dpassay.reports.run.words import (
    blurred,
    capital,
    change_words,
    event_words,
    exceeds,
    is_pattern,
    looked_at,
    nothing_found,
    within,
)
from dpassay.reports.shared.numbers import INFINITY, clean, count, plural, promise, value
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

DIGITS = 3
HAIR = 1e-6
"""Part of a number within which it is all but a rounder one."""
LEAKS, HAS = "leaks", "has"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """One result in a few words.

    Parameters
    ----------
    id : str
        As in the record.
    name : str
        The mechanism; with as much of the id behind it as makes it unique in the record.
    mechanism : str
    sampled : bool
        Whether the numbers come from trials.
    status : Status
    claimed : str
        'ε = 1'.
    about : str
        What the claim is about, and what of that was looked at; empty for a single prediction.
    found : str
        What is known of the leak: '≥ 1.89', '= 2', '0.92 to 1.11'; empty for an error.
    times : str
        How many times the claim the leak is for certain, where it was refuted: '1.89'; '∞' where
        the leak is infinite or the claim 0. Empty where it was not refuted, and where a sequential
        test refuted it and the bound is not above the claim.
    above : bool
        Whether the leak is above the claim for certain, though no bound says by how much.
    least, most : float or None
        What is known of leak / claim, from below and from above; None where nothing is.
    quantity : str
        What the claim bounds.
    verb : str
        `LEAKS`, or `HAS` where the claim bounds no leak but an error or a share.
    exceeds : bool
        Whether a dataset that was not audited breaks the claim for certain.
    unit : str
        What is measured, and in what: quantities of different units share no axis.
    seen : str
        What changed where, in a sentence; empty where nothing did. Behind it, how a sequential test
        refuted the claim, if one did.
    sides : tuple of (str, float), empty or of length 2
        The probabilities of that answer, or the values, on S and on S', for a picture.
    shown : tuple of str
        The two sides as written: per cents, or values.
    sight : str
        The smallest leak at the audited pairs that would have been refuted with probability 0.9,
        '≥ 1.25'; 'any excess' where the leak was computed; empty where there is none.
    replay : str
        The command that shows it again: run beside the record, or, of a module of the user's own,
        where that can be imported, with the record's folder for REPORT. Empty where there is none.
    reason : str
        Why it was decided so, in the record's words.
    """

    id: str
    name: str
    mechanism: str
    sampled: bool
    status: Status
    claimed: str
    about: str
    found: str
    times: str
    above: bool
    least: float | None
    most: float | None
    quantity: str
    verb: str
    exceeds: bool
    unit: str
    seen: str
    sides: tuple[tuple[str, float], ...]
    shown: tuple[str, ...]
    sight: str
    at_most: str
    looked: str
    replay: str
    reason: str


def briefs(record: Raw) -> tuple[Brief, ...]:
    """Return every result of a record in brief, in the record's order.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.run_record.record_schema`.
    """
    names = _names(record["results"])
    return tuple(
        _brief(result, name) for result, name in zip(record["results"], names, strict=True)
    )


def lead(record: Raw) -> str:
    """Say in one sentence what was found: which claim is wrong, and by how much.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.run_record.record_schema`.
    """
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
    """Say in one sentence what was found of one mechanism of the catalogue.

    Parameters
    ----------
    found : sequence of Brief
        Its results, worst first. One that is wrong as declared is wrong.
    """
    wrong = [each for each in found if each.status in {REFUTED, EXPECTED}]
    if not wrong:
        return _nothing_refuted(found)
    more = f"; {len(wrong)} of its {plural(len(found), 'claim')} are wrong" if wrong[1:] else ""
    return f"{wrong[0].mechanism} {leaks(wrong[0])}{more}"


def leaks(brief: Brief) -> str:
    """Say how much a refuted result leaks, as a multiple of the claim where there is one.

    An error, or a share of bad random strings, is no leak: it is had.
    """
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
    part = bool(looked_at(result))
    known = leak is not None and not blurred(result) and not part
    least = leak if known else lower
    most = None if part else leak if known else upper
    cell, cell_name = _shown(result)
    return Brief(
        id=clean(result["id"]),
        name=name,
        mechanism=clean(result["mechanism"]),
        sampled=result["mode"] == "monte-carlo",
        status=status,
        claimed=_claimed(words, shown),
        about="" if (about := unit_words(result)) == SINGLE else about,
        found=_found(lower, upper, leak if known else None, beside, refuted=refuted, part=part),
        times=_times(lower, leak if known else None, claimed) if refuted and bounded else "",
        above=not bounded,
        least=_ratio(least, claimed),
        most=_ratio(most, claimed),
        quantity=words.quantity,
        verb=HAS if words.computed or words.strings else LEAKS,
        exceeds=exceeds(result),
        unit=words.unit,
        seen=" ".join(
            filter(None, ("" if cell is None else _seen(result, cell), stopped_early(result)))
        ),
        sides=() if cell is None else _sides(result, cell),
        shown=() if cell is None else _shown_sides(result, cell),
        sight=_sight(result),
        at_most="" if known or part else _at_most(result, upper, beside),
        looked=_looked(result),
        replay="" if cell is None else _replay(cell, cell_name),
        reason=clean(result["reason"]),
    )


def _claimed(words: Words, shown: str) -> str:
    """Write a claim with the name of its number."""
    short = words.short(shown)
    return f"{words.symbol} = {short}" if short.startswith(shown) else short


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
        return f"= {_number(leak, claimed, NEAREST, beyond=refuted)}"
    least = _number(lower, claimed, DOWN, beyond=refuted)
    if part or upper is None or math.isinf(upper) or refuted:
        return f"≥ {least}"
    return f"{least} to {_number(upper, claimed, UP, beyond=upper > claimed)}"


def _number(found: float, claimed: float, way: str, *, beyond: bool) -> str:
    """Write a number with three digits, or as many as keep it on its side of the claim."""
    if math.isinf(found):
        return INFINITY
    text = short_number(found, way)
    if (float(text) > claimed) == beyond or (found > claimed) != beyond:
        return text
    return told_apart(found, claimed, way)


def short_number(number: float, way: str) -> str:
    """Write a number with three digits; with five where it misses a rounder one by a hair only.

    A bound of 1.24999999999 is '1.2499', not '1.24': 1.25 stands beside it.
    """
    near = rounded(number, DIGITS, NEAREST)
    hair = way != NEAREST and 0 < abs(near - number) <= HAIR * abs(near)
    return written(number, DIGITS + 2 if hair else DIGITS, way)


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


def _shown(result: Raw) -> tuple[Raw | None, str]:
    """Return the witness that is shown to a person, and the name of its file."""
    if result.get("clearest"):
        return result["clearest"], clearest_id(result["id"])
    witness = result["witness"]
    return (None if witness is None or nothing_found(result) else witness), result["id"]


def _seen(result: Raw, cell: Raw) -> str:
    """Say what changed: which record, where, and how often the answer came before and after."""
    change, query, answer = _place(result, cell)
    change = f"the clearest pair, {change}" if cell is result.get("clearest") else change
    words, sides = words_of(result["claim"]), _sides(result, cell)
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


def _shown_sides(result: Raw, cell: Raw) -> tuple[str, ...]:
    """Return the two sides as they are written."""
    sides = _sides(result, cell)
    if not sides:
        return ()
    (_, one), (_, other) = sides
    if cell["event"] == []:
        return written(one, DIGITS + 1, NEAREST), written(other, DIGITS + 1, NEAREST)
    return shares(one, other, _breaks(result))


def _sides(result: Raw, cell: Raw) -> tuple[tuple[str, float], ...]:
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
    """Write two probabilities as per cents, nearest, with as many digits as show what they show.

    Parameters
    ----------
    one, other : float
    breaks : callable
        Whether two numbers show it; by default that they differ.
    """
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


def _sight(result: Raw) -> str:
    detectable = value(result["detectable"])
    if detectable is None or math.isinf(detectable):
        return ""
    if result["mode"] != "monte-carlo" and not blurred(result):
        return "any excess"
    return f"≥ {written(detectable, DIGITS, UP)}"


def _at_most(result: Raw, upper: float | None, claimed: float) -> str:
    """Write a finite upper bound with the cells that it covers."""
    if upper is None or math.isinf(upper):
        return ""
    cells = (result["searched"] or {}).get("certified_cells", len(result["per_query"]))
    where = "audited" if result["mode"] != "monte-carlo" else "certified"
    the = f"the {where} cells" if where == "audited" or not cells else f"the {cells} {where} cells"
    the = f"the {where} cell" if cells == 1 else the
    return f"≤ {_number(upper, claimed, UP, beyond=upper > claimed)} at {the}"


def _looked(result: Raw) -> str:
    """Count pairs and queries: each pair of the data at every query of the data."""
    searched = result["searched"]
    if searched is None:
        return ""
    if "search" in searched:
        found = plural(searched["certified_cells"], "pair")
        return f"{searched_pairs(searched['search'])}; {found} certified on fresh runs"
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


def _replay(cell: Raw, name: str) -> str:
    if cell["target"] is None or cell["data"].get("kind") == "memory":
        return ""
    file = f"{within(cell)}{shlex.quote(witness_file(name))}"
    command = f"dpassay replay {file}{trust_of(cell)}"
    from_file = cell["data"].get("kind") == "source" and cell["data"]["source"]["kind"] == "file"
    return f"{command} --data FILE" if from_file else command
