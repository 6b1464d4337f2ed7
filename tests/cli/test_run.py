"""`dpassay run`: verdicts, exit codes, what is written, and that it comes out the same again."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpassay.cli.main import main
from dpassay.engine.run import assay
from dpassay.record.schemas import read_schema
from dpassay.reports.run.page import html
from dpassay.targets.catalogue import ENTRIES

pytestmark = pytest.mark.usefixtures("undrawn")

MAJORITY = [
    *("run", "soft-majority", "--mode", "exhaustive", "-p", "epsilon=1", "-p", "r=3", "--n", "3"),
    *("--domain", "1"),
]
WALK = [
    *("run", "projected-walk", "--mode", "exhaustive", "-p", "epsilon=1", "-p", "T=3"),
    *("--n", "5", "--domain", "3"),
]
SMALL = ["--train", "40", "--queries", "3", "-p", "r=5"]


DRAWN = html.pictures_of


def sigma(t: float) -> float:
    return 1 / (1 + math.exp(-t))


def record_of(out: str | Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(out, "record.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(read_schema("record")).validate(record)
    return record


def test_exhaustive_worst_case_has_a_witness_that_replays_and_a_changed_one_does_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*MAJORITY, "--learner", "majority", "--out", "out"]) == 0
    result = record_of("out")["results"][0]
    assert result["verdict"] == "verified"
    assert result["exact"] == pytest.approx(math.log(sigma(-0.5) / sigma(-1.5)), abs=1e-9)
    assert result["any_size"]["exact"] == pytest.approx(result["exact"], abs=1e-12)
    assert result["witness"]["data"]["kind"] == "inline"
    capsys.readouterr()
    path = Path(f"out/witnesses/{result['id']}.json")
    assert main(["replay", str(path)]) == 0
    assert "\nreproduced: loss 0.727336293803, recorded 0.727336293803" in capsys.readouterr().out
    witness = json.loads(path.read_text())
    path.write_text(json.dumps(witness | {"loss": witness["loss"] + 1e-6}))
    assert main(["replay", str(path)]) == 3
    path.write_text(json.dumps(witness | {"data": witness["data"] | {"y": [1] * 3}}))
    assert main(["replay", str(path)]) == 2


@pytest.mark.parametrize("mode", ["exact", "monte-carlo"])
def test_twice_the_claim_is_refuted_and_the_claim_itself_is_not(mode: str, folder: Path) -> None:
    twice = [
        *("run", "soft-majority", *SMALL, "-p", "epsilon=1", "--claim", "epsilon=0.5"),
        *("--mode", mode, "-q"),
    ]
    assert main([*twice, "--out", "twice"]) == 1
    assert record_of("twice")["results"][0]["verdict"] == "refuted"
    assert main(["replay", str(next(Path("twice/witnesses").iterdir()))]) == 1
    correct = ["run", "soft-majority", *SMALL, "-p", "epsilon=1", "--mode", mode, "-q"]
    assert main([*correct, "--out", "correct"]) == 0
    assert record_of("correct")["results"][0]["verdict"] == "not refuted"


@pytest.mark.slow
def test_the_catalogue_runs_and_its_known_refutation_is_expected(catalogue_run: Path) -> None:
    record = record_of(catalogue_run)
    results = record["results"]
    assert {result["mechanism"] for result in results} == set(ENTRIES)
    wrong = [result["id"] for result in results if result["verdict"] == "refuted"]
    assert wrong == [result["id"] for result in results if result["expected"] == "refuted"]
    assert "soft-majority-overview.printed.exact" in wrong
    assert {result["verdict"] for result in results} == {"refuted", "not refuted"}
    assert record["run"]["catalogue"] is True
    most = {"index.html": 600_000, "report.md": 60_000, "cells.csv.gz": 10_000_000}
    most |= {"record.json": 2_000_000, "sidecar.json": 1000}
    for name, size in most.items():
        assert 0 < (catalogue_run / name).stat().st_size <= size, name
    pages = list((catalogue_run / "mechanisms").iterdir())
    assert len(pages) == len(ENTRIES)
    assert all(0 < path.stat().st_size <= 200_000 for path in pages)
    measured = [result for result in results if result["other"] is not None]
    clearest = sum("clearest" in result for result in results)
    assert clearest > 0
    files = list((catalogue_run / "witnesses").iterdir())
    assert len(files) == len(results) + len(measured) + clearest


@pytest.mark.slow
def test_every_witness_of_the_catalogue_replays(catalogue_run: Path) -> None:
    for path in (catalogue_run / "witnesses").iterdir():
        assert main(["replay", str(path)]) == 0


def test_same_seed_same_bytes(folder: Path) -> None:
    """In another process too."""
    words = ["run", "projected-walk", "--train", "10", "--queries", "2", "--budget", "500", "-q"]
    words += ["--mode", "monte-carlo", "--allow-inconclusive"]
    again = [sys.executable, "-W", "error", "-m", "dpassay", *words, "--out", "one"]
    assert subprocess.run(again, check=False).returncode == 0
    assert main([*words, "--out", "three", "--seed", "1"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "pictures_of", DRAWN)
        assert main([*words, "--out", "two"]) == 0
    one, two, three = (Path(out, "record.json").read_bytes() for out in ("one", "two", "three"))
    assert one == two
    assert one != three
    assert Path("one/index.html").read_bytes() == Path("two/index.html").read_bytes()


def test_inconclusive_unless_allowed(folder: Path) -> None:
    words = ["run", "soft-majority", *SMALL, "--mode", "monte-carlo", "-q"]
    assert main([*words, "--budget", "100", "--detect", "40"]) == 4  # nothing is seen to move
    assert main([*words, "--budget", "100", "--allow-inconclusive"]) == 0
    assert main([*words, "--budget", "5000"]) == 4
    assert main([*words, "--budget", "5000", "--detect", "40"]) == 0


def test_known_refutation_that_is_not_found_means_the_harness_is_blind(folder: Path) -> None:
    blind = [
        *("run", "soft-majority-overview", "--mode", "monte-carlo", "--budget", "100"),
        *("--train", "40", "--queries", "2", "-q"),
    ]
    assert main([*blind, "--allow-inconclusive"]) == 3


@pytest.mark.slow
def test_sampling_alone_finds_what_is_known_to_be_wrong(folder: Path) -> None:
    names = ["soft-majority-overview", "noisy-average", "histogram"]
    words = ["run", "--profile", "quick", "-q", *names, "--mode", "monte-carlo"]
    assert main([*words, "--out", "out", "--allow-inconclusive"]) == 0
    results = record_of("out")["results"]
    verdicts = {result["id"]: result["verdict"] for result in results}
    assert verdicts["soft-majority-overview.printed.monte-carlo"] == "refuted"
    assert all(
        result["verdict"] != "refuted" or result["expected"] == "refuted" for result in results
    )
    assert "error" not in verdicts.values()


def test_own_function_on_own_data(folder: Path) -> None:
    Path("mine.py").write_text(
        "import numpy as np\n"
        "def predict(data, queries, size, rng):\n"
        "    p = 1 / (1 + np.exp(-len(data) * (2 * data.y.mean() - 1)))\n"
        "    return (rng.random((size, len(queries))) < p).astype(int)\n"
    )
    Path("mine.csv").write_text(
        "kind,size,answer\n"
        + "".join(f"{'ab'[i % 2]},{i},{'no' if i % 2 else 'yes'}\n" for i in range(30))
    )
    words = [
        *("run", "mine:predict", "--data", "mine.csv", "--label", "answer", "--queries", "1"),
        *("--train", "10", "-q"),
    ]
    assert main([*words, "--claim", "epsilon=1", "--out", "out"]) == 1
    record = record_of("out")
    assert record["run"]["data"]["labels"] == ["no", "yes"]
    assert record["run"]["data"]["columns"] == 3
    assert main([*words, "--claim", "epsilon=2.1", "--executor", "inline"]) == 0


def test_interrupted_run_keeps_what_is_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> object:
        yield next(assay(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr("dpassay.cli.run.assay", interrupted)
    words = ["run", "projected-walk", "soft-majority", "--profile", "quick", "-q"]
    assert main([*words, "--out", "out"]) == 130
    record = record_of("out")
    assert record["run"]["complete"] is False
    assert len(record["results"]) == 1


def test_the_record_is_what_json_shows_and_another_run_removes_what_is_stale(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its command leaves out where it was written."""
    assert main([*WALK, "--json", "--out", "out"]) == 0
    assert capsys.readouterr().out == Path("out/record.json").read_text(encoding="utf-8")
    assert record_of("out")["run"]["command"] == " ".join(["dpassay", *WALK])
    assert main([*MAJORITY, "--out", "out", "-q"]) == 0
    assert {path.name for path in Path("out/witnesses").iterdir()} == {
        "soft-majority.printed.exhaustive.json",
        "soft-majority.printed.exhaustive.gamma.json",
    }
