"""A broken mechanism beside its correct twin, with what is known of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP

Numbers = NDArray[np.float64]
Function = Callable[..., Any]
"""`function(data, size, rng)` for answers and scalars, `function(data, queries, size, rng)` for
labelled records; each takes `epsilon=` besides."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Specimen:
    """A function that violates its claim, and the same task done right.

    Parameters
    ----------
    name : str
        Lower case with hyphens.
    function : callable
        The broken mechanism: `size` independent runs.
    twin : callable
        The correct one; it keeps the same claim on the same data.
    data : Answers, Scalars or Labelled
        What datasets look like, and which are neighbours.
    claim : DP
        What the user believes of both.
    true_loss : float
        Least epsilon for which the function is private, in nats: the supremum over all neighbours;
        inf if there is none.
    twin_loss : float
        The same of the twin; at most the claim.
    known_pair : tuple
        A dataset and its neighbour that show the violation: read-only arrays, or `Labelled`. For
        tests and benchmarks; a search must not see it.
    known_loss : float
        Loss of the function on that pair (and query); less than `true_loss` where the supremum is
        only approached, through answers that become ever rarer.
    known_query : array (1, d), optional
        Where a predictor is asked.
    bits : bool
        Whether the violation shows in the last bits of floats only.
    source : str
        Where the function was published, or what it is made after.
    wrong : str
        What went wrong, in one line.
    """

    name: str
    function: Function
    twin: Function
    data: Any
    claim: DP
    true_loss: float
    twin_loss: float
    known_pair: tuple[Any, Any]
    known_loss: float
    known_query: Numbers | None = None
    bits: bool = False
    source: str
    wrong: str


def at(function: Function, epsilon: float | None) -> Function:
    """Return the function at another epsilon; itself for None, so that it keeps its address."""
    return function if epsilon is None else partial(function, epsilon=epsilon)


def numbers(*values: float) -> Numbers:
    """Return a dataset of numbers, read-only."""
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array
