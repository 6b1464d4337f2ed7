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


@pytest.mark.parametrize("digits", [0, 8])
def test_it_is_scikit_learns(digits: int) -> None:
    rng = np.random.default_rng(digits)
    scores, y = np.round(rng.normal(size=(50, 30)), digits), rng.integers(2, size=30)
    np.testing.assert_allclose(
        auc(scores, y), [roc_auc_score(y, row) for row in scores], rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("d", [1, 2, 5])
def test_on_the_standard_sample_it_is_the_share_of_positive_weights(d: int) -> None:
    trainer = OutputPerturbation(d=d, feature_scale=3.0)
    w = np.random.default_rng(d).normal(size=(300, d))
    w[0] = 0.0
    shares = ((w > 0) + 0.5 * (w == 0)).mean(axis=1)
    np.testing.assert_allclose(released_auc(trainer, w, standard(d)), shares)
    assert len(set(shares[1:].tolist())) == d + 1


@pytest.mark.parametrize("name", ["objective-perturbation", "alpha-split", "data-split"])
def test_on_the_line_it_has_the_law_of_the_sign(name: str) -> None:
    """On the standard sample it is 1 where the prediction at 1 is, and 0 elsewhere."""
    draws = 5000
    parameters = {"n": 12} if "perturbation" in name else {"m": 2}
    number, label = (
        resolve(name, {**parameters, "release": release}).mechanism
        for release in ("auc", "prediction")
    )
    rng = np.random.default_rng(5)
    data = Labelled(rng.normal(size=(12, 1)), rng.integers(2, size=12))
    found = number.sample(number.prepare(data), np.zeros((1, 1)), draws, rng)[:, 0]
    mechanism: Any = label
    law = mechanism.distribution(mechanism.prepare(data), np.ones((1, 1)))
    assert isinstance(law, FiniteLaw)
    assert set(found.tolist()) == {0.0, 1.0}
    assert binomtest(int(found.sum()), draws, law.p[0, 1]).pvalue > 1e-3


PUBLIC = Labelled(np.array([[0.5, 1.0], [1.0, -0.25], [-1.0, 1 / 3]]), np.array([1, 0, 1]))


def test_a_sample_of_ones_own_is_recorded_and_replays() -> None:
    mechanism = OutputPerturbation(d=2, n=8, m=0, alpha=3.0, release="auc", public=PUBLIC)
    assert mechanism.public == "0.5 1.0:1; 1.0 -0.25:0; -1.0 0.3333333333333333:1"
    result = audit(mechanism, mode="monte-carlo", budget=200)
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
    scores = mechanism.margins(w, PUBLIC.X)
    assert found.tolist() == [roc_auc_score(PUBLIC.y, row) for row in scores]
    assert len(set(found.tolist())) > 2
    # records at one place tie, whatever their labels
    tied = Labelled(rng.normal(size=(1, 7)) * np.ones((40, 1)), np.arange(40) % 2)
    trainer, w = OutputPerturbation(d=7), rng.normal(size=(99, 7))
    assert (released_auc(trainer, w, tied) == 0.5).all()


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
def test_refused(public: Any, allowed: str) -> None:
    made: tuple[Any, ...] = (ObjectivePerturbation, AlphaSplit)
    for each in made:
        with pytest.raises(InvalidInput, match=r"public|X") as refusal:
            each(release="auc", public=public)
        assert allowed in str(refusal.value)


def test_too_narrow_a_sample() -> None:
    base = {"base": "output-perturbation,d=2,lambdas=0.1;1"}
    wide = {"objective-perturbation": {"d": "2"}, "alpha-split": base, "validate-train": base}
    for name, given in wide.items():
        with pytest.raises(InvalidInput, match="public = '1 columns': must be of at least d = 2"):
            resolve(name, {**given, "public": "1:1; 0:0"})
