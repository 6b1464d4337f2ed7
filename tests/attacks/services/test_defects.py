"""Every defect is found and named, in its own broken service, and a correct service gets none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks.services import defects
from dpassay.attacks.services.defects import ALPHA, control, probe
from dpassay.attacks.services.interface import Refusal, Service
from dpassay.attacks.services.streams import ONE_ANSWER
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.mechanisms.dwork_feldman_2018.interface import PredictionInterface
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from tests.attacks.services import broken_services as broken


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(60, 2)), rng.integers(0, 2, 60))


FOUND = {
    broken.Honest: (),
    broken.Undeclared: (),
    broken.Endless: (),
    broken.Counting: (),
    broken.Certain: (),
    broken.Cached: ("cached answers",),
    broken.Eternal: ("cached answers",),
    broken.Sticky: ("sticky noise",),
    broken.Deaf: (),
    broken.Trained: (),
    broken.Shared: ("seed shared between users",),
    broken.OffByOne: ("budget can be passed: off by one",),
    broken.AskOn: ("budget can be passed: asking on", "budget can be passed: another session"),
    broken.Reopened: ("budget can be passed: another session",),
    broken.Racing: ("budget can be passed: several threads",),
    broken.NeverRefuses: ("budget can be passed: never refused",),
    broken.TellsQuery: ("refusals depend on the query",),
    broken.TellsData: ("refusals depend on the data",),
    broken.TellsByTime: ("refusals depend on the data",),
}


BLIND = {
    broken.Honest: (),
    broken.Deaf: ("control",),
    broken.Trained: ("control",),
    broken.Certain: ("coins",),
}


@pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)
def test_every_defect_is_named(kind: type[broken.Honest], data: Labelled) -> None:
    found = probe(Service(kind(), kind.__name__), data, openings=20)
    assert tuple(defect.name for defect in found.defects) == FOUND[kind]
    for defect in found.defects:
        assert defect.seen
        assert defect.again
        statistical = defect.name in ("cached answers", "sticky noise", "seed shared between users")
        assert (0 < defect.probability <= ALPHA) == statistical
    assert [each["name"] for each in found.as_json()] == list(FOUND[kind])
    assert found.blind == BLIND.get(kind, found.blind)
    unseen = any(each.startswith("control: no change") for each in found.untold[:1])
    assert unseen == ("control" in found.blind)


@pytest.mark.parametrize(("kind", "limit", "names"), [
    (broken.Honest, 1, []),
    (broken.Shared, 1, []),
    (broken.Honest, 2, []),
    (broken.Shared, 2, ["seed shared between users"]),
    (broken.Sticky, 2, ["cached answers or sticky noise"]),
    (broken.Sticky, 3, ["sticky noise"]),
    (broken.Cached, 3, ["cached answers"]),
    (broken.Eternal, 3, ["cached answers"]),
])  # fmt: skip
def test_small_budgets(
    kind: type[broken.Honest], limit: int, names: list[str], data: Labelled
) -> None:
    service = kind()
    service.limit = limit
    found = probe(Service(service, "s"), data, openings=2)
    assert [defect.name for defect in found.defects] == names
    # it cannot be told from a model that is trained with noise
    assert found.remarks == ((ONE_ANSWER,) if (kind, limit) == (broken.Shared, 1) else ())


@pytest.mark.parametrize(("kind", "limit", "said"), [
    (broken.Honest, 1, "one answer only"),
    (broken.Endless, 10**9, "no refusal"),
    (broken.Certain, 16, "alike"),
])  # fmt: skip
def test_what_could_not_be_looked_at_is_told(
    kind: type[broken.Honest], limit: int, said: str, data: Labelled
) -> None:
    service = kind()
    service.limit = limit
    assert any(said in each for each in probe(Service(service, "s"), data, openings=2).untold)


@pytest.mark.parametrize(
    ("kind", "limit"), [(broken.OneModel, 1), (broken.Model, 2), (broken.OneModel, 16)]
)
def test_a_model_with_noise_of_training_is_remarked_and_has_no_defect(
    kind: type[broken.Honest], limit: int, data: Labelled
) -> None:
    """With one answer a session nobody can tell its one coin from coins that users share."""
    service = kind()
    service.limit = limit
    found = probe(Service(service, "s"), data, openings=2)
    assert found.defects == ()
    assert len(found.remarks) == 1
    assert "trained with noise from the seed" in found.remarks[0]


def test_the_control_needs_no_labels_and_no_two_classes() -> None:
    """Data that a service refuses are left out; mirrored records move what has no labels."""
    rng = np.random.default_rng(0)
    data = Labelled(rng.normal(size=(30, 2)), rng.integers(0, 2, 30))

    class Features(broken.Honest):
        def __call__(self, S: Labelled, seed: int, user: str) -> broken.Session:
            if len(np.unique(S.y)) < 2:
                raise ValueError("needs two classes")
            return super().__call__(S, seed, user)

        def answer(self, session: broken.Session, x: broken.Array) -> int:
            return int(session.data.X[0, 0] > data.X[:, 0].mean())

    for service, compared in (
        (broken.Certain(), "all labels 0 against all labels 1, 24 deployments a side"),
        (Features(), "the records against their mirror images"),
    ):
        passed, words = control(Service(service, "s"), data, 16, alpha=1e-6)
        assert passed
        assert words.startswith(compared)
    with pytest.raises(TargetError, match="raised OSError"):
        control(Service(broken.failing_factory, "s"), data, 16, alpha=1e-6)


@pytest.mark.slow
def test_the_control_is_passed_by_chance_as_rarely_as_it_says(
    data: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 services that ignore their data, in short stages, at 5 %: four in ten would show."""
    monkeypatch.setattr(defects, "CONTROL_STAGES", (6, 12, 24))
    passed = sum(
        control(Service(broken.Deaf(), "s", seed=k), data, 4, alpha=0.05)[0] for k in range(30)
    )
    assert passed <= binom.isf(0.01, 30, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "epsilon"), [(1, 4.0), (3, 0.1)])
def test_correct_services_get_none(limit: int, epsilon: float, data: Labelled) -> None:
    for seed, kind in enumerate((broken.Honest, broken.Trained)):
        service = kind()
        service.limit, service.epsilon = limit, epsilon
        found = probe(Service(service, "s", seed=seed), data, seed=seed, openings=20)
        assert found.defects == ()


@pytest.mark.slow
def test_the_interface_of_this_project() -> None:
    """Its budget is that of one object: who opens it again for a user hands out another one."""

    data = Labelled(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]))

    def factory(S: Labelled, seed: int, user: str) -> PredictionInterface:
        rng = np.random.default_rng([seed, *user.encode()])
        return PredictionInterface(SoftMajority(epsilon=0.1, r=1, learner="tree"), S, 1, rng)

    found = probe(Service(factory, "interface"), data, openings=2)
    assert [defect.name for defect in found.defects] == ["budget can be passed: another session"]


def test_refusals_and_failures(data: Labelled) -> None:
    service = Service(broken.Honest(), "s")
    session = service.open(data, 0, "me")
    assert len(session.transcript([data.X[0]] * 20)) == 16
    assert session.ask(data.X[0]) == Refusal("BudgetSpent: the budget of 16 is spent")
    for factory, said in (
        (broken.failing_factory, "raised OSError"),
        (broken.askless, "expected a session"),
        (broken.failing, "ask on a session"),
    ):
        with pytest.raises(TargetError, match=said):
            probe(Service(factory, "s"), data)
    with pytest.raises(InvalidInput, match="SERVICE"):
        Service(3, "s")
    none = broken.Honest()
    none.limit = 0
    with pytest.raises(TargetError, match="refuses the first query"):
        probe(Service(none, "s"), data)
