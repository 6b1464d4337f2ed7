"""The first screen: what was checked, what was found, how bad it is, and what to do now."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpassay.numerics import DOWN, UP, percent, written
from dpassay.reports.run.result import LEAKS, ResultView
from dpassay.reports.run.scope import data_words, every_dataset, space_words, without_data
from dpassay.reports.run.view import FullView
from dpassay.reports.run.words import FOLDER, capital, folder
from dpassay.reports.shared.cards import Bar, Card, LargeNumber, NumberLine, Step, number_line
from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.statuses import ERROR, HELD, MISSED, REFUTED, UNDECIDED, WRONG

Raw = Mapping[str, Any]
FIXED = "\N{NO-BREAK SPACE}"
PLANNED = {
    *("--learner", "--claim", "--answers", "--profile", "--confidence", "--seed", "--detect"),
    *("--data", "--label", "--train", "--queries", "--train-queries", "--neighbours"),
    *("--stop-early", "--no-stop-early"),
}
"""Options that `dpassay plan` shares with `dpassay run`."""


def card(r: FullView, run: Raw) -> Card:
    """Put together what the first screen shows of one result."""
    moved = len(r.sides) == 2 and r.sides[0][1] != r.sides[1][1]
    shown = bool(r.seen) and (moved or not r.sides)
    bars: tuple[Bar, ...] = ()
    largest = max((each for _, each in r.sides), default=0.0)
    whole = largest
    if shown and moved and min(each for _, each in r.sides) >= 0:
        # the answer on S and on S', in per cent; small ones, and values, over the larger one
        event = r.witness is not None and r.witness["event"] != []
        whole = 1.0 if event and largest >= 0.02 else largest
        bars = tuple(
            Bar(side=side, text=text, width=round(100 * each / whole, 1))
            for (side, each), text in zip(r.sides, r.shown, strict=True)
        )
    return Card(
        name=r.name,
        anchor=r.anchor,
        status=r.status,
        numbers=tuple(_numbers(r, run)),
        verdict=f"{capital(r.reason)}." if r.status in UNDECIDED else "",
        seen=((r.seen,) if shown else ()) + r.lines,
        bars=bars,
        scale="The longer bar has full length." if bars and whole != 1.0 else "",
        line=_line(r),
        steps=tuple(_steps(r, clean(run["command"]))),
        looked=tuple(_looked(r)),
    )


def origin(record: Raw) -> tuple[str, ...]:
    """Return who made a record from what: version, commit and data; no date."""
    run = record["run"]
    told = [f"dpassay {clean(run['version'])}"]
    if run["commit"] is not None:
        told.append(f"commit {clean(run['commit'])[:10]}")
    return (*told, data_words(run["data"]) or without_data(record["results"]))


def _numbers(r: ResultView, run: Raw) -> Iterator[LargeNumber]:
    yield LargeNumber(name="Claimed", text=r.claimed)
    if not r.found:
        return
    most, _, cells = r.at_most.partition(" at ")
    if r.sampled:
        how, interval = f"{percent(run['confidence'])} confidence", not r.refuted and r.at_most
        name = f"Certified {_quantity(r).lower()}" if interval else "Certified"
        yield LargeNumber(name=name, text=r.found, note=f"{how}, {cells}" if interval else how)
    else:
        where = "every dataset of the domain" if r.exhaustive else "at the audited cells"
        yield LargeNumber(name=_quantity(r), text=r.found, note=f"computed, {where}")
    if r.refuted and r.at_most:
        yield LargeNumber(name="At most", text=most, note=f"at {cells}")
    if r.refuted and r.times:
        least = "" if r.found.startswith("=") else "≥ "
        yield LargeNumber(name=f"{_quantity(r)} ÷ claim", text=f"{least}{r.times} ×")
    if not r.refuted and r.sampled and r.sight:
        note = "at the pairs looked at, with probability 0.9"
        yield LargeNumber(name="Would have seen", text=r.sight, note=note)


def _quantity(r: ResultView) -> str:
    """Return the name of what was found: a leak, or what is no leak by its own name."""
    return "Leak" if r.verb == LEAKS else capital(r.quantity)


def _line(r: ResultView) -> NumberLine | None:
    """Place claim, lower and upper bound on a line that begins at 0."""
    if r.low is None:
        return None
    least, text, upper = r.low, f"≥ {_least(r)}", None if r.looked_at else r.high
    if r.leak is not None and r.found.startswith("="):
        least, text, upper = r.leak, r.found, None
    most = "≤ ∞"
    if upper is not None and not math.isinf(upper):
        most = r.at_most.partition(" at ")[0] or f"≤ {written(upper, 3, UP)}"
    claim = r.promised, f"claim {claimed_number(r)}"
    return number_line(claim, (least, text), None if upper is None else (upper, most))


def _least(r: ResultView) -> str:
    return r.found.removeprefix("≥ ").partition(" to ")[0]


def claimed_number(r: ResultView) -> str:
    """Return the claimed number that what is found is held against, without its name."""
    return re.split("[,(]", r.claimed)[0].split()[-1]


def _steps(r: ResultView, command: str) -> Iterator[Step]:
    again = Step(text="Run it again:", command=command)
    if r.status in WRONG:
        yield replayed(r)
    if r.status is REFUTED:
        # what is true can be claimed, where a finite claim can be true
        known = not r.certain and not math.isinf(r.low or 0.0)
        claim = ", or claim what is true" if known and not r.first_proof else ""
        yield Step(text=f"Fix the mechanism{claim}: {_refuted_too(r)}.")
        if r.first_proof and re.match(r"dpassay run\b", command):
            yield Step(text="See how bad it is:", command=f"{command} --no-stop-early")
        yield again
    elif _exceeded(r):
        yield Step(
            text="Fix the mechanism, or claim more: a dataset that was not audited breaks the "
            "claim, as told below."
        )
        yield again
    elif r.status in WRONG:
        yield Step(text="Nothing else: the claim was declared wrong beforehand.")
    elif r.status is ERROR:
        yield Step(text="Mend what the message names. Nothing is known about the claim.")
        yield again
    elif r.status in UNDECIDED:
        yield from _undecided(r, command)
    else:
        run = command if re.match(r"dpassay run\b", command) else "dpassay run"
        yield Step(
            text="Accept this record once, with the folder of this report for REPORT, and keep "
            "the baseline with the code:",
            command=f"dpassay baseline accept {FOLDER}record.json",
        )
        yield Step(
            text="Keep the audit in CI, so that a detectable rise fails:",
            command=f"{run} --out {FOLDER[:-1]} && dpassay baseline check {FOLDER}record.json",
        )
        if r.status is HELD:
            yield Step(text="To look harder, run it with --profile deep or a larger --budget.")


def _exceeded(r: ResultView) -> bool:
    """Return whether a claim that was not refuted is broken by a dataset that was not audited."""
    return r.exceeds and r.status is HELD


def _undecided(r: ResultView, command: str) -> Iterator[Step]:
    # what stands behind `dpassay run`, without budget and mode, where `dpassay plan` takes it all
    bare = re.sub(r" --(budget|mode)[ =]\S+", "", command.removeprefix("dpassay run"))
    planned = set(re.findall(r" (--[a-z-]+)", bare)) <= PLANNED
    if "raise the budget" in r.reason and planned and re.match(r"dpassay run\b", command):
        yield Step(text="See which budget would do:", command=f"dpassay plan{bare}")
        yield Step(
            text="Run it again with this many trials:", command=f"dpassay run{bare} --budget TRIALS"
        )
    elif "raise the budget" in r.reason:
        yield Step(text="Raise the budget, and run it again.")
    elif r.status is MISSED:
        yield Step(
            text="The claim is known to be wrong: raise --budget, or audit pairs and queries where "
            "it fails:",
            command=command,
        )
    else:
        yield Step(text="Change what the reason above names, and run it again:", command=command)


def replayed(r: ResultView) -> Step:
    """Return how a witness is seen again."""
    if r.replay:
        return Step(text=f"See it again, {folder(r.replay)}:", command=r.replay)
    return Step(
        text="See it again from Python, with the same pairs and queries: the mechanism or its data "
        "existed in memory only."
    )


def _refuted_too(r: ResultView) -> str:
    """Return which other claims the same numbers refute."""
    lower, name = r.low or 0.0, "bound" if r.words.computed else r.words.symbol
    if math.isinf(lower):
        return f"every finite {name} is refuted too"
    least = written(lower, 3, DOWN)
    if float(least) <= r.promised:
        least = _least(r).removeprefix("= ")
    beside = " at this δ" if r.words.slack else ""
    told = f"every {name} below {least}{beside} is refuted too"
    if r.certain and name in {"ε", "μ"}:
        return f"{told}, and no finite {name} holds if their answers never coincide"
    trials = r.witness["trials"] if name in {"ε", "μ"} else None
    never = trials is not None and trials["y"] == 0 and not r.certain
    return f"{told}, and no {name} holds if the answer cannot come on one side" if never else told


def _looked(r: FullView) -> Iterator[str]:
    """Yield what was looked at, and what would have been seen there."""
    if not r.looked:
        return
    through = f"{', ' if r.through else ''}{r.through}"
    a_leak = f"leak {r.sight.replace(' ', FIXED)}"
    if r.sought and r.sampled:
        among = space_words(r.raw)
        yield f"Searched{f' among {among}' if among else ''}: {r.looked}."
        if r.first_proof:
            return
        pairs = r.searched["search"][0]["pairs"]
        where = "the one pair" if pairs == 1 else f"one of the {pairs:,} pairs"
        leak = a_leak if r.sight else "leak of a size that is not promised"
        seen = f"a {leak} would have been refuted with probability 0.9{through if r.sight else ''}"
        yield f"At {where} that it began with, {seen}, the search included."
        yield "There may be worse pairs."
        return
    part = f", of the part of the release that was looked at ({r.looked_at})" if r.looked_at else ""
    yield f"Looked at: {r.looked}{part}."
    if r.exhaustive:
        yield f"{every_dataset(r.searched)} Nothing is said beyond it."
        return
    if not r.sampled:
        seen = "any excess" if r.sight == "any excess" else f"one {r.sight}"
        yield f"Every {_quantity(r).lower()} there was computed: {seen} would have been seen."
    elif r.sight:
        yield f"A {a_leak} there would have been refuted with probability 0.9{through}."
    else:
        yield "Which leak there would have been refuted with probability 0.9 is not promised."
    worst = next((each for each in r.parts if each.title == "Worst over all datasets"), None)
    yield worst.texts[0] if worst else "The audit is blind elsewhere."


def chosen(results: Sequence[FullView]) -> list[FullView]:
    """Return the results that the first screen shows in full.

    What is refuted, exceeded, undecided or failed is shown; else the only one.
    """
    act = {REFUTED} | UNDECIDED
    shown = [each for each in results if _exceeded(each) or each.status in act]
    return shown or list(results if len(results) == 1 else ())
