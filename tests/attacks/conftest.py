"""No worker process outlives the test that hired it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpassay.attacks.experiment.models import dismiss


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    yield
    dismiss()
