"""Where in the code a claim is made: what a pipeline points at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpassay.config.lines import claim_lines
from dpassay.config.mechanisms import Configured
from dpassay.targets.source import defined_at

Place = dict[str, Any]


def places_of(target: str | None, name: str, mechanisms: Sequence[Configured] = ()) -> list[Place]:
    """Return the lines that a claim is about, the best one to point at first.

    First where the mechanism is defined, if that is a file of the project; then where it is
    configured; last where a package that is no part of the project defines it.
    """
    root = project_root(Path.cwd())
    at = None if target is None else defined_at(target)
    configured = _configured(name, mechanisms, root)
    if at is None:
        return configured
    if at.path.is_relative_to(root) and not {"site-packages", "dist-packages"} & {*at.path.parts}:
        file = at.path.relative_to(root).as_posix()
        return [{"role": "definition", "file": file, "line": at.line}, *configured]
    below = "/__init__.py" if at.path.name == "__init__.py" else ".py"
    file = at.module.replace(".", "/") + below
    return [*configured, {"role": "package", "file": file, "line": at.line}]


def project_root(folder: Path) -> Path:
    """Return the nearest folder upwards that Git keeps, else the folder itself."""
    folder = folder.resolve()
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def _configured(name: str, mechanisms: Sequence[Configured], root: Path) -> list[Place]:
    """Return the line of a claim in the configuration file, if the mechanism is of it."""
    for number, each in enumerate(mechanisms):
        if each.called == name and each.where:
            path = Path(each.where.partition(",")[0]).resolve()
            lines = claim_lines(path)
            if len(lines) != len(mechanisms) or not path.is_relative_to(root):
                return []
            file = path.relative_to(root).as_posix()
            return [{"role": "claim", "file": file, "line": lines[number]}]
    return []


def add_places(
    record: Mapping[str, Any],
    targets: Mapping[str, str | None],
    mechanisms: Sequence[Configured] = (),
) -> None:
    """Write into each result of a record where its claim is made."""
    for result in record["results"]:
        places = places_of(targets.get(result["id"]), result["mechanism"], mechanisms)
        if places:
            result["places"] = places
