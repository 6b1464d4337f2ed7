"""docs/zoo.md is held to what the code says and tests/mechanisms/test_broken.py computes."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from dpassay.data import Labelled
from dpassay.mechanisms.broken.specimen import Specimen
from dpassay.mechanisms.broken.zoo import specimens
from dpassay.stats.power import power
from tests.mechanisms.test_broken import BROKEN, LOSSES, WORDS

PAGE = (Path(__file__).parents[2] / "docs" / "zoo.md").read_text(encoding="utf-8")
MEMBERS = specimens()


def number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4f}"


def dataset(data: Any) -> str:
    if isinstance(data, Labelled):
        each = zip(data.X[:, 0].tolist(), data.y.tolist(), strict=True)
        return " ".join(f"{x:g}:{y}" for x, y in each)
    return " ".join(f"{value:g}" for value in data)


def row(member: Specimen) -> str:
    """What went wrong, and how much it costs."""
    cells = (
        f"`{member.name}`",
        member.wrong,
        member.source,
        f"{member.claim.epsilon:g}",
        number(member.true_loss),
        number(member.twin_loss),
    )
    return f"| {' | '.join(cells)} |"


def shown(member: Specimen) -> str:
    """What shows it on the known pair."""
    one, other = BROKEN[member.name].chances(member.claim.epsilon)
    assert other is not None
    base, neighbour = (dataset(data) for data in member.known_pair)
    asked = "" if member.known_query is None else f", asked at {member.known_query[0, 0]:g}"
    cells = (
        f"`{member.name}`",
        f"{base} → {neighbour}{asked}",
        number(loss(member)),
        WORDS[member.name],
        "not computed" if one is None else f"{one:.3g}",
        f"{other:.3g}",
    )
    return f"| {' | '.join(cells)} |"


def loss(member: Specimen) -> float:
    """Loss on the known pair, computed without the member's own formula."""
    found = LOSSES[member.name][0]
    if found is None:
        return math.inf
    return found(*member.known_pair, member.claim.epsilon, member.known_query)


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: str(member.name))
def test_the_page_has_its_rows(member: Specimen) -> None:
    assert row(member) in PAGE
    assert shown(member) in PAGE


def test_the_page_has_no_other_rows() -> None:
    names = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)
    assert names == [member.name for member in MEMBERS] * 2
    assert f"{len(MEMBERS)} mechanisms" in PAGE


def test_the_truncated_geometric_needs_many_trials() -> None:
    p, q = BROKEN["truncated-geometric"].chances(0.1)
    assert p is not None
    assert q is not None
    found = power(p, q, epsilon=0.1, delta=0.0, n=100_000, alpha=1e-3, method="stouffer")
    assert 0.7 < found < 0.9
    assert f"{math.log(p / q) - 0.1:.4f} more than it claims" in PAGE
