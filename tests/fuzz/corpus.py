"""Valid documents to begin with: a record, cut short, and a witness of every kind of claim."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from dpassay.cli.main import main
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
ATTACKED = (
    "soft-majority --epsilon 1 --models 8 --references 8 --records 100 --copies 2 "
    "--transcripts 200 --budgets 1,2 --attacks lira,loss-threshold"
)


def fill(folder: Path) -> None:
    """Write the documents into a new folder."""
    folder.mkdir()
    for name, words in RUNS.items():
        record = _shown(["run", *words.split(), "--profile", "quick"])
        record["results"] = [_cut(result) for result in record["results"][:3]]
        written(folder / f"{name}.json", record)
        written(folder / f"{name}.witness.json", record["results"][0]["witness"])
    written(folder / "attack.json", _shown(["attack", *ATTACKED.split()]))


def _shown(words: list[str]) -> dict[str, Any]:
    with redirect_stdout(io.StringIO()) as shown:
        code = main([*words, "-q", "--json"])
    assert code in (0, 4), words
    found: dict[str, Any] = json.loads(shown.getvalue())
    return found


def _cut(result: dict[str, Any]) -> dict[str, Any]:
    worst = max(result["per_query"], key=lambda cell: float(cell["lower"]))
    result["per_query"] = [worst]
    for cell in result["per_query"]:
        if cell["profile"]:
            cell["profile"] = {
                name: curve[:2] if isinstance(curve, list) else curve
                for name, curve in cell["profile"].items()
            }
    return result
