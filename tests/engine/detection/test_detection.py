"""What a whole audit would see, held against audits that are simulated one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from dpassay.engine.detection.audits import AuditDesign, Frontier, smallest_seen
from dpassay.engine.detection.families import allowed, answers_of, move_of, through_event
from dpassay.engine.wording import seen_words
from dpassay.stats.lower_bounds import Method
from dpassay.stats.power import POWER, Screening, detectable, largest_rejecting, tight_pair
from dpassay.stats.ranking import Ranking
from dpassay.stats.regions import LineRegion
from dpassay.stats.scales import DifferenceScale, Ratio, Scale

Counts = NDArray[np.int64]


def design(
    labels: int = 2,
    scale: Scale = Ratio(),  # noqa: B008  (frozen)
    promised: float = 1.0,
    *,
    n: int = 2000,
    draws: int = 400,
    pairs: int = 1,
    finalists: int = 1,
) -> AuditDesign:
    screening = Screening(draws=draws, pairs=pairs, finalists=finalists)
    known: dict[str, Any] = {"answers": answers_of(scale, labels), "screening": screening}
    return AuditDesign(scale=scale, promised=promised, n=n, alpha=1e-3, **known)


def ranks(one: Counts, other: Counts, audited: AuditDesign) -> NDArray[np.float64]:
    """As the screening ranks each label, forward and backward."""
    ranking = Ranking.of(audited.scale, audited.promised, audited.screening.draws)
    cells = 2 * audited.answers.labels * audited.screening.pairs
    one, other = np.broadcast_arrays(one, other)
    faces = [ranking.scores(a, b, cells) for a, b in ((one, other), (other, one))]
    return np.concatenate(faces, axis=-1)


def refuted(
    audited: AuditDesign, frequency: float, leak: float, runs: int, *, decoys: bool = False
) -> int:
    """Simulated as it is done, against either end of what the claim allows the crowd. The
    certification by the Stouffer test."""
    scale, screening, n = audited.scale, audited.screening, audited.n
    how: dict[str, Any] = {"allowed": scale.allowed(audited.promised), "alpha": audited.alpha}
    rng, found = np.random.default_rng(5), 0
    family = through_event(audited.answers, frequency, scale, audited.promised, decoys=decoys)
    for run in range(runs):
        base, law = family.base, family.other(leak)
        one, two = rng.multinomial(screening.draws, base), rng.multinomial(screening.draws, law)
        own = ranks(one, two, audited)
        crowd = family.crowd[run % len(family.crowd)]
        others = rng.multinomial(screening.draws, crowd, size=screening.pairs - 1)
        ahead = (ranks(one, others, audited).max(axis=1) >= own.max()).sum()
        if ahead >= screening.finalists:
            continue
        backward, label = divmod(int(own.argmax()), audited.answers.labels)
        p1, p0 = (law[label], base[label]) if backward else (base[label], law[label])
        x, y = rng.binomial(n, p1), rng.binomial(n, p0)
        limit = largest_rejecting("stouffer", np.array([x]), n, **how)
        found += bool(y <= limit[0])
    return found


@pytest.mark.parametrize(
    ("audited", "frequency"),
    [
        (design(2, n=4000, draws=300, pairs=40), 0.3),
        (design(3, n=4000, draws=300, pairs=6, finalists=2), 0.4),
        (design(10, n=4000, draws=600, pairs=12, finalists=4), 0.2),
        (design(3, DifferenceScale(), 0.2, draws=200, pairs=12), 0.6),
    ],
    ids=["two labels in a crowd", "three labels", "ten labels", "difference"],
)
def test_what_would_be_seen_is_refuted_nine_times_in_ten(
    audited: AuditDesign, frequency: float
) -> None:
    """A floor, and no idle one: a leak half-way to the claim is not seen so often."""
    runs, leak = 120, smallest_seen(audited, frequency)
    assert audited.promised < leak < audited.promised + 4
    assert refuted(audited, frequency, leak, runs) >= binom.ppf(0.001, runs, POWER)
    nearer = audited.promised + 0.5 * (leak - audited.promised)
    assert refuted(audited, frequency, nearer, runs) < runs * POWER


def test_labels_that_leak_as_much_but_are_rarer_mislead_the_screening() -> None:
    audited = design(4, n=4000, draws=300)
    alone = through_event(audited.answers, 0.56, audited.scale, 1.0)
    decoyed = through_event(audited.answers, 0.56, audited.scale, 1.0, decoys=True)
    assert alone.base[1:] == pytest.approx([0.44 / 3] * 3)
    assert decoyed.base[1] == pytest.approx(tight_pair(1.0, 0.0)[0] - 0.56)
    assert (decoyed.base / decoyed.other(1.5))[:2] == pytest.approx([math.exp(1.5)] * 2)
    leak = smallest_seen(audited, 0.56)
    assert refuted(audited, 0.56, leak, 120, decoys=True) >= binom.ppf(0.001, 120, POWER)


@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.05), DifferenceScale()], ids=str)
@pytest.mark.parametrize("p", [0.02, 0.3, 0.7, 0.99])
def test_a_crowd_leaks_what_the_claim_allows_and_no_more(scale: Scale, p: float) -> None:
    promised = 0.2 if isinstance(scale, DifferenceScale) else 1.0
    for end in allowed(p, scale, promised):
        faces = ((p, end), (end, p), (1 - p, 1 - end), (1 - end, 1 - p))
        assert max(float(scale.between(*face)) for face in faces if face[1] > 0) <= promised + 1e-9


def test_rarer_answers_and_larger_crowds_hide_more() -> None:
    common = design()
    by_frequency = [smallest_seen(common, frequency) for frequency in (0.7, 0.3, 0.1)]
    assert by_frequency == sorted(by_frequency)
    by_crowd = [smallest_seen(design(pairs=pairs, draws=200), 0.5) for pairs in (1, 10, 100)]
    assert by_crowd == sorted(by_crowd)
    assert by_crowd[0] < by_crowd[2]


def test_a_leak_of_two_labels_without_a_crowd_is_seen_as_one_cell_shows_it() -> None:
    alone = design(n=20_000, draws=20_000)
    said = alone.sight(None)
    closed = detectable(scale=Ratio(), promised=1.0, n=20_000, alpha=1e-3, method="stouffer")
    assert said.frequency == alone.usual_frequency == pytest.approx(0.74)
    assert said.detectable - 1 == pytest.approx(closed - 1, rel=0.1)


def test_the_curve_falls_to_answers_that_are_never_seen() -> None:
    said = design().sight(0.3349)
    assert not said.assumed
    assert [point for point, _ in said.curve] == [0.33, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001]
    leaks = [leak for _, leak in said.curve]
    assert leaks == sorted(leaks)
    assert leaks[0] == said.detectable < math.inf == leaks[-1]
    # so rare an answer may leak all, as claimed
    assert design(scale=Ratio(0.05)).sight(0.05).detectable == math.inf
    assert design(labels=5).sight(None).frequency == 0.2
    assert design(labels=2, scale=DifferenceScale(), promised=0.2).sight(0.01).frequency is None


@pytest.mark.parametrize("method", ["stouffer", "fisher", "clopper-pearson", "accuracy"])
def test_the_frontier_is_that_of_the_test(method: Method) -> None:
    x, allowed = np.arange(300, 420), LineRegion(1.0, 0.0)
    found = Frontier(method, allowed, 1000, 1e-3).at(x)
    how: dict[str, Any] = {"allowed": allowed, "alpha": 1e-3}
    true = [largest_rejecting(method, x[[k]], 1000, **how)[0] for k in range(len(x))]
    assert np.all(found <= true)
    assert np.all(found >= np.array(true) - 1)


def test_noise_that_moves_leaks_so_much_at_its_worst_threshold() -> None:
    assert move_of("Laplace", 1.2, Ratio()) == pytest.approx(1.2)
    m = move_of("Gaussian", 1.0, Ratio(0.01))
    # of the normal law delta(epsilon) = Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m)
    delta = ndtr(m / 2 - 1 / m) - math.e * ndtr(-m / 2 - 1 / m)
    assert delta == pytest.approx(0.01, rel=1e-3)


def test_the_words_name_the_answer() -> None:
    through = "through an answer of probability 0.1 or more"
    assert seen_words("loss", 1.234567, 0.1) == f"a loss of 1.235 or more {through}"
    never = f"a loss of a size that is not promised {through}"
    assert seen_words("loss", math.inf, 0.1) == never
    assert seen_words("change", 0.2, None) == "a change of 0.2 or more"


def test_what_would_be_seen_of_many_labels_is_rehearsed_with_fewer() -> None:
    many, runs = design(labels=1001), 60
    leak = smallest_seen(many, 0.5)
    assert refuted(many, 0.5, leak, runs) >= binom.ppf(0.01, runs, POWER)
    assert refuted(many, 0.5, leak, runs, decoys=True) >= binom.ppf(0.01, runs, POWER)


def test_a_hundred_thousand_labels_take_no_matrix_of_their_pairs() -> None:
    many = design(labels=100_000)
    assert many.promised < smallest_seen(many, 0.5) < 2
    assert many.usual_frequency == 1e-5
