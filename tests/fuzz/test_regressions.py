"""What a fuzzer has found: it crashed, or was taken, and is refused now."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.user_models.signals import read_signals
from dpassay.cli.main import main
from dpassay.csv_files import read_frame
from dpassay.errors import InvalidInput, is_real
from dpassay.targets.foreign.protocol import DEEPEST, Malformed, answers_of, error_of, reply_of
from dpassay.trials.ledger import Ledger
from tests.fuzz.corpus import RUNS
from tests.fuzz.mutations import written
from tests.fuzz.test_ledgers import NEW, ROWS, VALUE

Capture = pytest.CaptureFixture[str]
Place = tuple[str | int, ...]
GONE = object()
RESULT: Place = ("results", 0)
REPORT, COMPARE = "report bad.json -o pages", "compare labels.json bad.json"
THEOREM = "theorem replay bad.json"
DAMAGED: dict[str, tuple[str, Place, Any, str, str]] = {
    "a list among derived": (
        "exact", (*RESULT, "derived"), {"x": []}, REPORT, "must be a finite number or a text",
    ),
    "no size, no null": (
        "exact", (*RESULT, "fixed_n"), "x", REPORT, "must be a whole number of at most 64 bits or",
    ),
    "a number for a text": (
        "exact", (*RESULT, "claim", "source"), 7, REPORT,
        "results[0].claim.source = 7: must be a text",
    ),
    "a bound too large": (
        "exact", (*RESULT, "lower"), 10**400, REPORT, ': must be a finite number or "inf" or null',
    ),
    "an infinite loss": (
        "exact", (*RESULT, "witness", "loss"), -1e999, REPORT, "is not valid JSON",
    ),
    "an infinite unknown": ("exact", (*RESULT, "more"), 1e999, REPORT, "is not valid JSON"),
    "a sampled result that says of no certified cells": (
        "labels", (*RESULT, "searched", "certified_cells"), GONE, COMPARE, "is damaged",
    ),
    "saved signals that do not say of how many models": (
        "signals-attack", ("run", "references"), GONE, REPORT,
        "bad.json': is damaged: run has no field 'references', which it must have",
    ),
    "a witness that does not say what was measured": (
        "errors", (*RESULT, "witness", "p0"), GONE, REPORT,
        "is damaged: results[0].witness has no field 'p0',",
    ),
    "a witness of more trials than a run draws": (
        "labels.witness", ("trials", "draws"), 10**12, "replay bad.json",
        "trials.draws = 1000000000000: must be",
    ),
    "a claim with a number of another kind": (
        "errors", (*RESULT, "claim", "gamma"), 3, "compare bad.json errors.json", "is damaged",
    ),
    "no case of the row": (
        "exact.theorem", ("witness", "case", "epsilon"), -1.0, THEOREM, "its case is none of",
    ),
    "a truth value": (
        "exact.theorem", ("witness", "case", "r"), True, THEOREM, "its case is none of",
    ),
    "a case without end": (
        "exact.theorem", ("witness", "case", "r"), 10**15, THEOREM, "its case is none of",
    ),
    **{
        f"a damaged {key} of a theorem": (
            "exact.theorem", ("witness", key), value, THEOREM, f"witness.{key} = ",
        )
        for key, value in (("factor", "x"), ("case", []), ("lower", None))
    },
}  # fmt: skip


def changed(source: str, place: Place, value: Any) -> None:
    """Write bad.json: a document with a value replaced, or taken away."""
    document = json.loads(Path(f"{source}.json").read_text(encoding="utf-8"))
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    if value is GONE:
        del inside[place[-1]]
    else:
        inside[place[-1]] = value
    written(Path("bad.json"), document)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_document_is_refused(name: str, here: Path, capsys: Capture) -> None:
    source, place, value, words, message = DAMAGED[name]
    changed(source, place, value)
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not Path("pages").exists()


def test_what_is_unusual_is_read(here: Path) -> None:
    """Also a loss that only one record knows exactly, and efforts that a witness does not say."""
    for name in RUNS:
        assert main(["report", f"{name}.json", "-o", "pages", "--format", "md"]) == 0
    changed("attack", ("repeated", 0, "rungs", 0, "limits", "epsilon"), GONE)
    assert main(["compare", "attack.json", "bad.json"]) in (0, 1, 4)
    for key in ("seed", "deep"):
        changed("exact.theorem", (key,), GONE)
        assert main(THEOREM.split()) == 0


def test_an_interrupted_catalogue_without_results_is_reported(here: Path) -> None:
    """Ctrl-C before the first result: nothing was written, and the exit code was 3."""
    run = json.loads(Path("exact.json").read_text(encoding="utf-8"))["run"]
    changed("exact", ("run",), run | {"catalogue": True, "complete": False})
    Path("bad.json").rename("cut.json")
    changed("cut", ("results",), [])
    assert main(["report", "bad.json", "-o", "pages", "--exit-code"]) == 130


@pytest.mark.parametrize("name", ["exact.json", "attack.json", "theorems.json"])
def test_a_name_that_an_object_has_twice_is_refused(name: str, here: Path, capsys: Capture) -> None:
    text = Path(name).read_text()
    Path("bad.json").write_text(text.replace('"complete": ', '"complete": false, "complete": ', 1))
    assert main(REPORT.split()) == 2
    assert "not valid JSON" in capsys.readouterr().err


DAY = datetime.now(tz=UTC).date()
BASE = '{ name = "interface", m = inf }'
SUPPRESSION = '[[suppressions]]\nresult = "a"\nkind = "rose"\nreason = "b"\n'
CONFIGURED = [
    (
        "parameters.base = {'name': 'interface', 'm': inf}: must be",
        f'[[mechanisms]]\ntarget = "group"\nparameters = {{ base = {BASE} }}\n',
    ),
    (
        "up_to = ",
        f"{SUPPRESSION}expires = {DAY}\nup_to = 1{'0' * 400}\n",
    ),
    *(
        (
            f"mechanism 1: {claim.partition(' ')[0]} = ",
            f'[[mechanisms]]\ntarget = "a:b"\nclaim = {{ {claim} }}\n',
        )
        for claim in ("gamma = 0", "gamma = -0.5", "epsilon = 1e12", "mu = -1.0")
    ),
]


@pytest.mark.parametrize(("message", "text"), CONFIGURED)
def test_a_number_that_no_run_takes_is_refused_in_a_configuration(
    message: str, text: str, here: Path, capsys: Capture
) -> None:
    Path("dpassay.toml").write_text(text)
    assert main(["config", "--json"]) == 2
    assert message in capsys.readouterr().err


def test_numbers_are_those_that_a_float_holds() -> None:
    assert not is_real(10**400)
    assert is_real(Fraction(1, 3))


@pytest.mark.parametrize("words", ["config --seed=--", "explain x --record=--"])
def test_two_hyphens_are_no_value(words: str, here: Path, capsys: Capture) -> None:
    assert main(words.split()) == 2
    assert "needs a value" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["9" * 3000, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(name: str, here: Path, capsys: Capture) -> None:
    for words in (
        "baseline check exact.json --baseline NAME",
        "baseline accept exact.json --baseline NAME",
        "baseline move a b --baseline NAME",
        "baseline check attack.json --baseline NAME",
        "report exact.json -o NAME",
        "run soft-majority --dry-run --search table,file=NAME",
        "attack signals NAME",
    ):
        assert main([word.replace("NAME", name) for word in words.split()]) == 2, words
        assert len(capsys.readouterr().err.splitlines()) == 1, words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *((f"a,b\n1,2\n3,4,{more}\n", "line 3 ") for more in ("NaN", "", "#N/A")),
        ('a,"b\n c"\r1,2,null\r3,4\r', ""),
    ],
)
def test_a_value_too_many_is_seen(text: str, line: str, tmp_path: Path) -> None:
    """Pandas drops what stands beyond the last name, if it is missing.

    A line feed within quotes ends no line, where others end by carriage returns.
    """
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    with pytest.raises(InvalidInput, match=f"{line}has 3 values; must have 2"):
        read_frame(path)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("labels", np.array(["a", "b"]), "labels = 'of <U1': must be integers >= 0"),
        ("scores", np.eye(2) + 1j, "scores: must be"),
        ("membership", np.eye(2) + 1j, "membership: must be"),
    ],
)
def test_signals_of_texts_and_complex_numbers_are_refused(
    name: str, array: Any, message: str, tmp_path: Path
) -> None:
    """The imaginary part was dropped."""
    arrays: dict[str, Any] = {"scores": np.eye(2) * 0.5, "membership": np.eye(2), name: array}
    np.savez(tmp_path / "signals.npz", **arrays)
    with pytest.raises(InvalidInput, match=message):
        read_signals(tmp_path / "signals.npz")


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
    error = reply_of(b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}")
    assert len(error_of(error)) <= 80
