"""The AUC on a public sample as what is released, against scikit-learn and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from dpassay.api import audit
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.chaudhuri_vinterbo_2013.alpha_split import AlphaSplit
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import (
    MOST,
    as_text,
    auc,
    read,
    released_auc,
    sample_of,
    standard,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.output_perturbation import OutputPerturbation
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.targets.resolve import resolve

PRIVATE: list[tuple[str, dict[str, Any]]] = [
    ("objective-perturbation", {"d": 2, "n": 12, "m": 0}),
    ("output-perturbation", {"d": 2, "n": 12, "m": 0}),
    ("data-split", {"m": 5, "base": "objective-perturbation,oplr=true,lambdas=0.1;1,n=20"}),
    ("validate-train", {"m": 5, "base": "output-perturbation,lambdas=0.1;1,n=20"}),
]
DRAWS = 20_000


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_it_is_scikit_learns(digits: int) -> None:
    rng = np.random.default_rng(digits)
    scores, y = np.round(rng.normal(size=(50, 30)), digits), rng.integers(2, size=30)
    np.testing.assert_allclose(
        auc(scores, y), [roc_auc_score(y, row) for row in scores], rtol=0, atol=1e-14
    )


def test_by_hand() -> None:
    """Scores 1, 2, 2, 3 of records 0, 1, 0, 1: pairs 2 > 1, 2 = 2, 3 > 1, 3 > 2 make 3.5 of 4."""
    assert auc(np.array([[1.0, 2.0, 2.0, 3.0], [0.0] * 4]), np.array([0, 1, 0, 1])).tolist() == [
        3.5 / 4,
        0.5,
    ]


@pytest.mark.parametrize("d", [1, 2, 5])
def test_on_the_standard_sample_it_is_the_share_of_positive_weights(d: int) -> None:
    trainer = OutputPerturbation(d=d, feature_scale=3.0)
    w = np.random.default_rng(d).normal(size=(300, d))
    w[0] = 0.0
    shares = ((w > 0) + 0.5 * (w == 0)).mean(axis=1)
    np.testing.assert_allclose(released_auc(trainer, w, standard(d)), shares)
    assert len(set(shares[1:].tolist())) == d + 1


def test_equal_records_of_either_label_tie() -> None:
    X = np.random.default_rng(0).normal(size=(1, 7)) * np.ones((40, 1))
    public = Labelled(X, np.arange(40) % 2)
    w = np.random.default_rng(1).normal(size=(99, 7))
    assert (released_auc(OutputPerturbation(d=7), w, public) == 0.5).all()


@pytest.mark.parametrize(
    "name",
    ["objective-perturbation", "output-perturbation", "alpha-split", "data-split", "random-choice"],
)
def test_on_the_line_it_has_the_law_of_the_sign(name: str) -> None:
    """On the standard sample it is 1 where the prediction at 1 is, and 0 elsewhere. That law is
    exact."""
    parameters = {"n": 12} if "perturbation" in name else {"m": 2}
    number, label = (
        resolve(name, {**parameters, "release": release}).mechanism
        for release in ("auc", "prediction")
    )
    rng = np.random.default_rng(5)
    data = Labelled(rng.normal(size=(12, 1)), rng.integers(2, size=12))
    found = number.sample(number.prepare(data), np.zeros((1, 1)), DRAWS, rng)[:, 0]
    mechanism: Any = label
    law = mechanism.distribution(mechanism.prepare(data), np.ones((1, 1)))
    assert isinstance(law, FiniteLaw)
    assert set(found.tolist()) == {0.0, 1.0}
    assert binomtest(int(found.sum()), DRAWS, law.p[0, 1]).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), PRIVATE)
def test_no_claim_is_refuted(name: str, parameters: dict[str, Any]) -> None:
    mechanism: Any = resolve(name, parameters | {"release": "auc"}).mechanism
    result = audit(mechanism, claim=mechanism.claims[0], mode="auto", budget=200)
    assert result.mode == "monte-carlo"
    assert result.verdict in ("not refuted", "inconclusive")
    assert result.evidence is not None
    assert all(group.queries.shape == (1, 1) for group in result.evidence.groups)


PUBLIC = Labelled(np.array([[0.5, 1.0], [1.0, -0.25], [-1.0, 1 / 3]]), np.array([1, 0, 1]))


def test_a_sample_of_ones_own_is_recorded_and_replays() -> None:
    mechanism = OutputPerturbation(d=2, n=8, m=0, alpha=3.0, release="auc", public=PUBLIC)
    assert mechanism.public == "0.5 1.0:1; 1.0 -0.25:0; -1.0 0.3333333333333333:1"
    result = audit(mechanism, mode="monte-carlo", budget=2000)
    assert result.target.parameters["public"] == mechanism.public
    witness = make_witness(result)
    assert witness is not None
    address = "dpassay.mechanisms.chaudhuri_vinterbo_2013.output_perturbation:OutputPerturbation"
    assert witness["target"] == address
    assert replay(witness).reproduced


def test_a_sample_of_ones_own_is_what_is_scored() -> None:
    mechanism = OutputPerturbation(d=2, m=0, release="auc", public=PUBLIC)
    rng = np.random.default_rng(2)
    state = mechanism.prepare(Labelled(rng.normal(size=(6, 2)), rng.integers(2, size=6)))
    found = mechanism.sample(state, np.zeros((1, 1)), 40, np.random.default_rng(1))[:, 0]
    w = mechanism.weights(state.V, mechanism.lambda_, mechanism.noise(40, np.random.default_rng(1)))
    assert found.tolist() == [
        roc_auc_score(PUBLIC.y, row) for row in mechanism.margins(w, PUBLIC.X)
    ]
    assert len(set(found.tolist())) > 2


def test_a_text_is_read_back() -> None:
    text = as_text(PUBLIC)
    back = read(text)
    assert back is not None
    assert (back.digest, as_text(text)) == (PUBLIC.digest, text)
    assert (as_text(""), as_text(None), read(" ")) == ("", "", None)
    assert sample_of("", 3).digest == standard(3).digest


@pytest.mark.parametrize(
    ("public", "allowed"),
    [
        (3.5, "must be a Labelled, a text like '1 0:1; 0 0:0', or left out"),
        ("1 0", "must be records like '1 0:1; 0 0:0'"),
        ("1 a:1; 0 0:0", "must be records like"),
        ("1:1; 0 0:0", "must be records like"),
        ("inf:1; 0:0", "must be a finite number"),
        ("1:1; 0:1", "must be records with both of the labels 0 and 1"),
        ("1:2; 0:0; 0:1", "must be records with both of the labels 0 and 1, and no other"),
        (Labelled(np.zeros((MOST + 1, 1)), np.arange(MOST + 1) % 2), f"must be of at most {MOST}"),
    ],
)
@pytest.mark.parametrize("made", [ObjectivePerturbation, AlphaSplit])
def test_refused(made: Any, public: Any, allowed: str) -> None:
    with pytest.raises(InvalidInput, match=r"public|X") as refusal:
        made(release="auc", public=public)
    assert allowed in str(refusal.value)


@pytest.mark.parametrize("name", ["objective-perturbation", "alpha-split", "validate-train"])
def test_too_narrow_a_sample(name: str) -> None:
    wide = (
        {"d": 2}
        if name == "objective-perturbation"
        else {"base": "output-perturbation,d=2,lambdas=0.1;1"}
    )
    with pytest.raises(InvalidInput, match="public = '1 columns': must be of at least d = 2"):
        resolve(name, {**wide, "public": "1:1; 0:0"})
