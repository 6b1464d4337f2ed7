"""The Mechanism protocol: what an algorithm offers to be audited. Only `claims`, `prepare` and `sample` are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.laws import Law
from dpassay.pairs import Change, Pairs


class Mechanism(Protocol):
    """A randomised algorithm M(S, x) that answers a label, or a real number, at each query."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What it promises; one or more."""
        ...

    def prepare(self, data: Any) -> Any:
        """Everything about dataset S that does not depend on the fresh coins: trained sub-models, sorted data, counts."""
        ...

    def sample(self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return `size` independent trials at q queries, shape (size, q); every row is a trial with all its coins fresh."""
        ...


@runtime_checkable
class HasLabels(Protocol):
    """Names the labels it may answer; without it they are 0 and 1."""

    @property
    def labels(self) -> tuple[int, ...]:
        """At least two."""
        ...


@runtime_checkable
class HasNumbers(Protocol):
    """Answers real numbers instead of labels."""

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest answer there can be; infinite where there is no limit."""
        ...


@runtime_checkable
class HasNoQuery(Protocol):
    """Releases a value that nobody asks for at a point; it is sampled at one query, whatever that is."""

    @property
    def without_query(self) -> bool:
        """Whether it is so."""
        ...


@runtime_checkable
class HasOneQuery(Protocol):
    """Releases a value of which every query shows the same; it is looked at through the first query of a group alone."""

    @property
    def one_query(self) -> bool:
        """Whether it is so."""
        ...


@runtime_checkable
class HasDirections(Protocol):
    """Releases a vector, and answers at a query the number <w, u>, u a direction that belongs to the query.

    The answers of one trial at several queries must all be of one vector w.
    """

    @property
    def dimension(self) -> int:
        """Number d of coordinates of w; 0 where its parameters have it release something else."""
        ...

    def towards(self, directions: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """Return the queries (k, columns) that ask for <w, u>, for each u of `directions`, shape (k, d), of norm 1."""
        ...


@runtime_checkable
class ShowsPart(Protocol):
    """Answers less than its claims are about: a label computed from weights that are released, say."""

    @property
    def looked_at(self) -> str:
        """What is answered, in words that go before 'was looked at'; empty where its parameters have it answer everything."""
        ...


@runtime_checkable
class NamesAnswers(Protocol):
    """Writes what it answers as a number that has to be read: a transcript, an index and bits, a bin."""

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:
        """Say what an answer at a query, shape (d,), stands for; empty where it is a label that needs no words."""
        ...


@runtime_checkable
class DerivesParameters(Protocol):
    """Works out for itself what its user leaves out of its parameters."""

    @property
    def derived_parameters(self) -> Mapping[str, int | float | str]:
        """What is in force for parameters that may be left out, by name; more than were left out do no harm."""
        ...


@runtime_checkable
class HasCheck(Protocol):
    """Can tell beforehand that data do not fit its parameters."""

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if these data can never be prepared; cheap, trains nothing."""
        ...


@runtime_checkable
class HasUpdate(Protocol):
    """Makes the neighbour's state for less than `prepare` on the neighbour."""

    def update(self, state: Any, change: Change) -> Any:
        """Return the state of the changed dataset; `state` itself is left as it is.

        The change is of one record; several are made one after the other.
        """
        ...


@runtime_checkable
class HasLaw(Protocol):
    """Knows its exact output law."""

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> Law | None:
        """Return the exact law per query, or None where it is out of reach for this dataset."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """Pairs and queries that the author of a mechanism knows to be bad.

    Parameters
    ----------
    pairs : Pairs
        A dataset of their own, not the user's.
    queries : array (q, d)
        Where to ask.
    reason : str
        Why this is bad, in one sentence.
    """

    pairs: Pairs
    queries: NDArray[np.float64]
    reason: str


@runtime_checkable
class HasWorstCases(Protocol):
    """Brings its own worst cases; they are audited besides the user's pairs."""

    def pairs(self) -> tuple[WorstCase, ...]:
        """Each with the reason."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reachable:
    """All the states in which datasets of any size can leave the mechanism at a query, and which of them can be neighbours.

    Parameters
    ----------
    states : tuple of str
        Names of the s states.
    law : FiniteLaw or NoiseLaw
        The law of the answer in each state; its rows are the states.
    moves : int array (m, 2)
        Pairs of states that one change can turn into each other, each once; both directions are meant.
    argument : str
        Why there are no other states and no other moves, and why each of these occurs.
    several : str
        Why k changed records make just the moves of up to k steps; empty if that is not known. Claims about `replace-k` need it.
    of : str
        What the states are of, in words that go on 'of all datasets, of', where that is not quite what is released: exact
        minimisers, where a solver comes near them. Empty where it is.
    """

    states: tuple[str, ...]
    law: Law
    moves: NDArray[np.int64]
    argument: str
    several: str = ""
    of: str = ""


@runtime_checkable
class HasReachable(Protocol):
    """Depends on the dataset only through a small state, so that all datasets of any size can be covered."""

    def reachable(self) -> Reachable | None:
        """Return the reachable states, or None where the parameters do not allow the argument."""
        ...


@runtime_checkable
class HasScores(Protocol):
    """A training procedure T = (G, F) with a validation score q, as in sections 2 and 3 of Chaudhuri and Vinterbo (2013)."""

    @property
    def thetas(self) -> tuple[float, ...]:
        """The parameters Theta that are tried, at least one."""
        ...

    def sizes(self, data: Any) -> tuple[int, int]:
        """Return n and m: the first n records train, the last m validate."""
        ...

    def noise(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw `size` random strings R from G, shape (size, ...); they may not depend on the data."""
        ...

    def apply(self, data: Any, theta: float, R: NDArray[np.float64]) -> Any:
        """Return F(T, theta, alpha, R) for each R: what training releases; deterministic."""
        ...

    def score(self, trained: Any, data: Any) -> tuple[NDArray[np.float64], float]:
        """Return q(h, V) for each h that `apply` returned, shape (size,), and a bound on the numerical error of each."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionMechanism:
    """A plain function as a mechanism: all its coins are drawn inside the call, nothing is prepared.

    Parameters
    ----------
    function : callable
        `function(data, queries, size, rng)` returns answers of shape (size, q): `size` independent runs at q queries, with
        randomness from `rng` alone.
    claims : tuple of Claim
        What it promises.
    labels : tuple of int
        What it may answer; empty if it answers real numbers.
    numbers : tuple of float, optional
        Least and greatest real number that it may answer, infinite where there is no limit.
    """

    function: Callable[[Any, NDArray[np.float64], int, np.random.Generator], Any]
    claims: tuple[Claim, ...]
    labels: tuple[int, ...] = (0, 1)
    numbers: tuple[float, float] | None = None

    def prepare(self, data: Any) -> Any:
        """Keep the dataset as the state."""
        return data

    def sample(self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Call the function."""
        return np.asarray(self.function(state, queries, size, rng))
