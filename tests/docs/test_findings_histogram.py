"""docs/findings.md on the histogram and section 6.1 is held to what the code computes."""

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
from tests.docs.findings_pages import FINDINGS, compared, printed, table
from tests.mechanisms.chaudhuri_vinterbo_2013.twin_histogram import two_bin_log_density


@pytest.mark.parametrize("row", table(r"histogram,release=(\w+)", 5, many=9), ids=" ".join)
def test_releases(row: Any) -> None:
    release, alpha, n, *said = row
    parameters = {"release": release, "alpha": alpha, "n": int(n) + 10, "m": 10, "H": "0.1"}
    assert tuple(said) == found(resolve("histogram", parameters).mechanism)


def found(mechanism: Any) -> tuple[str, ...]:
    claim = next(claim for claim in mechanism.claims if isinstance(claim, DP))
    result = audit(mechanism, claim=claim, mode="exact")
    assert result.exact is not None
    cells = compared(claim.epsilon, result.exact)
    assert result.verdict == ("refuted" if float(cells[-1]) < 1 else "not refuted")
    return cells


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


@pytest.mark.parametrize(("half", "gap"), table("equal counts", 2, many=3))
def test_densities(half: str, gap: str) -> None:
    N = int(half)
    x = 1 + 8 / math.sqrt(N)
    one, other = (two_bin_log_density(x, N - i, N + i, 1.0) for i in (0, 1))
    assert f"{one - other:.6f}" == gap


def log_density(p: list[float], counts: list[int], s: float) -> float:
    """Log-likelihood of a density above 0 in all bins, by quadrature over the noisy total t."""

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
    given = re.search(
        r"of 2 records the density then loses (\S+) at α = 1, of 3 (\S+)\.\n", FINDINGS
    )
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


@pytest.mark.parametrize(("bins", "alpha", "supremum"), table("density", 3, many=5))
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
    near, none = [], [0] * (K - 1)
    for tiny in (0.3, 0.1, 0.001 / K):
        rest = [tiny if tiny < 1 / K else 0.1 / (K - 1)] * (K - 1)
        p = [1 - sum(rest), *rest]
        near.append(log_density(p, [1, *none], s) - log_density(p, [0, 1, *none[1:]], s))
    assert max(near) < most
    assert near[-1] > most - 0.01


@pytest.mark.parametrize(
    "row", table(r"Theorem 6 \| ([\d.]+) \| (\d+) \| ([\d. ]+)", 5, many=4), ids=" ".join
)
def test_theorem_6(row: Any) -> None:
    alpha, n, H, delta, *said = row
    mechanism = Histogram(alpha=float(alpha), n=int(n) + 10, m=10, H=H, delta=float(delta))
    lemma, corrected = mechanism.stability()
    widths = [float(h) for h in H.split()]
    k, least = len(widths), min(widths)
    nu = 2 * math.log(4 * k / float(delta)) / (int(n) * float(alpha) * math.sqrt(least))
    left = int(n) * (1 - nu)
    assert lemma.beta1 == pytest.approx(6 / ((1 - nu) * least), rel=1e-12)
    assert corrected.beta1 == pytest.approx((4 - 2 / left) / ((1 - nu) * least), rel=1e-12)
    assert [lemma.beta2, lemma.delta] == pytest.approx([2 / least, float(delta) / k])
    theta = math.log(4 * k / float(delta)) / math.sqrt(least)
    missed = sum(sum_above(round(1 / h), theta) for h in widths)
    numbers = lemma.beta1, corrected.beta1, lemma.beta1 / corrected.beta1, missed
    assert tuple(said) == printed("{:.4f} {:.4f} {:.3f} {:.1e}", *numbers)
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


@pytest.mark.parametrize("row", table(r"s = (\d+)", 3, many=5), ids=" ".join)
def test_tails(row: Any) -> None:
    s = int(row[0])
    theta = math.sqrt(s) * math.log(4 / 0.01)
    tail, lemma = sum_above(s, theta), 4 * math.exp(-theta / math.sqrt(s))
    assert row[1:] == printed("{:.4e} {:g} {:.2f}", tail, lemma, 0.01 / tail)


def test_hand_sized() -> None:
    """0.38 = 4/10 - 2/100 for (10, 0) to (9, 1)."""
    v = np.array([0.0, 1.0])
    one, other = (
        HistogramMasses.of(np.array([counts])).p[0] for counts in ([10.0, 0.0], [9.0, 1.0])
    )
    assert ((one - v) ** 2).sum() == pytest.approx(2)
    assert ((other - v) ** 2).sum() == pytest.approx(1.62)
    assert most_moved(0.1) == pytest.approx(0.38)


@pytest.mark.parametrize("row", table(r"(example61-[\w,=-]+)", 5, many=12), ids=" ".join)
def test_examples(row: Any) -> None:
    target, bins, n, *said = row
    name, *settings = target.split(",")
    parameters = {"l": bins, "n": n, "m": 0} | dict(setting.split("=") for setting in settings)
    assert tuple(said) == found(resolve(name, parameters).mechanism)


@pytest.mark.parametrize("row", table("of section 6.1", 6, many=3), ids=" ".join)
def test_shares(row: Any) -> None:
    size, a = int(row[0]), float(row[1])
    E, root = math.exp(size * a / 8), math.exp(a / 2)
    shares = [E * (root - 1) / ((E + 1) * (E + root))]
    mechanism = Example61Exponential(n=size, m=0, alpha=a)
    for place, beta1 in ((1, size / 3), (2, size / 3), (2, 1.0)):
        pairs = mechanism.pairs()[place].pairs
        near = Compared(base=pairs.base, changes=pairs.changes)
        known = mechanism.bad_share(near, ScoreStability(beta1=beta1, beta2=0.0))
        assert known is not None
        shares.append(known[0])
    assert row[2:] == printed("{:.3e} {:.3e} {:.3e} {:.3e}", *shares)


@pytest.mark.parametrize(("delta", "Q", "beta1"), table(r"delta = ([\d.e-]+)", 2, many=3))
def test_quantiles(delta: str, Q: str, beta1: str) -> None:
    q = quantile(float(delta))
    corrected = Example61Exponential(delta=float(delta)).claims[-1]
    assert isinstance(corrected, ScoreStability)
    assert printed("{:.4f} {:.2f} {:.2f}", q, 1 + 4 * q, corrected.beta1) == (Q, beta1, beta1)


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
    readings = {"example61-half-scale": half, "example61-standard-deviation": deviation}
    for name, expected in readings.items():
        target = resolve(name)
        result = audit(target.mechanism, claim=target.claims[0], mode="exact")
        assert result.exact == pytest.approx(expected, abs=1e-12)
