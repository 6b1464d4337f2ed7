"""Accuracy of the private classifiers of Dwork and Feldman (2018), beside the non-private learner and the majority label.

    python benchmarks/accuracy.py [--data FOLDER] [--splits 20]

writes docs/accuracy.json and docs/accuracy.md. Breast cancer comes with scikit-learn; FOLDER has Adult and MAGIC as published by
the UCI repository (adult.data.gz, magic04.data.gz). Without it their rows stay as they are.

No answer is drawn: the accuracy of a split is the mean probability of the right answer, from the exact laws. Where a number is
released, the answer is 1 if it is at least the middle of the range of predictions.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpassay.data import Labelled, load, points
from dpassay.laws import FiniteLaw, NoiseLaw
from dpassay.seeds import stream
from dpassay.targets import accepts, resolve

DOCS = Path(__file__).parents[1] / "docs"
EPSILONS = (0.5, 1.0, 2.0)
PUBLIC, TRAIN, TEST = 100, 4000, 2000
"""Records at most: to standardise with, to train on, to ask for."""
ENTRIES: dict[str, dict[str, Any]] = {
    "soft-majority": {},
    "soft-majority-overview": {},
    "projected-walk": {},
    "projected-walk-overview": {},
    "stable-laplace": {},
    "stable-gaussian": {},
    "noisy-average": {},
    "erm-laplace": {"loss": "logistic"},
    "psgd-laplace": {"loss": "logistic"},
}
"""What is compared, and the parameters that are not the catalogue's: epsilon, and n where there is one, are set in each run."""
COLUMN = {"breast-cancer": 20, "adult": 2, "magic": 8}
"""The column that a walk goes along, chosen by its name: worst radius, years of education, angle alpha."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Records to train on and to ask for, standardised by others that count as public."""

    train: Labelled
    test: Labelled


def tables(folder: Path | None) -> Iterator[tuple[str, Labelled]]:
    """Yield the data sets there are."""
    yield "breast-cancer", load("breast-cancer").data
    if folder is None:
        return
    adult = pd.read_csv(_text(folder / "adult.data.gz"), header=None, skipinitialspace=True)
    wide = pd.get_dummies(adult.drop(columns=14), dtype=float)
    yield "adult", Labelled(wide.to_numpy(), (adult[14] == ">50K").to_numpy().astype(int))
    magic = pd.read_csv(_text(folder / "magic04.data.gz"), header=None)
    yield "magic", Labelled(magic.drop(columns=10).to_numpy(), (magic[10] == "g").to_numpy().astype(int))


def _text(path: Path) -> io.StringIO:
    return io.StringIO(gzip.decompress(path.read_bytes()).decode())


def split_of(name: str, data: Labelled, k: int) -> Split:
    """Cut a data set at random; the cut depends on its name and k alone."""
    order = stream(k, "accuracy", name).permutation(len(data))
    test = min(TEST, 3 * len(data) // 10)
    public, rest = data.take(order[:PUBLIC]), order[PUBLIC:]
    scaler = StandardScaler().fit(public.X)

    def made(rows: NDArray[np.int64]) -> Labelled:
        chosen = data.take(rows)
        return Labelled(scaler.transform(chosen.X) / math.sqrt(data.X.shape[1]), chosen.y)

    return Split(train=made(rest[test:][:TRAIN]), test=made(rest[:test]))


def private_accuracy(name: str, epsilon: float, split: Split, column: int) -> float:
    """Mean probability of the right answer."""
    parameters = ENTRIES[name] | {"epsilon": epsilon}
    if accepts(name, "n"):
        parameters["n"] = len(split.train)
    if accepts(name, "feature"):
        parameters["feature"] = column
    mechanism: Any = resolve(name, parameters).mechanism
    queries = points(split.test.X, "queries")
    law = mechanism.distribution(mechanism.prepare(split.train), queries)
    if isinstance(law, NoiseLaw):
        middle = 0.0 if accepts(name, "R") else 0.5
        law = law.binned(np.full((len(queries), 1), middle))
    assert isinstance(law, FiniteLaw)
    right: float = law.p[np.arange(len(queries)), split.test.y].mean()
    return right


def accuracies(name: str, data: Labelled, k: int) -> dict[str, float]:
    """Accuracy of everything that is compared, on one split."""
    split = split_of(name, data, k)
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="liblinear", max_iter=1000, random_state=0))
    found = {
        "non-private": float(model.fit(split.train.X, split.train.y).score(split.test.X, split.test.y)),
        "majority": float((split.test.y == round(split.train.y.mean())).mean()),
    }
    for entry in ENTRIES:
        for epsilon in EPSILONS:
            found[f"{entry} {epsilon:g}"] = private_accuracy(entry, epsilon, split, COLUMN[name])
    return {key: round(value, 9) for key, value in found.items()}


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Student's 95 % interval for the mean of paired differences."""
    n = len(differences)
    wide = float(student.isf(0.025, n - 1)) * float(differences.std(ddof=1)) / math.sqrt(n)
    return float(differences.mean()) - wide, float(differences.mean()) + wide


def page(found: dict[str, list[dict[str, float]]]) -> str:
    """Write the tables down."""
    lines = [
        "# Accuracy",
        "",
        "What privacy costs: the classifiers of the catalogue beside the learner that they are made from and beside the",
        "majority label, as `python benchmarks/accuracy.py` found them. Every number is exact given the split: the mean",
        "probability of the right answer, from the exact law. Parameters are the catalogue's, but for epsilon and the logistic",
        "loss of `erm-laplace` and `psgd-laplace`; none was tuned. A released number counts as the answer 1 if it is at least",
        "the middle of the predictions' range.",
        "",
        f"Splits: at random; {PUBLIC} records count as public and standardise the others, at most {TRAIN:,} train and {TEST:,}",
        "are asked for. Intervals are Student's, 95 %, for the mean of the paired differences over the splits; splits of one",
        "data set overlap, so that they say how much a split matters, not how another sample would come out. epsilon is the",
        "parameter; where it is not the true loss (the overview's entries, `erm-laplace`, `psgd-laplace`) see findings.md.",
        "",
    ]
    for name, runs in found.items():
        frame = pd.DataFrame(runs)
        lines += [
            f"## {name}",
            "",
            "Non-private learner {:.3f}, majority label {:.3f} ({} splits).".format(
                frame["non-private"].mean(), frame["majority"].mean(), len(frame)
            ),
            "",
            "| entry | epsilon | accuracy | minus non-private | minus majority |",
            "|---|---|---|---|---|",
        ]
        for entry in ENTRIES:
            for epsilon in EPSILONS:
                values = frame[f"{entry} {epsilon:g}"]
                pairs = (interval((values - frame[other]).to_numpy()) for other in ("non-private", "majority"))
                told = " | ".join(f"{low:+.3f} to {high:+.3f}" for low, high in pairs)
                lines.append(f"| {entry} | {epsilon:g} | {values.mean():.3f} | {told} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Run all splits and write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with adult.data.gz and magic04.data.gz")
    parser.add_argument("--splits", type=int, default=20)
    arguments = parser.parse_args()
    stored = DOCS / "accuracy.json"
    found = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
    for name, data in tables(arguments.data):
        found[name] = [accuracies(name, data, k) for k in range(arguments.splits)]
        print(name, "done")
        stored.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (DOCS / "accuracy.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
