"""Predictors that answer from the votes of teachers, broken in what is done around them.

Made after the soft majority of Dwork and Feldman (2018), Theorem 4.1. Records are dealt to r
blocks, the teacher of a block votes for the label of its nearest record, and label 1 is answered
with probability sigma(epsilon (2k - r) / 2) for k votes. If one record is replaced in its place,
one vote changes: the loss is ln(sigma(epsilon (2 - r) / 2) / sigma(-epsilon r / 2)) < epsilon,
between no vote and one (ln sigma is concave). If v votes change, 2 - r becomes 2v - r.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at

BLOCKS = 5
THREE = 3
"""Blocks of the mechanism that counts twice: few, so that a vote matters where answers are seen."""
FOUR = 4
"""Blocks of the one that breaks ties: an even number, so that there are ties."""

RARE = 0.01
"""How often the answer is refused."""

Labels = NDArray[np.int64]


def _votes(data: Labelled, queries: Numbers, blocks: Iterable[NDArray[np.intp]]) -> Labels:
    """Votes for label 1 at each query; a block without records votes 0."""
    votes = np.zeros(len(queries), dtype=np.int64)
    for block in blocks:
        if len(block):
            apart = np.abs(queries[:, None, :] - data.X[block]).sum(axis=2)
            votes += data.y[block[apart.argmin(axis=1)]] == 1
    return votes


def _by_place(data: Labelled, r: int) -> list[NDArray[np.intp]]:
    """Block i mod r for record i: a replaced record leaves all others where they are."""
    return [np.arange(j, len(data), r) for j in range(r)]


def _soft(log_odds: NDArray[np.floating], size: int, rng: np.random.Generator) -> Labels:
    """Draw labels with these log-odds of label 1, shape (size, queries)."""
    return (rng.random((size, len(log_odds))) < expit(log_odds)).astype(np.int64)


def soft_majority(
    data: Labelled,
    queries: Numbers,
    size: int,
    rng: np.random.Generator,
    *,
    epsilon: float = 1.0,
    r: int = BLOCKS,
) -> Labels:
    """Soft majority of r blocks by place: private."""
    votes = _votes(data, queries, _by_place(data, r))
    return _soft(epsilon * (2 * votes - r) / 2, size, rng)


def soft_majority_of_three(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority of three blocks: private."""
    return soft_majority(data, queries, size, rng, epsilon=epsilon, r=THREE)


def soft_majority_of_four(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority of four blocks: private."""
    return soft_majority(data, queries, size, rng, epsilon=epsilon, r=FOUR)


def partition_by_content(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority, the block of a record chosen by its first feature: broken.

    A replacement leaves one block and enters another, so two votes change.
    """
    block = np.floor(10 * data.X[:, 0]).astype(np.int64) % BLOCKS
    votes = _votes(data, queries, (np.flatnonzero(block == j) for j in range(BLOCKS)))
    return _soft(epsilon * (2 * votes - BLOCKS) / 2, size, rng)


def partition_by_order(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority, records sorted by their first feature and cut into equal runs: broken.

    A replacement that moves from one end to the other shifts every record by one place, so all
    votes may change. It makes no difference whether the sort is stable among ties.
    """
    order = np.argsort(data.X[:, 0], kind="stable")
    votes = _votes(data, queries, np.array_split(order, BLOCKS))
    return _soft(epsilon * (2 * votes - BLOCKS) / 2, size, rng)


def votes_counted_twice(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority of three blocks whose votes are added up in two places: broken."""
    votes = _votes(data, queries, _by_place(data, THREE))
    return _soft(epsilon * (2 * votes - THREE), size, rng)


def ties_by_index(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority of four blocks; equal counts are settled before the noise, for 0: broken."""
    votes = _votes(data, queries, _by_place(data, FOUR))
    log_odds = epsilon * (2 * votes - FOUR) / 2
    log_odds[votes == FOUR // 2] = -np.inf
    return _soft(log_odds, size, rng)


def early_return(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority; where a class has no records the other one is returned at once: broken."""
    if len(np.unique(data.y)) == 1:
        return np.full((size, len(queries)), data.y[0])
    return soft_majority(data, queries, size, rng, epsilon=epsilon)


def rare_refusal(
    data: Labelled, queries: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Labels:
    """Soft majority that now and then, at a point of a record, answers 'no answer' (2): broken."""
    answers = soft_majority(data, queries, size, rng, epsilon=epsilon)
    stored = (queries[:, None, :] == data.X).all(axis=2).any(axis=1)
    answers[stored & (rng.random(answers.shape) < RARE)] = 2
    return answers


def moved(epsilon: float, r: int, votes: int) -> float:
    """Return the loss of the soft majority of r teachers, of which so many change their vote."""
    shifted, least = epsilon * (2 * votes - r) / 2, -epsilon * r / 2
    return float(log_expit(shifted) - log_expit(least))


RECORDS = Labelled(
    np.array([[0.37 * i % 1.0] for i in range(20)]), np.array([i * i % 7 % 2 for i in range(20)])
)
"""Twenty points on a line with labels of both kinds."""


def _line(*records: tuple[float, int]) -> Labelled:
    return Labelled(np.array([[x] for x, _ in records]), np.array([y for _, y in records]))


def _point(*ones: int, size: int) -> Labelled:
    """Return records at one point, those of the given places with label 1."""
    return _line(*((0.5, int(i in ones)) for i in range(size)))


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return the six; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    source, claim = "made for the zoo, after Dwork and Feldman 2018, Theorem 4.1", DP(epsilon=e)
    tenths = [(i / 10, i % 2) for i in range(10)]
    made = partial(Specimen, data=RECORDS, claim=claim)
    return (
        made(
            name="partition-by-content",
            function=at(partition_by_content, epsilon),
            twin=at(soft_majority, epsilon),
            true_loss=moved(e, BLOCKS, 2),
            twin_loss=moved(e, BLOCKS, 1),
            known_pair=(_line((0.08, 0), (0.05, 1)), _line((0.12, 1), (0.05, 1))),
            known_loss=moved(e, BLOCKS, 2),
            known_query=np.array([[0.1]]),
            source=source,
            wrong="a record's block depends on its content: replaced, it changes two teachers",
        ),
        made(
            name="partition-by-order",
            function=at(partition_by_order, epsilon),
            twin=at(soft_majority, epsilon),
            true_loss=moved(e, BLOCKS, BLOCKS),
            twin_loss=moved(e, BLOCKS, 1),
            known_pair=(_line(*tenths), _line((1.0, 1), *tenths[1:])),
            known_loss=moved(e, BLOCKS, BLOCKS),
            known_query=np.array([[0.0]]),
            source=source,
            wrong="blocks are runs of the sorted records: one replaced record shifts all blocks",
        ),
        made(
            name="votes-counted-twice",
            function=at(votes_counted_twice, epsilon),
            twin=at(soft_majority_of_three, epsilon),
            true_loss=moved(2 * e, THREE, 1),
            twin_loss=moved(e, THREE, 1),
            known_pair=(_point(size=3), _point(0, size=3)),
            known_loss=moved(2 * e, THREE, 1),
            known_query=np.array([[0.5]]),
            source="Dwork and Feldman 2018, section 4.1, first paragraph (docs/findings.md)",
            wrong="each vote is counted twice, so that a record counts for two",
        ),
        made(
            name="ties-by-index",
            function=at(ties_by_index, epsilon),
            twin=at(soft_majority_of_four, epsilon),
            true_loss=math.inf,
            twin_loss=moved(e, FOUR, 1),
            known_pair=(_point(0, 1, size=4), _point(0, 1, 2, size=4)),
            known_loss=math.inf,
            known_query=np.array([[0.5]]),
            source=source,
            wrong="ties of the true counts go to label 0 for sure, without noise",
        ),
        made(
            name="early-return",
            function=at(early_return, epsilon),
            twin=at(soft_majority, epsilon),
            true_loss=math.inf,
            twin_loss=moved(e, BLOCKS, 1),
            known_pair=(_point(size=5), _point(0, size=5)),
            known_loss=math.inf,
            known_query=np.array([[0.5]]),
            source=source,
            wrong="if a class is empty the other is returned without noise, which tells that it is",
        ),
        made(
            name="rare-refusal",
            function=at(rare_refusal, epsilon),
            twin=at(soft_majority, epsilon),
            true_loss=math.inf,
            twin_loss=moved(e, BLOCKS, 1),
            known_pair=(_line((0.5, 0), (0.7, 0)), _line((0.6, 0), (0.7, 0))),
            known_loss=math.inf,
            known_query=np.array([[0.5]]),
            source=source,
            wrong="one answer in a hundred is refused, but only at the point of a record",
        ),
    )
