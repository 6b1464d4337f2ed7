"""What a search looked at, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.shared.numbers import clean, count, plural

Raw = Mapping[str, Any]


def search_words(rounds: Sequence[Raw]) -> tuple[str, str]:
    """Tell the rounds of a search: what it looked at, and how it went on.

    Parameters
    ----------
    rounds : sequence of mapping
        Entry `search` of what was searched; at least one.
    """
    first, last = rounds[0], rounds[-1]
    families = plural(len(first["families"]), "family")
    looked = (
        f"A search proposed {plural(first['pairs'], 'pair')} in {families} and looked at each with "
        f"{count(first['draws'])} runs on each side."
    )
    later = ", ".join(
        f"{plural(each['pairs'], 'pair')} with {count(each['draws'])} runs" for each in rounds[1:]
    )
    went = f" It went on with the worst-looking and with new ones made of them: {later}." * bool(
        later
    )
    failed = sum(each.get("failed", 0) for each in rounds)
    if failed:
        went += f" {plural(failed, 'pair')} passed over: the mechanism raised an exception there."
    best = (
        f"The family of the pair that looked worst is '{clean(last['best'])}'. These runs chose "
        "pairs and events; none of them is in a bound."
    )
    return looked + went, best


def searched_pairs(rounds: Sequence[Raw]) -> str:
    """Count what was looked at, in a few words."""
    first = rounds[0]
    families = plural(len(first["families"]), "family")
    return f"{plural(first['pairs'], 'pair')} in {families}"
