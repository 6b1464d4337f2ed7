"""How far a result reaches: other datasets, the other notion, the sampler, what was searched."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dpassay.reports.run.kinds import KINDS, words_of
from dpassay.reports.run.search_words import (
    declared_words,
    search_words,
    space_words,
    symmetry_words,
)
from dpassay.reports.run.seen_cell import lines_of
from dpassay.reports.run.words import capital, error_words, exceeds, looked_at, promised, taken
from dpassay.reports.shared.numbers import clean, count, exact, loss, plain, plural, value

Raw = Mapping[str, Any]


def any_size(result: Raw) -> tuple[str, ...]:
    """Tell the worst case over datasets of any size, where it is known."""
    found = result["any_size"]
    if found is None:
        return ()
    worst = exact(value(found["exact"]), promised(result["claim"]), exceeds=exceeds(result))
    one, other = (clean(state) for state in found["states"])
    quantity = words_of(result["claim"]).amount + (
        " of what was looked at" if looked_at(result) else ""
    )
    over = everywhere(result, found)
    text = (
        f"Over {over}, the worst {quantity} is {worst} ({error_words(found)}), between '{one}' and "
        f"'{other}'."
    )
    return text, clean(found["argument"])


SINGLE_ANSWERS = (
    "Only single answers were looked at; the probability of a set of answers may change by more."
)
"""What the change of an answer's probability does not tell where there are more than two of
them."""


def everywhere(result: Raw, found: Raw) -> str:
    """Say over which datasets, of what, a worst case is taken.

    All that the mechanism takes, by its own argument.
    """
    n, parameters = result["fixed_n"], result["parameters"]
    over = "datasets of any size" if n is None else f"all datasets{taken(n)}"
    over += f" (adversary '{clean(parameters['adversary'])}')" if "adversary" in parameters else ""
    return f"{over}, of {clean(found['of'])}" if found.get("of") else over


def other_notion(result: Raw) -> tuple[str, tuple[str, ...]]:
    """Name the notion that the claim is not about, and tell it."""
    other = result.get("other")
    if other is None:
        return "", ()
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
    cell = () if witness is None else (f"The worst audited cell: {clean(witness['words'])}",)
    return f"{name}, measured beside the claim", (said, *cell)


OWN = "own worst case"
"""How a record begins what it says of a mechanism's own pairs."""
SHOWS_NOTHING = "against this claim it shows nothing"
"""What is said of an own worst case that another claim of the mechanism, or another variant of it,
is the reason for."""
PART_SHOWS_NOTHING = "in what was looked at it shows nothing"
"""The same where only a part of the release was looked at."""
FEW = 100
"""A law is held against more draws of a sampler than these, values without coins against fewer."""


def fit(result: Raw) -> str:
    """Tell whether the sampler fits the declared law."""
    found = result["fit"]
    if found is None:
        return ""
    if found["draws"] < FEW:
        agreed = "and all agree" if found["p_value"] > 0 else "and not all agree"
        return (
            f"The sampler has no coins: {plural(found['tests'], 'answer')} were compared with the "
            f"declared values, {agreed}."
        )
    tests = plural(found["tests"], "exact binomial test")
    return (
        f"{tests} of {count(found['draws'])} draws each compared the sampler with the declared "
        "law, on one dataset and one neighbour; "
        f"smallest p-value after Bonferroni: {plain(found['p_value'])}. "
        "Such tests can find differences; they cannot show that there are none."
    )


def searched_words(result: Raw) -> tuple[str, ...]:
    """Tell which pairs, queries and directions were looked at."""
    searched = result["searched"]
    if searched is None:
        return ()
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
        size = f"{pairs}{f' ({parts})' if parts else ''}, in both directions: {cells}. {NOT_ASKED}."
    else:
        at = f" ({parts})" if parts else f" and {queries}, each pair at its own queries"
        size = f"{pairs}{at}, in both directions: {cells}."
    how = _numbered(
        searched["how"],
        _silent(result),
        PART_SHOWS_NOTHING if looked_at(result) else SHOWS_NOTHING,
    )
    told: tuple[str, ...] = search_words(searched["search"]) if "search" in searched else ()
    told = (*told, *lines_of(result))
    if told and (among := space_words(result)):
        together = " All answers of a run were looked at together." * bool(
            searched.get("together", False)
        )
        output = declared_words(searched)
        told = (f"Pairs were searched for among {among}.{together}{output}", *told)
    if told:
        what = "Certified" if result["mode"] == "monte-carlo" else "In the tables"
        size = f"{what}: {size}"
        named = (
            f"one pair is of the {each}" if each.startswith("family") else each for each in how
        )
        how = iter(dict.fromkeys(named))
    return *told, size, *(f"{capital(each)}." for each in how)


NOT_ASKED = "There are no queries, since what was looked at depends on none"
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
        pairs = part["pairs"] * (1 + len(others) * (part["kind"] == "searched"))
        whose = {"data": "of the data", "own": cases, "learned": again, "searched": "searched"}
        at = (
            f" at {plural(part['queries'], 'query')}{'' if pairs == 1 else ' each'}"
            if asked
            else ""
        )
        more = (
            ", one of them whichever of the others is worse for the string"
            if part.get("together")
            else ""
        )
        number = f"{count(pairs)} " if several else ""
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
