"""What a report says of one kind of claim: names, units, and sentences that differ by kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.privacy_curves import curve_from_json
from dpassay.relations import DONE, answers_among, answers_moved
from dpassay.reports.shared.gaussian import gaussian_delta, normal_below, normal_quantile
from dpassay.reports.shared.numbers import allowance, clean, plain, promise

Raw = Mapping[str, Any]


class Words:
    """The words of a claim, as a record holds it; those here are of probabilities of labels."""

    quantity = ""  # what is bounded
    unit = ""  # the same for an axis
    number = ""  # which field is held against what is found
    symbol = "γ"  # what the claimed number is called
    formula = "p1 - p0"  # how the leak of an event comes from its two probabilities
    still = (
        "At no audited cell does a probability change: the change is 0."  # what a leak of 0 means
    )
    measured = ("", "")  # beside a claim of the other notion: a title, and the quantity
    computed = False  # whether it is about a number that is computed from one dataset
    strings = False  # whether it is about random strings
    single = False  # whether more than two labels may leak more together than each of them
    events = True  # whether what is sampled is the probability of an event, and not a mean
    batches = False  # whether the entry that audits a loss can look at several answers together
    slack = ""  # the claimed additive δ, where there is one
    name = ""  # what was promised, in a few words
    promise = ""  # the same in more

    def __init__(self, claim: Raw) -> None:
        self.claim, self.promised = claim, float(claim[self.number])
        self.amount = self.quantity  # what is bounded, with what it depends on
        self.relation = clean(claim["relation"])
        moved, most = answers_moved(claim["relation"]), answers_among(claim["relation"])
        if moved is None:
            k = self.relation.removeprefix("replace-")
            records = "one record" if k == "one" else f"up to {k} records"
            done = DONE.get(self.relation, (f"replacing {records}", f"{records} replaced"))
        else:
            few = "one" if most == 1 else f"up to {most}"
            self.relation = (
                f"{few} of the " * (most is not None) + f"answers within {promise(moved)}"
            )
            several = f"{few} true answer{'s' if most != 1 else ''}"
            answers = "each true answer" if most is None else several
            size = f"by at most {promise(moved)}"
            done = f"moving {answers} {size}", f"{answers} moved {size}"
        self.changing, self.changed = done  # what makes a neighbour, and the same as it was done

    def short(self, number: str) -> str:
        """Return the claimed numbers for a table; `number` is held against what is found."""
        return f"{self.symbol} = {number}"

    def sentence(self, over: str) -> str:  # noqa: ARG002
        """Return the promise as a sentence; `over` says which datasets a mechanism takes."""
        return f"{self.name}: {self.promise}."

    def point(self, profile: Raw) -> tuple[float, float] | None:  # noqa: ARG002
        """Return a point (epsilon, delta) of the claim, for a profile; None where it has none."""
        return None

    def allowed(self, levels: Sequence[float]) -> list[float]:
        """Return the least false negative rates that the claim allows at false positive rates."""
        raise NotImplementedError

    def deltas(self, epsilon: Sequence[float]) -> list[float] | None:  # noqa: ARG002
        """Return the claimed delta at each epsilon, where the claim is a curve."""
        return None

    def at_most(self, found: float | None, upper: float | None) -> bool:  # noqa: ARG002
        """Return whether a leak that is recorded as 0 is an upper bound."""
        return False


class LossWords(Words):
    """(epsilon, delta)-differential privacy."""

    quantity = "loss"
    unit = "loss in nats"
    number = "epsilon"
    symbol = "ε"
    measured = ("Privacy loss", "loss")
    batches = True

    def __init__(self, claim: Raw) -> None:
        super().__init__(claim)
        facts, number, more = claim.get("curve"), promise(claim["epsilon"]), ""
        self.curve = str(curve_from_json(facts)) if facts else ""  # of which this is a point
        self.formula = "ln(p1 / p0)"
        if claim["delta"]:
            self.slack = allowance(claim["delta"])
            number, more = f"({number}, {self.slack})", f" by more than δ = {self.slack}"
            self.amount = f"{self.quantity} at δ = {self.slack}"
            self.formula = f"ln((p1 - {self.slack}) / p0)"
        self.still = (
            f"At no audited cell does the probability of an event change{more}: the {self.amount} "
            "is 0."
        )
        curve = f"{self.curve}, which implies " if self.curve else ""
        self.name = f"{curve}{number}-differential privacy, {self.relation}"
        bound = f"e^{promise(self.promised)}"
        bound += f" ≈ {plain(math.exp(self.promised))}" if self.promised < 700 else ""
        slack = f" and adds at most δ = {self.slack} to it" if self.slack else ""
        multiplies = "multiplies the probability of any event by at most"
        self.promise = f"{self.changing} {multiplies} {bound}{slack}"

    def short(self, number: str) -> str:
        """Return epsilon, delta where there is one, and the curve of which they are a point."""
        point = f"{number}, δ = {self.slack}" if self.slack else number
        return f"{point} of {self.curve}" if self.curve else point

    def point(self, profile: Raw) -> tuple[float, float]:  # noqa: ARG002
        """Return the claim itself."""
        return self.claim["epsilon"], self.claim["delta"]

    def allowed(self, levels: Sequence[float]) -> list[float]:
        """Return two lines that meet at the diagonal, then 0."""
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

    def __init__(self, claim: Raw) -> None:
        super().__init__(claim)
        self.name = f"{promise(claim['mu'])}-Gaussian differential privacy, {self.relation}"
        laws = f"N(0, 1) and N({promise(claim['mu'])}, 1)"
        easier = "the outputs are no easier to tell apart than"
        self.promise = f"with {self.changed}, {easier} {laws}"

    def point(self, profile: Raw) -> tuple[float, float]:
        """Return the point at the profile's twelfth epsilon, its scale."""
        epsilon = float(profile["epsilon"][11])
        return epsilon, gaussian_delta(self.promised, epsilon)

    def allowed(self, levels: Sequence[float]) -> list[float]:
        """Return Phi(Phi^-1(1 - a) - mu)."""
        return [normal_below(normal_quantile(1 - a) - self.promised) for a in levels]

    def deltas(self, epsilon: Sequence[float]) -> list[float]:
        """Return delta(epsilon) of two normal laws."""
        return [gaussian_delta(self.promised, each) for each in epsilon]


class StabilityWords(Words):
    """Uniform stability of a label."""

    quantity = "change of a label's probability"
    unit = "change of a probability"
    number = "gamma"
    measured = ("Stability", "change of one answer's probability")
    single = True
    what = ("stability", "the probability of any label")

    def __init__(self, claim: Raw) -> None:
        super().__init__(claim)
        self.name = f"{promise(claim['gamma'])}-uniform {self.what[0]}, {self.relation}"
        self.promise = f"{self.changing} changes {self.what[1]} by at most {promise(self.promised)}"


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

    def __init__(self, claim: Raw) -> None:
        super().__init__(claim)
        self.numbers = [promise(claim[name]) for name in ("beta1", "beta2", "delta")]
        self.name = f"({', '.join(self.numbers)})-score stability, {self.relation}"
        beta1, beta2, delta = self.numbers
        self.promise = (
            "with the same random string on both sides, no training record moves the score by more "
            f"than {beta1} divided by the number of training records, and no validation record by "
            f"more than {beta2} divided by the number of validation records, except for a "
            f"proportion {delta} of the strings"
        )

    def short(self, number: str) -> str:
        """Return delta and both betas."""
        return f"δ = {number} (β₁ = {self.numbers[0]}, β₂ = {self.numbers[1]})"

    def at_most(self, found: float | None, upper: float | None) -> bool:  # noqa: ARG002
        """Return whether the proportion is proven to be next to nothing."""
        return bool(upper)


ERROR = "error"


class ErrorWords(Words):
    """A largest error, or excess error."""

    number = "bound"
    computed = True

    def __init__(self, claim: Raw) -> None:
        super().__init__(claim)
        self.quantity = self.unit = self.amount = "excess " * bool(claim.get("excess")) + ERROR
        self.name = f"{self.quantity} of at most {promise(claim['bound'])}"

    def short(self, number: str) -> str:
        """Return the bound."""
        return f"{self.quantity} ≤ {number}"

    def sentence(self, over: str) -> str:
        """Return what holds dataset by dataset."""
        return (
            f"{self.name.capitalize()}, on every dataset{over}. S and S' are audited separately. "
            f"The {self.quantity} is the {clean(self.claim['unit'])}."
        )

    def at_most(self, found: float | None, upper: float | None) -> bool:  # noqa: ARG002
        """Return whether an error is below 0."""
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
