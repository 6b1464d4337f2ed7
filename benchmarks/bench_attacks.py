"""All score attacks on 10,000 records with 64 reference trees: seconds.

The budget is two minutes on two cores, for Adult.

`python benchmarks/bench_attacks.py --data adult.csv --label income` reads a file; without it, data
of that size are made up.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from dpassay.attacks.experiment.models import build_data
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.subjects import Learner
from dpassay.attacks.scores import ATTACKS
from dpassay.data import Labelled, load
from dpassay.mechanisms.shared.learners import estimator_of

RECORDS, TEST, COLUMNS = 10_000, 2_000, 100


def main() -> None:
    """Print the time, and the AUC of each attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="CSV file")
    parser.add_argument("--label", help="column that holds the label")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    data = _made_up() if chosen.data is None else load(chosen.data, chosen.label).data
    order = np.random.default_rng(0).permutation(len(data))
    records, test = data.take(order[:RECORDS]), data.take(order[RECORDS : RECORDS + TEST])
    tree = Target(name="tree", subject=Learner(make=estimator_of("tree"), name="tree"))
    floor, attacks = (
        build_data(records, test, copies=0, noise=0.0, seed=0),
        ATTACKS,
    )
    started = time.perf_counter()
    design = Design(references=64, targets=16)
    (found,) = experiment([tree], floor, attacks, design, jobs=chosen.jobs)
    print(
        (
            f"{RECORDS:,} records, {design.references} + {design.targets} trees, {len(attacks)} "
            "attacks on two views:"
        ),
        end=" ",
    )
    print(f"{time.perf_counter() - started:.1f} s with {chosen.jobs} jobs")
    for outcome in found.outcomes[: len(attacks)]:
        print(f"  {outcome.attack:18} AUC {outcome.auc:.3f}, advantage {outcome.advantage:.3f}")


def _made_up() -> Labelled:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(RECORDS + TEST, COLUMNS))
    return Labelled(X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int))


if __name__ == "__main__":
    main()
