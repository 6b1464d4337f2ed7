"""What a fuzzer has found: it crashed, or was taken, and is refused now."""

from __future__ import annotations

import copy
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.csv_files import read_csv
from dpassay.errors import InvalidInput
from dpassay.targets.foreign.protocol import DEEPEST, Malformed, answers_of, error_of, reply_of
from dpassay.trials.ledger import Ledger
from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import written
from tests.fuzz.running import CASES
from tests.fuzz.test_ledgers import NEW, ROWS, VALUE

Capture = pytest.CaptureFixture[str]
CELL = ("per_query", 0)
DAMAGED: dict[str, tuple[str, tuple[Any, ...], Any, str]] = {
    "lower above upper": ("exhaustive", ("upper",), 0.5, "above its upper bound, 0.5"),
    "exact below lower": ("exact", ("exact",), 0.25, "that is not between its bounds"),
    "confidence of nothing": ("labels", ("confidence",), -0.5, "must be in [0.5, 1]"),
    "alpha of nothing": ("labels", ("alpha",), -1, "cannot be the error probability"),
    "alpha of an exact bound": ("exact", (*CELL, "alpha"), 0.01, "cannot be the error probability"),
    "more than was counted": ("labels", (*CELL, "lower"), 0.95, "where its trials show"),
    "more than any cell": ("labels", ("lower",), 0.95, "above that of each of its cells"),
    "more trials than all": ("labels", ("trials",), 1, "trials at a cell, of 1 in all"),
    "refuted by nothing": ("exact", ("verdict",), "refuted", "is refuted; its lower bound is"),
    "verified by trials": ("exact", ("verdict",), "verified", "must be exhaustive"),
    "a list among derived": ("exact", ("derived",), {"x": []}, "must be a finite number or a text"),
    "a truth among derived": ("exact", ("derived",), {"x": True}, "must be a finite number or a"),
    "no size, no null": (
        "exact",
        ("fixed_n",),
        "x",
        "must be a whole number of at most 64 bits or",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_record_that_contradicts_itself_is_refused(
    name: str, here: Path, capsys: Capture
) -> None:
    source, place, value, message = DAMAGED[name]
    record = json.loads(Path(f"{source}.json").read_text())
    inside = record["results"][0]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages", "--exit-code"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("pages").exists()


def test_a_sampled_result_that_says_of_no_certified_cells(here: Path, capsys: Capture) -> None:
    """`compare` ended with a KeyError."""
    record = json.loads(Path("labels.json").read_text())
    del record["results"][0]["searched"]["certified_cells"]
    written(Path("bad.json"), record)
    assert main(["compare", "labels.json", "bad.json"]) == 2
    assert "was sampled and does not say of how many cells" in capsys.readouterr().err


@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_wrote_contradicts_nothing(name: str, here: Path) -> None:
    assert main(["report", f"{name}.json", "-o", "pages", "--format", "md"]) == 0


def _first(record: dict[str, Any], *place: Any) -> Any:
    for key in place:
        record = record[key]
    return record


ATTACKS: dict[str, tuple[tuple[Any, ...], str, Any, str]] = {
    "other targets": (("subjects", 1, "outcomes", 0), "tpr_per_target", [[], [0.5]], "targets"),
    "more than was guessed": (("subjects", 1, "certified", 0), "lower", 3.5, "its trials show"),
    "more guesses than coins": (
        ("subjects", 1, "certified", 0, "counts"),
        "x",
        10**6,
        "counts more answers than trials",
    ),
    "broken by nothing": (("repeated", 0, "rungs", 0), "broken", True, "is broken: True"),
    "more than was seen": (("repeated", 0, "rungs", 0), "lower", 0.9, "its trials show"),
    "a text for a loss": (("repeated", 0, "rungs", 0, "limits"), "epsilon", "x", "must be"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_record_of_attacks_that_contradicts_itself_is_refused(
    name: str, here: Path, capsys: Capture
) -> None:
    place, key, value, message = ATTACKS[name]
    record = json.loads(Path("attack.json").read_text())
    _first(record, *place)[key] = copy.deepcopy(value)
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    assert message in capsys.readouterr().err


def test_a_loss_that_only_one_record_knows_exactly_is_not_compared(here: Path) -> None:
    record = json.loads(Path("attack.json").read_text())
    del record["repeated"][0]["rungs"][0]["limits"]["epsilon"]
    written(Path("bad.json"), record)
    assert main(["compare", "attack.json", "bad.json"]) in (0, 1, 4)


@pytest.mark.parametrize("claim", ["gamma = 0", "gamma = -0.5", "epsilon = 1e12", "mu = -1.0"])
def test_a_claim_that_no_run_takes_is_refused_in_a_file(
    claim: str, here: Path, capsys: Capture
) -> None:
    text = f'[[mechanisms]]\ntarget = "a:b"\nclaim = {{ {claim} }}\n'
    Path("dpassay.toml").write_text(text)
    assert main(["config"]) == 2
    assert f"mechanism 1: {claim.partition(' ')[0]} = " in capsys.readouterr().err


def test_an_option_is_said_once_by_either_of_its_names(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("dpassay.toml").write_text('label = 3\ntarget = "income"\n')
    assert main(["config"]) == 2
    assert "target: is the same as label; must be said once" in capsys.readouterr().err
    Path("dpassay.toml").unlink()
    monkeypatch.setenv("DPASSAY_LABEL", "a")
    monkeypatch.setenv("DPASSAY_TARGET", "b")
    assert main(["config"]) == 2
    assert "DPASSAY_TARGET: is the same as DPASSAY_LABEL" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["config --seed=--", "explain x --record=--"])
def test_two_hyphens_are_no_value(words: str, here: Path, capsys: Capture) -> None:
    assert main(words.split()) == 2
    assert "needs a value" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "baseline check exact.json --baseline NAME",
        "baseline accept exact.json --baseline NAME",
        "baseline move a b --baseline NAME",
        "baseline check attack.json --baseline NAME",
        "report exact.json -o NAME",
        "run soft-majority --dry-run --search table,file=NAME",
        "attack --signals NAME",
    ],
)
@pytest.mark.parametrize("name", ["9" * 3000, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(
    words: str, name: str, here: Path, capsys: Capture
) -> None:
    assert main([word.replace("NAME", name) for word in words.split()]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("more", ["NaN", "", "#N/A"])
def test_a_missing_value_too_many_is_seen(more: str, tmp_path: Path) -> None:
    """Pandas drops what stands beyond the last name, if it is missing."""
    path = tmp_path / "data.csv"
    path.write_text(f"a,b\n1,2\n3,4,{more}\n")
    with pytest.raises(InvalidInput, match="line 3 has 3 values; must have 2"):
        read_csv(path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON work BEGIN DELETE FROM work; END",
        "CREATE TABLE other (x)",
    ],
)
def test_a_ledger_with_something_else_in_it_is_refused(statement: str, tmp_path: Path) -> None:
    """A trigger could undo what is written: what was put into it was not there."""
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, resume=False) as ledger:
        ledger.put(ROWS.items())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with pytest.raises(InvalidInput, match="holds other tables, or triggers"):
        Ledger(path, resume=True)
    with Ledger(path, resume=False) as ledger:  # it is ours, and is made anew
        ledger.put([(NEW, VALUE)])
        assert ledger.get(NEW) is not None


@pytest.mark.parametrize("pair", [("[", "]"), ('{"a":', "}")])
def test_an_answer_nested_too_deeply_is_refused(pair: tuple[str, str]) -> None:
    inner = "1" if pair[0] != "[" else ""
    for depth, good in ((DEEPEST, True), (DEEPEST + 2, False), (900, False)):
        nested = pair[0] * depth + inner + pair[1] * depth
        reply = reply_of(f'{{"answers": [{nested}]}}'.encode())
        if good:
            assert len(answers_of(reply, 1)) == 1
        else:
            with pytest.raises(Malformed, match=f"nested deeper than {DEEPEST} levels"):
                answers_of(reply, 1)


def test_an_error_nested_too_deeply_is_told_all_the_same() -> None:
    found = reply_of(b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}")
    assert len(error_of(found)) <= 80


def test_there_are_ten_thousand_cases_and_a_file_for_each_target() -> None:
    assert sum(CASES.values()) >= 10_000
    files = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert files == {*CASES, "regressions"}
