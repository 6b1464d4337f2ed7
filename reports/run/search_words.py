"""What a search looked at, in words, and how an enumerated domain was covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.engine.wording import order_and
from dpassay.reports.shared.numbers import clean, count, plural

Raw = Mapping[str, Any]


def search_words(rounds: Sequence[Raw]) -> tuple[str, str]:
    """Tell the rounds of a search: what it looked at, and how it went on."""
    first, last = rounds[0], rounds[-1]
    families = plural(len(first["families"]), "family")
    least, most = first.get("sizes", (0, 0))
    sizes = f" of {least} to {most} records" if most > least else ""
    how = f"looked at each with {count(first['draws'])} runs on each side"
    how = how if first["draws"] else "computed the leak of each"
    looked = f"A search proposed {plural(first['pairs'], 'pair')}{sizes} in {families} and {how}."
    later = ", ".join(
        f"{plural(each['pairs'], 'pair')} with {count(each['draws'])} runs" for each in rounds[1:]
    )
    went = f" It went on with the worst-looking and with new ones made of them: {later}." * bool(
        later
    )
    failed = sum(each.get("failed", 0) for each in rounds)
    if failed:
        over = f"{plural(failed, 'pair')} {'was' if failed == 1 else 'were'} passed over"
        went += f" {over}, since the mechanism raised an exception there."
    best = f"The pair that looked worst is of the family '{clean(last['best'])}'."
    if first["draws"]:
        best += " These runs chose pairs and events; none of them is in a bound."
    return looked + went, best


def searched_pairs(rounds: Sequence[Raw]) -> str:
    """Count what was looked at, in a few words."""
    first = rounds[0]
    families = plural(len(first["families"]), "family")
    return f"{plural(first['pairs'], 'pair')} in {families}"


def is_searched(result: Raw) -> bool:
    """Whether the pairs of a result were searched for."""
    return "search" in (result["searched"] or {})


def space_words(result: Raw) -> str:
    """Say what a search's datasets look like; empty where an older record does not say."""
    return clean((result["searched"] or {}).get("space", ""))


def declared_words(searched: Raw) -> str:
    """Say what one run was declared to return; empty where nothing was."""
    if searched.get("output") is None:
        return ""
    from dpassay.search.declared import output_from_json  # with NumPy

    found = output_from_json(searched["output"])
    return "" if found is None else f" A run returns {clean(found.words)}, as declared."


def one_output(result: Raw) -> bool:
    """Whether a search took all that one run returns as one output."""
    searched = result["searched"] or {}
    return is_searched(result) and (
        searched.get("together", False) or not searched.get("asked", True)
    )


def spaces_of(results: Sequence[Raw]) -> str:
    """Say what all results without other data were searched among; empty where they differ."""
    found = {space_words(each) if is_searched(each) else "" for each in results}
    return found.pop() if len(found) == 1 else ""


def without_data(results: Sequence[Raw]) -> str:
    """Say where the pairs of a run without a data file come from."""
    looked = [each["searched"] for each in results if each["searched"] is not None]
    kinds = {part["kind"] for each in looked for part in each.get("parts", ())}
    among = spaces_of([each for each in results if each["searched"] is not None])
    told = (
        ("data" in kinds, "pairs that were given"),
        ("searched" in kinds, f"pairs that were searched for{f' among {among}' * bool(among)}"),
        ("own" in kinds, "the mechanisms' own worst cases"),
        (any("datasets" in each for each in looked), "an enumerated domain"),
    )
    return ", ".join(words for known, words in told if known) or "nothing was looked at"


SEARCHED_METHOD = (
    "Trials of the search chose the pair and the event{few}. Separate, fresh trials certified "
    "them. The search spends none of α, because none of its trials is in the bound."
)
"""How the bound of a searched result was made."""


def datasets_words(searched: Raw) -> str:
    """Count the datasets of a domain, and their representatives if there are any."""
    found = searched.get("symmetry")
    datasets = plural(searched["datasets"], "dataset")
    if found is None:
        return datasets
    return f"{datasets} through {plural(found['representatives'], 'representative')}"


def every_dataset(searched: Raw) -> str:
    """Say in a sentence that every dataset of a domain was computed, or stood for."""
    if "symmetry" not in searched:
        return "Every dataset of this domain was computed."
    moved = order_and(searched["symmetry"]["symmetries"])
    return f"Every dataset of this domain is one of those that were computed, up to {moved}."


def symmetry_words(searched: Raw) -> str:
    """Say what the representatives rest on, in sentences with a space in front.

    Empty where every dataset was enumerated.
    """
    found = searched.get("symmetry")
    if found is None:
        return ""
    moved = found["symmetries"]
    checked = (
        "on each of these"
        if found["checked"] == found["representatives"]
        else f"on {count(found['checked'])} of these, drawn at random"
    )
    return (
        f" The laws of {plural(found['representatives'], 'representative')} were computed: every "
        f"dataset is one of them up to {order_and(moved)}. {clean(found['declared'])} declares "
        "that its law does not depend on the order of records"
        f"{', and moves along with the rest' if moved else ''}. That was checked {checked}, in two "
        f"other orders{' and moved at random' if moved else ''}; it was not proven. "
        f"{plural(found['laws'], 'different law')} at one query were found, and the leak of "
        f"{plural(found['compared'], 'pair')} of them was read."
    )
