"""Attacks on what a user has: functions, dpassay.toml, estimators, programs, trained models."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from dpassay import DP, GDP, Accuracy, Stability, attack, attack_model, zCDP
from dpassay.attacks.user_models.subjects import implied
from dpassay.cli.main import main
from dpassay.data import load
from dpassay.errors import InvalidInput, TargetError
from dpassay.mechanisms.relatives.private_knn_gaussian import PrivateKNNGaussian
from dpassay.record.schemas import read_schema
from tests.attacks.command import attack as command
from tests.attacks.command import record_of

SMALL: dict[str, Any] = {"records": 40, "references": 8, "models": 40, "transcripts": 0}
FEW = "-q --records 40 --references 6 --models 40 --copies 0"
MINE = """
import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor


def nearest(data, queries):
    apart = ((queries[:, None, :] - data.X[None]) ** 2).sum(axis=2)
    return data.y[apart.argmin(axis=1)]


def lying(data, queries, size, rng):
    return np.broadcast_to(nearest(data, queries), (size, len(queries)))


def honest(data, queries, size, rng):
    return rng.integers(2, size=(size, len(queries)))


def numbers(data, queries, size, rng):
    return lying(data, queries, size, rng)


forest = RandomForestClassifier(n_estimators=10)
regression = RandomForestRegressor(n_estimators=10)
"""
SERVER = """
import json, sys

prepared = {}
for line in sys.stdin:
    asked = json.loads(line)
    reply = {"ok": True}
    if asked["op"] == "hello":
        reply = {"seeded": True, "batch": 1000, "queries": True}
    elif asked["op"] == "prepare":
        data = asked["data"]
        prepared[asked["id"]] = {tuple(x): y for x, y in zip(data["X"], data["y"])}
    elif asked["op"] == "sample":
        known = prepared[asked["id"]]
        answer = [known.get(tuple(q), None) for q in asked["queries"]]
        reply = {"answers": [answer for _ in range(asked["size"])]}
    print(json.dumps(reply), flush=True)
"""
CONFIGURED = """
[[mechanisms]]
target = "mine:lying"
claim = { epsilon = 1 }
name = "the liar"

[[mechanisms]]
target = "mine:honest"
claim = { epsilon = 1, delta = 0.01 }

[[mechanisms]]
target = "soft-majority"
parameters = { epsilon = 2, r = 5 }
name = "five"

[[mechanisms]]
target = "mine:honest"
claim = { gamma = 0.5 }
name = "stable"
"""


def people(n: int = 300) -> pd.DataFrame:
    """Records with texts, numbers and missing values; the label has nothing to do with them."""
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 80, n).astype(float),
        "job": rng.choice(["nurse", "clerk", "cook"], n),
        "income": rng.choice(["low", "middle", "high"], n),
    }
    found = pd.DataFrame(columns)
    found.loc[rng.random(n) < 0.1, "age"] = np.nan
    found.loc[rng.random(n) < 0.1, "job"] = None
    return found


def houses(n: int = 300) -> pd.DataFrame:
    """Records with a price."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    return pd.DataFrame(X, columns=list("abcd")).assign(price=X.sum(axis=1) + rng.normal(size=n))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("mine.py").write_text(MINE)
    Path("server.py").write_text(SERVER)
    people().to_csv("people.csv", index=False)
    houses().to_csv("houses.csv", index=False)
    return tmp_path


def run(words: str) -> tuple[int, dict[str, Any]]:
    code = command(f"{FEW} {words} --out out")
    assert Path("out/attack.html").stat().st_size > 10_000
    return code, record_of(Path("out"))


def said(record: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in record["subjects"]}


def best(subject: dict[str, Any]) -> float:
    return max(float(each["auc"]) for each in subject["outcomes"])


def test_a_function_that_lies_about_its_claim(folder: Path) -> None:
    code, record = run("mine:lying --claim epsilon=1 --transcripts 200 --models 60 --budgets 1")
    assert code == 1
    assert list(said(record)) == ["tree (unprotected)", "mine:lying"]
    assert said(record)["mine:lying"]["claim"]["epsilon"] == 1
    (repeated,) = record["repeated"]
    assert repeated["name"] == "mine:lying"
    assert repeated["rungs"][0]["broken"]


def test_mechanisms_of_the_configuration_with_their_own_claims(folder: Path) -> None:
    Path("dpassay.toml").write_text(CONFIGURED)
    words = "--against mechanism --budgets 1 --transcripts 0"
    code, record = run(f"{words} --models 12 --attacks lira")
    found = said(record)
    assert code == 4  # twelve guesses
    assert list(found) == ["the liar", "mine:honest", "five", "stable"]
    assert found["mine:honest"]["claim"]["delta"] == 0.01
    assert found["five"]["claim"]["epsilon"] == 2
    assert (found["stable"]["claim"]["epsilon"], found["stable"]["claim"]["delta"]) == (0, 0.5)
    one = run(f"five {words} --models 4 --attacks gap")[1]
    assert list(said(one)) == ["five"]


def test_what_other_claims_imply_for_guesses() -> None:
    known: dict[str, Any] = {"unit": "single prediction", "coins": "all", "source": "nobody"}
    stable = implied(Stability(gamma=0.3, **known))
    assert stable is not None
    assert (stable.epsilon, stable.delta) == (0, 0.3)
    for mu in (0.001, 0.5, 1.0, 3.0):
        gaussian = implied(GDP(mu=mu, **known))
        assert gaussian is not None
        # the likelihood ratio test between N(0, 1) and N(mu, 1), integrated by its tails
        cut = gaussian.epsilon / mu + mu / 2
        left = norm.sf(cut - mu) - np.exp(gaussian.epsilon) * norm.sf(cut)
        assert left <= gaussian.delta + 1e-12
        assert mu < 0.01 or left >= gaussian.delta - 1e-6
    curve = implied(zCDP(0.5, **known))
    assert curve is not None
    assert str(curve) == "zCDP(0.5)"
    assert curve.delta == 0.01
    assert implied(Accuracy(bound=0.1, **known)) is None


def test_a_gaussian_claim_is_broken_too(folder: Path) -> None:
    words = "--against mechanism --budgets 1 --transcripts 0 --models 60 --attacks lira"
    for claim in ("mu=0.5", "gamma=0.1"):
        code, record = run(f"mine:lying --claim {claim} {words}")
        assert code == 1, claim
        assert claim.partition("=")[2] in record["subjects"][0]["claim"]["source"]
    assert run(f"mine:honest --claim gamma=0.1 {words}")[0] == 0


def test_estimators_and_programs_from_the_command_line(folder: Path) -> None:
    code, record = run("mine:forest --data people.csv --label income --models 8")
    assert code == 0
    assert list(said(record)) == ["mine:forest (unprotected)"]
    assert best(said(record)["mine:forest (unprotected)"]) > 0.7
    assert record["run"]["data"]["labels"] == ["high", "low", "middle"]
    sizes = "--models 60 --data houses.csv --label price --budgets 1 --transcripts 0"
    words = [*FEW.split(), *sizes.split(), "--process", f"{sys.executable} server.py"]
    words += ["--claim", "epsilon=1"]
    assert main(["attack", *words, "--out", "out"]) == 1
    found = said(record_of(Path("out")))
    assert found["process"]["accuracy"] is None
    assert list(found) == ["tree (unprotected)", "process"]


def test_numbers_from_the_command_line(folder: Path) -> None:
    data = "--data houses.csv --label price"
    code, record = run(f"mine:numbers --claim epsilon=1 --budgets 1 --transcripts 0 {data}")
    assert code == 1
    found = said(record)
    assert best(found["mine:numbers"]) == 1.0  # it gives the very number away
    names = "loss-threshold single-record lira lira-offline rmia rmia-offline"
    assert {each["attack"] for each in found["mine:numbers"]["outcomes"]} == set(names.split())
    code, record = run(f"mine:regression {data} --models 8")
    assert code == 0
    assert 0.7 < best(said(record)["mine:regression (unprotected)"]) <= 1


def test_three_classes_take_the_mechanisms_that_have_them(folder: Path) -> None:
    data = "--data people.csv --label income --epsilon 1 --budgets 1"
    record = run(f"{data} --records 60 --transcripts 0 --models 4 --attacks lira")[1]
    names = ["tree (unprotected)", "pate", "private-knn", "distance-to-instability"]
    assert [name.split(",")[0] for name in said(record)] == names
    assert all(each["error"] is None for each in record["subjects"])


def test_a_mechanism_whose_loss_nothing_sets_has_its_own_claim(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "--against mechanism --transcripts 0 --attacks lira --budgets 8 -p sigma=2"
    record = run(f"private-knn-gaussian {words}")[1]
    (subject,) = record["subjects"]
    (claim,) = PrivateKNNGaussian(sigma=2.0).claims
    assert isinstance(claim, DP)
    assert subject["claim"]["epsilon"] == pytest.approx(claim.epsilon)
    assert subject["outcomes"][0]["allowed"]["delta"] == pytest.approx(8e-5)
    # a long line is broken before the claim
    assert "detectable no leak,\n  claim" in capsys.readouterr().out


NUMBERS = "mine:numbers --claim epsilon=1 --data houses.csv --label price"


@pytest.mark.parametrize(("words", "told"), [
    ("mine:lying", "say --claim epsilon=1"),
    ("mine:lying --claim mu=-1", "mu = -1.0: must be a number in"),
    ("mine:lying --claim epsilon=1 --epsilon 2", "--epsilon: has no effect on targets with"),
    ("--claim epsilon=1", "--claim epsilon=1: requires a TARGET"),
    ("--process cat", "--process cat: requires --claim"),
    ("mine:forest --answers 0,1", "--answers 0,1: requires a TARGET that is a function"),
    ("mine:forest --data houses.csv --label price", "predicts classes, and the label is taken"),
    ("mine:regression", "predicts numbers, and the label is taken as classes"),
    ("soft-majority --data houses.csv --label price", "answers labels, and the label is a num"),
    ("--data people.csv --label income --task numbers", "--label = 'income': must be a column"),
    ("--task numbers", "--task = 'numbers': requires --data FILE"),
    (f"{NUMBERS} --attacks gap", "--attacks = 'gap': must be one of loss-threshold"),
    (f"{NUMBERS} --adversary nat-miaq", "--adversary: 'mine:numbers' does not answer labels"),
])  # fmt: skip
def test_what_does_not_go_together_is_refused_in_one_line(
    words: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(f"-q --out out {words}") == 2
    found = capsys.readouterr()
    assert told in found.err
    assert found.err.count("\n") == 1
    assert not (folder / "out").exists()


def test_a_missing_value_has_a_code_of_its_own(folder: Path) -> None:
    table = load("people.csv", "income", missing=True)
    age, gone = table.columns["age"][0], table.columns["age is missing"][0]
    missing = people()["age"].isna().to_numpy()
    assert missing.any()
    assert (table.data.X[:, gone] == missing).all()
    assert (table.data.X[missing, age] == 0).all()
    assert len(table.columns["job"]) == 4  # three, and missing
    with pytest.raises(InvalidInput, match="missing"):
        load("people.csv", "income")  # a run does not take them
    real = load("houses.csv", "price", missing=True, numbers=None)
    assert real.numbers is not None
    np.testing.assert_array_equal(real.numbers[real.data.y], houses()["price"])


ENCODED = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]))


@pytest.mark.parametrize(("target", "data", "label"), [
    (make_pipeline(ENCODED, DecisionTreeClassifier()), people(), "income"),
    (RandomForestRegressor(n_estimators=5), houses(), "price"),
    (LinearSVC(), (houses().to_numpy()[:, :4], houses()["price"].to_numpy() > 0), None),
])  # fmt: skip
def test_estimators_on_data_as_they_are(target: Any, data: Any, label: str | None) -> None:
    result = attack(target, data=data, label=label, **SMALL | {"models": 8})
    valid(result.record)
    assert result.auc > 0.5
    assert result.claims == {}


def valid(record: Any) -> None:
    schema = jsonschema.Draft202012Validator(read_schema("attack"))
    schema.validate(json.loads(json.dumps(record)))


def test_the_same_again() -> None:
    words: dict[str, Any] = {"data": houses(), "label": "price", **SMALL, "models": 4}
    one, other = (attack(RandomForestRegressor(n_estimators=2), **words) for _ in range(2))
    assert one.record == other.record


def telling(data: pd.DataFrame, queries: pd.DataFrame, size: int, rng: Any) -> list[list[str]]:
    """Answer the label of the record that is asked about, a text."""
    known = {tuple(map(str, row[:2])): row[2] for row in data.to_numpy().tolist()}
    asked = [known.get(tuple(map(str, row)), "none") for row in queries.to_numpy().tolist()]
    return [asked] * size


def silent(data: Any, queries: Any, size: int, rng: Any) -> Any:
    """Answer something that has nothing to do with the data."""
    return rng.normal(size=(size, len(queries)))


def test_a_function_gets_frames_and_answers_anything() -> None:
    words: dict[str, Any] = {"label": "income", "claim": DP(epsilon=1), "budgets": (1,)}
    result = attack(telling, data=people(), **words, **SMALL)
    assert result.broken
    assert result.claims == {"telling": "broken"}
    assert result.lower is not None
    assert result.lower > 1
    assert "telling: broken" in str(result)
    still = attack(silent, data=houses(), **words | {"label": "price"}, **SMALL)
    assert not still.broken


def test_what_is_refused_from_python() -> None:
    known: dict[str, Any] = {"data": people(), "label": "income"}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"target": telling, **known}, "claim is missing: telling"),
        ({"target": 3, **known}, "target = int: must be an estimator"),
        ({"target": RandomForestClassifier, "data": people()}, "must be an object, not its class"),
        ({"target": telling, "data": people()}, "label is missing: must be a column of data"),
        ({"target": telling, **known | {"label": "incom"}}, "did you mean 'income'?"),
        ({"target": telling, "data": "a.csv"}, "data = str: must be a DataFrame"),
        ({"target": telling, "data": ([[1.0]], [1, 2])}, "must be features of shape"),
        ({"target": telling, "claim": 1.0}, "claim = 1.0: must be a claim such as"),
        ({"target": LinearSVC(), "claim": DP(epsilon=1)}, "an estimator claims none"),
        ({"target": LinearSVC(), "attacks": ["lir"]}, "attacks = 'lir': must be one of gap"),
        ({"target": LinearSVC(), "task": "numbers"}, "task = 'numbers': requires data"),
        ({"target": LinearSVC(), "budgets": (0,)}, "budgets = 0: must be integers >= 1"),
    ]
    for words, told in cases:
        with pytest.raises(InvalidInput) as error:
            attack(**words)
        assert told in str(error.value)
        assert "\n" not in str(error.value)

    class Broken(DecisionTreeClassifier):  # type: ignore[misc]
        def predict(self, X: Any) -> Any:
            raise RuntimeError("broken on purpose")

    with pytest.raises(TargetError, match="broken on purpose"):
        attack(Broken(), **SMALL)


def split(data: pd.DataFrame, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    return data.iloc[:n], data.iloc[n : 2 * n]


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(20, random_state=0), DecisionTreeClassifier()]
)
def test_a_trained_model_with_lists_of_members_and_non_members(model: Any) -> None:
    frame = houses()
    if isinstance(model, DecisionTreeClassifier):
        frame["price"] = frame["price"] > 0
    inside, outside = split(frame, 150)
    model.fit(inside.drop(columns="price"), inside["price"])
    alone = attack_model(model, inside, outside, label="price")
    assert alone.lower is None
    assert alone.auc > 0.55
    helped = attack_model(model, inside, outside, label="price", reference=model, references=8)
    assert helped.auc > alone.of("loss-threshold")["auc"]
    shift = helped.record["run"]["signals"]["shift"]
    assert shift["from"] == "features"
    assert shift["low"] <= 0.5 <= shift["high"]
    valid(helped.record)


def test_members_of_another_kind_are_told(tmp_path: Path) -> None:
    inside, outside = split(houses(), 150)
    outside = outside.assign(a=outside["a"] + 2)
    model = RandomForestRegressor(10, random_state=0).fit(
        inside.drop(columns="price"), inside.price
    )
    found = attack_model(model, inside, outside, label="price")
    assert found.record["run"]["signals"]["shift"]["low"] > 0.6
    path = found.save(tmp_path / "found")
    assert main(["report", str(path), "--format", "md", "--out", str(tmp_path)]) == 0
    assert "They differ without the attacked models" in (tmp_path / "attack.md").read_text()


def test_models_that_saw_no_record_are_for_offline_attacks() -> None:
    frame = houses()
    X, y = frame.drop(columns="price").to_numpy(), (frame["price"] > 0).to_numpy().astype(int)
    model = DecisionTreeClassifier(random_state=0).fit(X[:100], y[:100])
    others = [DecisionTreeClassifier(random_state=k).fit(X[200:], y[200:]) for k in range(4)]
    parts, flags = ((X[:100], y[:100]), (X[100:200], y[100:200])), np.arange(200) < 100
    found = attack_model(model, *parts, reference=others)
    left_out = found.record["run"]["signals"]["left_out"]
    assert any(each.startswith("lira: needs reference models with every") for each in left_out)
    assert found.of("lira-offline")["auc"] > 0.5
    paired = [(model, flags), *((each, ~flags) for each in others)]
    assert attack_model(model, *parts, reference=paired, attacks=["lira"]).of("lira")


def test_what_a_trained_model_is_refused_for() -> None:
    frame = houses()
    model = RandomForestRegressor(3).fit(frame.drop(columns="price"), frame["price"])
    inside, outside = split(frame, 100)
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((3, inside, outside), {}, "model = int: must be trained and have predict"),
        ((model, inside.iloc[:0], outside), {}, "members = 'shapes (0, 4) and (0,)': must be"),
        ((model, inside, outside.drop(columns="a")), {}, "non_members = 'columns b, c, d': must"),
        ((model, inside, outside.to_numpy()), {}, "non_members = ndarray: must be a DataFrame"),
        ((model, inside.assign(price=np.nan), outside), {}, "label[0] = nan: must be a finite"),
        ((model, inside.assign(price="a"), outside), {}, "label: must be"),
        ((model, inside, outside), {"reference": 3}, "reference = int: must be an estimator with"),
        ((model, inside, outside), {"reference": [(model, [True])]}, "reference[0] = 'flags of sh"),
        ((model, inside, outside), {"attacks": ["gap"]}, "--attacks = gap: needs what was seen of"),
    ]
    for arguments, known, told in cases:
        with pytest.raises(InvalidInput) as error:
            attack_model(*arguments, label="price", **known)
        assert told in str(error.value)
    wide = inside.assign(e=1.0), outside.assign(e=1.0)
    with pytest.raises(TargetError, match="model: ValueError was raised"):
        attack_model(model, *wide, label="price")


class Responding:
    """Randomised response on whether a record is in: its own number, or another one far off."""

    def __init__(self, loss: float) -> None:
        self.right = 1 / (1 + np.exp(-loss))

    def __call__(self, data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        known = set(data.X[:, 0].tolist())
        inside = np.array([x in known for x in queries[:, 0].tolist()])
        keep = rng.random((size, len(queries))) < self.right
        own = queries[:, 0] % 2 + 0.5
        return np.where(inside == keep, own, own + 5)


def alarms(loss: float, seeds: int, models: int) -> int:
    data = np.arange(40.0)[:, None], np.arange(40) % 2 + 0.5
    sizes: dict[str, Any] = {"records": 16, "references": 4, "models": models, "budgets": (1,)}
    words: dict[str, Any] = {"data": data, "claim": DP(epsilon=1), "attacks": ["lira"]}
    target = Responding(loss)
    return sum(
        attack(target, **words, **sizes, confidence=0.8, seed=seed).broken for seed in range(seeds)
    )


@pytest.mark.slow
def test_a_claim_that_is_just_kept_is_not_broken_more_often_than_alpha() -> None:
    """40 attacks at confidence .8, against the region of Bin(40, 0.2); an error of .6 shows."""
    assert alarms(1.0, 40, 24) <= binom.ppf(0.9999, 40, 0.2)
    assert alarms(4.0, 3, 60) == 3  # and it is broken where far more leaks
