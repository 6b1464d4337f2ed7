"""`compare`, `baseline accept` and `baseline check` of a mechanism that gets worse and better."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from tests.cli import conftest, rewritten
from tests.cli.rewritten import inside, main_anew

QUICK = [*conftest.QUICK, "--executor", "inline"]
"""No number depends on the executor, and no process is started."""
Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("undrawn")

SOURCE = """
import numpy as np

def predict(data, queries, size, rng):
    p = 1 / (1 + np.exp(-{strength} * (2 * data.y[0] - 1)))
    return (rng.random((size, len(queries))) < p).astype(int)
"""
CONFIG = f"""stop_early = false{rewritten.CONFIG}
target = "weakened:predict"
name = "api"
claim = {{ epsilon = 1.0 }}
"""
BASELINE = "dpassay-baseline.json"


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose baseline is accepted, and beside it a report for every strength."""
    made = tmp_path_factory.mktemp("accepted")
    (made / "dpassay.toml").write_text(CONFIG, encoding="utf-8")
    with inside(made), conftest.without_pictures():
        (made / "weakened.py").write_text(SOURCE.format(strength=0.9), encoding="utf-8")
        assert main_anew("weakened", QUICK) == 0
        assert main(["baseline", "accept"]) == 0
        for strength, code in ((1.8, 1), (0.9, 0)):
            source = SOURCE.format(strength=strength)
            (made / "weakened.py").write_text(source, encoding="utf-8")
            assert main_anew("weakened", QUICK) == code
            shutil.copytree(made / "report", made / f"report {strength}")
    return made


@pytest.fixture
def project(folder: Path, audits: Path) -> Path:
    """The same for one test alone, audited at the strength of the baseline."""
    shutil.copytree(audits, folder, dirs_exist_ok=True)
    return folder


def put(strength: float) -> None:
    """Have the function at another strength, and what an audit of it wrote."""
    Path("weakened.py").write_text(SOURCE.format(strength=strength), encoding="utf-8")
    shutil.copytree(f"report {strength}", "report", dirs_exist_ok=True)


def said(capsys: Capture) -> str:
    return " ".join(capsys.readouterr().out.split())


def refused(words: list[str], capsys: Capture) -> str:
    """Return the one line that is said of a command."""
    capsys.readouterr()
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("dpassay: error: ")
    assert error.count("\n") == 1
    return error


def test_worse_is_red_and_restored_is_green(project: Path, capsys: Capture) -> None:
    put(1.8)
    assert main(["baseline", "check", "-o", "pages"]) == 1
    text = said(capsys)
    assert "2 privacy regressions" in text
    assert "DP(1) is refuted: the loss is at least 1." in text
    assert "certified at 99.9 % confidence" in text
    assert "label of record 0 flipped" in text
    replay = "dpassay replay report/witnesses/api.own.monte-carlo.json --trust"
    assert replay in text
    assert main(replay.split()[1:]) == 1
    assert main(["baseline", "check", "--out", "pages"]) == 1
    # where pages go does not change which record is read
    assert "refuted" in (project / "pages" / "comparison.md").read_text(encoding="utf-8")
    put(0.9)
    capsys.readouterr()
    assert main(["baseline", "check"]) == 0
    text = said(capsys)
    assert "No privacy regression shown; 1 entry unchanged" in text
    assert "the baseline's 5 cells counted again" in text
    assert "may have been missed" in text


def test_a_first_proof_is_counted_again_by_a_test_of_fixed_size(
    folder: Path, capsys: Capture
) -> None:
    raced = CONFIG.replace("stop_early = false\n", "")
    Path("dpassay.toml").write_text(raced, encoding="utf-8")
    for strength, code in ((1.8, 1), (0.5, 0)):
        Path("weakened.py").write_text(SOURCE.format(strength=strength), encoding="utf-8")
        assert main_anew("weakened", QUICK) == code
        (result,) = json.loads(Path("report/record.json").read_text("utf-8"))["results"]
        if strength == 1.8:
            assert [cell["method"] for cell in result["per_query"]] == ["paired"]
            assert main(["baseline", "accept"]) == 0
    assert [cell["method"] for cell in result["again"]] == ["stouffer"]
    capsys.readouterr()
    assert main(["baseline", "check"]) == 0
    assert "fell: api.own.monte-carlo" in said(capsys)


def test_a_rise_below_the_claim_is_red_too(project: Path, capsys: Capture) -> None:
    for strength in (0.3, 0.9):
        Path("weakened.py").write_text(SOURCE.format(strength=strength), encoding="utf-8")
        assert main_anew("weakened", QUICK) == 0
        assert strength == 0.9 or main(["baseline", "accept"]) == 0
    capsys.readouterr()
    assert main(["baseline", "check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [change["kind"] for change in found["regressions"]] == ["rose"]
    assert found["passed"] is False
    assert json.loads((project / "report" / "comparison.json").read_text(encoding="utf-8")) == found
    assert main(["baseline", "check", "--tolerance", "1"]) == 0


def test_a_suppression_makes_it_green_and_says_so(project: Path, capsys: Capture) -> None:
    put(1.8)
    soon = str(datetime.now(tz=UTC).date() + timedelta(days=30))
    rules = "".join(
        f'[[suppressions]]\nresult = "api.own.monte-carlo"\nkind = "{kind}"\n'
        f'reason = "board, minute 7"\nexpires = {day}\n'
        for kind, day in (("refuted", soon), ("rose", soon), ("vanished", "2001-01-01"))
    )
    (project / "dpassay.toml").write_text(CONFIG + rules, encoding="utf-8")
    assert main(["baseline", "check"]) == 0
    text = said(capsys)
    assert "No privacy regression shown, 2 suppressed" in text
    assert f"suppressed until {soon}: board, minute 7" in text
    assert "expired on 2001-01-01: vanished of api.own.monte-carlo" in text
    assert main(["config"]) == 0
    assert "board, minute 7" in capsys.readouterr().out
    rules = rules.replace('minute 7"', 'minute 7"\nup_to = 1.1', 2)
    (project / "dpassay.toml").write_text(CONFIG + rules, encoding="utf-8")
    assert main(["baseline", "check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {change["kind"] for change in found["regressions"]} == {"refuted", "rose"}
    assert found["passed"] is False
    page = (project / "report" / "comparison.md").read_text(encoding="utf-8")
    assert page.startswith("# 2 privacy regressions; 0 entries unchanged\n")
    assert "is above 1.1: rose of api.own.monte-carlo" in page.replace("\\", "")
    # the loss of 1.8 becomes the baseline, of which 0.9 is a fall
    assert main(["compare", "report/record.json", BASELINE]) == 0
    text = capsys.readouterr().out
    assert "fell: api.own.monte-carlo" in text
    assert max(map(len, text.splitlines())) <= 80


def rewrite(change: Callable[[dict[str, Any]], object]) -> None:
    """Change something in the baseline."""
    record = json.loads(Path(BASELINE).read_text(encoding="utf-8"))
    change(record)
    Path(BASELINE).write_text(json.dumps(record), encoding="utf-8")


def test_a_check_that_could_not_see_a_rise_is_no_pass(project: Path, capsys: Capture) -> None:
    def elsewhere(record: dict[str, Any]) -> None:
        for cell in record["results"][0]["per_query"]:
            cell["pair_key"] = "another pair"

    rewrite(elsewhere)
    assert main_anew("weakened", QUICK) == 0
    capsys.readouterr()
    assert main(["baseline", "check"]) == 4
    text = said(capsys)
    assert "No privacy regression shown, 1 of 1 sampled entry could not have shown one" in text
    assert "none of the baseline's 5 cells was counted again" in text


def test_a_baseline_that_cannot_be_read_does_not_stop_a_run(project: Path, capsys: Capture) -> None:
    Path(BASELINE).write_text("{}", encoding="utf-8")
    assert main_anew("weakened", QUICK) == 0
    assert "none of its cells is counted again" in capsys.readouterr().err


def test_a_record_of_other_data_is_never_a_pass(project: Path, capsys: Capture) -> None:
    rewrite(lambda record: record["run"]["data"]["split"].update(seed=2))
    record = "report/record.json"
    for words, told in (
        (["compare", BASELINE, record], f"OLD = '{BASELINE}': cannot be compared"),
        (["baseline", "check"], f"baseline = '{BASELINE}': is stale"),
    ):
        error = refused(words, capsys)
        assert told in error
        assert "it has data.split.seed = 2, the record 1" in error


def test_a_baseline_that_cannot_be_written_is_named(project: Path, capsys: Capture) -> None:
    error = refused(["baseline", "accept", "--baseline", "weakened.py/x"], capsys)
    assert "--baseline = 'weakened.py/x': cannot be written" in error


def _in_result(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda record: record["results"][0].update({name: value})


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (_in_result("detectable", float("nan")), "is not valid JSON"),
        (lambda record: record.pop("run"), "has no field 'run'"),
        (_in_result("per_query", 7), "results[0].per_query = 7: must be a list"),
        (_in_result("per_query", []), "per_query = a list of 0: must be a list of at least 1"),
        (_in_result("searched", None), "is damaged: results[0].searched = null: must be an object"),
    ],
)
def test_a_damaged_baseline_is_named(
    harm: Callable[[dict[str, Any]], object], told: str, project: Path, capsys: Capture
) -> None:
    rewrite(harm)
    for words, named in (
        (["baseline", "check"], "baseline"),
        (["compare", BASELINE, BASELINE], "OLD"),
        (["report", BASELINE], "RECORD"),
    ):
        error = refused(words, capsys)
        assert error.startswith(f"dpassay: error: {named} = '")
        assert told in error


def test_a_record_of_a_million_brackets_is_no_json(project: Path, capsys: Capture) -> None:
    Path(BASELINE).write_text(10**6 * "[", encoding="utf-8")
    told = refused(["baseline", "check"], capsys)
    assert f"baseline = '{BASELINE}': is not valid JSON" in told


def test_wrong_usage_is_one_line(project: Path, capsys: Capture) -> None:
    for words in (
        f"compare {BASELINE} {BASELINE} --tolerance inf",
        f"compare {BASELINE}",
        "compare none.json none.json",
        "baseline",
        "baseline forget",
        "baseline accept none.json",
        "baseline accept --tolerance 1",
        "baseline check --tolerance nan",
    ):
        refused(words.split(), capsys)


SUPPRESSION = {"result": '"a"', "kind": '"rose"', "reason": '"r"', "expires": "2001-01-01"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"expires": ""}, "expires is missing"),
        ({"reason": '" "'}, "reason = ' ': must be a text"),
        ({"kind": '"rise"'}, "kind = 'rise': must be one of"),
        ({"expires": '"2999-01-01"'}, "expires = '2999-01-01': must be a date"),
        ({"expires": "2999-01-01T00:00:00"}, "must be a date"),
        ({"expires": "2999-12-31"}, "'2999-12-31': must be at most a year ahead"),
        ({"kind": '"failed"', "up_to": "1"}, "up_to = 1: must be left out, unless"),
        ({"up_to": '"1"'}, "up_to = '1': must be a finite number"),
        ({"reason": "", "reasons": '"r"'}, "did you mean 'reason'"),
    ],
)
def test_a_suppression_must_be_complete(
    folder: Path, change: dict[str, str], told: str, capsys: Capture
) -> None:
    rule = [f"{key} = {text}\n" for key, text in (SUPPRESSION | change).items() if text]
    (folder / "dpassay.toml").write_text("[[suppressions]]\n" + "".join(rule), encoding="utf-8")
    assert told in refused(["config"], capsys)
