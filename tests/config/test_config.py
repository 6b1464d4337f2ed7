"""Files, variables, profiles: what is read, what is refused, and which goes first."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dpassay.config.load import LISTS, Config, load_config
from dpassay.config.mechanisms import Configured
from dpassay.config.options import OPTIONS
from dpassay.config.profiles import PROFILES
from dpassay.config.template import CONFIG_TEXT, EXAMPLE_TEXT
from dpassay.config.values import written
from dpassay.errors import InvalidInput

EVERY_VALUE: dict[str, Any] = {
    "profile": "quick",
    "seed": 7,
    "confidence": 0.99,
    "mode": "monte-carlo",
    "budget": 3000,
    "jobs": 2,
    "executor": "dask",
    "scheduler": "tcp://10.0.0.1:8786",
    "detect": 2.0,
    "stop_early": True,
    "out": "pages",
    "baseline": "accepted.json",
    "tolerance": 0.25,
    "search": "answers,size=5",
    "together": True,
    "output": '["yes", "no"]',
    "search_seconds": 30.0,
    "data": "people.csv",
    "label": "income",
    "train": 50,
    "queries": 4,
    "train_queries": 3,
    "neighbours": "flip",
}
TABLES = {"search": {"name": "answers", "size": 5}, "output": ["yes", "no"], "detect": 2}
EVERY_KEY = "\n".join(f"{key} = {written(each)}" for key, each in (EVERY_VALUE | TABLES).items())
MECHANISM = '[[mechanisms]]\ntarget = "m:f"\n'


def load(
    folder: Path,
    text: str | None = None,
    environment: dict[str, str] | None = None,
    given: dict[str, Any] | None = None,
) -> Config:
    if text is not None:
        (folder / "dpassay.toml").write_text(text, encoding="utf-8")
    return load_config(given, folder, environment or {})


def values(config: Config) -> dict[str, Any]:
    return {key: getattr(config, key) for key in OPTIONS}


def test_defaults_are_those_of_the_default_profile(tmp_path: Path) -> None:
    config = load(tmp_path)
    assert values(config) == values(Config())
    assert {key: getattr(config, key) for key in PROFILES["default"]} == PROFILES["default"]
    assert {config.origin(key) for key in OPTIONS} == {"default", "profile default"}
    assert config.mechanisms == ()


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("dpassay.toml", ""),
        ("pyproject.toml", "[project]\nname = 'x'\n[tool.other]\na = 1\n[tool.dpassay]\n"),
    ],
)
def test_every_key_of_a_file(name: str, head: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f"{head}{EVERY_KEY}")
    config = load(tmp_path)
    assert values(config) == EVERY_VALUE
    assert isinstance(config.detect, float)
    assert {config.origin(key) for key in OPTIONS} == {name}


def test_every_key_of_the_environment(tmp_path: Path) -> None:
    said = {f"DPASSAY_{key.upper()}": str(value) for key, value in EVERY_VALUE.items()}
    config = load(tmp_path, environment=said)
    assert values(config) == EVERY_VALUE == config.said_by_environment()
    of_others = {"DPASSAY_SEED": "", "SEED": "5", "XDPASSAY_SEED": "6"}
    assert values(load(tmp_path, environment=of_others)) == values(Config())


def test_command_line_over_environment_over_file_over_profile(tmp_path: Path) -> None:
    text, environment, given = (
        "seed = 1\njobs = 1\ntrain = 11",
        {"DPASSAY_SEED": "2", "DPASSAY_JOBS": "2"},
        {"seed": 3},
    )
    config = load(tmp_path, text, environment, given | {"profile": "quick", "jobs": None})
    found = {
        key: (getattr(config, key), config.origin(key))
        for key in ("seed", "jobs", "train", "queries", "mode")
    }
    assert found == {
        "seed": (3, "command line"),
        "jobs": (2, "environment"),
        "train": (11, "dpassay.toml"),
        "queries": (5, "profile quick"),
        "mode": ("auto", "default"),
    }
    assert config.said_by_environment() == {"jobs": 2}


def test_the_built_in_data_leave_the_column_of_the_file(tmp_path: Path) -> None:
    text = 'data = "people.csv"\nlabel = "income"'
    assert load(tmp_path, text, given={"data": "breast-cancer"}).label is None
    assert load(tmp_path, text, given={"data": "others.csv"}).label == "income"
    assert load(tmp_path, text, {"DPASSAY_DATA": "breast-cancer"}, {"label": "x"}).label == "x"


def test_mechanisms(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
[[mechanisms]]
target = "my_module:my_predict"
claim = { epsilon = 1, delta = 0.0 }
answers = "0,1"
name = "label api"
[[mechanisms]]
target = "soft-majority"
parameters = { r = 5, epsilon = 0.5, learner = "tree", twice = true }
""",
    )
    first, second = config.mechanisms
    assert first == Configured(
        target="my_module:my_predict",
        claim={"epsilon": 1.0, "delta": 0.0},
        answers="0,1",
        name="label api",
        where="dpassay.toml, mechanism 1",
    )
    assert (first.called, second.called) == ("label api", "soft-majority")
    assert second.parameters == {"r": "5", "epsilon": "0.5", "learner": "tree", "twice": "true"}
    assert config.origin("mechanisms") == "dpassay.toml"


def test_parameters_and_answers_may_be_lists_and_tables(tmp_path: Path) -> None:
    text = (
        'answers = [0, 1, 2]\nparameters = { base = { name = "soft-majority", r = 5 }, lambdas = '
        "[0.1, 1] }"
    )
    (found,) = load(tmp_path, MECHANISM + text).mechanisms
    assert found.answers == "0,1,2"
    assert found.parameters == {"base": {"name": "soft-majority", "r": 5}, "lambdas": [0.1, 1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zzz = 1", "zzz: no such key; known keys: profile, seed, "),
        (
            "[tool.dpassay]\nseed = 1",
            "tool: no such key; in this file the keys are at the top level",
        ),
        ("seed = '1'", "seed = '1': must be an integer >= 0"),
        ("seed = true", "seed = True: must be an integer >= 0"),
        ("queries = []", "queries = []: must be an integer >= 1"),
        ("confidence = 1", "confidence = 1: must be a number in [0.5, 1)"),
        ("confidence = nan", "confidence = nan: must be a number in [0.5, 1)"),
        ("detect = inf", "detect = inf: must be a finite number > 0"),
        (f"detect = 1{'0' * 400}", "000...: must be a finite number > 0"),
        ("mode = ['auto']", "mode = ['auto']: must be one of auto, exact"),
        ("profile = 'fast'", "profile = 'fast': must be one of quick, default, deep"),
        ("data = ''", "data = '': must be a text"),
        ("seed = ", "is not valid TOML ("),
        (f"seed = {'1' * 5000}", "is not valid TOML ("),
        (f"seed = {'[' * 5000}", "is not valid TOML ("),
        ("mechanisms = 3", "mechanisms = 3: must be tables [[mechanisms]]"),
        ("mechanisms = ['soft-majority']", "mechanisms = ['soft-majority']: must be tables"),
        ("[[mechanisms]]", "dpassay.toml, mechanism 1: target is missing"),
        ("[[mechanisms]]\ntarget = 3", "dpassay.toml, mechanism 1: target = 3: must be a text"),
    ],
)
def test_what_is_refused_of_a_file(text: str, message: str, tmp_path: Path) -> None:
    told = refusal(tmp_path, text)
    assert told.startswith("dpassay.toml")
    assert message in told


def refusal(folder: Path, text: str) -> str:
    """What is said of a file, in one line that is not long."""
    with pytest.raises(InvalidInput) as caught:
        load(folder, text)
    told = str(caught.value)
    assert "\n" not in told
    assert len(told) < 250
    return told


OF_A_MECHANISM = {
    "claim = { delta = 0.1 }": "claim = {'delta': 0.1}: must be { epsilon = E }, ",
    "claim = { epsilon = '1' }": "claim = {'epsilon': '1'}: must be { epsilon = E }, ",
    f"claim = {{ epsilon = 1{'0' * 400} }}": "000...: must be { epsilon = E }, ",
    "answers = []": "answers = []: must be a text",
    "parameters = 5": "parameters = 5: must be a table like { r = 5 }",
    "parameters = { r = 2000-01-01 }": "parameters.r = datetime.date(2000, 1, 1): must be a number",
    'name = "a\\nb"': "name = 'a\\nb': must be one line of at most 60 characters",
}


@pytest.mark.parametrize("text", OF_A_MECHANISM)
def test_what_is_refused_of_a_mechanism(text: str, tmp_path: Path) -> None:
    told = refusal(tmp_path, MECHANISM + text)
    assert told.startswith("dpassay.toml, mechanism 1: ")
    assert OF_A_MECHANISM[text] in told


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("DPASSAY_SEED", "-1", "DPASSAY_SEED = -1: must be an integer >= 0"),
        ("DPASSAY_CONFIDENCE", "2", "DPASSAY_CONFIDENCE = 2.0: must be a number in [0.5, 1)"),
        (
            "DPASSAY_SEDE",
            "1",
            "environment: DPASSAY_SEDE: no such key; did you mean 'DPASSAY_SEED'?",
        ),
        ("DPASSAY_MECHANISMS", "1", "environment: DPASSAY_MECHANISMS: no such key; "),
    ],
)
def test_what_is_refused_of_the_environment(
    variable: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path, environment={variable: text})
    assert message in str(caught.value)


def test_two_mechanisms_have_two_names_and_there_is_one_configuration(tmp_path: Path) -> None:
    told = "name = 'm:f': must differ from the name of dpassay.toml, mechanism 1"
    assert refusal(tmp_path, MECHANISM + MECHANISM) == f"dpassay.toml, mechanism 2: {told}"
    (tmp_path / "pyproject.toml").write_text("tool = 3\n")
    assert load(tmp_path, "seed = 3").seed == 3, "of others"
    (tmp_path / "pyproject.toml").write_text("[tool.dpassay]\n")
    assert refusal(tmp_path, "seed = 3").startswith(
        "dpassay.toml and [tool.dpassay] in pyproject.toml: there must be only one configuration"
    )
    (tmp_path / "dpassay.toml").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool]\ndpassay = 3\n")
    with pytest.raises(InvalidInput, match=r"pyproject\.toml: tool\.dpassay = 3: must be a table"):
        load(tmp_path)


@pytest.mark.parametrize("file", ["dpassay.toml", "pyproject.toml"])
def test_files_that_cannot_be_read(file: str, tmp_path: Path) -> None:
    (tmp_path / file).mkdir()
    with pytest.raises(InvalidInput, match=f"^{file}: cannot be read"):
        load(tmp_path)
    (tmp_path / file).rmdir()
    (tmp_path / file).write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match=f"^{file}: is not valid TOML"):
        load(tmp_path)


def test_the_starter_names_every_key_and_its_function_has_ten_lines_at_most(tmp_path: Path) -> None:
    commented = [line.removeprefix("# ") for line in CONFIG_TEXT.partition("\n\n")[2].splitlines()]
    whole = "\n".join(line for line in commented if " = " in line or line.startswith("[["))
    assert {*tomllib.loads(whole)} == {*OPTIONS, *LISTS}
    assert load(tmp_path, whole).mechanisms[0].parameters == {"r": "5"}
    assert load(tmp_path, CONFIG_TEXT).mechanisms[0].target == "dpassay_example:predict"
    (function,) = [
        each for each in ast.parse(EXAMPLE_TEXT).body if isinstance(each, ast.FunctionDef)
    ]
    assert (function.end_lineno or 0) - function.lineno < 10
