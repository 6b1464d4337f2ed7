"""How an enumerated domain was covered: every dataset, or representatives of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.engine.wording import order_and
from dpassay.reports.shared.numbers import clean, count, plural

Raw = Mapping[str, Any]


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
