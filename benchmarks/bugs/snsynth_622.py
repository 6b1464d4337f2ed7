"""opendp/smartnoise-sdk 622 (closed): the clipped copy is not used.

smartnoise-synth 1.0.4; 1.0.8, the control, is repaired. `DPcovariance.release` clips a copy and
takes the covariance of the data as they came. Claimed: epsilon = 1. True: without limit; a record
outside of the bounds, which are an argument of the mechanism, moves the answer as far as it likes.

Data: 50 records with floats x and y. Answer: three floats.
"""

from __future__ import annotations

import importlib.util
import site
from typing import Any

import pandas as pd

PARTS = "/snsynth/models/dp_covariance.py"
SPEC: Any = importlib.util.spec_from_file_location(
    "dp_covariance", site.getsitepackages()[0] + PARTS
)
MODULE = importlib.util.module_from_spec(SPEC)  # alone: the package imports torch
SPEC.loader.exec_module(MODULE)
BOUNDS = pd.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]})


def release(data: Any) -> Any:
    """Return the noisy covariance, its lower triangle."""
    model = MODULE.DPcovariance(len(data), ["x", "y"], BOUNDS.copy(), 1.0)
    return [float(each) for each in model.release(pd.DataFrame(data, columns=["x", "y"]))]


control = release
