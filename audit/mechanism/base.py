"""The base classes `Mechanism` and `Trainer`, and the worst cases that their authors know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.claims import Claim, ScoreStability
from dpassay.data import Labelled, points
from dpassay.laws import Law
from dpassay.pairs import Change, Compared, Pairs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """Pairs of a dataset of their own and queries (q, d) that are known to be bad, and why."""

    pairs: Pairs
    queries: NDArray[np.float64]
    reason: str

    @classmethod
    def of(
        cls,
        data: Labelled,
        change: Change,
        *,
        how: str,
        reason: str,
        query: ArrayLike | None = None,
    ) -> WorstCase:
        """Return the worst case with one change of a dataset S, asked at one point (1, d).

        `how` says dataset and change in words; the first record is asked at by default.
        """
        asked = points(data.X[:1] if query is None else query, "queries")
        return cls(pairs=Pairs(base=data, changes=(change,), how=how), queries=asked, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reachable:
    """All states in which datasets of any size can leave the mechanism at a query, and their moves.

    The rows of `law` are the s states; `moves` (m, 2) are pairs of states that one change can turn
    into each other, each once; both directions are meant. `argument` says why there are no other
    states and no other moves, and why each of these occurs. `several` says why k changed records
    make just the moves of up to k steps, which claims about `replace-k` need; it is empty if that
    is not known. `of` says what the states are of where that is not quite what is released (exact
    minimisers, where a solver comes near them), in words that go on 'of all datasets, of'.
    """

    states: tuple[str, ...]
    law: Law
    moves: NDArray[np.int64]
    argument: str
    several: str = ""
    of: str = ""


class Mechanism:
    """A randomised algorithm M(S, x) that answers a label, or a real number, at each query.

    A subclass states `claims` and defines `sample`. Every other member has a default, which says
    that the mechanism does not offer it: a method that returns None, an empty value, False. A class
    that does not inherit from this one may have any of the members; `full` adds the defaults.

    Attributes
    ----------
    claims : tuple of Claim
        What it promises; one or more, unless the user states a claim.
    labels : tuple of int
        The labels that it may answer, at least two. Default: 0 and 1. Not used with `numbers`.
    numbers : tuple of float, or None
        Least and greatest answer of a mechanism that answers real numbers, infinite where there is
        no limit. Default: None, it answers labels.
    without_query : bool
        Whether it releases a value that does not depend on a query point. It is then sampled at one
        query, whatever that is.
    dimension : int
        Number d of coordinates of the vector that it releases; 0 if it releases none. If it is
        positive, `towards` is needed.
    looked_at : str
        If it answers less than its claims are about (a label computed from released weights): what
        it answers, in words that go before 'was looked at'. Empty if it answers everything.
    fixed_n : int or None
        The only number of records that it takes. Default: None, it takes datasets of any size.
    one_query : bool
        Whether every query shows the same of what it releases. It is then looked at through the
        first query of a group alone.
    derived_parameters : mapping
        What is in force for parameters that may be left out, by name; more than were left out do no
        harm.
    exchangeable : bool
        Whether the law of its answers does not depend on the order of the records. Exhaustive mode
        then looks at one order of each dataset of a domain, and checks a sample of the others.
    alone : bool
        Whether it can be audited on its own worst cases only, because a part of it depends on them.
    free : bool
        Whether it may answer anything: `sample` returns `size` rows of numbers, or a sequence of
        `size` values of any kind. Events of such answers are learned, see `dpassay.search`; its
        labels are then 1 and 0, the event and all else.
    seeded : bool
        Whether all its coins come from the generator that it is given, so that trials come out the
        same again. Of one that is not, fresh trials in new processes are held against the first.
    """

    __slots__ = ()
    # Class attributes at run time, so that a dataclass may have fields of these names; read-only
    # properties for the type checker, so that a subclass may compute them.
    if TYPE_CHECKING:

        @property
        def claims(self) -> tuple[Claim, ...]: ...  # noqa: D102
        @property
        def labels(self) -> tuple[int, ...]: ...  # noqa: D102
        @property
        def numbers(self) -> tuple[float, float] | None: ...  # noqa: D102
        @property
        def without_query(self) -> bool: ...  # noqa: D102
        @property
        def dimension(self) -> int: ...  # noqa: D102
        @property
        def looked_at(self) -> str: ...  # noqa: D102
        @property
        def fixed_n(self) -> int | None: ...  # noqa: D102
        @property
        def one_query(self) -> bool: ...  # noqa: D102
        @property
        def derived_parameters(self) -> Mapping[str, int | float | str]: ...  # noqa: D102
        @property
        def exchangeable(self) -> bool: ...  # noqa: D102
        @property
        def alone(self) -> bool: ...  # noqa: D102
        @property
        def free(self) -> bool: ...  # noqa: D102
        @property
        def seeded(self) -> bool: ...  # noqa: D102
    else:
        claims = ()
        labels = (0, 1)
        numbers = None
        without_query = False
        dimension = 0
        looked_at = ""
        fixed_n = None
        one_query = False
        derived_parameters = MappingProxyType({})
        exchangeable = False
        alone = False
        free = False
        seeded = True

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if these data can never be prepared; cheap, trains nothing."""

    def prepare(self, data: Any) -> Any:
        """Return all about dataset S that does not depend on fresh coins; by default S itself."""
        return data

    def update(self, state: Any, change: Change) -> Any:  # noqa: ARG002
        """Return the state of the changed dataset, for less than `prepare` costs.

        `state` itself is left as it is. The change is of one record; several are made one after the
        other. Default: None, the neighbour is prepared.
        """
        return None

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return `size` independent trials at q queries, shape (size, q), all their coins fresh."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample")

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> Law | None:  # noqa: ARG002
        """Return the exact law per query, or None (the default) where it is out of reach."""
        return None

    def pairs(self) -> tuple[WorstCase, ...]:
        """Return its own worst cases, audited besides the user's pairs; none by default."""
        return ()

    def reachable(self) -> Reachable | None:
        """Return the states in which datasets of any size can leave it; None if not known."""
        return None

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:  # noqa: ARG002
        """Return how a domain may be relabelled with the law of the answers moved along.

        The domain is a line, or a grid, of the points 1, ..., side along each of its sides, with
        labels 0 and 1. Exhaustive mode uses it where the records are `exchangeable`.

        Returns
        -------
        tuple of str
            Keys of `dpassay.engine.wording.SYMMETRIES`: "points", "reflections", "coordinates",
            and "labels" and "turns", which exchange the two answers with the labels. Default: none.
        """
        return ()

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:  # noqa: ARG002
        """Say what an answer at a query (d,) stands for; empty where it needs no words."""
        return ""

    def towards(self, directions: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """Return the queries (k, columns) that ask for <w, u>, for each u of `directions` (k, d).

        Directions have norm 1, w is the released vector. The answers of one trial at several
        queries must all be of one w.
        """
        raise NotImplementedError(
            f"{type(self).__name__} releases no vector: it defines no towards"
        )


class Trainer(Mechanism):
    """A training procedure T = (G, F) with a validation score q.

    It is that of sections 2 and 3 of Chaudhuri and Vinterbo (2013), for the parameters Theta,
    `thetas`, that are tried. It needs no `sample`: a claim `ScoreStability` is about its scores.
    """

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def thetas(self) -> tuple[float, ...]: ...  # noqa: D102
    else:
        thetas = ()

    def sizes(self, data: Any) -> tuple[int, int]:
        """Return n and m: the first n records train, the last m validate."""
        raise NotImplementedError

    def noise(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw `size` random strings R from G, shape (size, ...), whatever the data are."""
        raise NotImplementedError

    def apply(self, data: Any, theta: float, R: NDArray[np.float64]) -> Any:
        """Return F(T, theta, alpha, R) for each R: what training releases; deterministic."""
        raise NotImplementedError

    def score(self, trained: Any, data: Any) -> tuple[NDArray[np.float64], float]:
        """Return q(h, V), shape (size,), for each h that `apply` returned, and error bounds."""
        raise NotImplementedError

    def bad_share(
        self,
        state: Compared,  # noqa: ARG002
        claim: ScoreStability,  # noqa: ARG002
    ) -> tuple[float, float] | None:
        """Return the exact proportion of bad random strings and the error of its logarithm."""
        return None


def offers(mechanism: Mechanism, method: str) -> bool:
    """Return whether a mechanism has a method that `Mechanism` lacks by default."""
    found = getattr(mechanism, method)
    return found is not None and getattr(found, "__func__", found) is not getattr(Mechanism, method)


def prepared(mechanism: Mechanism, state: Any, change: Change, neighbour: Any) -> Any:
    """Return the state of a neighbour, by `update` if the mechanism has it, else by `prepare`."""
    updated = mechanism.update(state, change)
    return mechanism.prepare(neighbour) if updated is None else updated
