"""What every entry of the catalogue must keep to, a new one without being named here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.engine.exact import (
    Laws,
    any_size,
    both_directions,
    coded,
    group_laws,
    readable,
    two_sided,
)
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, NoiseLaw, PointLaw
from dpassay.noise import Noise
from dpassay.pairs import Change, one_by_one, replace_several
from dpassay.relations import records_replaced
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.groups import PairGroup, groups_for, silent
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import accepts, resolve
from dpassay.trials.encoders import Bins, Coding
from tests.mechanisms.conftest import RECORDS

VARIANTS = """\
soft-majority, r=7, learner=tree, epsilon=0.3
soft-majority, r=3, partition=fresh, learner=nearest
projected-walk, T=1, ties=index, feature=1
projected-walk, T=2, ties=label, traversed=below
projected-walk-error, T=2, k=2, ties=label, traversed=below, feature=1
projected-walk-overview, epsilon=2.0, alpha=0.3, ties=index, feature=1
stable-laplace, r=2, learner=majority, gamma=0.7, scale=printed
stable-gaussian, r=4, learner=nearest, epsilon=0.5, calibration=classic
noisy-average-number, r=4, learner=stump, epsilon=2.0
erm-laplace, loss=squared, epsilon=0.5, R=2.0
erm-laplace, loss=hinge, L_f=0.5, lambda_=0.05
erm-laplace, loss=logistic, regulariser=sum, lambda_=20.0
psgd-laplace, loss=squared, sign=+
psgd-laplace, threshold=0.01, order=random
psgd-laplace, loss=logistic, average=after, epsilon=0.5
interface, base=projected-walk,T=2,feature=1, m=2, adversary=adaptive, epsilon=0.4
interface, base=soft-majority,r=3,learner=stump, adversary=sweep, step=0.5
interface, base=soft-majority-overview,r=2,learner=majority,partition=fresh, m=1, epsilon=0.1
group, k=2, base=projected-walk,T=2,feature=1, epsilon=0.5
group, k=4, base=stable-gaussian,r=5,learner=nearest,delta=0.0001, epsilon=0.5
group, k=2, base=interface,m=2
stable-learner, gamma=0.2, representative=greatest, calibration=lemma7
stable-learner, gamma=0.1, rounding=up, representative=adverse
subsampled, eta=0.1, base=projected-walk,T=2,feature=1, epsilon=0.9, order=kept
subsampled, eta=0.1, base=soft-majority,r=3, epsilon=2.0
subsampled, eta=0.1, base=stable-laplace,r=2,learner=majority
bagged, r=3, how=subset
label-flip, base=bagged,r=3,how=subset, calibration=overview, epsilon=2.0
label-flip, base=stable-learner,representative=greatest, alpha=0.25, calibration=overview
exponential, epsilon=1.0, low=-4.0, high=4.0, representative=middle, feature=1
exponential, H=intervals, points=7, low=-3.0, high=3.0, representative=greatest
exponential, H=corners, points=5, low=-3.0, high=3.0, representative=greatest
relabelled, representative=greatest, feature=1, alpha=0.2
relabelled, representative=middle, n_prime=3, eta=0.1, r=5
histogram, release=count
histogram, release=comparison, low=-3.0, high=3.0, h=0.25
histogram, release=density, low=-2.0, high=2.0, h=0.5, d=2, H=1 0.5, alpha=4.0
example61-exponential, cut=0.0, release=index, m=0
example61-noisy-max, cut=0.0, alpha=0.1, m=0
pate, r=4, K=3, gamma=0.2, learner=nearest
pate-gaussian, r=5, K=3, sigma=1.5, delta=0.01, learner=nearest
private-knn, k=5, K=3, gamma=1.0
distance-to-instability, r=6, K=3, delta=0.1, distance=margin, learner=stump
validate-train, m=5, base=output-perturbation,d=2,lambdas=0.1;1, release=auc
validate, m=5, alpha2=3.0, beta1=0.5, beta2=0.5, seed=1
alpha-split, m=5, release=index, base=objective-perturbation,oplr=true,lambdas=0.1;0.5;1
data-split, m=5, release=vector, base=output-perturbation,d=2,lambdas=0.1;1
control, m=5, release=prediction
objective-perturbation, loss=huber, alpha=0.5, oplr=true, m=0, lambda_=0.02
objective-perturbation, d=2, release=vector, feature_scale=2;1, g=hinge
objective-perturbation, d=2, loss=huber, edges=-1;0;0.5, n=
objective-perturbation, loss=hinge, m=0, lambda_=0.3, release=bins, edges=-1;0;1;1.5
output-perturbation, release=prediction, loss=huber, h=0.1
output-perturbation, loss=hinge, m=0, lambda_=0.3, release=bins, edges=-1;0;1;1.5
output-perturbation, d=2, release=prediction
""".splitlines()
"""An entry and parameters that take another way than the catalogue's; `n=`: of any number."""
HEAVY = """\
validate-train, m=5, release=bins, base=objective-perturbation,lambdas=0.1;1,loss=huber
validate, m=5, coins=fresh, alpha2=20.0, base=objective-perturbation,lambdas=0.1;1,g=hinge
stable-learner, gamma=0.14, cover=net, alpha=0.4, feature=1
stable-learner, gamma=0.14, H=corners, representative=greatest
bagged, r=15, how=subset, learner=dpassay.mechanisms.shared.erm_class:corner
relabelled, H=intervals, n_prime=2, eta=0.2, r=3
projected-walk-risk
""".splitlines()
"""Seconds each: for the slow tests."""
FITTED = {"histogram": "histogram, low=-30.0, high=15.0"}
"""Nearly all records in one bin: elsewhere the two bits are next to certain."""
PLAIN = [FITTED.get(name, name) for name in CATALOGUE if name not in HEAVY]
CASES = [*PLAIN, *VARIANTS, *(pytest.param(case, marks=pytest.mark.slow) for case in HEAVY)]
DRAWS = 32_000
LEVEL = 1e-3


@pytest.fixture(params=CASES, scope="module")
def target(request: pytest.FixtureRequest) -> AuditTarget:
    """One mechanism of the catalogue, of which every test leaves the states as they are."""
    name, *given = request.param.split(", ")
    parameters = {key: text or None for key, text in (each.split("=", 1) for each in given)}
    return resolve(name, ({"n": RECORDS} if accepts(name, "n") else {}) | parameters)


@pytest.fixture(scope="module")
def state(target: AuditTarget, group: PairGroup) -> Any:
    """What it makes of the base dataset."""
    return target.prepare(group.pairs.base)


def again(target: AuditTarget) -> AuditTarget:
    """The same mechanism made anew, so that nothing it remembers can help it."""
    assert target.address is not None
    return resolve(target.address, target.parameters)


def sample(target: AuditTarget, state: Any, group: PairGroup, size: int, seed: int) -> NDArray[Any]:
    """The mechanism's own answer, not yet checked by the target."""
    return target.mechanism.sample(state, group.queries, size, np.random.default_rng(seed))


def test_samples_are_answers_of_shape_size_by_queries(
    target: AuditTarget, state: Any, group: PairGroup
) -> None:
    assert sample(target, state, group, 1, seed=0).shape == (1, len(group.queries))
    draws = sample(target, state, group, 37, seed=0)
    assert isinstance(draws, np.ndarray)
    assert draws.shape == (37, len(group.queries))
    if target.numbers is None:
        assert np.issubdtype(draws.dtype, np.integer)
        assert np.isin(draws, target.labels).all()
    else:
        assert np.issubdtype(draws.dtype, np.floating)
        assert np.isfinite(draws).all()
        assert (target.numbers[0] <= draws).all()
        assert (draws <= target.numbers[1]).all()


def test_same_seed_same_bytes_and_trials_have_coins_of_their_own(
    target: AuditTarget, state: Any, group: PairGroup
) -> None:
    first, third, draws = (
        sample(target, state, group, size, seed) for size, seed in ((50, 5), (50, 6), (200, 7))
    )
    other = again(target)
    second = sample(other, other.prepare(group.pairs.base), group, 50, seed=5)
    assert (first.dtype, first.tobytes()) == (second.dtype, second.tobytes())
    coins = not isinstance(target.law(state, group.queries, "the base dataset"), PointLaw)
    assert (first.tobytes() == third.tobytes()) is not coins
    assert bool((draws == draws[0]).all()) is not coins
    if coins:
        assert target.mechanism.without_query or (draws[:, :-1] != draws[:, 1:]).any()


def test_inputs_and_states_are_left_as_they_are_and_an_update_of_an_update_is_a_walk_back(
    target: AuditTarget, state: Any, group: PairGroup
) -> None:
    data = group.pairs.base
    flip: Change = next(
        change for change in group.pairs.changes if change.as_json()["kind"] == "flip-label"
    )
    X, y, queries = data.X.tobytes(), data.y.tobytes(), group.queries.tobytes()
    before = sample(target, state, group, 20, seed=1)
    there = target.neighbour(data, state, flip)
    back = target.neighbour(flip.apply(data), there, flip)
    np.testing.assert_array_equal(sample(target, back, group, 20, seed=1), before)
    sample(target, there, group, 20, seed=2)
    np.testing.assert_array_equal(sample(target, state, group, 20, seed=1), before)
    assert not any(array.flags.writeable for array in (data.X, data.y, group.queries))
    assert (data.X.tobytes(), data.y.tobytes(), group.queries.tobytes()) == (X, y, queries)


def claimed_records(target: AuditTarget) -> int:
    """In how many records neighbours may differ under every claim."""
    return min(records_replaced(claim.relation) for claim in target.claims)


def changed_records(base: Labelled, neighbour: Labelled) -> list[int]:
    """Places at which two datasets of one size differ."""
    assert base.X.shape == neighbour.X.shape
    differ = (base.X != neighbour.X).any(axis=1) | (base.y != neighbour.y)
    return [int(i) for i in np.flatnonzero(differ)]


def test_own_worst_cases_are_neighbours_of_the_kind_that_is_claimed(target: AuditTarget) -> None:
    k = claimed_records(target)
    for case in target.worst_cases():
        assert records_replaced(case.pairs.relation) <= k
        assert case.reason
        assert case.pairs.how
        assert not case.queries.flags.writeable
        for change in case.pairs.changes:
            places = changed_records(case.pairs.base, change.apply(case.pairs.base))
            assert places == sorted(each.index for each in one_by_one(change))
            assert 1 <= len(places) <= records_replaced(case.pairs.relation)


def test_update_equals_prepare_on_the_neighbour(
    target: AuditTarget, state: Any, group: PairGroup
) -> None:
    data, queries = group.pairs.base, group.queries
    several = replace_several(group.pairs, max(2, claimed_records(target)))
    replaced, flipped = group.pairs.changes[:RECORDS], group.pairs.changes[RECORDS:]
    # records of every block are changed, by turns in either of the two ways
    for change in (*replaced[::7], *flipped[3::7], *several.changes[::20]):
        updated = target.neighbour(data, state, change)
        new = again(target)
        prepared = new.prepare(change.apply(data))
        law, expected = (
            target.law(updated, queries, "updated"),
            new.law(prepared, queries, "prepared"),
        )
        if law is None or expected is None:
            assert law is None
            assert expected is None
            np.testing.assert_array_equal(
                sample(target, updated, group, 3, seed=1), sample(new, prepared, group, 3, seed=1)
            )
        else:
            np.testing.assert_array_equal(law.table, expected.table)


def telling(target: AuditTarget, group: PairGroup) -> PairGroup:
    """The given data, or an own worst case where answers to the given ones are all but certain."""

    def doubt(each: PairGroup) -> float:
        law = target.law(target.prepare(each.pairs.base), each.queries, "the base dataset")
        return float((law.p * (1 - law.p)).max()) if isinstance(law, FiniteLaw) else 1.0

    return group if doubt(group) >= 0.01 else max(groups_for(target, None), key=doubt)


def counted(
    target: AuditTarget, group: PairGroup, seed: int
) -> tuple[FiniteLaw, FiniteLaw, NDArray[np.int64]]:
    """Law of the symbols that answers are counted by, mis-scaled by a tenth, and the counts."""
    group = telling(target, group)
    state = target.prepare(group.pairs.base)
    law = target.law(state, group.queries, "the base dataset")
    if law is None:
        pytest.skip("no exact law for this many records")
    if isinstance(law, PointLaw):
        pytest.skip("no coins")
    coding, expected = coded(target, law)
    counts, _ = coding.count(sample(target, state, group, DRAWS, seed))
    return expected, mis_scaled(coding, law), counts


def mis_scaled(coding: Coding, law: FiniteLaw | NoiseLaw) -> FiniteLaw:
    """Noise a tenth wider; or the largest probability up to a half of every row a tenth larger."""
    if isinstance(law, NoiseLaw):
        assert isinstance(coding, Bins)
        return replace(law, noise=Noise(kind=law.noise.kind, scale=1.1 * law.noise.scale)).binned(
            coding.edges
        )
    p = law.p
    chosen = np.where(p <= 0.5, p, -1.0).argmax(axis=1)
    rows = np.arange(len(p))
    grown = p[rows, chosen]
    p *= ((1 - 1.1 * grown) / (1 - grown))[:, None]
    p[rows, chosen] = 1.1 * grown
    with np.errstate(divide="ignore"):  # a label that is never answered
        return FiniteLaw(log_p=np.log(p), error=0.0)


def power_of_two_sided(law: FiniteLaw, against: FiniteLaw) -> NDArray[np.float64]:
    """Chance under `law` that a count alone makes `two_sided` reject `against`, or less."""
    share = LEVEL / (2 * law.p.size)
    low, high = binom.ppf(share, DRAWS, against.p) - 1, binom.isf(share, DRAWS, against.p) + 2
    for edge in (low, high):
        inside, counts = (edge >= 0) & (edge <= DRAWS), np.asarray(edge, dtype=np.int64)
        assert (two_sided(counts, DRAWS, against)[inside] * law.p.size < LEVEL).all()
    return np.asarray(binom.cdf(low, DRAWS, law.p) + binom.sf(high - 1, DRAWS, law.p))


def test_sampler_agrees_with_the_law_and_not_with_one_mis_scaled_by_a_tenth(
    target: AuditTarget, group: PairGroup
) -> None:
    law, wrong, counts = counted(target, group, seed=21)
    p_values = two_sided(counts, DRAWS, law)
    assert p_values.min() * p_values.size >= LEVEL
    assert power_of_two_sided(law, wrong).max() >= 0.9
    p_values = two_sided(counts, DRAWS, wrong)
    assert p_values.min() * p_values.size < LEVEL


def test_it_takes_datasets_of_another_size_unless_it_says_otherwise(
    target: AuditTarget, group: PairGroup
) -> None:
    base = group.pairs.base
    longer = base.take(np.r_[0 : len(base), 0, 1])
    if target.mechanism.fixed_n is None:
        target.check(longer)
        return
    assert target.mechanism.fixed_n == len(base)
    with pytest.raises(InvalidInput, match=r"^n = "):
        target.check(longer)


def worst(target: AuditTarget, claim: Claim, laws: Laws | None) -> float:
    """The largest loss over a group of pairs."""
    assert laws is not None
    return float(both_directions(laws, readable(target, claim, laws.law)).value.max())


def test_worst_case_of_any_size_is_its_own_worst_pair_and_no_real_pair_exceeds_it(
    target: AuditTarget, group: PairGroup
) -> None:
    """Of transcripts with a delta > 0 own pairs are only held to be no worse."""
    if target.reachable() is None:
        pytest.skip("knows no reachable states")
    several = replace_several(group.pairs, claimed_records(target))
    real = replace(group, pairs=replace(several, changes=several.changes[::3]))
    of_real = group_laws(target, real, silent)  # none where records are too many for a law
    of_own = [group_laws(target, case, silent) for case in groups_for(target, None)]
    for claim in target.claims:
        found = any_size(target, claim)
        assert found is not None
        own = max(worst(target, claim, laws) for laws in of_own)
        if isinstance(claim, DP) and claim.delta > 0 and claim.unit.startswith("transcript"):
            assert own <= found.loss + found.error
        else:
            assert found.loss == pytest.approx(own, rel=0, abs=1e-12)
        assert found.argument
        assert of_real is None or worst(target, claim, of_real) <= found.loss + found.error


def test_claims_name_their_source(target: AuditTarget) -> None:
    assert target.claims
    for claim in target.claims:
        ours = claim.status == "own" and claim.source.startswith(("ours: ", "not printed: "))
        assert claim.status in ("printed", "corrected") or ours or claim.expected == "refuted"
        assert claim.source != "declared by the user"
