"""How many examples private prediction takes: Lemma 6, Remark 2, Theorems 2 and 5."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from dpassay.mechanisms.dagan_feldman_2020.relabelled_bounds import NET, flipped_printed
from dpassay.mechanisms.shared.vc import net_size, sauer_shelah
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 64 * UNIT_ROUNDOFF
BETA = 0.05


def net(d: int, alpha: float, beta: float) -> int:
    """N^net for a class with Lemma 2's growth function."""
    return net_size(alpha, beta, lambda m: sauer_shelah(d, m))


def blocks(epsilon: float, alpha: float) -> int:
    """Number r = ceil(6 ln(4 / alpha) / epsilon), Theorem 4.1 of Dwork and Feldman (2018)."""
    return math.ceil(6 * math.log(4 / alpha) / epsilon)


def realizable(d: int, epsilon: float, alpha: float) -> int:
    """Size: r blocks of as many points as an alpha/4-net takes with confidence beta / r."""
    r = blocks(epsilon, alpha)
    return r * net(d, alpha / 4, BETA / r)


def logarithm(d: int, epsilon: float, alpha: float) -> float:
    """1 + ln(d / (epsilon alpha)): what O~ leaves out is a power of this."""
    return 1 + math.log(d / (epsilon * alpha))


def large_cases(_: Effort) -> Iterator[Case]:
    """Constants C and powers k, each with an epsilon so large that no example is left."""
    for C, k, epsilon in ((1, 0, 100.0), (1000, 3, 1e10), (10**6, 6, 1e20)):
        yield {"C": C, "k": k, "epsilon": epsilon, "alpha": 0.25}


def large(C: int, k: int, epsilon: float, alpha: float) -> Measured:
    """Error with floor(C d (1 + |ln(epsilon alpha)|)^k / (epsilon alpha)) = 0 examples.

    One point, H both constants, d = 1: without an example one of the two has error 1/2 or more.
    """
    size = C * (1 + abs(math.log(epsilon * alpha))) ** k / (epsilon * alpha)
    if size >= 1:
        raise ArithmeticError(f"{size} examples")
    return Measured(claimed=alpha, lower=0.5, upper=1.0)


def realizable_cases(effort: Effort) -> Iterator[Case]:
    """Decades of each, epsilon up to 1 and alpha up to 1/2."""
    ds = effort.of((1, 10), (1, 2, 10, 100))
    for d, epsilon, alpha in itertools.product(ds, (1.0, 0.1, 0.01), (0.5, 0.1, 0.01, 0.001)):
        yield {"d": d, "epsilon": epsilon, "alpha": alpha}


def realizable_size(d: int, epsilon: float, alpha: float) -> Measured:
    """Size by the proof, against d L^2 / (epsilon alpha), from d = 1, epsilon = 1, alpha = 1/2."""
    value = realizable(d, epsilon, alpha)
    grown = d / (epsilon * alpha) * (logarithm(d, epsilon, alpha) / logarithm(1, 1, 0.5)) ** 2
    return computed(realizable(1, 1.0, 0.5) * grown / 2, value, SMALL * value)


def remark_cases(_: Effort) -> Iterator[Case]:
    """Constants C and powers k, each with an alpha at which they are exceeded."""
    for C, k, alpha in ((10, 0, 0.1), (100, 3, 1e-4), (1000, 3, 1e-6)):
        yield {"C": C, "k": k, "alpha": alpha}


def remark(C: int, k: int, alpha: float) -> Measured:
    """Size r m with m = (d + ln(1 / beta)) / (alpha / 4)^2, against C d L^k / (epsilon alpha).

    d = 1, epsilon = 1; 1 for the constant in m.
    """
    value = blocks(1.0, alpha) * 16 * (1 + math.log(1 / BETA)) / alpha**2
    return computed(C * logarithm(1, 1.0, alpha) ** k / alpha, value, SMALL * value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """n, n' and eta, with what Lemma 8 asks of them."""

    n: int
    n_prime: int
    eta: float
    slack: float


def sizes(d: int, alpha: float, epsilon: float) -> Sizes:
    """Least sizes that meet the seven conditions of Lemma 8, from below.

    N^exp: eta <= alpha / ln tau_n(H). N^R: r m <= n with r = ceil(6 ln(4 / alpha) eta n), m as an
    alpha/4-net takes with confidence beta / r: eta <= 1 / (7 ln(4 / alpha) m). Both depend on n,
    which grows until nothing changes. N^G with the constant 1, see the rows of Lemma 3.
    """
    n = 1
    while True:
        tau = math.log(sauer_shelah(d, n))
        m = net(d, alpha / 4, BETA / n)
        eta = min(alpha / max(1.0, tau), 1 / (7 * math.log(4 / alpha) * m))
        n_prime = max(net(d, alpha, alpha), net(d, eta, alpha) + 1)
        uniform = (d + math.log(1 / BETA)) / alpha**2
        grown = math.ceil(max(n_prime / epsilon, 1 / (eta * epsilon), uniform))
        if grown <= n:
            break
        n = grown
    r = blocks(1 / (eta * n), alpha)
    slack = (
        n / uniform,
        n_prime / net(d, alpha, alpha),
        n_prime / (net(d, eta, alpha) + 1),
        alpha / (eta * tau),
        n / (r * net(d, alpha / 4, BETA / r)),
        epsilon * n / n_prime,
        epsilon * eta * n,
    )
    return Sizes(n=n, n_prime=n_prime, eta=eta, slack=min(slack))


def decades_cases(effort: Effort) -> Iterator[Case]:
    """Decades of alpha from 1/2 on, and of epsilon."""
    alphas = effort.of((0.5, 0.1, 0.02), (0.5, 0.2, 0.1, 0.05, 0.02, 0.01))
    for alpha, epsilon in itertools.product(alphas, (0.5, 0.05)):
        yield {"d": 1, "alpha": alpha, "epsilon": epsilon}


def dimension_cases(effort: Effort) -> Iterator[Case]:
    """A decade of d."""
    for d in effort.of((1, 2, 5, 10), (1, 2, 3, 4, 5, 7, 10, 15)):
        yield {"d": d, "alpha": 0.5, "epsilon": 0.5}


def size(d: int, alpha: float, epsilon: float) -> Measured:
    """Least n of Lemma 8, against d^2 L^3 / (epsilon alpha), from d = 1, alpha = epsilon = 1/2."""
    value = sizes(d, alpha, epsilon).n
    first = sizes(1, 0.5, 0.5).n * 0.25 / logarithm(1, 0.5, 0.5) ** 3
    grown = d**2 / (epsilon * alpha) * logarithm(d, epsilon, alpha) ** 3
    return computed(first * grown, value, SMALL * value)


def conditions_cases(effort: Effort) -> Iterator[Case]:
    """Both of the above."""
    yield from decades_cases(effort)
    yield from dimension_cases(effort)


def conditions(d: int, alpha: float, epsilon: float) -> Measured:
    """Least quotient of the two sides of a condition of Lemma 8, with these sizes."""
    return computed(1.0, sizes(d, alpha, epsilon).slack, SMALL)


def eta_size(d: int, alpha: float, epsilon: float) -> Measured:
    """1 / eta against d L^3 / alpha, from d = 1, alpha = epsilon = 1/2 on."""
    found = sizes(d, alpha, epsilon)
    first = sizes(1, 0.5, 0.5)
    grown = d / alpha * (logarithm(d, epsilon, alpha) / logarithm(1, 0.5, 0.5)) ** 3
    return computed(grown * 0.5 / first.eta, 1 / found.eta, SMALL / found.eta)


def step_cases(_: Effort) -> Iterator[Case]:
    """Few records, with alpha below epsilon."""
    for n, alpha in itertools.product((1, 10, 1000), (0.1, 0.01)):
        yield {"n": n, "alpha": alpha, "epsilon": 0.5}


def step(n: int, alpha: float, epsilon: float) -> Measured:
    """Quotient n / N^exp = alpha / (eta ln tau_n(H)) with eta = epsilon / d, thresholds (d = 1)."""
    return computed(1.0, alpha / (epsilon * math.log(n + 1)), SMALL)


def flip_cases(effort: Effort) -> Iterator[Case]:
    """Epsilons up to 1/2 and flips below it."""
    epsilons = effort.of((1e-6, 1e-4, 0.01, 0.5), (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5))
    for epsilon, alpha in itertools.product(epsilons, (1e-12, 1e-6, 0.01, 0.1, 0.25, 0.49)):
        yield {"epsilon": epsilon, "alpha": alpha}


def flip(epsilon: float, alpha: float) -> Measured:
    """Largest loss after the flip that Lemma 8 leaves, against (8 e^6 + 4) epsilon.

    n' = epsilon n and 1 / (eta n) = epsilon, its limits; delta = epsilon alpha.
    """
    factor = (1 + NET * epsilon / (1 - epsilon)) * math.exp(3 * epsilon)
    value = flipped_printed(factor, epsilon * alpha, alpha)
    return computed((2 * NET + 4) * epsilon, value, SMALL * (1 + value))


def parts_cases(_: Effort) -> Iterator[Case]:
    """Gammas that are and are not parts of 1."""
    for thousandths, m in itertools.product((1, 3, 300, 500, 501, 999), (1, 100)):
        yield {"thousandths": thousandths, "m": m}


def parts(thousandths: int, m: int) -> Measured:
    """ceil(1 / gamma) blocks of m records, against 2 m / gamma; m is the size without stability."""
    found = -(-1000 // thousandths) * m
    return computed(2000 * m / thousandths, float(found), 0.0)


ROWS = (
    Row(
        key="dagan-feldman-2020/section-1-sizes/blocks",
        checks="stability for 1/gamma times as many: ceil(1/gamma) blocks of what learning takes",
        quantity="number of examples",
        method="exact",
        domain="gamma in {.001, .003, .3, .5, .501, .999}, blocks of 1 and 100",
        cases=parts_cases,
        measure=parts,
    ),
    Row(
        key="dagan-feldman-2020/section-1-sizes/private",
        checks="O~(d/(alpha eps)) for eps <= 1: the proof's size; the agnostic one is [DF18]'s",
        quantity="number of examples",
        method="exact",
        domain="d in {1, 10}, eps in {1, .1, .01}, alpha in {.5, .1, .01, .001}, beta = .05",
        cases=realizable_cases,
        measure=realizable_size,
    ),
    Row(
        key="dagan-feldman-2020/lemma-6/large-epsilon",
        checks="'for any eps': with C and a power k of the logarithm, whatever they are",
        quantity="error of any learner with no example, on one of two constants",
        method="exact",
        domain="C in {1, 1e3, 1e6}, k in {0, 3, 6}, eps in {1e2, 1e10, 1e20}, alpha = 1/4",
        cases=large_cases,
        measure=large,
        verdict="refuted",
        derivation="Lemma 6 for large epsilon",
    ),
    Row(
        key="dagan-feldman-2020/lemma-6/size",
        checks="eps <= 1, alpha <= 1/2: the proof's size grows as d/(alpha eps) with a log squared",
        quantity="number of examples",
        method="exact",
        domain="d in {1, 10}, eps in {1, .1, .01}, alpha in {.5, .1, .01, .001}, beta = .05",
        cases=realizable_cases,
        measure=realizable_size,
    ),
    Row(
        key="dagan-feldman-2020/remark-2/step",
        checks="m = (d + log(1/beta))/alpha^2 gives N^R = O~(d/(eps alpha)), 'thus we get'",
        quantity="number of examples, r m",
        method="exact",
        domain="C in {10, 100, 1000}, k in {0, 3}, alpha in {.1, 1e-4, 1e-6}; d = eps = 1",
        cases=remark_cases,
        measure=remark,
        verdict="refuted",
        derivation="Remark 2: which bound for m",
    ),
    Row(
        key="dagan-feldman-2020/remark-2/net",
        checks="with m as Lemma 1 has it, for all h in H at once: N^R = O~(d/(eps alpha))",
        quantity="number of examples, r m",
        method="exact",
        domain="d in {1, 10}, eps in {1, .1, .01}, alpha in {.5, .1, .01, .001}, beta = .05",
        cases=realizable_cases,
        measure=realizable_size,
    ),
    Row(
        key="dagan-feldman-2020/theorem-2/dimension",
        checks="d^2: the least n that Lemma 8 allows grows no faster, with a log cubed",
        quantity="number of examples",
        method="exact",
        domain="d in {1, 2, 5, 10}, alpha = eps = 1/2, beta = .05",
        cases=dimension_cases,
        measure=size,
    ),
    Row(
        key="dagan-feldman-2020/theorem-5/size",
        checks="1/(eps alpha): the least n that Lemma 8 allows grows no faster, with a log cubed",
        quantity="number of examples",
        method="exact",
        domain="alpha in {.5, .1, .02}, eps in {.5, .05}, d = 1, beta = .05",
        cases=decades_cases,
        measure=size,
    ),
    Row(
        key="dagan-feldman-2020/theorem-5/privacy",
        checks="eps <= 1/2: the flip makes O(eps) of (O(eps), O(eps alpha)), constant 8 e^6 + 4",
        quantity="privacy loss that Lemma 8 leaves after the flip",
        method="exact",
        domain="eps in {1e-6, 1e-4, .01, .5}, alpha in {1e-6, .01, .1, .25, .49}",
        cases=flip_cases,
        measure=flip,
    ),
    Row(
        key="dagan-feldman-2020/section-4.2-sizes/conditions",
        checks="sizes of this order meet all seven conditions of Lemma 8",
        quantity="least quotient of the sides of a condition",
        method="exact",
        domain="d = 1 with alpha in {.5, .1, .02}, eps in {.5, .05}; d up to 10, alpha = eps = 1/2",
        cases=conditions_cases,
        measure=conditions,
        relation="at least",
    ),
    Row(
        key="dagan-feldman-2020/section-4.2-sizes/eta",
        checks="eta = Theta~(alpha/d): 1/eta grows no faster than d/alpha with a log cubed",
        quantity="1/eta",
        method="exact",
        domain="d = 1 with alpha in {.5, .1, .02}, eps in {.5, .05}; d up to 10, alpha = eps = 1/2",
        cases=conditions_cases,
        measure=eta_size,
    ),
    Row(
        key="dagan-feldman-2020/section-4.2-eta/condition",
        checks="eta = eps/d: n >= N^exp, one of the conditions of Lemma 8",
        quantity="n / N^exp",
        method="exact",
        domain="n in {1, 10, 1000}, alpha in {.1, .01}, eps = 1/2, thresholds",
        cases=step_cases,
        measure=step,
        relation="at least",
        verdict="refuted",
        derivation="What eta should be thought of as",
    ),
)
