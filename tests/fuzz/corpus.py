"""Valid documents to begin with: a record, cut short, and a witness of every kind of claim, records
of attacks, and witnesses of theorems."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.cli.main import main
from dpassay.theorems.run import make_witness
from tests.fuzz.mutations import written

RUNS = {
    "exact": "soft-majority exponential stable-gaussian --train 30 --queries 1",
    "exhaustive": "projected-walk --mode exhaustive --n 2 --domain 1",
    "labels": (
        "soft-majority-overview -p r=3 --mode monte-carlo --budget 300 --train 10 --queries 1"
    ),
    "numbers": (
        "stable-laplace averaged -p r=3 --mode monte-carlo --budget 300 --train 10 --queries 1"
    ),
    "scores": "example61-noisy-max --train 30 --queries 1",
    "errors": "projected-walk-risk-tied-by-label --train 10 --queries 1",
}
"""What a record of each name is made by."""
SIZES = "--models 8 --references 8 --records 100 --copies 2 --transcripts 200"
ATTACKS = {
    "attack": "soft-majority --epsilon 1 --budgets 1,2 --attacks lira,single-record --canaries 9",
    "renyi-attack": "soft-majority --claim rho=0.5 --budgets 1 --attacks gap",
}
SERVICE = (
    "attack service tests.attacks.services.broken_services:model --epsilon 1 --records 30 "
    "--transcripts 20"
)
OF_ATTACKS = (*ATTACKS, "service-attack", "signals-attack")
"""All records of attacks: of models, of a service, of saved signals."""
ROWS = (
    "dwork-feldman-2018/definition-1.1/any-generator",
    "dwork-feldman-2018/corollary-2.1/large-epsilon",
    "dwork-feldman-2018/corollary-2.1/slope",
    "dwork-feldman-2018/section-2.3/tables",
)
"""Rows of the record of theorems: verified, refuted from below, a slope, not refuted."""
THEOREMS = {
    "exact": "dwork-feldman-2018/section-4.1-soft-majority/privacy",
    "walk": "dwork-feldman-2018/section-2.2-walk/privacy",
    "printed": "dwork-feldman-2018/lemma-4.5-2/printed",
}
"""Rows that are refuted."""


def fill(folder: Path) -> None:
    """Write the documents into a new folder."""
    folder.mkdir()
    for name, words in RUNS.items():
        record = _shown(["run", *words.split(), "--profile", "quick"])
        record["results"] = [_cut(result) for result in record["results"][:3]]
        written(folder / f"{name}.json", record)
        written(folder / f"{name}.witness.json", record["results"][0]["witness"])
    _attack("attack", folder)
    signals = folder / "signals.npz"
    members = np.arange(32).reshape(4, 8) % 2
    np.savez(signals, scores=np.linspace(0, 1, 32).reshape(4, 8), membership=members)
    written(folder / "signals-attack.json", _shown(["attack", "signals", str(signals)]))
    checked = _shown(["theorem", "run", *THEOREMS.values(), *ROWS])
    written(folder / "theorems.json", checked)
    results = {result["id"]: result for result in checked["results"]}
    for name, key in THEOREMS.items():
        written(folder / f"{name}.theorem.json", make_witness(results[key], checked["run"]))


def fill_more(folder: Path) -> None:
    """Write records of two more attacks, which take as long as all the others."""
    folder.mkdir()
    _attack("renyi-attack", folder)
    written(folder / "service-attack.json", _shown(SERVICE.split()))


def _attack(name: str, folder: Path) -> None:
    words = ["attack", *ATTACKS[name].split(), *SIZES.split()]
    written(folder / f"{name}.json", _shown(words))


def _shown(words: list[str]) -> dict[str, Any]:
    with redirect_stdout(io.StringIO()) as shown:
        code = main([*words, "-q", "--json"])
    assert code in (0, 4), (code, words)
    found: dict[str, Any] = json.loads(shown.getvalue())
    return found


def _cut(result: dict[str, Any]) -> dict[str, Any]:
    worst = max(result["per_query"], key=lambda cell: float(cell["lower"]))
    if worst["profile"]:
        worst["profile"] = {
            name: curve[:2] if isinstance(curve, list) else curve
            for name, curve in worst["profile"].items()
        }
    return result | {"per_query": [worst]}
