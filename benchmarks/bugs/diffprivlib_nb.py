"""arXiv 2602.17454 and IBM/differential-privacy-library 106 (open): classes come from the data.

diffprivlib 0.6.6. `GaussianNB` takes its classes from the labels that occur. Claimed: epsilon = 1.
True: without limit, a label that occurs on one side only is a class there only.

The control is the same release where the label is public and features alone are replaced. Two
doubts about the library are not examined: a class given to `partial_fit` that no record has keeps
theta_ = 0 without noise; where a label is replaced two classes change.

Data: records X with a feature in [0, 1], labels y. Answer: classes and means.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from diffprivlib.models import GaussianNB

warnings.simplefilter("ignore")


def release(data: Any) -> Any:
    """Return the classes and their noisy means."""
    X, y = np.array(data["X"], dtype=float), np.array(data["y"], dtype=int)
    model = GaussianNB(epsilon=1.0, bounds=(0.0, 1.0)).fit(X, y)
    return {"classes": model.classes_.tolist(), "theta": model.theta_.tolist()}


control = release
