"""The built-in mechanisms: one explicit table, held against the folder by a test."""

from __future__ import annotations

CATALOGUE = {
    "soft-majority": "dpassay.mechanisms.soft_majority:SoftMajority",
    "soft-majority-overview": "dpassay.mechanisms.soft_majority_overview:SoftMajorityOverview",
    "projected-walk": "dpassay.mechanisms.projected_walk:ProjectedWalk",
    "projected-walk-overview": "dpassay.mechanisms.projected_walk_overview:ProjectedWalkOverview",
    "averaged": "dpassay.mechanisms.averaged:Averaged",
    "stable-laplace": "dpassay.mechanisms.stable_laplace:StableLaplace",
    "stable-gaussian": "dpassay.mechanisms.stable_gaussian:StableGaussian",
    "noisy-average": "dpassay.mechanisms.noisy_average:NoisyAverage",
    "noisy-average-number": "dpassay.mechanisms.noisy_average_number:NoisyAverageNumber",
    "erm-laplace": "dpassay.mechanisms.erm_laplace:ErmLaplace",
    "psgd-laplace": "dpassay.mechanisms.psgd_laplace:PsgdLaplace",
    "interface": "dpassay.mechanisms.interface:Interface",
    "group": "dpassay.mechanisms.group:Group",
    "stable-learner": "dpassay.mechanisms.stable_learner:StableLearner",
    "subsampled": "dpassay.mechanisms.subsampled:Subsampled",
    "bagged": "dpassay.mechanisms.bagged:Bagged",
    "label-flip": "dpassay.mechanisms.label_flip:LabelFlip",
    "exponential": "dpassay.mechanisms.exponential:Exponential",
    "relabelled": "dpassay.mechanisms.relabelled:Relabelled",
    "histogram": "dpassay.mechanisms.histogram:Histogram",
    "example61-exponential": "dpassay.mechanisms.example61_exponential:Example61Exponential",
    "example61-noisy-max": "dpassay.mechanisms.example61_noisy_max:Example61NoisyMax",
    "pate": "dpassay.mechanisms.pate:Pate",
    "pate-data-dependent": "dpassay.mechanisms.pate_data_dependent:PateDataDependent",
    "pate-gaussian": "dpassay.mechanisms.pate_gaussian:PateGaussian",
    "private-knn": "dpassay.mechanisms.private_knn:PrivateKNN",
    "distance-to-instability": "dpassay.mechanisms.distance_to_instability:DistanceToInstability",
    "objective-perturbation": "dpassay.mechanisms.objective_perturbation:ObjectivePerturbation",
    "output-perturbation": "dpassay.mechanisms.output_perturbation:OutputPerturbation",
}
"""Command-line name -> module:object."""
