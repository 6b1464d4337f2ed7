"""Documents, configurations and command lines with something wrong in them.

One line of complaint, never a bug of dpassay.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import shutil
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli import main as command_line
from dpassay.cli.main import main
from tests.cli.fuzzing import crash, mangled, mutated, written
from tests.conftest import once

Capture = pytest.CaptureFixture[str]
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
LINES = (
    "config --show --profile quick --train 10 --confidence 0.9 --json",
    (
        "run --mode exact --profile quick --train 10 --queries 1 --budget 300 --claim "
        "epsilon=1,delta=0.1 --dry-run soft-majority"
    ),
    "run projected-walk --mode exhaustive --n 2 --domain 1 --dry-run",
    "compare labels.json exact.json --tolerance 0.1",
    "baseline check exact.json --baseline exact.json --tolerance 0.1",
    "explain soft-majority.printed.exact --record exact.json",
    "report exact.json --format md -o pages",
    "replay exhaustive.witness.json",
)
PARTS = (
    *(
        "",
        "-1",
        "0",
        "1",
        "1e400",
        "inf",
        "nan",
        "-inf",
        "1e-400",
        "99999999999999999999",
        "1e12",
        "x",
        "epsilon=",
        "epsilon=0",
    ),
    *(
        "delta=1",
        "gamma=2",
        "=",
        "a=b=c",
        ",",
        "..",
        "-p",
        "--",
        "--json",
        "--out",
        "--n",
        "--domain",
        "3x2",
        "0x0",
        "1x",
        "--mode",
    ),
    *(
        "exhaustive",
        "--budget",
        "--train",
        "--seed",
        "--jobs",
        "--claim",
        "--answers",
        "nowhere:f",
        ":",
        "\x00",
        "\ud800",
        "a" * 3000,
    ),
)
CONFIG: dict[str, Any] = {
    "profile": "quick",
    "seed": 3,
    "confidence": 0.99,
    "mode": "auto",
    "budget": 500,
    "jobs": 1,
    "detect": 2.0,
    "out": "report",
    "baseline": "b.json",
    "tolerance": 0.1,
    "data": "people.csv",
    "target": "income",
    "train": 10,
    "queries": 2,
    "neighbours": "flip",
    "mechanisms": [
        {
            "target": "soft-majority",
            "name": "a",
            "parameters": {"r": 3, "epsilon": 0.5, "learner": "majority"},
        },
        {"target": "toy:coin", "claim": {"epsilon": 1.0, "delta": 0.01}, "answers": [0, 1]},
        {"target": "toy:number", "claim": {"gamma": 0.5}, "answers": "0..1"},
    ],
    "suppressions": [
        {"result": "a", "kind": "rose", "reason": "because", "expires": "2030-01-01", "up_to": 1.5}
    ],
}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record, cut short, and a witness of every mode and kind of claim."""

    def fill(folder: Path) -> None:
        folder.mkdir()
        for name, words in RUNS.items():
            with redirect_stdout(io.StringIO()) as shown:
                code = main(["run", *words.split(), "--profile", "quick", "-q", "--json"])
            assert code in (0, 4), name
            record = json.loads(shown.getvalue())
            record["results"] = [_cut(result) for result in record["results"][:3]]
            written(folder / f"{name}.json", record)
            written(folder / f"{name}.witness.json", record["results"][0]["witness"])

    return once(tmp_path_factory, "corpus", fill)


def _cut(result: dict[str, Any]) -> dict[str, Any]:
    result["per_query"] = result["per_query"][:1]
    for cell in result["per_query"]:
        if cell["profile"]:
            cell["profile"] = {
                name: curve[:2] if isinstance(curve, list) else curve
                for name, curve in cell["profile"].items()
            }
    return result


@cache
def parser_of(commands: tuple[str, ...]) -> argparse.ArgumentParser:
    """Return the parser that knows the options of these commands; it is the same every time."""
    return command_line.parser(commands)


@pytest.fixture
def here(corpus: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the corpus in it, and parsers that are made once."""

    def parse(words: Sequence[str]) -> argparse.Namespace:
        known = parser_of(tuple(name for name in command_line.COMMANDS if name in words))
        return known.parse_args(words)

    monkeypatch.setattr(command_line, "parse", parse)
    for path in corpus.glob("*.json"):
        shutil.copy(path, folder)
    return folder


def records(seeds: range, capsys: Capture) -> list[str]:
    """What the commands that read records have done wrong."""
    names, wrong = sorted(RUNS), []
    for seed in seeds:
        good = f"{names[seed % len(names)]}.json"
        document = mutated(json.loads(Path(good).read_text()), seed)
        written(Path("bad.json"), document)
        results = document.get("results")
        first = (
            results[0].get("id")
            if isinstance(results, list) and results and isinstance(results[0], dict)
            else None
        )
        lines = [
            ["compare", good, "bad.json"],
            ["baseline", "check", good, "--baseline", "bad.json"],
            ["compare", "bad.json", good],
        ]
        lines = [
            lines[seed % 3],
            ["report", "bad.json", "--format", "md,junit,json", "-o", "pages"],
        ]
        lines += (
            [["explain", "--record", "bad.json", "--", first]]
            if isinstance(first, str) and seed % 2
            else []
        )
        wrong += [f"{seed}: {told}" for words in lines if (told := crash(words, capsys))]
    return wrong


def witnesses(seeds: range, capsys: Capture) -> list[str]:
    """What replays have done wrong."""
    names, wrong = sorted(RUNS), []
    for seed in seeds:
        witness = json.loads(Path(f"{names[seed % len(names)]}.witness.json").read_text())
        written(Path("bad.json"), mutated(witness, seed))
        wrong += [f"{seed}: {told}" for told in [crash(["replay", "bad.json"], capsys)] if told]
    return wrong


def texts(seeds: range, capsys: Capture) -> list[str]:
    """What commands have done wrong that read files whose text is mangled, and configurations."""
    wrong = []
    for seed in seeds:
        if seed % 2:
            Path("bad.json").write_text(
                mangled(Path("labels.json").read_text(), seed), encoding="utf-8", errors="replace"
            )
            Path("worse.json").write_text(
                mangled(Path("labels.witness.json").read_text(), seed),
                encoding="utf-8",
                errors="replace",
            )
            lines = [["compare", "bad.json", "labels.json"], ["replay", "worse.json"]]
        else:
            changed = mutated(CONFIG, seed)
            text = "\n".join(
                f"{_toml(str(key))} = {_toml(value)}" for key, value in changed.items()
            )
            Path("dpassay.toml").write_text(
                mangled(text, seed) if seed % 8 == 0 else text, encoding="utf-8", errors="replace"
            )
            lines = [["config", "--show"]]
        wrong += [f"{seed}: {told}" for words in lines if (told := crash(words, capsys))]
        Path("dpassay.toml").unlink(missing_ok=True)
    return wrong


def _toml(value: Any) -> str:
    """Write a value as TOML; what it has not, null, as a text."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{_toml(str(key))} = {_toml(each)}" for key, each in value.items())
            + "}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return (
            str(value)
            if "." in str(value) or value != value or abs(value) == float("inf")  # noqa: PLR0124
            else f"{value:.1f}"
        )
    return (
        json.dumps(str(value).encode("ascii", "replace").decode())
        if isinstance(value, str)
        else str(value).lower()
    )


def line(seed: int) -> list[str]:
    """Return a command line with one to three words wrong."""
    rng = random.Random(seed)  # noqa: S311
    words = rng.choice(LINES).split()
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(1, len(words) + 1)
        if rng.random() < 0.5:
            words[place:place] = [rng.choice(PARTS)]
        else:
            words[place : place + 1] = rng.choice(([rng.choice(PARTS)], []))
    return [*words, "--dry-run"] if words[0] == "run" and "--dry-run" not in words else words


def lines(seeds: range, capsys: Capture) -> list[str]:
    """What commands have done wrong that were asked wrongly."""
    return [f"{seed}: {told}" for seed in seeds if (told := crash(line(seed), capsys))]


@pytest.mark.slow
def test_damaged_records_are_refused_or_read(here: Path, capsys: Capture) -> None:
    assert records(range(90), capsys) == []


def test_damaged_witnesses_are_refused_or_replayed(here: Path, capsys: Capture) -> None:
    assert witnesses(range(120), capsys) == []


def test_mangled_texts_and_configurations_are_refused_or_read(here: Path, capsys: Capture) -> None:
    assert texts(range(120), capsys) == []


def test_wrong_command_lines_are_refused(here: Path, capsys: Capture) -> None:
    assert lines(range(60), capsys) == []


@pytest.mark.slow
def test_many_damaged_documents_and_command_lines(here: Path, capsys: Capture) -> None:
    assert records(range(1000, 1600), capsys) == []
    assert witnesses(range(1000, 1400), capsys) == []
    assert texts(range(1000, 1600), capsys) == []


CURVES = ("epsilon", "lower", "upper", "false_positive", "trade_off_lower", "trade_off_upper")


DAMAGE: list[tuple[tuple[Any, ...], Any, str]] = [
    *[(("per_query", 0, "profile", name), [0.5], "are not of one length") for name in CURVES],
    (("per_query", 0, "profile", "lower"), [], "are not of one length"),
    (("claim", "source"), 7, "results[0].claim.source = 7: must be a text"),
    (("lower",), 10**400, ': must be a finite number or "inf" or null'),
    (
        ("witness", "query"),
        "x",
        'the witness of soft-majority.printed.exact: query = "x": must be a whole number',
    ),
    (("witness", "event"), [7], "its event [7] is not made of its labels [0, 1]"),
    (("witness", "loss"), -1e999, "is not valid JSON"),
    (("unknown",), float("inf"), "is not valid JSON"),
]


@pytest.mark.parametrize("k", range(len(DAMAGE)))
def test_what_was_read_and_is_refused_now(k: int, here: Path, capsys: Capture) -> None:
    place, value, message = DAMAGE[k]
    record = json.loads(Path("exact.json").read_text())
    inside = record["results"][0]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = copy.deepcopy(value)
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    assert message in capsys.readouterr().err
