"""Records of attacks and of theorems read independently, by arithmetic and by what the docs say.

Nothing here is shared with `dpassay.record`. Each bound is held against a looser one that is made
of the same counts, so that what is refused here no experiment can have found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from scipy import stats

Raw = Mapping[str, Any]

SLACK = 1e-5


def of_attacks(record: Raw, code: int | None = None) -> Iterator[str]:
    """Yield what of a record of attacks cannot be; `code` is what its own run ended with."""
    run = record["run"]
    names = [each["name"] for each in record["subjects"]]
    if len(set(names)) < len(names):
        yield "two subjects have one name"
    alphas = 0.0
    for subject in record["subjects"]:
        if subject["error"] is None:
            alphas += sum(each["alpha"] for each in subject["certified"])
            yield from (f"{subject['name']}: {told}" for told in _of_subject(subject, run))
    if alphas > (1 - run["confidence"]) * (1 + SLACK):
        yield f"the error probabilities of its bounds are {alphas} together"
    for each in record["repeated"]:
        for rung in each.get("rungs", []) if not each.get("error") else []:
            yield from (f"{each['name']}, m = {rung['m']}: {told}" for told in _of_rung(rung))
    if code is not None and code != _code(record):
        yield f"its run ended with {_code(record)}, and not {code}"


def _of_subject(subject: Raw, run: Raw) -> Iterator[str]:
    deltas = {}
    for each in subject["outcomes"]:
        deltas[each["view"]["name"]] = each["allowed"]["delta"] if each["allowed"] else 0.0
        for part in (each, *each["slices"]):
            ends = [part["auc_low"], part["auc"], part["auc_high"]]
            if None not in ends and ends != sorted(ends):
                yield f"an AUC of {part['auc']} is outside of its interval"
            yield from _of_one_run(part["one_run"])
        claim = subject["claim"]
        if claim is not None:
            m = each["view"]["m"] or 1
            most = _chance(m * claim["epsilon"], min(1.0, m * claim["delta"]))
            if _chance(float(each["allowed"]["epsilon"]), each["allowed"]["delta"]) > most + 1e-9:
                yield f"{m} answers may lose {each['allowed']}, and one {claim['epsilon']}"
    for bound in subject["certified"]:
        if bound["record"] >= run["records"]:
            yield f"record {bound['record']} of {run['records']}"
        if bound["counts"] is not None:
            yield from _of_guesses(bound, deltas[bound["view"]])


def _chance(epsilon: float, delta: float) -> float:
    """Return how probable a right guess may be."""
    return delta + (1 - delta) / (1 + math.exp(-min(epsilon, 700.0)))


def _of_one_run(bound: Raw | None) -> Iterator[str]:
    if bound is None:
        return
    v, r, epsilon = bound["v"], bound["r"], float(bound["epsilon"])
    if not v <= r <= bound["m"]:
        yield f"{v} right guesses of {r} at {bound['m']} coins"
    elif epsilon > SLACK:
        # without delta the chance of so many right guesses is smaller still
        chance = 1 / (1 + math.exp(-min(epsilon * (1 - SLACK), 700.0)))
        if stats.binom.sf(v - 1, r, chance) > bound["alpha"] * (1 + SLACK):
            yield f"{v} right guesses of {r} show no {epsilon} at alpha {bound['alpha']}"


def _of_guesses(bound: Raw, delta: float) -> Iterator[str]:
    counts = bound["counts"]
    n1, n0, x, y = (counts[key] for key in ("n1", "n0", "x", "y"))
    if not (x <= n1 and y <= n0 and n1 + n0):
        yield f"{x} of {n1} against {y} of {n0}"
        return
    right, trials = x + n0 - y, n1 + n0
    for name, some in (("lower", right), ("cap", trials)):
        q = float(stats.beta.ppf(bound["alpha"], some, trials - some + 1)) if some else 0.0
        most = math.inf if q >= 1 else math.log((q - delta) / (1 - q)) if q > delta else 0.0
        if float(bound.get(name, 0)) > max(0.0, most) * (1 + SLACK) + SLACK:
            yield f"{some} right guesses of {trials} show no {name} of {bound[name]}"
        if name == "lower" and bound["gamma"] > max(0.0, 2 * q - 1) + SLACK:
            yield f"{some} right guesses of {trials} show no gamma of {bound['gamma']}"


def _of_rung(rung: Raw) -> Iterator[str]:
    lower = float(rung["lower"])
    if "basic" in rung and rung.get("broken", False) != (lower > float(rung["basic"])):
        yield f"loses {lower} of {rung['basic']}, and is broken: {rung.get('broken')}"
    counts = rung.get("counts")
    if counts is None or "alpha" not in rung:
        return
    if not (counts["x"] <= counts["n1"] and counts["y"] <= counts["n0"]):
        yield "more answers than transcripts"
    elif "method" in rung:
        n = max(counts["n1"], counts["n0"])
        most = rung["alpha"] ** (1 / (2 * n))
        delta = float(rung.get("delta", 0.0))
        bound = math.log((most - delta) / (1 - most)) if delta < most < 1 else math.inf
        if max(lower, float(rung.get("cap", 0.0))) > max(0.0, bound) * (1 + SLACK) + SLACK:
            yield f"{n} transcripts a side show no {lower}"


def _code(record: Raw) -> int:
    """Return the exit code that docs/errors.md has for a record; the first that applies."""
    run, subjects = record["run"], [each for each in record["subjects"] if each["error"] is None]
    seen = {each["name"]: False for each in subjects if each["claim"] is not None}
    broken = set()
    for subject in subjects:
        views = {each["view"]["name"]: each["allowed"] for each in subject["outcomes"]}
        for bound in subject["certified"] if subject["claim"] is not None else ():
            allowed, renyi = float(views[bound["view"]]["epsilon"]), bound.get("renyi")
            held = [(bound, allowed)] + ([(renyi, float(renyi["allowed"]))] if renyi else [])
            if any(float(one["lower"]) > most for one, most in held):
                broken.add(subject["name"])
            if any(float(one.get("cap", 0)) > most for one, most in held):
                seen[subject["name"]] = True
    rungs = [(each["name"], rung) for each in record["repeated"] for rung in each.get("rungs", [])]
    broken |= {name for name, rung in rungs if rung.get("broken", False)}
    if not run["complete"]:
        return 130
    if broken or record["defects"]:
        return 1
    if any(each.get("error") for each in (*record["subjects"], *record["repeated"])):
        return 3
    service = "service" in run
    if service:
        could = [rung for _, rung in rungs if float(rung.get("cap", 0)) > float(rung["basic"])]
        blind = bool(run.get("probe", {}).get("blind")) or bool(record["repeated"] and not could)
    else:
        blind = not all(seen.values())
    return 4 if blind else 0 if record["subjects"] or service else 5


def of_theorems(record: Raw) -> Iterator[str]:
    """Yield what of a record of theorems cannot be."""
    names = [row["id"] for row in record["results"]]
    if len(set(names)) < len(names):
        yield "two rows have one id"
    for row in record["results"]:
        yield from (f"{row['id']}: {told}" for told in _of_row(row))


def _of_row(row: Raw) -> Iterator[str]:
    if (row["verdict"] == "refuted") != (row["witness"] is not None):
        yield f"is {row['verdict']}, and its witness is {row['witness']}"
    if (row["verdict"] == "error") != (row["worst"] is None):
        yield f"is {row['verdict']}, and its worst case is {row['worst']}"
    for held in filter(None, (row["worst"], row["witness"])):
        claimed, lower, upper = (float(held[key]) for key in ("claimed", "lower", "upper"))
        if lower > upper:
            yield f"{lower} is above {upper}"
        ends = (claimed, lower) if row["relation"] == "at most" else (upper, claimed)
        others = (claimed, upper) if row["relation"] == "at most" else (lower, claimed)
        near = math.isclose(*ends, rel_tol=SLACK, abs_tol=1e-300)
        if (ends[0] < ends[1]) != (row["verdict"] == "refuted") and not near:
            yield f"is {lower} to {upper}, {claimed} is claimed, and it is {row['verdict']}"
        far = others[0] < others[1] and not math.isclose(*others, rel_tol=SLACK, abs_tol=1e-300)
        if row["verdict"] == "verified" and far:
            yield f"is {lower} to {upper}, {claimed} is claimed, and it is verified"
        if not 0 <= held["alpha"] < 1:
            yield f"alpha is {held['alpha']}"
        factor = held["factor"]
        if factor is not None and math.isfinite(lower) and math.isfinite(upper):
            room = SLACK * max(abs(lower), abs(upper))
            if not lower - room <= float(factor) * claimed <= upper + room:
                yield f"a factor of {factor}, of {claimed} claimed and {lower} to {upper} true"
