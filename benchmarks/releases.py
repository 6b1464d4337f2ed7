"""Releases of 2,000 people: steps on raw data must be found from the table alone.

    python benchmarks/releases.py [NAME ...]

Thirty functions as teams write them, with the claim ε = 1 if one person's row is replaced. The
number of rows is public. In every one the noise is right for what it is added to; in twenty a step
before it works on raw data (a scaler, an imputer, bounds, bins, groups, a join), so the true loss
is at least twice the claim; ten are correct. Each says why. They were written before any was
audited. Each is audited at the default budget; the table says the verdict, the certified bound,
what the witness shows and the processor seconds, all in one process so that none is missed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
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


def scaler(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Sum standardised columns; the scaler is fitted on raw data.

    All equal but one: that one moves each other person by 1/√n standard deviations, both sums by
    √n - 2. The noise is for 4 + 4. The loss is 10 at 2,000 rows, and grows as √n.
    """
    X = df[["age", "income"]].fillna({"age": 50, "income": 40_000})
    Z = np.clip(StandardScaler().fit_transform(X), -2, 2)
    return Z.sum(axis=0) + rng.laplace(scale=8, size=(size, 2))


def imputer(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Average ages; gaps get the raw mean.

    All others missing: the mean that fills them is one person's age, so all n values move.
    """
    full = SimpleImputer(strategy="mean", keep_empty_features=True).fit_transform(df[["age"]])
    return np.clip(full, 18, 90).mean() + rng.laplace(scale=72 / len(df), size=size)


def pca(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Sum projections on a raw principal axis.

    All equal but one: the axis points to that one, and all n projections turn with it.
    """
    X = filled(df).to_numpy()
    axis = PCA(n_components=1, svd_solver="full").fit(X).components_[0]
    bound = np.sqrt(3)
    return np.clip(X @ axis, -bound, bound).sum() + rng.laplace(scale=2 * bound, size=size)


def feature_selection(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Average the feature that tells risks apart best, by raw data, and name it.

    Where two are level, one person decides which is named: the loss has no limit.
    """
    X = filled(df)
    best = X.columns[SelectKBest(f_classif, k=1).fit(X, df["risk"]).get_support()][0]
    noisy = X[best].mean() + rng.laplace(scale=1 / len(df), size=size)
    return [(best, value) for value in noisy]


def target_encoding(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count the people in cities of many bad risks, by raw rates.

    Where half of a city are bad risks, one person turns all of the city to the other side.
    """
    rate = (df["risk"] == "bad").groupby(df["city"]).mean()
    encoded = df["city"].map(rate).fillna(0)
    return (encoded > 0.5).sum() + rng.laplace(scale=1, size=size)


def bounds(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Average incomes, with noise for the raw range of them.

    The range is 0 where all incomes are equal: no noise, no limit.
    """
    income = df["income"].fillna(40_000)
    low, high = income.min(), income.max()
    return income.mean() + rng.laplace(scale=(high - low) / len(df), size=size)


def bins(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count ages in five bins between the raw ends.

    All others are 50, the oldest goes: they leave the third bin, so two counts move by n. The noise
    is for two that move by 1.
    """
    counts, _ = np.histogram(df["age"].fillna(50), bins=5)
    return counts + rng.laplace(scale=2, size=(size, 5))


def quantile_bins(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count incomes between raw quartiles.

    The edges are persons' incomes, printed as they are: no limit.
    """
    counts = pd.qcut(df["income"].fillna(40_000), 4, duplicates="drop").value_counts(sort=False)
    names = list(map(str, counts.index))
    noisy = counts.to_numpy() + rng.laplace(scale=2, size=(size, len(counts)))
    return [dict(zip(names, each, strict=True)) for each in noisy.round().tolist()]


def mean_threshold(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count incomes above the raw mean.

    All others are equal: they lie above the mean if the one lies below it, and not if it does not.
    """
    income = df["income"].fillna(40_000).clip(0, 100_000)
    return (income > income.mean()).sum() + rng.laplace(scale=1, size=size)


def groups(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count people by job, of the jobs that occur.

    A job that only one person has is a key of the answer, or is none: no limit.
    """
    counts = df.groupby("job").size()
    noisy = counts.to_numpy() + rng.laplace(scale=2, size=(size, len(counts)))
    return [dict(zip(counts.index, each, strict=True)) for each in noisy.round().tolist()]


def small_groups(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count people by city and job, where the raw count is ten or more.

    The tenth person makes a cell appear, the ninth does not: no limit.
    """
    counts = df.groupby([df["city"].fillna("?"), "job"]).size()
    shown = counts[counts >= 10]
    noisy = shown.to_numpy() + rng.laplace(scale=2, size=(size, len(shown)))
    names = [" / ".join(each) for each in shown.index]
    return [dict(zip(names, each, strict=True)) for each in noisy.round().tolist()]


def self_join(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count couples of people who are alike, by a join.

    One person is in up to n - 1 couples; the noise is for one.
    """
    keys = ["city", "job", "visits", "premium"]
    known = df.dropna(subset=["city"])[keys].reset_index()
    couples = known.merge(known, on=keys)
    count = (couples["index_x"] < couples["index_y"]).sum()
    return count + rng.laplace(scale=1, size=size)


def top_k(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Name and count the three most frequent jobs, by raw counts.

    Where the third and the fourth are level, one person decides which is named: no limit.
    """
    counts = df["job"].value_counts().reindex(JOBS, fill_value=0).nlargest(3)
    noisy = counts.to_numpy() + rng.laplace(scale=2, size=(size, 3))
    return [list(zip(counts.index, each, strict=True)) for each in noisy.round(1).tolist()]


def outliers(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count incomes within raw fences.

    Three quarters are equal: one person fewer, and the fences widen so that the rest is counted.
    """
    income = df["income"].fillna(40_000)
    low, high = income.quantile([0.25, 0.75])
    kept = income.between(low - 1.5 * (high - low), high + 1.5 * (high - low))
    return kept.sum() + rng.laplace(scale=1, size=size)


def tree(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count the leaves of a tree that is grown on raw data.

    Where two splits are as good, one person decides, and half of the others change their leaf.
    """
    X = filled(df).to_numpy()
    grown = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, df["risk"])
    leaves = np.unique(grown.apply(X), return_counts=True)[1]
    counts = np.pad(leaves, (0, 4 - len(leaves)))
    return counts + rng.laplace(scale=2, size=(size, 4))


def clusters(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count the clusters of raw centres.

    Two halves that are near each other become one cluster if one person lies far enough away.
    """
    X = filled(df).to_numpy()
    found = KMeans(n_clusters=2, n_init=1, random_state=0).fit(X)
    counts = np.sort(np.bincount(found.labels_, minlength=2))
    return counts + rng.laplace(scale=2, size=(size, 2))


def label_codes(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Sum the codes of jobs, which are places among those that occur.

    If the only driver goes, all n codes move by 1; the noise is for one that moves by 4.
    """
    codes = LabelEncoder().fit_transform(df["job"])
    return codes.sum() + rng.laplace(scale=len(JOBS) - 1, size=size)


def class_weights(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Sum ages, each weighted by how rare its risk is in raw data.

    The only good risk has a weight of n/2 or n/3; the noise is for a weight of 1.
    """
    weights = compute_sample_weight("balanced", df["risk"])
    return (weights * filled(df)["age"]).sum() + rng.laplace(scale=1, size=size)


def tenure(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Average the years since people came, until the newest of them.

    If the newest goes, all n others have been here for less: the mean moves by the whole range.
    """
    years = (df["since"].max() - df["since"]).dt.days / 365.25
    return years.clip(0, 20).mean() + rng.laplace(scale=20 / len(df), size=size)


def missing_columns(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Average the columns of which at most 5 % are missing in raw data.

    One more gap, and a column is in the answer no longer: no limit.
    """
    gaps = df[["age", "income"]].isna().mean()
    kept = filled(df)[list(gaps[gaps <= 0.05].index)]
    noisy = kept.mean().to_numpy() + rng.laplace(scale=2 / len(df), size=(size, kept.shape[1]))
    return [pd.Series(each, index=kept.columns) for each in noisy]


# ---- correct -----------------------------------------------------------------------------------


def histogram(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count people by public city: two of six counts move, by 1 each: 2/2 = 1."""
    counts = df["city"].fillna("?").value_counts().reindex([*CITIES, "?"], fill_value=0)
    return counts.to_numpy() + rng.laplace(scale=2, size=(size, 6))


def clipped_mean(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Average ages within [18, 90]: a mean of n moves by at most 72/n."""
    return df["age"].fillna(50).clip(18, 90).mean() + rng.laplace(scale=72 / len(df), size=size)


def top_job(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Name the most frequent job by the exponential mechanism.

    Counts move by at most 1; the largest after Gumbel noise of scale 2 has weight exp(count/2).
    """
    counts = df["job"].value_counts().reindex(JOBS, fill_value=0).to_numpy()
    return np.array(JOBS)[(counts + rng.gumbel(scale=2, size=(size, 5))).argmax(axis=1)]


def public_scaler(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Sum two columns by public scales: clipped, each moves by at most 4: 8/8 = 1."""
    X = df[["age", "income"]].fillna({"age": 50, "income": 40_000})
    Z = ((X - [50, 40_000]) / [20, 20_000]).clip(-2, 2)
    return Z.sum().to_numpy() + rng.laplace(scale=8, size=(size, 2))


def constant_imputer(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Sum three columns within [0, 1]: each moves by at most 1: 3/3 = 1."""
    noisy = filled(df).sum().to_numpy() + rng.laplace(scale=3, size=(size, 3))
    return [dict(zip(("age", "income", "visits"), each, strict=True)) for each in noisy.tolist()]


def randomised_response(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Count premium customers, each told rightly with chance e/(1 + e).

    A bit loses ln(e) = 1, and the count is made of the bits.
    """
    ones, right = int(df["premium"].sum()), np.e / (1 + np.e)
    return rng.binomial(ones, right, size) + rng.binomial(len(df) - ones, 1 - right, size)


def private_median(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Name a public age near the median by the exponential mechanism.

    The number of people below it moves by at most 1, and so does its distance from n/2.
    """
    ages, grid = df["age"].fillna(50).to_numpy(), np.arange(18, 91, 4)
    distance = np.abs((ages[:, None] < grid).sum(axis=0) - len(df) / 2)
    return grid[(rng.gumbel(scale=2, size=(size, len(grid))) - distance).argmax(axis=1)]


def noisy_suppression(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Show the counts of `histogram` that are 10 or more after noise."""
    noisy = histogram(df, size, rng).round()
    return [{c: v for c, v in zip(CITIES, each, strict=False) if v >= 10} for each in noisy]


def select_then_measure(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Name the column with the largest sum, and measure that.

    Sums within [0, 1] each move by at most 1. Naming has weights exp(sum/4) and loses 1/2; noise
    of scale 2 loses 1/2.
    """
    sums = filled(df).sum().to_numpy()
    best = (sums + rng.gumbel(scale=4, size=(size, 3))).argmax(axis=1)
    noisy = sums[best] + rng.laplace(scale=2, size=size)
    return [(["age", "income", "visits"][k], v) for k, v in zip(best, noisy, strict=True)]


def noisy_moments(df: pd.DataFrame, size: int, rng: Rng) -> Any:
    """Give mean and spread of incomes out of two noisy sums.

    Both sums, of numbers within [0, 1] and of squares, move by at most 1: 1/2 + 1/2 = 1.
    """
    x = filled(df)["income"]
    first, second = np.array([[x.sum()], [(x**2).sum()]]) + rng.laplace(scale=2, size=(2, size))
    mean = first / len(df)
    return np.stack([mean, np.sqrt(np.maximum(second / len(df) - mean**2, 0))], axis=1)


RELEASES: dict[str, tuple[Callable[[pd.DataFrame, int, Rng], Any], ...]] = {
    "bug": (
        scaler, imputer, pca, feature_selection, target_encoding, bounds, bins, quantile_bins,
        mean_threshold, groups, small_groups, self_join, top_k, outliers, tree, clusters,
        label_codes, class_weights, tenure, missing_columns,
    ),
    "correct": (
        histogram, clipped_mean, top_job, public_scaler, constant_imputer, randomised_response,
        private_median, noisy_suppression, select_then_measure, noisy_moments,
    ),
}  # fmt: skip


def main() -> None:
    """Audit the named releases, or all, and print what came of each."""
    warnings.simplefilter("ignore")
    frame, verdicts = people(), {"bug": Counter[str](), "correct": Counter[str]()}
    kinds = {f.__name__: (kind, f) for kind, all_ in RELEASES.items() for f in all_}
    for name in sys.argv[1:] or kinds:
        kind, function = kinds[name]
        began = time.process_time()
        result = audit(function, claim=DP(epsilon=1.0), data=frame, seed=0, executor="inline")
        seconds = time.process_time() - began
        verdicts[kind][result.verdict] += 1
        print(f"{name}: {kind}, {result.verdict}, {result.lower:.2f}, {seconds:.0f} s")
        if result.verdict in ("refuted", "error"):
            print(result, flush=True)
    print(*(f"{kind}: {dict(found)}" for kind, found in verdicts.items()), sep="; ")


if __name__ == "__main__":
    main()
