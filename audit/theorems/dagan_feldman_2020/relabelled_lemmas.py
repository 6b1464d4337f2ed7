"""Section 4: the matching, Lemmas 8, 10 and 11, over every dataset of small domains.

h_{S,T} is computed with weights e^(-w errors), w = 1 / (eta n) in section 4.2 and half of it in
section 4.1, where 1 / eta is d / alpha.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.dagan_feldman_2020.relabelled_bounds import NET
from dpassay.mechanisms.dagan_feldman_2020.relabelling import RealisableLearner, chances_of
from dpassay.mechanisms.shared.classes import class_of
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Labels, Points
from dpassay.mechanisms.shared.vc import is_net
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Relation, Row, computed

Record = tuple[int, int]
Dataset = tuple[Record, ...]
SMALL = 1e-12
"""Relative error of a few sums of positive numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """A domain {1, ..., points}, n records in r = n blocks of A^R, and the class H."""

    H: HypothesisClass
    points: int
    n: int
    n_prime: int
    eta: float

    @property
    def rate(self) -> float:
        """1 / (eta n)."""
        return 1 / (self.eta * self.n)

    @property
    def datasets(self) -> Iterator[Dataset]:
        """Every sequence of n records."""
        records = itertools.product(range(1, self.points + 1), (0, 1))
        return itertools.product(tuple(records), repeat=self.n)

    @property
    def queries(self) -> Points:
        """The whole domain."""
        return np.arange(1.0, self.points + 1)[:, None]

    def phi(self, X: Points, labels: Labels) -> NDArray[np.float64]:
        """Probability of label 1 by A^R on S_h, for labellings (k, n), shape (k, queries)."""
        learner = RealisableLearner(H=self.H, rule="least", r=self.n, rate=self.rate)
        return learner.answers(learner.votes(X, labels, self.queries), 1)

    def labelled(self, T: Points, X: Points) -> Labels:
        """Labels of S by H_T."""
        return self.H.predict(self.H.representatives(T, "least"), X)

    def given(self, S: Dataset, T: Points, weight: float) -> NDArray[np.float64]:
        """h_{S,T}: probability of label 1 at each query."""
        X, y = points_of(S), np.array([each[1] for each in S])
        labels = self.labelled(T, X)
        chances = chances_of((labels != (y == 1)).sum(axis=1), weight)
        found: NDArray[np.float64] = chances @ self.phi(X, labels)
        return found


@cache
def small(H: str, points: int, n: int, n_prime: int, eta: float) -> Small:
    """Return the domain of a case."""
    return Small(
        H=class_of(H, points=points, feature=0, feature2=1),
        points=points,
        n=n,
        n_prime=n_prime,
        eta=eta,
    )


def points_of(S: Dataset) -> Points:
    """Return the points of the records, shape (n, 1)."""
    return np.array([each[0] for each in S], dtype=float)[:, None]


def ratio(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Largest p / q, of both labels."""
    return max(float((p / q).max()), float(((1 - p) / (1 - q)).max()))


def cases(effort: Effort) -> Iterator[Case]:
    """Small domains with eta n >= 1, as Lemma 10 asks."""
    some = (
        ("thresholds", 2, 3, 2, 0.34),
        ("thresholds", 2, 4, 2, 0.25),
        ("functions", 2, 4, 2, 0.25),
    )
    more = (
        ("thresholds", 3, 4, 2, 0.25),
        ("thresholds", 2, 5, 2, 0.25),
        ("intervals", 3, 4, 2, 0.34),
    )
    for H, points, n, n_prime, eta in effort.of(some, some + more):
        yield {"H": H, "points": points, "n": n, "n_prime": n_prime, "eta": eta}


def neighbours_of_T(domain: Small, S: Dataset, *, whole: bool) -> Iterator[tuple[Points, Points]]:
    """Yield T with record 0, and T' with another one in its place, whose common part is a net.

    For the n - 1 other records as in section 4.2, or for the whole of S as in section 4.1.
    """
    X = points_of(S)
    for rest in itertools.combinations(range(1, domain.n), domain.n_prime - 1):
        if is_net(domain.H, X[list(rest)], X if whole else X[1:], domain.eta):
            for i in sorted(set(range(1, domain.n)) - set(rest)):
                yield X[[0, *rest]], X[[i, *rest]]


def lemma_10(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Largest h_{S,S_I} / h_{S,S_I'} of a label, both ways, against 4 e^6."""
    domain, worst = small(H, points, n, n_prime, eta), 1.0
    for S in domain.datasets:
        for T, other in neighbours_of_T(domain, S, whole=False):
            p, q = (domain.given(S, each, domain.rate) for each in (T, other))
            worst = max(worst, ratio(p, q), ratio(q, p))
    return computed(NET, worst, SMALL * worst)


def equation_6(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """The same with the weights of section 4.1, eta = alpha / d, against 4 e^2.

    Weights differ by e^(1/2) at most, their sums by 2 e^(1/2), phi by e, and two h share a g.
    """
    domain, worst = small(H, points, n, n_prime, eta), 1.0
    for S in domain.datasets:
        for T, other in neighbours_of_T(domain, S, whole=True):
            p, q = (domain.given(S, each, domain.rate / 2) for each in (T, other))
            worst = max(worst, ratio(p, q), ratio(q, p))
    return computed(4 * math.exp(2), worst, SMALL * worst)


def fixed_T(domain: Small, weight: float) -> float:
    """Largest ratio of h_{S,T} to h_{S',T}, of all neighbours S, S' and all T, both labels."""
    worst = 1.0
    every = list(domain.datasets)
    for T in itertools.combinations_with_replacement(range(1, domain.points + 1), domain.n_prime):
        spots = np.array(T, dtype=float)[:, None]
        known = {S: domain.given(S, spots, weight) for S in every}
        for S, p in known.items():
            for at, record in itertools.product(
                range(domain.n), sorted(set(itertools.chain(*every)))
            ):
                worst = max(worst, ratio(p, known[(*S[:at], record, *S[at + 1 :])]))
    return worst


def lemma_11(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Largest loss for a fixed T, against 3 epsilon with epsilon = 1 / (eta n)."""
    domain = small(H, points, n, n_prime, eta)
    return computed(3 * domain.rate, math.log(fixed_T(domain, domain.rate)), SMALL)


def equation_5(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """The same with section 4.1's weights, against 2 d / (alpha n).

    That is epsilon / 2 if n = 4 d / (alpha epsilon).
    """
    domain = small(H, points, n, n_prime, eta)
    return computed(2 * domain.rate, math.log(fixed_T(domain, domain.rate / 2)), SMALL)


def lemma_8(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Largest (p - delta) / p' for h_S and h_S', against (1 + 4 e^6 n' / (n - n')) e^(3 / (eta n)).

    delta is the chance that record 0 is in T and the rest of T is no eta-net for the others.
    """
    domain, worst = small(H, points, n, n_prime, eta), 0.0
    known, failure = {}, {}
    subsets = list(itertools.combinations(range(n), n_prime))
    for S in domain.datasets:
        X = points_of(S)
        laws = [domain.given(S, X[list(each)], domain.rate) for each in subsets]
        known[S] = np.mean(laws, axis=0)
        bad = [
            each
            for each in subsets
            if each[0] == 0 and not is_net(domain.H, X[list(each[1:])], X[1:], eta)
        ]
        failure[S] = len(bad) / len(subsets)
    for S, p in known.items():
        for record in itertools.product(range(1, points + 1), (0, 1)):
            q = known[(record, *S[1:])]
            for one, other in ((p, q), (1 - p, 1 - q)):
                worst = max(worst, float(((one - failure[S]) / other).max()))
    claimed = (1 + NET * n_prime / (n - n_prime)) * math.exp(3 * domain.rate)
    return computed(claimed, worst, SMALL * (1 + worst))


def matched(domain: Small) -> Iterator[tuple[list[int], list[int], float]]:
    """Yield, for S, T and T' of section 4.1, partners, records apart, and the largest ratio of phi.

    h in H_T and g in H_T' are matched if they agree on the points that T and T' share.
    """
    for S in domain.datasets:
        X = points_of(S)
        for T, other in neighbours_of_T(domain, S, whole=True):
            on = [domain.labelled(each, np.concatenate([T[1:], X])) for each in (T, other)]
            shared = len(T) - 1
            pairs = (on[0][:, None, :shared] == on[1][None, :, :shared]).all(axis=2)
            phis = [domain.phi(X, each[:, shared:]) for each in on]
            apart, worst = [], 1.0
            for h, g in np.argwhere(pairs):
                apart.append(int((on[0][h, shared:] != on[1][g, shared:]).sum()))
                worst = max(worst, ratio(phis[0][h], phis[1][g]), ratio(phis[1][g], phis[0][h]))
            yield [*pairs.sum(axis=1), *pairs.sum(axis=0)], apart, worst


def partners(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Most g that one h is matched with, or h that one g is, against 2."""
    found = [each for counts, _, _ in matched(small(H, points, n, n_prime, eta)) for each in counts]
    return computed(2.0, float(max(found)), 0.0)


def some_partner(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Fewest of them, against 1."""
    found = [each for counts, _, _ in matched(small(H, points, n, n_prime, eta)) for each in counts]
    return computed(1.0, float(min(found)), 0.0)


def apart(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Equation 7: most records on which a matched pair differs, against eta n."""
    found = [each for _, some, _ in matched(small(H, points, n, n_prime, eta)) for each in some]
    return computed(eta * n, float(max(found)), 0.0)


def phi_ratio(H: str, points: int, n: int, n_prime: int, eta: float) -> Measured:
    """Largest ratio of phi(h) and phi(g) of a matched pair, against e."""
    worst = max(each for _, _, each in matched(small(H, points, n, n_prime, eta)))
    return computed(math.e, worst, SMALL * worst)


DOMAINS = (
    "every S, T, T' and query: thresholds on 2 points with n = 3 and 4, all functions on 2 points "
    "with n = 4; n' = 2, eta n >= 1, r = n"
)


def _row(
    name: str,
    checks: str,
    quantity: str,
    measure: Callable[..., Measured],
    relation: Relation = "at most",
) -> Row:
    return Row(
        key=f"dagan-feldman-2020/{name}",
        checks=checks,
        quantity=quantity,
        method="exact",
        domain=DOMAINS,
        cases=cases,
        measure=measure,
        relation=relation,
    )


ROWS = (
    _row(
        "section-4.1-matching/partners",
        "each function is matched with two at most",
        "number of functions",
        partners,
    ),
    _row(
        "section-4.1-matching/some",
        "and with one at least",
        "number of functions",
        some_partner,
        "at least",
    ),
    _row(
        "section-4.1-matching/apart",
        "Equation 7: matched functions differ on |S| alpha/d records at most, eta = alpha/d",
        "number of records",
        apart,
    ),
    _row(
        "section-4.1-matching/ratio",
        "phi(h) <= e phi(h') for matched functions",
        "ratio of probabilities of a label",
        phi_ratio,
    ),
    _row(
        "section-4.1-privacy/equation-5",
        "fixed T: 2 d/(alpha n), which is eps/2 for n = 4 d/(alpha eps)",
        "privacy loss",
        equation_5,
    ),
    _row(
        "section-4.1-privacy/equation-6",
        "e^O(1), 4 e^2, for T and T' whose common part is a net; the other T are Lemma 8's delta",
        "ratio of probabilities of a label",
        equation_6,
    ),
    _row(
        "lemma-8/constants",
        "p <= A p' + delta with the proof's A = (1 + 4 e^6 n'/(n - n')) e^(3/(eta n))",
        "(p - delta)/p' of a label",
        lemma_8,
    ),
    _row(
        "lemma-10/ratio",
        "h_(S,S_I) <= 4 e^6 h_(S,S_I'), both labels, both ways",
        "ratio of probabilities of a label",
        lemma_10,
    ),
    _row(
        "lemma-11/loss",
        "h_(S,T) <= e^(3 eps) h_(S',T), eps = 1/(eta n), both labels",
        "privacy loss for a fixed T",
        lemma_11,
    ),
)
