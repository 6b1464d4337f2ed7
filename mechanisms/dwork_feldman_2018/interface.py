"""Private prediction interface with a budget (Dwork and Feldman 2018, Definition 1.1).

A prediction interface holds a dataset S, is asked one point after another and answers each; it is
(epsilon, delta)- differentially private if, "for every interactive query generating algorithm Q",
the sequence of queries and responses is. Here it is built as the text after the definition
suggests: an algorithm that is private for a single prediction answers m queries, each with coins of
its own, and then no more.

What is promised. "Composition properties of differential privacy imply that such an algorithm can
be used to answer multiple queries with privacy parameters that degrade gracefully with the number
of queries [DR14]". The constants are not printed in the paper; they are those of Dwork and Roth
(2014), which it cites, for m answers that are (epsilon, delta)-private each:

* basic (Theorem 3.16): (m epsilon, m delta);
* advanced (Theorem 3.20): (sqrt(2 m ln(1 / delta')) epsilon + m epsilon (e^epsilon - 1), m
  delta + delta') for every delta'.

The advanced claim is made where its epsilon is below m epsilon, which takes m > 2 ln(1 / delta');
elsewhere it says nothing that the basic one does not say. The least epsilon that holds for every
epsilon-private algorithm and every Q with the same delta' is `optimal_composition`, which
docs/findings.md derives ('Composition: the interface'); it is the claim `corrected`.

Which Q. A query generating algorithm with coins is a mixture of algorithms without: those are
enough. Queries are then a function of the first one and of the answers, so that the answers tell
the whole interaction. For delta = 0 the worst Q repeats the worst point m times (docs/findings.md).

What is refused. The query after the m-th is refused whatever S is; what an adversary learns of
refusals it knew before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled, points
from dpassay.errors import DpassayError, is_count, is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase, prepared
from dpassay.mechanisms.dwork_feldman_2018.adversaries import ADVERSARIES, BATCH, Itinerary
from dpassay.mechanisms.dwork_feldman_2018.composition import (
    advanced_composition,
    optimal_composition,
)
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.mechanisms.shared.bases import SINGLE, base_of, dp_claims
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change
from dpassay.targets.adapter import full

MOST_PREDICTIONS = 10
"""Longest transcript that is audited: it has 2^10 values."""
DEFINITION = (
    "Dwork and Feldman 2018, Definition 1.1 and the paragraph after it, which prints no constant"
)


class BudgetSpent(DpassayError, RuntimeError):
    """The interface has given all the answers it may give.

    The refusal depends on nothing but the budget.
    """


class PredictionInterface:
    """A prediction interface in service.

    It answers `budget` queries, one at a time, and refuses every other.

    A prediction is counted before it is made: one that fails has cost its share of the budget,
    since failing may depend on the dataset. A query that is no point, or comes after the budget is
    spent, is turned down before the dataset is touched and costs nothing. Calls from several
    threads wait for each other.

    Parameters
    ----------
    mechanism : Mechanism
        Or another object with its members. It answers a single prediction privately; every answer
        has fresh coins.
    data : Labelled
        The dataset S.
    budget : int
        Predictions that may be answered, m >= 1.
    rng : numpy.random.Generator
        Where the coins come from; nobody who asks may know its state.

    Raises
    ------
    InvalidInput
        If the budget or the generator is none, or the mechanism does not take these data.
    """

    __slots__ = ("_budget", "_columns", "_lock", "_mechanism", "_rng", "_spent", "_state")

    def __init__(
        self, mechanism: Any, data: Labelled, budget: int, rng: np.random.Generator
    ) -> None:
        require(is_count(budget), "budget", budget, "an integer >= 1")
        require(isinstance(rng, np.random.Generator), "rng", rng, "a numpy.random.Generator")
        self._mechanism, self._budget, self._rng = full(mechanism), int(budget), rng
        self._state, self._columns = self._mechanism.prepare(data), data.X.shape[1]
        self._spent, self._lock = 0, Lock()

    @property
    def budget(self) -> int:
        """Predictions that may be answered in all."""
        return self._budget

    @property
    def spent(self) -> int:
        """Predictions that were answered so far, at most `budget`."""
        return self._spent

    def ask(self, x: ArrayLike) -> int | float:
        """Return the prediction at a point x, shape (d,).

        Raises
        ------
        BudgetSpent
            If `budget` predictions were answered already.
        InvalidInput
            If x is no point of the data's d finite features.
        """
        with self._lock:
            if self._spent >= self._budget:
                raise BudgetSpent(
                    f"the budget of {self._budget} predictions is spent: no more answers"
                )
            query = points([x], "x")  # type: ignore[arg-type]
            allowed = f"a point of {self._columns} features"
            require(query.shape[1] == self._columns, "x", f"{query.shape[1]} features", allowed)
            self._spent += 1
            answer: int | float = np.asarray(
                self._mechanism.sample(self._state, query, 1, self._rng)
            )[0, 0].item()
            return answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InterfaceState:
    """State: the dataset, and the state in which it leaves the algorithm that answers."""

    data: Any
    predictor: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface(Mechanism):
    """The transcript of m predictions, at points that an adversary chooses.

    One trial is one conversation. It starts at the query point x and is written down as the number
    whose bit i (of value 2^i, i = 0, ..., m - 1) is answer i.

    Parameters
    ----------
    base : str or Mechanism
        What answers a single prediction, with a label in {0, 1}: a name of the catalogue or
        `module:object`, its parameters behind it (`soft-majority,r=5,learner=tree`; all but
        epsilon), or an object. Parameters that are left out are filled in.
    epsilon : float
        Claimed loss of a single prediction, in nats; finite and > 0. An object has its own, which
        is put here.
    m : int
        The budget: predictions in a transcript, 1..10.
    adversary : {"repeat", "sweep", "adaptive", "batch"}
        Query generating algorithm Q: asks x every time; asks x, x + step, x + 2 step, ...; or goes
        one step down after each 1 and one step up after each 0, so that it closes in on a place
        where the label turns from 0 to 1. `batch` asks what `sweep` asks, all in one call of the
        base: answers of one call may share coins, so nothing is known of them but by trials.
    step : float
        What the adversary adds to each feature in one step; finite and > 0.
    delta_prime : float
        delta' of advanced and of optimal composition; in (0, 1).

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the base answers other things than 0 and 1 or
        promises no differential privacy.
    """

    base: Any = "soft-majority"
    epsilon: float = SINGLE
    m: int = 3
    adversary: Literal["repeat", "sweep", "adaptive", "batch"] = "repeat"
    step: float = 1.0
    delta_prime: float = 0.01
    predictor: Mechanism = field(init=False, repr=False, compare=False)
    answers: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """Answer i of transcript t, shape (m, 2^m)."""
    places: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """Which place of the itinerary query i of transcript t is asked at, shape (m, 2^m)."""
    itinerary: Itinerary = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        in_range = is_count(self.m) and self.m <= MOST_PREDICTIONS
        require(in_range, "m", self.m, f"an integer in 1..{MOST_PREDICTIONS}")
        allowed = f"one of {', '.join(ADVERSARIES)}"
        require(self.adversary in ADVERSARIES, "adversary", self.adversary, allowed)
        check_positive(step=self.step)
        in_range = is_real(self.delta_prime) and 0 < self.delta_prime < 1
        require(in_range, "delta_prime", self.delta_prime, "a number in (0, 1)")
        base, epsilon, built = base_of(self.base, self.epsilon, "interface")
        allowed = "an algorithm that answers labels 0 and 1"
        require(built.labels == (0, 1), "base", self.base, allowed)
        predictor = built.mechanism
        answers = np.arange(2**self.m) >> np.arange(self.m)[:, None] & 1
        move, paths = ADVERSARIES[self.adversary], answers.T.tolist()
        steps = np.array([[move(tuple(path[:i])) for path in paths] for i in range(self.m)])
        different, places = np.unique(steps, return_inverse=True)
        found = {"base": base, "epsilon": epsilon, "predictor": predictor, "answers": answers}
        found |= {
            "places": places.reshape(steps.shape),
            "itinerary": Itinerary(different, self.step),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter to the base, asked as often as it is."""
        return bool(self.predictor.exchangeable)

    @property
    def labels(self) -> tuple[int, ...]:
        """Every transcript."""
        return tuple(range(2**self.m))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Basic composition of each claim of the base, advanced composition where it is below.

        Optimal composition.
        """
        singles = dp_claims(self.predictor)
        printed = [composed for claim in singles for composed in self._printed(claim)]
        sound = next((claim for claim in singles if claim.status == "corrected"), singles[0])
        return (*printed, *self._corrected(sound))

    def _printed(self, claim: DP) -> list[Claim]:
        basic, delta = self.m * claim.epsilon, self.m * claim.delta
        advanced = advanced_composition(claim.epsilon, self.m, self.delta_prime)
        cited = f"{claim.source}; {DEFINITION}: that of Dwork and Roth 2014"
        found: list[Claim] = [self._composed(claim, basic, delta, f"{cited}, Theorem 3.16")]
        if advanced < basic and delta + self.delta_prime < 1:
            found.append(
                self._composed(claim, advanced, delta + self.delta_prime, f"{cited}, Theorem 3.20")
            )
        return found

    def _corrected(self, claim: DP) -> tuple[Claim, ...]:
        if claim.delta != 0:
            return ()
        least = optimal_composition(claim.epsilon, self.m, self.delta_prime)
        source = f"{claim.source}; docs/findings.md, 'Composition: the interface'"
        composed = self._composed(claim, least, self.delta_prime, source)
        return (replace(composed, status="corrected"),) if least else ()

    def _composed(self, claim: DP, epsilon: float, delta: float, source: str) -> DP:
        unit = f"transcript of {self.m} predictions"
        coins = f"in each prediction: {claim.coins}"
        return replace(
            claim,
            epsilon=epsilon,
            delta=delta,
            unit=unit,
            coins=coins,
            source=source,
            expected=None,
        )

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if the base does."""
        self.predictor.check(data)

    def prepare(self, data: Any) -> InterfaceState:
        """Prepare the base."""
        return InterfaceState(data=data, predictor=self.predictor.prepare(data))

    def update(self, state: InterfaceState, change: Change) -> InterfaceState:
        """Return the neighbour's state, by the base's `update` where it has one."""
        data = change.apply(state.data)
        return InterfaceState(
            data=data, predictor=prepared(self.predictor, state.predictor, change, data)
        )

    def sample(
        self,
        state: InterfaceState,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Transcripts of `size` independent conversations from each of q queries, shape (size, q).

        All conversations go on together: at each depth the base draws an answer of its own for each
        of them at every place where the adversary may be, and each takes the one of its own place.
        The others are thrown away.
        """
        transcripts = np.zeros((size, len(queries)), dtype=np.int64)
        asked = self.itinerary.of(queries)
        for i, places in enumerate(self.places):
            if i == 0 or self.adversary != BATCH:
                drawn = self.predictor.sample(state.predictor, asked, size, rng)
            grid = drawn.reshape(size, -1, len(queries))
            answers = np.take_along_axis(grid, places[transcripts][:, None], axis=1)[:, 0]
            transcripts += answers.astype(np.int64) << i
        return transcripts

    def distribution(self, state: InterfaceState, queries: NDArray[np.float64]) -> FiniteLaw | None:
        """Exact law: the product of the base's probabilities along the way of each transcript.

        None where the base has none.
        """
        if self.adversary == BATCH:
            return None
        law = self.predictor.distribution(state.predictor, self.itinerary.of(queries))
        return self._along(law, self.places) if isinstance(law, FiniteLaw) else None

    def _along(self, law: FiniteLaw, places: NDArray[np.int64]) -> FiniteLaw:
        """Law of the transcripts from that of the answers at every place."""
        log_p = law.log_p.reshape(int(places.max()) + 1, -1, 2)
        total = np.sum(
            [log_p[place, :, answer] for place, answer in zip(places, self.answers, strict=True)],
            axis=0,
        ).T
        most = float(np.abs(total[np.isfinite(total)]).max(initial=1.0))
        return FiniteLaw(
            log_p=np.minimum(total, 0.0), error=self.m * (law.error + UNIT_ROUNDOFF * most)
        )

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:  # noqa: ARG002
        """The answers of a transcript, in turn."""
        return f"the transcript {', '.join(str(answer >> i & 1) for i in range(self.m))}"

    def pairs(self) -> tuple[WorstCase, ...]:
        """The base's worst cases, asked m times: under `repeat` the worst of all for delta = 0."""
        cases = self.predictor.pairs()
        asked = (
            f"the query is asked {self.m} time{'s' * (self.m > 1)}"
            if self.adversary == "repeat"
            else f"there the adversary '{self.adversary}' begins, with {self.m} "
            f"quer{'ies' if self.m > 1 else 'y'} in all"
        )
        return tuple(replace(case, reason=f"{case.reason}; {asked}") for case in cases)

    def reachable(self) -> Reachable | None:
        """The base's states, for an adversary that repeats: m answers of one state.

        None for the others, and without states.

        None too where the partition is fresh in each prediction: the answers then average over
        states, and that the average leaks less is known of a single prediction only.
        """
        fresh = isinstance(self.predictor, SoftMajority) and self.predictor.partition == "fresh"
        if self.adversary != "repeat" or fresh:
            return None
        states = self.predictor.reachable()
        if states is None or not isinstance(states.law, FiniteLaw):
            return None
        repeated = (
            f" All {self.m} answers are given at one point, hence in one state, with independent "
            "coins, so the law of a transcript is the product of theirs. The claim covers any "
            "queries; this number is for one repeated query, which is the worst case for delta = "
            "0, and for the delta of the catalogue's own parameters too (docs/findings.md, "
            "'Composition: the interface')."
        )
        return replace(
            states,
            law=self._along(states.law, np.zeros_like(self.places)),
            argument=states.argument + repeated,
        )
