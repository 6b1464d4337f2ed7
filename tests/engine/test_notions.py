"""Both notions: what the claim is not about is measured, with a witness, where the law is known."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.claims import DP, Stability
from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.engine.verdicts import Verdict
from dpassay.record.files import witness_file
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.reports.run.findings import notions_table
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve
from tests.core.toys import Sampled, TableMechanism, WithWorstCase, flip_group, target_of
from tests.engine.recorded import evidence_of, recorded

TABLE = ((0.75, 0.25), (0.5, 0.5))
NEVER = ((1.0, 0.0), (0.9, 0.1))


def measured(result: Result) -> Result:
    found = result.measured
    assert found is not None
    return found


def run(mechanism: TableMechanism, claim: DP | Stability | None = None, **more: Any) -> Result:
    group = flip_group()
    return audit(mechanism, claim=claim, pairs=group.pairs, queries=group.queries, **more)


def enumerated(target: AuditTarget, domain: Domain) -> Result:
    (result,) = assay([target], None, Settings(mode="exhaustive", domain=domain))
    return measured(result)


@pytest.mark.parametrize(
    ("claim", "kind", "exact"),
    [(None, Stability, 0.25), (Stability(gamma=0.25), DP, math.log(2))],
)
def test_one_notion_is_measured_where_the_other_is_claimed(
    claim: Stability | None, kind: type, exact: float
) -> None:
    other = measured(run(TableMechanism(table=TABLE), claim))
    assert isinstance(other.claim, kind)
    assert other.exact == pytest.approx(exact, abs=1e-12)


def test_an_infinite_loss_has_a_witness_that_replays_and_is_no_refutation() -> None:
    group = flip_group()
    result = run(TableMechanism(table=NEVER), Stability(gamma=0.2))
    other = measured(result)
    assert result.verdict == "not refuted"
    assert other.exact == math.inf
    witness = make_witness(other)
    assert witness is not None
    assert (witness["loss"], witness["p0"], witness["event"]) == ("inf", 0, [1])
    assert witness["p1"] == pytest.approx(0.1)
    again = replay(witness, target=target_of(TableMechanism(table=NEVER)), group=group)
    assert again.reproduced
    assert not again.refuted


def test_claims_of_one_kind_share_what_is_measured() -> None:
    targets = [resolve("averaged"), resolve("noisy-average")]
    first, *results = assay(targets, flip_group(30), Settings())
    assert first.measured is None
    others = [measured(result) for result in results]
    assert len(others) > 1
    assert len({id(other.evidence) for other in others}) == 1


def test_nothing_is_measured_without_a_law() -> None:
    assert run(Sampled(table=TABLE), budget=200).measured is None


def test_an_enumerated_domain_is_measured_too() -> None:
    other = enumerated(resolve("soft-majority", {"r": 3}), Domain(n=3, points=1))
    assert other.exact == pytest.approx(math.tanh(1 / 4), abs=1e-12)  # from 1 to 2 of 3 votes
    any_size = evidence_of(other).any_size
    assert any_size is not None
    assert any_size.loss == pytest.approx(math.tanh(1 / 4), abs=1e-12)


def test_an_infinite_loss_outside_of_the_domain_is_found_at_the_own_worst_case() -> None:
    mechanism = WithWorstCase(table=((0.5, 0.5), (0.25, 0.75)))
    other = enumerated(target_of(mechanism), Domain(n=1, points=1))
    assert other.exact == pytest.approx(0.25, abs=1e-12)


def test_the_record_holds_both_and_the_report_puts_them_side_by_side() -> None:
    results = [
        run(TableMechanism(table=NEVER), Stability(gamma=0.2)),
        run(TableMechanism(table=TABLE)),
    ]
    record = recorded(results, 0.95)
    table = notions_table(record["results"][:1])
    (row,) = table.rows
    own, other = witness_file(results[0].id), witness_file(f"{results[0].id}.epsilon")
    assert row[1:] == ("single prediction", "–", "∞", other, "γ = 0.2, own", "≥ 0.099999", own)
    none = {**record["results"][0], "other": None}
    assert not notions_table([none])


def test_the_notion_that_is_measured_keeps_the_relation_and_can_hold_anything() -> None:
    other = Stability(gamma=0.1, relation="replace-3", expected="refuted").beside()
    assert isinstance(other, DP)
    assert (other.relation, other.status, other.expected) == ("replace-3", "measured", None)


def test_an_error_has_nothing_measured() -> None:
    result = run(TableMechanism(table=TABLE))
    broken = Result(
        id="x", target=result.target, claim=result.claim, mode=None, evidence=None, seed=0, draws=0,
        outcome=Verdict(word="error", reason="none"),
    )  # fmt: skip
    assert broken.measured is None
