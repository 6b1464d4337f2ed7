"""The built-in mechanisms: one explicit table, held against the folder by a test; and readings of them that are false."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CATALOGUE = {
    "soft-majority": "dpassay.mechanisms.dwork_feldman_2018.soft_majority:SoftMajority",
    "soft-majority-overview": "dpassay.mechanisms.dwork_feldman_2018.soft_majority_overview:SoftMajorityOverview",
    "projected-walk": "dpassay.mechanisms.dwork_feldman_2018.projected_walk:ProjectedWalk",
    "projected-walk-overview": "dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview:ProjectedWalkOverview",
    "projected-walk-error": "dpassay.mechanisms.dwork_feldman_2018.projected_walk_error:ProjectedWalkError",
    "projected-walk-risk": "dpassay.mechanisms.dwork_feldman_2018.projected_walk_risk:ProjectedWalkRisk",
    "averaged": "dpassay.mechanisms.dwork_feldman_2018.averaged:Averaged",
    "stable-laplace": "dpassay.mechanisms.dwork_feldman_2018.stable_laplace:StableLaplace",
    "stable-gaussian": "dpassay.mechanisms.dwork_feldman_2018.stable_gaussian:StableGaussian",
    "noisy-average": "dpassay.mechanisms.dwork_feldman_2018.noisy_average:NoisyAverage",
    "noisy-average-number": "dpassay.mechanisms.dwork_feldman_2018.noisy_average_number:NoisyAverageNumber",
    "erm-laplace": "dpassay.mechanisms.dwork_feldman_2018.erm_laplace:ErmLaplace",
    "psgd-laplace": "dpassay.mechanisms.dwork_feldman_2018.psgd_laplace:PsgdLaplace",
    "interface": "dpassay.mechanisms.dwork_feldman_2018.interface:Interface",
    "group": "dpassay.mechanisms.dwork_feldman_2018.group:Group",
    "stable-learner": "dpassay.mechanisms.dagan_feldman_2020.stable_learner:StableLearner",
    "subsampled": "dpassay.mechanisms.dagan_feldman_2020.subsampled:Subsampled",
    "bagged": "dpassay.mechanisms.dagan_feldman_2020.bagged:Bagged",
    "label-flip": "dpassay.mechanisms.dagan_feldman_2020.label_flip:LabelFlip",
    "exponential": "dpassay.mechanisms.dagan_feldman_2020.exponential:Exponential",
    "relabelled": "dpassay.mechanisms.dagan_feldman_2020.relabelled:Relabelled",
    "histogram": "dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.histogram:Histogram",
    "example61-exponential": "dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_exponential:Example61Exponential",
    "example61-noisy-max": "dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_noisy_max:Example61NoisyMax",
    "pate": "dpassay.mechanisms.relatives.pate:Pate",
    "pate-data-dependent": "dpassay.mechanisms.relatives.pate_data_dependent:PateDataDependent",
    "pate-gaussian": "dpassay.mechanisms.relatives.pate_gaussian:PateGaussian",
    "private-knn": "dpassay.mechanisms.relatives.private_knn:PrivateKNN",
    "distance-to-instability": "dpassay.mechanisms.relatives.distance_to_instability:DistanceToInstability",
    "objective-perturbation": "dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation:ObjectivePerturbation",
    "output-perturbation": "dpassay.mechanisms.chaudhuri_vinterbo_2013.output_perturbation:OutputPerturbation",
    "validate": "dpassay.mechanisms.chaudhuri_vinterbo_2013.validate:Validate",
    "validate-train": "dpassay.mechanisms.chaudhuri_vinterbo_2013.validate_train:ValidateTrain",
    "alpha-split": "dpassay.mechanisms.chaudhuri_vinterbo_2013.alpha_split:AlphaSplit",
    "data-split": "dpassay.mechanisms.chaudhuri_vinterbo_2013.data_split:DataSplit",
    "random-choice": "dpassay.mechanisms.chaudhuri_vinterbo_2013.random_choice:RandomChoice",
    "control": "dpassay.mechanisms.chaudhuri_vinterbo_2013.control:Control",
}
"""Command-line name -> module:object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A mechanism at parameters where a printed statement, or a reading of one, is known to be false.

    Parameters
    ----------
    target : str
        The catalogue's name of the mechanism.
    parameters : mapping
        What differs from the mechanism's defaults. At other parameters nothing is declared.
    refuted : tuple of str
        Statuses of the claims that are known to be wrong there: the refutation is then a finding, not an alarm.
    kinds : tuple of str
        Kinds of these claims, as a record names them; empty for all of them.
    finding : str
        Heading of the derivation in docs/findings.md.
    alone : bool
        Whether it is asked about its own pairs only, since a part of it knows the number of records; so is every reading that
        fixes `n`.
    """

    target: str
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    refuted: tuple[str, ...] = ("printed",)
    kinds: tuple[str, ...] = ()
    finding: str
    alone: bool = False

    def knows(self, status: str, kind: str) -> bool:
        """Whether claims of this status and this kind are known to be wrong."""
        return status in self.refuted and (not self.kinds or kind in self.kinds)


READINGS = {
    # by Dwork and Feldman in 2018
    "stable-laplace-printed-scale": Reading(
        target="stable-laplace",
        parameters={"scale": "printed", "epsilon": 0.5, "r": 1},
        finding="The scale in Lemma 4.5",
    ),
    "projected-walk-tied-in-order": Reading(
        target="projected-walk-error",
        parameters={"ties": "index", "n": 8, "T": 1, "epsilon": 10.0},
        finding="Ties in the projected walk",
    ),
    "projected-walk-tied-by-label": Reading(
        target="projected-walk-error",
        parameters={"ties": "label", "n": 8, "T": 1, "epsilon": 10.0},
        finding="Ties in the projected walk",
    ),
    "projected-walk-risk-tied-by-label": Reading(
        target="projected-walk-risk",
        parameters={"ties": "label", "alpha": 0.1, "epsilon": 0.5},
        finding="Theorem 5.3 with ties",
    ),
    "projected-walk-below": Reading(
        target="projected-walk-error",
        parameters={"traversed": "below", "n": 7, "T": 1, "epsilon": 10.0},
        finding="Points smaller than x",
    ),
    "classic-gaussian-above-1": Reading(
        target="stable-gaussian",
        parameters={"calibration": "classic", "epsilon": 7.0, "delta": 0.01, "r": 1},
        refuted=("own",),
        finding="The classic Gaussian above 1",
    ),
    "erm-regulariser-on-the-sum": Reading(
        target="erm-laplace",
        parameters={"regulariser": "sum", "n": 5, "lambda_": 1.0},
        finding="The regulariser on the sum",
    ),
    "psgd-plus-sign": Reading(
        target="psgd-laplace",
        parameters={"sign": "+", "loss": "squared", "n": 5},
        finding="The sign in the update",
    ),
    "psgd-in-random-order": Reading(
        target="psgd-laplace",
        parameters={"order": "random", "n": 3, "epsilon": 5.0, "threshold": 0.2},
        finding="Corollary 4.13 in a random order",
    ),
    # by Dagan and Feldman in 2020
    "label-flip-above-one-half": Reading(
        target="label-flip",
        parameters={"epsilon": 0.75, "alpha": 0.9, "base": "bagged,r=3"},
        kinds=("DP",),
        finding="Corollary 1 above one half",
    ),
    "stable-learner-rounded-up": Reading(
        target="stable-learner",
        parameters={"rounding": "up", "n": 3, "representative": "adverse"},
        finding="The size of T rounded up",
    ),
    # by Chaudhuri and Vinterbo in 2013
    "example61-standard-deviation": Reading(
        target="example61-exponential",
        parameters={"scale": "printed", "n": 3, "m": 0},
        finding="The noise in section 6.1",
    ),
    "example61-half-scale": Reading(
        target="example61-exponential",
        parameters={"scale": "noisy-max", "n": 1, "m": 0},
        refuted=("own",),
        finding="The noise in section 6.1",
    ),
    "data-split-overlooked": Reading(
        target="data-split",
        parameters={"base": "output-perturbation,loss=huber,lambdas=4;4", "m": 2, "V": "overlooked"},
        refuted=("own",),
        finding="dataSplit with a record in T and V",
    ),
    "algorithm-3-hinge-loss": Reading(
        target="objective-perturbation",
        parameters={"loss": "hinge", "n": 2, "m": 0},
        refuted=("own",),
        finding="Algorithm 3 with the hinge loss",
    ),
    "algorithm-2-over-algorithm-3": Reading(
        target="validate-train",
        parameters={
            "base": "objective-perturbation,loss=huber,lambdas=0.5;0.5,lambda_=0.5,n=3",
            "alpha2": 0.5,
            "m": 1,
            "delta": 1e-9,
            "release": "bins",
        },
        finding="Algorithm 2 over Algorithm 3",
        alone=True,
    ),
    "theorem-4-score-at-zero": Reading(
        target="output-perturbation",
        parameters={"loss": "huber", "g": "hinge", "lambdas": "2", "n": 110},
        kinds=("ScoreStability",),
        finding="Theorem 4",
    ),
    "theorem-4-lost-factor": Reading(
        target="objective-perturbation",
        parameters={"loss": "huber", "g": "logistic", "lambdas": "4", "n": 110},
        kinds=("ScoreStability",),
        finding="Theorem 4",
    ),
    "equation-9-with-theorem-4": Reading(
        target="validate",
        parameters={
            "base": "output-perturbation,lambdas=1;1,g=hinge,loss=huber,n=3",
            "alpha1": 0.01,
            "alpha2": 2.0,
            "m": 2,
            "delta": 0.5,
            "stability": "printed",
            "seed": 5,
        },
        finding="Equation 9",
        alone=True,
    ),
    # relatives of theirs
    "distance-by-margin": Reading(
        target="distance-to-instability",
        parameters={"distance": "margin", "r": 2},
        refuted=("own",),
        finding="Distance to instability",
    ),
}
"""Name of a reading -> what is built, and what is known of it."""

ENTRIES = (*CATALOGUE, *READINGS)
"""Every name that a run without a target audits."""
