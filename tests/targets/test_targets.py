"""From a name and parameters to a mechanism."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression

from dpassay import Mechanism, audit, replace_one
from dpassay.claims import DP
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.resolve import AnswerKind, parameters_of, resolve

CLAIM = (DP(epsilon=1.0),)


def test_text_becomes_the_type_of_the_parameter() -> None:
    target = resolve("soft-majority", {"epsilon": "0.5", "r": "7", "learner": "tree"})
    assert target.parameters == {"epsilon": 0.5, "r": 7, "learner": "tree", "partition": "fixed"}
    assert target.claims[0].promised == 0.5


@pytest.mark.parametrize(
    ("target", "parameters", "message"),
    [
        ("soft-majorty", {}, "= 'soft-majorty': no such mechanism; did you mean 'soft-majority'"),
        ("zzz", {}, "no such mechanism; see `dpassay list`"),
        ("soft-majority", {"epsilonn": 1}, "-p epsilonn: .*did you mean 'epsilon'"),
        ("soft-majority", {"zzz": 1}, "it has epsilon, r, learner, partition"),
        ("soft-majority", {"r": "many"}, "-p r=many: must be an integer"),
        ("soft-majority", {"epsilon": "much"}, "-p epsilon=much: must be a number"),
        ("soft-majority", {"r": "0"}, "r = 0: must be an integer >= 1"),
        ("no_such_module:f", {}, "cannot import 'no_such_module'"),
        ("math:no_such_function", {}, "module 'math' has no 'no_such_function'"),
        ("math:pi", {}, "must be a mechanism, an estimator or a function, not float"),
        ("math:sqrt", {}, "plain function and has no claim of its own"),
        ("math:sqrt", {"a": 1}, "is no mechanism class, it takes no parameters"),
        (":f", {}, "must have the form module:object"),
    ],
)
def test_what_is_refused(target: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        resolve(target, parameters)


def test_a_function_with_a_claim_is_a_mechanism() -> None:
    target = resolve("tests.core.toys:module_response", None, CLAIM, AnswerKind())
    assert (target.claims, target.labels, target.parameters) == (CLAIM, (0, 1), {})


def test_a_text_names_what_is_audited() -> None:
    result = audit("soft-majority", mode="exact")
    assert (result.verdict, result.target.name) == ("not refuted", "soft-majority")
    pairs, toy = replace_one([[0.0], [1.0]], [0, 1]), "tests.core.toys:module_response"
    found = audit(toy, claim=DP(epsilon=0.01), pairs=pairs, queries=[[0.0]], budget=1000)
    assert (found.verdict, found.target.address) == ("refuted", toy)
    with pytest.raises(InvalidInput, match="must be http://HOST"):
        audit("ftp://host", claim=DP(epsilon=1.0), data=[0, 1])


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_can_be_searched_or_says_why_not(name: str) -> None:
    assert isinstance(resolve(name).given, Mechanism)
    if any(claim.of_events for claim in resolve(name).claims):
        target = resolve(name, {}, None, AnswerKind(free=True))
        assert target.mechanism.free
        assert all(claim.of_events for claim in target.claims)
    else:
        with pytest.raises(InvalidInput, match="a search goes with claims of kind DP, GDP and"):
            resolve(name, {}, None, AnswerKind(free=True))


def test_parameters_make_the_mechanism_again_with_any_claim() -> None:
    target = resolve("projected-walk", {"T": 3, "ties": "index"}, CLAIM)
    assert target.claims == CLAIM
    assert resolve("projected-walk", target.parameters).mechanism == target.mechanism


def test_an_object_among_the_parameters_is_shown_by_its_repr() -> None:
    shown = parameters_of(SoftMajority(learner=LogisticRegression()))["learner"]
    assert shown == "LogisticRegression()"
    assert parameters_of(object()) == {}


def test_text_for_a_parameter_whose_default_is_none_takes_the_annotated_type() -> None:
    name = "dpassay.mechanisms.dwork_feldman_2018.psgd:PSGD"
    assert resolve(name, {"L_l": "2", "loss": "logistic"}).parameters["L_l"] == 2.0
    with pytest.raises(InvalidInput, match="-p L_l=steep: must be a number"):
        resolve(name, {"L_l": "steep"})
