"""Witnesses of what has coins of its own: certified again, on fresh trials."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Mechanism, PredictionStability, Scalars, audit, replace_one
from dpassay.claims import Claim
from dpassay.cli.main import main
from dpassay.engine.result import Result
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness, read_witness, witness_fault
from dpassay.reports.run.words import replay_of
from dpassay.testing import assayed
from tests.core.toys import target_of
from tests.targets.foreign.servers import LAPLACE, server

OWN = LAPLACE.replace('random.Random(asked["seed"])', "random.SystemRandom()").replace(
    "serve(answer)", "serve(answer, seeded=False)"
)
FLAWED = OWN.replace("lambda: ", "lambda: 0.3 * ")
COINS = random.SystemRandom()


@pytest.mark.slow
def test_an_unseeded_program_is_certified_again_until_it_is_repaired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the bound of the record, at its confidence; also a witness of before these replays."""
    file, data = tmp_path / "w.json", Scalars(0, 1)
    given: dict[str, Any] = {"claim": DP(epsilon=1.0), "budget": 1000, "stop_early": False}
    found = assayed(server(tmp_path, FLAWED), path=file, rerun="", data=data, **given)
    with pytest.raises(AssertionError, match=r"dpassay replay \S*w\.json --trust"):
        found.assert_not_refuted()
    witness, bound = read_witness(file), found.evidence.worst.lower
    assert witness["trials"]["own_coins"] == {"alpha": bound.alpha, "method": bound.method}
    assert bound.alpha == pytest.approx(0.001)
    assert replay_of(witness, "x").endswith("x.json --trust")
    listed = witness | {"target": "soft-majority", "parameters": {}}
    assert not replay_of(listed, "x").endswith("--trust")

    old = {key: each for key, each in witness["trials"].items() if key != "own_coins"}
    again = replay(witness | {"trials": old}, trusted=True)
    assert (again.fresh, again.reproduced, again.refuted) == (True, True, True)
    assert 1 < again.loss < 1 / 0.3
    assert main(["replay", str(file), "--trust"]) == 1
    said = capsys.readouterr().out
    assert "\nreproduced: on fresh trials the loss is at least " in said
    assert said.endswith(", the claim allows 1\n")
    server(tmp_path, OWN)
    assert main(["replay", str(file), "--trust"]) == 3
    said = capsys.readouterr().out
    assert "\nnot reproduced: on fresh trials the loss is at least 0" in said
    assert ", recorded " in said


class Own(Mechanism):
    """The parity of the labels, flipped by coins that nobody seeds."""

    seeded = False
    claims: tuple[Claim, ...] = (DP(epsilon=1.0),)
    lie = 0.05

    def sample(self, state: Any, queries: Any, size: int, rng: Any) -> Any:
        flips = [COINS.random() < self.lie for _ in range(size)]
        return (np.array(flips)[:, None] ^ (state.y.sum() % 2 == 1)).astype(int)


class Mean(Own):
    """The same as a number in [0, 1]."""

    claims: tuple[Claim, ...] = (PredictionStability(gamma=0.5),)
    numbers = (0.0, 1.0)

    def sample(self, state: Any, queries: Any, size: int, rng: Any) -> Any:
        return super().sample(state, queries, size, rng).astype(float)


def audited(mechanism: Mechanism) -> Result:
    pairs = replace_one(np.zeros((4, 1)), [0, 1, 0, 1])
    how: dict[str, Any] = {"budget": 1000, "stop_early": False, "executor": "inline"}
    return audit(mechanism, pairs=pairs, queries=[[0.0]], **how)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Own, Mean])
def test_labels_and_means_are_certified_again_too(kind: type[Own]) -> None:
    """What was not refuted is reproduced as long as it still is not."""
    flawed, repaired = kind(), kind()
    repaired.lie = 0.45
    for one, other in ((flawed, repaired), (repaired, flawed)):
        result = audited(one)
        assert (result.verdict == "refuted") == (one is flawed)
        assert result.evidence is not None
        witness = make_witness(result)
        assert witness is not None
        assert not witness_fault(witness)
        group = result.evidence.groups[0]
        found = replay(witness, target=result.target, group=group)
        assert found.fresh
        assert one is repaired or found.loss == pytest.approx(witness["loss"], rel=0.3)
        assert (found.reproduced, found.refuted) == (True, one is flawed)
        found = replay(witness, target=target_of(other), group=group)
        assert (found.reproduced, found.refuted) == (False, one is repaired)
