"""Somebody else's project: a package `audit`, a folder `reports`, a label API, a test of it."""

from __future__ import annotations

from pathlib import Path

API = '''
import numpy as np


def predict(data, queries, size, rng):
    """The parity of the labels, flipped with probability 1 / (1 + e): the label of any record \
moves it."""
    p = 1 / (1 + np.exp({noise}))
    label = int(data.y.sum() % 2)
    return np.where(rng.random((size, len(queries))) < p, 1 - label, label)
'''
TEST = """
import numpy as np
import pytest
from audit.api import predict
from dpassay import DP, replace_one

X, y = np.zeros((5, 1)), np.array([0, 0, 0, 1, 1])


@pytest.mark.dpassay(budget=5000)
def test_label_api_keeps_its_epsilon(assay):
    found = assay(predict, claim=DP(epsilon=1.0), pairs=replace_one(X, y), queries=[[0.0]])
    found.assert_not_refuted(detectable=1.25)
"""
CONFIG = """
profile = "quick"
train = 20
queries = 1
neighbours = "flip"

[[mechanisms]]
target = "audit.api:predict"
name = "label api"
claim = { epsilon = 1.0 }
"""
GOOD, HALF = API.format(noise="1.0"), API.format(noise="2.0")
RAISES = "def predict(data, queries, size, rng):\n    raise KeyError('no model')\n"


def make_project(folder: Path) -> None:
    """Write the project, with a correct API."""
    for name, text in (
        ("audit/__init__.py", ""),
        ("audit/api.py", GOOD),
        ("tests/test_privacy.py", TEST),
        ("reports/notes.txt", "ours"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
