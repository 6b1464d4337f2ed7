"""Rounds: which records do what, and files that no interruption or number of processes changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.section5.results import FILE, results
from benchmarks.section5.rounds import Task, fold_of, measures, parts, result_of, tasks
from benchmarks.section5.settings import ALPHAS, METHODS, RUNS, Size
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from tests.section5.synthetic import TABLES

SIZE = Size(repetitions=1, folds=1)
KEY: dict[str, Any] = {"repetition": 0, "scaling": "cut back", "learner": "logistic"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a whole run."""
    out = tmp_path_factory.mktemp("whole")
    assert len(list(results(TABLES, SIZE, out))) == len(RUNS) * len(TABLES)
    return (out / FILE).read_bytes()


def test_ten_folds_have_every_record_once() -> None:
    folds = parts(103, "Adult", 0)
    assert sorted(np.concatenate(folds).tolist()) == list(range(103))
    assert sorted({len(each) for each in folds}) == [10, 11]
    assert not np.array_equal(folds[0], parts(103, "Adult", 1)[0])


@pytest.mark.parametrize("fold", [0, 9])
def test_the_next_fold_validates(fold: int) -> None:
    data = Labelled(np.arange(103.0)[:, None], np.arange(103) % 2)
    folds = parts(103, "Adult", 0)
    made, test = fold_of(Task(**KEY, table="Adult", fold=fold), data)
    assert sorted(test.X[:, 0]) == sorted(folds[fold])
    assert sorted(made.data.X[-made.m :, 0]) == sorted(folds[(fold + 1) % 10])
    everything = np.concatenate([made.data.X[:, 0], test.X[:, 0]])
    assert sorted(everything) == list(range(103))


def test_measures_are_those_of_scikit_learn() -> None:
    data, W = TABLES[0].data, np.array([[[1.0, 0.5, -1.0]], [[-1.0, 0.0, 2.0]]])
    found = measures(W, data, "logistic")
    for i in range(2):
        z = data.X @ W[i, 0]
        p = 1 / (1 + np.exp(-z))
        assert found["AUC"][i][0] == pytest.approx(roc_auc_score(data.y, z), abs=6e-6)
        assert found["MSE"][i][0] == pytest.approx(np.mean((p - data.y) ** 2), abs=6e-6)
    wrong = np.mean((data.X @ W[0, 0] >= 0) != data.y)
    assert measures(W, data, "huber")["error"][0][0] == pytest.approx(wrong, abs=6e-6)


def test_a_line_has_everything(written: bytes) -> None:
    rows = [json.loads(line) for line in written.decode().splitlines()[1:]]
    for row in rows:
        assert np.shape(row["index"]) == np.shape(row["AUC"]) == (len(METHODS), len(ALPHAS))
        assert np.isin(row["index"], range(1, 11)).all()
        assert np.shape(row["fixed"]["AUC"]) == (len(ALPHAS), 10)
        assert np.shape(row["noiseless"]["AUC"]) == (10,)
    assert {row["learner"] for row in rows if "MSE" in row} == {"logistic"}


def test_two_processes_write_the_same_bytes(written: bytes, tmp_path: Path) -> None:
    list(results(TABLES, SIZE, tmp_path, jobs=2))
    assert (tmp_path / FILE).read_bytes() == written


def test_a_run_goes_on_where_it_was_cut(written: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(written[:-700])
    rows = list(results(TABLES, SIZE, tmp_path))
    assert (tmp_path / FILE).read_bytes() == written
    assert rows == [json.loads(line) for line in written.decode().splitlines()[1:]]


def test_interrupted_by_ctrl_c(
    written: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done is kept; the rest is run later."""
    calls: list[Task] = []

    def third(task: Task, data: Labelled) -> dict[str, Any]:
        calls.append(task)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return result_of(task, data)

    monkeypatch.setattr("benchmarks.section5.results.result_of", third)
    with pytest.raises(KeyboardInterrupt):
        list(results(TABLES, SIZE, tmp_path))
    assert written.startswith(kept := (tmp_path / FILE).read_bytes())
    assert kept.count(b"\n") == 3  # the heading and two rounds
    list(results(TABLES, SIZE, tmp_path))
    assert (tmp_path / FILE).read_bytes() == written
    assert len(calls) == 3 + len(tasks(SIZE)) - 2


def test_a_folder_of_other_data_is_refused(written: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(written)
    with pytest.raises(InvalidInput, match=r"^out = .*a folder of the same data, seed and folds$"):
        list(results(TABLES[::-1], SIZE, tmp_path))
    assert (tmp_path / FILE).read_bytes() == written


@pytest.mark.parametrize("wrong", [{"repetitions": 0}, {"folds": 11}, {"folds": 0}])
def test_sizes(wrong: dict[str, int]) -> None:
    assert tasks(Size(repetitions=2))[:60] == tasks(Size(repetitions=1))
    assert len(tasks(Size())) == 600
    with pytest.raises(InvalidInput, match=f"^{next(iter(wrong))} = "):
        Size(**wrong)
