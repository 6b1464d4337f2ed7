"""What is in force and where it comes from.

Command line over environment over file over profile over default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpassay.config.mechanisms import Configured, configured, known
from dpassay.config.options import COMMAND_LINE, OPTIONS
from dpassay.config.profiles import PROFILES
from dpassay.config.suppressions import Suppression, suppressions
from dpassay.errors import InvalidInput, require

FILE, PROJECT = "dpassay.toml", "pyproject.toml"
PREFIX = "DPASSAY_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What is in force.

    Parameters
    ----------
    profile : {"quick", "default", "deep"}
        Sizes of everything that is not said otherwise.
    seed, confidence, mode, budget, jobs, executor, scheduler, detect
        See `dpassay.engine.settings.Settings`.
    out : str, optional
        Folder that `dpassay run` writes to.
    baseline : str
        File of the accepted record that later ones are compared with.
    tolerance : float
        Part of a claim by which a bound may rise before that is a regression.
    search : str, optional
        What a search draws from, see `dpassay.config.searches`; by default nothing is searched for.
    together : bool
        Whether all answers of a run are one output of it, in a search of records.
    output : str, optional
        What one run returns, see `dpassay.config.outputs`; by default a few runs show it.
    search_seconds : float, optional
        Seconds after which a search ends.
    data, label : str, optional
        CSV file and its column of labels; scikit-learn's breast cancer set by default.
    train, queries : int
        Training records and query points at most.
    train_queries : int
        Training records whose points are asked at besides.
    neighbours : {"one", "flip", "one+flip", "all"}
        Neighbours of a training record.
    mechanisms : tuple of Configured
        What `dpassay run` audits without TARGET.
    suppressions : tuple of Suppression
        Regressions that are let pass.
    command_line : dict
        Values of `dpassay.config.options.COMMAND_LINE`, by key: what was said, else the default.
    origins : dict of str
        Where each of them was said.
    """

    profile: str = OPTIONS["profile"].default
    seed: int = OPTIONS["seed"].default
    confidence: float = OPTIONS["confidence"].default
    mode: str = OPTIONS["mode"].default
    budget: int = OPTIONS["budget"].default
    jobs: int = OPTIONS["jobs"].default
    executor: str | None = OPTIONS["executor"].default
    scheduler: str | None = OPTIONS["scheduler"].default
    detect: float | None = OPTIONS["detect"].default
    stop_early: bool = OPTIONS["stop_early"].default
    out: str | None = OPTIONS["out"].default
    baseline: str = OPTIONS["baseline"].default
    tolerance: float = OPTIONS["tolerance"].default
    search: str | None = OPTIONS["search"].default
    together: bool = OPTIONS["together"].default
    output: str | None = OPTIONS["output"].default
    search_seconds: float | None = OPTIONS["search_seconds"].default
    data: str | None = OPTIONS["data"].default
    label: str | None = OPTIONS["label"].default
    train: int = OPTIONS["train"].default
    queries: int = OPTIONS["queries"].default
    train_queries: int = OPTIONS["train_queries"].default
    neighbours: str = OPTIONS["neighbours"].default
    mechanisms: tuple[Configured, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    command_line: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def origin(self, key: str) -> str:
        """Where a value was said: a file, `environment`, `command line`, a profile or `default`."""
        return self.origins.get(key, "default")

    def said(self, key: str) -> bool:
        """Whether the command line says it."""
        return self.origin(key) == "command line"

    def said_by_environment(self) -> dict[str, Any]:
        """Keys and values that no file and no command line holds."""
        return {
            key: getattr(self, key)
            for key, origin in self.origins.items()
            if origin == "environment"
        }


LISTS = ("mechanisms", "suppressions")
"""Keys of a file that hold tables."""


def load_config(
    given: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Put together what is in force.

    Parameters
    ----------
    given : mapping, optional
        What the command line says, by key, checked already; None where it says nothing.
    folder : Path, optional
        Where the file is looked for; the working directory by default.
    environment : mapping, optional
        Variables; those of the process by default.

    Raises
    ------
    InvalidInput
        If there are two configurations, one cannot be read, a key is unknown, or a value is not
        allowed.
    """
    mechanisms: tuple[Configured, ...] = ()
    passed: tuple[Suppression, ...] = ()
    layers: dict[str, dict[str, Any]] = {}
    found = read_file(Path.cwd() if folder is None else folder)
    if found is not None:
        name, table = found
        mechanisms = configured(table.get("mechanisms", []), name)
        passed = suppressions(table.get("suppressions", []), name)
        layers[name] = _from_file(table, name)
    layers["environment"] = _from_environment(os.environ if environment is None else environment)
    said = {key: value for key, value in (given or {}).items() if value is not None}
    layers["command line"] = {key: value for key, value in said.items() if key in OPTIONS}
    alone = {key: value for key, value in said.items() if key in COMMAND_LINE}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers.items():
        if "data" in layer and "label" not in layer and _is_built_in(layer["data"]):
            values.pop("label", None)  # a column of the file that this layer leaves
            origins.pop("label", None)
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    profile = values.get("profile", "default")
    sizes = {key: size for key, size in PROFILES[profile].items() if key not in values}
    origins |= dict.fromkeys(sizes, f"profile {profile}")
    if found is not None:
        origins |= {
            name: found[0]
            for name, held in (("mechanisms", mechanisms), ("suppressions", passed))
            if held
        }
    origins |= dict.fromkeys(alone, "command line")
    command_line = {key: option.default for key, option in COMMAND_LINE.items()} | alone
    lists: dict[str, Any] = {"mechanisms": mechanisms, "suppressions": passed}
    return Config(**values, **sizes, **lists, command_line=command_line, origins=origins)


def _is_built_in(source: object) -> bool:
    """Whether a run is to use the data that need no file; without data nothing is imported."""
    from dpassay.data import BUILT_IN

    return source == BUILT_IN


def read_file(folder: Path) -> tuple[str, dict[str, Any]] | None:
    """Return name and contents of the configuration of a folder, None if it has none.

    Raises
    ------
    InvalidInput
        If there are two, or a file is no TOML.
    """
    own, project = _toml(folder / FILE), _toml(folder / PROJECT)
    tool = (project or {}).get("tool", {})
    table = tool.get("dpassay") if isinstance(tool, dict) else None
    if own is not None and table is not None:
        raise InvalidInput(
            f"{FILE} and [tool.dpassay] in {PROJECT}: there must be only one configuration; "
            "remove one of them"
        )
    if own is not None:
        for key in ("tool", "dpassay"):
            if key in own:
                raise InvalidInput(
                    f"{FILE}: {key}: no such key; in this file the keys are at the top level, "
                    "without [tool.dpassay]"
                )
        return FILE, own
    if table is None:
        return None
    require(isinstance(table, dict), f"{PROJECT}: tool.dpassay", table, "a table")
    return PROJECT, table


def _toml(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"{path.name}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        hint = "; texts stand in quotes" if str(error).startswith("Invalid value") else ""
        raise InvalidInput(f"{path.name}: is not valid TOML ({error}){hint}") from None


def _from_file(table: dict[str, Any], file: str) -> dict[str, Any]:
    known(table, (*OPTIONS, *LISTS), file)
    return {
        key: OPTIONS[key].value(value, f"{file}: {key}")
        for key, value in table.items()
        if key not in LISTS
    }


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Read DPASSAY_SEED and so on; an empty variable says nothing."""
    said = {
        name: text for name, text in sorted(environment.items()) if name.startswith(PREFIX) and text
    }
    known(said, tuple(PREFIX + key.upper() for key in OPTIONS), "environment")
    keys = {name: name.removeprefix(PREFIX).lower() for name in said}
    return {keys[name]: OPTIONS[keys[name]].from_text(text, name) for name, text in said.items()}
