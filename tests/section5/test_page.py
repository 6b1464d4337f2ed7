"""docs/section5.md says what is in its JSON file, and that comes out again."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.section5.figures import FIGURES
from benchmarks.section5.page import page, remark
from benchmarks.section5.rounds import Task, result_of
from benchmarks.section5.scalings import SCALINGS
from benchmarks.section5.sentences import compared
from benchmarks.section5.settings import ALPHAS, MEASURES, METHODS, PAPERS, RUNS, TABLES, Run
from benchmarks.section5.summary import Found, as_text, bootstrap, difference, student, values
from benchmarks.section5.tables import magic
from dpassay.data import Labelled
from tests import needed

DOCS = Path(__file__).parents[2] / "docs"


@cache
def found() -> Found:
    stored: Found = json.loads((DOCS / "section5.json").read_text(encoding="utf-8"))
    return stored


def test_the_page_says_what_was_found() -> None:
    assert page(found()) == (DOCS / "section5.md").read_text(encoding="utf-8")
    assert as_text(found()) == (DOCS / "section5.json").read_text(encoding="utf-8")


def test_figures_have_few_nodes() -> None:
    for name in FIGURES:
        text = (DOCS / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert 100 < len(re.findall("<[a-z]", text)) < 1_500


def test_all_of_the_paper_was_run() -> None:
    assert found()["size"] == {"repetitions": 10, "folds": 10}
    for run, table, method in itertools.product(RUNS, TABLES, METHODS):
        for measure in ("index", *MEASURES[run.learner]):
            each = values(found(), run, table, measure, method)
            assert each.shape == (len(ALPHAS), 10, 10)


@pytest.mark.parametrize("run", RUNS[1:], ids=lambda run: run.name)
def test_a_round_comes_out_again(run: Run) -> None:
    """The last of MAGIC, each scaling and learner; machines may differ in the fifth digit."""
    data = magic(needed.data()).data
    task = Task(repetition=9, scaling=run.scaling, learner=run.learner, table="Magic", fold=9)
    row = result_of(task, Labelled(SCALINGS[run.scaling](data.X), data.y))
    for measure in ("index", *MEASURES[run.learner]):
        stored = [values(found(), run, "Magic", measure, method)[:, 9, 9] for method in METHODS]
        assert np.array(row[measure]) == pytest.approx(np.array(stored), abs=2e-5)


def test_what_the_text_says_without_a_number() -> None:
    """Where ours differ from the paper's, and where they do not."""

    def signs(table: str, measure: str, first: str, second: str) -> list[int]:
        return [each.sign for each in difference(found(), PAPERS, table, measure, (first, second))]

    assert signs("Magic", "AUC", "Stability", "alphaSplit")[2:] == [-1] * 4
    assert max(signs("Magic", "AUC", "Stability", "dataSplit")) <= 0
    assert min(signs("Magic", "MSE", "Stability", "alphaSplit")[3:]) >= 0
    assert signs("Adult", "AUC", "Stability", "Random")[:4] == [-1] * 4
    assert signs("Adult", "AUC", "Control", "Random")[:2] == [-1] * 2
    for other in ("alphaSplit", "dataSplit"):
        assert signs("Adult", "AUC", "Stability", other) == [1] * 6
        assert signs("Adult", "MSE", "Stability", other) == [-1] * 6


def test_intervals() -> None:
    """Student's against the textbook; one repetition says nothing; resampling keeps the mean."""
    one = student(np.array([1.0, 2.0, 3.0]))
    assert one.mean == 2.0
    assert one.high - 2 == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)
    assert student(np.array([1.0])).sign == 0
    again = bootstrap(np.arange(100.0).reshape(10, 10))
    assert again.mean == 49.5
    assert again.high - again.low == pytest.approx(2 * 1.96 * np.sqrt(9999 / 12 / 100), rel=0.1)


def test_lower_errors_are_better() -> None:
    """A made-up run in which Stability has less of everything, but at the last alpha."""
    less = [[0.1, 0.11, 0.12, 0.13]] * 5 + [[0.5, 0.51, 0.5, 0.51]]
    methods = {"Stability": less, "Random": [[0.5, 0.51, 0.51, 0.5]] * 6}
    made = {
        "size": {"repetitions": 4, "folds": 1},
        "runs": {PAPERS.name: {"Adult": {"AUC": methods, "MSE": methods}}},
    }
    few = "α = 0.3, 0.5, 1, 2, 3"
    for measure, word in (("AUC", "worse"), ("MSE", "better")):
        check = compared("Adult", measure, "Stability", "Random")
        assert check.told(made, PAPERS) == f"{word} at {few}; undecided at α = 5"


def test_the_remark_on_alpha_split() -> None:
    """α/k > α', but at 0.3, where α/k > α' - 0.0003."""
    first, *others = remark()
    assert -0.0003 < first < 0
    assert min(others) > 0
