"""diffprivlib 0.6.6: the coefficients of a logistic regression keep epsilon = 1."""

import numpy as np
from diffprivlib.models import LogisticRegression

from dpassay.adapters import diffprivlib

data = np.linspace(0, 1, 12)[:, None], np.arange(12) % 2
logistic = LogisticRegression(epsilon=1.0, data_norm=1.0)
seen = diffprivlib.model(logistic, outputs=("coef_", "intercept_"))


def test_logistic_regression_keeps_its_claim(assay):
    case = assay(seen, claim=diffprivlib.claim(seen), data=data, budget=500, search_seconds=5)
    case.assert_not_refuted(detectable=4.0)
