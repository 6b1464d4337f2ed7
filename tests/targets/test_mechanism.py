"""The base class `Mechanism`: what is left out has a default, for objects of other classes too."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dpassay
from dpassay import DP, InvalidInput, Labelled, Mechanism, audit, bernoulli_law, replace_one
from dpassay.cli.main import main
from dpassay.mechanism import FunctionMechanism, Trainer, offers
from dpassay.pairs import FlipLabel
from dpassay.targets.adapter import Adapted, full, given, is_mechanism, is_trainer
from tests.core.toys import WithWorstCase, target_of

X, Y = np.zeros((4, 1)), np.array([0, 1, 1, 1])
OPTIONAL = ("check", "update", "distribution", "pairs", "reachable", "answer_words")


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


@pytest.mark.parametrize("kind", [Coin, PlainCoin])
def test_claims_and_sample_are_enough(kind: type) -> None:
    target = target_of(kind())
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
    given: dict[str, Any] = {"pairs": replace_one(X, Y), "queries": X[:1], "executor": "inline"}
    result = audit(kind(), **given, budget=300)
    assert (result.mode, result.verdict == "error") == ("monte-carlo", False)
    with pytest.raises(InvalidInput, match="has no exact law"):
        audit(kind(), **given, mode="exact")


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

    class Without(PlainCoin):
        distribution = None  # so a subclass takes it away

    assert not target_of(Without()).has_law


def test_fields_and_properties_stand_in_for_defaults() -> None:
    claims = (DP(epsilon=2.0),)
    made = Fields(claims=claims, labels=(0, 1, 2))
    assert (made.claims, made.labels, made.alone) == (claims, (0, 1, 2), True)
    assert Computed(epsilon=3.0).claims[0].epsilon == 3.0


def test_a_neighbour_is_what_update_returns() -> None:
    class Updates(Coin):
        def update(self, state: Any, change: Any) -> str:
            return "updated"

    data = Labelled(X, Y)
    assert target_of(Updates()).neighbour(data, data, FlipLabel(0)) == "updated"


def test_an_object_is_adapted_once() -> None:
    plain = PlainCoin()
    adapted: Any = full(plain)
    assert isinstance(adapted, Adapted)
    assert full(adapted) is adapted
    assert given(adapted) is target_of(adapted).given is target_of(plain).given is plain
    assert given(Coin) is Coin
    coin = Coin()
    assert full(coin) is coin
    plain.own = 7
    assert adapted.own == 7, "other attributes are within reach"
    with pytest.raises(AttributeError, match="nothing"):
        _ = adapted.nothing


def test_an_adapted_object_can_be_copied_and_pickled() -> None:
    pickled = pickle.dumps(full(PlainCoin()))
    for again in (pickle.loads(pickled), copy.deepcopy(full(PlainCoin()))):  # noqa: S301  (our own)
        assert isinstance(given(again), PlainCoin)
        assert again.labels == (0, 1)
        assert again.sample(None, X[:1], 3, np.random.default_rng(0)).shape == (3, 1)


def test_what_is_no_mechanism() -> None:
    assert is_mechanism(Coin())
    assert is_mechanism(PlainCoin())
    assert is_mechanism(FunctionMechanism(function=lambda data, queries, size, rng: 0, claims=()))
    assert not is_mechanism(len)
    assert is_trainer(Trainer())
    assert not is_trainer(Coin())
    with pytest.raises(InvalidInput, match="about a trainer"):
        replace(target_of(Coin()), claims=(dpassay.ScoreStability(beta1=1, beta2=1),))


class Alone(WithWorstCase):
    alone = True


ALONE = Alone(table=((0.5, 0.5), (0.3, 0.7)))


def test_a_user_s_mechanism_can_be_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Then it is looked at on its own worst case only."""
    assert main(["run", f"{__name__}:ALONE", "--json", "-q"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["results"]
    assert (entry["verdict"], entry["searched"]["pairs"]) == ("not refuted", 1)


def test_nothing_of_an_object_is_called_before_it_is_needed() -> None:
    """A user's properties run where its methods do, not when it is taken in."""

    class Reluctant(PlainCoin):
        @property
        def dimension(self) -> int:
            raise SystemExit("called")

        @property
        def derived_parameters(self) -> dict[str, float]:
            raise SystemExit("called")

    target = target_of(Reluctant())
    assert not target.has_law
    with pytest.raises(SystemExit):
        _ = target.mechanism.dimension
