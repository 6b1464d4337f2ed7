"""What a search looked at, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
