"""How far a result reaches: other datasets, the other notion, the sampler, what was searched."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dpassay.engine.wording import order_and
from dpassay.reports.run.kinds import KINDS
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.words import capital, error_words, taken
from dpassay.reports.shared.numbers import clean, count, exact, loss, plain, plural, value

Raw = Mapping[str, Any]
SINGLE_ANSWERS = (
    "Only single answers were looked at; the probability of a set of answers may change by more."
)
"""What the change of a probability does not tell where there are more than two answers."""
OWN = "own worst case"  # how a record begins what it says of a mechanism's own pairs
FEW = 100
"""A law is held against more draws of a sampler than these, values without coins against fewer."""


def any_size(r: ResultView) -> tuple[str, ...]:
    """Return the worst case over datasets of any size, where it is known."""
    found = r.raw["any_size"]
    if found is None:
        return ()
    worst = exact(value(found["exact"]), r.promised, exceeds=r.exceeds)
    one, other = (clean(state) for state in found["states"])
    quantity = r.words.amount + " of what was looked at" * bool(r.looked_at)
    text = (
        f"Over {everywhere(r.raw, found)}, the worst {quantity} is {worst} ({error_words(found)}), "
        f"between '{one}' and '{other}'."
    )
    return text, clean(found["argument"])


def everywhere(raw: Raw, found: Raw) -> str:
    """Return over which datasets, of what, a worst case is taken by its own argument."""
    n, parameters = raw["fixed_n"], raw["parameters"]
    over = "datasets of any size" if n is None else f"all datasets{taken(n)}"
    over += f" (adversary '{clean(parameters['adversary'])}')" if "adversary" in parameters else ""
    return f"{over}, of {clean(found['of'])}" if found.get("of") else over


def other_notion(r: ResultView) -> tuple[str, tuple[str, ...]]:
    """Return the name of the notion that the claim is not about, and what was measured of it."""
    other = r.raw.get("other")
    if other is None:
        return "", ()
    words, found = KINDS[other["kind"]], value(other["exact"])
    (name, quantity), reached, witness = words.measured, other["any_size"], other["witness"]
    said = "The loss is infinite: one dataset gives an answer that its neighbour never gives."
    if found != math.inf:
        the = "Of what was looked at, the" if r.looked_at else "The"
        said = f"{the} worst {quantity} over the audited cells is {words.symbol} = {loss(found)}."
    if reached is not None:
        one, another = (clean(state) for state in reached["states"])
        worst, over = loss(value(reached["exact"])), everywhere(r.raw, reached)
        said += f" Over {over} it is {worst}, between '{one}' and '{another}'."
    if words.single and witness is not None and len(witness["labels"]) > 2:
        said += f" {SINGLE_ANSWERS}"
    cell = () if witness is None else (f"The worst audited cell: {clean(witness['words'])}",)
    return f"{name}, measured beside the claim", (said, *cell)


def fit(r: ResultView) -> str:
    """Return whether the sampler fits the declared law."""
    found = r.raw["fit"]
    if found is None:
        return ""
    if found["draws"] < FEW:
        agreed = "and all agree" if found["p_value"] > 0 else "and not all agree"
        answers = plural(found["tests"], "answer")
        return (
            f"The sampler has no coins: {answers} were compared with the declared values, {agreed}."
        )
    return (
        f"{plural(found['tests'], 'exact binomial test')} of {count(found['draws'])} draws each "
        "compared the sampler with the declared law, on one dataset and one neighbour; smallest "
        f"p-value after Bonferroni: {plain(found['p_value'])}. Such tests can find differences; "
        "they cannot show that there are none."
    )


def searched_words(r: ResultView) -> tuple[str, ...]:
    """Return which pairs, queries and directions were looked at."""
    searched, asked = r.searched, r.asked
    if not searched:
        return ()
    pairs = f"{plural(searched['pairs'], 'pair')} of neighbours"
    queries, cells = plural(searched["queries"], "query"), plural(searched["cells"], "cell")
    parts = "; ".join(_groups(searched.get("parts", ()), asked=asked))
    if "datasets" in searched:
        besides = ", and the mechanism's own worst cases besides"
        besides *= any(clean(how).startswith(OWN) for how in searched["how"])
        size = (
            f"{plural(searched['datasets'], 'dataset')}, {pairs} and {queries}, each pair at "
            f"every query, in both directions: {cells}{besides}.{_symmetry(searched)}"
        )
    elif not asked:
        size = (
            f"{pairs}{f' ({parts})' if parts else ''}, in both directions: {cells}. There are no "
            "queries, since what was looked at depends on none."
        )
    else:
        at = f" ({parts})" if parts else f" and {queries}, each pair at its own queries"
        size = f"{pairs}{at}, in both directions: {cells}."
    how = list(_how(r))
    told = [*(_rounds(searched["search"]) if r.sought else ()), *r.lines]
    if told:
        size = f"{'Certified' if r.sampled else 'In the tables'}: {size}"
        how = [f"one pair is of the {each}" if each.startswith("family") else each for each in how]
        how = list(dict.fromkeys(how))
        if among := space_words(r.raw):
            told.insert(0, f"Pairs were searched for among {among}.{_output(searched)}")
    return *told, size, *(f"{capital(each)}." for each in how)


def _output(searched: Raw) -> str:
    """Return what one run was declared to return, and whether all of it was looked at together."""
    told = " All answers of a run were looked at together." * bool(searched.get("together", False))
    if searched.get("output") is not None:
        from dpassay.search.declared import output_from_json  # with NumPy

        if (found := output_from_json(searched["output"])) is not None:
            told += f" A run returns {clean(found.words)}, as declared."
    return told


def _rounds(rounds: Sequence[Raw]) -> tuple[str, str]:
    """Return what a search looked at, and how it went on."""
    first, last = rounds[0], rounds[-1]
    least, most = first.get("sizes", (0, 0))
    sizes = f" of {least} to {most} records" if most > least else ""
    how = f"looked at each with {count(first['draws'])} runs on each side"
    looked = (
        f"A search proposed {plural(first['pairs'], 'pair')}{sizes} in "
        f"{plural(len(first['families']), 'family')} and "
        f"{how if first['draws'] else 'computed the leak of each'}."
    )
    later = ", ".join(
        f"{plural(each['pairs'], 'pair')} with {count(each['draws'])} runs" for each in rounds[1:]
    )
    if later:
        looked += f" It went on with the worst-looking and with new ones made of them: {later}."
    if failed := sum(each.get("failed", 0) for each in rounds):
        over = f"{plural(failed, 'pair')} {'was' if failed == 1 else 'were'} passed over"
        looked += f" {over}, since the mechanism raised an exception there."
    best = f"The pair that looked worst is of the family '{clean(last['best'])}'."
    if first["draws"]:
        best += " These runs chose pairs and events; none of them is in a bound."
    return looked, best


def _groups(parts: Sequence[Raw], *, asked: bool) -> Iterator[str]:
    """Yield of each group how many pairs and queries it has, so that the sum can be made."""
    own = 0
    for _, alike in groupby(parts, key=lambda part: json.dumps(part, sort_keys=True)):
        part, *others = alike
        times, first = 1 + len(others), own + 1
        own += times * (part["kind"] == "own")
        whose = {
            "data": "of the data",
            "searched": "searched",
            "own": f"of each of own worst cases {first} to {own}",
            "learned": f"again, in each of {times} learned directions",
        }
        if not others:
            whose |= {
                "own": f"of own worst case {first}",
                "learned": "again, in a learned direction",
            }
        pairs = part["pairs"] * (times if part["kind"] == "searched" else 1)
        at = f" at {plural(part['queries'], 'query')}{'' if pairs == 1 else ' each'}" * asked
        more = ", one of them whichever of the others is worse for the string"
        number = f"{count(pairs)} " * (len(parts) > 1)
        yield f"{number}{whose[part['kind']]}{at}{more * bool(part.get('together'))}"


def _how(r: ResultView) -> Iterator[str]:
    """Yield how pairs were made; own worst cases are numbered as in the tables of query points.

    Another claim of the mechanism, or another variant of it, is the reason for those that show
    nothing.
    """
    shown: dict[int, bool] = {}
    own = number = 0
    for cell in r.raw["per_query"]:
        if cell["group"] == "own":
            own += cell["query"] == 0
            profile = cell.get("profile") or {"lower": ()}
            leaks = value(cell["exact"]) != 0 or any(map(value, profile["lower"]))
            shown[own] = shown.get(own, False) or leaks
    nothing = "in what was looked at" if r.looked_at else "against this claim"
    for how in map(clean, r.searched["how"]):
        if not how.startswith(OWN):
            yield how
            continue
        number += 1
        here = "" if shown.get(number, True) else f" ({nothing} it shows nothing)"
        yield f"{OWN} {number}{here}{how.removeprefix(OWN)}"


def _symmetry(searched: Raw) -> str:
    """Return what the representatives of a domain rest on; empty where all were enumerated."""
    found = searched.get("symmetry")
    if found is None:
        return ""
    moved, representatives = found["symmetries"], found["representatives"]
    checked = "on each of these"
    if found["checked"] != representatives:
        checked = f"on {count(found['checked'])} of these, drawn at random"
    return (
        f" The laws of {plural(representatives, 'representative')} were computed: every "
        f"dataset is one of them up to {order_and(moved)}. {clean(found['declared'])} declares "
        "that its law does not depend on the order of records"
        f"{', and moves along with the rest' if moved else ''}. That was checked {checked}, in two "
        f"other orders{' and moved at random' if moved else ''}; it was not proven. "
        f"{plural(found['laws'], 'different law')} at one query were found, and the leak of "
        f"{plural(found['compared'], 'pair')} of them was read."
    )


def every_dataset(searched: Raw) -> str:
    """Return in a sentence that every dataset of a domain was computed, or stood for."""
    if "symmetry" not in searched:
        return "Every dataset of this domain was computed."
    moved = order_and(searched["symmetry"]["symmetries"])
    return f"Every dataset of this domain is one of those that were computed, up to {moved}."


def space_words(raw: Raw) -> str:
    """Return what a search's datasets look like; empty where an older record does not say."""
    return clean((raw["searched"] or {}).get("space", ""))


def data_words(data: Raw | None) -> str:
    """Return the name of a run's data and their sizes; '' for a run without data."""
    if data is None:
        return ""
    cut: Raw = data["split"] if isinstance(data.get("split"), Mapping) else {}
    sizes = (data.get("records"), "record"), (cut.get("queries"), "query")
    size = [plural(number, noun) for number, noun in sizes if isinstance(number, int)]
    if size and isinstance(cut.get("train"), int):
        size.insert(1, f"{count(cut['train'])} of them in training")
    return ", ".join([clean(data.get("name", "unnamed data")), *size])


def without_data(results: Sequence[Raw]) -> str:
    """Return where the pairs of a run without a data file come from."""
    looked = [each["searched"] for each in results if each["searched"] is not None]
    kinds = {part["kind"] for each in looked for part in each.get("parts", ())}
    # what all of them were searched among; empty where they differ
    spaces = {clean(each.get("space", "")) if "search" in each else "" for each in looked}
    among = spaces.pop() if len(spaces) == 1 else ""
    told = (
        ("data" in kinds, "pairs that were given"),
        ("searched" in kinds, f"pairs that were searched for{f' among {among}' * bool(among)}"),
        ("own" in kinds, "the mechanisms' own worst cases"),
        (any("datasets" in each for each in looked), "an enumerated domain"),
    )
    return ", ".join(words for known, words in told if known) or "nothing was looked at"
