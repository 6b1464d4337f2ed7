"""The story of one result in titled parts; the formats only arrange them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpassay.engine.wording import seen_words
from dpassay.numerics import UP, written
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.scope import any_size, fit, other_notion, searched_words
from dpassay.reports.run.words import (
    ORIGIN,
    Part,
    capital,
    error_words,
    event_words,
    folder,
    is_pattern,
    json_words,
    one_output,
    replay_of,
    taken,
)
from dpassay.reports.shared.numbers import (
    above,
    allowance,
    below,
    clean,
    count,
    exact,
    loss,
    plain,
    shorten,
    value,
)
from dpassay.reports.shared.statuses import ERROR, EXPECTED, MISSED
from dpassay.stats.methods import method_name

Raw = Mapping[str, Any]
ONE_BY_ONE = (
    "Every query was looked at by itself; what several answers reveal together was not looked at."
)
"""What is not known of answers to several queries, where the claim is about one."""


def parts_of(r: ResultView, run: Raw, profile: tuple[str, ...] = ()) -> Iterator[Part]:
    """Yield all that is known of a result but its per-query table."""
    told: tuple[tuple[str, str | tuple[str, ...]], ...] = (
        ("Claim", _claim(r)),
        ("Cause of the error" if r.status is ERROR else "Verdict", _verdict(r)),
        ("Witness", _witness(r)),
        ("Counts", _counts(r)),
        ("Privacy profile", profile),
        ("What would have been seen", _sight(r)),
        ("How the bound was made", _bound(r)),
        ("How α was spent", _alpha(r, run)),
        ("Worst over all datasets", any_size(r)),
        other_notion(r),
        ("Goodness of fit", fit(r)),
        ("What was searched", searched_words(r)),
        ("Mechanism", f"{r.mechanism}; {_parameters(r)}."),
    )
    for title, texts in told:
        if texts:
            yield Part(title, (texts,) if isinstance(texts, str) else texts)
    if r.cell is not None:
        command = replay_of(r.cell, r.raw["id"])
        file = ", with the data file as FILE" * command.endswith(" FILE")
        how = f"To replay this witness alone, run {folder(command)}{file}:"
        why = (
            "The mechanism or its data existed in memory only: replay the witness from Python, "
            "with the same pairs and queries."
        )
        yield Part("Replay", (how if command else why,), command or None)


def _claim(r: ResultView) -> tuple[str, ...]:
    """Return what was promised, to whom it applies, and who says so."""
    claim, unit = r.raw["claim"], clean(r.raw["claim"]["unit"])
    scope = f"Unit: {unit}. Coins: {clean(claim['coins'])}."
    if one_output(r.raw):
        scope = f"Coins: {clean(claim['coins'])}. All that one run returns is one output."
    elif "single prediction" in unit and r.searched:
        scope += f" {ONE_BY_ONE}{_several(r)}"
    origin = f" ({ORIGIN[claim['status']]})" * (claim["source"] != "declared by the user")
    part = (
        f"Only a part of the release was looked at: {r.looked_at}. The whole release leaks at "
        "least as much."
    )
    return (
        r.words.sentence(taken(r.raw["fixed_n"])),
        scope,
        f"Source: {r.source}{origin}.",
        *((part,) if r.looked_at else ()),
    )


def _several(r: ResultView) -> str:
    """Return what looks at several answers to one batch, for entries that answer 0 or 1.

    The interface hands its own epsilon to the algorithm that it asks, and takes no other from it.
    """
    witness, given = r.witness, r.raw["parameters"]
    several = witness is not None and r.words.batches and witness["labels"] == [0, 1]
    target = witness["target"] if witness is not None and several else None
    single = clean(r.raw["claim"]["unit"]).startswith("single prediction")
    if target is None or ":" in target or not single:
        return ""
    name = clean(target) + (f",n={given['n']}" if "n" in given else "")
    epsilon = f" -p epsilon={json_words(given['epsilon'])}" if "epsilon" in given else ""
    return (
        f" To audit several answers together: dpassay run interface -p base={name}{epsilon} "
        f"-p adversary=batch (set other parameters by base={name},NAME=VALUE)."
    )


def _verdict(r: ResultView) -> tuple[str, ...]:
    if r.status is ERROR:
        return f"{r.reason.removesuffix('.') or 'No cause was recorded'}.", r.status.meaning
    explained = r.status in (EXPECTED, MISSED) or r.raw["verdict"] == "verified"
    said = f"{capital(r.status.word)}: {r.reason}."
    return (said, r.status.meaning) if explained else (said,)


def _witness(r: ResultView) -> str:
    if r.witness is None or not r.nothing:
        return "" if r.witness is None else clean(r.witness["words"])
    found = "no leak was found at the audited cells"
    if r.words.strings:
        found = "at no audited pair was a proportion of bad random strings above 0 computed"
    elif delta := value(r.raw["claim"]["delta"]):
        found = f"at δ = {allowance(delta)}, the claim's, no audited cell has a loss above 0"
    return f"There is none: {found}."


def _parameters(r: ResultView) -> str:
    """Write parameters as 'name = value', long values cut; what was left out is in force."""
    told, derived = [], r.raw.get("derived") or {}
    for name, given in sorted(r.raw["parameters"].items()):
        if name in derived:
            found = derived[name]
            text = (
                f"{plain(found) if isinstance(found, float) else shorten(clean(found))} (derived)"
            )
        else:
            text = "not given" if given in (None, "") else shorten(clean(json_words(given)))
        told.append(f"{clean(name)} = {text}")
    return ", ".join(told) or "no parameters"


def _counts(r: ResultView) -> str:
    """Return how often the event of the witness was seen on both sides, or how likely it is."""
    witness, words = r.witness, r.words
    if witness is None:
        return ""
    one, other = ("S", "S'") if witness["direction"] == "S to S'" else ("S'", "S")
    event, trials = event_words(witness["event"]), witness["trials"]
    p1, p0 = (plain(value(witness.get(name)) or 0.0) for name in ("p1", "p0"))
    besides = "search" if r.sought else "screening"
    total = f" The mechanism ran {count(r.raw['trials'])} times in all, {besides} included."
    total *= trials is not None
    draws, x, y = (count(trials[name]) if trials else "" for name in ("draws", "x", "y"))
    if not event:
        of = f"{draws} runs on each side" if trials else "No trials"
        mean = "mean prediction" if trials else "prediction"
        mean = f"{words.amount} (see the unit)" if words.computed else mean
        return f"{of}; the {mean} is {p1} on {one}, {p0} on {other}.{total}"
    shown = f"at least {below(r.low, words.promised * (not words.strings))}" if r.blurred else ""
    if words.strings:
        if trials is not None:
            bad = trials["x"] if witness["event"] == [1] else trials["draws"] - trials["y"]
            return f"{count(bad)} of {draws} random strings were bad.{total}"
        known = f"at most {above(r.high)}, by the law; no trials."
        known = known if not r.leak else f"{shown or loss(r.leak)}, by the law; no trials."
        return f"A random string is bad with probability {known}"
    if trials is not None:
        given = f"The answer {event} was given"
        if is_pattern(witness["event"]):
            given = f"The event '{event}' happened"
        return f"{given} in {x} of {draws} runs on {one} and in {y} of {draws} on {other}.{total}"
    if value(witness["loss"]) == 0:
        return f"No trials. {words.still}"
    leak = exact(value(witness["loss"]), words.promised, exceeds=r.refuted)
    leak += f", and {shown} whatever the numerical error is" if shown else ""
    return (
        f"No trials: by the output law, P[{event}] is p1 = {p1} on {one} and p0 = {p0} on {other}, "
        f"so that {words.formula} = {leak}."
    )


def _bound(r: ResultView) -> tuple[str, ...]:
    """Return how the bound was made, by the mode of the audit."""
    words = r.words
    if r.low is None or r.raw["mode"] is None:
        return ()
    if r.sampled:
        return _sampled(r)
    if words.computed:
        every = "dataset of the domain" if r.exhaustive else "audited dataset (S and each S')"
        how = f"The {words.amount} of every {every} was computed"
        return (f"{how}, with a bound on its rounding error.",)
    error = f"{capital(error_words(r.raw))}."
    if value(r.raw["error"]):
        error = f"{error[:-1]}, at the worst cell; the bounds already allow for it."
    if words.strings:
        how = (
            "At every audited pair the proportion of bad random strings was computed from their "
            "law; where it is negligible, a proven upper bound on it, such as Chernoff's, was "
            "taken instead."
        )
        if r.leak == 0 and r.high:
            error = (
                f"{above(r.high)} is such an upper bound, rounding included; no proportion above 0 "
                "was computed, so it is not a numerical error."
            )
    elif r.exhaustive:
        how = (
            "Exhaustive enumeration: the exact law of every dataset of the domain was compared "
            "with that of every neighbour at every query, so this is the true worst case of the "
            f"domain{', of what was looked at' if r.looked_at else ''}."
        )
    else:
        law = "the mechanism's own output law"
        if r.looked_at:
            law = "the law of what was looked at"
        elif r.witness is not None and r.witness["event"] == []:
            law = "the mechanism's own law of mean predictions"
        how = (
            f"Exact law: the leak of every audited cell was computed from {law}, in both "
            "directions."
        )
    return (f"{how} {error}",)


def _sampled(r: ResultView) -> tuple[str, ...]:
    screening = r.searched.get("screening_trials")
    shown, spent = r.raw["per_query"], r.raw["spending"]
    if r.sought:
        few = f"; {count(screening)} more per side chose the test" if screening is not None else ""
        chosen = (
            f"Trials of the search chose the pair and the event{few}. Separate, fresh trials "
            "certified them. The search spends none of α, because none of its trials is in the "
            "bound."
        )
        blind = (
            "The leak of the certified pair has no finite upper bound: an event that was not "
            "looked at may leak any amount."
        )
    else:
        few = f" ({count(screening)} per side)" if screening is not None else ""
        what = "pairs, directions and events" if r.words.events else "pairs and directions"
        bounds = "bounds and the band" if spent is None or spent["profile"] else "bounds"
        chosen = (
            f"Screening trials of every pair{few} selected the {what} that looked worst at each "
            "query. Separate, fresh trials certified them; no draw served both screening and "
            f"certification. The same trials of S may serve several cells, and the {bounds} of a "
            "cell come from the same trials; α is divided among them."
        )
        blind = (
            "The largest leak of the certified cells has no finite upper bound: an event that "
            "was not looked at, or that never occurred on one side, may leak any amount."
        )
    methods = " or ".join(sorted({clean(method_name(cell["method"])) for cell in shown}))
    cells = f"; Bonferroni over the {r.cells} certified cells" * (r.cells > 1)
    cells += ", of which the table shows the worst at each query" * (r.cells > len(shown))
    certified = f"Lower bound: {methods}, chosen before the certification trials{cells}. "
    certified += (
        blind
        if r.high == math.inf
        else f"Upper bound: intersection-union over {'events, ' * r.words.events}directions and "
        "certified cells; it covers those cells only."
    )
    return chosen, certified


def _sight(r: ResultView) -> tuple[str, ...]:
    """Return what would have been refuted with probability 0.9, and through which answers."""
    seen = r.raw.get("sight")
    if seen is None or r.first_proof:
        return ()
    frequency, looked = seen["frequency"], "looked at"
    leaks = capital(seen_words(r.words.amount, r.detectable or math.inf, frequency))
    pairs, besides = r.searched.get("pairs", 1), "screening"
    if r.sought:
        pairs, besides = r.searched["search"][0]["pairs"], "the search"
        looked = "that the search began with"
    at = "the one pair" if pairs == 1 else f"one of the {count(pairs)} pairs"
    part = " in the part of the release looked at," * bool(r.looked_at)
    refuted = "would have led the audit to refute the claim with probability 0.9"
    texts = [f"{leaks}, at {at} {looked},{part} {refuted}, {besides} included."]
    capped = (
        "that of the answer that looked worst, rounded down to two digits and capped: for labels "
        "at the point beyond which, at the smallest leak that the certification alone would "
        "refute, the other answers together would leak more, for numbers at one half"
    )
    if r.sought:
        capped = "that of the certified event, rounded down to two digits and capped"
        texts.append(
            "For this number the rounds of the search were rehearsed on drawn counts, with all "
            "other pairs at the claim."
        )
    if frequency is not None:
        whence = "assumed, since the screening saw nothing move" if seen["assumed"] else capped
        texts.append(
            f"This probability, on the side where the answer is likelier, is {whence}. "
            f"{_rarer(seen['curve'][1:])}".strip()
        )
    return tuple(texts)


def _rarer(curve: Sequence[tuple[float, float | str | None]]) -> str:
    """Return what is seen through rarer answers, the likeliest first, until nothing is promised."""
    told: list[str] = []
    for point, recorded in curve:
        leak = value(recorded)
        if leak is None or math.isinf(leak):
            blind = f"What is seen through an answer of probability {point:g} or less"
            return " ".join([*told, f"{blind} is not promised."])
        least = written(leak, 4, UP)
        told.append(f"Through an answer of probability {point:g} it takes a leak of {least}.")
    return " ".join(told)


def _alpha(r: ResultView, run: Raw) -> tuple[str, ...]:
    """Return what alpha was spent on."""
    if r.raw["alpha"] is None:
        return ()
    if not r.sampled:
        return ("Nothing was spent: a computed number has no sampling error.",)
    text = (
        f"Of the run's error probability {plain(1 - run['confidence'])} this result received α = "
        f"{plain(r.raw['alpha'])}"
    )
    spent = r.raw["spending"]
    if spent is None:
        return (f"{text}.",)
    each = f"each of {spent['cells']} certified cells" if spent["cells"] > 1 else "the one cell"
    text += (
        f": {plain(spent['lower'])} for the lower bounds, {plain(spent['each_lower'])} at {each}"
    )
    if spent["upper"]:
        text += (
            f"; {plain(spent['upper'])} for the upper bounds, half of it undivided for the largest "
            f"leak (intersection-union) and {plain(spent['each_upper'])} at each cell"
        )
    if spent["profile"]:
        text += (
            f"; {plain(spent['profile'])} for the bands of the privacy profiles, "
            f"{plain(spent['each_profile'])} at each cell"
        )
    if any("joint" in cell for cell in r.raw["per_query"]):
        return f"{text}.", "The bet is averaged over events and directions; looking at it is free."
    choice = "direction, event and test" if r.words.events else "direction and test"
    free = (
        f"Choosing the {choice} of each cell cost nothing: the screening chose them, and the "
        "certification trials were looked at once."
    )
    return f"{text}.", free
