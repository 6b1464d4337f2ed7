"""Contradictions in a record of attacks: what no experiment can have found."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from scipy.special import expit

from dpassay.claims import DP
from dpassay.errors import InvalidInput
from dpassay.record.attack_record import rungs_of
from dpassay.record.contradictions import ROUNDING
from dpassay.record.rebound import at_alpha
from dpassay.stats.bounds import clopper_pearson_lower
from dpassay.stats.guesses import concentrated, divergence, p_value
from dpassay.stats.lower_bounds import MOST_ALPHA
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]

SUMMED = 10**6
"""Right guesses up to which delta is reckoned with again; of more the bound without it is."""
THINNED = 1e-5
"""By so much a curve of six digits may be above the numbers that it was thinned from."""

UNDRAWN = "has a bound, and its membership was not drawn by dpassay: nothing is certified of it"


def contradiction(record: Raw) -> str:
    """Say what of a record contradicts the rest of it.

    Parameters
    ----------
    record : mapping
        Of attacks, that its schema allows.

    Returns
    -------
    str
        One line about the first contradiction; empty if there is none.
    """
    run = record["run"]
    subjects = (
        f"{each['name']} {told}"
        for each in record["subjects"]
        if each["error"] is None
        for told in _of_subject(each, run)
    )
    repeated = (
        f"{each['name']} {told}"
        for each in record["repeated"]
        if not each.get("error")
        for told in _of_repeated(each)
    )
    return next(chain(_of_run(record), subjects, repeated, _of_errors(record)), "")


def _of_run(record: Raw) -> Iterator[str]:
    """Say what of the whole record cannot be."""
    for what in ("subjects", "repeated"):
        for name in _twice(each["name"] for each in record[what]):
            yield f"{what} has {name} twice"
    run = record["run"]
    beyond = {*run.get("canaries", ()), *run.get("poisoned", ())}
    if max(beyond, default=-1) >= run["records"]:
        yield f"run names record {max(beyond)}, of {run['records']}"


def _of_errors(record: Raw) -> Iterator[str]:
    """Say that the error probabilities of all bounds are more together than the run allows."""
    alphas = [
        bound["alpha"]
        for subject in record["subjects"]
        if subject["error"] is None
        for bound in chain(
            subject["certified"],
            (each["one_run"] for each in subject["outcomes"]),
            (part["one_run"] for each in subject["outcomes"] for part in each["slices"]),
        )
        if bound is not None
    ]
    alphas += [
        rung["alpha"]
        for each in record["repeated"]
        if not each.get("error")
        for rung in rungs_of(each)
        if "alpha" in rung
    ]
    all_of_them, allowed = math.fsum(alphas), 1 - record["run"]["confidence"]
    if all_of_them > allowed * (1 + ROUNDING):
        yield (
            f"its bounds are wrong with probability {all_of_them:.6g} together, where confidence "
            f"allows {allowed:.6g}"
        )


def _of_subject(subject: Raw, run: Raw) -> Iterator[str]:
    """Yield what is wrong; what comes later may rely on what came before."""
    outcomes = subject["outcomes"]
    yield from _of_views(subject)
    yield from _of_targets(subject, run.get("targets"))
    yield from _of_interval(subject["accuracy"], "accuracy", "mean", "low", "high")
    yield from _of_interval(subject.get("no_leak"), "no_leak", "middle", "middle", "high")
    for outcome in outcomes:
        found = chain(_of_curve(outcome), _of_numbers(outcome, run))
        yield from (f"{told} (attack {outcome['attack']})" for told in found)
    views = {each["view"]["name"]: each for each in outcomes}
    for bound in subject["certified"]:
        if bound["view"] not in views:
            yield "has a bound for a view that nothing was attacked in"
        else:
            yield from _of_guesses(bound, views[bound["view"]]["allowed"], run)
    held = {(each["view"], _promised(each)) for each in subject["certified"] if "renyi" in each}
    for name in _twice(view for view, _ in held):
        yield f"holds Rényi losses of the view '{name}' against two claims"
    for name, _ in _twice((each["view"], each["record"]) for each in subject["certified"]):
        yield f"has two bounds of a record in the view '{name}'"
    for each in (*subject["exposed"], *(told["rule"] for told in subject.get("again", ()))):
        if each["record"] >= run["records"]:
            yield f"names record {each['record']}, of {run['records']}"
    if subject["separations"] != sorted(subject["separations"]):
        yield "has quantiles of the separation that do not rise"


def _promised(bound: Raw) -> tuple[Any, Any]:
    return bound["renyi"]["order"], bound["renyi"]["allowed"]


def _of_targets(subject: Raw, targets: int | None) -> Iterator[str]:
    """Say what was counted at other targets than there are; a baseline keeps no rates of them."""
    rates = {len(rates) for each in subject["outcomes"] for rates in each["tpr_per_target"]}
    if len(rates) > 1:
        yield f"has rates of {min(rates)} targets and of {max(rates)}: must be of the same"
    if targets is None:
        return
    if not rates <= {0, targets}:
        yield f"has rates of {max(rates)} targets, of {targets}"
    if any(each["right"] > targets for each in subject.get("again", ())):
        yield f"counts more right guesses again than {targets} targets"


def _of_views(subject: Raw) -> Iterator[str]:
    """Say which views are told in two ways, or are allowed more than is claimed."""
    outcomes, claim = subject["outcomes"], subject["claim"]
    if any((each["allowed"] is None) != (claim is None) for each in outcomes):
        yield "is held against a claim that it has not"
    for _, name in _twice((each["attack"], each["view"]["name"]) for each in outcomes):
        yield f"was attacked twice in the view '{name}' by one attack"
    told: dict[str, tuple[Any, Any]] = {}
    for each in outcomes:
        view, allowed = each["view"], each["allowed"]
        if told.setdefault(view["name"], (view, allowed)) != (view, allowed):
            yield f"tells the view '{view['name']}' in two ways"
        if claim is not None and allowed is not None:
            yield from _of_claim(claim, view["m"] or 1, allowed["epsilon"], allowed["delta"])


def _of_claim(claim: Raw, m: int, epsilon: float | str, delta: float) -> Iterator[str]:
    """Say that m answers may lose more than m times what a claim allows one of them.

    By how probable a right guess may be: of a claim that is a curve another point may be told.
    """
    most = _allowed_guesses(m * float(claim["epsilon"]), min(1.0, m * float(claim["delta"])))
    if 1 - _allowed_guesses(float(epsilon), delta) < (1 - most) * (1 - ROUNDING) - 1e-15:
        yield (
            f"allows {m} answers to lose {epsilon} at delta = {delta}, more than {m} times its "
            f"claim of {claim['epsilon']} at delta = {claim['delta']}"
        )


def _allowed_guesses(epsilon: float, delta: float) -> float:
    return delta + (1 - delta) * float(expit(epsilon))


def _of_interval(held: Raw | None, what: str, middle: str, low: str, high: str) -> Iterator[str]:
    """Say that an estimate is outside of its own interval."""
    if held is None or held[middle] is None or held[low] is None or held[high] is None:
        return
    if not held[low] <= held[middle] <= held[high]:
        yield (f"has {what} with {middle} = {held[middle]}, outside of {held[low]} to {held[high]}")


def _of_curve(outcome: Raw) -> Iterator[str]:
    """Say what of the curve of an attack cannot be."""
    curve, ends = outcome["roc"], [outcome["roc"].get(name) for name in ("low", "high")]
    if len({len(each) for each in (curve["fpr"], curve["tpr"], *ends) if each is not None}) > 1:
        yield "has a curve with more rates of one kind"
        return
    if any(curve[name] != sorted(curve[name]) for name in ("fpr", "tpr")):
        yield "has a curve that falls"
    low, high = (each or curve["tpr"] for each in ends)
    if any(one > other for one, other in zip(low, high, strict=True)):
        yield "has a curve whose lower end is above its upper end"
    gains = (tpr - fpr for fpr, tpr in zip(curve["fpr"], curve["tpr"], strict=True))
    if max(gains) > outcome["advantage"] + THINNED:
        yield f"has an advantage of {outcome['advantage']}, and a curve with more"


def _of_numbers(outcome: Raw, run: Raw) -> Iterator[str]:
    """Say what of the numbers that an attack reached, on all records or a slice, cannot be."""
    for each in (outcome, *outcome["slices"]):
        yield from _of_interval(each, "an AUC", "auc", "auc_low", "auc_high")
        for at in each["operating"]:
            if at is not None and at["fpr"] > at["asked"] * (1 + ROUNDING):
                yield f"has a false positive rate of {at['fpr']} where {at['asked']} was asked for"
        if each["one_run"] is not None:
            yield from _of_one_run(each["one_run"], run)
    for part in outcome["slices"]:
        if part["records"] > run["records"]:
            yield f"has a slice of {part['records']} records, of {run['records']}"
    for name in _twice(part["slice"] for part in outcome["slices"]):
        yield f"has the slice '{name}' twice"


def _of_one_run(bound: Raw, run: Raw) -> Iterator[str]:
    """Say what of a one-run bound does not follow from its guesses."""
    v, r, m, alpha, delta = (bound[name] for name in ("v", "r", "m", "alpha", "delta"))
    if not v <= r <= m <= run["records"] * run.get("targets", 0):
        yield f"counts {v} right guesses of {r} at {m} coins: cannot be"
        return
    if "signals" in run:
        yield UNDRAWN
    yield from _of_alpha(alpha)
    cap = bound.get("cap", "inf")
    for name, right, told in (("epsilon", v, bound["epsilon"]), ("cap", r, cap)):
        value = min(float(told), 1e3) * (1 - ROUNDING) - ROUNDING
        summed = {"delta": delta} if right <= SUMMED else {}
        if name in bound and value > 0 and p_value(right, r, epsilon=value, m=m, **summed) > alpha:
            yield f"has a one-run {name} of {told}, which {right} right guesses of {r} do not show"


def _of_guesses(bound: Raw, allowed: Raw | None, run: Raw) -> Iterator[str]:
    """Say what of a bound does not follow from the guesses at the coin of a record."""
    if "signals" in run:
        yield UNDRAWN
    counts, alpha = bound["counts"], bound["alpha"]
    if bound["record"] >= run["records"] or bound["record"] != bound["rule"]["record"]:
        yield f"has a bound of record {bound['record']}, by a rule for {bound['rule']['record']}"
    if counts is None:
        yield from _of_lower(float(bound["lower"]), 0.0)
        return
    yield from _of_counts(counts, alpha)
    right, trials = counts["x"] + counts["n0"] - counts["y"], counts["n1"] + counts["n0"]
    yield from _of_fresh(bound, right, trials, run.get("targets"))
    delta = 0.0 if allowed is None else float(allowed["delta"])
    q, most = (float(clopper_pearson_lower(each, trials, alpha)) for each in (right, trials))
    yield from _of_lower(float(bound["lower"]), _loss(q, delta))
    yield from _of_lower(float(bound.get("cap", 0.0)), _loss(most, delta), "cap")
    yield from _of_lower(bound["gamma"], max(0.0, 2 * q - 1), "gamma")
    yield from _of_lower(bound.get("gamma_cap", 0.0), max(0.0, 2 * most - 1), "gamma_cap")
    if "renyi" in bound:
        renyi, chances = bound["renyi"], (max(0.5, q), max(0.5, most))
        order = renyi["order"]
        low, cap = (concentrated(s) if order is None else divergence(s, order) for s in chances)
        yield from _of_lower(float(renyi["lower"]), low, "Rényi loss")
        yield from _of_lower(float(renyi["cap"]), cap, "cap of its Rényi loss")


def _of_fresh(bound: Raw, right: int, trials: int, targets: int | None) -> Iterator[str]:
    """Say which guesses from fresh answers, or at targets, there cannot have been."""
    fresh = dict.fromkeys(("x", "n1", "y", "n0"), 0) | dict(bound.get("fresh", {}))
    if any(bound["counts"][name] < number for name, number in fresh.items()):
        yield "counts more guesses from fresh answers than in all"
    if not (fresh["x"] <= fresh["n1"] and fresh["y"] <= fresh["n0"]):
        yield "counts more guesses from fresh answers than there were"
    rest = trials - fresh["n1"] - fresh["n0"]
    mine = right - (fresh["x"] + fresh["n0"] - fresh["y"])
    if not 0 <= mine <= rest or (targets is not None and rest != targets):
        yield f"counts {mine} right guesses of {rest} at its {targets} targets"


def _loss(q: float, delta: float) -> float:
    """Loss that right guesses with chance q show."""
    if q >= 1:
        return math.inf
    return max(0.0, float(Ratio(delta).between(q, 1 - q))) if q > 0 else 0.0


def _of_repeated(entry: Raw) -> Iterator[str]:
    """Say what of repeated answers does not follow from their transcripts, or is misjudged."""
    rungs = rungs_of(entry)
    for m in _twice(rung["m"] for rung in rungs):
        yield f"has two rungs of {m} answers"
    for rung in rungs:
        basic = rung.get("basic", rung.get("epsilon_claimed"))
        if basic is not None and rung.get("broken", False) != (float(rung["lower"]) > float(basic)):
            yield (
                f"loses {rung['lower']} of {basic} in {rung['m']} answers, and is broken: "
                f"{rung.get('broken', False)}"
            )
        if {"epsilon", "delta"} <= entry.keys() and {"basic", "delta"} <= rung.keys():
            yield from _of_claim(entry, rung["m"], rung["basic"], rung["delta"])
        yield from _of_limits(rung)
        yield from _of_transcripts(rung, entry.get("transcripts"))


def _of_limits(rung: Raw) -> Iterator[str]:
    """Say which chance of a rung is none."""
    limits = rung.get("limits") or {}
    for held, names in ((rung, ("advantage",)), (limits, ("advantage", "auc", "adaptive"))):
        for name in names:
            value = held.get(name)
            if value is not None and not -1 <= float(value) <= 1:
                yield f"has {name} = {value} in {rung['m']} answers: must be in [-1, 1]"


def _of_transcripts(rung: Raw, transcripts: object) -> Iterator[str]:
    counts, lower, delta = rung.get("counts"), float(rung["lower"]), float(rung.get("delta", 0.0))
    if counts is None or not {"alpha", "method"} <= rung.keys():
        return
    yield from _of_counts(counts, rung["alpha"])
    if isinstance(transcripts, int) and max(counts["n1"], counts["n0"]) > transcripts:
        yield f"counts {max(counts['n1'], counts['n0'])} transcripts a side, of {transcripts}"
    # no test rejects a loss at which counts that show all of it are likelier than alpha
    always = rung["alpha"] ** (1 / (2 * max(counts["n1"], counts["n0"])))
    yield from _of_lower(float(rung.get("cap", 0.0)), _loss(always, delta), "cap")
    claim = DP(epsilon=1.0, delta=delta)
    cell = {"query": 0, "counts": counts, "method": rung["method"]}
    try:
        proven = at_alpha(cell, claim, rung["alpha"])
    except InvalidInput as error:
        yield f"has a bound that cannot be made again: {error}"
        return
    yield from _of_lower(lower, proven)


def _of_counts(counts: Raw, alpha: float) -> Iterator[str]:
    if not (counts["x"] <= counts["n1"] and counts["y"] <= counts["n0"]):
        yield "counts more answers than trials"
    if not counts["n1"] + counts["n0"]:
        yield "has a bound of no trials"
    yield from _of_alpha(alpha)


def _of_alpha(alpha: float) -> Iterator[str]:
    if not 0 < alpha <= MOST_ALPHA:
        yield f"has alpha = {alpha}: must be in (0, {MOST_ALPHA}]"


def _of_lower(lower: float, proven: float, what: str = "lower bound") -> Iterator[str]:
    if lower > proven + ROUNDING * max(1.0, proven):
        yield f"has a {what}, {lower}, where its trials show {proven:.12g}"


def _twice(names: Iterable[Hashable]) -> list[Any]:
    """Return what comes again, each once."""
    seen: Sequence[Hashable] = sorted(names, key=str)
    return list(dict.fromkeys(one for one, other in pairwise(seen) if one == other))
