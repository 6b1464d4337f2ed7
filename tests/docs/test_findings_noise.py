"""The tables on noise in docs/findings.md are held to what the code computes."""

from __future__ import annotations

import re

import pytest

from dpassay.api import audit
from dpassay.targets import resolve
from tests.docs.test_findings import PAGE

ROWS = re.findall(r"^\| ([a-z-]+) \| ([a-z]+=[^|]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)


def test_the_page_has_its_rows() -> None:
    assert len(ROWS) == 15


@pytest.mark.parametrize(("name", "parameters", "claimed", "true", "factor"), ROWS)
def test_row(name: str, parameters: str, claimed: str, true: str, factor: str) -> None:
    result = audit(resolve(name, dict(part.split("=") for part in parameters.split(","))).mechanism, mode="exact")
    assert result.exact is not None
    assert f"{result.claim.promised:g}" == claimed
    assert f"{result.exact:.6f}" == true
    assert f"{result.claim.promised / result.exact:.3f}" == factor
    assert result.verdict == ("refuted" if float(factor) < 1 else "not refuted")
