"""Every entry that is compared claims the loss that it is asked for."""

from __future__ import annotations

import pytest

from dpassay.claims import DP
from dpassay.frontier.entries import ENTRIES, parameters
from dpassay.targets.resolve import resolve


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", ENTRIES)
def test_it_claims_what_it_is_asked_for(name: str, epsilon: float) -> None:
    given = parameters(name, epsilon, records=90, columns=3, feature=1)
    claims = [claim for claim in resolve(name, given).claims if isinstance(claim, DP)]
    # the first claim of the data-dependent one is about agreement alone
    asked = claims[1 if name == "pate-data-dependent" else 0]
    assert asked.epsilon == pytest.approx(epsilon, rel=1e-9)
