"""Where modules lay before dpassay 0.2: old addresses lead to them.

Names in records and random streams stay as they were.
"""

from __future__ import annotations

MOVED = {
    "alpha_split": "chaudhuri_vinterbo_2013.alpha_split",
    "auc": "chaudhuri_vinterbo_2013.auc",
    "averaged": "dwork_feldman_2018.averaged",
    "bagged": "dagan_feldman_2020.bagged",
    "bases": "shared.bases",
    "binned": "chaudhuri_vinterbo_2013.histograms.binned",
    "boolean": "dwork_feldman_2018.boolean",
    "choices": "chaudhuri_vinterbo_2013.choices",
    "classes": "shared.classes",
    "control": "chaudhuri_vinterbo_2013.control",
    "crossings": "chaudhuri_vinterbo_2013.crossings",
    "data_split": "chaudhuri_vinterbo_2013.data_split",
    "densities": "chaudhuri_vinterbo_2013.histograms.densities",
    "distance_to_instability": "relatives.distance_to_instability",
    "erm": "dwork_feldman_2018.erm",
    "erm_class": "shared.erm_class",
    "erm_laplace": "dwork_feldman_2018.erm_laplace",
    "example61": "chaudhuri_vinterbo_2013.histograms.example61",
    "example61_exponential": "chaudhuri_vinterbo_2013.histograms.example61_exponential",
    "example61_noisy_max": "chaudhuri_vinterbo_2013.histograms.example61_noisy_max",
    "exponential": "dagan_feldman_2020.exponential",
    "functions_law": "dagan_feldman_2020.functions_law",
    "group": "dwork_feldman_2018.group",
    "histogram": "chaudhuri_vinterbo_2013.histograms.histogram",
    "interface": "dwork_feldman_2018.interface",
    "label_flip": "dagan_feldman_2020.label_flip",
    "learners": "shared.learners",
    "line_loss": "chaudhuri_vinterbo_2013.line_loss",
    "linear": "shared.linear",
    "losses": "dwork_feldman_2018.losses",
    "margin_losses": "chaudhuri_vinterbo_2013.margin_losses",
    "noisy": "dwork_feldman_2018.noisy",
    "noisy_average": "dwork_feldman_2018.noisy_average",
    "noisy_average_number": "dwork_feldman_2018.noisy_average_number",
    "noisy_max": "shared.noisy_max",
    "objective_perturbation": "chaudhuri_vinterbo_2013.objective_perturbation",
    "output_perturbation": "chaudhuri_vinterbo_2013.output_perturbation",
    "pate": "relatives.pate",
    "pate_data_dependent": "relatives.pate_data_dependent",
    "pate_gaussian": "relatives.pate_gaussian",
    "perturbation": "chaudhuri_vinterbo_2013.perturbation",
    "perturbation_scores": "chaudhuri_vinterbo_2013.perturbation_scores",
    "perturbed": "chaudhuri_vinterbo_2013.perturbed",
    "predictors": "shared.predictors",
    "private_knn": "relatives.private_knn",
    "projected_walk": "dwork_feldman_2018.projected_walk",
    "projected_walk_error": "dwork_feldman_2018.projected_walk_error",
    "projected_walk_overview": "dwork_feldman_2018.projected_walk_overview",
    "projected_walk_risk": "dwork_feldman_2018.projected_walk_risk",
    "psgd": "dwork_feldman_2018.psgd",
    "psgd_laplace": "dwork_feldman_2018.psgd_laplace",
    "random_choice": "chaudhuri_vinterbo_2013.random_choice",
    "random_sums": "dagan_feldman_2020.random_sums",
    "relabelled": "dagan_feldman_2020.relabelled",
    "relabelled_bounds": "dagan_feldman_2020.relabelled_bounds",
    "relabelling": "dagan_feldman_2020.relabelling",
    "released": "chaudhuri_vinterbo_2013.released",
    "score_mixtures": "chaudhuri_vinterbo_2013.score_mixtures",
    "selection": "chaudhuri_vinterbo_2013.selection",
    "soft_majority": "dwork_feldman_2018.soft_majority",
    "soft_majority_overview": "dwork_feldman_2018.soft_majority_overview",
    "solver": "dwork_feldman_2018.solver",
    "stable_draws": "dagan_feldman_2020.stable_draws",
    "stable_gaussian": "dwork_feldman_2018.stable_gaussian",
    "stable_laplace": "dwork_feldman_2018.stable_laplace",
    "stable_learner": "dagan_feldman_2020.stable_learner",
    "stable_worst": "dagan_feldman_2020.stable_worst",
    "subsampled": "dagan_feldman_2020.subsampled",
    "subset_draws": "dagan_feldman_2020.subset_draws",
    "subset_laws": "dagan_feldman_2020.subset_laws",
    "subsets": "dagan_feldman_2020.subsets",
    "teachers": "shared.teachers",
    "threshold_law": "dagan_feldman_2020.threshold_law",
    "threshold_subsets": "dagan_feldman_2020.threshold_subsets",
    "trainers": "chaudhuri_vinterbo_2013.trainers",
    "unions": "dwork_feldman_2018.unions",
    "validate": "chaudhuri_vinterbo_2013.validate",
    "validate_train": "chaudhuri_vinterbo_2013.validate_train",
    "validation_pairs": "chaudhuri_vinterbo_2013.validation_pairs",
    "vc": "shared.vc",
}
"""Old name and new one, both below `dpassay.mechanisms`."""
_OTHERS = {
    "dpassay.mechanism.function": "dpassay.mechanism",
    "dpassay.selftest.known": "dpassay.rehearsal",
}
_BEFORE = {
    f"dpassay.mechanisms.{new}": f"dpassay.mechanisms.{old}" for old, new in MOVED.items()
} | _OTHERS


def known_as(module: str) -> str:
    """Return the name by which records and random streams know a module.

    That of before the move, if it is one of ours.
    """
    return _BEFORE.get(module, module)
