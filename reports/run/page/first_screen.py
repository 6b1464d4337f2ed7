"""The first screen: what was checked, what was found, how bad it is, and what to do now."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpassay.numerics import DOWN, UP, percent, written
from dpassay.reports.run.brief import LEAKS, Brief
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.search_words import every_dataset, is_searched, space_words, without_data
from dpassay.reports.run.view import ResultView
from dpassay.reports.run.words import FOLDER, capital, folder, looked_at
from dpassay.reports.shared.cards import Bar, Card, LargeNumber, NumberLine, Step, number_line
from dpassay.reports.shared.numbers import clean, plural, value
from dpassay.reports.shared.statuses import (
    ERROR,
    EXPECTED,
    HELD,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    VERIFIED,
)

Raw = Mapping[str, Any]

FIXED = "\N{NO-BREAK SPACE}"


PLANNED = {
    *("--learner", "--claim", "--answers", "--profile", "--confidence", "--seed", "--detect"),
    *("--data", "--label", "--train", "--queries", "--train-queries", "--neighbours"),
    *("--stop-early", "--no-stop-early"),
}
"""Options that `dpassay plan` shares with `dpassay run`."""


def card(result: ResultView, run: Raw) -> Card:
    """Put together what the first screen shows of one result."""
    raw, brief = result.raw, result.brief
    moved = len(brief.sides) == 2 and brief.sides[0][1] != brief.sides[1][1]
    shown = bool(brief.seen) and (moved or not brief.sides)
    bars, scale = _bars(raw, brief) if shown and moved else ((), "")
    decided = brief.status in {REFUTED, EXPECTED, HELD, VERIFIED}
    return Card(
        name=brief.name,
        anchor=result.anchor,
        status=brief.status,
        numbers=tuple(_numbers(raw, brief, run)),
        verdict="" if decided else f"{capital(brief.reason)}.",
        seen=((brief.seen,) if shown else ()) + brief.lines,
        bars=bars,
        scale=scale,
        line=_line(raw, brief),
        steps=tuple(_steps(raw, brief, clean(run["command"]))),
        looked=tuple(_looked(result)),
    )


def origin(record: Raw) -> tuple[str, ...]:
    """Say who made a record from what: version, commit and data; no date."""
    run = record["run"]
    data = run["data"]
    told = [f"dpassay {clean(run['version'])}"]
    if run["commit"] is not None:
        told.append(f"commit {clean(run['commit'])[:10]}")
    if data is None:
        return (*told, without_data(record["results"]))
    size = [plural(data["records"], "record")] if isinstance(data.get("records"), int) else []
    split = data.get("split")
    asked = split.get("queries") if isinstance(split, Mapping) else None
    size += [plural(asked, "query")] if isinstance(asked, int) else []
    return (*told, ", ".join([clean(data.get("name", "unnamed data")), *size]))


def _numbers(raw: Raw, brief: Brief, run: Raw) -> Iterator[LargeNumber]:
    yield LargeNumber(name="Claimed", text=brief.claimed)
    if not brief.found:
        return
    sampled = raw["mode"] == "monte-carlo"
    how = f"{percent(run['confidence'])} confidence" if sampled else "computed"
    where = "every dataset of the domain" if raw["mode"] == "exhaustive" else "at the audited cells"
    refuted = raw["verdict"] == "refuted"
    if sampled:
        interval = not refuted and brief.at_most
        cells = brief.at_most.partition(" at ")[2]
        name = "Certified" if refuted or not interval else f"Certified {_quantity(brief).lower()}"
        yield LargeNumber(name=name, text=brief.found, note=f"{how}, {cells}" if interval else how)
    else:
        yield LargeNumber(name=_quantity(brief), text=brief.found, note=f"{how}, {where}")
    if refuted and brief.at_most:
        most, _, cells = brief.at_most.partition(" at ")
        yield LargeNumber(name="At most", text=most, note=f"at {cells}")
    if refuted and brief.times:
        least = "" if brief.found.startswith("=") else "≥ "
        yield LargeNumber(name=f"{_quantity(brief)} ÷ claim", text=f"{least}{brief.times} ×")
    if not refuted and sampled and brief.sight:
        yield LargeNumber(
            name="Would have seen",
            text=brief.sight,
            note="at the pairs looked at, with probability 0.9",
        )


def _quantity(brief: Brief) -> str:
    """Name what was found: a leak, or what is no leak by its own name."""
    return "Leak" if brief.verb == LEAKS else capital(brief.quantity)


def _bars(raw: Raw, brief: Brief) -> tuple[tuple[Bar, ...], str]:
    """Draw the answer on S and on S', in per cent; small ones over the larger one."""
    (_, one), (_, other) = brief.sides
    means = not raw_event(raw)
    if min(one, other) < 0:
        return (), ""
    top = max(one, other)
    whole = 1.0 if not means and top >= 0.02 else top
    scale = "" if whole == 1.0 else "The longer bar has full length."
    return tuple(
        Bar(side=side, text=text, width=round(100 * each / whole, 1))
        for (side, each), text in zip(brief.sides, brief.shown, strict=True)
    ), scale


def raw_event(raw: Raw) -> bool:
    """Whether the sides of a result are probabilities of an event, not values."""
    return raw["witness"] is not None and raw["witness"]["event"] != []


def _line(raw: Raw, brief: Brief) -> NumberLine | None:
    """Place claim, lower and upper bound on a line that begins at 0."""
    lower, upper, leak = (value(raw[key]) for key in ("lower", "upper", "exact"))
    claimed = words_of(raw["claim"]).promised
    if lower is None:
        return None
    computed = leak is not None and brief.found.startswith("=")
    least = leak if computed and leak is not None else lower
    if computed or looked_at(raw):
        upper = None
    most = "" if upper is None else "≤ ∞"
    if upper is not None and not math.isinf(upper):
        most = brief.at_most.partition(" at ")[0] or f"≤ {written(upper, 3, UP)}"
    return number_line(
        (claimed, f"claim {claimed_number(brief)}"),
        (least, brief.found if computed else f"≥ {_least(brief)}"),
        None if upper is None else (upper, most),
    )


def _least(brief: Brief) -> str:
    return brief.found.removeprefix("≥ ").partition(" to ")[0]


def claimed_number(brief: Brief) -> str:
    """Return the claimed number that what is found is held against, without its name."""
    if brief.claimed.startswith("β"):
        return brief.claimed.rpartition("δ = ")[2]
    return brief.claimed.partition(",")[0].rpartition(" ")[2]


def _steps(raw: Raw, brief: Brief, command: str) -> Iterator[Step]:
    if brief.status in {REFUTED, EXPECTED}:
        yield replayed(brief)
    if brief.status is REFUTED:
        # what is true can be claimed, where a finite claim can be true
        known = not brief.certain and not math.isinf(value(raw["lower"]) or 0.0)
        claim = ", or claim what is true" if known else ""
        yield Step(text=f"Fix the mechanism{claim}: {_refuted_too(raw, brief)}.")
        yield Step(text="Run it again:", command=command)
    elif _exceeded(brief):
        yield Step(
            text="Fix the mechanism, or claim more: a dataset that was not audited breaks the "
            "claim, as told below."
        )
        yield Step(text="Run it again:", command=command)
    elif brief.status is EXPECTED:
        yield Step(text="Nothing else: the claim was declared wrong beforehand.")
    elif brief.status is ERROR:
        yield Step(text="Mend what the message names. Nothing is known about the claim.")
        yield Step(text="Run it again:", command=command)
    elif brief.status in {INCONCLUSIVE, MISSED}:
        yield from _undecided(brief, command)
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
        if brief.status is HELD:
            yield Step(text="To look harder, run it with --profile deep or a larger --budget.")


def _exceeded(brief: Brief) -> bool:
    """Whether a claim that the audit did not refute is broken by a dataset it did not look at."""
    return brief.exceeds and brief.status is HELD


def _undecided(brief: Brief, command: str) -> Iterator[Step]:
    bare = _without_budget(command)
    if "raise the budget" in brief.reason and bare is None:
        yield Step(text="Raise the budget, and run it again.")
    elif "raise the budget" in brief.reason and bare is not None:
        yield Step(text="See which budget would do:", command=f"dpassay plan{bare}")
        yield Step(
            text="Run it again with this many trials:",
            command=f"dpassay run{bare} --budget TRIALS",
        )
    elif brief.status is MISSED:
        yield Step(
            text="The claim is known to be wrong: raise --budget, or audit pairs and queries where "
            "it fails:",
            command=command,
        )
    else:
        yield Step(text="Change what the reason above names, and run it again:", command=command)


def _without_budget(command: str) -> str | None:
    """Return what stands behind `dpassay run`, without budget and mode.

    None where it is not such a command, or `dpassay plan` does not take all of it.
    """
    if not re.match(r"dpassay run\b", command):
        return None
    bare = re.sub(r" --(budget|mode)[ =]\S+", "", command.removeprefix("dpassay run"))
    return bare if set(re.findall(r" (--[a-z-]+)", bare)) <= PLANNED else None


def replayed(brief: Brief) -> Step:
    """Say how a witness is seen again."""
    if brief.replay:
        return Step(text=f"See it again, {folder(brief.replay)}:", command=brief.replay)
    return Step(
        text="See it again from Python, with the same pairs and queries: the mechanism or its data "
        "existed in memory only."
    )


def _refuted_too(raw: Raw, brief: Brief) -> str:
    """Say which other claims the same numbers refute."""
    words, lower = words_of(raw["claim"]), value(raw["lower"]) or 0.0
    name = "bound" if words.computed else words.symbol
    if brief.above:
        return f"every {name} up to {written(words.promised, 6, DOWN)} is refuted too"
    if math.isinf(lower):
        return f"every finite {name} is refuted too"
    least = written(lower, 3, DOWN)
    if float(least) <= float(words.promised):
        least = _least(brief).removeprefix("= ")
    beside = " at this δ" if words.slack else ""
    told = f"every {name} below {least}{beside} is refuted too"
    if brief.certain and name in {"ε", "μ"}:
        return f"{told}, and no finite {name} holds if their answers never coincide"
    trials = raw["witness"]["trials"] if name in {"ε", "μ"} else None
    never = trials is not None and trials["y"] == 0 and not brief.certain
    return f"{told}, and no {name} holds if the answer cannot come on one side" if never else told


def _looked(result: ResultView) -> Iterator[str]:
    raw, brief = result.raw, result.brief
    if not brief.looked:
        return
    if is_searched(raw) and raw["mode"] == "monte-carlo":
        yield from _sought(result)
        return
    part = looked_at(raw)
    part = f", of the part of the release that was looked at ({part})" if part else ""
    yield f"Looked at: {brief.looked}{part}."
    if raw["mode"] == "exhaustive":
        yield f"{every_dataset(raw['searched'])} Nothing is said beyond it."
        return
    if raw["mode"] != "monte-carlo":
        seen = "any excess" if brief.sight == "any excess" else f"one {brief.sight}"
        yield f"Every {_quantity(brief).lower()} there was computed: {seen} would have been seen."
    elif brief.sight:
        through = result.through
        yield (
            f"A leak {brief.sight.replace(' ', FIXED)} there would have been refuted with "
            f"probability 0.9{', ' if through else ''}{through}."
        )
    else:
        yield "Which leak there would have been refuted with probability 0.9 is not promised."
    worst = next((each for each in result.parts if each.title == "Worst over all datasets"), None)
    yield worst.texts[0] if worst else "The audit is blind elsewhere."


def _sought(result: ResultView) -> Iterator[str]:
    """Say what a search looked at; and would have seen."""
    raw, brief, through = result.raw, result.brief, result.through
    among = space_words(raw)
    yield f"Searched{f' among {among}' if among else ''}: {brief.looked}."
    pairs = raw["searched"]["search"][0]["pairs"]
    where = "the one pair" if pairs == 1 else f"one of the {pairs:,} pairs"
    seen = (
        f"a leak {brief.sight.replace(' ', FIXED)} would have been refuted with probability 0.9"
        f"{', ' if through else ''}{through}"
        if brief.sight
        else "a leak of a size that is not promised would have been refuted with probability 0.9"
    )
    yield f"At {where} that it began with, {seen}, the search included."
    yield "There may be worse pairs."


def chosen(results: Sequence[ResultView]) -> list[ResultView]:
    """Return the results that the first screen shows in full.

    What is refuted, exceeded, undecided or failed is shown; else the only one.
    """
    shown = [
        each
        for each in results
        if _exceeded(each.brief) or each.status not in {HELD, VERIFIED, EXPECTED}
    ]
    return shown or list(results if len(results) == 1 else ())
