"""A promise: what every kind of claim says besides its number, and answers about itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Self

from dpassay.errors import as_real, require
from dpassay.relations import REPLACE_ONE, check_relation

SINGLE = "single prediction"
"""The unit of a claim that is about one answer at one query."""

Status = Literal["printed", "corrected", "own", "measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What every kind of claim says besides its number.

    `relation` is the neighbour relation: `replace-one`, which is the one the papers use, or
    `replace-k` with k = 2, 3, ...: datasets that differ in at most k records; or `answers-D` with a
    number D: vectors of true answers, each of which differs by at most D; or `answers-D-in-m`,
    where at most m of them differ. `unit` is what is released: `single prediction`, a transcript, a
    value. `coins` says which coins are fresh in every trial, and which are frozen; `source` names
    paper and theorem, or where the promise was made.

    `status` is 'printed' in the source; 'corrected' by a derivation in docs/findings.md; the user's
    'own'; or 'measured': no promise at all, but a notion that is measured beside what is promised,
    see `beside`. Catalogue claims that are known to be wrong are `expected` to be 'refuted': that
    is then a finding, not an alarm.
    """

    kind: ClassVar[str]
    """The name that records know it by."""
    named: ClassVar[str]
    """What claims of the kind bound, in words."""
    profiled: ClassVar[bool] = False
    """Whether it speaks of all events, so that there is a privacy profile; the band of one takes a
    part of alpha."""
    share: ClassVar[bool] = False
    """Whether what is bounded is a probability, or a difference of two."""
    means: ClassVar[bool] = False
    """Whether it speaks of a real prediction or its mean, not of the probability of an answer."""
    computed: ClassVar[bool] = False
    """Whether it is held against computed numbers only: trials certify nothing about it."""
    coupled: ClassVar[bool] = False
    """Whether both datasets are run with the same coins; such a claim is about strings of them, and
    may see none move."""
    letter: ClassVar[str] = ""
    """Its number in the name of a result that is measured beside a claim."""

    relation: str = REPLACE_ONE
    unit: str = SINGLE
    coins: str = "all fresh"
    source: str = "declared by the user"
    status: Status = "own"
    expected: Literal["refuted"] | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)

    @property
    def quantity(self) -> str:
        """Return what is bounded, in words."""
        return self.named

    @property
    def promised(self) -> float:
        """The number that what is found is held against."""
        raise NotImplementedError

    @property
    def of_answers(self) -> bool:
        """Return whether it is about the probabilities of answers."""
        return not (self.means or self.computed or self.coupled)

    @property
    def stops_early(self) -> bool:
        """Return whether an e-process may refute it before all trials are drawn."""
        return not (self.means or self.computed)

    @property
    def amount(self) -> str:
        """Return what is measured, in words, with what it depends on."""
        return self.quantity

    @property
    def points(self) -> tuple[Self, ...]:
        """The claims of which an audit may choose one to hold the algorithm against: itself."""
        return (self,)

    @property
    def decided(self) -> bool:
        """Return whether `points` are all that is claimed."""
        return True

    def most(self, numbers: tuple[float, float] | None) -> float:  # noqa: ARG002
        """Return the largest leak in the claim's units; `numbers` are limits of real answers."""
        return 1.0 if self.share else math.inf

    @property
    def of_events(self) -> bool:
        """Return whether it is about events, so that a search can be held against it."""
        return not (self.computed or self.means or self.coupled)

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:  # noqa: ARG002
        """Return why it cannot be about what `name` answers, or the empty text.

        Those are numbers in such limits, or labels (None).
        """
        return ""

    def beside(self) -> Promise | None:
        """The notion for labels that it is not about, to be measured beside it.

        None for claims about anything else.

        Its number is the largest there is, so that nothing finite exceeds it.
        """
        return None

    def as_measured(self) -> dict[str, Any]:
        """The fields that every kind has, for a notion that nobody claims."""
        shared = {field.name: getattr(self, field.name) for field in fields(Promise)}
        return shared | {"source": "measured, not claimed", "status": "measured", "expected": None}

    def as_json(self) -> dict[str, Any]:
        """Every field of the claim for the record; parameters of other kinds of claim are null."""
        own = asdict(self)
        del own["expected"]
        return {
            "kind": self.kind,
            **dict.fromkeys(("epsilon", "delta", "gamma", "beta1", "beta2")),
        } | own


def keep_number(claim: Promise, name: str, holds: Callable[[float], bool], allowed: str) -> None:
    """Keep a number of a claim as a float, when the claim is made.

    `holds` says whether a number is in the range that `allowed` names; NaN, which stands for what
    is no number, never is. Raise InvalidInput if it is out of the range.
    """
    given = getattr(claim, name)
    value = as_real(given)
    require(holds(value), name, given, allowed)
    object.__setattr__(claim, name, value)
