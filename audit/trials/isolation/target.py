"""Isolated targets: their mechanism runs in another process, what it answers is checked here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.data import points
from dpassay.errors import TargetError
from dpassay.laws import Law
from dpassay.mechanism import Reachable, WorstCase, offers
from dpassay.pairs import Change
from dpassay.search.outputs import Encoder, encoder_from_json
from dpassay.targets.coupled import Coupled
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.targets.pilot import Pilot
from dpassay.trials.isolation.host import Handle
from dpassay.trials.isolation.hosts import Hosts
from dpassay.trials.portable import read
from dpassay.trials.wire import line_of
from dpassay.trials.written import ANSWERS, Drawn, law_from, reachable_from, worst_case_from

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Isolated(AuditTarget):
    """A target whose mechanism is only called in another process.

    `mechanism` has the members that it has `there`, but they do nothing.
    """

    hosts: Hosts
    there: object

    @property
    def part(self) -> Claim | None:
        """The claim about scores for which the mechanism there is only a trainer."""
        mechanism: object = self.mechanism
        return (
            mechanism.claim
            if isinstance(mechanism, Coupled) and mechanism is not self.there
            else None
        )

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if the mechanism says that it can never take these data."""
        if not offers(self.mechanism, "check"):
            return
        try:
            self._ask("check", "check", data, known=(data,))
        except TargetError:
            return  # the next call says it

    def prepare(self, data: Any) -> Any:
        """Return what stands for the state of a dataset."""
        return self._state("prepare on the base dataset", "prepare", data, known=(data,))

    def neighbour(self, data: Any, state: Any, change: Change) -> Any:
        """Return what stands for the state of the changed dataset."""
        return self._state(
            f"prepare on the neighbour with {change}",
            "neighbour",
            data,
            state,
            change,
            known=(data,),
        )

    def scratch(self, data: Any, change: Change) -> Any:
        """Return what stands for the state of the changed dataset, prepared without `update`."""
        return self._state(
            f"prepare on the neighbour with {change}", "scratch", data, change, known=(data,)
        )

    def law(self, state: Any, queries: NDArray[np.float64], where: str) -> Law | None:
        """Return the exact law at the queries; None where this dataset has none."""
        if not self.has_law:
            return None
        told = self._ask(f"distribution on {where}", "law", state, queries, where, known=(queries,))
        law = None if told is None else self._read(law_from, told, "distribution")
        self.answers.check_law(law, len(queries), where)
        return law

    def sample(
        self,
        state: Any,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,
        where: str,
    ) -> NDArray[Any]:
        """Return `size` trials, shape (size, q).

        Each of them one of `labels`, or a finite number in the range `numbers`.

        The generator goes on as it did in the other process.
        """
        told: Drawn = self._ask(
            f"sample on {where}", "sample", state, queries, size, rng, where, known=(queries,)
        )

        told.move(rng)
        self.answers.check(told.draws, size, len(queries), where)
        return np.asarray(told.draws)

    def see(self, subject: Any, data: Any, points: Any, rng: np.random.Generator) -> Any:
        """Return what the subject of an attack, sent once without its target, sees there."""
        where = "a target's training set"
        return self._ask(where, "see", subject, data, points, rng, known=(subject, points))

    def encoder(
        self,
        pilots: Sequence[Pilot],
        size: int,
        own: str = "",
        *,
        failures: bool = False,
    ) -> Encoder:
        """Fit the encoder of its answers on a pilot, in the other process."""
        told = self._ask("sample on a pilot dataset", "encoder", list(pilots), size, own, failures)
        return self._read(lambda text: encoder_from_json(json.loads(text)), told, "sample")

    def alike(self, datasets: Sequence[Any], queries: NDArray[np.float64]) -> int:
        """Return how many datasets give the same answers; see `dpassay.trials.own_coins`."""
        return int(self._ask("sample on some datasets", "alike", list(datasets), queries))

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:
        """Describe an answer at a query; empty if the mechanism does not, or is gone."""
        if not offers(self.mechanism, "answer_words"):
            return ""
        try:
            return str(self._ask("answer_words", "answer_words", answer, query, known=(query,)))
        except TargetError:
            return ""

    def worst_cases(self) -> tuple[WorstCase, ...]:
        """Return the pairs that the mechanism itself names."""
        if not self.has_worst_cases:
            return ()
        told = self._ask("pairs", "worst_cases")
        return tuple(self._read(worst_case_from, each, "pairs") for each in told)

    def reachable(self) -> Reachable | None:
        """Return the reachable states, where the mechanism knows them."""
        told = self._ask("reachable", "reachable") if self.has_reachable else None
        return None if told is None else self._read(reachable_from, told, "reachable")

    @property
    def dimension(self) -> int:
        """Number of coordinates of the vector that it releases; 0 where it releases none."""
        if self.numbers is None or not offers(self.mechanism, "towards"):
            return 0
        return int(self._ask("dimension", "dimension"))

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """Return how a domain with these sides may be relabelled, as the mechanism declares."""
        offered = offers(self.mechanism, "symmetries")
        return tuple(self._ask("symmetries", "symmetries", sides)) if offered else ()

    def towards(self, directions: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """Return read-only queries for the released vector's coordinates along directions."""
        asked = self._ask("towards", "towards", directions, columns)
        found = self._read(lambda told: points(told, "towards"), asked, "towards")
        return self._checked_directions(found, len(directions), columns)

    def check_unchanged(self, groups: tuple[PairGroup, ...]) -> None:
        """Raise `TargetError` if the mechanism has written into a dataset that it was lent."""
        bases = [group.pairs.base for group in groups]
        self._ask(
            "its datasets",
            "check_unchanged",
            bases,
            [group.digest for group in groups],
            known=bases,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """On another machine it is the target itself: all that runs there is the user's."""
        return read, (self.hosts.portable(), "of Dask")

    def _state(self, what: str, operation: str, *arguments: Any, known: Iterable[Any]) -> Handle:
        state = self.hosts.first(what).keep()
        self._ask(what, operation, state.key, *arguments, known=known)
        return state

    def _ask(self, what: str, operation: str, *arguments: Any, known: Iterable[Any] = ()) -> Any:
        """Have something done in the other process."""
        kind = ANSWERS[operation]
        return self.hosts.ask(kind, what, operation, self.part, *arguments, known=known)

    @staticmethod
    def _read(read: Callable[[Any], T], told: Any, method: str) -> T:
        try:
            return read(told)
        except Exception as error:  # noqa: BLE001  (whatever it does to its reader)
            raise TargetError(
                f"{method} returned something that cannot be read ({line_of(error)})"
            ) from None
