"""A mechanism behind a guard.

Whatever it does wrong comes out as one `TargetError` that says what and where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
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
    require,
    told,
)
from dpassay.laws import FiniteLaw, Law, NoiseLaw, PointLaw
from dpassay.mechanism import FunctionMechanism, Mechanism, Reachable, WorstCase, offers
from dpassay.pairs import Change, one_by_one
from dpassay.search.declared import Output, fails
from dpassay.search.outputs import Encoder, fit_encoder
from dpassay.search.proposals.proposal import Space
from dpassay.seeds import stream
from dpassay.targets.adapter import full, given, is_trainer
from dpassay.targets.draws import as_bytes, as_draws

T = TypeVar("T")
PROBABILITY = (
    "if it is a probability, draw the label with it, or audit the number itself with "
    "numbers=(0, 1), --answers 0..1"
)
NUMBERS = "declare the range of numbers with numbers=(least, greatest), --answers LEAST..GREATEST"
LABELS = "declare other labels with labels=(-1, 1), --answers=-1,1"
NAMES = "answer labels by their number, 0, 1, ... in sorted order"
TABLE = "data.X are its features, data.y its labels"
COPIED = (
    "writes into what it is given, which is read-only; copy it first: data = data.copy(), of "
    "records X = data.X.copy()"
)
"""What is said of answers and calls that new users often make."""
FEW = 8
"""So many labels are few."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditTarget:
    """What is audited: a mechanism, what it is called, and the parameters that make it again.

    Parameters
    ----------
    name : str
        Name in results and streams: the catalogue's, or `module:object`.
    address : str or None
        What `dpassay.targets.resolve.resolve` takes to build it again; None for an object that only
        this process knows.
    parameters : dict
        Its parameters as JSON values.
    mechanism : Mechanism
        The object; a plain one with some of the members is given the defaults of `Mechanism` for
        the others.
    claims : tuple of Claim
        What it is held against; its own promises unless the user said otherwise.
    alone : bool
        Whether its own pairs are all that it is asked about: a reading whose number n of records is
        part of what is false, or a mechanism that says so.
    space : Space, optional
        What its pairs are searched for among; its answers are free then.
    """

    name: str
    address: str | None
    parameters: dict[str, Any]
    mechanism: Mechanism
    claims: tuple[Claim, ...]
    alone: bool = False
    space: Space | None = None
    labels: tuple[int, ...] = field(init=False)
    numbers: tuple[float, float] | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", full(self.mechanism))
        numbers = self.mechanism.numbers
        labels = _labels(self.mechanism.labels) if numbers is None else ()
        if numbers is not None:
            known = (
                isinstance(numbers, tuple)
                and len(numbers) == 2
                and as_real(numbers[0]) < as_real(numbers[1])
            )
            require(known, "numbers", numbers, "(least, greatest), the least below the greatest")
            numbers = as_real(numbers[0]), as_real(numbers[1])
        require(
            isinstance(self.claims, tuple) and len(self.claims) > 0,
            "claims",
            self.claims,
            "a tuple of at least one claim",
        )
        for claim in self.claims:
            allowed = f"a {', '.join(f'{kind}(...)' for kind in KINDS)}"
            meant = f"; did you mean DP(epsilon={claim})?" if is_real(claim) else ""
            require(isinstance(claim, Claim), "claim", claim, f"{allowed}{meant}")
            self._check_claim(claim, numbers)
        object.__setattr__(self, "numbers", numbers)
        object.__setattr__(self, "labels", labels)

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
    def seeded(self) -> bool:
        """Whether trials come out the same again, as it draws all its coins from `rng`."""
        return bool(self.mechanism.seeded)

    @property
    def exchangeable(self) -> bool:
        """Whether the mechanism declares that the order of records does not matter to its law."""
        told = lambda: bool(self.mechanism.exchangeable)  # noqa: E731
        return self._guard("exchangeable", "any dataset", told)

    @property
    def declared_in(self) -> str:
        """Where its properties are declared: `module:class`."""
        kind = type(self.given)
        told = getattr(self.given, "declared_in", "")  # of one that is in another process
        return str(told) or f"{kind.__module__}:{kind.__qualname__}"

    @property
    def has_law(self) -> bool:
        """Whether the mechanism may know its exact law: it defines `distribution`."""
        return offers(self.mechanism, "distribution")

    @property
    def has_worst_cases(self) -> bool:
        """Whether the mechanism names pairs of its own."""
        return offers(self.mechanism, "pairs")

    @property
    def has_reachable(self) -> bool:
        """Whether the mechanism may know the worst case over datasets of any size."""
        return offers(self.mechanism, "reachable")

    def looked_at(self, claim: Claim) -> str:
        """What is answered of what a claim is about, in words.

        Empty where that is all of it, or nobody says otherwise.
        """
        return str(self.mechanism.looked_at) if claim.of_answers else ""

    @property
    def derived(self) -> dict[str, int | float | str]:
        """What is in force for parameters that were left out, where the mechanism says it.

        Empty where it fails over it.
        """
        try:
            told = dict(self.mechanism.derived_parameters)
        except Exception:  # noqa: BLE001  (words about a result: none is better than no result)
            return {}
        left_out = [name for name, value in self.parameters.items() if value is None or value == ""]
        return {
            name: told[name] for name in left_out if isinstance(told.get(name), (int, float, str))
        }

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:
        """Say what an answer at a query stands for.

        Empty where the mechanism does not say, or fails over it.
        """
        try:
            return str(self.mechanism.answer_words(answer, query))
        except Exception:  # noqa: BLE001  (words about a result: none is better than no result)
            return ""

    def most(self, claim: Claim) -> float:
        """Largest leak that there can be of what a claim is about, in its units."""
        return claim.most(self.numbers)

    def check_detect(self, claim: Claim, leak: float, argument: str = "detect") -> None:
        """Raise `InvalidInput` unless the leak to be seen lies above the claim.

        And below the largest there can be.
        """
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
        """Whether all its claims are about errors, which are computed and never sampled."""
        return all(claim.computed for claim in self.claims)

    @property
    def sampled(self) -> AuditTarget:
        """The same without claims that no trials can certify, as long as others are left.

        Of errors, and means without limits.
        """
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

    def towards(self, directions: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """Return the queries that ask for the released vector's coordinates along directions.

        They are read-only.
        """
        asked = lambda: points(self.mechanism.towards(directions, columns), "towards")  # noqa: E731
        found = self._guard("towards", "some directions", asked)
        return self._checked_directions(found, len(directions), columns)

    @staticmethod
    def _checked_directions(
        found: NDArray[np.float64], directions: int, columns: int
    ) -> NDArray[np.float64]:
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
        for each in one_by_one(change):
            state = self._guard(
                "update",
                f"the neighbour with {change}",
                partial(self.mechanism.update, state, each),
            )
            if state is None:
                return self.scratch(data, change)
        return state

    def scratch(self, data: Any, change: Change) -> Any:
        """Return the state of the changed dataset, prepared without `update`."""
        return self._guard(
            "prepare",
            f"the neighbour with {change}",
            lambda: self.mechanism.prepare(change.apply(data)),
        )

    def law(self, state: Any, queries: NDArray[np.float64], where: str) -> Law | None:
        """Return the exact law at the queries; None where this dataset has none."""
        law = self._guard(
            "distribution", where, lambda: self.mechanism.distribution(state, queries)
        )
        self.check_law(law, len(queries), where)
        return law

    def check_law(self, law: Any, queries: int, where: str) -> None:
        """Raise `TargetError` if what a mechanism declares is no law of its answers."""
        kinds = (FiniteLaw,) if self.numbers is None else (PointLaw, NoiseLaw)
        if law is not None and not isinstance(law, kinds):
            known = " or a ".join(kind.__name__ for kind in kinds)
            raise TargetError(
                f"distribution on {where} returned {type(law).__name__}; expected a {known}, or "
                "None"
            )
        expected = (queries, len(self.labels) or 1)
        if law is not None and law.table.shape != expected:
            raise TargetError(
                f"distribution on {where} has shape {law.table.shape}; expected (queries, labels) "
                f"= {expected}"
            )

    def sample(
        self,
        state: Any,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,
        where: str,
    ) -> NDArray[Any]:
        """Return `size` trials, shape (size, q).

        Each of them one of `labels`, or a finite number in the range `numbers`. Where it may answer
        anything, see `dpassay.targets.draws.as_draws`.
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
        return self._checked(draws, size, len(queries), where)

    @property
    def slow(self) -> bool:
        """Whether it makes one run a call, or runs outside of Python."""
        mechanism = self.given
        one = isinstance(mechanism, FunctionMechanism) and "size" not in mechanism.takes
        return one or bool(getattr(mechanism, "foreign", False))

    def coded(self, space: Any) -> str:
        """Say how records of any kind are coded for the mechanism; empty where they are not."""
        told = getattr(self.mechanism, "coded", None)
        rows = getattr(space, "rows", None)
        return "" if told is None or rows is None else str(told(rows))

    @property
    def joint(self) -> bool:
        """Whether the answers of several queries are one output."""
        return bool(getattr(self.mechanism, "together", 0))

    @property
    def output(self) -> Output | None:
        """What its free answers were declared to be; None where nothing was."""
        found = getattr(self.mechanism, "output", None)
        return found if isinstance(found, Output) else None

    @property
    def by_query(self) -> bool:
        """Whether its free answers come query by query, in columns."""
        return not (self.mechanism.without_query or self.joint)

    def encoder(
        self,
        pilots: Sequence[tuple[Any, NDArray[np.float64], tuple[str | float, ...]]],
        size: int,
        own: str = "",
        *,
        failures: bool = False,
    ) -> Encoder:
        """Fit the encoder of its answers on a pilot.

        Parameters
        ----------
        pilots : sequence of (dataset, queries, key)
            Where it is asked, with the key of the random stream of each.
        size : int
            Trials of each.
        own : str
            Digest of a dataset on which it must not fail every time; empty if there is none.
        failures : bool
            Whether a run may raise an exception, also if the pilot does not show one.
        """
        drawn, failed = [], list[TargetError]()
        for data, queries, key in pilots:
            where = "a pilot dataset"
            try:
                found = self.sample(self.prepare(data), queries, size, stream(*key), where)
            except TargetError as error:  # a dataset that it does not take; the search passes it
                if error.undeclared:
                    raise
                failed.append(error)
            else:
                if data.digest == own:
                    self._check_failures([found], "the data given")
                drawn += list(found.T) if self.by_query else [found]
        if not drawn:
            raise failed[0]
        self._check_failures(drawn, "every pilot dataset")
        bits = bool(getattr(self.mechanism, "bits", False))
        return self._guard(
            "sample",
            "a pilot dataset",
            lambda: fit_encoder(
                drawn, bits=bits, output=self.output, failures=failures or any(map(fails, drawn))
            ),
        )

    def _check_failures(self, drawn: Sequence[NDArray[Any]], where: str) -> None:
        """Raise `TargetError` if every run raised an exception."""
        if any(each.dtype.kind != "O" for each in drawn):
            return
        answers = [answer for each in drawn for answer in each.ravel().tolist()]
        if answers and all(isinstance(answer, Failed) for answer in answers):
            first = answers[0]
            hint = self._hint(first.kind, first_line(first.detail))
            raise TargetError(
                f"sample on {where} raised {first.kind}{hint} in every run", first.detail
            )

    def _checked(self, draws: NDArray[Any], size: int, queries: int, where: str) -> NDArray[Any]:
        """Return the answers of a mechanism, if they are what it may answer."""
        expected = (size, queries)
        if draws.shape != expected:
            nothing = draws.shape == () and draws.item() is None
            found = "None" if nothing else f"shape {draws.shape}"
            raise TargetError(
                f"sample on {where} returned {found}; expected (size, queries) = {expected}"
                f"{'; has it a return statement?' if nothing else _turned(draws.shape, expected)}"
            )
        if draws.dtype.kind not in "biuf":
            names = f"; {NAMES}" if draws.dtype.kind in "US" and self.numbers is None else ""
            raise TargetError(
                f"sample on {where} returned an array of {draws.dtype}; expected "
                f"{self._answers()}{names}"
            )
        if self.numbers is None:
            known = _among(draws, self.labels)
        else:
            low, high = self.numbers
            known = np.isfinite(draws) & (draws >= low) & (draws <= high)
        if not known.all():
            trial, query = np.argwhere(~known)[0]
            value = draws[trial, query].item()
            what = f"{value!r} in trial {trial} at query {query}"
            raise TargetError(
                f"sample on {where} returned {what}; expected {self._answers()}"
                f"{self._declared(value)}"
            )
        return draws

    def _declared(self, value: float) -> str:
        """Say how an answer would be declared that is none of those declared."""
        if not math.isfinite(value):
            return ""
        if self.numbers is not None:
            return "; declare a range that holds every answer"
        return f"; {LABELS if value == int(value) else PROBABILITY if 0 < value < 1 else NUMBERS}"

    def _answers(self) -> str:
        if self.numbers is None:
            return f"one of {self.labels}"
        return f"a finite number in [{self.numbers[0]:g}, {self.numbers[1]:g}]"

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
        try:
            with np.errstate():  # what it does to NumPy's handling of errors is undone
                return call()
        except TargetError:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            detail = told(error)
            hint = self._hint(type(error).__name__, first_line(detail))
            raise TargetError(
                f"{method} on {where} raised {type(error).__name__}{hint}", detail
            ) from error

    def _hint(self, kind: str, line: str) -> str:
        """Say what was done wrong, of what is often done wrong."""
        if kind == "ValueError" and "read-only" in line:
            return f" ({self.name} {COPIED})"
        return f" ({TABLE})" if "'Labelled' object" in line else ""


def _turned(shape: tuple[int, ...], expected: tuple[int, int]) -> str:
    """Say what was perhaps done to the shape of answers."""
    if shape == expected[::-1]:
        return "; transpose it"
    if shape in ((), (expected[1],)):
        return "; return a row for each of `size` runs, all drawn anew"
    return "; return a column for each query" if shape == (expected[0],) else ""


def _among(draws: NDArray[Any], labels: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return where an answer is a label; `np.isin` takes longer where these are few.

    One for all where none can be anything else.
    """
    if draws.dtype.kind == "b" and {0, 1} <= set(labels):
        return np.ones((1, 1), dtype=bool)
    if len(labels) > FEW:
        return np.isin(draws, labels)
    draws = as_bytes(draws)
    known: NDArray[np.bool_] = draws == labels[0]
    for label in labels[1:]:
        known |= draws == label
    return known


def _labels(said: Any) -> tuple[int, ...]:
    """Return labels as plain integers."""
    labels = tuple(said) if isinstance(said, Iterable) else ()
    known = (
        len(labels) >= 2
        and all(isinstance(label, Integral) for label in labels)
        and len(set(labels)) == len(labels)
    )
    require(known, "labels", said, "at least two integers, all different")
    return tuple(int(label) for label in labels)
