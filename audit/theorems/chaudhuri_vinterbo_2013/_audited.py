"""The exact loss of a mechanism of the catalogue, for rows about its privacy."""

from __future__ import annotations

from typing import Any

from dpassay.claims import DP
from dpassay.theorems.row import Measured


def loss_of(
    claimed: float,
    target: str,
    parameters: dict[str, Any],
    *,
    delta: float = 0.0,
    domain: tuple[int, int] | None = None,
) -> Measured:
    """Hold the exact loss of a target of the catalogue, at delta, against what is claimed in nats.

    A domain n and N stands for all datasets of n records over N points; by default the target's
    own worst pairs are taken.
    """
    # what audits takes time to import, and `dpassay theorem list` only lists the rows
    from dpassay.api import audit
    from dpassay.engine.domains.domain import Domain
    from dpassay.targets.resolve import resolve

    found = audit(
        resolve(target, parameters).mechanism,
        claim=DP(epsilon=claimed, delta=delta),
        mode="exact" if domain is None else "exhaustive",
        domain=None if domain is None else Domain(n=domain[0], points=domain[1]),
    )
    if found.evidence is None or found.exact is None:
        raise ArithmeticError(f"no exact loss of {target}: {found.outcome.reason}")
    return Measured(claimed=claimed, lower=found.lower, upper=found.upper)
