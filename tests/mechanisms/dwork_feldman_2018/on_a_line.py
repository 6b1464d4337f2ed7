"""Datasets on a line as the twins have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.data import Labelled


def labelled(records: Sequence[tuple[float, int]]) -> Labelled:
    """From pairs (x, label)."""
    return Labelled(
        np.array([[x] for x, _ in records], dtype=float), np.array([y for _, y in records])
    )
