"""Parameters out of range are refused by name, with the value and what is allowed."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.resolve import accepts, resolve

PRIVATE = [name for name in CATALOGUE if "epsilon" in resolve(name).parameters]
TEACHERS = ["pate", "pate-data-dependent", "pate-gaussian", "distance-to-instability"]
BLOCKS = [
    *("soft-majority", "soft-majority-overview", "averaged", "stable-laplace", "stable-gaussian"),
    *("noisy-average", "noisy-average-number", "bagged", *TEACHERS),
]
WALK, OVERVIEW = "projected-walk", "projected-walk-overview"
GAMMA = [name for name in BLOCKS if "gamma" in resolve(name).parameters]
SHARED = [
    *((name, {"epsilon": 0}, "epsilon = 0: must be a finite number > 0") for name in PRIVATE),
    *((name, {"epsilon": math.nan}, "epsilon = nan: must be a finite") for name in PRIVATE),
    *((name, {"r": 0}, "r = 0: must be an integer >= 1") for name in BLOCKS),
    *((name, {"learner": "oracle"}, "logistic") for name in BLOCKS),
    *((name, {"gamma": 0}, "gamma = 0: must be a finite number > 0") for name in GAMMA),
    *((name, {"K": 1}, "K = 1: must be an integer >= 2") for name in (*TEACHERS, "private-knn")),
    *((name, {"delta": 1}, "delta = 1: must be a number in (0, 1)") for name in TEACHERS[1:]),
]
"""Parameters that several entries have: each must look at its own."""

BAD = """\
soft-majority | r=2.5 | r = 2.5: must be an integer >= 1
soft-majority | partition=random | 'fixed' or 'fresh'
stable-laplace | predictor=nowhere | module:object
stable-laplace | scale=b | 'meant' or 'printed'
stable-gaussian | calibration=b | 'analytic' or 'classic'
stable-gaussian | delta=nan | delta = nan: must be a number in (0, 1)
projected-walk | T=0 | T = 0: must be an integer >= 1
projected-walk | feature=-1 | feature = -1: must be an integer >= 0
projected-walk | ties=random | 'sum', 'index' or 'label'
projected-walk | traversed=all | 'up-to' or 'below'
projected-walk-error | k=0 | k = 0: must be an integer >= 1
projected-walk-risk | samples=75 | samples = 75: must be an integer >= 76
projected-walk-overview | alpha=1e-10 | alpha = 1e-10: must be a number in [1e-06, 1/2)
projected-walk-overview | alpha=0.5 | alpha = 0.5: must be a number in [1e-06, 1/2)
projected-walk-overview | ties=random | 'sum' or 'index'
erm-laplace | regulariser=once | 'mean' or 'sum'
ERM | lambda_=nan | lambda_ = nan: must be a finite number > 0, or None
ERM | lambda_=much | lambda_=much: must be a number
ERM | tolerance=2.0 | tolerance = 2.0: must be a number in (0, 1]
ERM | loss=huber | one of logistic, squared, absolute, hinge
ERM | n=0 | n = 0: must be an integer >= 1
psgd-laplace | threshold=inf | a finite number, or None
psgd-laplace | sign=plus | '-' or '+'
PSGD | n=1 | n = 1: must be an integer >= 2
PSGD | loss=hinge | one of logistic, squared, huber, smooth-hinge
PSGD | order=sorted | 'fixed' or 'random'
PSGD | average=last | 'before' or 'after'
PSGD | h=0.0 | h = 0.0: must be a finite number > 0
PSGD | h=0.1, loss=logistic | changes nothing with the loss 'logistic'
PSGD | L_l=0.5 | L_l = 0.5: must be a finite number >= 1
PSGD | L_l=1.9, loss=squared | L_l = 1.9: must be a finite number >= 2
PSGD | n=100, h=0.049 | Theorem 4.12 needs sigma <= 2 / eta = 20
PSGD | n=4, loss=logistic, R=17.0 | is 0.25-smooth in w; Theorem 4.12 needs sigma <= 2 / eta = 0.2
PSGD | R=0.0 | R = 0.0
interface | base=soft-mayority | base = 'soft-mayority': ~did you mean 'soft-majority'
interface | base=soft-majority,T=3 | base = ~'soft-majority' has no such parameter
interface | base=soft-majority,r | base = ~'r' must have the form name=value
interface | base=soft-majority,epsilon=2 | must be a parameter of the interface: -p epsilon=2
interface | base=interface | base = 'interface': must be an algorithm that answers labels 0 and 1
interface | base=7 | base = 7: must be a name of the catalogue
interface | m=0 | m = 0: must be an integer in 1..10
interface | m=11 | m = 11: must be an integer in 1..10
interface | adversary=oracle | must be one of repeat, sweep, batch, adaptive
interface | step=0 | step = 0: must be a finite number > 0
interface | delta_prime=1 | delta_prime = 1: must be a number in (0, 1)
interface | epsilon=300.0 | epsilon = 900.0: must be 0 or a number in [1e-100, 700]
group | k=0 | k = 0: must be an integer >= 1
group | k=13, base=stable-gaussian | must be so small that the promise for k records is one
group | k=701 | k = 701
group | k=13, base=stable-gaussian | k = 13: must be so small that the promise for k records is one
group | base=group | must be an algorithm whose claims are about 'replace-one'
group | base=averaged | base = 'averaged': must be an algorithm that promises DP
group | base=soft-majority,epsilon=2 | must be a parameter of the group: -p epsilon=2
subsampled | eta=nan | eta = nan: must be a number in (0, 1)
subsampled | eta=0.001 | eta = 0.001: must be such that eta n rounds to 1
subsampled | eta=0.999 | eta = 0.999: must be such that eta n rounds to 1
subsampled | order=sorted | order = 'sorted': must be 'random' or 'kept'
subsampled | n=1 | n = 1: must be an integer >= 2
subsampled | base=averaged,r=2 | must be an algorithm that promises DP
subsampled | base=group | must be an algorithm whose claims are about 'replace-one'
subsampled | base=projected-walk,epsilon=2 | must be a parameter of the subsampled: -p epsilon=2
subsampled | base=subsampled,n=7 | must be a parameter of the subsampled: -p n=7
subsampled | base=soft-majority,r=2, order=kept, epsilon=1.0 | order = 'kept': must be 'random'
bagged | how=bootstrap | how = 'bootstrap': must be 'disjoint' or 'subset'
bagged | n=0 | n = 0: must be an integer >= 1
bagged | r=30, n=29, how=subset | r = 30: must be at most the number of records, n = 29
label-flip | alpha=0.5 | alpha = 0.5: must be a number in (0, 1), but not 1/2
label-flip | calibration=b | 'corollary' or 'overview'
label-flip | base=bagged,r=9 | is Stability(0.111111); must be Stability(0.1)~raise one
label-flip | base=stable-learner,calibration=lemma7 | is Stability(0.12~must be Stability(0.1)
label-flip | base=soft-majority | must be an algorithm that promises Stability(...)
label-flip | base=bagged,n=3 | must be a parameter of the label-flip: -p n=3
label-flip | base=stable-learner,gamma=0.1 | must be a parameter of the label-flip: -p gamma=0.1
label-flip | n=0 | n = 0: must be an integer >= 1
label-flip | n=10 | base = 'stable-learner': n = 10: must be so large
exponential | points=0 | points = 0: must be an integer >= 1
exponential | points=400, H=intervals | at most 65,536 members
exponential | points=65, H=corners | points = 65: must be at most 64
exponential | low=1.0, high=1.0 | low < high
exponential | H=circles | H = 'circles': must be one of thresholds
exponential | representative=best | must be one of least, greatest, middle
stable-learner | alpha=1.5 | alpha = 1.5: must be a number in (0, 1)
stable-learner | n=0 | n = 0: must be an integer >= 1
stable-learner | n=19 | must be so large that gamma n / 2 >= 1 for gamma = 0.1, else T is empty
stable-learner | n=9, calibration=lemma7 | must be so large that gamma n >= 1 for gamma = 0.1
stable-learner | calibration=both | calibration = 'both': must be 'outline' or 'lemma7'
stable-learner | representative=random | must be one of least, greatest, middle
stable-learner | cover=H | cover = 'H': must be 'labelings' or 'net'
stable-learner | H=3 | H = 3: must be a hypothesis class
stable-learner | H=trees | H = 'trees': must be one of thresholds, intervals
stable-learner | H=halfspaces, points=9 | points = 9: must be an integer from 2 to 8
stable-learner | feature=-1 | feature = -1: must be an integer >= 0
stable-learner | H=corners, feature2=0 | feature2 = 0: must be another column than feature = 0
relabelled | n=0 | n = 0: must be
relabelled | n=8, n_prime=9 | n_prime = 9: must be
relabelled | n=8, eta=-0.1 | eta = -0.1: must be
relabelled | n=8, r=9 | r = 9: must be
relabelled | n=8, alpha=0.5 | alpha = 0.5: must be
objective-perturbation | alpha=0 | alpha = 0: must be a finite number > 0
objective-perturbation | tolerance=-1 | tolerance = -1: must be a finite number > 0
objective-perturbation | delta=1 | delta = 1: must be a number in (0, 1)
objective-perturbation | m=-1 | integer >= 0
objective-perturbation | d=0 | integer >= 1
objective-perturbation | n=10 | integer > m = 10
objective-perturbation | loss=ramp | one of logistic, huber, hinge
objective-perturbation | g=squared | one of logistic, hinge, ramp
objective-perturbation | release=weights | one of prediction, vector, bins
objective-perturbation | lambdas=0.1;0 | finite numbers > 0
objective-perturbation | lambdas=a;b | finite numbers > 0
objective-perturbation | feature_scale=1;-1 | finite numbers > 0
objective-perturbation | feature_scale=1;2 | one for each of d = 1 columns
objective-perturbation | edges=1;1 | ascending order
objective-perturbation | loss=hinge, d=2 | d = 2: must be 1 for the hinge loss
output-perturbation | h=0 | number in (0, 1]
validate | alpha1=0.0 | alpha1 = 0.0: must be
validate | alpha2=inf | alpha2 = inf: must be
validate | m=0 | m = 0: must be
validate | delta=1.0 | delta = 1.0: must be
validate | beta1=-1.0 | beta1 = -1.0: must be
validate | stability=own | stability = 'own': must be
validate | coins=thrown | coins = 'thrown': must be
validate | seed=-1 | seed = -1: must be
validate | base=soft-majority | base = 'soft-majority': must be
validate | base=output-perturbation,lambdas=1 | base = 'output-perturbation,lambdas=1':
validate | base=output-perturbation,lambdas | base = 'output-perturbation,lambdas':
random-choice | alpha=0.0 | alpha = 0.0: must be
random-choice | m=0 | m = 0: must be
random-choice | release=model | release = 'model': must be
histogram | alpha=0 | alpha = 0: must be a finite number > 0
histogram | h=0.3 | h = 0.3: must be a number with 1 / h an integer
histogram | h=0.001, d=3 | h = 0.001: must be
histogram | H= | H = '': must be one or more widths
histogram | H=0.1 x | H = '0.1 x': must be
histogram | n=10, m=10 | n = 10: must be an integer above m = 10
histogram | m=-1 | m = -1: must be an integer >= 0
histogram | delta=1 | delta = 1: must be a number in
histogram | d=0 | d = 0: must be an integer >= 1
histogram | feature=-1 | feature = -1: must be an integer >= 0
histogram | low=1.0, high=1.0 | low, high
histogram | release=some | release = 'some': must be one of all, count
histogram | release=comparison, h=1.0 | h = 1.0: must be so small
example61-exponential | alpha=inf | alpha = inf: must be a finite number > 0
example61-exponential | l=1 | l = 1: must be an integer from 2 to 6
example61-exponential | l=7 | l = 7: must be an integer from 2 to 6
example61-exponential | feature=-1 | feature = -1: must be
example61-exponential | m=-1 | m = -1: must be
example61-exponential | n=10 | n = 10: must be an integer above m = 10
example61-exponential | cut=nan | cut = nan: must be a finite number
example61-exponential | release=some | release = 'some': must be
example61-exponential | delta=1e-13 | delta = 1e-13: must be
example61-exponential | scale=b | scale = 'b': must be
pate | gamma=inf | gamma = inf: must be a finite number > 0
private-knn | gamma=0 | gamma = 0: must be a finite number > 0
private-knn | k=1.5 | k = 1.5: must be an integer >= 1
pate-data-dependent | lead=0 | integer from 1 to r = 25
pate-data-dependent | lead=26 | integer from 1 to r = 25
pate-gaussian | sigma=-1 | sigma = -1: must be a finite number > 0
distance-to-instability | distance=gap | 'replacements' or 'margin'
private-knn-gaussian | sigma=0 | sigma = 0:
private-knn-gaussian | q=0 | q = 0:
private-knn-gaussian | q=1.5 | q = 1.5:
private-knn-gaussian | delta=0 | delta = 0:
private-knn-gaussian | k=0 | k = 0:
dp-sgd | sigma=0 | sigma = 0: must be a finite number > 0
dp-sgd | C=0 | C = 0: must be a finite number > 0
dp-sgd | eta=-1 | eta = -1: must be a finite number > 0
dp-sgd | T=1.5 | T = 1.5: must be an integer >= 1
dp-sgd | q=0 | q = 0: must be a number in (0, 1]
dp-sgd | q=1.5 | q = 1.5: must be a number in (0, 1]
dp-sgd | delta=1 | delta = 1: must be a number in (0, 1)
dp-sgd | release=weights | 'score' or 'label'
dp-sgd | sigma=0.05 | sigma = 0.05: must be at least 0.0942809 for T
""".splitlines()
"""An entry or a part, what it is given, and words of the refusal; more may stand at a ~."""
PARTS = {
    "ERM": "dpassay.mechanisms.dwork_feldman_2018.erm:ERM",
    "PSGD": "dpassay.mechanisms.dwork_feldman_2018.psgd:PSGD",
}


def value_of(text: str) -> Any:
    """A number or None, given as such; else the text."""
    if text in {"inf", "nan"}:
        return float(text)
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def made(line: str) -> tuple[str, dict[str, Any], str]:
    name, given, said = (each.strip() for each in line.split("|"))
    pairs = (each.split("=", 1) for each in given.split(", "))
    return PARTS.get(name, name), {key: value_of(text) for key, text in pairs}, said


@pytest.mark.parametrize(("name", "parameters", "said"), [*SHARED, *map(made, BAD)])
def test_refused_with_name_value_and_range(
    name: str, parameters: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        resolve(name, parameters)
    assert any(parameter in str(refusal.value) for parameter in parameters)
    assert re.search(".*".join(map(re.escape, said.split("~"))), str(refusal.value))


@pytest.mark.parametrize("value", ["1", None])
def test_an_epsilon_that_is_no_number_is_refused_by_name(value: Any) -> None:
    """Given to the class itself, where no text is converted."""
    for name in PRIVATE:
        mechanism_class: Any = type(resolve(name).mechanism)
        with pytest.raises(InvalidInput, match="epsilon"):
            mechanism_class(epsilon=value)


@pytest.mark.parametrize("name", BLOCKS)
def test_more_blocks_than_records(name: str) -> None:
    data = Labelled(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    mechanism: Any = resolve(name, {"r": 5}).mechanism
    for method in (mechanism.check, mechanism.prepare):
        with pytest.raises(InvalidInput, match="r = 5: must be at most the number of records, 4"):
            method(data)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_third_label(name: str) -> None:
    data = Labelled(np.zeros((40, 1)), np.arange(40) % 3)
    mechanism: Any = resolve(name, {"n": 40} if accepts(name, "n") else {}).mechanism
    with pytest.raises(InvalidInput, match=r"labels = \[0, 1, 2\]: must be 0 and 1"):
        mechanism.check(data)


@pytest.mark.parametrize("name", [WALK, OVERVIEW])
def test_a_feature_that_the_data_do_not_have(name: str) -> None:
    mechanism: Any = resolve(name, {"feature": 2}).mechanism
    with pytest.raises(InvalidInput, match="feature = 2: must be below the number of columns, 2"):
        mechanism.check(Labelled(np.zeros((3, 2)), np.array([0, 1, 0])))


@pytest.mark.parametrize("alpha", [0, 1, math.nan])
def test_alpha_out_of_range(alpha: float) -> None:
    vote: Any = resolve("soft-majority").mechanism
    walk: Any = resolve(WALK).mechanism
    for function in (vote.blocks_for, walk.bound_for):
        with pytest.raises(InvalidInput, match=r"alpha = .*: must be a number in \(0, 1\)"):
            function(alpha)
