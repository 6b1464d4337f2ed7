"""Claims: what an algorithm promises, about which neighbours, for which unit of output, over which coins."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from dpassay.errors import is_real, require

REPLACE_ONE = "replace-one"
"""Two datasets of the same size that differ in one record, which keeps its place."""

Status = Literal["printed", "corrected", "own"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DP:
    """(epsilon, delta)-differential privacy of one answer: P[M(S) in E] <= e^epsilon P[M(S') in E] + delta.

    Definition 1.2 of Dwork and Feldman (2018) when the answer is a prediction at a fixed query point.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss in nats; finite and > 0.
    delta : float
        Claimed additive slack; in [0, 1). 0 is pure differential privacy.
    relation : str
        The neighbour relation; `replace-one` is the one the papers use.
    unit : str
        What is released: `single prediction`, a transcript, a value.
    coins : str
        Which coins are fresh in every trial, and which are frozen.
    source : str
        Paper and theorem, or where the promise was made.
    status : {"printed", "corrected", "own"}
        As printed in the source; corrected by a derivation in docs/findings.md; or the user's own.
    expected : {"refuted"}, optional
        Declared for catalogue claims that are known to be wrong: the refutation is then a finding, not an alarm.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "DP"

    epsilon: float
    delta: float = 0.0
    relation: str = REPLACE_ONE
    unit: str = "single prediction"
    coins: str = "all fresh"
    source: str = "declared by the user"
    status: Status = "own"
    expected: Literal["refuted"] | None = None

    def __post_init__(self) -> None:
        require(is_real(self.epsilon) and 0 < self.epsilon < math.inf, "epsilon", self.epsilon, "a finite number > 0")
        require(is_real(self.delta) and 0 <= self.delta < 1, "delta", self.delta, "a number in [0, 1)")
        require(self.relation == REPLACE_ONE, "relation", self.relation, f"'{REPLACE_ONE}'")

    def __str__(self) -> str:
        return f"DP({self.epsilon:g})" if self.delta == 0 else f"DP({self.epsilon:g}, {self.delta:g})"

    def as_json(self) -> dict[str, Any]:
        """Every field of the claim for the record; parameters of other kinds of claim are null."""
        fields = asdict(self)
        del fields["expected"]
        return {"kind": self.kind, "gamma": None, "beta1": None, "beta2": None} | fields


Claim = DP
"""Every kind of claim there is."""
