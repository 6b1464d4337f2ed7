"""Teachers: what the entries share in which r models vote for one of K labels.

Each model is trained on a block of its own.

Record i is in block i mod r and a replacement takes the place of the record it replaces, so that a
replaced record changes one block, one teacher and at most one vote: from a label a to a label b.
Its count vector n changes by one at a and by one at b.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.data import Labelled
from dpassay.engine.kinds import leaks_of
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.pairs import Change, FlipLabel, Replace

Counts = NDArray[np.int64]
MOST_STATES = 2000
"""With more count vectors than this the reachable states are not listed."""


def counted(votes: Counts, K: int) -> Counts:
    """Count votes (voters, q) for each of K labels, shape (q, K)."""
    return np.stack([(votes == label).sum(axis=0) for label in range(K)], axis=1)


def check_labels(data: Labelled, K: int) -> None:
    """Raise `InvalidInput` unless every label is below K."""
    if K == 2:
        check_binary(data)
    elif data.y.max() >= K:
        raise InvalidInput(
            f"labels = {np.unique(data.y).tolist()}: must be from 0 to K - 1 = {K - 1}"
        )


def every_count(r: int, K: int) -> Counts:
    """Return all vectors of K counts that sum to r, shape (C(r + K - 1, K - 1), K)."""
    bars = np.array(list(combinations(range(r + K - 1), K - 1)), dtype=np.int64)
    ends = np.concatenate(
        [np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), r + K - 1)], axis=1
    )
    return np.diff(ends, axis=1) - 1


def one_vote(counts: Counts) -> NDArray[np.int64]:
    """Return the pairs of rows between which one vote goes from one label to another, each once."""
    places = {tuple(row): i for i, row in enumerate(counts.tolist())}
    moves = []
    for row, i in places.items():
        # the other way round it is the same pair
        for a, b in combinations(range(counts.shape[1]), 2):
            if row[a] > 0:
                other = list(row)
                other[a], other[b] = other[a] - 1, other[b] + 1
                moves.append((i, places[tuple(other)]))
    return np.array(moves, dtype=np.int64)


def few_counts(r: int, K: int) -> bool:
    """Whether there are few enough count vectors to list them."""
    return math.comb(r + K - 1, K - 1) <= MOST_STATES


def states_of(counts: Counts, law: FiniteLaw, argument: str, several: str) -> Reachable:
    """Return the states that are all these counts, and the moves of one vote."""
    names = tuple(f"votes {', '.join(map(str, row))}" for row in counts.tolist())
    return Reachable(
        states=names, law=law, moves=one_vote(counts), argument=argument, several=several
    )


def worst_votes(
    reachable: Reachable | None, r: int, K: int, claims: Iterable[Claim], labels: tuple[int, ...]
) -> tuple[WorstCase, ...]:
    """Return the move that is worst for each claim, as records at one point with a block each.

    And one in the middle.

    Where the states are not listed: from no vote to one, which is worst for delta = 0 and two
    labels.
    """
    claims = tuple(claims)
    said = any(getattr(claim, "delta", 0.0) for claim in claims)
    half = (r - r // 2, r // 2)
    cases = {
        (half[0], half[1], *[0] * (K - 2)): (
            0,
            1,
            "two labels share all votes as evenly as possible, and one vote changes",
        )
    }
    if reachable is None:
        cases[(r, *[0] * (K - 1))] = (
            0,
            1,
            f"all {r} votes are for one label, and one of them changes",
        )
    else:
        counts, (one, other) = every_count(r, K), reachable.moves.T
        table = reachable.law.table
        for claim in claims:
            leaks = leaks_of(claim, reachable.law, labels)
            assert leaks is not None
            first, second = np.concatenate([one, other]), np.concatenate([other, one])
            losses = leaks.loss(table[first], table[second], reachable.law.error).value
            worst = int(np.argmax(losses))
            base, moved = sorted(
                (counts[first[worst]], counts[second[worst]]), key=max, reverse=True
            )  # `group` goes on from there
            a, b = int(np.argmin(moved - base)), int(np.argmax(moved - base))
            key, why = (
                tuple(base.tolist()),
                _why(float(losses[worst]), getattr(claim, "delta", 0.0), said=said),
            )
            before = cases[key][2].split("; ") if key in cases and cases[key][:2] == (a, b) else []
            cases[key] = (a, b, "; ".join([*before, why] if why not in before else before))
    return tuple(_case(counts, *case) for counts, case in cases.items())


def _why(loss: float, delta: float, *, said: bool) -> str:
    """Say of a move that loses most at a delta what it is, whichever claims it stands under.

    `said` if any claims a delta.
    """
    if loss == 0:
        return f"no change of one vote has a loss at delta = {delta:.9g}"
    return "largest loss of all changes of one vote" + (f" at delta = {delta:.9g}" if said else "")


def _case(counts: tuple[int, ...], a: int, b: int, reason: str) -> WorstCase:
    """Return one record per vote, all at one point; one changes its label from a to b."""
    y = np.repeat(np.arange(len(counts)), counts)
    data, place = Labelled(np.zeros((len(y), 1)), y), int(np.argmax(y == a))
    change: Change = FlipLabel(place) if len(counts) == 2 else Replace(place, np.zeros(1), b)
    times = ", ".join(map(str, counts))
    how = (
        f"{len(y)} record{'s' * (len(y) > 1)} at one point, labelled 0, 1, ... {times} times; one "
        f"label changes from {a} to {b}"
    )
    return WorstCase.of(data, change, how=how, reason=reason, query=[[0.0]])
