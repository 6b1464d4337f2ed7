"""Releases of a table of 2,000 people: is a step on raw data found from `data=people` alone?

    python benchmarks/releases.py [NAME ...]

Thirty functions as teams write them, with the claim ε = 1 if one person's row is replaced. The
number of rows is public. In every one the noise is right for what it is added to; in twenty a step
before it works on raw data (a scaler, an imputer, bounds, bins, groups, a join), so the true loss
is at least twice the claim; ten are correct. Above each stands why. They were written before any
was audited. Each is audited at the default budget; the table says the verdict, the certified bound,
what the witness shows and the processor seconds, those of child processes included.
"""

# ruff: noqa: N803, N806  (X is a matrix)

from __future__ import annotations

import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import LabelEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from dpassay import DP, audit

ROWS = 2_000
CITIES = ["Bern", "Oslo", "Paris", "Rome", "Łódź"]
JOBS = ["driver", "engineer", "nurse, night shift", "out of work", "teacher"]
RISKS = ["bad", "fair", "good"]
Rng = np.random.Generator


def people(seed: int = 38) -> pd.DataFrame:
    """Make up the table: numbers, texts, a truth value, dates and missing cells."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 91, ROWS).astype(float)
    income = rng.lognormal(10.5, 0.5, ROWS).round(2)
    score = 0.02 * (age - 50) + 0.00003 * (income - 40_000) + rng.normal(size=ROWS)
    since = pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 5_000, ROWS), unit="D")
    frame = pd.DataFrame(
        {
            "age": age,
            "city": rng.choice(CITIES, ROWS, p=[0.3, 0.2, 0.2, 0.2, 0.1]),
            "job": rng.choice(JOBS, ROWS, p=[0.25, 0.25, 0.2, 0.1, 0.2]),
            "income": income,
            "visits": rng.poisson(3, ROWS),
            "premium": rng.random(ROWS) < 0.3,
            "since": since,
            "risk": np.where(score > 0.6, "good", np.where(score > -0.5, "fair", "bad")),
        }
    )
    for column, share in (("age", 0.04), ("city", 0.03), ("income", 0.06)):
        frame.loc[rng.random(ROWS) < share, column] = None
    return frame


def filled(df: pd.DataFrame) -> pd.DataFrame:
    """Age, income and visits within [0, 1], by public limits and public constants for gaps."""
    return pd.DataFrame(
        {
            "age": ((df["age"].fillna(50) - 18) / 72).clip(0, 1),
            "income": (df["income"].fillna(40_000) / 100_000).clip(0, 1),
            "visits": (df["visits"] / 10).clip(0, 1),
        }
    )


# ---- a step on raw data ------------------------------------------------------------------------


# All equal but one: the outlier moves each other person by 1/√n standard deviations, so both sums
# by √n - 2; the noise is for 4 + 4. The loss is 10 at 2,000 rows, and grows as √n.
def scaler(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    X = df[["age", "income"]].fillna({"age": 50, "income": 40_000})
    Z = np.clip(StandardScaler().fit_transform(X), -2, 2)
    return Z.sum(axis=0) + rng.laplace(scale=8, size=(size, 2))


# All others missing: the mean that fills them is one person's age, so all n values move.
def imputer(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    full = SimpleImputer(strategy="mean", keep_empty_features=True).fit_transform(df[["age"]])
    return np.clip(full, 18, 90).mean() + rng.laplace(scale=72 / len(df), size=size)


# All equal but one: the axis points to that one, and all n projections turn with it.
def pca(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    X = filled(df).to_numpy()
    axis = PCA(n_components=1, svd_solver="full").fit(X).components_[0]
    bound = np.sqrt(3)
    return np.clip(X @ axis, -bound, bound).sum() + rng.laplace(scale=2 * bound, size=size)


# The name of the feature that tells risks apart best has no noise: where two are level, one person
# decides. The loss has no limit.
def feature_selection(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    X = filled(df)
    best = X.columns[SelectKBest(f_classif, k=1).fit(X, df["risk"]).get_support()][0]
    noisy = X[best].mean() + rng.laplace(scale=1 / len(df), size=size)
    return [(best, value) for value in noisy]


# Where half of a city are bad risks, one person turns all of the city to the other side.
def target_encoding(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    rate = (df["risk"] == "bad").groupby(df["city"]).mean()
    encoded = df["city"].map(rate).fillna(0)
    return (encoded > 0.5).sum() + rng.laplace(scale=1, size=size)


# The width that the noise is scaled by is 0 where all incomes are equal: no noise, no limit.
def bounds(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    income = df["income"].fillna(40_000)
    low, high = income.min(), income.max()
    return income.mean() + rng.laplace(scale=(high - low) / len(df), size=size)


# The oldest sets the width of all five bins: all others at 50 go from the last into the third, so
# two counts move by n; the noise is for two that move by 1.
def bins(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts, _ = np.histogram(df["age"].fillna(50), bins=5)
    return counts + rng.laplace(scale=2, size=(size, 5))


# The edges are persons' incomes, printed as they are.
def quantile_bins(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts = pd.qcut(df["income"].fillna(40_000), 4, duplicates="drop").value_counts(sort=False)
    names = list(map(str, counts.index))
    noisy = counts.to_numpy() + rng.laplace(scale=2, size=(size, len(counts)))
    return [dict(zip(names, each, strict=True)) for each in noisy.round().tolist()]


# All others equal: they lie above the mean if the one lies below it, and not if it is equal too.
def mean_threshold(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    income = df["income"].fillna(40_000).clip(0, 100_000)
    return (income > income.mean()).sum() + rng.laplace(scale=1, size=size)


# A job that only one person has is a key of the answer, or is none: no limit.
def groups(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts = df.groupby("job").size()
    noisy = counts.to_numpy() + rng.laplace(scale=2, size=(size, len(counts)))
    return [dict(zip(counts.index, each, strict=True)) for each in noisy.round().tolist()]


# The tenth person of a city and job makes its cell appear, the ninth does not: no limit.
def small_groups(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts = pd.crosstab(df["city"].fillna("?"), df["job"]).stack()
    shown = counts[counts >= 10]
    noisy = shown.to_numpy() + rng.laplace(scale=2, size=(size, len(shown)))
    names = [" / ".join(each) for each in shown.index]
    return [dict(zip(names, each, strict=True)) for each in noisy.round().tolist()]


# One person is in up to n - 1 pairs of colleagues; the noise is for one.
def self_join(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    keys = ["city", "job", "visits", "premium"]
    known = df.dropna(subset=["city"])[keys].reset_index()
    couples = known.merge(known, on=keys)
    count = (couples["index_x"] < couples["index_y"]).sum()
    return count + rng.laplace(scale=1, size=size)


# Where the third and the fourth job are level, one person decides which is named: no limit.
def top_k(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts = df["job"].value_counts().reindex(JOBS, fill_value=0).nlargest(3)
    noisy = counts.to_numpy() + rng.laplace(scale=2, size=(size, 3))
    return [list(zip(counts.index, each, strict=True)) for each in noisy.round(1).tolist()]


# Three quarters are equal: one person fewer, and the fences widen so that the rest is counted.
def outliers(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    income = df["income"].fillna(40_000)
    low, high = income.quantile([0.25, 0.75])
    kept = income.between(low - 1.5 * (high - low), high + 1.5 * (high - low))
    return kept.sum() + rng.laplace(scale=1, size=size)


# One person moves the first split, and with it half of the others into another leaf.
def tree(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    X = filled(df).to_numpy()
    grown = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, df["risk"])
    leaves = np.unique(grown.apply(X), return_counts=True)[1]
    counts = np.pad(leaves, (0, 4 - len(leaves)))
    return counts + rng.laplace(scale=2, size=(size, 4))


# All others equal: an outlier is a cluster by itself; two halves and an outlier are joined by it.
def clusters(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    X = filled(df).to_numpy()
    found = KMeans(n_clusters=2, n_init=1, random_state=0).fit(X)
    counts = np.sort(np.bincount(found.labels_, minlength=2))
    return counts + rng.laplace(scale=2, size=(size, 2))


# Codes are places among the jobs that occur: if the only driver goes, all n codes move by 1.
def label_codes(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    codes = LabelEncoder().fit_transform(df["job"])
    return codes.sum() + rng.laplace(scale=len(JOBS) - 1, size=size)


# The only good risk has a weight of n/2 or n/3; the noise is for a weight of 1.
def class_weights(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    weights = compute_sample_weight("balanced", df["risk"])
    return (weights * filled(df)["age"]).sum() + rng.laplace(scale=1, size=size)


# The newest person is today for all: if that one goes, all n others are younger customers.
def tenure(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    years = (df["since"].max() - df["since"]).dt.days / 365.25
    return years.clip(0, 20).mean() + rng.laplace(scale=20 / len(df), size=size)


# One more gap, and a column is in the answer no longer: no limit.
def missing_columns(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    gaps = df[["age", "income"]].isna().mean()
    kept = filled(df)[list(gaps[gaps <= 0.05].index)]
    noisy = kept.mean().to_numpy() + rng.laplace(scale=2 / len(df), size=(size, kept.shape[1]))
    return [pd.Series(each, index=kept.columns) for each in noisy]


# ---- correct -----------------------------------------------------------------------------------


# Two of six counts move, by 1 each: 2/2 = 1.
def histogram(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts = df["city"].fillna("?").value_counts().reindex([*CITIES, "?"], fill_value=0)
    return counts.to_numpy() + rng.laplace(scale=2, size=(size, 6))


# A mean of n numbers within [18, 90] moves by at most 72/n.
def clipped_mean(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    return df["age"].fillna(50).clip(18, 90).mean() + rng.laplace(scale=72 / len(df), size=size)


# Exponential mechanism: counts move by at most 1, and Gumbel noise of scale 2 is exp(count/2).
def top_job(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    counts = df["job"].value_counts().reindex(JOBS, fill_value=0).to_numpy()
    return np.array(JOBS)[(counts + rng.gumbel(scale=2, size=(size, 5))).argmax(axis=1)]


# Each of two clipped columns moves by at most 4: 8/8 = 1. The scaler's numbers are public.
def public_scaler(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    X = df[["age", "income"]].fillna({"age": 50, "income": 40_000})
    Z = ((X - [50, 40_000]) / [20, 20_000]).clip(-2, 2)
    return Z.sum().to_numpy() + rng.laplace(scale=8, size=(size, 2))


# Three sums of numbers within [0, 1] move by at most 1 each: 3/3 = 1. Gaps get public constants.
def constant_imputer(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    noisy = filled(df).sum().to_numpy() + rng.laplace(scale=3, size=(size, 3))
    return [dict(zip(("age", "income", "visits"), each, strict=True)) for each in noisy.tolist()]


# Each bit is told rightly with chance e/(1 + e), so loses ln(e) = 1; the count is made of these.
def randomised_response(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    ones, right = int(df["premium"].sum()), np.e / (1 + np.e)
    return rng.binomial(ones, right, size) + rng.binomial(len(df) - ones, 1 - right, size)


# Exponential mechanism over public ages: the number below moves by at most 1, and so does the
# distance of it to n/2; Gumbel noise of scale 2.
def private_median(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    ages, grid = df["age"].fillna(50).to_numpy(), np.arange(18, 91, 4)
    distance = np.abs((ages[:, None] < grid).sum(axis=0) - len(df) / 2)
    return grid[(rng.gumbel(scale=2, size=(size, len(grid))) - distance).argmax(axis=1)]


# `histogram` again; what is shown depends on noisy counts alone.
def noisy_suppression(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    noisy = histogram(df, size, rng).round()
    return [{c: v for c, v in zip(CITIES, each, strict=False) if v >= 10} for each in noisy]


# Sums of numbers within [0, 1] move by at most 1. Exponential mechanism with exp(sum/4): 1/2. One
# sum with noise of scale 2: 1/2.
def select_then_measure(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    sums = filled(df).sum().to_numpy()
    best = (sums + rng.gumbel(scale=4, size=(size, 3))).argmax(axis=1)
    noisy = sums[best] + rng.laplace(scale=2, size=size)
    return [("age income visits".split()[k], v) for k, v in zip(best, noisy, strict=True)]


# Numbers within [0, 1] and their squares: both sums move by at most 1, each has half of the budget.
# Mean and spread are made of the noisy sums.
def noisy_moments(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    x = filled(df)["income"]
    first, second = np.array([[x.sum()], [(x**2).sum()]]) + rng.laplace(scale=2, size=(2, size))
    mean = first / len(df)
    return np.stack([mean, np.sqrt(np.maximum(second / len(df) - mean**2, 0))], axis=1)


Release = Callable[[pd.DataFrame, int, Rng], Any]
BUGS: tuple[Release, ...] = (
    scaler, imputer, pca, feature_selection, target_encoding, bounds, bins, quantile_bins,
    mean_threshold, groups, small_groups, self_join, top_k, outliers, tree, clusters, label_codes,
    class_weights, tenure, missing_columns,
)  # fmt: skip
CORRECT: tuple[Release, ...] = (
    histogram, clipped_mean, top_job, public_scaler, constant_imputer, randomised_response,
    private_median, noisy_suppression, select_then_measure, noisy_moments,
)  # fmt: skip


def processor_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Audit the named releases, or all, and print what came of each."""
    warnings.simplefilter("ignore")
    frame, refuted = people(), {True: 0, False: 0}
    releases = {f.__name__: (f, f in BUGS) for f in (*BUGS, *CORRECT)}
    names = sys.argv[1:] or list(releases)
    for name in names:
        function, bug = releases[name]
        began = processor_seconds()
        result = audit(function, claim=DP(epsilon=1.0), data=frame, seed=0)
        refuted[bug] += result.verdict == "refuted"
        seconds = processor_seconds() - began
        print(f"{name} | {'bug' if bug else 'correct'} | {result.verdict} | {result.lower} | "
              f"{seconds:.0f} s", flush=True)  # fmt: skip
        print(result, flush=True)
    print(f"refuted: {refuted[True]} of {len(set(names) & {f.__name__ for f in BUGS})} bugs, "
          f"{refuted[False]} of {len(set(names) & {f.__name__ for f in CORRECT})} correct")  # fmt: skip


if __name__ == "__main__":
    main()
