"""dp-accounting: what an accountant says becomes a profile with its relation."""

from __future__ import annotations

from typing import Any

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpassay import InvalidInput, Tables, audit
from dpassay.adapters import accounting

GAUSSIAN = dp_accounting.GaussianDpEvent(1.0)
SAMPLED = dp_accounting.PoissonSampledDpEvent(0.1, GAUSSIAN)
RELATION = dp_accounting.NeighboringRelation


@pytest.mark.parametrize("kind", [RdpAccountant, PLDAccountant])
def test_every_point_is_what_the_accountant_says(kind: Any) -> None:
    accountant = kind().compose(SAMPLED, 3)
    claim = accounting.claim(accountant, deltas=(0.01, 1e-4))
    known = {each.delta: each.epsilon for each in claim.points}
    assert known == pytest.approx({d: accountant.get_epsilon(d) for d in (0.01, 1e-4)})
    assert claim.relation == "add-remove"
    assert claim.source == f"{kind.__name__} of dp-accounting"


def test_an_event_goes_to_the_first_accountant_that_takes_it() -> None:
    claim = accounting.claim(SAMPLED)
    assert claim.source.startswith("PLDAccountant")
    tight = PLDAccountant().compose(SAMPLED).get_epsilon(1e-3)
    assert {each.delta: each.epsilon for each in claim.points}[1e-3] == pytest.approx(tight)
    without = dp_accounting.SampledWithoutReplacementDpEvent(100, 10, GAUSSIAN)
    replaced = accounting.claim(without, relation="replace-one")
    assert (replaced.source, replaced.relation) == ("RdpAccountant of dp-accounting", "replace-one")


def test_the_relation_is_that_of_the_accountant() -> None:
    zeroed = PLDAccountant(RELATION.REPLACE_SPECIAL).compose(GAUSSIAN)
    assert accounting.claim(zeroed).relation == "zero-out"
    assert {each.name for each in RELATION} == set(accounting.RELATIONS)


@pytest.mark.parametrize(
    ("accounted", "told", "message"),
    [
        (3, {}, "accounted = 'int': must be a PrivacyAccountant or DpEvent"),
        (GAUSSIAN, {"deltas": (0.0,)}, "deltas = 0.0: must be numbers in"),
        (GAUSSIAN, {"relation": "own"}, "relation = 'own': must be 'add-remove' or"),
        (dp_accounting.NonPrivateDpEvent(), {}, "accounted = 'PLDAccountant': must be one whose"),
        (
            dp_accounting.UnsupportedDpEvent(),
            {},
            r"accounted = UnsupportedDpEvent\(\): no accountant takes it with rel",
        ),
    ],
)
def test_what_claims_nothing_is_one_line(
    accounted: Any, told: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        accounting.claim(accounted, **told)


@pytest.mark.usefixtures("few_pairs")
def test_half_the_noise_that_was_accounted_for_is_refuted() -> None:
    data = Tables([0.0, 0.5, 1.0], relation="add-remove")
    settings: dict[str, Any] = {"budget": 2000, "confidence": 0.99, "executor": "inline"}

    def release(sigma: float) -> Any:
        return lambda data, size, rng: np.sum(data) + sigma * rng.normal(size=(size, 1))

    claim = accounting.claim(GAUSSIAN)
    assert audit(release(1.0), claim=claim, data=data, **settings).verdict != "refuted"
    assert audit(release(0.4), claim=claim, data=data, **settings).verdict == "refuted"
