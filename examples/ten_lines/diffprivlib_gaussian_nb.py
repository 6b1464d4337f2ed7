"""diffprivlib 0.6.6: GaussianNB takes its classes from the data, and so breaks its claim.

This is a flaw of the release: a label that one record alone has is a class, or is none. The test
says so until it is repaired; then it fails. See arXiv 2602.17454.
"""

import numpy as np
from diffprivlib.models import GaussianNB

from dpassay.adapters import diffprivlib

data = np.linspace(0, 1, 12)[:, None], np.arange(12) % 3
bayes = GaussianNB(epsilon=1.0, bounds=(0.0, 1.0))
seen = diffprivlib.model(bayes, outputs=("classes_", "theta_"))


def test_the_classes_of_gaussian_nb_are_still_those_of_the_data(assay):
    case = assay(seen, claim=diffprivlib.claim(bayes), data=data, budget=200, search_seconds=5)
    assert case.verdict == "refuted"
