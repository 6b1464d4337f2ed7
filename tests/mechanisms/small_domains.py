"""Every dataset of a small domain and its neighbours, for laws that depend on no order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.stats.divergence import label_difference, privacy_loss

Record = tuple[tuple[int, ...], int]
Multiset = tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The largest change of a probability, or loss, and where."""

    value: float
    one: Multiset
    other: Multiset
    query: tuple[int, ...]
    p: tuple[float, float]


def law_of(learner: StableLearner, records: Multiset, places: list[tuple[int, ...]]) -> FiniteLaw:
    data = Labelled(
        np.array([x for x, _ in records], dtype=float), np.array([y for _, y in records])
    )
    law = learner.distribution(learner.prepare(data), np.array(places, dtype=float))
    assert law is not None
    return law


def worst(learner: StableLearner, places: list[tuple[int, ...]]) -> tuple[Found, Found]:
    """Worst gamma and epsilon over all datasets of n records at these places, asked there."""
    records = [(x, y) for x in places for y in (0, 1)]
    every = list(itertools.combinations_with_replacement(records, learner.n))
    number = {each: i for i, each in enumerate(every)}
    log_p = np.stack([law_of(learner, each, places).log_p for each in every])
    best: list[Found | None] = [None, None]
    for rest in itertools.combinations_with_replacement(records, learner.n - 1):
        near = [number[tuple(sorted((*rest, record)))] for record in records]
        one, other = log_p[near][:, None], log_p[near][None]
        for which, loss in enumerate(
            (label_difference(one, other).value, privacy_loss(one, other).value)
        ):
            i, j, query = np.unravel_index(np.argmax(loss), loss.shape)
            known = best[which]
            if known is None or loss[i, j, query] > known.value + 1e-12:
                first, second = near[i], near[j]
                p = (float(np.exp(log_p[first, query, 1])), float(np.exp(log_p[second, query, 1])))
                best[which] = Found(
                    float(loss[i, j, query]), every[first], every[second], places[query], p
                )
    gamma, epsilon = best
    assert gamma is not None
    assert epsilon is not None
    return gamma, epsilon
