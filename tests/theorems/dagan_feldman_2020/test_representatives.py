"""The worst of all choices of representatives, against the listing of all choices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import pytest

from dpassay.theorems.dagan_feldman_2020.relabelled_sizes import flip, size
from dpassay.theorems.dagan_feldman_2020.representatives import worst_of_all_choices

Function = tuple[bool, ...]
CLASSES: dict[str, list[Function]] = {
    "thresholds": [(True, True), (False, True), (False, False)],
    "functions": list(itertools.product((False, True), repeat=2)),
}
"""Every class on two points."""


def choices(functions: list[Function], size: int) -> Iterator[dict[frozenset[int], list[Function]]]:
    """List every choice: for each set T one function for each labelling of it."""
    sets = [frozenset(T) for k in range(1, size + 1) for T in itertools.combinations((0, 1), k)]
    each = []
    for T in sets:
        alike: dict[Function, list[Function]] = {}
        for f in functions:
            alike.setdefault(tuple(f[x] for x in sorted(T)), []).append(f)
        each.append([list(chosen) for chosen in itertools.product(*alike.values())])
    for chosen in itertools.product(*each):
        yield dict(zip(sets, chosen, strict=True))


@pytest.mark.parametrize(("n", "size"), [(2, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("H", CLASSES)
def test_the_worst_of_all_choices_by_listing_them(H: str, n: int, size: int) -> None:
    epsilon, largest = 0.7, 0.0
    records = list(itertools.product((0, 1), (False, True)))
    datasets = list(itertools.product(records, repeat=n))
    subsets = list(itertools.combinations(range(n), size))
    for choice in choices(CLASSES[H], size):
        ones = {}
        for S in datasets:
            p = [0.0, 0.0]
            for I in subsets:  # noqa: E741
                H_T = choice[frozenset(S[i][0] for i in I)]
                w = [math.exp(-epsilon / 2 * sum(f[x] != y for x, y in S)) for f in H_T]
                for x in (0, 1):
                    ones_at = sum(v for v, f in zip(w, H_T, strict=True) if f[x])
                    p[x] += ones_at / sum(w) / len(subsets)
            ones[S] = p
        for S in datasets:
            for record in records:
                near = ones[(record, *S[1:])]
                changes = (abs(a - b) for a, b in zip(ones[S], near, strict=True))
                largest = max(largest, *changes)
    assert worst_of_all_choices(H, 2, n, size, epsilon) == pytest.approx(largest, abs=1e-12)


def test_small_alphas_of_theorem_5_are_checked_too() -> None:
    for alpha in (1e-7, 1e-12):
        privacy = flip(0.01, alpha)
        assert privacy.upper - privacy.lower < 1e-12
        assert privacy.upper <= privacy.claimed
    found = size(1, 1e-7, 0.5)
    assert found.upper <= found.claimed
