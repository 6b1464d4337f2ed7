"""Every defect is found and named, in its own broken service, and a correct service gets none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks.services import defects
from dpassay.attacks.services.defects import ALPHA, Probe, control, probe
from dpassay.attacks.services.interface import Refusal, Service
from dpassay.attacks.services.streams import ONE_ANSWER
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.mechanisms.dwork_feldman_2018.interface import PredictionInterface
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from tests.attacks.services import broken_services as broken
from tests.attacks.services import suite


def some(n: int) -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(n, 2)), rng.integers(0, 2, n))


@pytest.fixture(scope="module")
def data() -> Labelled:
    return some(20)


@pytest.fixture(scope="module")
def more() -> Labelled:
    return some(40)


def probed(
    kind: type[broken.Honest], data: Labelled, *, openings: int = 2, seed: int = 0, **fields: float
) -> Probe:
    """Probe a service with some of its fields changed, such as its limit."""
    service = kind()
    vars(service).update(fields)
    return probe(Service(service, kind.__name__, seed=seed), data, seed=seed, openings=openings)


FOUND = {
    broken.Honest: (),
    broken.Endless: (),
    broken.Counting: (),
    broken.Certain: (),
    broken.Eternal: ("cached answers",),
    broken.Deaf: (),
    broken.Trained: (),
    broken.OffByOne: ("budget can be passed: off by one",),
    broken.AskOn: ("budget can be passed: asking on", "budget can be passed: another session"),
    broken.Racing: ("budget can be passed: several threads",),
    broken.NeverRefuses: ("budget can be passed: never refused",),
    broken.TellsQuery: ("refusals depend on the query",),
    broken.TellsData: ("refusals depend on the data",),
    broken.TellsByTime: ("refusals depend on the data",),
}
"""What users share, keep and open again is in the suite, and with small budgets below."""
BLIND = {broken.Deaf: ("control",), broken.Trained: ("control",), broken.Certain: ("coins",)}
UNTOLD = {broken.Endless: "no refusal", broken.Certain: "alike", broken.Deaf: "no change of the"}


@pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)
def test_every_defect_is_named(kind: type[broken.Honest], data: Labelled) -> None:
    found = probed(kind, data, openings=20)
    assert tuple(defect.name for defect in found.defects) == FOUND[kind]
    for defect in found.defects:
        assert defect.seen
        assert defect.again
        assert (0 < defect.probability <= ALPHA) == (defect.name == "cached answers")
    assert [each["name"] for each in found.as_json()] == list(FOUND[kind])
    assert found.blind == BLIND.get(kind, ())
    assert UNTOLD.get(kind, "") in " ".join(found.untold)
    unseen = any(each.startswith("control: no change") for each in found.untold[:1])
    assert unseen == ("control" in found.blind)


TRAINED = "trained with noise from the seed"


@pytest.mark.parametrize(("kind", "limit", "names", "remark"), [
    (broken.Honest, 1, [], ""),
    (broken.Shared, 1, [], ONE_ANSWER),  # it cannot be told from a model trained with noise
    (broken.Honest, 2, [], ""),
    (broken.Shared, 2, ["seed shared between users"], ""),
    (broken.Sticky, 2, ["cached answers or sticky noise"], ""),
    (broken.Sticky, 3, ["sticky noise"], ""),
    (broken.Cached, 3, ["cached answers"], ""),
    (broken.Eternal, 3, ["cached answers"], ""),
    (broken.OneModel, 1, [], TRAINED),
    (broken.Model, 2, [], TRAINED),
    (broken.OneModel, 16, [], TRAINED),
])  # fmt: skip
def test_small_budgets(
    kind: type[broken.Honest], limit: int, names: list[str], remark: str, data: Labelled
) -> None:
    found = probed(kind, data, limit=limit)
    assert [defect.name for defect in found.defects] == names
    assert all(0 < defect.probability <= ALPHA for defect in found.defects)
    assert len(found.remarks) == bool(remark)
    assert remark in "".join(found.remarks)
    assert remark != ONE_ANSWER or found.remarks == (ONE_ANSWER,)
    assert any("one answer only" in each for each in found.untold) == (limit == 1)


def test_the_control_needs_no_labels_and_no_two_classes() -> None:
    """Data that a service refuses are left out; mirrored records move what has no labels."""
    data = some(30)

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
    kinds: tuple[type[broken.Honest], ...] = broken.Honest, broken.Trained
    for seed, kind in enumerate(kinds):
        found = probed(kind, data, openings=20, seed=seed, limit=limit, epsilon=epsilon)
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
    session = Service(broken.Honest(), "s").open(data, 0, "me")
    assert len(session.transcript([data.X[0]] * 20)) == 16
    assert session.ask(data.X[0]) == Refusal("BudgetSpent: the budget of 16 is spent")
    none = broken.Honest()
    none.limit = 0
    for factory, said in (
        (broken.failing_factory, "raised OSError"),
        (broken.askless, "expected a session"),
        (broken.failing, "ask on a session"),
        (none, "refuses the first query"),
    ):
        with pytest.raises(TargetError, match=said):
            probe(Service(factory, "s"), data)
    with pytest.raises(InvalidInput, match="SERVICE"):
        Service(3, "s")


OPENINGS = {"seeds of few bits": 1000, "seed shared between part of the users": 100}
"""Of a birthday test that finds it: 1,000 streams of 16 bits have 7.6 equal pairs, and three do."""
FEW = 20
"""Of the others."""
MANY = (suite.Plain, suite.Memoised, suite.Trained, suite.Live)
"""What is asked 2,000 times, as by default: of these answers some agree by right."""


def probed_whole(
    kind: type[broken.Honest], data: Labelled, seed: int = 0, openings: int = FEW
) -> Probe:
    service = Service(kind(), kind.__name__, seed=seed)
    found = probe(service, data, claim=DP(epsilon=1.0), seed=seed, openings=openings)
    assert found.openings <= sum(part.openings for part in found.plan)
    assert found.queries <= sum(part.queries for part in found.plan)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", suite.BROKEN | suite.VARIANTS, ids=lambda kind: kind.__name__)
def test_its_defect_is_found_and_named(kind: type[broken.Honest], more: Labelled) -> None:
    assert (len(set(suite.BROKEN.values())), len(suite.RIGHT)) == (12, 8)
    name = (suite.BROKEN | suite.VARIANTS)[kind]
    found = probed_whole(kind, more, openings=OPENINGS.get(name, FEW))
    assert [defect.name for defect in found.defects] == [name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [*suite.RIGHT, *suite.RIGHT_VARIANTS], ids=lambda kind: kind.__name__
)
def test_what_is_right_has_none(kind: type[broken.Honest], more: Labelled) -> None:
    """In one seed: the error probability of each test is 1e-6 by its law, see test_chances.py."""
    assert probed_whole(kind, more).defects == ()


@pytest.mark.slow
def test_a_right_service_has_none_in_all_openings_and_too_few_answers_are_told(
    more: Labelled,
) -> None:
    short = type("Short", (suite.SixteenBits,), {"limit": 8})
    found = probed_whole(short, more, openings=500)
    assert found.defects == ()
    assert any("would show seeds of about" in each for each in found.untold)
    for seed, (kind, openings) in enumerate(((suite.Plain, FEW), *((kind, 2000) for kind in MANY))):
        whole = probed_whole(kind, more, seed, openings)
        assert whole.defects == ()
        # as many as the default show sixteen bits
        assert any("few bits" in each for each in whole.untold) == (openings < 2000)
