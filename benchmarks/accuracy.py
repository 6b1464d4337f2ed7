"""Accuracy of the private classifiers, beside the non-private learner and the majority label.

    python benchmarks/accuracy.py [--data FOLDER] [--splits 20]

writes docs/accuracy.json and docs/accuracy.md. Breast cancer comes with scikit-learn; FOLDER has
Adult and MAGIC as published by the UCI repository (adult.data.gz, magic04.data.gz). Without it
their rows stay as they are.

No answer is drawn where there is an exact law: the accuracy of a split is the mean probability of
the right answer. Where there is none, it is the share of right answers in a few releases. Where a
number is released, the answer is 1 if it is at least the middle of the range of predictions.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dpassay.data import Labelled, load
from dpassay.frontier.accuracy import (
    PUBLIC,
    RELEASES,
    TEST,
    TRAIN,
    baselines,
    interval,
    private_accuracy,
    split_of,
)
from dpassay.frontier.entries import ENTRIES, LAMBDAS, parameters
from dpassay.mechanisms.relatives.pate_data_dependent import dependent_epsilon
from dpassay.seeds import stream
from dpassay.targets.resolve import resolve

DOCS = Path(__file__).parents[1] / "docs"
EPSILONS = (0.5, 1.0, 2.0)
COLUMN = {"breast-cancer": 20, "adult": 2, "magic": 8}
"""The column that a walk goes along, chosen by its name: worst radius, years of education, angle
alpha."""


INTRODUCTION = """\
What does privacy cost? The tables compare the private classifiers of the catalogue with the
non-private learner that they are made from, and with the majority label.
`python benchmarks/accuracy.py` computes the numbers and writes this page.

An accuracy is the mean probability of the right answer under the exact law of the answers. It is
exact for a given split. The exceptions are the linear classifiers of Chaudhuri and Vinterbo and the
choices among them. These have no exact law in more than one dimension, so their numbers are means
over {RELEASES} releases per split. Parameters are those of the catalogue, except for the ones \
listed
below. None was tuned. A released number counts as the answer 1 if it is at least the middle of the
range of predictions.

Splits are random. In each split, {PUBLIC} records count as public and standardise the others. At
most {TRAIN:,} records train, and at most {TEST:,} are asked for. Each standardised column is \
divided
by the square root of the number of columns, so that a typical record has norm 1. The linear
classifiers clip records to the unit ball, so they need no other scale (`feature_scale` is 1). The
scale depends on public records only, not on the records that train. The intervals are Student's
95 % intervals for the mean of the paired differences over the splits. Splits of one data set
overlap. The intervals therefore show how much the split matters, not how another sample would come
out. epsilon is the claimed loss. It is not the true loss of the overview's entries, `erm-laplace`
and `psgd-laplace`: see findings.md.

* `erm-laplace`, `psgd-laplace`: logistic loss.
* `pate`, `private-knn`: gamma = epsilon / 2. `pate-data-dependent` answers as `pate` does, with the
  same gamma. For a dataset on which all 25 teachers agree, it states a loss of {dependent},
  while epsilon is claimed for all datasets. That loss is not a guarantee (findings.md).
  `pate-gaussian`: the sigma for which the printed claim is epsilon, with delta = 1e-5.
* `distance-to-instability`: delta = 1e-3. It may answer neither label, which counts as wrong.
* `objective-perturbation`, `output-perturbation`: logistic loss, lambda = 0.1, no validation
  records. `oplr` is on where there is an extra term to subtract from epsilon.
* `validate-train`, `alpha-split`, `data-split`, `random-choice`, `control`: lambda from \
{{{listed}}}
  for `objective-perturbation` with `oplr`. A ninth of the records validate, as in section 5 of the
  paper. `validate-train` spends half of epsilon on training and half on validation, with
  delta = 0.01. `control` is **not private**: epsilon is the loss of each training, and the choice
  has no noise. Its accuracy is not an upper bound. Its score is minus the mean of
  min(1, max(0, 1 - z)) over the margins z. Small weights have margins near 0, and by this score
  they do about as badly as wrong weights. So `control` prefers small lambda, where noise hurts \
most.
  On Adult and breast cancer at epsilon = 0.5 it is less accurate than `random-choice`.
"""


def tables(folder: Path | None) -> Iterator[tuple[str, Labelled]]:
    """Yield the data sets there are."""
    yield "breast-cancer", load("breast-cancer").data
    if folder is None:
        return
    adult = pd.read_csv(_text(folder / "adult.data.gz"), header=None, skipinitialspace=True)
    wide = pd.get_dummies(adult.drop(columns=14), dtype=float)
    yield "adult", Labelled(wide.to_numpy(), (adult[14] == ">50K").to_numpy().astype(int))
    magic = pd.read_csv(_text(folder / "magic04.data.gz"), header=None)
    yield (
        "magic",
        Labelled(magic.drop(columns=10).to_numpy(), (magic[10] == "g").to_numpy().astype(int)),
    )


def _text(path: Path) -> io.StringIO:
    return io.StringIO(gzip.decompress(path.read_bytes()).decode())


def accuracies(name: str, data: Labelled, k: int) -> dict[str, float]:
    """Accuracy of everything that is compared, on one split."""
    split = split_of(name, data, k)
    records, columns = split.train.X.shape
    found = baselines(split)
    for entry in ENTRIES:
        for epsilon in EPSILONS:
            given = parameters(
                entry, epsilon, records=records, columns=columns, feature=COLUMN[name]
            )
            rng = stream(k, "accuracy", name, entry, epsilon)
            mechanism = resolve(entry, given).mechanism
            found[f"{entry} {epsilon:g}"] = private_accuracy(entry, mechanism, split, rng)
    return {key: round(value, 9) for key, value in found.items()}


def _said() -> dict[str, Any]:
    """What the introduction leaves open."""
    dependent = [f"{dependent_epsilon(epsilon / 2, 2, 25, 1e-3):.2f}" for epsilon in EPSILONS]
    return {
        "RELEASES": RELEASES,
        "PUBLIC": PUBLIC,
        "TRAIN": TRAIN,
        "TEST": TEST,
        "dependent": f"{', '.join(dependent[:-1])} and {dependent[-1]}",
        "listed": ", ".join(LAMBDAS.split(";")),
    }


def page(found: dict[str, list[dict[str, float]]]) -> str:
    """Write the tables down."""
    lines = [
        "# Accuracy",
        "",
        *INTRODUCTION.format(**_said()).split("\n"),
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
                pairs = (
                    interval((values - frame[other]).to_numpy())
                    for other in ("non-private", "majority")
                )
                told = " | ".join(f"{low:+.3f} to {high:+.3f}" for low, high in pairs)
                lines.append(f"| {entry} | {epsilon:g} | {values.mean():.3f} | {told} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Run all splits and write both files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with adult.data.gz and magic04.data.gz")
    parser.add_argument("--splits", type=int, default=20)
    arguments = parser.parse_args()
    stored = DOCS / "accuracy.json"
    found = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
    for name, data in tables(arguments.data):
        found[name] = [accuracies(name, data, k) for k in range(arguments.splits)]
        print(name, "done", flush=True)
        stored.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (DOCS / "accuracy.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
