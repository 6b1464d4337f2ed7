"""The uniformly stable learner A^sta (Dagan and Feldman 2020, section 3).

A random cover, then the exponential mechanism.

1. Select a uniformly random subset I of [n] of size n'.
2. Create H_{S_I}: one representative in H, "chosen arbitrarily", of each labelling of S_I.
3. Select h in H_{S_I} with probability proportional to exp(-epsilon n L_S(h) / 2), L_S the error on
   all of S; answer h(x).

Claims as printed. Outline of section 3: n' = gamma n / 2 and epsilon = gamma / 4 make it
gamma-stable. Lemma 7: n' <= gamma n and epsilon = gamma make it 3 gamma-stable.

Both hold with room. Let eta = n'/n. The record that is replaced is in I with probability eta, and
then the answer may be any other. If it is not, H_{S_I} is the same, each weight moves by a factor
in [e^(-epsilon/2), e^(epsilon/2)], so the log-odds of a label by epsilon at most, and
sigma(t + epsilon/2) - sigma(t - epsilon/2) <= tanh(epsilon/4). So it is stable at

    eta + (1 - eta) tanh(epsilon / 4),

and for no smaller number if n is odd and representatives may be chosen in any way
(docs/findings.md, 'The stable learner'). The outline's |T| = gamma n / 2 need not be an integer.
Its proof has "a probability of at most gamma / 2 to appear in T", so it is rounded down; rounded
up, the outline is false where gamma n is small (docs/findings.md, 'The size of T rounded up').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, Stability
from dpassay.data import Labelled
from dpassay.errors import is_count, is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.dagan_feldman_2020.functions_law import (
    law_of_counts,
    law_of_functions,
    reachable_counts,
    states_of,
)
from dpassay.mechanisms.dagan_feldman_2020.stable_draws import drawer_of
from dpassay.mechanisms.dagan_feldman_2020.stable_worst import (
    balanced,
    equal_records,
    exposed_counts,
    places_of,
)
from dpassay.mechanisms.dagan_feldman_2020.subsets import (
    Gathered,
    columns_of,
    gather,
    law_by_sets,
    random_subsets,
)
from dpassay.mechanisms.dagan_feldman_2020.threshold_law import threshold_law
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.classes import class_of
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import RULES, HypothesisClass, Labels, Points, Rule
from dpassay.mechanisms.shared.line_classes import Thresholds
from dpassay.mechanisms.shared.plane_classes import Halfspaces
from dpassay.mechanisms.shared.ranges import check_word
from dpassay.mechanisms.shared.vc import cover, exponential_size, net_size

MOST_REMEMBERED = 50_000
"""Classes H_T that are kept, to be used again for other datasets."""
FEW = 8
"""For so few different points sets are enumerated in any case, which is faster."""
CHUNK = 2**21
"""Numbers that `sample` keeps at a time."""


def sample_one(
    S: Labelled,
    x: Points,
    *,
    H: HypothesisClass,
    rule: Rule,
    n_prime: int,
    epsilon: float,
    rng: np.random.Generator,
) -> Labels:
    """One run of A^sta, step by step as printed.

    `StableLearner` draws from the same law, many at a time.

    Parameters
    ----------
    S : Labelled
        n records.
    x : array (q, d)
        Where the one h that is selected answers.
    H, rule
        The class, and which function represents a labelling of S_I.
    n_prime, epsilon : int, float
        n' and the parameter of the exponential mechanism.
    rng : numpy.random.Generator
        All coins.

    Returns
    -------
    bool array (q,)
        h(x).
    """
    n = len(S)
    I = rng.choice(n, size=n_prime, replace=False)  # noqa: E741  (step 1, the paper's letter)
    H_SI = H.representatives(S.X[I], rule)  # step 2
    L_S = (H.predict(H_SI, S.X) != S.y).mean(axis=1)  # error of each h on S
    weights = np.exp(-epsilon * n * L_S / 2)
    h = rng.choice(len(H_SI), p=weights / weights.sum())  # step 3
    return np.asarray(H.predict(H_SI[[h]], x)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class StableLearner(Mechanism):
    """A^sta.

    Parameters
    ----------
    gamma : float
        Stability that sizes are made for; in (0, 1).
    n : int
        Records, >= 1, and so many that T is not empty.
    calibration : {"outline", "lemma7"}
        `outline`: |T| = gamma n / 2, epsilon = gamma / 4, stability gamma. `lemma7`: |T| = gamma n,
        epsilon = gamma, stability 3 gamma.
    rounding : {"down", "up"}
        What is made of a |T| that is no integer; one that is an integer but for 1e-12 of it counts
        as that. Lemma 7 asks for n >= n' / gamma, which is `down`; so does the outline's proof, and
        there `up` is false (module's docstring).
    H : str or HypothesisClass
        `thresholds`, `intervals`, `corners`, `halfspaces`, `functions`, or an object like those of
        `classes`.
    points, feature, feature2 : int
        Parameters of those classes that have them.
    representative : {"least", "greatest", "middle", "adverse"}
        Which function represents a labelling of T; see the classes. `adverse` is for thresholds
        alone: for |T| = 1 and an odd n no choice of representatives is less stable.
    cover : {"labelings", "net"}
        H_T, or a greedy alpha-cover of it (Remark 1).
    alpha : float
        Accuracy, in (0, 1): that of the cover, and what `lemma_7` asks about; nothing else depends
        on it.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    gamma: float = 0.1
    n: int = 400
    alpha: float = 0.1
    calibration: Literal["outline", "lemma7"] = "outline"
    rounding: Literal["down", "up"] = "down"
    H: Any = "thresholds"
    points: int = 3
    feature: int = 0
    feature2: int = 1
    representative: Rule = "least"
    cover: Literal["labelings", "net"] = "labelings"

    exchangeable = True  # T is any subset of them, and errors are counted
    hypotheses: HypothesisClass = field(init=False, repr=False, compare=False)
    remembered: dict[tuple[Any, ...], Points] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("gamma", "alpha"):
            value = getattr(self, name)
            require(is_real(value) and 0 < value < 1, name, value, "a number in (0, 1)")
        require(is_count(self.n), "n", self.n, "an integer >= 1")
        check_word("outline", "lemma7", calibration=self.calibration)
        rounded = self.rounding == "down" or (
            self.rounding == "up" and self.calibration == "outline"
        )
        require(
            rounded,
            "rounding",
            self.rounding,
            "'down', or 'up' with calibration=outline: Lemma 7 has n >= n' / gamma",
        )
        check_word("labelings", "net", cover=self.cover)
        found = class_of(self.H, points=self.points, feature=self.feature, feature2=self.feature2)
        rules = (*RULES, "adverse") if type(found) is Thresholds else RULES
        require(
            self.representative in rules,
            "representative",
            self.representative,
            f"one of {', '.join(rules)}",
        )
        object.__setattr__(self, "hypotheses", found)
        object.__setattr__(self, "remembered", {})
        share = "gamma n / 2" if self.calibration == "outline" else "gamma n"
        allowed = f"so large that {share} >= 1 for gamma = {self.gamma:g}, else T is empty"
        require(self.n_prime >= 1, "n", self.n, allowed)

    @property
    def n_prime(self) -> int:
        """The size n' of T."""
        share = self.gamma / 2 if self.calibration == "outline" else self.gamma
        return (
            math.floor(share * self.n * (1 + 1e-12))
            if self.rounding == "down"
            else math.ceil(share * self.n * (1 - 1e-12))
        )

    @property
    def epsilon(self) -> float:
        """Privacy parameter of the exponential mechanism, in nats."""
        return self.gamma / 4 if self.calibration == "outline" else self.gamma

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim, and the smaller one that holds."""
        eta = self.n_prime / self.n
        printed = self.gamma if self.calibration == "outline" else min(3 * self.gamma, 1.0)
        where = "section 3, proof outline" if self.calibration == "outline" else "Lemma 7"
        where += ", |T| rounded up" if self.rounding == "up" else ""
        corrected = eta + (1 - eta) * math.tanh(self.epsilon / 4)
        mended = "docs/findings.md, 'The stable learner'"
        return (
            Stability(gamma=printed, source=f"Dagan and Feldman 2020, {where}", status="printed"),
            Stability(gamma=min(corrected, 1.0), source=mended, status="corrected"),
        )

    def lemma_7(self) -> dict[str, bool]:
        """Whether each condition of Lemma 7 holds for these sizes and `alpha`.

        Then the excess error on S is at most 3 alpha.

        N^net is `vc.net_size`, with the constant of the double-sampling argument.
        """
        H = self.hypotheses
        return {
            "n' >= N^net": self.n_prime >= net_size(self.alpha, self.alpha, H.growth),
            "n >= N^exp": self.n
            >= exponential_size(H.growth(self.n_prime), self.epsilon, self.alpha),
            "n >= n'/gamma": self.n_prime <= self.gamma * self.n * (1 + 1e-12),
        }

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records, labelled 0 and 1, in the domain of H."""
        check_binary(data)
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")
        self.hypotheses.check(data.X)

    def prepare(self, data: Labelled) -> Gathered:
        """Count the records at each point."""
        self.check(data)
        return gather(data, columns_of(self.hypotheses, data.X.shape[1]))

    def sample(
        self, state: Gathered, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q).

        In each trial one h answers all queries.
        """
        self.hypotheses.check(queries)
        draw = drawer_of(
            state,
            self.hypotheses,
            self.representative,
            self._class_of(state),
            queries,
            self.epsilon,
            often=self.cover == "net",
        )
        table = len(self.hypotheses.table) if type(self.hypotheses) is Halfspaces else 0
        portion = max(1, CHUNK // (self.n + self.n_prime**2 + table))
        answers = np.empty((size, len(queries)), dtype=np.int64)
        for at in range(0, size, portion):
            trials = min(portion, size - at)
            hit = state.place[random_subsets(self.n, self.n_prime, trials, rng)]
            answers[at : at + trials] = draw(hit, rng)
        return answers

    def distribution(self, state: Gathered, queries: NDArray[np.float64]) -> FiniteLaw | None:
        """Exact law where T hits few different sets of points.

        For all functions, and for thresholds, least or greatest.

        None elsewhere; see `subsets.law_by_sets`, `functions_law` and `threshold_law`.
        """
        H, rule = self.hypotheses, self.representative
        H.check(queries)
        if type(H) is Functions and self.cover == "labelings":
            return law_of_functions(state, H, rule, queries, epsilon=self.epsilon, m=self.n_prime)
        if (
            type(H) is Thresholds
            and self.cover == "labelings"
            and rule in ("least", "greatest")
            and len(state.X) > FEW
        ):
            found = threshold_law(
                state,
                H.feature,
                queries,
                epsilon=self.epsilon,
                m=self.n_prime,
                greatest=rule == "greatest",
            )
            if found is not None:
                return found
        often = self.cover == "net"
        hypotheses = self._class_of(state)
        return law_by_sets(
            H, hypotheses, state, queries, epsilon=self.epsilon, m=self.n_prime, often=often
        )

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """All functions may be moved with the points, where h is constant outside of T."""
        alike = self.cover == "labelings" and self.representative in ("least", "greatest")
        functions = type(self.hypotheses) is Functions and len(sides) == 1
        return ("points",) if alike and functions else ()

    def reachable(self) -> Reachable | None:
        """Counts of labels at a point, for all functions.

        No small state is known for the other classes.
        """
        H = self.hypotheses
        if type(H) is not Functions or self.cover == "net":
            return None
        return reachable_counts(
            H, self.representative, self.n, epsilon=self.epsilon, m=self.n_prime
        )

    def pairs(self) -> tuple[WorstCase, ...]:
        """The worst that n equal records can do where one is replaced.

        Of all functions the worst there is.

        There are none for a class that is not one of ours: its domain is not known.
        """
        H = self.hypotheses
        if type(H) is Functions and self.cover == "labelings":
            states = states_of(H, self.representative, self.n)
            if states is not None:
                law = law_of_counts(states[0], self.n, epsilon=self.epsilon, m=self.n_prime)
                return exposed_counts(law, *states, self.n, H, self.representative)
        places, queries = places_of(H)
        found = equal_records(
            lambda data, at: self.distribution(self.prepare(data), at), self.n, places, queries
        )
        return (*found, balanced(self.n, places)) if self.representative == "adverse" else found

    def _class_of(self, state: Gathered) -> Any:
        """Return what makes H_T, or its cover, of how often T hits each point."""

        def hypotheses(hit: NDArray[np.int64]) -> Points:
            T, often = state.X[hit > 0], hit[hit > 0]
            key = T.shape, T.tobytes(), often.tobytes()
            if key not in self.remembered:
                if len(self.remembered) >= MOST_REMEMBERED:
                    self.remembered.clear()
                H_T = self.hypotheses.representatives(T, self.representative)
                if self.cover == "net":
                    H_T = H_T[
                        cover(np.repeat(self.hypotheses.predict(H_T, T), often, axis=1), self.alpha)
                    ]
                self.remembered[key] = H_T
            return self.remembered[key]

        return hypotheses
