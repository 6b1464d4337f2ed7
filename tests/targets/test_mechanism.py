"""The base class `Mechanism`.

What is left out has a default, and objects of other classes are given the same defaults.
"""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dpassay
from dpassay import DP, InvalidInput, Labelled, Mechanism, audit, bernoulli_law, replace_one
from dpassay.cli.main import main
from dpassay.mechanism import FunctionMechanism, Trainer, offers, prepared
from dpassay.pairs import FlipLabel
from dpassay.targets.adapter import Adapted, full, given, is_mechanism, is_trainer
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve

X, Y = np.zeros((4, 1)), np.array([0, 1, 1, 1])
OPTIONAL = ("check", "update", "distribution", "pairs", "reachable", "answer_words")
"""Methods that a mechanism may leave out."""


class Coin(Mechanism):
    """The shortest there is: a fair coin."""

    claims = (DP(epsilon=0.1),)

    def sample(self, state: Any, queries: Any, size: int, rng: Any) -> Any:
        return rng.integers(2, size=(size, len(queries)))


class PlainCoin:
    """The same in a class of its own."""

    claims = (DP(epsilon=0.1),)

    def sample(self, state: Any, queries: Any, size: int, rng: Any) -> Any:
        return rng.integers(2, size=(size, len(queries)))


@dataclass(frozen=True, kw_only=True)
class Fields(Mechanism):
    """Fields in the place of what the base class has."""

    claims: tuple[DP, ...]
    labels: tuple[int, ...]
    alone: bool = True


@dataclass(frozen=True, kw_only=True)
class Computed(Mechanism):
    """Properties in the place of what the base class has, and a law without a sampler."""

    epsilon: float = 1.0

    @property
    def claims(self) -> tuple[DP, ...]:
        return (DP(epsilon=self.epsilon),)

    def prepare(self, data: Labelled) -> int:
        return int(data.y[0])

    def distribution(self, state: int, queries: NDArray[np.float64]) -> Any:
        return bernoulli_law(np.full(len(queries), self.epsilon if state else -self.epsilon))


def as_target(mechanism: Any) -> AuditTarget:
    return AuditTarget(
        name="m", address=None, parameters={}, mechanism=mechanism, claims=mechanism.claims
    )


def test_it_is_public() -> None:
    assert dpassay.Mechanism is Mechanism
    assert "Mechanism" in dpassay.__all__


@pytest.mark.parametrize("kind", [Coin, PlainCoin])
def test_claims_and_sample_are_enough(kind: type) -> None:
    target = as_target(kind())
    assert (target.labels, target.numbers, target.dimension) == ((0, 1), None, 0)
    assert [target.has_law, target.has_worst_cases, target.has_reachable] == [False, False, False]
    data = Labelled(X, Y)
    target.check(data)
    assert target.prepare(data) is data
    assert target.law(data, X[:1], "here") is None
    assert target.worst_cases() == ()
    assert target.reachable() is None
    assert target.answer_words(1, X[0]) == target.looked_at(target.claims[0]) == ""
    neighbour = target.neighbour(data, data, FlipLabel(0))
    assert neighbour.y.tolist() == [1, 1, 1, 1]
    result = audit(kind(), pairs=replace_one(X, Y), queries=X[:1], budget=2000)
    assert (result.mode, result.verdict == "error") == ("monte-carlo", False)


@pytest.mark.parametrize("kind", [Coin, PlainCoin])
def test_a_mechanism_without_a_law_is_refused_in_exact_mode(kind: type) -> None:
    with pytest.raises(InvalidInput, match="has no exact law"):
        audit(kind(), pairs=replace_one(X, Y), queries=X[:1], mode="exact")


def test_a_law_without_a_sampler_is_an_error_that_says_so() -> None:
    result = audit(Computed(), pairs=replace_one(X, Y), queries=X[:1], mode="exact")
    assert result.verdict == "error"
    assert "sample on" in result.outcome.reason
    with pytest.raises(NotImplementedError, match="Computed defines no sample"):
        Computed().sample(0, X[:1], 1, np.random.default_rng(0))


@pytest.mark.parametrize("mechanism", [Coin(), full(PlainCoin())])
def test_nothing_is_offered_that_is_not_defined(mechanism: Mechanism) -> None:
    assert [name for name in OPTIONAL if offers(mechanism, name)] == []
    assert offers(Computed(), "distribution")
    assert not offers(Computed(), "pairs")


def test_a_method_that_is_taken_away_is_not_offered() -> None:
    """A subclass of a plain class says so by None."""

    class Without(PlainCoin):
        distribution = None

    assert not as_target(Without()).has_law


def test_fields_and_properties_stand_in_for_defaults() -> None:
    claims = (DP(epsilon=2.0),)
    made = Fields(claims=claims, labels=(0, 1, 2))
    assert (made.claims, made.labels, made.alone) == (claims, (0, 1, 2), True)
    assert Computed(epsilon=3.0).claims[0].epsilon == 3.0


def test_a_neighbour_is_prepared_where_update_returns_none() -> None:
    data, change = Labelled(X, Y), FlipLabel(0)
    assert prepared(Coin(), data, change, change.apply(data)).y.tolist() == [1, 1, 1, 1]

    class Updates(Coin):
        def update(self, state: Any, change: Any) -> str:
            return "updated"

    assert prepared(Updates(), data, change, change.apply(data)) == "updated"
    assert as_target(Updates()).neighbour(data, data, change) == "updated"


def test_an_object_is_adapted_once() -> None:
    plain = PlainCoin()
    adapted = full(plain)
    assert isinstance(adapted, Adapted)
    assert full(adapted) is adapted
    assert given(adapted) is as_target(adapted).given is as_target(plain).given is plain
    assert given(Coin) is Coin
    coin = Coin()
    assert full(coin) is coin


def test_an_adapted_object_can_be_copied_and_pickled() -> None:
    pickled = pickle.dumps(full(PlainCoin()))
    for again in (pickle.loads(pickled), copy.deepcopy(full(PlainCoin()))):  # noqa: S301  (our own)
        assert isinstance(given(again), PlainCoin)
        assert again.labels == (0, 1)
        assert again.sample(None, X[:1], 3, np.random.default_rng(0)).shape == (3, 1)


def test_other_attributes_of_the_object_are_within_reach() -> None:
    plain = PlainCoin()
    plain.own = 7  # type: ignore[attr-defined]
    adapted: Any = full(plain)
    assert adapted.own == 7
    with pytest.raises(AttributeError, match="nothing"):
        _ = adapted.nothing


def test_what_is_no_mechanism() -> None:
    assert is_mechanism(Coin())
    assert is_mechanism(PlainCoin())
    assert is_mechanism(FunctionMechanism(function=lambda data, queries, size, rng: 0, claims=()))
    assert not is_mechanism(len)
    assert is_trainer(Trainer())
    assert not is_trainer(Coin())
    with pytest.raises(InvalidInput, match="about a trainer"):
        AuditTarget(
            name="m",
            address=None,
            parameters={},
            mechanism=Coin(),
            claims=(dpassay.ScoreStability(beta1=1, beta2=1),),
        )


@pytest.mark.parametrize("name", CATALOGUE)
def test_entries_of_the_catalogue_are_mechanisms(name: str) -> None:
    assert isinstance(resolve(name).given, Mechanism)


ALONE = """
from dpassay import DP, Labelled, Mechanism, Pairs, bernoulli_law
from dpassay.mechanism import WorstCase
from dpassay.pairs import FlipLabel
import numpy as np

class OwnPairs(Mechanism):
    claims = (DP(epsilon=2.0),)
    alone = True

    def logits(self, data, queries):
        return np.full(len(queries), 2.0 * data.y[0] - 1)

    def sample(self, state, queries, size, rng):
        return (rng.random((size, len(queries))) < 1 / (1 + np.exp(-self.logits(state, \
queries)))).astype(int)

    def distribution(self, state, queries):
        return bernoulli_law(self.logits(state, queries))

    def pairs(self):
        pairs = Pairs(base=Labelled(np.zeros((2, 1)), np.zeros(2)), changes=(FlipLabel(0),), \
how="one label flipped")
        return (WorstCase(pairs=pairs, queries=np.zeros((1, 1)), reason="only record 0 counts"),)
"""


def test_a_user_s_mechanism_can_be_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own_pairs.py").write_text(ALONE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "own_pairs:OwnPairs", "--json", "-q"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["verdict"], result["searched"]["pairs"]) == ("not refuted", 1)


def test_nothing_of_an_object_is_called_before_it_is_needed() -> None:
    """A user's properties run where its methods do, not when it is taken in."""

    class Reluctant(PlainCoin):
        @property
        def dimension(self) -> int:
            raise SystemExit("called")

        @property
        def derived_parameters(self) -> dict[str, float]:
            raise SystemExit("called")

    target = as_target(Reluctant())
    assert not target.has_law
    with pytest.raises(SystemExit):
        _ = target.mechanism.dimension
