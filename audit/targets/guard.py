"""What is audited: a mechanism with its claims, called behind a guard.

Whatever it does wrong comes out as one `TargetError` that says what and where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import KINDS, Claim
from dpassay.data import points
from dpassay.errors import (
    Failed,
    InvalidInput,
    TargetError,
    as_real,
    first_line,
    is_count,
    is_real,
    printable,
    require,
    told,
)
from dpassay.laws import Law
from dpassay.mechanism import FunctionMechanism, Mechanism, Reachable, WorstCase, offers
from dpassay.pairs import Change, one_by_one
from dpassay.search.declared import Output, fails
from dpassay.search.outputs import Encoder, fit_encoder
from dpassay.search.proposals.proposal import Space
from dpassay.seeds import stream
from dpassay.targets.adapter import full, given, is_trainer
from dpassay.targets.answer_set import AnswerSet, as_draws

Array = NDArray[np.float64]
T = TypeVar("T")
TABLE = "data.X are its features, data.y its labels"
COPIED = (
    "writes into what it is given, which is read-only; copy it first: data = data.copy(), of "
    "records X = data.X.copy()"
)
"""What is said of calls that new users often make."""
WHERE = "a pilot dataset"
Pilot = tuple[Any, Array, tuple[str | float, ...]]
"""A dataset, what is asked there, and the key of the random stream."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditTarget:
    """What is audited: a mechanism, what it is called, and the parameters that make it again."""

    name: str  # in results and streams: the catalogue's, or `module:object`
    # what `dpassay.targets.resolve.resolve` takes to build it again; None for an object that only
    # this process knows
    address: str | None
    parameters: dict[str, Any]  # as JSON values
    mechanism: Mechanism  # a plain object is given the defaults of `Mechanism` for what it lacks
    claims: tuple[Claim, ...]  # what it is held against
    # its own pairs are all that it is asked about: a reading whose number n of records is part of
    # what is false, or a mechanism that says so
    alone: bool = False
    space: Space | None = None  # what its pairs are searched for among; its answers are free then
    labels: tuple[int, ...] = field(init=False)
    numbers: tuple[float, float] | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", full(self.mechanism))
        answers = AnswerSet.of(self.mechanism)
        some = isinstance(self.claims, tuple) and len(self.claims) > 0
        require(some, "claims", self.claims, "a tuple of at least one claim")
        for claim in self.claims:
            allowed = f"a {', '.join(f'{kind}(...)' for kind in KINDS)}"
            meant = f"; did you mean DP(epsilon={claim})?" if is_real(claim) else ""
            require(isinstance(claim, Claim), "claim", claim, f"{allowed}{meant}")
            self._check_claim(claim, answers.numbers)
        object.__setattr__(self, "numbers", answers.numbers)
        object.__setattr__(self, "labels", answers.labels)

    def _check_claim(self, claim: Claim, numbers: tuple[float, float] | None) -> None:
        """Raise `InvalidInput` if a claim cannot be about such answers."""
        if claim.coupled:
            trainer = getattr(self.mechanism, "trainer", self.mechanism)
            allowed = f"about a trainer with noise, apply and score; {self.name} is none"
            require(is_trainer(trainer), "claim", claim, allowed)
            return
        if misfit := claim.misfit(numbers, self.name):
            raise InvalidInput(f"claim = {claim}: {misfit}")

    @property
    def given(self) -> Any:
        """The object as the user gave it."""
        return given(self.mechanism)

    @property
    def answers(self) -> AnswerSet:
        """Return what it may answer, unless its answers are free."""
        return AnswerSet(labels=self.labels, numbers=self.numbers)

    @property
    def seeded(self) -> bool:
        """Return whether trials come out the same again, as it draws all its coins from `rng`."""
        return bool(self.mechanism.seeded)

    @property
    def exchangeable(self) -> bool:
        """Return whether records' order is declared not to matter to the mechanism's law."""
        said = lambda: bool(self.mechanism.exchangeable)  # noqa: E731
        return self._guard("exchangeable", "any dataset", said)

    @property
    def declared_in(self) -> str:
        """Return where its properties are declared: `module:class`."""
        kind = type(self.given)
        told = getattr(self.given, "declared_in", "")  # of one that is in another process
        return str(told) or f"{kind.__module__}:{kind.__qualname__}"

    @property
    def has_law(self) -> bool:
        """Return whether the mechanism may know its exact law: it defines `distribution`."""
        return offers(self.mechanism, "distribution")

    @property
    def has_worst_cases(self) -> bool:
        """Return whether the mechanism names pairs of its own."""
        return offers(self.mechanism, "pairs")

    @property
    def has_reachable(self) -> bool:
        """Return whether the mechanism may know the worst case over datasets of any size."""
        return offers(self.mechanism, "reachable")

    def looked_at(self, claim: Claim) -> str:
        """Return in words what is answered of what a claim is about.

        It is empty where that is all of it, or nobody says otherwise.
        """
        return str(self.mechanism.looked_at) if claim.of_events else ""

    @property
    def derived(self) -> dict[str, int | float | str]:
        """Return the values of parameters that were left out, where the mechanism says them.

        It is empty where the mechanism fails over it.
        """
        try:
            said = dict(self.mechanism.derived_parameters)
        except Exception:  # noqa: BLE001  (words about a result: none is better than no result)
            return {}
        left_out = [name for name, value in self.parameters.items() if value is None or value == ""]
        return {
            name: said[name] for name in left_out if isinstance(said.get(name), (int, float, str))
        }

    def answer_words(self, answer: int, query: Array) -> str:
        """Describe an answer at a query; empty where the mechanism does not, or fails at it."""
        try:
            return str(self.mechanism.answer_words(answer, query))
        except Exception:  # noqa: BLE001  (words about a result: none is better than no result)
            return ""

    def most(self, claim: Claim) -> float:
        """Largest leak that there can be of what a claim is about, in its units."""
        return claim.most(self.numbers)

    def check_detect(self, claim: Claim, leak: float, argument: str = "detect") -> None:
        """Raise `InvalidInput` unless the leak is above the claim and below the largest."""
        most = self.most(claim)
        if claim.promised >= most:
            raise InvalidInput(
                f"claim = {claim}: cannot be exceeded, no {claim.quantity} of {self.name} is larger"
            )
        limit = (
            ""
            if math.isinf(most)
            else f", and below the largest {claim.quantity} there can be, {most:g}"
        )
        allowed = f"above the claim, {claim.promised:g}{limit} ({self.name})"
        require(claim.promised < as_real(leak) < most, argument, leak, allowed)

    @property
    def only_computed(self) -> bool:
        """Return whether all its claims are about errors, which are computed and never sampled."""
        return all(claim.computed for claim in self.claims)

    @property
    def sampled(self) -> AuditTarget:
        """Return the same without claims of errors or unlimited means, if others are left."""
        hopeless = {
            claim
            for claim in self.claims
            if claim.computed or (claim.means and math.isinf(self.most(claim)))
        }
        left = tuple(claim for claim in self.claims if claim not in hopeless)
        return replace(self, claims=left) if left else self

    @property
    def dimension(self) -> int:
        """Number of coordinates of the vector that it releases; 0 where it releases none."""
        if self.numbers is None:
            return 0
        found = self._guard("dimension", "its vector", lambda: self.mechanism.dimension)
        if not is_count(found, 0):
            raise TargetError(f"dimension is {found!r:.80}; expected an integer >= 0")
        return int(found)

    def towards(self, directions: Array, columns: int) -> Array:
        """Return read-only queries for the released vector's coordinates along directions."""
        asked = lambda: points(self.mechanism.towards(directions, columns), "towards")  # noqa: E731
        found = self._guard("towards", "some directions", asked)
        return self._checked_directions(found, len(directions), columns)

    @staticmethod
    def _checked_directions(found: Array, directions: int, columns: int) -> Array:
        if found.shape != (directions, columns):
            raise TargetError(
                f"towards returned shape {found.shape}; expected (directions, columns) = "
                f"{(directions, columns)}"
            )
        return found

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if the mechanism says that it can never take these data."""
        try:
            self.mechanism.check(data)
        except InvalidInput:
            raise
        # a broken check is the mechanism's fault: `prepare` will show it, and end its result only
        except Exception:  # noqa: BLE001
            return

    def prepare(self, data: Any) -> Any:
        """Return the state of a dataset."""
        return self._guard("prepare", "the base dataset", lambda: self.mechanism.prepare(data))

    def neighbour(self, data: Any, state: Any, change: Change) -> Any:
        """Return the state of the changed dataset, by `update` where the mechanism has it."""
        where = f"the neighbour with {change}"
        for each in one_by_one(change):
            state = self._guard("update", where, partial(self.mechanism.update, state, each))
            if state is None:
                return self.scratch(data, change)
        return state

    def scratch(self, data: Any, change: Change) -> Any:
        """Return the state of the changed dataset, prepared without `update`."""
        where = f"the neighbour with {change}"
        return self._guard("prepare", where, lambda: self.mechanism.prepare(change.apply(data)))

    def law(self, state: Any, queries: Array, where: str) -> Law | None:
        """Return the exact law at the queries; None where this dataset has none."""
        law = self._guard(
            "distribution", where, lambda: self.mechanism.distribution(state, queries)
        )
        self.answers.check_law(law, len(queries), where)
        return law

    def sample(
        self, state: Any, queries: Array, size: int, rng: np.random.Generator, where: str
    ) -> NDArray[Any]:
        """Return `size` trials, shape (size, q).

        Each of them one of `labels`, or a finite number in the range `numbers`. Where it may answer
        anything, see `dpassay.targets.answer_set.as_draws`.
        """
        if self.mechanism.free:
            asked = 0 if self.mechanism.without_query or self.joint else len(queries)
            found = self._guard(
                "sample",
                where,
                lambda: as_draws(
                    self.mechanism.sample(state, queries, size, rng), size, asked, where
                ),
            )
            if self.output is not None:
                self.output.check(found, where, by_query=self.by_query)
            return found
        draws = self._guard(
            "sample", where, lambda: np.asarray(self.mechanism.sample(state, queries, size, rng))
        )
        self.answers.check(draws, size, len(queries), where)
        return draws

    @property
    def slow(self) -> bool:
        """Return whether it makes one run a call, or runs outside of Python."""
        mechanism = self.given
        one = isinstance(mechanism, FunctionMechanism) and "size" not in mechanism.takes
        return one or bool(getattr(mechanism, "foreign", False))

    def coded(self, space: Any) -> str:
        """Say how records of any kind are coded for the mechanism; empty where they are not."""
        coded = getattr(self.mechanism, "coded", None)
        rows = getattr(space, "rows", None)
        return "" if coded is None or rows is None else str(coded(rows))

    @property
    def joint(self) -> bool:
        """Return whether the answers of several queries are one output."""
        return bool(getattr(self.mechanism, "together", 0))

    @property
    def output(self) -> Output | None:
        """Return what its free answers were declared to be; None where nothing was."""
        found = getattr(self.mechanism, "output", None)
        return found if isinstance(found, Output) else None

    @property
    def by_query(self) -> bool:
        """Return whether its free answers come query by query, in columns."""
        return not (self.mechanism.without_query or self.joint)

    def pilot(self, asked: Pilot, size: int) -> Any:
        """Return `size` answers on a dataset for `encoder`, or why there are none."""
        data, queries, key = asked
        try:
            found = self.sample(self.prepare(data), queries, size, stream(*key), WHERE)
        except TargetError as error:  # a dataset that it does not take; the search passes it
            if error.fatal:
                raise
            return data.digest, error
        return data.digest, list(found.T) if self.by_query else [found]

    def encoder(self, pilots: Sequence[Any], own: str = "", *, failures: bool = False) -> Encoder:
        """Fit the encoder of its answers on what `pilot` returned of some datasets.

        If it fails every time on the dataset with the digest `own`, or on all of them, this raises
        `TargetError`. With `failures` a run may raise an exception, also if the pilot shows none.
        """
        drawn = list[NDArray[Any]]()
        for digest, found in pilots:
            if not isinstance(found, TargetError):
                if digest == own:
                    _check_failures(self.name, found, "the data given")
                drawn += found
        if not drawn:
            raise pilots[0][1]
        _check_failures(self.name, drawn, "every pilot dataset")
        bits = bool(getattr(self.mechanism, "bits", False))
        failures = failures or any(map(fails, drawn))
        return self._guard(
            "sample",
            WHERE,
            lambda: fit_encoder(drawn, bits=bits, output=self.output, failures=failures),
        )

    def worst_cases(self) -> tuple[WorstCase, ...]:
        """Return the pairs that the mechanism itself names."""
        cases = self._guard("pairs", "its own worst cases", self.mechanism.pairs)
        if not (
            isinstance(cases, (tuple, list)) and all(isinstance(case, WorstCase) for case in cases)
        ):
            raise TargetError(
                f"pairs returned {type(cases).__name__}; expected a tuple of WorstCase"
            )
        return tuple(cases)

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """Return how a domain with these sides may be relabelled, as the mechanism declares."""
        where = f"a domain with sides {sides}"
        return self._guard("symmetries", where, lambda: tuple(self.mechanism.symmetries(sides)))

    def reachable(self) -> Reachable | None:
        """Return the reachable states, where the mechanism knows them."""
        return self._guard("reachable", "its states", self.mechanism.reachable)

    def _guard(self, method: str, where: str, call: Callable[[], T]) -> T:
        return guarded(self.name, method, where, call)


def _check_failures(name: str, drawn: Sequence[NDArray[Any]], where: str) -> None:
    """Raise `TargetError` if every run raised an exception."""
    if any(each.dtype.kind != "O" for each in drawn):
        return
    answers = [answer for each in drawn for answer in each.ravel().tolist()]
    if answers and all(isinstance(answer, Failed) for answer in answers):
        first = answers[0]
        said = hint(name, first.kind, first_line(first.detail))
        kind = printable(" ".join(first.kind.split())[:300])
        raise TargetError(f"sample on {where} raised {kind}{said} in every run", first.detail)


def guarded(name: str, method: str, where: str, call: Callable[[], T]) -> T:
    """Call a method of a mechanism; a `TargetError` names both and what the call is about."""
    try:
        with np.errstate():  # what it does to NumPy's handling of errors is undone
            return call()
    except TargetError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        detail, kind = told(error), type(error).__name__
        raise TargetError(
            f"{method} on {where} raised {kind}{hint(name, kind, first_line(detail))}", detail
        ) from error


def hint(name: str, kind: str, line: str) -> str:
    """Return the usual mistake behind an exception, from its class and its first line."""
    if kind == "ValueError" and "read-only" in line:
        return f" ({name} {COPIED})"
    return f" ({TABLE})" if "'Labelled' object" in line else ""
