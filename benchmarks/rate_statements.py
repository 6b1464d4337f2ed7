"""How many records the statements about the learners of thresholds say are enough, for which one.

Of `benchmarks.rates`, which measures their errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from scipy.optimize import brentq

from dpassay.mechanisms.dagan_feldman_2020.label_flip import LabelFlip
from dpassay.mechanisms.dagan_feldman_2020.relabelled import Relabelled
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.mechanisms.dwork_feldman_2018.noisy_average import NoisyAverage
from dpassay.mechanisms.dwork_feldman_2018.noisy_average_number import blocks_for
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority

EPSILONS: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
AT_EPSILON: Final = 0.5
NOISE, BETA = 0.2, 0.1
LARGEST: Final = 0.4
"""Error that is asked for at most: above it nothing is learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A statement about how many records are enough.

    Parameters
    ----------
    statement : str
    noise : float
        Probability of a wrong label: 0 where the statement is about realisable learning.
    order : dict
        Predicted slopes of the error in n and epsilon, but for logarithms; an axis that is left out
        is not one of the statement.
    size : callable
        Records for error alpha at epsilon, as the statement or its proof has it.
    make : callable
        The learner for n, epsilon and alpha.
    least_n : int
        Smallest n, where alpha is not yet `LARGEST`; it is doubled five times.
    epsilons : tuple of float
        At the second largest n.
    repeats : int
        Datasets for each n and epsilon.
    """

    statement: str
    noise: float
    order: dict[str, float]
    size: Callable[[float, float], float]
    make: Callable[[int, float, float], Any]
    least_n: int
    epsilons: tuple[float, ...] = EPSILONS
    repeats: int = 40

    def places(self, axis: str) -> list[tuple[int, float]]:
        """Return n and epsilon along an axis."""
        sizes = [self.least_n * 2**i for i in range(6)]
        if axis == "n":
            return [(n, AT_EPSILON) for n in sizes]
        return [(sizes[-2], epsilon) for epsilon in self.epsilons]

    def along(self, axis: str) -> list[float]:
        """Return what changes along an axis."""
        return [place[axis == "epsilon"] for place in self.places(axis)]

    def alpha(self, n: int, epsilon: float) -> float:
        """Return the error that n records are enough for, at most `LARGEST`."""
        if self.size(LARGEST, epsilon) >= n:
            return LARGEST
        low = math.log(1e-30)
        return math.exp(
            brentq(lambda a: self.size(math.exp(a), epsilon) - n, low, math.log(LARGEST))
        )

    def learner(self, n: int, epsilon: float) -> Any:
        """Return the learner with the parameters for this error."""
        return self.make(n, epsilon, self.alpha(n, epsilon))


def soft_blocks(alpha: float, epsilon: float) -> int:
    """Theorem 4.1's r."""
    return SoftMajority(epsilon=epsilon).blocks_for(alpha)


def soft_size(alpha: float, epsilon: float) -> float:
    """Return r m(alpha / 4, beta / r): a consistent threshold needs m(a, b) = ln(2 / b) / a."""
    r = 6 * math.log(4 / alpha) / epsilon
    return r * math.log(2 * r / BETA) / (alpha / 4)


def noisy_size(alpha: float, epsilon: float) -> float:
    """2 m(alpha / 2, 2 beta alpha epsilon) / (alpha epsilon), m(a, b) = (1 + ln(1 / b)) / a^2.

    The constant 1 stands for that of the O(.).
    """
    b = 2 * BETA * alpha * epsilon
    return 2 * (1 + math.log(1 / b)) / (alpha / 2) ** 2 / (alpha * epsilon)


def relabelled(n: int, epsilon: float, alpha: float) -> Relabelled:
    """Theorem 2's learner: n' = O~(1 / alpha) records and eta = O~(alpha), as its proof sets them.

    n' records are an alpha-net with probability 1 - alpha. A^R has the blocks of Theorem 4.1 for
    its privacy 1 / (eta n), the least that n records are enough for.
    """
    eta = 1 / (epsilon * soft_size(alpha, epsilon))
    return Relabelled(
        n=n,
        n_prime=math.ceil(math.log(2 / alpha) / alpha),
        eta=eta,
        r=soft_blocks(alpha, 1 / (eta * n)),
        alpha=alpha,
    )


def walk(epsilon: float, alpha: float) -> ProjectedWalk:
    """Theorem 2.4's walk for error alpha."""
    return ProjectedWalk(epsilon=epsilon, T=ProjectedWalk(epsilon=epsilon).bound_for(alpha))


RATES: Final[dict[str, Rate]] = {
    "soft-majority": Rate(
        statement="Dwork and Feldman, Corollary 4.2: d/(εα)",
        noise=0.0,
        order={"n": -1.0, "epsilon": -1.0},
        size=soft_size,
        least_n=3200,
        make=lambda n, epsilon, alpha: SoftMajority(
            epsilon=epsilon, r=min(n, soft_blocks(alpha, epsilon)), learner="threshold"
        ),
    ),
    "projected-walk": Rate(
        statement="Dwork and Feldman, Theorem 2.4: 12 ln(2/α)/(εα)",
        noise=0.0,
        order={"n": -1.0, "epsilon": -1.0},
        size=lambda alpha, epsilon: 12 * math.log(2 / alpha) / (alpha * epsilon),
        least_n=400,
        make=lambda n, epsilon, alpha: walk(epsilon, alpha),  # noqa: ARG005
    ),
    "projected-walk, ε = α/2": Rate(
        statement="Dwork and Feldman, Theorem 5.3: ln(1/α)/α²",
        noise=NOISE,
        order={"n": -0.5},
        size=lambda alpha, epsilon: 24 * math.log(2 / alpha) / alpha**2,  # noqa: ARG005
        least_n=800,
        make=lambda n, epsilon, alpha: walk(alpha / 2, alpha),  # noqa: ARG005
    ),
    "noisy-average": Rate(
        statement="Dwork and Feldman, Corollary 4.8: d/(εα³)",
        noise=NOISE,
        order={"n": -1 / 3, "epsilon": -1 / 3},
        size=noisy_size,
        least_n=3200,
        make=lambda n, epsilon, alpha: NoisyAverage(
            epsilon=epsilon, r=min(n, blocks_for(alpha, epsilon)), learner="threshold"
        ),
    ),
    "label-flip": Rate(
        statement="Dagan and Feldman, Corollary 1: d/(εα²)",
        noise=NOISE,
        order={"n": -0.5, "epsilon": -0.5},
        size=lambda alpha, epsilon: 4 * math.log(1 / alpha) / (epsilon * alpha**2),
        least_n=800,
        repeats=8,
        make=lambda n, epsilon, alpha: LabelFlip(
            n=n, epsilon=epsilon, alpha=alpha, base="stable-learner"
        ),
    ),
    "stable-learner": Rate(
        statement="Dagan and Feldman, Theorem 1: d/(γα) + d/α², γ for ε",
        noise=NOISE,
        order={"n": -0.5, "epsilon": -1.0},
        epsilons=(0.002, 0.004, 0.008, 0.016, 0.032),
        size=lambda alpha, gamma: math.log(1 / alpha) / (gamma * alpha) + 1 / alpha**2,
        least_n=400,
        make=lambda n, gamma, alpha: StableLearner(n=n, gamma=gamma),  # noqa: ARG005
    ),
    "relabelled": Rate(
        statement="Dagan and Feldman, Theorem 2: d²/(εα) + d/α²",
        noise=NOISE,
        order={"n": -0.5, "epsilon": -1.0},
        size=lambda alpha, epsilon: soft_size(alpha, epsilon) + math.log(1 / alpha) / alpha**2,
        least_n=3200,
        make=relabelled,
    ),
}
"""By learner, in the order of the papers."""
