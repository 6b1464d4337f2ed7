"""Subjects and services in a process of their own show what they would show in this one."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dpassay.attacks.experiment.hosted import close_hosts, hosted
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import AskedPoints, Learner
from dpassay.attacks.services.hosted import service_of
from dpassay.attacks.services.interface import Refusal, Service
from dpassay.attacks.user_models.predictions import PredictionTask
from dpassay.attacks.user_models.subjects import Answering, Estimator
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.mechanism import FunctionMechanism
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import isolated
from tests.core.toys import target_of

RNG = np.random.default_rng(0)
DATA = Labelled(RNG.normal(size=(30, 2)), np.arange(30) % 2)
POINTS = AskedPoints(X=DATA.X, copies=DATA.X[None] + 0.1, K=2)
LEARNER = Learner(make=lambda: DecisionTreeClassifier(random_state=0), name="mine", copies=1)
ESTIMATOR = Estimator(
    estimator=DecisionTreeRegressor(max_depth=2),
    task=PredictionTask(kind="numbers", y=np.arange(30) / 7),
    truth=np.arange(30),
    name="mine",
)


def seed() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize("subject", [LEARNER, ESTIMATOR])
def test_a_subject_shows_the_same(subject: Any) -> None:
    target = hosted("mine", lambda: Target(name="m", subject=subject), Limits(), bare=False)
    try:
        there: Any = target.subject
        sent = pickle.loads(pickle.dumps(there))  # noqa: S301
        for one in (there, sent):
            for here, other in ((subject, one), (subject.without_copies(), one.without_copies())):
                assert (other.views, other.key) == (here.views, here.key)
                assert repr(other.key) == repr(here.key)
                seen = other.see(DATA, POINTS, seed())
                assert seen.tolist() == here.see(DATA, POINTS, seed()).tolist()
        assert there.code == subject.code
        assert there.numeric == subject.numeric
    finally:
        close_hosts(target)


def test_answers_of_any_kind_are_compared_where_they_are_given() -> None:
    def function(data: Any, queries: Any, rng: Any) -> list[object]:
        return [str(rng.integers(2)) if x[0] > 0 else None for x in queries]

    mechanism = FunctionMechanism(
        function=function, claims=(DP(epsilon=1),), takes=("data", "queries", "rng"), free=True
    )
    target = target_of(mechanism, "f")
    more: Any = {"budgets": (1, 3), "truth": DATA.y, "values": np.array(["0", "1"])}
    elsewhere = isolated(target, Limits(), [])
    try:
        seen = [
            Answering(target=each, numbers=False, **more).see(DATA, POINTS, seed()).tolist()
            for each in (target, elsewhere, pickle.loads(pickle.dumps(elsewhere)))  # noqa: S301
        ]
    finally:
        elsewhere.hosts.close()
    assert seen[0] == seen[1] == seen[2]
    assert np.ptp(seen[0]) > 0


def test_what_is_no_share_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (np.full((2, 30, 2), 2.0), np.full((2, 30, 1), 0.5), np.full((2, 30, 2), np.nan)):
        monkeypatch.setattr(Learner, "see", lambda *_, wrong=wrong: wrong)
        plain = LEARNER.without_copies()
        target = hosted("mine", partial(Target, name="m", subject=plain), Limits(), bare=False)
        try:
            with pytest.raises(TargetError, match="its process sent"):
                target.subject.see(DATA, POINTS, seed())
        finally:
            close_hosts(target)


SERVICE = """
import numpy as np
class Session:
    budget = 6
    def __init__(self, data, seed, user):
        self.rng, self.y, self.left = np.random.default_rng(seed), data.y, self.budget
    def ask(self, x):
        if not self.left:
            raise RuntimeError("the budget of " + "6 is spent")
        self.left -= 1
        return np.int64(self.y[0] ^ (self.rng.random() < 0.5))
    def probabilities(self, x):
        return np.array([0.25, 0.75])
    def ask_many(self, X):
        return [int(x[0] > 0) for x in X]
def factory(data, seed, user):
    if user == "nobody":
        raise OSError("not today")
    return Session(data, seed, user)
factory.shared_seed = True
factory.delete = lambda data, seed, i: None
"""


def test_a_service_answers_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine_service.py").write_text(SERVICE)
    names: dict[str, Any] = {}
    exec(SERVICE, names)
    here, there = Service(names["factory"], "s"), service_of("mine_service:factory", seed=0)
    try:
        found = []
        for service in (here, there):
            session = service.open(DATA, 3, "user")
            service.delete(DATA, 3, 0)
            told: list[Any] = [session.budget, service.shares_seed]
            told += [service.can("restart"), session.has("ask")]
            told += [session.transcript(DATA.X), session.ask(DATA.X[0])]
            told += [session.probabilities(DATA.X[0]), session.ask_many(DATA.X[:4])]
            told += [service.open(DATA, 4, "user").in_threads(list(DATA.X[:9]))]
            found.append([*told, service.openings, service.queries])
            with pytest.raises(TargetError, match="raised OSError: not today"):
                service.open(DATA, 3, "nobody")
        assert found[0] == found[1]
        assert isinstance(found[0][5], Refusal)
        assert len(found[0][4]) == 6
    finally:
        there.close()
