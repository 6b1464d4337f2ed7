"""The built-in mechanisms: one table of entries.

`tests/mechanisms` tests every entry, also a new one, without being touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

FOLDER: Final = "dpassay.mechanisms"
SOURCES: Final = {
    "dwork_feldman_2018": "Dwork and Feldman 2018",
    "dagan_feldman_2020": "Dagan and Feldman 2020",
    "chaudhuri_vinterbo_2013": "Chaudhuri and Vinterbo 2013",
}
"""What is cited for an entry, by its folder, unless the entry says its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuted:
    """Which claims of an entry are known to be wrong: their refutation is a finding, not an alarm.

    This holds at the entry's parameters, and nothing is declared at others, except at those in
    `free`, on which the refutation does not depend. The number n of records is always free,
    unless the entry sets it.
    """

    status: str = "printed"  # of these claims
    kind: str = ""  # as a record names it; empty for all kinds
    free: tuple[str, ...] | None = ()  # None for all
    least_n: int = 1  # fewest records with which it holds

    def covers(self, status: str, kind: str) -> bool:
        """Return whether a claim of this status and this kind is meant."""
        return status == self.status and kind in (self.kind or kind)


PRINTED, OWN = Refuted(), Refuted(status="own")


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands behind a name of the command line.

    It is an algorithm, or a statement about one that is known to be false. `target` is
    `folder.file:Class` below `mechanisms/`, the file called as the entry is; or the name of an
    entry, whose class it takes. Without a `source` that of the folder or of this entry is cited.
    An entry is audited `alone`, on its own pairs only, if a part of it knows the number of records;
    so is every entry that sets `n`.
    """

    target: str
    _: KW_ONLY
    source: str = ""  # who published it, as the file's docstring cites it: 'Warner 1965'
    # what differs from the class's defaults
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    # what a run is expected to refute; the rest is expected to hold
    expected: Refuted | None = None
    finding: str = ""  # heading of the derivation in docs/findings.md
    alone: bool = False

    @property
    def address(self) -> str:
        """`module:Class`."""
        return f"{FOLDER}.{self.target}" if ":" in self.target else CATALOGUE[self.target].address

    @property
    def cited(self) -> str:
        """The source, also of an entry that takes another's class."""
        if self.source or ":" in self.target:
            return self.source or SOURCES[self.target.partition(".")[0]]
        return CATALOGUE[self.target].cited


CATALOGUE: dict[str, Entry] = {
    "soft-majority": Entry("dwork_feldman_2018.soft_majority:SoftMajority"),
    "soft-majority-overview": Entry(
        "dwork_feldman_2018.soft_majority_overview:SoftMajorityOverview",
        expected=Refuted(free=("partition", "learner")),
    ),
    "projected-walk": Entry("dwork_feldman_2018.projected_walk:ProjectedWalk"),
    "projected-walk-overview": Entry(
        "dwork_feldman_2018.projected_walk_overview:ProjectedWalkOverview",
        expected=Refuted(free=("feature", "ties")),
    ),
    "projected-walk-error": Entry("dwork_feldman_2018.projected_walk_error:ProjectedWalkError"),
    "projected-walk-risk": Entry("dwork_feldman_2018.projected_walk_risk:ProjectedWalkRisk"),
    "averaged": Entry("dwork_feldman_2018.averaged:Averaged"),
    "stable-laplace": Entry("dwork_feldman_2018.stable_laplace:StableLaplace"),
    "stable-gaussian": Entry("dwork_feldman_2018.stable_gaussian:StableGaussian"),
    "noisy-average": Entry("dwork_feldman_2018.noisy_average:NoisyAverage"),
    "noisy-average-number": Entry("dwork_feldman_2018.noisy_average_number:NoisyAverageNumber"),
    "erm-laplace": Entry("dwork_feldman_2018.erm_laplace:ErmLaplace"),
    "psgd-laplace": Entry(
        "dwork_feldman_2018.psgd_laplace:PsgdLaplace",
        expected=Refuted(free=("epsilon",), least_n=3),
    ),
    "interface": Entry("dwork_feldman_2018.interface:Interface"),
    "group": Entry("dwork_feldman_2018.group:Group"),
    "stable-learner": Entry("dagan_feldman_2020.stable_learner:StableLearner"),
    "subsampled": Entry("dagan_feldman_2020.subsampled:Subsampled"),
    "bagged": Entry("dagan_feldman_2020.bagged:Bagged"),
    "label-flip": Entry("dagan_feldman_2020.label_flip:LabelFlip"),
    "exponential": Entry("dagan_feldman_2020.exponential:Exponential"),
    "relabelled": Entry("dagan_feldman_2020.relabelled:Relabelled"),
    "histogram": Entry("chaudhuri_vinterbo_2013.histograms.histogram:Histogram"),
    "example61-exponential": Entry(
        "chaudhuri_vinterbo_2013.histograms.example61_exponential:Example61Exponential",
        expected=OWN,
    ),
    "example61-noisy-max": Entry(
        "chaudhuri_vinterbo_2013.histograms.example61_noisy_max:Example61NoisyMax"
    ),
    "pate": Entry("relatives.pate:Pate", source="Papernot et al. 2017"),
    "pate-data-dependent": Entry(
        "relatives.pate_data_dependent:PateDataDependent",
        source="Papernot et al. 2017",
        expected=Refuted(free=("learner",)),
    ),
    "pate-gaussian": Entry("relatives.pate_gaussian:PateGaussian", source="Papernot et al. 2018"),
    "private-knn": Entry("relatives.private_knn:PrivateKNN", source="Papernot et al. 2017"),
    "private-knn-gaussian": Entry(
        "relatives.private_knn_gaussian:PrivateKNNGaussian", source="Zhu et al. 2020"
    ),
    "distance-to-instability": Entry(
        "relatives.distance_to_instability:DistanceToInstability",
        source="Bassily, Thakkar and Thakurta 2018",
    ),
    "dp-sgd": Entry("relatives.dp_sgd:DPSGD", source="Abadi et al. 2016"),
    "randomised-majority": Entry(
        "relatives.randomised_majority:RandomisedMajority", source="Warner 1965"
    ),
    "objective-perturbation": Entry(
        "chaudhuri_vinterbo_2013.objective_perturbation:ObjectivePerturbation"
    ),
    "output-perturbation": Entry("chaudhuri_vinterbo_2013.output_perturbation:OutputPerturbation"),
    "validate": Entry("chaudhuri_vinterbo_2013.validate:Validate"),
    "validate-train": Entry("chaudhuri_vinterbo_2013.validate_train:ValidateTrain"),
    "alpha-split": Entry("chaudhuri_vinterbo_2013.alpha_split:AlphaSplit"),
    "data-split": Entry("chaudhuri_vinterbo_2013.data_split:DataSplit"),
    "random-choice": Entry("chaudhuri_vinterbo_2013.random_choice:RandomChoice"),
    "control": Entry(
        "chaudhuri_vinterbo_2013.control:Control", expected=Refuted(status="own", free=None)
    ),
}
"""Command-line name of an algorithm -> where it is and what is known of it."""

PARTS: tuple[Entry, ...] = (
    Entry("dwork_feldman_2018.boolean:Boolean"),
    Entry("dwork_feldman_2018.erm:ERM"),
    Entry("dwork_feldman_2018.psgd:PSGD", expected=Refuted(least_n=3)),
    Entry("chaudhuri_vinterbo_2013.perturbation:Perturbation"),
)
"""What entries are made of: algorithms with claims that a run without a target leaves out; they can
be named by their address."""


def _reading(
    target: str,
    finding: str,
    expected: Refuted = PRINTED,
    *,
    alone: bool = False,
    **parameters: float | str,
) -> Entry:
    """Return the entry of another at these parameters, with what is expected to be refuted."""
    return Entry(target, parameters=parameters, expected=expected, finding=finding, alone=alone)


# a table: what is read otherwise and where that is told, then at which parameters
# fmt: off
READINGS: dict[str, Entry] = {
    # by Dwork and Feldman in 2018
    "stable-laplace-printed-scale": _reading("stable-laplace", "The scale in Lemma 4.5",
        scale="printed", epsilon=0.5, r=1),
    "projected-walk-tied-in-order": _reading("projected-walk-error", "Ties in the projected walk",
        ties="index", n=8, T=1, epsilon=10.0),
    "projected-walk-tied-by-label": _reading("projected-walk-error", "Ties in the projected walk",
        ties="label", n=8, T=1, epsilon=10.0),
    "projected-walk-risk-tied-by-label": _reading("projected-walk-risk", "Theorem 5.3 with ties",
        ties="label", alpha=0.1, epsilon=0.5),
    "projected-walk-below": _reading("projected-walk-error", "Points smaller than x",
        traversed="below", n=7, T=1, epsilon=10.0),
    "classic-gaussian-above-1": _reading("stable-gaussian", "The classic Gaussian above 1", OWN,
        calibration="classic", epsilon=7.0, delta=0.01, r=1),
    "erm-regulariser-on-the-sum": _reading("erm-laplace", "The regulariser on the sum",
        regulariser="sum", n=5, lambda_=1.0),
    "psgd-plus-sign": _reading("psgd-laplace", "The sign in the update",
        sign="+", loss="squared", n=5),
    "psgd-in-random-order": _reading("psgd-laplace", "Corollary 4.13 in a random order",
        order="random", n=3, epsilon=5.0, threshold=0.2),
    # by Dagan and Feldman in 2020
    "label-flip-above-one-half": _reading("label-flip", "Corollary 1 above one half",
        Refuted(kind="DP"), epsilon=0.75, alpha=0.9, base="bagged,r=3"),
    "stable-learner-rounded-up": _reading("stable-learner", "The size of T rounded up",
        rounding="up", n=3, representative="adverse"),
    # by Chaudhuri and Vinterbo in 2013
    "example61-standard-deviation": _reading("example61-exponential", "The noise in section 6.1",
        scale="printed", n=3, m=0),
    "example61-half-scale": _reading("example61-exponential", "The noise in section 6.1", OWN,
        scale="noisy-max", n=1, m=0),
    "data-split-overlooked": _reading("data-split", "dataSplit with a record in T and V", OWN,
        base="output-perturbation,loss=huber,lambdas=4;4", m=2, V="overlooked"),
    "algorithm-3-hinge-loss": _reading("objective-perturbation", "Algorithm 3 with the hinge loss",
        OWN, loss="hinge", n=2, m=0),
    "algorithm-2-over-algorithm-3": _reading("validate-train", "Algorithm 2 over Algorithm 3",
        alone=True, base="objective-perturbation,loss=huber,lambdas=0.5;0.5,lambda_=0.5,n=3",
        alpha2=0.5, m=1, delta=1e-9, release="bins"),
    "theorem-4-score-at-zero": _reading("output-perturbation", "Theorem 4",
        Refuted(kind="ScoreStability"), loss="huber", g="hinge", lambdas="2", n=110),
    "theorem-4-lost-factor": _reading("objective-perturbation", "Theorem 4",
        Refuted(kind="ScoreStability"), loss="huber", g="logistic", lambdas="4", n=110),
    "equation-9-with-theorem-4": _reading("validate", "Equation 9", alone=True,
        base="output-perturbation,lambdas=1;1,g=hinge,loss=huber,n=3", alpha1=0.01, alpha2=2.0, m=2,
        delta=0.5, stability="printed", seed=5),
    # relatives of theirs
    "distance-by-margin": _reading("distance-to-instability", "Distance to instability", OWN,
        distance="margin", r=2),
}
# fmt: on
"""Name of a false statement, or of a reading that is false -> what is built, and what is known of
it."""

ENTRIES: dict[str, Entry] = CATALOGUE | READINGS
"""Every name that a run without a target audits."""
