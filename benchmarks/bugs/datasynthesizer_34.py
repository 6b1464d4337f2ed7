"""DataResponsibly/DataSynthesizer 34: noise for probabilities on counts.

DataSynthesizer 0.1.4; 0.1.13, the control, is repaired. The noise of PrivBayes on the joint counts
has the scale that belongs to joint probabilities, 2 (d - k) / (n epsilon) in place of 2 (d - k) /
epsilon. Claimed: epsilon = 1 for the conditional distributions of a fixed network. True: about n
times that.

Both versions take the values of a column from the largest that occurs (arXiv 2405.10994), a leak of
its own, which `bare` shows. `release` and `control` add four public records, in which every value
occurs, so that this one is out of the way.

The noise of 0.1.13 has scale (d - k) / epsilon: it keeps epsilon where a record is added or
removed, and 2 epsilon where one is replaced.

Data: up to 100 records with a and b, 0 or 1. Answer: lists of probabilities by key.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from DataSynthesizer.lib.PrivBayes import construct_noisy_conditional_distributions

NETWORK = [("b", ["a"])]


PUBLIC = [{"a": a, "b": b} for a in (0, 1) for b in (0, 1)]


def release(data: Any) -> Any:
    """Return the noisy conditional distributions, of four public records besides."""
    return bare([*data, *PUBLIC])


def bare(data: Any) -> Any:
    """Return the noisy conditional distributions."""
    table = pd.DataFrame(data, columns=["a", "b"]).astype(int)
    return construct_noisy_conditional_distributions(NETWORK, table, 1.0)


control = release
