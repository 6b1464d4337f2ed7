"""What a report says of one kind of claim.

Its names, its units, and the sentences that differ from kind to kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dpassay.privacy_curves import curve_from_json
from dpassay.relations import DONE, answers_among, answers_moved
from dpassay.reports.shared.gaussian import gaussian_delta, normal_below, normal_quantile
from dpassay.reports.shared.numbers import allowance, clean, plain, promise

Raw = Mapping[str, Any]


class Words:
    """The words of a claim, as a record holds it.

    Those here are the ones of claims about probabilities of labels.
    """

    quantity: ClassVar[str]
    """What is bounded."""
    unit: ClassVar[str]
    """The same for an axis."""
    number: ClassVar[str]
    """Which field is held against what is found."""
    symbol: ClassVar[str] = "γ"
    """What the claimed number is called."""
    formula: ClassVar[str] = "p1 - p0"
    """How the leak of an event comes from its two probabilities."""
    still: ClassVar[str] = "At no audited cell does a probability change: the change is 0."
    """What a leak of 0 means, where the formula gives less than 0 or nothing."""
    measured: ClassVar[tuple[str, str]]
    """What is measured beside a claim of the other notion: a title, and the quantity."""
    computed: ClassVar[bool] = False
    """Whether it is about a number that is computed from one dataset."""
    strings: ClassVar[bool] = False
    """Whether it is about random strings."""
    single: ClassVar[bool] = False
    """Whether more than two labels may leak more together than each of them."""
    events: ClassVar[bool] = True
    """Whether what is sampled is the probability of an event, and not a mean."""
    batches: ClassVar[bool] = False
    """Whether several answers can be looked at together by the entry that audits a loss."""

    def __init__(self, claim: Raw) -> None:
        self.claim = claim

    @property
    def promised(self) -> float:
        """The number that what is found is held against."""
        return float(self.claim[self.number])

    @property
    def amount(self) -> str:
        """What is bounded, with what it depends on."""
        return self.quantity

    @property
    def slack(self) -> str:
        """The claimed additive δ; empty where there is none."""
        return ""

    @property
    def relation(self) -> str:
        """The neighbour relation, in a few words."""
        if self.moved is not None:
            few = "" if self.among is None else f"{self._few} of the "
            return f"{few}answers within {promise(self.moved)}"
        return clean(self.claim["relation"])

    @property
    def moved(self) -> float | None:
        """By how much each true answer may differ; None where neighbours differ in records."""
        return answers_moved(self.claim["relation"])

    @property
    def among(self) -> int | None:
        """How many true answers may differ; None where all may."""
        return answers_among(self.claim["relation"])

    @property
    def changing(self) -> str:
        """What makes a neighbour, as the subject of a sentence."""
        if self.moved is not None:
            return f"moving {self._answers} by at most {promise(self.moved)}"
        return self._done[0]

    @property
    def changed(self) -> str:
        """The same, as it was done."""
        if self.moved is not None:
            return f"{self._answers} moved by at most {promise(self.moved)}"
        return self._done[1]

    @property
    def _done(self) -> tuple[str, str]:
        """What is done to records, and as it was done."""
        k = self.relation.removeprefix("replace-")
        records = "one record" if k == "one" else f"up to {k} records"
        return DONE.get(self.relation, (f"replacing {records}", f"{records} replaced"))

    @property
    def _answers(self) -> str:
        """The answers that move, where answers do."""
        if self.among is None:
            return "each true answer"
        return f"{self._few} true answer{'s' if self.among > 1 else ''}"

    @property
    def _few(self) -> str:
        return "one" if self.among == 1 else f"up to {self.among}"

    def short(self, number: str) -> str:
        """The claimed numbers for a table; `number` is held against what is found."""
        return f"{self.symbol} = {number}"

    @property
    def name(self) -> str:
        """What was promised, in a few words."""
        raise NotImplementedError

    def sentence(self, over: str) -> str:
        """What was promised, in a sentence.

        `over` says which datasets, where the mechanism takes some only.
        """
        raise NotImplementedError

    def point(self, profile: Raw) -> tuple[float, float] | None:  # noqa: ARG002
        """A point (epsilon, delta) of the claim, for a profile; None where there is none."""
        return None

    def allowed(self, levels: Sequence[float]) -> list[float]:
        """Least false negative rates that the claim allows at a profile's false positive rates."""
        raise NotImplementedError

    def deltas(self, epsilon: Sequence[float]) -> list[float] | None:  # noqa: ARG002
        """The claimed delta at each epsilon, where the claim is a curve.

        None where it is a point.
        """
        return None

    def at_most(self, found: float | None, upper: float | None) -> bool:  # noqa: ARG002
        """Whether a leak that is recorded as 0 is an upper bound."""
        return False


class LossWords(Words):
    """(epsilon, delta)-differential privacy."""

    quantity = "loss"
    unit = "loss in nats"
    number = "epsilon"
    symbol = "ε"
    measured = ("Privacy loss", "loss")
    batches = True

    @property
    def amount(self) -> str:
        """At which delta, where it has one."""
        return f"{self.quantity} at δ = {self.slack}" if self.slack else self.quantity

    @property
    def slack(self) -> str:
        """Delta."""
        return allowance(self.claim["delta"]) if self.claim["delta"] else ""

    @property
    def formula(self) -> str:  # type: ignore[override]
        """The ratio of the probabilities, delta taken off."""
        return f"ln((p1 - {self.slack}) / p0)" if self.slack else "ln(p1 / p0)"

    @property
    def still(self) -> str:  # type: ignore[override]
        """Nothing beyond delta."""
        more = f" by more than δ = {self.slack}" if self.slack else ""
        return (
            f"At no audited cell does the probability of an event change{more}: the {self.amount} "
            "is 0."
        )

    @property
    def curve(self) -> str:
        """The privacy curve of which this is a point; empty where it is none."""
        facts = self.claim.get("curve")
        return str(curve_from_json(facts)) if facts else ""

    def short(self, number: str) -> str:
        """Epsilon, delta where there is one, and the curve of which they are a point."""
        point = f"{number}, δ = {self.slack}" if self.slack else number
        return f"{point} of {self.curve}" if self.curve else point

    @property
    def name(self) -> str:
        """(epsilon, delta)-differential privacy."""
        epsilon = promise(self.claim["epsilon"])
        name = f"({epsilon}, {self.slack})" if self.slack else epsilon
        curve = f"{self.curve}, which implies " if self.curve else ""
        return f"{curve}{name}-differential privacy, {self.relation}"

    def sentence(self, over: str) -> str:  # noqa: ARG002
        """A factor and a slack."""
        epsilon = self.claim["epsilon"]
        bound = f"e^{promise(epsilon)}" + (
            f" ≈ {plain(math.exp(epsilon))}" if epsilon < 700 else ""
        )
        slack = f" and adds at most δ = {self.slack} to it" if self.slack else ""
        return (
            f"{self.name}: {self.changing} multiplies the probability of any event by at "
            f"most {bound}{slack}."
        )

    def point(self, profile: Raw) -> tuple[float, float]:  # noqa: ARG002
        """The claim itself."""
        return self.claim["epsilon"], self.claim["delta"]

    def allowed(self, levels: Sequence[float]) -> list[float]:
        """Two lines that meet at the diagonal, then 0."""
        (epsilon, delta), steep = self.point({}), math.exp(min(self.claim["epsilon"], 700.0))
        return [
            max(0.0, 1 - delta - steep * a, math.exp(-epsilon) * (1 - delta - a)) for a in levels
        ]


class GaussianWords(Words):
    """Gaussian differential privacy."""

    quantity = "Gaussian distance"
    unit = "Gaussian distance in standard deviations"
    number = "mu"
    symbol = "μ"
    formula = "Φ⁻¹(p1) - Φ⁻¹(p0)"
    still = (
        "At no audited cell does the probability of an event change: the Gaussian distance is 0."
    )

    @property
    def name(self) -> str:
        """mu-Gaussian differential privacy."""
        return f"{promise(self.claim['mu'])}-Gaussian differential privacy, {self.relation}"

    def sentence(self, over: str) -> str:  # noqa: ARG002
        """Two normal laws."""
        laws = f"N(0, 1) and N({promise(self.claim['mu'])}, 1)"
        return (
            f"{self.name}: with {self.changed}, the outputs are no easier to tell apart "
            f"than {laws}."
        )

    def point(self, profile: Raw) -> tuple[float, float]:
        """Of the curve delta(epsilon), at the profile's twelfth epsilon, its scale."""
        epsilon = float(profile["epsilon"][11])
        return epsilon, gaussian_delta(self.promised, epsilon)

    def allowed(self, levels: Sequence[float]) -> list[float]:
        """Phi(Phi^-1(1 - a) - mu)."""
        return [normal_below(normal_quantile(1 - a) - self.promised) for a in levels]

    def deltas(self, epsilon: Sequence[float]) -> list[float]:
        """delta(epsilon) of two normal laws."""
        return [gaussian_delta(self.promised, each) for each in epsilon]


class StabilityWords(Words):
    """Uniform stability of a label."""

    quantity = "change of a label's probability"
    unit = "change of a probability"
    number = "gamma"
    measured = ("Stability", "change of one answer's probability")
    single = True
    what = ("stability", "the probability of any label")

    @property
    def name(self) -> str:
        """gamma-uniform stability."""
        return f"{promise(self.claim['gamma'])}-uniform {self.what[0]}, {self.relation}"

    def sentence(self, over: str) -> str:  # noqa: ARG002
        """What moves by how much."""
        return (
            f"{self.name}: {self.changing} changes {self.what[1]} by at most "
            f"{promise(self.claim['gamma'])}."
        )


class PredictionWords(StabilityWords):
    """Uniform stability of a prediction."""

    quantity = unit = "change of the prediction"
    what = ("prediction stability", "the (mean) prediction")
    single = False
    events = False


class ScoreWords(Words):
    """Stability of a validation score."""

    quantity = unit = "proportion of bad random strings"
    number = "delta"
    symbol = "δ"
    strings = True

    def short(self, number: str) -> str:
        """Both betas and delta."""
        return f"β = {promise(self.claim['beta1'])}, {promise(self.claim['beta2'])}, δ = {number}"

    @property
    def name(self) -> str:
        """(beta1, beta2, delta)-score stability."""
        numbers = ", ".join(promise(self.claim[name]) for name in ("beta1", "beta2", "delta"))
        return f"({numbers})-score stability, {self.relation}"

    def sentence(self, over: str) -> str:  # noqa: ARG002
        """How far a score moves."""
        beta1, beta2, delta = (promise(self.claim[name]) for name in ("beta1", "beta2", "delta"))
        moves = (
            f"no training record moves the score by more than {beta1} divided by the number of "
            f"training records, and no validation record by more than {beta2} divided by the "
            "number of validation records"
        )
        return (
            f"{self.name}: with the same random string on both sides, {moves}, except for a "
            f"proportion {delta} of the strings."
        )

    def at_most(self, found: float | None, upper: float | None) -> bool:  # noqa: ARG002
        """A proportion that is proven to be next to nothing."""
        return bool(upper)


ERROR = "error"


class ErrorWords(Words):
    """A largest error, or excess error."""

    number = "bound"
    computed = True

    @property
    def quantity(self) -> str:  # type: ignore[override]
        """An error, or an excess error."""
        return f"excess {ERROR}" if self.claim.get("excess") else ERROR

    @property
    def unit(self) -> str:  # type: ignore[override]
        """The same."""
        return self.quantity

    def short(self, number: str) -> str:
        """The bound."""
        return f"{self.quantity} ≤ {number}"

    @property
    def name(self) -> str:
        """Whatever the dataset is."""
        return f"{self.quantity} of at most {promise(self.claim['bound'])}"

    def sentence(self, over: str) -> str:
        """Dataset by dataset."""
        error = f"The {self.quantity} is the {clean(self.claim['unit'])}."
        return (
            f"{self.name.capitalize()}, on every dataset{over}. S and S' are audited separately. "
            f"{error}"
        )

    def at_most(self, found: float | None, upper: float | None) -> bool:  # noqa: ARG002
        """An error below 0."""
        return found is not None and found < 0


KINDS: dict[str, type[Words]] = {
    "DP": LossWords,
    "GDP": GaussianWords,
    "Stability": StabilityWords,
    "PredictionStability": PredictionWords,
    "ScoreStability": ScoreWords,
    "Accuracy": ErrorWords,
}
"""The words of each kind of claim."""


def words_of(claim: Raw) -> Words:
    """Return the words of a claim."""
    return KINDS[claim["kind"]](claim)
