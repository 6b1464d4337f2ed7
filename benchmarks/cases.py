"""Faults that were reported in public, each with its repaired twin, in five forms of an answer.

    python benchmarks/cases.py [NAME ...]

Each function is written from what a report says. It answers with tuples (or numbers), dicts, rows
of name and value, frames, or objects with attributes, and is audited at the default budget, in this
process. A row says of the fault, then of the twin: verdict, certified bound, what would have been
seen, processor seconds, and how many of them the function itself took.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from dpassay import DP, GDP, Profile, Scalars, Tables, audit

Rng = np.random.Generator
SIGMA = np.sqrt(2 * np.log(1.25 / 0.005)) / 0.9
CITY = pd.DataFrame({"city": ["Oslo", "Bern", "Rome", "Bern", "Bern", "Rome", "Oslo", "Bern"]})


def parts(answer: Any) -> list[tuple[Any, Any]]:
    """Return the parts of an answer by name."""
    if isinstance(answer, dict | pd.DataFrame):
        return [(name, part if np.isscalar(part) else list(part)) for name, part in answer.items()]
    several = answer if isinstance(answer, list | tuple) else [answer]
    return [(f"x{k}", value) for k, value in enumerate(several)]


def as_tuple(answer: Any) -> Any:
    """Return an answer as a number or a tuple."""
    if isinstance(answer, pd.DataFrame):
        answer = list(answer.itertuples(index=False, name=None))
    answer = list(answer.items()) if isinstance(answer, dict) else answer
    return tuple(answer) if isinstance(answer, list) else answer


def as_frame(answer: Any) -> pd.DataFrame:
    """Return an answer as a table: a row, or one for each name."""
    if isinstance(answer, dict):
        return pd.DataFrame({"key": list(answer), "value": list(answer.values())})
    if isinstance(answer, pd.DataFrame):
        return answer
    return pd.DataFrame([[value for _, value in parts(answer)]])


FORMS: dict[str, Callable[[Any], Any]] = {
    "tuple": as_tuple,
    "dict": lambda answer: dict(parts(answer)),
    "rows": parts,
    "frame": as_frame,
    "object": lambda answer: SimpleNamespace(**dict(parts(answer))),
}


def unary_encoding(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Set the true bit with probability 1/2; it may be set already (pure-ldp 11)."""
    bits = rng.random((size, 4)) < 1 / (1 + np.exp(0.5))
    true = int(data[0]) - 1
    bits[:, true] = (rng.random(size) < 0.5) | (bits[:, true] & (not right))
    return bits.astype(int)


def underflow(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Draw a median by weights that all become 0 (smartnoise-sdk 572)."""
    x = np.sort(np.clip([0.0, *data, 1.0], 0, 1))
    utility = -np.abs(np.arange(len(x) - 1) - (len(x) - 2) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(np.diff(x)) + 2.5 * utility
        weights = np.exp(log - right * log.max())
        place = rng.choice(len(weights), size=size, p=weights / weights.sum())
    return rng.uniform(x[place], x[place + 1])


def nan_quantile(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Answer NaN if one value is NaN (differential-privacy-library 80)."""
    x = np.ravel(np.array(data, dtype=float))
    if np.isnan(x).any() and not right:
        return np.full(size, np.nan)
    return underflow(np.nan_to_num(x) / 10, size, rng, right=True)


def nan_clamp(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Clamp to [0, 1] by two comparisons, which NaN passes (google 405)."""
    x = np.ravel(np.array(data, dtype=float))
    x = np.nan_to_num(x) if right else x
    return np.where(x < 0, 0, np.where(x > 1, 1, x)).sum() + rng.laplace(size=size)


def null_if_empty(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Answer null where nothing is to be counted (prestodb 22715)."""
    count = int(data["order"].notna().sum())
    empty = count == 0 and not right
    return [None] * size if empty else (count + rng.laplace(size=size)).round()


def distinct(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Count values by key, one key a user, who is cut after they are distinct (google 84)."""
    table = data.drop_duplicates() if right else data.drop_duplicates(["key", "value"])
    table = table.drop_duplicates("user").drop_duplicates(["key", "value"])
    return np.array([(table["key"] == key).sum() for key in "abc"]) + rng.laplace(size=(size, 3))


def threshold(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Drop groups below the threshold that another noise needs (smartnoise-sdk 204)."""
    least = 1 + SIGMA * norm.isf(0.005) if right else 1 - np.log(0.01) / 0.9
    counts = data["city"].value_counts().sort_index()
    noisy = counts.to_numpy() + rng.normal(scale=SIGMA, size=(size, len(counts)))
    names, rows = counts.index.tolist(), noisy.round(3).tolist()
    return [{name: n for name, n in zip(names, row, strict=True) if n > least} for row in rows]


def order(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """List groups in the order in which they occur (opendp 1826)."""
    names = dict.fromkeys(["Bern", "Oslo", "Rome"] if right else [*data["city"], *CITY["city"]])
    counts = [(data["city"] == name).sum() for name in names]
    rows = np.round(counts + rng.laplace(size=(size, len(counts))), 2).tolist()
    return [dict(zip(names, row, strict=True)) for row in rows]


def clip(rows: Any) -> Any:
    """Scale rows down to length 1."""
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


def layers(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Clip each of three layers by itself (fedbiomed 1443)."""
    x = np.asarray(data, dtype=float)
    kept = clip(x) if right else np.hstack([clip(x[:, k : k + 2]) for k in (0, 2, 4)])
    return kept.sum(axis=0) + rng.normal(scale=2, size=(size, 6))


def gradient(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Add clipped gradients to the raw ones (Differentially-Private-Deep-Learning 7)."""
    x = np.asarray(data, dtype=float)
    return clip(x).sum(axis=0) + (not right) * x.sum(axis=0) + rng.normal(size=(size, 3))


def neighbours(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Count the votes of the five nearest before they are clipped (Private_kNN 2)."""
    near = data.to_numpy(dtype=float)[np.argsort(np.abs(data["x"] - 0.5), kind="stable")[:5], 1:]
    return (clip(near) if right else near).sum(axis=0) + rng.normal(scale=2, size=(size, 6))


def batches(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Shuffle records into four batches, and claim what samples would allow (opacus 128)."""
    x = np.zeros(max(8, len(data)))
    x[: len(data)] = np.clip(data, -1, 1)
    taken = rng.random((size, 4, len(x))) < 1 / 4
    places = rng.permuted(np.tile(np.arange(len(x)) // 2, (size, 1)), axis=1)
    taken = taken if right else places[:, None] == np.arange(4)[:, None]
    return taken @ x + rng.normal(scale=0.8, size=(size, 4))


def seconds(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Show how long the noise took, by which it is known (libprio-rs 645)."""
    one, other = rng.geometric(1 - np.exp(-1.0), (2, size)) - 1
    time_taken = 1e-6 * (64 if right else 1 + np.abs(one - other))
    noise = rng.normal(scale=1e-7, size=size)
    return np.column_stack([(np.asarray(data) > 0.5).sum() + one - other, time_taken + noise])


def teachers(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Vote with noise of scale λ, not 1/λ (mlforhealthlabpub 36)."""
    votes = np.zeros(2)
    for k in range(min(5, len(data.y))):
        votes[int(data.y[k::5][np.abs(data.X[k::5, 0] - 0.5).argmin()])] += 1
    return (votes + rng.laplace(scale=2 if right else 0.5, size=(size, 2))).argmax(axis=1)


def select(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Measure the chosen pair of columns with the whole budget, half of it spent (mbi 11)."""
    pairs = ("a", "b"), ("a", "c"), ("b", "c")
    both = np.array([(data[i] & data[j]).sum() for i, j in pairs])
    cells = [np.bincount(2 * data[i] + data[j], minlength=4) for i, j in pairs]
    best = (both + rng.gumbel(scale=4, size=(size, 3))).argmax(axis=1)
    noisy = np.array(cells)[best] + rng.laplace(scale=2 if right else 1, size=(size, 4))
    return [("".join(pairs[k]), *row) for k, row in zip(best, noisy.round(2).tolist(), strict=True)]


def large_epsilon(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Use the classic scale of Gaussian noise at ε = 10 (smartnoise-sdk 462)."""
    classic = np.sqrt(2 * np.log(1.25 / 1e-3)) / 10
    return np.sum(data) + rng.normal(scale=0.40606 if right else classic, size=size)


def best_of_eight(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Give the best of eight releases (arXiv 2110.03620)."""
    noise = rng.laplace(size=(size, 1 if right else 8))
    return np.sum(data) + noise[np.arange(size), np.abs(noise).argmin(axis=1)]


def unshuffled(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Leave reports in the order of the clients (Shuffled-Model ... Federated-Learning 2)."""
    bits = np.asarray(data).astype(int) ^ (rng.random((size, len(data))) < 1 / (1 + np.exp(2)))
    return np.sort(bits, axis=1) if right else bits


def bounds(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Find bounds by a histogram whose noise is for one value a user, not four (google 87)."""
    values = data.dropna().groupby("user", sort=False).head(4)["value"].to_numpy()
    edges, most = 2.0 ** np.arange(7), 4 if right else 1
    counts = np.histogram(np.clip(values, 1, 63.9), edges)[0]
    above = counts + rng.laplace(scale=most, size=(size, 6)) > 3 * most
    upper = edges[np.where(above.any(axis=1), 6 - above[:, ::-1].argmax(axis=1), 0)]
    sums = np.minimum(values, upper[:, None]).sum(axis=1) + 4 * upper * rng.laplace(size=size)
    return np.column_stack([upper, sums.round(2)])


def table(data: Any, size: int, rng: Rng, right: bool) -> Any:
    """Answer with rows of the table (as makers of synthetic data do)."""
    if not right:
        return [data.iloc[each] for each in rng.integers(len(data) or 1, size=(size, len(data)))]
    ages, cities = rng.integers(20, 70, (size, 6)), rng.choice(CITY["city"][:3], (size, 6))
    return [pd.DataFrame({"age": a, "city": c}) for a, c in zip(ages, cities, strict=True)]


MADE = np.random.default_rng(38)
VECTORS = MADE.normal(size=(12, 6)).round(2)
VOTERS = pd.DataFrame(MADE.integers(0, 2, (20, 6)), columns=list("abcdef"))
NEAR = pd.concat([pd.Series(MADE.random(20).round(2), name="x"), VOTERS], axis=1)
KEYS = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3, 4, 5, 6, 6], "key": list("abacbcabca")})
KEYS["value"] = [1, 2, 1, 2, 3, 1, 2, 3, 3, 1]
OWNED = pd.DataFrame({"user": np.arange(24) // 3, "value": (2 ** MADE.uniform(0, 6, 24)).round(1)})
PEOPLE = CITY[:6].assign(age=[23, 35, 41, 58, 64, 37])
CLAMPED, GAPS = [0.2, 0.9, None, 0.7, 0.1], [2.0, 9.0, None, 7.0, 1.0, 5.0]
BITS = Tables([True, False] * 6, fixed=True)
SAMPLED = [(0.2273, 0.2), (0.7957, 0.1), (1.3158, 0.05), (1.9509, 0.02), (2.4017, 0.01)]
ADDED: dict[str, Any] = {"relation": "add-remove"}
BY_USER = {"relation": "add-remove-user", "group": "user"}
CASES: dict[str, tuple[Callable[..., Any], Any, Any, dict[str, Any]]] = {
    "unary_encoding": (unary_encoding, DP(epsilon=0.5), [1, 2, 3, 4], {}),
    "underflow": (underflow, DP(epsilon=5.0), Scalars(0, 1, size=700), {}),
    "nan_quantile": (nan_quantile, DP(epsilon=5.0), GAPS, {}),
    "nan_quantile_frame": (nan_quantile, DP(epsilon=5.0), pd.DataFrame({"x": GAPS}), {}),
    "nan_clamp": (nan_clamp, DP(epsilon=1.0), CLAMPED, {}),
    "nan_clamp_array": (nan_clamp, DP(epsilon=1.0), np.array(CLAMPED, dtype=float), {}),
    "nan_clamp_frame": (nan_clamp, DP(epsilon=1.0), pd.DataFrame({"x": CLAMPED}), {}),
    "null_if_empty": (null_if_empty, DP(epsilon=1.0), pd.DataFrame({"order": GAPS}), ADDED),
    "distinct": (distinct, DP(epsilon=1.0), KEYS, BY_USER),
    "threshold": (threshold, DP(epsilon=0.9, delta=0.01), CITY, ADDED),
    "order": (order, DP(epsilon=1.0), CITY, ADDED),
    "layers": (layers, GDP(mu=0.5), VECTORS, ADDED),
    "gradient": (gradient, GDP(mu=1.0), VECTORS[:, :3], ADDED),
    "neighbours": (neighbours, GDP(mu=1.0), NEAR, {}),
    "batches": (batches, Profile(SAMPLED), Tables(VECTORS[:8, 0].clip(-1, 1), **ADDED), {}),
    "seconds": (seconds, DP(epsilon=1.0), Scalars(0, 1, size=10), {}),
    "teachers": (teachers, DP(epsilon=1.0), (VECTORS[:, :1], np.arange(12) % 2), {}),
    "select": (select, DP(epsilon=1.0), VOTERS[["a", "b", "c"]], ADDED),
    "large_epsilon": (large_epsilon, DP(epsilon=10.0, delta=1e-3), Scalars(0, 1, size=5), {}),
    "best_of_eight": (best_of_eight, DP(epsilon=1.0), Scalars(0, 1, size=10), {}),
    "unshuffled": (unshuffled, DP(epsilon=0.8, delta=0.1524), BITS, {}),
    "bounds": (bounds, DP(epsilon=2.0), OWNED, BY_USER),
    "table": (table, DP(epsilon=1.0), PEOPLE, ADDED),
}


def case(name: str, form: str, right: bool) -> tuple[str, str]:
    """Audit a case or its twin in a form; return the verdict, and what came of it."""
    release, claim, data, told = CASES[name]
    spent = 0.0

    def function(data: Any, size: int, rng: Rng) -> list[Any]:
        nonlocal spent
        began = time.process_time()
        found = release(data, size, rng, right)
        found = found.tolist() if isinstance(found, np.ndarray) else found
        answers = list(map(FORMS[form], found))
        spent += time.process_time() - began
        return answers

    began = time.process_time()
    result = audit(function, claim=claim, data=data, executor="inline", **told)
    seconds = time.process_time() - began
    numbers = f"{result.lower:.2f}, {result.detectable:.2f}, {seconds:.1f} s ({spent:.1f} s)"
    why = f" ({result.outcome.reason})" if result.verdict == "error" else ""
    return result.verdict, f"{result.verdict}{why}, {numbers}"


def main() -> None:
    """Audit the named cases, or all, in every form; count verdicts of faults and of twins."""
    warnings.simplefilter("ignore")
    verdicts = Counter[str](), Counter[str]()
    for name in sys.argv[1:] or CASES:
        for form in FORMS:
            found = [case(name, form, right) for right in (False, True)]
            print(name, form, *(told for _, told in found), sep="; ", flush=True)
            for count, (verdict, _) in zip(verdicts, found, strict=True):
                count[verdict] += 1
    print(*map(dict, verdicts), sep="; ")


if __name__ == "__main__":
    main()
