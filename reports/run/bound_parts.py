"""How a bound was made: counts, method, alpha, and what the audit would have seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.engine.wording import seen_words, stopped_words
from dpassay.numerics import UP, written
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.search_words import SEARCHED_METHOD, is_searched
from dpassay.reports.run.words import (
    blurred,
    capital,
    error_words,
    event_words,
    is_pattern,
    looked_at,
    promised,
)
from dpassay.reports.shared.numbers import above, below, clean, count, exact, loss, plain, value
from dpassay.stats.methods import method_name

Raw = Mapping[str, Any]


def counts(result: Raw) -> str:
    """Tell how often the event of the witness was seen on both sides, or how likely it is."""
    witness, words = result["witness"], words_of(result["claim"])
    if witness is None:
        return ""
    one, other = ("S", "S'") if witness["direction"] == "S to S'" else ("S'", "S")
    event, trials = event_words(witness["event"]), witness["trials"]
    besides = "search" if is_searched(result) else "screening"
    total = f"The mechanism ran {count(result['trials'])} times in all, {besides} included."
    if not event:
        of = "No trials" if trials is None else f"{count(trials['draws'])} runs on each side"
        number_of = f"{words.amount} (see the unit)"
        mean = (
            number_of if words.computed else "prediction" if trials is None else "mean prediction"
        )
        means = f"the {mean} is {plain(witness['p1'])} on {one}, {plain(witness['p0'])} on {other}"
        return f"{of}; {means}." + ("" if trials is None else f" {total}")
    if words.strings:
        return _bad_strings(result, total)
    if trials is not None:
        draws, x, y = (count(trials[name]) for name in ("draws", "x", "y"))
        given = f"The answer {event} was given"
        if is_pattern(witness["event"]):
            given = f"The event '{event}' happened"
        return f"{given} in {x} of {draws} runs on {one} and in {y} of {draws} on {other}. {total}"
    if value(witness["loss"]) == 0:
        return f"No trials. {words.still}"
    law = (
        f"P[{event}] is p1 = {plain(witness['p1'])} on {one} and p0 = {plain(witness['p0'])} on "
        f"{other}"
    )
    shown = exact(value(witness["loss"]), words.promised, exceeds=result["verdict"] == "refuted")
    if blurred(result):
        least = below(value(result["lower"]), words.promised)
        shown += f", and at least {least} whatever the numerical error is"
    return f"No trials: by the output law, {law}, so that {words.formula} = {shown}."


def _bad_strings(result: Raw, total: str) -> str:
    """Tell the proportion of bad random strings.

    The leak, whichever of good (0) and bad (1) the worst event is.
    """
    trials, share = result["witness"]["trials"], value(result["exact"])
    if trials is not None:
        bad = trials["x"] if result["witness"]["event"] == [1] else trials["draws"] - trials["y"]
        return f"{count(bad)} of {count(trials['draws'])} random strings were bad. {total}"
    if not share:
        return (
            f"A random string is bad with probability at most {above(value(result['upper']))}, by "
            "the law; no trials."
        )
    least = f"at least {below(value(result['lower']), 0.0)}" if blurred(result) else loss(share)
    return f"A random string is bad with probability {least}, by the law; no trials."


def bound(result: Raw) -> tuple[str, ...]:
    """Tell how the bound was made, by the mode of the audit."""
    mode, words = result["mode"], words_of(result["claim"])
    if result["lower"] is None or mode is None:
        return ()
    if mode == "monte-carlo":
        return _sampled(result)
    if words.computed:
        every = "every audited dataset (S and each S')"
        if mode == "exhaustive":
            every = "every dataset of the domain"
        return (f"The {words.amount} of {every} was computed, with a bound on its rounding error.",)
    error = f"{capital(error_words(result))}."
    if value(result["error"]):
        error = f"{error[:-1]}, at the worst cell; the bounds already allow for it."
    if words.strings:
        how = (
            "At every audited pair the proportion of bad random strings was computed from their "
            "law; where it is negligible, a proven upper bound on it, such as Chernoff's, was "
            "taken instead."
        )
        if value(result["exact"]) == 0 and (most := value(result["upper"])):
            error = (
                f"{above(most)} is such an upper bound, rounding included; no proportion above 0 "
                "was computed, so it is not a numerical error."
            )
    elif mode == "exhaustive":
        how = (
            "Exhaustive enumeration: the exact law of every dataset of the domain was compared "
            "with that of every neighbour at every query, so this is the true worst case of the "
            "domain"
        ) + (", of what was looked at." if looked_at(result) else ".")
    else:
        how = (
            f"Exact law: the leak of every audited cell was computed from {_law(result)}, in both "
            "directions."
        )
    return (f"{how} {error}",)


def _law(result: Raw) -> str:
    """Say which law was compared."""
    if looked_at(result):
        return "the law of what was looked at"
    if result["witness"] is not None and result["witness"]["event"] == []:
        return "the mechanism's own law of mean predictions"
    return "the mechanism's own output law"


def below_claim(result: Raw) -> bool:
    """Whether a sequential test refuted a claim that no bound of the record is above."""
    return "stopped_early" in result and (value(result["lower"]) or 0.0) <= promised(
        result["claim"]
    )


def stopped_early(result: Raw) -> str:
    """Say in a sentence how a sequential test refuted the claim; empty where none did."""
    early = result.get("stopped_early")
    if early is None:
        return ""
    numbers = (early[name] for name in ("trials", "planned", "e_value", "threshold"))
    told = stopped_words(*numbers)
    if below_claim(result):
        told += "; the bound, of fresh trials, is not above the claim"
    return f"{capital(told)}."


def _sampled(result: Raw) -> tuple[str, ...]:
    searched = result["searched"] or {}
    screening = searched.get("screening_trials")
    cells = searched.get("certified_cells", len(result["per_query"]))
    first = "Screening trials of every pair" + (
        f" ({count(screening)} per side)" if screening is not None else ""
    )
    events = words_of(result["claim"]).events
    what = "pairs, directions and events" if events else "pairs and directions"
    spent = result["spending"]
    bounds = "bounds and the band" if spent is None or spent["profile"] else "bounds"
    screening_words = (
        f"{first} selected the {what} that looked worst at each query. "
        "Separate, fresh trials certified them; no draw served both screening and certification. "
        f"The same trials of S may serve several cells, and the {bounds} of a cell "
        "come from the same trials; α is divided among them."
    )
    if is_searched(result):
        few = f"; {count(screening)} more per side chose the test" if screening is not None else ""
        screening_words = SEARCHED_METHOD.format(few=few)
    methods = " or ".join(
        sorted({clean(method_name(cell["method"])) for cell in result["per_query"]})
    )
    fewer = (
        ", of which the table shows the worst at each query"
        if cells > len(result["per_query"])
        else ""
    )
    certified_words = (
        f"Lower bound: {methods}, chosen before the certification trials"
        f"{f'; Bonferroni over the {cells} certified cells' * (cells > 1)}{fewer}. "
    )
    if value(result["upper"]) == math.inf:
        certified_words += (
            "The leak of the certified pair has no finite upper bound: an event that was not "
            "looked at may leak any amount."
            if is_searched(result)
            else "The largest leak of the certified cells has no finite upper bound: an event that "
            "was not looked at, or that never occurred on one side, may leak any amount."
        )
    else:
        certified_words += (
            f"Upper bound: intersection-union over {'events, ' if events else ''}directions and "
            "certified cells; it covers those cells only."
        )
    early = stopped_early(result)
    if early:
        early += (
            " There the trials ended. A bound may not be made of trials whose number depends on "
            "what they showed, so the bounds are of fresh trials."
        )
    return tuple(filter(None, (screening_words, early, certified_words)))


def sight(result: Raw) -> tuple[str, ...]:
    """Say what would have been refuted with probability 0.9, and through which answers."""
    seen = result.get("sight")
    if seen is None:
        return ()
    quantity, searched = words_of(result["claim"]).amount, result["searched"] or {}
    leak, frequency = value(result["detectable"]) or math.inf, seen["frequency"]
    leaks = capital(seen_words(quantity, leak, frequency))
    part = " in the part of the release looked at," if looked_at(result) else ""
    refuted = (
        "would have led the audit to refute the claim with probability 0.9, screening included"
    )
    where = f"at {_one_of(searched.get('pairs', 1))} looked at"
    if is_searched(result):
        began = _one_of(searched["search"][0]["pairs"])
        where = f"at {began} that the search began with"
        refuted = refuted.replace("screening included", "the search included")
    texts = [f"{leaks}, {where},{part} {refuted}."]
    if is_searched(result):
        texts.append(REHEARSED)
    if frequency is not None:
        capped = CERTIFIED if is_searched(result) else CAPPED
        whence = "assumed, since the screening saw nothing move" if seen["assumed"] else capped
        texts.append(
            f"This probability, on the side where the answer is likelier, is {whence}. "
            f"{_rarer(seen['curve'][1:])}"
        )
    return tuple(text.strip() for text in texts)


def _one_of(pairs: int) -> str:
    return "the one pair" if pairs == 1 else f"one of the {count(pairs)} pairs"


REHEARSED = (
    "For this number the rounds of the search were rehearsed on drawn counts, with all other pairs "
    "at the claim."
)
CERTIFIED = "that of the certified event, rounded down to two digits and capped"
CAPPED = (
    "that of the answer that looked worst, rounded down to two digits and capped: for labels at "
    "the point beyond which, at the smallest leak that the certification alone would refute, the "
    "other answers together would leak more, for numbers at one half"
)
"""Whence the frequency is that the smallest leak seen belongs to; see
`dpassay.engine.detection.audits.sight`."""


def _rarer(curve: Sequence[tuple[float, float | str | None]]) -> str:
    """Say what is seen through rarer answers, the likeliest first.

    Where nothing is promised, nothing is through rarer ones.
    """
    told: list[str] = []
    for point, recorded in curve:
        seen = value(recorded)
        if seen is None or math.isinf(seen):
            blind = f"What is seen through an answer of probability {point:g} or less"
            return " ".join([*told, f"{blind} is not promised."])
        told.append(
            f"Through an answer of probability {point:g} it takes a leak of {written(seen, 4, UP)}."
        )
    return " ".join(told)


def alpha(result: Raw, run: Raw) -> tuple[str, ...]:
    """Tell what alpha was spent on."""
    if result["alpha"] is None:
        return ()
    if result["mode"] != "monte-carlo":
        return ("Nothing was spent: a computed number has no sampling error.",)
    text = (
        f"Of the run's error probability {plain(1 - run['confidence'])} this result received α = "
        f"{plain(result['alpha'])}"
    )
    spent = result["spending"]
    if spent is None:
        return (f"{text}.",)
    parts = (
        f"{text}: {plain(spent['lower'])} for the lower bounds, {plain(spent['each_lower'])} at "
        + (f"each of {spent['cells']} certified cells" if spent["cells"] > 1 else "the one cell")
    )
    if spent["upper"]:
        parts += (
            f"; {plain(spent['upper'])} for the upper bounds, half of it undivided for the largest "
            f"leak (intersection-union) and {plain(spent['each_upper'])} at each cell"
        )
    if spent["profile"]:
        parts += (
            f"; {plain(spent['profile'])} for the bands of the privacy profiles, "
            f"{plain(spent['each_profile'])} "
        )
        parts += "at each cell"
    events = words_of(result["claim"]).events
    choice = "direction, event and test" if events else "direction and test"
    once = "the certification trials were looked at once"
    early = ""
    if spent["looks"] > 1:
        once = f"looking {spent['looks']} times is paid with the part for the e-processes"
        early = (
            f"The e-processes of all cells and looks have {plain(spent['sequential'])}, and bounds "
            f"on fresh trials, if one of them refutes, {plain(spent['fresh'])}"
        )
        early += (
            ": the bounds above are those; the rest was for bounds on all the trials that were "
            "planned."
            if "stopped_early" in result
            else "."
        )
    free = f"Choosing the {choice} of each cell cost nothing: the screening chose them, and {once}."
    return tuple(filter(None, (f"{parts}.", early, free)))
