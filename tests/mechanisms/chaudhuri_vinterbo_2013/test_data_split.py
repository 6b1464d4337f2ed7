"""dataSplit where V is part of T: what is printed of it, and what the page says."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.mechanisms.chaudhuri_vinterbo_2013.data_split import DataSplit
from dpassay.stats.divergence import privacy_loss
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE

BASE = "output-perturbation,loss=huber,lambdas=4;4"
ROWS = re.findall(
    r"^\| data-split \| (\S+) \| (\d+) \| (\d) \| ([\d.]+) \| ([\d.]+) \| (\d) \|$",
    PAGE,
    re.MULTILINE,
)


def log_p_of(mechanism: DataSplit, y: tuple[int, ...]) -> Any:
    """All records at 1, asked there."""
    X = np.ones((len(y), 1))
    law = mechanism.distribution(mechanism.prepare(Labelled(X, np.array(y))), X[:1])
    assert law is not None
    return law.log_p


def worst_label(n: int, m: int) -> float:
    """Largest loss over all labels of n records and all flips of one in V."""
    mechanism = DataSplit(base=BASE, m=m, V="shared")
    laws = {y: log_p_of(mechanism, y) for y in itertools.product((0, 1), repeat=n)}
    flips = [
        (y, tuple(1 - b if i == at else b for i, b in enumerate(y)))
        for y in laws
        for at in range(n - m, n)
    ]
    return max(float(privacy_loss(laws[y], laws[other]).value.max()) for y, other in flips)


def test_by_hand() -> None:
    """Three records: both signs of both weights, and the choice."""
    rare, rarer, choice = math.exp(-0.5) / 2, math.exp(-1) / 2, 1 / (1 + math.e)
    before = rarer * rare + (rarer * (1 - rare) + (1 - rarer) * rare) * choice
    after = (rarer + 1 - rare) / 2
    shown = (rarer, rare, 1 - rare, 1 - rarer, choice, before, after, math.log(after / before))
    assert (
        " ".join(f"{p:.4f}" for p in shown)
        == "0.1839 0.3033 0.6967 0.8161 0.2689 0.1568 0.4403 1.0325"
    )
    mechanism: Any = resolve("data-split-overlooked").mechanism
    assert np.exp(log_p_of(mechanism, (0, 0, 0)))[0, 1] == pytest.approx(before, abs=1e-12)
    assert np.exp(log_p_of(mechanism, (0, 1, 0)))[0, 1] == pytest.approx(after, abs=1e-12)
    assert mechanism.pairs()[0].pairs.base.y.tolist() == [0, 0, 0]
    assert mechanism.pairs()[0].pairs.changes[0].index == 1


def test_no_fewer_records_and_no_other_labels_do_it() -> None:
    assert f"{max(worst_label(2, 1), worst_label(2, 2)):.4f}" == "0.8886"
    assert worst_label(3, 2) == pytest.approx(1.0325206518, abs=1e-9)


@pytest.mark.parametrize(("base", "m", "alpha", "few", "many", "claimed"), ROWS)
def test_the_page(base: str, m: str, alpha: str, few: str, many: str, claimed: str) -> None:
    mechanism = DataSplit(base=base, m=int(m), alpha=float(alpha), V="overlooked")
    printed, own = mechanism.claims
    result = audit(mechanism, claim=printed, mode="exact")
    assert result.evidence is not None
    assert [
        f"{cell.exact.value:.6f}" for cell in result.evidence.cells if cell.exact is not None
    ] == [few, many]
    assert f"{printed.promised:g}" == claimed
    assert result.verdict == "not refuted"
    assert audit(mechanism, claim=own, mode="exact").verdict == "refuted"


def test_what_is_claimed() -> None:
    assert len(ROWS) == 4
    claimed = {
        V: [(claim.promised, claim.status) for claim in DataSplit(V=V).claims]
        for V in ("apart", "shared", "overlooked")
    }
    assert claimed == {
        "apart": [(1.0, "printed")],
        "shared": [(2.0, "printed")],
        "overlooked": [(2.0, "printed"), (1.0, "own")],
    }


def test_a_shared_record_counts_in_both() -> None:
    """The sampler and the law: five records, the last two are V and in T."""
    data = Labelled(np.array([[1.0], [1.0], [-1.0], [1.0], [0.5]]), np.array([0, 1, 1, 1, 0]))
    state = DataSplit(base=BASE, m=2, V="shared").prepare(data)
    assert state.y.tolist() == [0, 1, 1, 1, 0, 1, 0]
    apart = DataSplit(base=BASE, m=2)
    assert apart.prepare(data).y.tolist() == data.y.tolist()


@pytest.mark.parametrize(
    ("V", "records", "text"),
    [("apart", 3, "m = 2"), ("shared", 1, "m = 2"), ("both", 3, "V = 'both'")],
)
def test_refused(V: Any, records: int, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        DataSplit(base=BASE, m=2, V=V).check(
            Labelled(np.ones((records, 1)), np.zeros(records, dtype=int))
        )
