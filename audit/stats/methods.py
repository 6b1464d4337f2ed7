"""Methods: how a bound was made, by the key of records and in the words people see."""

from __future__ import annotations

EXACT_LAW = "exact"
METHODS = {
    EXACT_LAW: "exact law",
    "stouffer": "weighted Stouffer of exact binomial tails",
    "fisher": "Fisher's combination of exact binomial tails",
    "clopper-pearson": "Clopper-Pearson, Bonferroni over the two sides",
    "accuracy": "accuracy (total-variation) test of both labels",
    "betting": "betting on the difference of two bounded means",
    "proportion": "Clopper-Pearson of the proportion of bad random strings",
    "paired": "betting on pairs of runs from the same generator states",
    "guesses": "right guesses at fair coins, Clopper-Pearson",
    "union": "intersection-union over events and directions",
}
"""How a bound was made: the key that stands in records, and what people are shown.

The accuracy test bounds the larger leak of the two labels, not that of a given one.
"""


def of_fixed_size(method: str, *, means: bool) -> str:
    """Return the test that a planned number of fresh trials has, after a bound by `method`."""
    if method != "paired":
        return method
    return "betting" if means else "stouffer"


def method_name(recorded: str) -> str:
    """Return what people are shown of a method of a record."""
    return METHODS.get(recorded, recorded)
