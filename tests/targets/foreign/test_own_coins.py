"""Witnesses of what has coins of its own: certified again, on fresh trials."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Mechanism, PredictionStability, Scalars, audit, replace_one
from dpassay.claims import Claim
from dpassay.cli.main import main
from dpassay.engine.result import Result
from dpassay.record.files import dumps
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness, read_witness, witness_fault
from dpassay.reports.run.words import replay_of
from dpassay.testing import assayed
from tests.targets.foreign.servers import LAPLACE, server

SEARCH = ["--claim", "epsilon=1", "--search", "scalars,low=0,high=1", "--budget", "1000"]
OWN = LAPLACE.replace('random.Random(asked["seed"])', "random.SystemRandom()").replace(
    "serve(answer)", "serve(answer, seeded=False)"
)
FLAWED = OWN.replace("lambda: ", "lambda: 0.3 * ")
COINS = random.SystemRandom()


@pytest.mark.slow
def test_an_unseeded_program_is_certified_again_until_it_is_repaired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, out = server(tmp_path, FLAWED).command, tmp_path / "out"
    assert main(["run", "--process", command, *SEARCH, "--out", str(out)]) == 1
    (file,) = (out / "witnesses").iterdir()
    assert f"{file.name} --trust" in "".join(capsys.readouterr().out.split("\n    "))
    assert " --trust" in (out / "report.md").read_text()

    assert main(["replay", str(file), "--trust"]) == 1
    said = capsys.readouterr().out
    assert "\nreproduced: on fresh trials the loss is at least " in said
    assert said.endswith(", the claim allows 1\n")

    server(tmp_path, OWN)
    assert main(["replay", str(file), "--trust"]) == 3
    said = capsys.readouterr().out
    assert "\nnot reproduced: on fresh trials the loss is at least 0" in said
    assert ", recorded " in said


@pytest.mark.slow
def test_it_is_the_bound_of_the_record_at_its_confidence(tmp_path: Path) -> None:
    whole: dict[str, Any] = {"budget": 1000, "stop_early": False}
    data = Scalars(0, 1)
    result = audit(server(tmp_path, FLAWED), claim=DP(epsilon=1.0), data=data, **whole)
    witness = make_witness(result)
    assert witness is not None
    assert result.evidence is not None
    bound = result.evidence.worst.lower
    assert witness["trials"]["own_coins"] == {"alpha": bound.alpha, "method": bound.method}
    assert bound.alpha == pytest.approx(0.001)
    (tmp_path / "w.json").write_text(dumps(witness))
    for seen in (read_witness(tmp_path / "w.json"), old(witness)):
        found = replay(seen, trusted=True)
        assert found.fresh
        assert found.reproduced
        assert found.refuted
        assert 1 < found.loss < 1 / 0.3


def old(witness: dict[str, Any]) -> dict[str, Any]:
    """The same as it was written before there were such replays."""
    copied: dict[str, Any] = json.loads(dumps(witness))
    del copied["trials"]["own_coins"]
    return copied


@pytest.mark.slow
def test_commands_name_what_they_need(tmp_path: Path) -> None:
    found = assayed(
        server(tmp_path, FLAWED),
        path=tmp_path / "w.json",
        rerun="",
        claim=DP(epsilon=1.0),
        data=Scalars(0, 1),
        budget=500,
    )
    with pytest.raises(AssertionError, match=r"dpassay replay \S*w\.json --trust"):
        found.assert_not_refuted()
    witness = json.loads((tmp_path / "w.json").read_text())
    assert replay_of(witness, "x").endswith("x.json --trust")
    listed = witness | {"target": "soft-majority", "parameters": {}}
    assert not replay_of(listed, "x").endswith("--trust")


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
    return audit(mechanism, pairs=pairs, queries=[[0.0]], budget=2000, stop_early=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Own, Mean])
def test_labels_and_means_are_certified_again_too(kind: type[Own]) -> None:
    result = audited(kind())
    witness = make_witness(result)
    assert witness is not None
    assert not witness_fault(witness)
    assert result.evidence is not None
    assert result.verdict == "refuted"
    given = {"target": result.target, "group": result.evidence.groups[0]}
    found = replay(witness, **given)  # type: ignore[arg-type]
    assert found.fresh
    assert found.reproduced
    assert found.refuted
    assert found.loss == pytest.approx(witness["loss"], rel=0.3)

    repaired = kind()
    repaired.lie = 0.45
    found = replay(witness, **given | {"target": audited(repaired).target})  # type: ignore[arg-type]
    assert not found.reproduced
    assert not found.refuted


@pytest.mark.slow
def test_what_was_not_refuted_is_reproduced_if_it_still_is_not() -> None:
    mechanism = Own()
    mechanism.lie = 0.3
    result = audited(mechanism)
    witness = make_witness(result)
    assert witness is not None
    assert result.evidence is not None
    group = result.evidence.groups[0]
    found = replay(witness, target=result.target, group=group)
    assert (found.reproduced, found.refuted) == (True, False)
    worse = audited(Own()).target
    found = replay(witness, target=worse, group=group)
    assert (found.reproduced, found.refuted) == (False, True)
