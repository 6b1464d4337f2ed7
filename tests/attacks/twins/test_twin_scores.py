"""Score attacks against their naive twins: direction, no look at other targets or at coins."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dpassay.attacks.experiment.certified import exposed
from dpassay.attacks.experiment.models import toss
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ATTACKS, likelihood_ratio, lira, rmia, single_record
from dpassay.errors import InvalidInput
from tests.attacks.twins import twin_scores

E = 12
LABELS = np.arange(E) % 3


def seen(own: Array) -> Array:
    """Three labels; what the own one leaves goes to the next two in unequal parts."""
    rest = 1 - own
    shares = np.stack([own, 0.7 * rest, 0.3 * rest], axis=2)
    return np.stack([np.roll(shares[:, j], LABELS[j], axis=1) for j in range(own.shape[1])], axis=1)


def world(
    models: int, m: int | None, seed: int, *, mirrored: bool = False
) -> tuple[Observed, Flags]:
    """Members have more of their own label; of scores a few are exactly 0 or 1."""
    rng = np.random.default_rng(seed)
    inside = toss(models, E, seed=seed, who="test", mirrored=mirrored).membership
    easy = np.linspace(-1, 1, E)
    p = 1 / (1 + np.exp(-(easy + 1.2 * inside + rng.normal(size=inside.shape))))
    if m is None:
        own = np.where(rng.random(p.shape) < 0.05, rng.random(p.shape) < 0.5, p).astype(float)
    else:
        own = rng.binomial(m, p) / m
    return Observed(seen=seen(own), y=LABELS, m=m), inside


def worlds(models: int, m: int | None) -> tuple[Observed, Flags, Observed]:
    reference, inside = world(models, m, 1, mirrored=True)
    return reference, inside, world(9, m, 2)[0]


@pytest.mark.parametrize("models", [6, 20, 70])
@pytest.mark.parametrize("m", [None, 1, 5])
def test_lira(models: int, m: int | None) -> None:
    reference, inside, target = worlds(models, m)
    for online in (True, False):
        found = lira(reference, inside, online=online)(target)
        twin = twin_scores.lira(
            reference.own.tolist(), inside.tolist(), target.own.tolist(), online=online, m=m
        )
        np.testing.assert_allclose(found, twin, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gamma", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("m", [None, 1, 5])
def test_rmia(gamma: float, m: int | None) -> None:
    reference, inside, target = worlds(20, m)
    for online, a in ((True, 0.3), (False, 0.0), (False, 0.3), (False, 1.0)):
        found = rmia(reference, inside, gamma=gamma, online=online, a=a)(target)
        shares = reference.own.tolist(), inside.tolist(), target.own.tolist()
        twin = twin_scores.rmia(*shares, online=online, gamma=gamma, a=a, m=m)
        np.testing.assert_allclose(found, twin, rtol=0, atol=1e-12)


def test_rmia_with_all_records_alike_calls_everyone_a_member_at_gamma_1_and_nobody_above() -> None:
    same = Observed(seen=np.full((4, E, 2), 0.5), y=np.zeros(E, dtype=np.int64))
    inside = toss(4, E, seed=0, who="test", mirrored=True).membership
    # LR(x, z) = 1 >= 1 for every z
    assert (rmia(same, inside, gamma=1.0)(same) == 1).all()
    assert (rmia(same, inside, gamma=2.0)(same) == 0).all()


@pytest.mark.parametrize("m", [1, 2, 7])
def test_likelihood_ratio(m: int) -> None:
    reference, inside, target = worlds(20, m)
    found = likelihood_ratio(reference, inside)(target)
    twin = twin_scores.likelihood(reference.own.tolist(), inside.tolist(), target.own.tolist(), m=m)
    np.testing.assert_allclose(found, twin, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("m", [None, 4])
def test_single_record(m: int | None) -> None:
    reference, inside, target = worlds(20, m)
    found = single_record(reference, inside)(target)
    twin = twin_scores.single_record(reference.own.tolist(), inside.tolist(), target.own.tolist())
    np.testing.assert_allclose(found, twin, rtol=0, atol=1e-12)


def test_p_values_of_non_members_are_valid() -> None:
    """P[p <= u] <= u: of five models without the record each in turn is the target."""
    values, y = np.array([[0.1], [0.2], [0.2], [0.5], [0.9]]), np.zeros(1, dtype=np.int64)
    every = Observed(seen=np.stack([values, 1 - values], axis=2), y=y)
    p = []
    for k in range(5):
        others = every.of(np.delete(np.arange(5), k))
        fitted = single_record(others, np.zeros((4, 1), dtype=bool))
        p.append(1 - fitted(every.of(slice(k, k + 1)))[0, 0])
    for u in (0.2, 0.4, 0.6, 0.8, 1.0):
        assert np.mean(np.array(p) <= u + 1e-12) <= u + 1e-12


@pytest.mark.parametrize("m", [None, 1, 3])
def test_exposed_records(m: int | None) -> None:
    reference, inside, _ = worlds(21, m)
    rules = exposed(reference, inside, 20)
    twin = twin_scores.exposed(reference.own.tolist(), inside.tolist(), 20)
    assert [rule.record for rule in rules] == [record for record, _ in twin]
    assert [rule.expected for rule in rules] == pytest.approx([share for _, share in twin])
    for rule in rules:  # the rule reaches what it says on the references
        called = (reference.own[:, rule.record] >= rule.threshold) == rule.above
        member = inside[:, rule.record]
        assert (called[member].mean() + (~called[~member]).mean()) / 2 == pytest.approx(
            rule.expected
        )


@pytest.mark.parametrize("name", list(ATTACKS))
@pytest.mark.parametrize("m", [None, 6])
def test_higher_is_member(name: str, m: int | None) -> None:
    """200 targets: any attack that reads the share of the own label beats guessing."""
    reference, inside = world(60, m, 3, mirrored=True)
    target, truth = world(200, m, 4)
    scores = ATTACKS[name](reference, inside)(target)
    assert scores.shape == truth.shape
    assert not np.isnan(scores).any()
    least = 0.5 if name in ("confidence", "entropy") else 0.6  # these two do not look at the label
    finite = np.clip(scores, -1e9, 1e9)
    assert roc_auc_score(truth.ravel(), finite.ravel()) > least


@pytest.mark.parametrize("name", list(ATTACKS))
@pytest.mark.parametrize("m", [None, 6])
def test_models_are_scored_one_by_one_and_nothing_is_written_into_what_was_seen(
    name: str, m: int | None
) -> None:
    reference, inside, target = worlds(20, m)
    given = reference.seen, target.seen, inside
    before = [array.copy() for array in given]
    fitted = ATTACKS[name](reference, inside)
    together = fitted(target)
    for i in range(len(together)):
        assert np.array_equal(fitted(target.of(slice(i, i + 1)))[0], together[i])
    assert all(np.array_equal(*pair) for pair in zip(before, given, strict=True))


@pytest.mark.parametrize(
    "attack", [lira, partial(lira, online=False), rmia, partial(rmia, online=False), single_record]
)
def test_a_record_that_every_reference_model_knows_is_refused(attack: Any) -> None:
    reference, inside, _ = worlds(6, None)
    inside[:, 3] = True
    with pytest.raises(InvalidInput, match="without"):
        attack(reference, inside)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"seen": np.full((2, 3), 0.5)}, "shape"),
    ({"seen": np.ones((2, 3, 1))}, "K >= 2"),
    *(({"seen": np.full((2, 3, 2), share)}, "shares") for share in (np.nan, 1.5, -0.5)),
    ({"y": np.zeros(2, dtype=int)}, "one label a record"),
    *(({"y": y}, "labels in") for y in (np.full(3, 2), np.full(3, -1), np.zeros(3))),
    *(({"m": m}, "integer >= 1") for m in (0, 1.0, True)),
]


@pytest.mark.parametrize(("wrong", "text"), REFUSED)
def test_what_cannot_have_been_seen_is_refused(wrong: dict[str, Any], text: str) -> None:
    right: dict[str, Any] = {"seen": np.full((2, 3, 2), 0.5), "y": np.zeros(3, dtype=int)}
    Observed(**right)
    with pytest.raises(InvalidInput, match=text):
        Observed(**(right | wrong))
