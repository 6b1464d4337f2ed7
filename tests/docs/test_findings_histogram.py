"""docs/findings.md on the histogram and section 6.1 is held to what the code computes.

Its tables.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaincc

from dpassay.api import audit
from dpassay.claims import DP, ScoreStability
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.densities import (
    HistogramMasses,
    fuller,
    most_moved,
    sum_above,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_exponential import (
    Example61Exponential,
    quantile,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_noisy_max import (
    Example61NoisyMax,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.histogram import Histogram
from dpassay.pairs import Compared
from dpassay.targets.resolve import resolve
from dpassay.theorems.chaudhuri_vinterbo_2013.histogram_rows import BRACKET, _log_density, density
from tests.docs.findings_pages import FINDINGS as PAGE
from tests.mechanisms.chaudhuri_vinterbo_2013.twin_histogram import two_bin_log_density

NUMBER = r" \| ([\d.e+-]+)"
RELEASES = re.findall(rf"^\| (histogram,release=\w+){NUMBER * 5} \|$", PAGE, re.MULTILINE)
WHOLE = re.findall(rf"^\| density{NUMBER * 3} \|$", PAGE, re.MULTILINE)
DENSITIES = re.findall(rf"^\| equal counts{NUMBER * 2} \|$", PAGE, re.MULTILINE)
THEOREM = re.findall(rf"^\| Theorem 6{NUMBER * 2} \| ([\d. ]+){NUMBER * 5} \|$", PAGE, re.MULTILINE)
TAILS = re.findall(rf"^\| s = (\d+){NUMBER * 3} \|$", PAGE, re.MULTILINE)
EXAMPLES = re.findall(rf"^\| (example61-[\w,=-]+){NUMBER * 5} \|$", PAGE, re.MULTILINE)
SHARES = re.findall(rf"^\| of section 6.1{NUMBER * 6} \|$", PAGE, re.MULTILINE)
QUANTILES = re.findall(rf"^\| delta = ([\d.e-]+){NUMBER * 2} \|$", PAGE, re.MULTILINE)


def test_the_page_has_its_rows() -> None:
    assert [
        len(each) for each in (RELEASES, DENSITIES, THEOREM, TAILS, EXAMPLES, SHARES, QUANTILES)
    ] == [9, 3, 4, 5, 12, 3, 3]
    assert len(WHOLE) == 5


@pytest.mark.parametrize(("target", "alpha", "n", "claimed", "true", "factor"), RELEASES)
def test_releases(target: str, alpha: str, n: str, claimed: str, true: str, factor: str) -> None:
    name, release = target.split(",release=")
    parameters = {"release": release, "alpha": alpha, "n": int(n) + 10, "m": 10, "H": "0.1"}
    found(resolve(name, parameters).mechanism, claimed, true, factor)


def found(mechanism: Any, claimed: str, true: str, factor: str) -> None:
    claim = next(claim for claim in mechanism.claims if isinstance(claim, DP))
    result = audit(mechanism, claim=claim, mode="exact")
    assert result.exact is not None
    assert f"{claim.epsilon:g}" == claimed
    assert f"{result.exact:.6f}" == true
    assert f"{claim.epsilon / result.exact:.3f}" == factor
    assert result.verdict == ("refuted" if float(factor) < 1 else "not refuted")


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("n", [3, 10, 20])
def test_no_other_pair_of_counts_is_worse(alpha: float, n: int) -> None:
    """All counts of two bins of n records, with and without others, and all moves of one record."""

    def log_p(counts: list[tuple[int, int]]) -> Any:
        here, there = np.array(counts, dtype=float).T * alpha / 2
        return fuller(here, there).log_p

    counts = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    before, largest = log_p(counts), 0.0
    for step in ((-1, 1), (1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)):
        moved = [(i + step[0], j + step[1]) for i, j in counts]
        rows = [k for k, (i, j) in enumerate(moved) if min(i, j) >= 0 and i + j <= n]
        largest = max(largest, float(np.abs(log_p([moved[k] for k in rows]) - before[rows]).max()))
    own = audit(Histogram(release="comparison", alpha=alpha, n=n, m=0), mode="exact")
    assert largest == pytest.approx(own.exact, abs=1e-12)


@pytest.mark.parametrize(("half", "gap"), DENSITIES)
def test_densities(half: str, gap: str) -> None:
    N = int(half)
    x = 1 + 8 / math.sqrt(N)
    assert (
        f"{two_bin_log_density(x, N, N, 1.0) - two_bin_log_density(x, N - 1, N + 1, 1.0):.6f}"
        == gap
    )


def log_density(p: list[float], counts: list[int], s: float) -> float:
    """Log-likelihood of a density above 0 in all bins, by quadrature over the total t.

    Of the noisy counts.
    """

    def integrand(t: float) -> float:
        return t ** (len(p) - 1) * math.exp(
            -s * sum(abs(t * share - n) for share, n in zip(p, counts, strict=True))
        )

    ends = [0.0, *sorted(n / share for share, n in zip(p, counts, strict=True) if n), 20.0, 200 / s]
    return math.log(
        sum(quad(integrand, *each, epsabs=0, epsrel=1e-11)[0] for each in itertools.pairwise(ends))
    )


@pytest.mark.parametrize("counts", [(1, 0), (0, 3), (1, 2), (4, 4)])
@pytest.mark.parametrize("s", [0.05, 1.5])
def test_the_density_of_two_bins_by_quadrature(counts: tuple[int, int], s: float) -> None:
    p = np.array([1e-3, 0.2, 0.5, 0.75, 0.96])
    expected = [log_density([x, 1 - x], list(counts), s) for x in p.tolist()]
    assert _log_density(p, *counts, s) == pytest.approx(expected, abs=1e-9)


def test_densities_of_more_records() -> None:
    given = re.search(r"of 2 records the density then loses (\S+) at α = 1, of 3 (\S+)\.\n", PAGE)
    assert given is not None
    assert given.groups() == tuple(f"{density(n, 1.0).lower:.6f}" for n in (2, 3))


@pytest.mark.parametrize(("n", "alpha"), [(2, 1.0), (3, 3.0)])
def test_no_density_on_a_grid_is_worse_than_the_row_says(n: int, alpha: float) -> None:
    p = np.linspace(0, 1, 20_002)[1:-1]
    laws = [_log_density(p, k, n - k, alpha / 2) for k in range(n + 1)]
    largest = max(float(np.abs(one - two).max()) for one, two in itertools.pairwise(laws))
    row = density(n, alpha)
    assert largest <= row.upper
    assert row.lower == pytest.approx(largest, abs=1e-5)


@pytest.mark.parametrize(("bins", "alpha", "supremum"), WHOLE)
def test_the_whole_density_of_one_record(bins: str, alpha: str, supremum: str) -> None:
    K, s = int(bins), float(alpha) / 2
    below = (
        quad(lambda t: t ** (K - 1) * math.exp(s * (t - 1)), 0, 1, epsabs=0, epsrel=1e-12)[0]
        * s**K
        / math.gamma(K)
    )
    most = s + math.log(below + math.exp(s) * gammaincc(K, s))
    assert f"{most:.6f}" == supremum
    if K == 2:
        assert 0 <= most - density(1, 2 * s).lower < BRACKET
    near = []
    for tiny in (0.3, 0.1, 0.001 / K):
        p = (
            [1 - (K - 1) * tiny, *[tiny] * (K - 1)]
            if tiny < 1 / K
            else [0.9, *[0.1 / (K - 1)] * (K - 1)]
        )
        near.append(
            log_density(p, [1, *[0] * (K - 1)], s) - log_density(p, [0, 1, *[0] * (K - 2)], s)
        )
    assert max(near) < most
    assert near[-1] > most - 0.01


@pytest.mark.parametrize(("alpha", "n", "H", "delta", "beta1", "true", "factor", "missed"), THEOREM)
def test_theorem_6(
    alpha: str, n: str, H: str, delta: str, beta1: str, true: str, factor: str, missed: str
) -> None:
    mechanism = Histogram(alpha=float(alpha), n=int(n) + 10, m=10, H=H, delta=float(delta))
    printed, corrected = mechanism.stability()
    widths = [float(h) for h in H.split()]
    k, least = len(widths), min(widths)
    nu = 2 * math.log(4 * k / float(delta)) / (int(n) * float(alpha) * math.sqrt(least))
    left = int(n) * (1 - nu)
    assert printed.beta1 == pytest.approx(6 / ((1 - nu) * least), rel=1e-12)
    assert corrected.beta1 == pytest.approx((4 - 2 / left) / ((1 - nu) * least), rel=1e-12)
    assert [printed.beta2, printed.delta] == pytest.approx([2 / least, float(delta) / k])
    assert [f"{printed.beta1:.4f}", f"{corrected.beta1:.4f}"] == [beta1, true]
    assert f"{printed.beta1 / corrected.beta1:.3f}" == factor
    theta = math.log(4 * k / float(delta)) / math.sqrt(least)
    assert f"{sum(sum_above(round(1 / h), theta) for h in widths):.1e}" == missed
    assert left >= 1


def test_events_of_all_widths_together() -> None:
    """At most 0.46 delta / k, over k consecutive widths down to 1 / S."""
    largest = 0.0
    for S in (*range(1, 60), 100, 300, 1000, 5000):
        for k in (1, 2, 3, 5, 10, 20, 50):
            for delta in (0.999999, 0.5, 0.1, 0.01, 1e-4):
                if k <= S:
                    theta = math.log(4 * k / delta) * math.sqrt(S)
                    missed = sum(sum_above(s, theta) for s in range(S - k + 1, S + 1))
                    largest = max(largest, missed / (delta / k))
    assert 0.45 < largest < 0.46


@pytest.mark.parametrize(("s", "exact", "lemma", "factor"), TAILS)
def test_tails(s: str, exact: str, lemma: str, factor: str) -> None:
    theta = math.sqrt(int(s)) * math.log(4 / 0.01)
    assert f"{sum_above(int(s), theta):.4e}" == exact
    assert f"{4 * math.exp(-theta / math.sqrt(int(s))):g}" == lemma
    assert f"{0.01 / sum_above(int(s), theta):.2f}" == factor


def test_hand_sized() -> None:
    """0.38 = 4/10 - 2/100 for (10, 0) to (9, 1)."""
    v = np.array([0.0, 1.0])
    one, other = (
        HistogramMasses.of(np.array([counts])).p[0] for counts in ([10.0, 0.0], [9.0, 1.0])
    )
    assert ((one - v) ** 2).sum() == pytest.approx(2)
    assert ((other - v) ** 2).sum() == pytest.approx(1.62)
    assert most_moved(0.1) == pytest.approx(0.38)


@pytest.mark.parametrize("row", EXAMPLES, ids="-".join)
def test_examples(row: Any) -> None:
    target, bins, n, claimed, true, factor = row
    name, *settings = target.split(",")
    parameters = {"l": bins, "n": n, "m": 0} | dict(setting.split("=") for setting in settings)
    found(resolve(name, parameters).mechanism, claimed, true, factor)


@pytest.mark.parametrize(("n", "alpha", "formula", "third", "near", "one"), SHARES)
def test_shares(n: str, alpha: str, formula: str, third: str, near: str, one: str) -> None:
    size, a = int(n), float(alpha)
    E, root = math.exp(size * a / 8), math.exp(a / 2)
    assert f"{E * (root - 1) / ((E + 1) * (E + root)):.3e}" == formula
    mechanism = Example61Exponential(n=size, m=0, alpha=a)
    shown = []
    for place, beta1 in ((1, size / 3), (2, size / 3), (2, 1.0)):
        pairs = mechanism.pairs()[place].pairs
        known = mechanism.bad_share(
            Compared(base=pairs.base, changes=pairs.changes), ScoreStability(beta1=beta1, beta2=0.0)
        )
        assert known is not None
        shown.append(f"{known[0]:.3e}")
    assert shown == [third, near, one]


@pytest.mark.parametrize(("delta", "Q", "beta1"), QUANTILES)
def test_quantiles(delta: str, Q: str, beta1: str) -> None:
    q = quantile(float(delta))
    assert f"{q:.4f}" == Q
    assert f"{1 + 4 * q:.2f}" == beta1
    corrected = Example61Exponential(delta=float(delta)).claims[-1]
    assert isinstance(corrected, ScoreStability)
    assert f"{corrected.beta1:.2f}" == beta1


def test_the_wrong_step_about_noisy_max() -> None:
    """f = (0, 1) to (1/2, 1), R = (0.9, 0)."""
    mechanism = Example61NoisyMax(n=2, m=0, cut=0.5)
    one = mechanism._release(np.array([0, 2]), np.array([[0.9, 0.0]]))
    other = mechanism._release(np.array([1, 2]), np.array([[0.9, 0.0]]))
    assert [one.index[0], other.index[0]] == [1, 0]
    assert [one.t.max(), other.t.max()] == pytest.approx([1.0, 1.4])


def test_the_noise_of_section_6_1_by_hand() -> None:
    """Half the scale: one record; the standard deviation: three records. The readings lose this."""
    chances = [1 / (1 + math.exp(-t)) for t in (-0.25, 0.25, -0.75)]
    assert [f"{p:.4f}" for p in chances] == ["0.4378", "0.5622", "0.3208"]
    half = math.log(chances[1] / chances[0]) + 0.5 + 0.5
    deviation = math.log(chances[0] / chances[2]) + 2 / (2 * math.sqrt(2))
    assert f"{half:.2f} {deviation:.4f}" == "1.25 1.0180"
    for name, expected in (
        ("example61-half-scale", half),
        ("example61-standard-deviation", deviation),
    ):
        target = resolve(name)
        assert audit(target.mechanism, claim=target.claims[0], mode="exact").exact == pytest.approx(
            expected, abs=1e-12
        )
