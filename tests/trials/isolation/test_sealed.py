"""What the user said is never taken from the process of a mechanism, whatever that says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, TargetError
from dpassay.targets.adapter import full
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import AnswerKind, declared, resolve
from dpassay.trials.isolation import target as server
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated, introduced
from dpassay.trials.wire import pack, read, unpack
from dpassay.trials.written import Drawn
from tests.core.toys import TableMechanism, flip_group, target_of

GROUP = flip_group(records=4, queries=3)
TABLE = ((0.99, 0.01), (0.01, 0.99))
LEAKY = target_of(TableMechanism(table=TABLE))
Forge = Callable[[dict[str, Any]], Any]
Introduced = Callable[..., Isolated]


def audited(target: AuditTarget) -> list[Result]:
    return list(assay([target], GROUP, Settings(budget=500, mode="monte-carlo")))


@pytest.fixture
def forging() -> Iterator[Introduced]:
    """A target whose process says something else of it than is true."""
    opened: list[Isolated] = []

    def introduce(forge: Forge, claim: Claim | None = None, **more: Any) -> Isolated:
        def build() -> AuditTarget:
            true = server.ANSWERED["describe"]

            def describe(subject: Any) -> Any:
                told = true(subject)
                forge(told)
                return told

            server.ANSWERED["describe"] = describe
            return LEAKY

        said = None
        if claim is not None:
            said = replace(LEAKY, mechanism=full(SimpleNamespace(labels=(0, 1))), claims=(claim,))
        opened.append(introduced("mine", build, Limits(seconds=30), said, **more))
        return opened[-1]

    yield introduce
    for each in opened:
        each.hosts.close()


@pytest.mark.parametrize(
    "forge",
    [
        lambda told: told["claims"][0].update(epsilon=600.0),
        lambda told: told.update(claims=told["claims"] * 3),
        lambda told: told["claims"][0].update(
            kind="Stability", epsilon=None, delta=None, gamma=1.0
        ),
        lambda told: told["claims"][0].update(status="measured"),
    ],
    ids=["epsilon", "more", "kind", "status"],
)
def test_the_claim_of_the_user_stays_as_it_is(forging: Introduced, forge: Forge) -> None:
    claim = DP(epsilon=1.0, source="--claim")
    found = forging(forge, claim)
    assert found.claims == (claim,)
    assert [result.as_expected for result in audited(found)] == [False]


def test_a_claim_about_a_number_is_of_the_answers_that_there_are(forging: Introduced) -> None:
    numbers = lambda told: told.update(labels=[], numbers=[0.0, 1.0])  # noqa: E731
    found = forging(numbers, Stability(gamma=0.25, source="--claim"))
    assert found.claims == (PredictionStability(gamma=0.25, source="--claim"),)


def test_name_address_parameters_and_answers_are_as_the_user_said(forging: Introduced) -> None:
    lies = {"name": "other", "target": "warner", "free": True, "labels": [3, 4]}
    lies |= {"parameters": {"n": 7, "share": 0.5, "by": "x"}}
    found = forging(
        lambda told: told.update(lies),
        address="a:b",
        parameters={"n": "5", "share": ".5"},
        answers=AnswerKind(labels=(0, 1, 2)),
    )
    assert (found.name, found.address, found.labels) == ("mine", "a:b", (0, 1, 2))
    assert found.parameters == {"n": "5", "share": 0.5, "by": "x"}
    assert not found.mechanism.free


def test_only_the_catalogue_expects_a_refutation(forging: Introduced) -> None:
    """Neither what a class says of itself does, nor the address that its process names."""
    claimed = DP(epsilon=1.0, expected="refuted")

    class Says(TableMechanism):
        claims = (claimed,)

    assert declared("my:Class", Says(table=TABLE)) == (replace(claimed, expected=None),)
    assert {each.expected for each in resolve("control").claims} == {"refuted"}
    found = forging(lambda told: told.update(target="control"), address="a:b")
    assert {each.expected for each in found.claims} == {None}
    found = forging(lambda told: told["claims"][0].update(expected="refuted"), DP(epsilon=1.0))
    assert [claim.expected for claim in found.claims] == [None]
    assert "unknown field `expected`" in found.hosts.lost


def test_what_is_refused_after_a_mechanism_was_built_is_its_own_error(forging: Introduced) -> None:
    """`InvalidInput` would end the run."""
    found = forging(lambda told: told["has"].append("distribution"))
    host = found.hosts.first()
    host.call = lambda *_, **__: {"invalid": "no"}  # type: ignore[method-assign]
    with pytest.raises(TargetError, match="distribution on here: no"):
        found.law(None, np.zeros((1, 1)), "here")
    with pytest.raises(TargetError, match="prepare on the base dataset: no"):
        found.prepare(GROUP.pairs.base)


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (lambda told: told["has"].append("__class__"), "it has {'__class__'}"),
        (lambda told: told.update(labels=[]), ""),
        (lambda told: told.pop("alone"), "missing required field `alone`"),
        (lambda told: told.update(together=-1), ">= 0"),
        (lambda told: told.update(looked_at="a" * 200_000 + "\x1b"), ""),
    ],
    ids=["method", "labels", "missing", "count", "text"],
)
def test_what_is_no_description_is_an_error_or_refused(
    forging: Introduced, forge: Forge, reason: str
) -> None:
    try:
        found = forging(forge, DP(epsilon=1.0))
    except InvalidInput:
        assert not reason
    else:
        assert reason in found.hosts.lost
        assert "\x1b" not in found.mechanism.looked_at


def test_a_generator_is_only_moved_along_its_own_stream() -> None:
    one, other, mine = (np.random.default_rng(seed) for seed in (1, 1, 2))
    one.integers(7, dtype=np.uint32)
    drawn = read(Drawn, unpack(pack(0, Drawn.json(np.zeros(1), one)))[1])
    drawn.move(other)
    assert one.bit_generator.state == other.bit_generator.state
    increment = mine.bit_generator.state["state"]["inc"]
    drawn.move(mine)
    assert mine.bit_generator.state["state"]["inc"] == increment
