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
    "objective-perturbation": "dpassay.mechanisms.objective_perturbation:ObjectivePerturbation",
    "output-perturbation": "dpassay.mechanisms.output_perturbation:OutputPerturbation",
}
"""Command-line name -> module:object."""
