"""Group privacy (Dwork and Feldman 2018, Lemma 3.1).

The same answers, held against what k changed records may do.

"Let M be an (epsilon, delta)-differentially private prediction algorithm and k in N. For all pairs
of data sets S, S' differing in at most k elements and all x: D_infinity^(k e^(epsilon (k - 1))
delta)(M(S, x) || M(S', x)) <= k epsilon."

Claim as printed: (k epsilon, k e^(epsilon (k - 1)) delta), relation `replace-k`. A chain of k
replacements gives delta (1 + e^epsilon + ... + e^((k - 1) epsilon)) = delta (e^(k
epsilon) - 1) / (e^epsilon - 1), which is smaller for k >= 2: the claim `corrected`. Up to
1 - e^-epsilon no smaller one holds for every M (docs/findings.md, 'Lemma 3.1').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, LARGEST, Claim
from dpassay.errors import is_count, require
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.shared.bases import SINGLE, Wrapper, base_of, dp_claims
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.pairs import Change, FlipLabel, Pairs, Several
from dpassay.relations import REPLACE_ONE, replace_relation
from dpassay.targets.guard import AuditTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Wrapper):
    """An algorithm that is private for one record, and what follows for k of them.

    Parameters
    ----------
    k : int
        Records in which neighbours may differ, >= 1.
    base : str or Mechanism
        The algorithm: a name of the catalogue or `module:object`, its parameters behind it
        (`soft-majority,r=5,learner=tree`; all but epsilon), or an object. Parameters that are left
        out are filled in. It promises DP(...) under replace-one.
    epsilon : float
        What the base claims, in nats; finite and > 0. An object has its own, which is put here.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, the base promises no differential privacy under
        replace-one, or nothing is left of any promise: k epsilon is above 700, or delta is 1 or
        more.
    """

    k: int = 3
    base: Any = "soft-majority"
    epsilon: float = SINGLE
    built: AuditTarget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(is_count(self.k), "k", self.k, "an integer >= 1")
        check_positive(epsilon=self.epsilon)
        base, epsilon, built = base_of(self.base, self.epsilon, "group")
        single = all(claim.relation == REPLACE_ONE for claim in dp_claims(built.mechanism))
        require(single, "base", self.base, f"an algorithm whose claims are about '{REPLACE_ONE}'")
        for name, value in {"base": base, "epsilon": epsilon, "built": built}.items():
            object.__setattr__(self, name, value)
        allowed = (
            f"so small that the promise for k records is one: k epsilon at most {LARGEST:g}, "
            "delta below 1"
        )
        require(len(self.claims) > 0, "k", self.k, allowed)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Lemma 3.1 for what the base printed.

        What the chain of replacements gives, where that is another claim.

        For k records nothing may be left of one of them: it is left out.
        """
        singles = dp_claims(self.built.mechanism)
        first = [claim for claim in singles if claim.status != "corrected"]
        sound = [claim for claim in singles if claim.status == "corrected"]
        sound = sound or [claim for claim in first if claim.delta > 0 and self.k > 1]
        lemma, chain = "Dwork and Feldman 2018, Lemma 3.1", "docs/findings.md, 'Lemma 3.1'"
        found = [
            *(
                self._derived(claim, printed_delta(self.k, claim.epsilon, claim.delta), lemma)
                for claim in first
            ),
            *(
                self._derived(
                    replace(claim, status="corrected"),
                    chained_delta(self.k, claim.epsilon, claim.delta),
                    chain,
                )
                for claim in sound
            ),
        ]
        return tuple(claim for claim in found if claim is not None)

    def _derived(self, claim: DP, delta: float, source: str) -> DP | None:
        epsilon = self.k * claim.epsilon
        if epsilon > LARGEST or delta >= 1:
            return None
        return replace(
            claim,
            epsilon=epsilon,
            delta=delta,
            relation=replace_relation(self.k),
            source=f"{claim.source}; {source}",
            expected=None,
        )

    def pairs(self) -> tuple[WorstCase, ...]:
        """The base's worst cases, with more records changed in the same way."""
        return tuple(self._widened(case) for case in super(Group, self).pairs())

    def _widened(self, case: WorstCase) -> WorstCase:
        """With each flipped label flip the next equal ones, up to k in all; keep other changes.

        Of a case without a second such label the words stay as they are.
        """
        changes = tuple(
            _flips(case.pairs.base.y, change.index, self.k)
            if isinstance(change, FlipLabel)
            else change
            for change in case.pairs.changes
        )
        flipped = [len(change.changes) for change in changes if isinstance(change, Several)]
        how, reason = case.pairs.how, case.reason
        if flipped:
            more = "with it the next records of the same label"
            how = f"{how}, and {more}, up to {self.k} in all"
            reason = f"for the first flip, {reason}; {max(flipped)} labels are flipped"
        pairs = Pairs(
            base=case.pairs.base,
            changes=changes,
            how=how,
            pool=case.pairs.pool,
            relation=replace_relation(self.k),
        )
        return replace(case, pairs=pairs, reason=reason)


def printed_delta(k: int, epsilon: float, delta: float) -> float:
    """Return k e^(epsilon (k - 1)) delta, the constant of Lemma 3.1.

    For epsilon k above 700 infinity unless delta is 0.
    """
    if delta == 0:
        return 0.0
    return k * math.exp(epsilon * (k - 1)) * delta if epsilon * k <= LARGEST else math.inf


def chained_delta(k: int, epsilon: float, delta: float) -> float:
    """Return delta (e^(k epsilon) - 1) / (e^epsilon - 1), the constant of k replacements.

    Infinity as for `printed_delta`.
    """
    if delta == 0:
        return 0.0
    return (
        delta * math.expm1(k * epsilon) / math.expm1(epsilon)
        if epsilon * k <= LARGEST
        else math.inf
    )


def _flips(y: NDArray[np.int64], index: int, k: int) -> Change:
    """Flip the label at a place and the next equal ones, in a circle, up to k in all."""
    places = [
        place for place in np.roll(np.arange(len(y)), -index).tolist() if y[place] == y[index]
    ][:k]
    return (
        FlipLabel(index)
        if len(places) == 1
        else Several(tuple(FlipLabel(place) for place in places))
    )
