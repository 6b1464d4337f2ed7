"""Profiles, and other numbers that are in force where nothing is said."""

from __future__ import annotations

from typing import Any

CONFIDENCE = 0.999
"""Of a whole run, by default."""
BUDGET = 20_000
"""Certification trials per side and finalist, by default."""
SHARD_TIMEOUT = 60.0
"""Seconds that a step of a user's code may take, by default."""
MEMORY = 4.0
"""GiB that a process of a user's code may take, by default."""

PROFILES: dict[str, dict[str, Any]] = {
    "quick": {
        "train": 100,
        "queries": 5,
        "train_queries": 5,
        "neighbours": "one+flip",
        "budget": BUDGET,
    },
    "default": {"train": 400, "queries": 20, "neighbours": "one+flip", "budget": BUDGET},
    "deep": {"train": 1000, "queries": 50, "neighbours": "one+flip", "budget": 200_000},
}
"""Sizes of everything that the user did not size. `quick` sees 1.5 times a claim of 1 through
answers of probability 0.4."""
