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
Range = tuple[Callable[[float], bool], str]
"""Which numbers a field may be, and the same in words; NaN stands for what is no number."""


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
    is then a finding, not an alarm. A number out of its range raises InvalidInput.
    """

    # kind: its name in records; named: what is bounded, in words; promises: the field that holds
    # what a leak is held against; letter: the number in the name of a result that is measured
    # beside a claim; ranges: what each number may be
    kind: ClassVar[str]
    named: ClassVar[str]
    promises: ClassVar[str]
    letter: ClassVar[str] = ""
    ranges: ClassVar[dict[str, Range]]
    # profiled: it speaks of all events, so that there is a privacy profile, whose band takes a part
    # of alpha; share: what is bounded is a probability, or a difference of two; means: it speaks of
    # a real prediction or its mean, not of the probability of an answer; computed: trials certify
    # nothing about it; coupled: both datasets are run with the same coins, and it is about strings
    # of them and may see none move
    profiled: ClassVar[bool] = False
    share: ClassVar[bool] = False
    means: ClassVar[bool] = False
    computed: ClassVar[bool] = False
    coupled: ClassVar[bool] = False

    relation: str = REPLACE_ONE
    unit: str = SINGLE
    coins: str = "all fresh"
    source: str = "declared by the user"
    status: Status = "own"
    expected: Literal["refuted"] | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)
        for name, (holds, allowed) in self.ranges.items():
            given = getattr(self, name)
            value = as_real(given)
            lost = name == "epsilon" and value == 0 and given != 0  # too small for a float
            require(holds(value) and not lost, name, given, allowed)
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        numbers = (f"{getattr(self, name):g}" for name in self.ranges)
        return f"{self.kind}({', '.join(numbers)})"

    @property
    def quantity(self) -> str:
        """Return what is bounded, in words."""
        return self.named

    @property
    def promised(self) -> float:
        """Return the number that a leak is held against."""
        return float(getattr(self, self.promises))

    @property
    def of_events(self) -> bool:
        """Return whether it is about events of answers, so that a search can be held against it."""
        return not (self.computed or self.means or self.coupled)

    @property
    def amount(self) -> str:
        """Return what is measured, in words, with what it depends on."""
        return self.quantity

    @property
    def points(self) -> tuple[Self, ...]:
        """Return the claims that an audit may hold the algorithm against, itself first."""
        return (self,)

    @property
    def decided(self) -> bool:
        """Return whether `points` are all that is claimed."""
        return True

    def most(self, numbers: tuple[float, float] | None) -> float:  # noqa: ARG002
        """Return the largest leak in the claim's units; `numbers` are limits of real answers."""
        return 1.0 if self.share else math.inf

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:  # noqa: ARG002
        """Return why it cannot be about what `name` answers: labels (None), or numbers."""
        return ""

    def beside(self) -> Promise | None:
        """Return the notion for labels to be measured beside it; None if it is not about labels."""
        return None

    def as_measured(self) -> dict[str, Any]:
        """Return the fields that every kind has, for a notion that nobody claims."""
        shared = {field.name: getattr(self, field.name) for field in fields(Promise)}
        return shared | {"source": "measured, not claimed", "status": "measured", "expected": None}

    def as_json(self) -> dict[str, Any]:
        """Return every field for the record; parameters of other kinds of claim are null."""
        own = asdict(self)
        del own["expected"]
        others = dict.fromkeys(("epsilon", "delta", "gamma", "beta1", "beta2"))
        return {"kind": self.kind, **others} | own
