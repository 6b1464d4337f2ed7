"""What a fuzzer has found: it crashed, or was taken, and is refused now."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.csv_files import read_csv
from dpassay.errors import InvalidInput, is_real
from dpassay.targets.foreign.protocol import DEEPEST, Malformed, answers_of, error_of, reply_of
from dpassay.trials.ledger import Ledger
from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import written
from tests.fuzz.running import CASES
from tests.fuzz.test_ledgers import NEW, ROWS, VALUE

Capture = pytest.CaptureFixture[str]
DAMAGED: dict[str, tuple[str, tuple[Any, ...], Any, str]] = {
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
def test_a_record_that_breaks_its_schema_is_refused(name: str, here: Path, capsys: Capture) -> None:
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
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_wrote_is_read(name: str, here: Path) -> None:
    assert main(["report", f"{name}.json", "-o", "pages", "--format", "md"]) == 0


@pytest.mark.parametrize("name", ["exact.json", "attack.json", "theorems.json"])
def test_a_name_that_an_object_has_twice_is_refused(name: str, here: Path, capsys: Capture) -> None:
    text = Path(name).read_text()
    Path("bad.json").write_text(text.replace('"complete": ', '"complete": false, "complete": ', 1))
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    assert "not valid JSON" in capsys.readouterr().err


def test_a_loss_that_only_one_record_knows_exactly_is_not_compared(here: Path) -> None:
    record = json.loads(Path("attack.json").read_text())
    del record["repeated"][0]["rungs"][0]["limits"]["epsilon"]
    written(Path("bad.json"), record)
    assert main(["compare", "attack.json", "bad.json"]) in (0, 1, 4)


def test_saved_signals_that_do_not_say_of_how_many_models(here: Path, capsys: Capture) -> None:
    """The page ended with a KeyError."""
    record = json.loads(Path("signals-attack.json").read_text())
    del record["run"]["references"]
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    told = capsys.readouterr().err
    assert "bad.json': is damaged: run has no field 'references', which it must have" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("claim", ["gamma = 0", "gamma = -0.5", "epsilon = 1e12", "mu = -1.0"])
def test_a_claim_that_no_run_takes_is_refused_in_a_file(
    claim: str, here: Path, capsys: Capture
) -> None:
    text = f'[[mechanisms]]\ntarget = "a:b"\nclaim = {{ {claim} }}\n'
    Path("dpassay.toml").write_text(text)
    assert main(["config"]) == 2
    assert f"mechanism 1: {claim.partition(' ')[0]} = " in capsys.readouterr().err


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
        "attack signals NAME",
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
    ["CREATE TRIGGER t AFTER INSERT ON work BEGIN DELETE FROM work; END", "CREATE TABLE other (x)"],
)
def test_a_ledger_with_something_else_in_it_is_refused(statement: str, tmp_path: Path) -> None:
    """A trigger could undo what is written: what was put into it was not there."""
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, resume=False) as ledger:
        ledger.keep(ROWS.items())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with pytest.raises(InvalidInput, match="holds other tables, or triggers"):
        Ledger(path, resume=True)
    with Ledger(path, resume=False) as ledger:  # it is ours, and is made anew
        ledger.keep([(NEW, VALUE)])
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


def test_an_interrupted_catalogue_without_results_is_reported(here: Path) -> None:
    """Ctrl-C before the first result: nothing was written, and the exit code was 3."""
    record = json.loads(Path("exact.json").read_text())
    record["results"] = []
    record["run"] |= {"catalogue": True, "complete": False}
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages", "--exit-code"]) == 130


@pytest.mark.parametrize("name", ["p0", "p1"])
def test_a_witness_of_a_record_says_what_was_measured(
    name: str, here: Path, capsys: Capture
) -> None:
    record = json.loads(Path("errors.json").read_text())
    del record["results"][0]["witness"][name]
    written(Path("bad.json"), record)
    assert main(["report", "bad.json", "-o", "pages"]) == 2
    assert f"is damaged: results[0].witness has no field '{name}'," in capsys.readouterr().err


def test_a_witness_of_more_trials_than_a_run_draws_is_refused(here: Path, capsys: Capture) -> None:
    """It would have been drawn again for weeks."""
    witness = json.loads(Path("labels.witness.json").read_text())
    witness["trials"]["draws"] = 10**12
    written(Path("bad.json"), witness)
    assert main(["replay", "bad.json"]) == 2
    assert "trials.draws = 1000000000000: must be" in capsys.readouterr().err


def test_a_claim_with_a_number_of_another_kind_is_refused(here: Path, capsys: Capture) -> None:
    """`compare` ended with a ValueError."""
    record = json.loads(Path("errors.json").read_text())
    record["results"][0]["claim"]["gamma"] = 3
    written(Path("bad.json"), record)
    assert main(["compare", "bad.json", "errors.json"]) == 2
    assert "is damaged" in capsys.readouterr().err


CASES_OF_THEOREMS: dict[str, tuple[str, Any, str]] = {
    "no case of the row": ("epsilon", -1.0, "its case is none of"),
    "a truth value": ("r", True, "its case is none of"),
    "a case without end": ("r", 10**15, "its case is none of"),
    "a name too many": ("x", 1, "its case is none of"),
}


@pytest.mark.parametrize("name", CASES_OF_THEOREMS)
def test_a_case_that_no_theorem_has_is_not_measured(name: str, here: Path, capsys: Capture) -> None:
    key, value, message = CASES_OF_THEOREMS[name]
    held = json.loads(Path("exact.theorem.json").read_text())
    held["witness"]["case"][key] = value
    written(Path("bad.json"), held)
    assert main(["theorem", "replay", "bad.json"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("key", ["seed", "deep"])
def test_a_witness_of_a_theorem_that_does_not_say_its_effort_is_read(key: str, here: Path) -> None:
    held = json.loads(Path("exact.theorem.json").read_text())
    del held[key]
    written(Path("old.json"), held)
    assert main(["theorem", "replay", "old.json"]) == 0


@pytest.mark.parametrize(
    ("place", "value"), [("factor", "x"), ("alpha", -1), ("case", []), ("lower", None)]
)
def test_a_damaged_witness_of_a_theorem_is_refused(
    place: str, value: Any, here: Path, capsys: Capture
) -> None:
    held = json.loads(Path("exact.theorem.json").read_text())
    held["witness"][place] = value
    written(Path("bad.json"), held)
    assert main(["theorem", "replay", "bad.json"]) == 2
    assert f"witness.{place} = " in capsys.readouterr().err


def test_a_value_too_many_is_seen_whatever_ends_lines(tmp_path: Path) -> None:
    """A line feed within quotes ends no line, where others end by carriage returns."""
    path = tmp_path / "data.csv"
    path.write_bytes(b'a,"b\n c"\r1,2,null\r3,4\r')
    with pytest.raises(InvalidInput, match="has 3 values; must have 2"):
        read_csv(path)


def test_a_number_too_large_for_a_float_is_no_number(here: Path, capsys: Capture) -> None:
    assert not is_real(10**400)
    assert is_real(Fraction(1, 3))
    day = datetime.now(tz=UTC).date()
    Path("dpassay.toml").write_text(
        f'[[suppressions]]\nresult = "a"\nkind = "rose"\nreason = "b"\nexpires = {day}\n'
        f"up_to = 1{'0' * 400}\n"
    )
    assert main(["config", "--show"]) == 2
    assert "up_to = " in capsys.readouterr().err


def test_an_infinite_number_in_a_table_of_parameters_is_refused(
    here: Path, capsys: Capture
) -> None:
    """`config --json` ended with a ValueError."""
    base = '{ name = "interface", m = inf }'
    text = f'[[mechanisms]]\ntarget = "group"\nparameters = {{ base = {base} }}\n'
    Path("dpassay.toml").write_text(text)
    assert main(["config", "--json"]) == 2
    assert "parameters.base = {'name': 'interface', 'm': inf}: must be" in capsys.readouterr().err


def test_there_are_ten_thousand_cases_and_a_file_for_each_target() -> None:
    assert sum(CASES.values()) >= 10_000
    files = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert files == {*CASES, "regressions"}
