"""What a report says about one result, in sentences. The formats only arrange them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dpassay.engine.wording import seen_words, stopped_words
from dpassay.numerics import UP, VISIBLE, written
from dpassay.record.files import trust_of, witness_file
from dpassay.reports.run.domain_words import symmetry_words
from dpassay.reports.run.kinds import KINDS, words_of
from dpassay.reports.run.search_words import (
    SEARCHED_METHOD,
    declared_words,
    is_searched,
    limit_words,
    one_output,
    search_words,
    space_words,
)
from dpassay.reports.shared.numbers import (
    above,
    allowance,
    below,
    clean,
    count,
    exact,
    half_line_words,
    loss,
    plain,
    plural,
    promise,
    shorten,
    value,
)
from dpassay.reports.shared.statuses import EXPECTED, MISSED, Status
from dpassay.stats.methods import method_name

Raw = Mapping[str, Any]

ORIGIN = {
    "printed": "computed from what is printed",
    "corrected": "corrected, with a derivation",
    "own": "declared with the mechanism",
    "measured": "nobody claims it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One titled piece of the story of a result.

    Parameters
    ----------
    title : str
    texts : tuple of str
        Paragraphs.
    command : str or None
        A command line that belongs to it.
    """

    title: str
    texts: tuple[str, ...]
    command: str | None = None


def parts_of(
    result: Raw, status: Status, run: Raw, profile: tuple[str, ...] = ()
) -> tuple[Part, ...]:
    """Tell everything about a result but its per-query table; what is not known is left out."""
    found = (
        Part(title="Claim", texts=_claim(result)),
        _verdict(result, status),
        _witness(result),
        _counts(result),
        Part(title="Privacy profile", texts=profile) if profile else None,
        _seen(result),
        _method(result),
        _alpha(result, run),
        _any_size(result),
        _other(result),
        _fit(result),
        _searched(result),
        _parameters(result),
        _replay(result),
    )
    return tuple(part for part in found if part is not None)


def looked_at(result: Raw) -> str:
    """What of the release was looked at, in words.

    Empty where that is all of it, or an older record does not say.
    """
    return clean(result.get("looked_at", "")).rstrip(",")


def promised(claim: Raw) -> float:
    """Return the number that what is found is held against.

    epsilon, mu, gamma, a proportion delta or the bound of an error.
    """
    return words_of(claim).promised


ROUNDED = 1e-11
"""Part of a number that writing it down with 12 digits changes, at most."""


def exceeds(result: Raw) -> bool:
    """Whether the worst case over datasets of any size is above the claim for certain.

    The audit decides that, from numbers that are not rounded. A record from before it wrote that
    down has rounded ones: there the leak must be above by more than its error and the rounding.
    """
    found = result["any_size"]
    if found is None:
        return False
    if "exceeds" in found:
        return bool(found["exceeds"])
    exact, claimed = float(found["exact"]), promised(result["claim"])
    return exact - float(found["error"]) > claimed + ROUNDED * max(exact, claimed)


def blurred(result: Raw) -> bool:
    """Whether the error of a computed number reaches digits that a report shows.

    Then its bounds are shown instead.
    """
    exact, error = value(result["exact"]), value(result.get("error")) or 0.0
    return exact is not None and math.isfinite(exact) and error > VISIBLE * max(1.0, abs(exact))


def claim_short(claim: Raw, found: float | None = None) -> str:
    """Write the claimed numbers for a table: epsilon, and delta where there is one; gamma.

    beta1, beta2 and delta; or a bound.

    A leak that was found to be above the claim for certain gives it the digits that show it.
    """
    words = words_of(claim)
    return words.short(promise(words.promised, found))


ONE_BY_ONE = (
    "Every query was looked at by itself; what several answers reveal together was not looked at."
)
"""What is not known of answers to several queries, where the claim is about one."""


def _claim(result: Raw) -> tuple[str, ...]:
    """Say what was promised, to whom it applies, and who says so."""
    claim, part = result["claim"], looked_at(result)
    unit = clean(claim["unit"])
    scope = f"Unit: {unit}. Coins: {clean(claim['coins'])}."
    if one_output(result):
        scope = f"Coins: {clean(claim['coins'])}. All that one run returns is one output."
    elif "single prediction" in unit:
        scope += f" {ONE_BY_ONE}{_several(claim, result['witness'], result['parameters'])}"
    said = (
        words_of(claim).sentence(taken(fixed_n(result))),
        scope,
        f"Source: {clean(claim['source'])} ({ORIGIN[claim['status']]}).",
    )
    if not part:
        return said
    return (
        *said,
        (
            f"Only a part of the release was looked at: {part}. The whole release leaks at least "
            "as much."
        ),
    )


def _several(claim: Raw, witness: Raw | None, parameters: Raw) -> str:
    """Say what looks at several answers to one batch.

    It takes catalogue entries that answer 0 or 1 and claim a loss.

    The interface hands its own epsilon to the algorithm that it asks, and takes no other from it.
    """
    several = witness is not None and words_of(claim).batches and witness["labels"] == [0, 1]
    target = witness["target"] if witness is not None and several else None
    if target is None or ":" in target or not clean(claim["unit"]).startswith("single prediction"):
        return ""
    name = clean(target) + (f",n={parameters['n']}" if "n" in parameters else "")
    epsilon = f" -p epsilon={_json(parameters['epsilon'])}" if "epsilon" in parameters else ""
    command = f"dpassay run interface -p base={name}{epsilon} -p adversary=batch"
    return (
        f" To audit several answers together: {command} (set other parameters by "
        f"base={name},NAME=VALUE)."
    )


def claim_name(claim: Raw) -> str:
    """Name what was promised in a few words."""
    return words_of(claim).name


def change_words(cell: Raw) -> str:
    """Say what a pair of a record changes, by lines of the data file where the record has them."""
    return clean(cell.get("in_file", cell)["change"])


def event_words(event: Any) -> str:
    """Name an event: its labels, half-line or pattern; nothing where a claim is about means."""
    if is_pattern(event):
        return clean(event["words"])
    if isinstance(event, Mapping):
        ((kind, threshold),) = event.items()
        return half_line_words(float(threshold), above=kind == "at_least")
    return " or ".join(str(label) for label in event)


def is_pattern(event: Any) -> bool:
    """Whether an event was learned, see `dpassay.search.events`."""
    return isinstance(event, Mapping) and "pattern" in event


def _verdict(result: Raw, status: Status) -> Part:
    reason = clean(result["reason"])
    if result["verdict"] == "error":
        cause = reason.removesuffix(".") or "No cause was recorded"
        return Part(title="Cause of the error", texts=(f"{cause}.", status.meaning))
    texts = [f"{status.word[0].upper()}{status.word[1:]}: {reason}."]
    if status in (EXPECTED, MISSED) or result["verdict"] == "verified":
        texts.append(status.meaning)
    return Part(title="Verdict", texts=tuple(texts))


def _witness(result: Raw) -> Part | None:
    witness = result["witness"]
    if witness is None:
        return None
    return Part(
        title="Witness",
        texts=(_nothing(result["claim"]) if nothing_found(result) else clean(witness["words"]),),
    )


def _nothing(claim: Raw) -> str:
    """Say that no audited cell is a witness of anything, as far as the claim's loss tells."""
    if words_of(claim).strings:
        found = "at no audited pair was a proportion of bad random strings above 0 computed"
    elif delta := value(claim["delta"]):
        found = f"at δ = {allowance(delta)}, the claim's, no audited cell has a loss above 0"
    else:
        found = "no leak was found at the audited cells"
    return f"There is none: {found}."


def nothing_found(result: Raw) -> bool:
    """Whether no audited pair, query and event is a witness of anything."""
    witness = result["witness"]
    return witness is not None and no_event(value(result["exact"]), witness["event"])


def no_event(leak: float | None, event: Any) -> bool:
    """Whether what stands as the worst event of a cell stands there for want of one that leaks.

    Values are no events.
    """
    return leak == 0 and event != []


def _counts(result: Raw) -> Part | None:
    witness, words = result["witness"], words_of(result["claim"])
    if witness is None:
        return None
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
        return Part(
            title="Counts", texts=(f"{of}; {means}." + ("" if trials is None else f" {total}"),)
        )
    if words.strings:
        return Part(title="Counts", texts=(_bad_strings(result, total),))
    if trials is not None:
        draws, x, y = (count(trials[name]) for name in ("draws", "x", "y"))
        given = (
            f"The event '{event}' happened"
            if is_pattern(witness["event"])
            else f"The answer {event} was given"
        )
        seen = f"{given} in {x} of {draws} runs on {one} and in {y} of {draws} on {other}."
        return Part(title="Counts", texts=(f"{seen} {total}",))
    law = (
        f"P[{event}] is p1 = {plain(witness['p1'])} on {one} and p0 = {plain(witness['p0'])} on "
        f"{other}"
    )
    if value(witness["loss"]) == 0:
        return Part(title="Counts", texts=(f"No trials. {words.still}",))
    shown = exact(
        value(witness["loss"]), promised(result["claim"]), exceeds=result["verdict"] == "refuted"
    )
    if blurred(result):
        shown += (
            f", and at least {below(value(result['lower']), promised(result['claim']))} whatever "
            "the numerical error is"
        )
    return Part(
        title="Counts",
        texts=(f"No trials: by the output law, {law}, so that {words.formula} = {shown}.",),
    )


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


def _method(result: Raw) -> Part | None:
    mode = result["mode"]
    if result["lower"] is None or mode is None:
        return None
    if mode == "monte-carlo":
        return Part(title="How the bound was made", texts=_sampled(result))
    if words_of(result["claim"]).computed:
        every = (
            "every dataset of the domain"
            if mode == "exhaustive"
            else "every audited dataset (S and each S')"
        )
        how = (
            f"The {words_of(result['claim']).amount} of {every} was computed, with a bound on its "
            "rounding error."
        )
        return Part(title="How the bound was made", texts=(how,))
    error = f"{_capital(_error(result))}."
    if value(result["error"]):
        error = f"{_capital(_error(result))}, at the worst cell; the bounds already allow for it."
    if words_of(result["claim"]).strings:
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
        law = (
            "the law of what was looked at"
            if looked_at(result)
            else "the mechanism's own law of mean predictions"
            if result["witness"] is not None and result["witness"]["event"] == []
            else "the mechanism's own output law"
        )
        how = (
            f"Exact law: the leak of every audited cell was computed from {law}, in both "
            "directions."
        )
    return Part(title="How the bound was made", texts=(f"{how} {error}",))


def _error(found: Raw) -> str:
    """Say how large the numerical error of a computed number is at most."""
    error = value(found["error"]) or 0.0
    return f"numerical error at most {written(error, 2, UP)}" if error else "no numerical error"


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
    return f"{_capital(told)}."


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
        f"Lower bound: {methods}, chosen before the certification trials; "
        f"Bonferroni over the {plural(cells, 'certified cell')}{fewer}. "
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


def _seen(result: Raw) -> Part | None:
    """Say what would have been refuted with probability 0.9, and through which answers."""
    sight = result.get("sight")
    if sight is None:
        return None
    quantity, searched = words_of(result["claim"]).amount, result["searched"] or {}
    leak, frequency = value(result["detectable"]) or math.inf, sight["frequency"]
    pairs = plural(searched.get("pairs", 1), "pair")
    seen, part = (
        seen_words(quantity, leak, frequency),
        " in the part of the release looked at," if looked_at(result) else "",
    )
    refuted = (
        "would have led the audit to refute the claim with probability 0.9, screening included"
    )
    where = f"at one of the {pairs} looked at"
    if is_searched(result):
        began = plural(searched["search"][0]["pairs"], "pair")
        where = f"at one of the {began} that the search began with"
        refuted = refuted.replace("screening included", "the search included")
    texts = [f"{_capital(seen)}, {where},{part} {refuted}."]
    if is_searched(result):
        texts.append(REHEARSED)
    if frequency is not None:
        capped = CERTIFIED if is_searched(result) else CAPPED
        whence = "assumed, since the screening saw nothing move" if sight["assumed"] else capped
        texts.append(
            f"This probability, on the side where the answer is likelier, is {whence}. "
            f"{_rarer(sight['curve'][1:])}"
        )
    return Part(title="What would have been seen", texts=tuple(text.strip() for text in texts))


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
`dpassay.engine.detection.sight`."""


def _rarer(curve: Sequence[tuple[float, float | str | None]]) -> str:
    """Say what is seen through rarer answers, the likeliest first.

    Where nothing is seen, nothing is through rarer ones.
    """
    told: list[str] = []
    for point, recorded in curve:
        seen = value(recorded)
        if seen is None or math.isinf(seen):
            blind = f"Through an answer of probability {point:g} or less, no leak, however large,"
            return " ".join([*told, f"{blind} would be refuted with probability 0.9."])
        told.append(
            f"Through an answer of probability {point:g} it takes a leak of {written(seen, 4, UP)}."
        )
    return " ".join(told)


def _alpha(result: Raw, run: Raw) -> Part | None:
    if result["alpha"] is None:
        return None
    title = "How α was spent"
    if result["mode"] != "monte-carlo":
        return Part(
            title=title, texts=("None was spent: a computed number has no sampling error.",)
        )
    text = (
        f"Of the run's error probability {plain(1 - run['confidence'])} this result received α = "
        f"{plain(result['alpha'])}"
    )
    spent = result["spending"]
    if spent is None:
        return Part(title=title, texts=(f"{text}.",))
    parts = (
        f"{text}: {plain(spent['lower'])} for the lower bounds, {plain(spent['each_lower'])} at "
        f"each of {plural(spent['cells'], 'certified cell')}"
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
    return Part(title=title, texts=tuple(filter(None, (f"{parts}.", early, free))))


def _any_size(result: Raw) -> Part | None:
    found = result["any_size"]
    if found is None:
        return None
    worst = exact(value(found["exact"]), promised(result["claim"]), exceeds=exceeds(result))
    one, other = (clean(state) for state in found["states"])
    quantity = words_of(result["claim"]).amount + (
        " of what was looked at" if looked_at(result) else ""
    )
    over = everywhere(result, found)
    text = (
        f"Over {over}, the worst {quantity} is {worst} ({_error(found)}), between '{one}' and "
        f"'{other}'."
    )
    return Part(title="Worst over all datasets", texts=(text, clean(found["argument"])))


SINGLE_ANSWERS = (
    "Only single answers were looked at; the probability of a set of answers may change by more."
)
"""What the change of an answer's probability does not tell where there are more than two of
them."""


def everywhere(result: Raw, found: Raw) -> str:
    """Say over which datasets, of what, a worst case is taken.

    All that the mechanism takes, by its own argument.
    """
    n, parameters = fixed_n(result), result["parameters"]
    over = "datasets of any size" if n is None else f"all datasets{taken(n)}"
    over += f" (adversary '{clean(parameters['adversary'])}')" if "adversary" in parameters else ""
    return f"{over}, of {clean(found['of'])}" if found.get("of") else over


def fixed_n(result: Raw) -> int | None:
    """Return the only number of records that the mechanism takes; None if it takes any.

    Older records do not say: there it is the parameter n.
    """
    n: int | None = result.get("fixed_n", result["parameters"].get("n"))
    return n


def taken(n: int | None) -> str:
    """Say that a mechanism takes datasets of one size only, where it does."""
    return "" if n is None else f" that the mechanism takes (n = {clean(_json(n))})"


def _other(result: Raw) -> Part | None:
    """Tell the notion that the claim is not about."""
    other = result.get("other")
    if other is None:
        return None
    words = KINDS[other["kind"]]
    (name, quantity), letter = words.measured, words.symbol
    found, the = value(other["exact"]), "Of what was looked at, the" if looked_at(result) else "The"
    if found == math.inf:
        said = "The loss is infinite: one dataset gives an answer that its neighbour never gives."
    else:
        said = f"{the} worst {quantity} over the audited cells is {letter} = {loss(found)}."
    reached = other["any_size"]
    if reached is not None:
        worst = loss(value(reached["exact"]))
        one, another = (clean(state) for state in reached["states"])
        over = everywhere(result, reached)
        said += f" Over {over} it is {worst}, between '{one}' and '{another}'."
    witness = other["witness"]
    if words.single and witness is not None and len(witness["labels"]) > 2:
        said += f" {SINGLE_ANSWERS}"
    texts = (
        said,
        *(() if witness is None else (f"The worst audited cell: {clean(witness['words'])}",)),
    )
    return Part(title=f"{name}, measured beside the claim", texts=texts)


OWN = "own worst case"
"""How a record begins what it says of a mechanism's own pairs."""
SHOWS_NOTHING = "against this claim it shows nothing"
"""What is said of an own worst case that another claim of the mechanism, or another variant of it,
is the reason for."""
PART_SHOWS_NOTHING = "in what was looked at it shows nothing"
"""The same where only a part of the release was looked at."""
FEW = 100
"""A law is held against more draws of a sampler than these, values without coins against fewer."""


def _fit(result: Raw) -> Part | None:
    fit = result["fit"]
    if fit is None:
        return None
    if fit["draws"] < FEW:
        agreed = "and all agree" if fit["p_value"] > 0 else "and not all agree"
        coinless = (
            f"The sampler has no coins: {plural(fit['tests'], 'answer')} were compared with the "
            f"declared values, {agreed}."
        )
        return Part(title="Goodness of fit", texts=(coinless,))
    tests = plural(fit["tests"], "exact binomial test")
    text = (
        f"{tests} of {count(fit['draws'])} draws each compared the sampler with the declared law, "
        "on one dataset and one neighbour; "
        f"smallest p-value after Bonferroni: {plain(fit['p_value'])}. "
        "Such tests can find differences; they cannot show that there are none."
    )
    return Part(title="Goodness of fit", texts=(text,))


def _searched(result: Raw) -> Part | None:
    searched = result["searched"]
    if searched is None:
        return None
    pairs, queries = (
        f"{plural(searched['pairs'], 'pair')} of neighbours",
        plural(searched["queries"], "query"),
    )
    cells, asked = plural(searched["cells"], "cell"), searched.get("asked", True)
    parts = "; ".join(_parts(searched.get("parts", ()), asked=asked))
    if "datasets" in searched:
        size = (
            f"{plural(searched['datasets'], 'dataset')}, {pairs} and {queries}, each pair at "
            "every query, in both directions: "
        )
        besides = any(clean(how).startswith(OWN) for how in searched["how"])
        size += cells + (", and the mechanism's own worst cases besides." if besides else ".")
        size += symmetry_words(searched)
    elif not asked:
        size = f"{pairs}{f' ({parts})' if parts else ''}, in both directions: {cells}; {NOT_ASKED}."
    else:
        at = f" ({parts})" if parts else f" and {queries}, each pair at its own queries"
        size = f"{pairs}{at}, in both directions: {cells}."
    how = _numbered(
        searched["how"],
        _silent(result),
        PART_SHOWS_NOTHING if looked_at(result) else SHOWS_NOTHING,
    )
    told: tuple[str, ...] = search_words(searched["search"]) if "search" in searched else ()
    told = (*told, ended) if (ended := limit_words(searched)) else told
    if told and (among := space_words(result)):
        together = " All answers of a run were looked at together." * bool(
            searched.get("together", False)
        )
        output = declared_words(searched)
        told = (f"Pairs were searched for among {among}.{together}{output}", *told)
    size = f"Certified: {size}" if told else size
    return Part(
        title="What was searched", texts=(*told, size, *(f"{_capital(each)}." for each in how))
    )


NOT_ASKED = "there are no queries, since what was looked at depends on none"
"""Of what is released once for all queries."""


def _parts(parts: Sequence[Raw], *, asked: bool) -> Iterator[str]:
    """Say of each group how many pairs and queries it has, so that the sum can be made."""
    own, several = 0, len(parts) > 1
    for _, alike in groupby(parts, key=lambda part: json.dumps(part, sort_keys=True)):
        part, *others = alike
        first, own = own + 1, own + (1 + len(others)) * (part["kind"] == "own")
        cases = (
            f"of own worst case {own}"
            if not others
            else f"of each of own worst cases {first} to {own}"
        )
        again = (
            "again, in a learned direction"
            if not others
            else f"again, in each of {1 + len(others)} learned directions"
        )
        whose = {"data": "of the data", "own": cases, "learned": again, "searched": "searched"}
        at = (
            f" at {plural(part['queries'], 'query')}{'' if part['pairs'] == 1 else ' each'}"
            if asked
            else ""
        )
        more = (
            ", one of them whichever of the others is worse for the string"
            if part.get("together")
            else ""
        )
        number = f"{count(part['pairs'])} " if several else ""
        yield f"{number}{whose[part['kind']]}{at}{more}"


def _silent(result: Raw) -> set[int]:
    """Return which of the mechanism's own worst cases, from 1, show nothing.

    Nothing at all of what the claim bounds.
    """
    shown: dict[int, bool] = {}
    own = 0
    for cell in result["per_query"]:
        if cell["group"] == "own":
            own += cell["query"] == 0
            profile = cell.get("profile") or {"lower": ()}
            leaks = value(cell["exact"]) != 0 or any(map(value, profile["lower"]))
            shown[own] = shown.get(own, False) or leaks
    return {number for number, seen in shown.items() if not seen}


def _numbered(told: Sequence[str], silent: Collection[int], nothing: str) -> Iterator[str]:
    """Number the mechanism's own worst cases as the tables do, and say which show nothing.

    The tables of query points.
    """
    number = 0
    for how in map(clean, told):
        own = how.startswith(OWN)
        number += own
        here = f" ({nothing})" if own and number in silent else ""
        yield f"{OWN} {number}{here}{how.removeprefix(OWN)}" if own else how


def _parameters(result: Raw) -> Part:
    words = parameter_words(result["parameters"], result.get("derived"))
    return Part(title="Mechanism", texts=(f"{clean(result['mechanism'])}; {words}.",))


def parameter_words(parameters: Raw, derived: Raw | None = None) -> str:
    """Write parameters as 'name = value', long values cut.

    `derived` is in force for those that were left out.
    """
    known = derived or {}
    pairs = (
        f"{clean(name)} = {_derived(known[name]) if name in known else _parameter(parameter)}"
        for name, parameter in sorted(parameters.items())
    )
    return ", ".join(pairs) or "no parameters"


def _parameter(parameter: object) -> str:
    return "not given" if parameter is None or parameter == "" else shorten(clean(_json(parameter)))


def _derived(found: object) -> str:
    """Write a value that the mechanism worked out itself."""
    return f"{plain(found) if isinstance(found, float) else shorten(clean(found))} (derived)"


def _replay(result: Raw) -> Part | None:
    witness = result["witness"]
    if witness is None or nothing_found(result):
        return None
    if witness["target"] is None or witness["data"].get("kind") == "memory":
        why = (
            "The mechanism or its data existed in memory only: replay the witness from Python, "
            "with the same pairs and queries."
        )
        return Part(title="Replay", texts=(why,))
    file = f"{within(witness)}{witness_file(result['id'])}"
    command = f"dpassay replay {file}{trust_of(witness)}"
    where = f"To replay this witness alone, run {folder(command)}"
    if witness["data"].get("kind") == "source" and witness["data"]["source"]["kind"] == "file":
        where, command = f"{where}, with the data file as FILE", f"{command} --data FILE"
    return Part(title="Replay", texts=(f"{where}:",), command=command)


FOLDER = "REPORT/"
"""The folder of a report in a command that is run elsewhere."""


def within(witness: Raw) -> str:
    """Return what stands before a witness's file: nothing where it can be replayed beside it.

    A module of the user's own is found in its project's folder only.
    """
    return FOLDER if ":" in (witness["target"] or "") else ""


def folder(command: str) -> str:
    """Say in which folder a command for a witness is run."""
    if FOLDER not in command:
        return "in the folder of this report"
    return "where the mechanism can be imported, with the folder of this report for REPORT"


def _json(parameter: object) -> str:
    return (
        parameter
        if isinstance(parameter, str)
        else json.dumps(parameter, ensure_ascii=False, sort_keys=True)
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
