"""diffprivlib 0.6.6: the coefficient of a logistic regression keeps epsilon = 1 of a feature.

Labels are public here: a dataset of one class raises an exception, so that a label that is replaced
is seen at once. A fit takes 10 milliseconds, a search and its certificate some 12,000 fits. So few
runs see large leaks alone, and the test asks no more than `assay` does by itself: that the claim
could be audited and is not refuted.
"""

import numpy as np
from diffprivlib.models import LogisticRegression

from dpassay import Tables
from dpassay.adapters import diffprivlib


def other(data):
    return np.vstack([1 - data.X[:1], data.X[1:]]), data.y


seen = diffprivlib.model(LogisticRegression(data_norm=1.0, fit_intercept=False), ("coef_",))
space = Tables((np.eye(6)[:, :1], np.arange(6) % 2), relation="own", neighbour=other)


def test_logistic_regression_keeps_its_claim(assay):
    assay(seen, claim=diffprivlib.claim(seen), data=space, budget=300, search_seconds=5)
