"""A plain function as a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.data import Values
from dpassay.errors import Failed
from dpassay.mechanism.base import Mechanism
from dpassay.mechanism.plain import owned
from dpassay.rows.rows import Handed, Rows

if TYPE_CHECKING:
    from dpassay.search.declared import Output


ORDER = ("data", "queries", "size", "rng")
"""What a function is called with, or some of it."""
# so many runs show that a call raises for each of its runs, where no coin decides on that
SHOWN = 8


class OwnCoins:
    """A function of a dataset alone, which makes one run a call with coins of its own.

    A subclass defines `__call__(data)`. Nobody can seed it: see `Mechanism.seeded`.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionMechanism(Mechanism):
    """A plain function as a mechanism; all coins are drawn inside the call, nothing is prepared.

    `function(data, queries, size, rng)` returns answers of shape (size, q): `size` independent runs
    at q queries, with randomness from `rng` alone. It `takes` those of `ORDER`, the `named` ones by
    name, as they are keyword-only. One without `size` is run once a call; one without `queries`
    releases the same whatever is asked.

    It may answer `labels`, or real numbers within `numbers`, infinite where there is no limit.
    `together` is the number of coordinates of a query point where the answers at several of them
    are one output: a row of `queries` then holds these points one after the other; 0 where every
    answer is its own. With `bits`, events of the low bits of its numbers are looked for too
    (Mironov 2012). `output` is what one run returns, see `dpassay.search.declared`; a pilot shows
    it by default. For `free` and `seeded` see `Mechanism`.
    """

    function: Callable[..., Any]
    claims: tuple[Claim, ...]
    labels: tuple[int, ...] = (0, 1)
    numbers: tuple[float, float] | None = None
    takes: tuple[str, ...] = ORDER
    named: tuple[str, ...] = ()
    free: bool = False
    together: int = 0
    bits: bool = False
    output: Output | None = None
    seeded: bool = True

    @property
    def without_query(self) -> bool:
        """Return whether the function is asked nothing."""
        return "queries" not in self.takes

    def prepare(self, data: Any) -> Any:
        """Return what the function is handed: numbers, records, or rows as the user gave them."""
        if isinstance(data, Rows):
            return Handed(data.form, data.values)
        return data.values if isinstance(data, Values) else data

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Any:
        """Call the function: once, or once a trial if it makes one run a call."""
        asked = queries.reshape(-1, self.together) if self.together else queries
        rows = isinstance(state, Handed)
        points = Handed(state.form.of_queries, asked) if rows and not self.without_query else None

        def answer(size: int) -> Any:  # each call hands over data of its own
            given = {
                "data": state.fresh() if rows else state,
                "queries": asked if points is None else points.fresh(),
                "size": size,
                "rng": rng,
            }
            more = {name: given[name] for name in self.takes if name in self.named}
            one = (given[name] for name in self.takes if name not in self.named)
            return self.function(*one, **more)

        answers = self._answers(answer, size, len(queries), rng)
        if self.free:
            return answers
        found = np.asarray(answers)
        return found.reshape(size, 1) if self.without_query and found.shape == (size,) else found

    def _answers(
        self, answer: Callable[[int], Any], size: int, queries: int, rng: np.random.Generator
    ) -> Any:
        if "size" not in self.takes:
            return self._each(lambda: answer(1), range(size), queries)

        def coins() -> str:
            return f"{rng.bit_generator.state} {rng.bit_generator.seed_seq!r}"

        before = coins()
        try:
            return answer(size)
        except Exception as error:
            if not self.free or isinstance(error, MemoryError):
                raise
            failed, one = self._failed(error, queries), lambda: only(answer(1))
            # what a function raises before it takes a coin it raises always: a few runs show it
            some = (k for k in range(size) if k < SHOWN or not self.seeded or coins() != before)
            answers = [failed] if size == 1 else self._each(one, some, queries)
            # to redraw only calls that failed would count too few failures: all or none
            if any(each is not answers[0] for each in answers) or answers[0] != failed:
                raise
            return answers[:1] * size

    def _each(self, answer: Callable[[], Any], runs: Iterable[int], queries: int) -> list[Any]:
        """Make runs one by one; where answers are free, an exception is an answer."""
        if not self.free:
            return [answer() for _ in runs]
        found, told = [], dict[type, Any]()
        by_query = not (self.without_query or self.together)
        for _ in runs:
            try:
                one = answer()
                if by_query and type(one) is np.ndarray and one.dtype.kind not in "biuf":
                    one = one.tolist()  # one answer a query
                # the next run may change what it gave: a buffer, a dict of its own
                found.append(owned(one))
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001  (what is not ours may do anything)
                kind = type(error)
                if kind not in told:  # to write down a traceback takes long
                    told[kind] = self._failed(error, queries)
                found.append(told[kind])
        return found

    def _failed(self, error: Exception, queries: int) -> Any:
        """Return what stands for the answer of a run that raised an exception."""
        failed = Failed.of(error)
        return failed if self.without_query or self.together else (failed,) * queries


def only(answers: Any) -> Any:
    """Return the answer of a call that made one run."""
    if len(answers) != 1:
        raise ValueError(f"returned {len(answers)} answers; expected `size` = 1")
    return answers[0]
