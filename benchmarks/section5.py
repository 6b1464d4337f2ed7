"""The five methods of section 5 of Chaudhuri and Vinterbo (2013) side by side on MAGIC.

AUC, MSE and the chosen index, one fold.

`python benchmarks/section5.py --data FOLDER` prints a table; FOLDER has magic04.data.gz as
published by the UCI repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from benchmarks.accuracy import tables
from dpassay.data import Labelled, points
from dpassay.mechanisms.chaudhuri_vinterbo_2013.alpha_split import AlphaSplit
from dpassay.mechanisms.chaudhuri_vinterbo_2013.control import Control
from dpassay.mechanisms.chaudhuri_vinterbo_2013.data_split import DataSplit
from dpassay.mechanisms.chaudhuri_vinterbo_2013.random_choice import RandomChoice
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate_train import ValidateTrain
from dpassay.seeds import stream

ALPHAS = (0.3, 1.0, 3.0)
SCALE = "500;250;5;1;1;500;500;500;90;500"
"""Public, about the largest values of the ten columns: what they are divided by before they are cut
back to the unit ball."""
BASE = f"objective-perturbation,oplr=true,d=10,feature_scale={SCALE}"
METHODS = ("Stability", "alphaSplit", "dataSplit", "Random", "Control")


def mechanism_of(method: str, alpha: float, m: int, release: str) -> Any:
    """Return a method that loses alpha in all.

    Stability spends half on training and half on validation, with delta = 0.01.
    """
    if method == "Stability":
        base = f"{BASE},g=ramp"
        return ValidateTrain(
            alpha1=alpha / 2,
            alpha2=alpha / 2,
            base=base,
            m=m,
            delta=0.01,
            release=release,  # type: ignore[arg-type]
        )
    kinds: dict[str, Any] = {
        "alphaSplit": AlphaSplit,
        "dataSplit": DataSplit,
        "Random": RandomChoice,
        "Control": Control,
    }
    return kinds[method](alpha=alpha, base=BASE, m=m, release=release)


def folds(data: Labelled, seed: int) -> list[Labelled]:
    """Cut data into ten folds at random; the last records of what is shuffled are left over."""
    order = stream(seed, "section 5").permutation(len(data))
    size = len(data) // 10
    return [data.take(order[i * size : (i + 1) * size]) for i in range(10)]


def run(data: Labelled, alpha: float, fold: int = 0, seed: int = 0) -> dict[str, dict[str, float]]:
    """Train every method on eight folds, validate on one, test on one.

    The fold, the next, and the others.
    """
    parts = folds(data, seed)
    test, validation = parts[fold], parts[(fold + 1) % 10]
    train = [part for i, part in enumerate(parts) if i not in (fold, (fold + 1) % 10)]
    whole = [*train, validation]
    D = Labelled(
        np.concatenate([part.X for part in whole]), np.concatenate([part.y for part in whole])
    )
    axes = points(np.diag(np.array(SCALE.split(";"), dtype=float)), "queries")
    found = {}
    for method in METHODS:
        answers = []
        for release in ("vector", "index"):  # the same coins, so the same choice
            mechanism = mechanism_of(method, alpha, len(validation), release)
            rng = stream(seed, method, alpha, fold)
            answers.append(mechanism.sample(mechanism.prepare(D), axes, 1, rng)[0])
        w, index = answers
        trainer = mechanism.validation.trainer if method == "Stability" else mechanism.trainer
        margins = trainer.margins(w[None], test.X)[0]
        auc, mse = (
            float(roc_auc_score(test.y, margins)),
            float(np.mean((expit(margins) - test.y) ** 2)),
        )
        found[method] = {"AUC": auc, "MSE": mse, "index": int(index[0])}
    return found


def main() -> None:
    """Print one fold at three privacy parameters."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    data = dict(tables(parser.parse_args().data))["magic"]
    print("| alpha | method | AUC | MSE | index |\n|---|---|---|---|---|")
    for alpha in ALPHAS:
        for method, row in run(data, alpha).items():
            print(
                f"| {alpha:g} | {method} | {row['AUC']:.3f} | {row['MSE']:.3f} | {row['index']} |"
            )


if __name__ == "__main__":
    main()
