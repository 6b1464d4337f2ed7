"""The cell that is shown to a person breaks the claim most visibly."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pytest

from dpassay.cli.main import main
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.record.kinds import RUNS
from dpassay.record.run_record import result_json
from dpassay.record.schemas import read_schema
from dpassay.targets.resolve import resolve

WORDS = ["run", "soft-majority-overview", "-q", "--mode", "exact", "--out", "out", "--train", "40"]
WORDS += ["--queries", "3", "--neighbours", "flip"]


@pytest.mark.slow
def test_it_is_recorded_where_the_worst_answer_is_too_rare_to_see(folder: Path) -> None:
    assert main(WORDS) == 0
    record = RUNS.read(folder / "out" / "record.json")
    jsonschema.validate(record, read_schema("record"))
    (result,) = (each for each in record["results"] if each["verdict"] == "refuted")
    worst, clear = result["witness"], result["clearest"]

    def excess(cell: dict[str, float]) -> float:
        return cell["p1"] - math.exp(result["claim"]["epsilon"]) * cell["p0"]

    assert worst["p1"] < 1e-9
    assert excess(clear) == max(map(excess, result["per_query"])) > 0.1
    assert float(clear["loss"]) < float(worst["loss"])
    path = folder / "out" / "witnesses" / f"{result['id']}.clearest.json"
    assert json.loads(path.read_text()) == clear
    assert main(["replay", str(path)]) == 0


def test_there_is_none_where_the_worst_cell_is_the_clearest_or_nothing_is_refuted() -> None:
    for name, verdict in (("stable-laplace-printed-scale", "refuted"), ("walk", "not refuted")):
        target = resolve({"walk": "projected-walk"}.get(name, name))
        results = list(assay([target], None, Settings(mode="exact")))
        found = [result_json(result, 0.999) for result in results]
        assert any(entry["verdict"] == verdict for entry in found)
        assert all("clearest" not in entry for entry in found)
