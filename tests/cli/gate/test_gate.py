"""One gate for records of every kind: accept, check and compare, and what each of them refuses."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.record.files import dumps
from dpassay.record.kinds import ATTACKS, KINDS, RUNS, THEOREMS, RecordKind
from tests.record import made_attacks, made_runs, made_theorems
from tests.record.made_runs import REFUTED, Record, at, sampled
from tests.record.made_theorems import row, wrong

OF = [kind.of or "runs" for kind in KINDS]


@dataclass(frozen=True, kw_only=True)
class Example:
    """Records of one entry: as accepted, with a leak that rose, refuted, failed, and with none."""

    kind: RecordKind
    entry: str
    good: Record
    rose: Record
    refuted: Record
    failed: Record
    empty: Record


def _run(result: Record) -> Record:
    return made_runs.full(made_runs.record(result))


@cache
def example(of: str) -> Example:
    if of == "runs":
        broken: Record = dict.fromkeys(("lower", "upper", "detectable", "searched"))
        bounds: Record = {"lower": 1.1, "upper": 1.6}
        return Example(
            kind=RUNS,
            entry="m.own.monte-carlo",
            good=_run(sampled()),
            rose=_run(sampled(7000, 3000)),
            refuted=_run(at(sampled(7500, 2000, **bounds, **REFUTED), **bounds)),
            failed=_run(sampled(verdict="error", per_query=[], **broken)),
            empty=made_runs.full(made_runs.record()),
        )
    if of == "attacks":
        good = made_attacks.attacked(0.1)
        subject = good["subjects"][0] | {"error": "raised ValueError"}
        return Example(
            kind=ATTACKS,
            entry="toy",
            good=good,
            rose=made_attacks.attacked(0.85, good),
            refuted=made_attacks.attacked(1.0, good, epsilon=0.5),
            failed=good | {"subjects": [subject]},
            empty=good | {"subjects": []},
        )
    none = made_theorems.record() | {"results": []}
    return Example(
        kind=THEOREMS,
        entry="paper/theorem/row",
        good=made_theorems.record(row()),
        rose=made_theorems.record(row(lower=0.9, upper=0.9)),
        refuted=made_theorems.record(wrong()),
        failed=made_theorems.record(row(verdict="error", worst=None, cells=0)),
        empty=none,
    )


@pytest.fixture(params=OF)
def each(request: pytest.FixtureRequest) -> Example:
    return example(request.param)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, record: Record) -> str:
    Path(name).write_text(dumps(record), encoding="utf-8")
    return name


def cut(record: Record) -> Record:
    return copy.deepcopy(record) | {"run": record["run"] | {"complete": False}}


def refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == Exit.USAGE
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_every_kind_has_an_example() -> None:
    assert tuple(example(of).kind for of in OF) == KINDS


def test_what_is_accepted_passes_and_what_rose_does_not(
    each: Example, capsys: pytest.CaptureFixture[str]
) -> None:
    record, kind = put("new.json", each.good), each.kind
    missing = f"baseline = '{kind.baseline}': does not exist; create it with `{kind.accept}`"
    refused(["baseline", "check", record], missing, capsys)
    assert main(["baseline", "accept", record]) == Exit.NOTHING
    told = capsys.readouterr()
    assert told.out == f"{kind.baseline}: 1 {kind.entry} of new.json; keep it with your code\n"
    assert told.err == ""
    assert kind.holds(Path(kind.baseline))
    assert main(["baseline", "check", record]) == Exit.NOTHING
    assert "1 entry unchanged" in capsys.readouterr().out
    put("new.json", each.rose)
    assert main(["baseline", "check", record, "--json", "-o", "out"]) == Exit.REFUTED
    found = json.loads(capsys.readouterr().out)
    assert [(change["id"], change["kind"]) for change in found["regressions"]] == [
        (each.entry, "rose")
    ]
    assert json.loads(Path("out/comparison.json").read_text(encoding="utf-8")) == found
    assert 'type="rose"' in Path("out/comparison.xml").read_text(encoding="utf-8")
    assert "↑ rose: " in Path("out/comparison.md").read_text(encoding="utf-8")
    assert Path("out/comment.md").exists() == (kind is RUNS)


def test_a_suppression_lets_pass_what_rose_and_no_baseline_what_is_refuted(
    each: Example, capsys: pytest.CaptureFixture[str]
) -> None:
    put(each.kind.baseline, each.good)
    put("new.json", each.rose)
    Path("dpassay.toml").write_text(
        f'[[suppressions]]\nresult = "{each.entry}"\nkind = "rose"\nreason = "known"\n'
        f"expires = {datetime.now(tz=UTC).date()}\n",
        encoding="utf-8",
    )
    assert main(["baseline", "check", "new.json"]) == Exit.NOTHING
    put("new.json", each.refuted)
    assert main(["baseline", "accept", "new.json"]) == Exit.NOTHING
    told = capsys.readouterr().err
    assert each.entry in told
    assert "no baseline excuses that" in told
    assert main(["baseline", "check", "new.json"]) == Exit.REFUTED


def test_two_records(each: Example, capsys: pytest.CaptureFixture[str]) -> None:
    put("old.json", each.good)
    Path("new").mkdir()
    put(f"new/{each.kind.files[0]}", each.rose)
    assert main(["compare", "old.json", "new", "--json"]) == Exit.REFUTED
    found = json.loads(capsys.readouterr().out)
    assert found["schema"].endswith("comparison/1")
    assert found["suppressed"] == []
    assert main(["compare", "old.json", "old.json"]) == Exit.NOTHING


@pytest.mark.parametrize("broken", ["interrupted", "empty"])
def test_what_is_not_whole_is_refused_wherever_it_stands(
    each: Example, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = each.kind
    bad = put("bad.json", cut(each.good) if broken == "interrupted" else each.empty)
    good = put("good.json", each.good)
    why = f"is of an interrupted {kind.interrupted}"
    why = why if broken == "interrupted" else f"nothing was {kind.done} in it"
    for words, argument in (
        (["baseline", "accept", bad], "RECORD"),
        (["baseline", "check", bad, "--baseline", good], "RECORD"),
        (["baseline", "check", good, "--baseline", bad], "baseline"),
        (["compare", bad, good], "OLD"),
        (["compare", good, bad], "NEW"),
    ):
        refused(words, f"{argument} = 'bad.json': {why}", capsys)
    assert not Path(kind.baseline).exists()


def test_what_failed_is_no_baseline_and_a_file_that_is_no_record_is_not_replaced(
    each: Example, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"RECORD = 'new.json': {each.entry} could not be {each.kind.done}"
    refused(["baseline", "accept", put("new.json", each.failed)], said, capsys)
    assert not Path(each.kind.baseline).exists()
    Path("code.py").write_text("answer = 42\n", encoding="utf-8")
    words = ["baseline", "accept", put("new.json", each.good), "--baseline", "code.py"]
    refused(words, f"--baseline = 'code.py': is not {each.kind.noun}, so it is not", capsys)
    assert Path("code.py").read_text(encoding="utf-8") == "answer = 42\n"


@pytest.mark.parametrize(("of", "other"), list(itertools.permutations(OF, 2)))
def test_records_of_two_kinds_never_meet(
    of: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one, kept = put("one.json", example(of).good), put("kept.json", example(other).good)
    before = Path(kept).read_bytes()
    replaced = f"--baseline = 'kept.json': is not {example(of).kind.noun}, so it is not replaced"
    refused(["baseline", "accept", one, "--baseline", kept], replaced, capsys)
    refused(["baseline", "check", one, "--baseline", kept], "baseline = 'kept.json': ", capsys)
    refused(["compare", kept, one], "NEW = 'one.json': is of ", capsys)
    assert Path(kept).read_bytes() == before


def test_estimates_count_where_there_are_some(
    each: Example, capsys: pytest.CaptureFixture[str]
) -> None:
    record = put(each.kind.baseline, each.good)
    for words in (["compare", record, record], ["baseline", "check", record]):
        if each.kind is ATTACKS:
            assert main([*words, "--estimates"]) == Exit.NOTHING
            capsys.readouterr()
        else:
            refused([*words, "--estimates"], "--estimates: has an effect on records of", capsys)
