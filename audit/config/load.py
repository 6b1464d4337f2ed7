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

from dpassay.config.mechanisms import Configured, Suppression, configured, known, suppressions
from dpassay.config.options import OPTIONS, TABLE
from dpassay.config.profiles import PROFILES
from dpassay.errors import InvalidInput, require

FILE, PROJECT = "dpassay.toml", "pyproject.toml"
PREFIX = "DPASSAY_"
LISTS = ("mechanisms", "suppressions")
"""Keys of a file that hold tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What is in force: the value of every option, an attribute by its key, and the lists."""

    values: Mapping[str, Any] = field(
        default_factory=lambda: {key: option.default for key, option in TABLE.items()}
    )
    mechanisms: tuple[Configured, ...] = ()  # what `dpassay run` audits without TARGET
    suppressions: tuple[Suppression, ...] = ()  # regressions that are let pass
    origins: Mapping[str, str] = field(default_factory=dict)

    def __getattr__(self, key: str) -> Any:
        """Return the value of an option."""
        if key in TABLE:
            return self.values[key]
        raise AttributeError(key)

    @property
    def folder(self) -> Path | None:
        """The folder of the record and the reports."""
        return None if self.out is None else Path(self.out)

    def some(self, *keys: str) -> dict[str, Any]:
        """Return the values of some options."""
        return {key: self.values[key] for key in keys}

    def origin(self, key: str) -> str:
        """Where a value was said: a file, `environment`, `command line`, a profile or `default`."""
        return self.origins.get(key, "default")

    def said(self, key: str) -> bool:
        """Whether the command line says it."""
        return self.origin(key) == "command line"

    def said_by_environment(self) -> dict[str, Any]:
        """Return keys and values that no file and no command line holds."""
        return self.some(*(key for key, at in self.origins.items() if at == "environment"))


def load_config(
    given: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Return what is in force.

    `given` is what the command line says, by key, checked already; None where it says nothing.
    The file is looked for in `folder`, by default the working directory; `environment` is by
    default that of the process.
    """
    file, table = read_file(Path.cwd() if folder is None else folder) or (FILE, {})
    mechanisms = configured(table.get("mechanisms", []), file)
    passed = suppressions(table.get("suppressions", []), file)
    known(table, (*OPTIONS, *LISTS), file)
    of_file = {
        key: OPTIONS[key].value(value, f"{file}: {key}")
        for key, value in table.items()
        if key not in LISTS
    }
    variables = sorted((os.environ if environment is None else environment).items())
    # DPASSAY_SEED and so on; an empty variable says nothing
    texts = {name: text for name, text in variables if name.startswith(PREFIX) and text}
    keys = {PREFIX + key.upper(): key for key in OPTIONS}
    known(texts, tuple(keys), "environment")
    layers = {
        file: of_file,
        "environment": {
            keys[name]: OPTIONS[keys[name]].from_text(text, name) for name, text in texts.items()
        },
        "command line": {key: value for key, value in (given or {}).items() if value is not None},
    }
    values: dict[str, Any] = {}
    origins = {key: file for key in LISTS if table.get(key)}
    for origin, layer in layers.items():
        if "data" in layer and "label" not in layer:
            from dpassay.data import BUILT_IN

            if layer["data"] == BUILT_IN:  # it leaves the file, and its column
                values.pop("label", None)
                origins.pop("label", None)
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    profile = values.get("profile", "default")
    sizes = {key: size for key, size in PROFILES[profile].items() if key not in values}
    origins |= dict.fromkeys(sizes, f"profile {profile}")
    return Config(
        values={**Config().values, **values, **sizes},
        mechanisms=mechanisms,
        suppressions=passed,
        origins=origins,
    )


def read_file(folder: Path) -> tuple[str, dict[str, Any]] | None:
    """Return name and contents of the configuration of a folder, None if it has none."""
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
