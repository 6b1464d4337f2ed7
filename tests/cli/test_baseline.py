"""`compare`, `baseline accept` and `baseline check` on the command line.

With a mechanism that gets worse and better again.
"""

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
pytestmark = pytest.mark.usefixtures("undrawn")

SOURCE = """
import numpy as np

def predict(data, queries, size, rng):
    p = 1 / (1 + np.exp(-{strength} * (2 * data.y[0] - 1)))
    return (rng.random((size, len(queries))) < p).astype(int)
"""
CONFIG = f"""{rewritten.CONFIG}
target = "weakened:predict"
name = "api"
claim = {{ epsilon = 1.0 }}
"""


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose baseline is accepted, to be copied."""
    made = tmp_path_factory.mktemp("accepted")
    (made / "dpassay.toml").write_text(CONFIG, encoding="utf-8")
    with inside(made), conftest.without_pictures():
        assert audited(made, 0.9) == 0
        assert main(["baseline", "accept"]) == 0
    return made


@pytest.fixture
def project(folder: Path, accepted: Path) -> Path:
    """The same for one test alone."""
    shutil.copytree(accepted, folder, dirs_exist_ok=True)
    return folder


def audited(folder: Path, strength: float) -> int:
    (folder / "weakened.py").write_text(SOURCE.format(strength=strength), encoding="utf-8")
    return main_anew("weakened", QUICK)


def test_worse_is_red_and_restored_is_green(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "check"]) == 0
    assert "No privacy regression shown; 1 entry unchanged" in capsys.readouterr().out
    assert audited(project, 1.8) == 1
    capsys.readouterr()
    assert main(["baseline", "check"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "2 privacy regressions" in text
    assert "DP(1) is refuted: the loss is at least 1." in text
    assert "certified at 99.9 % confidence" in text
    assert "label of record 0 flipped" in text
    replay = "dpassay replay report/witnesses/api.own.monte-carlo.json --trust"
    assert replay in text
    assert main(replay.split()[1:]) == 1
    assert audited(project, 0.9) == 0
    assert main(["baseline", "check"]) == 0


def test_a_rise_below_the_claim_is_red_too(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "accept"]) == 0
    assert "1 result of report/record.json" in capsys.readouterr().out
    assert audited(project, 0.3) == 0
    assert main(["baseline", "accept"]) == 0
    assert audited(project, 0.9) == 0
    capsys.readouterr()
    assert main(["baseline", "check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [change["kind"] for change in found["regressions"]] == ["rose"]
    assert found["passed"] is False
    assert json.loads((project / "report" / "comparison.json").read_text(encoding="utf-8")) == found
    page = (project / "report" / "comparison.md").read_text(encoding="utf-8")
    assert page.startswith("# 1 privacy regression; 0 entries unchanged\n")
    assert main(["baseline", "check", "--tolerance", "1"]) == 0


def test_a_suppression_makes_it_green_and_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audited(project, 1.8)
    soon = str(datetime.now(tz=UTC).date() + timedelta(days=30))
    rules = "".join(
        (
            f'[[suppressions]]\nresult = "api.own.monte-carlo"\nkind = "{kind}"\nreason = "board, '
            f'minute 7"\nexpires = {day}\n'
        )
        for kind, day in (("refuted", soon), ("rose", soon), ("vanished", "2001-01-01"))
    )
    (project / "dpassay.toml").write_text(CONFIG + rules, encoding="utf-8")
    capsys.readouterr()
    assert main(["baseline", "check"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "No privacy regression shown, 2 suppressed" in text
    assert f"suppressed until {soon}: board, minute 7" in text
    assert "expired on 2001-01-01: vanished of api.own.monte-carlo" in text
    assert main(["config"]) == 0
    assert "board, minute 7" in capsys.readouterr().out
    (project / "dpassay.toml").write_text(
        CONFIG + rules.replace('minute 7"', 'minute 7"\nup_to = 1.1', 2), encoding="utf-8"
    )
    assert main(["baseline", "check"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "2 privacy regressions;" in text
    assert "does not hold any more, 1.7" in text
    assert "is above 1.1: rose of api.own.monte-carlo" in text


OTHERS = "".join(
    (
        f'[[mechanisms]]\ntarget = "weakened:predict"\nname = "other {k}"\nclaim = {{ epsilon = '
        "1.0 }\n"
    )
    for k in range(3)
)


def test_other_mechanisms_turn_no_entry_red(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They take a share of alpha.

    What was not refuted becomes inconclusive, and nothing about it has changed.
    """
    few = CONFIG.replace("train = 4", "train = 10\nbudget = 850")
    (project / "dpassay.toml").write_text(few, encoding="utf-8")
    assert audited(project, 0.3) == 0
    assert main(["baseline", "accept"]) == 0
    (project / "dpassay.toml").write_text(few + OTHERS, encoding="utf-8")
    assert audited(project, 0.3) == 4
    capsys.readouterr()
    assert main(["baseline", "check", "--json"]) == 0
    assert {change["kind"] for change in json.loads(capsys.readouterr().out)["news"]} == {"new"}


def test_to_look_elsewhere_is_red(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "dpassay.toml").write_text(CONFIG.replace('"flip"', '"one"'), encoding="utf-8")
    assert audited(project, 0.9) == 4  # nothing moves there
    capsys.readouterr()
    assert main(["baseline", "check"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "blinder: api.own.monte-carlo looked elsewhere: 'each of 4 records replaced once by "
        "one drawn from a pool"
    ) in text


def test_another_target_under_the_old_name_is_red(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "stub.py").write_text(SOURCE.format(strength=0.9), encoding="utf-8")
    (project / "dpassay.toml").write_text(CONFIG.replace("weakened:", "stub:"), encoding="utf-8")
    assert main(QUICK) == 0
    capsys.readouterr()
    assert main(["baseline", "check"]) == 1
    assert "api stands for stub:predict, and stood for weakened:predict" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["baseline", "accept"]) == 0
    assert main(["baseline", "check"]) == 0


def test_a_record_of_other_data_is_never_a_pass(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK, "--seed", "2", "--out", "other"]) == 0
    capsys.readouterr()
    for words, said in (
        (["compare", "dpassay-baseline.json"], "OLD = 'dpassay-baseline.json': cannot be compared"),
        (["baseline", "check"], "baseline = 'dpassay-baseline.json': is stale"),
    ):
        assert main([*words, "other/record.json"]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert "it has data.split.seed = 1, the record 2" in error
        assert error.count("\n") == 1


def test_compare_takes_records_and_baselines(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited(project, 0.3) == 0
    capsys.readouterr()
    assert main(["compare", "dpassay-baseline.json", "report/record.json"]) == 0
    text = capsys.readouterr().out
    assert "fell: api.own.monte-carlo" in text
    assert max(map(len, text.splitlines())) <= 80
    assert main(["compare", "report/record.json", "dpassay-baseline.json", "--out", "c"]) == 1
    assert (project / "c" / "comparison.md").exists()


def test_a_run_that_fails_leaves_no_record_to_be_checked(project: Path) -> None:
    (project / "weakened.py").write_text("import not_there\n", encoding="utf-8")
    assert main(QUICK) == 2
    assert main(["baseline", "check"]) == 2
    assert sorted(path.name for path in (project / "report").iterdir()) == [
        "ledger.sqlite",
        "witnesses",
    ]


def test_where_pages_go_does_not_change_which_record_is_read(project: Path) -> None:
    assert main([*QUICK, "--out", "pages", "--allow-inconclusive"]) == 0
    assert audited(project, 1.8) == 1
    for option in ("-o", "--out"):
        assert main(["baseline", "check", option, "pages"]) == 1
        assert "refuted" in (project / "pages" / "comparison.md").read_text(encoding="utf-8")


def test_a_baseline_that_cannot_be_written_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "accept", "--baseline", "weakened.py/x"]) == 2
    assert "--baseline = 'weakened.py/x': cannot be written" in capsys.readouterr().err
    assert main(["baseline", "accept"]) == 0


def _in_result(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda record: record["results"][0].update({name: value})


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no JSON": (_in_result("detectable", float("nan")), "is not valid JSON"),
    "no run": (lambda record: record.pop("run"), "has no field 'run'"),
    "no list": (_in_result("per_query", 7), "results[0].per_query = 7: must be a list"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_baseline_is_named(
    project: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, (harm, said) = project / "dpassay-baseline.json", DAMAGE[damage]
    record = json.loads(path.read_text(encoding="utf-8"))
    harm(record)
    path.write_text(json.dumps(record), encoding="utf-8")
    for words, named in (
        (["baseline", "check"], "baseline"),
        (["compare", str(path), str(path)], "OLD"),
        (["report", str(path)], "RECORD"),
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"dpassay: error: {named} = '")
        assert said in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("per_query", [], "a list of 0: must be a list of at least 1"),
        ("searched", None, "null: must be an object"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused_in_one_line(
    project: Path, name: str, value: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "dpassay-baseline.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    _in_result(name, value)(record)
    path.write_text(json.dumps(record), encoding="utf-8")
    assert main(["compare", str(path), str(path)]) == 2
    error = capsys.readouterr().err
    assert f"dpassay-baseline.json': is damaged: results[0].{name} = {said}" in error
    assert error.count("\n") == 1


def test_a_record_of_a_million_brackets_is_no_json(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "dpassay-baseline.json").write_text(10**6 * "[", encoding="utf-8")
    assert main(["baseline", "check"]) == 2
    assert "baseline = 'dpassay-baseline.json': is not valid JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "none.json", "none.json"],
        ["compare", "dpassay-baseline.json", "dpassay-baseline.json", "--tolerance", "-1"],
        ["compare", "dpassay-baseline.json", "dpassay-baseline.json", "--tolerance", "inf"],
        ["compare", "dpassay-baseline.json"],
        ["baseline"],
        ["baseline", "forget"],
        ["baseline", "accept", "none.json"],
        ["baseline", "accept", "--tolerance", "1"],
        ["baseline", "check", "--tolerance", "nan"],
        ["baseline", "check", "--tolerance", "1e9"],
    ],
)
def test_wrong_usage_is_one_line(
    project: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("dpassay: error: ")
    assert error.count("\n") == 1


SUPPRESSION = {"result": '"a"', "kind": '"rose"', "reason": '"r"', "expires": "2001-01-01"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expires": ""}, "expires is missing"),
        ({"reason": '" "'}, "reason = ' ': must be a text"),
        ({"kind": '"rise"'}, "kind = 'rise': must be one of"),
        ({"expires": '"2999-01-01"'}, "expires = '2999-01-01': must be a date"),
        ({"expires": "2999-01-01T00:00:00"}, "must be a date"),
        ({"expires": "2999-12-31"}, "'2999-12-31': must be at most a year ahead"),
        ({"kind": '"failed"', "up_to": "1"}, "up_to = 1: must be left out, unless"),
        ({"up_to": '"1"'}, "up_to = '1': must be a finite number"),
        ({"up_to": "nan"}, "up_to = nan: must be a finite number"),
        ({"reason": "", "reasons": '"r"'}, "did you mean 'reason'"),
    ],
)
def test_a_suppression_must_be_complete(
    folder: Path, change: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = [f"{key} = {text}\n" for key, text in (SUPPRESSION | change).items() if text]
    (folder / "dpassay.toml").write_text("[[suppressions]]\n" + "".join(rule), encoding="utf-8")
    assert main(["config"]) == 2
    assert said in capsys.readouterr().err


def example(folder: Path, epsilon: float) -> int:
    """Audit what `dpassay init` writes, at an epsilon."""
    text = (folder / "dpassay_example.py").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("EPSILON = "))
    (folder / "dpassay_example.py").write_text(
        text.replace(line, f"EPSILON = {epsilon}  #"), encoding="utf-8"
    )
    return main_anew("dpassay_example", ["run", "-q", "--train", "30", "--executor", "inline"])


@pytest.fixture
def started(folder: Path) -> Path:
    """A project as `dpassay init` leaves it."""
    assert main(["init"]) == 0
    return folder


def test_the_cells_of_the_baseline_are_counted_again(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example(started, 1.0) == 0
    assert main(["baseline", "accept"]) == 0
    example(started, 1.3)  # the loss rises from .727 to 1.013
    assert main(["baseline", "check"]) == 1
    assert "rose: nearest-vote.own.monte-carlo" in capsys.readouterr().out
    results = json.loads((started / "report" / "record.json").read_text(encoding="utf-8"))[
        "results"
    ]
    assert len(results[0]["again"]) == len(results[0]["per_query"])
    assert example(started, 1.0) == 0
    capsys.readouterr()
    assert main(["baseline", "check", "--json"]) == 0
    (limit,) = json.loads(capsys.readouterr().out)["rise_limits"]
    assert limit["cells"] == limit["of"]
    assert 0.727 < limit["before"][1] < limit["least"] < 1.3
    assert main(["baseline", "check"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "No privacy regression shown; 1 entry unchanged" in text
    assert "the baseline's 10 cells counted again" in text
    assert "may have been missed" in text


def test_a_check_that_could_not_see_a_rise_is_no_pass(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example(started, 1.0) == 0
    accepted = json.loads((started / "report" / "record.json").read_text(encoding="utf-8"))
    for cell in accepted["results"][0]["per_query"]:
        cell["pair_key"] = "another pair"
    (started / "dpassay-baseline.json").write_text(json.dumps(accepted), encoding="utf-8")
    assert example(started, 1.0) == 0
    capsys.readouterr()
    assert main(["baseline", "check"]) == 4
    text = " ".join(capsys.readouterr().out.split())
    assert "No privacy regression shown, 1 of 1 sampled entry could not have shown one" in text
    assert "none of the baseline's 10 cells was counted again" in text


def test_a_baseline_that_cannot_be_read_does_not_stop_a_run(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (started / "dpassay-baseline.json").write_text("{}", encoding="utf-8")
    assert example(started, 1.0) == 0
    assert "none of its cells is counted again" in capsys.readouterr().err
