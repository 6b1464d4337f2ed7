"""What GitHub does with a composite action, as far as ours needs it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")


@dataclass
class ShardResult:
    """What is left of a job; `used` is what the actions that it used were given."""

    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""
    used: dict[str, dict[str, str]] = field(default_factory=dict)


def run_action(
    action: Mapping[str, Any],
    path: Path,
    workspace: Path,
    environment: Mapping[str, str],
    inputs: Mapping[str, str] | None = None,
) -> ShardResult:
    """Run the shell steps one after the other, and note those that use an action."""
    files = workspace.parent / "runner"
    files.mkdir(exist_ok=True)
    known = {"github.job": "privacy", "strategy.job-index": "0", "runner.os": "Linux"}
    known |= {"runner.temp": str(files), "github.event_name": "push"}
    given = {
        name: fill(str(declared["default"]), known) for name, declared in action["inputs"].items()
    }
    assert set(inputs or {}) <= set(given), "an input that is not declared"
    known |= {f"inputs.{name}": value for name, value in (given | dict(inputs or {})).items()}
    done = ShardResult()
    for number, step in enumerate(action["runs"]["steps"]):
        if not holds(step.get("if", "success()"), known, failed=done.code != 0):
            continue
        if "uses" in step:
            done.used[step["uses"]] = {
                key: fill(str(value), known) for key, value in step.get("with", {}).items()
            }
            continue
        output, summary, script = (
            files / f"{number}.{kind}" for kind in ("output", "summary", "sh")
        )
        output.write_text("")
        summary.write_text("")
        script.write_text(step["run"])
        variables = {name: fill(str(value), known) for name, value in step.get("env", {}).items()}
        variables |= {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_ACTION_PATH": str(path),
        }
        found = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=workspace, env=dict(environment) | variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert step["shell"] == "bash"
        done.code = done.code or found.returncode
        done.log += found.stdout + found.stderr
        done.summary += summary.read_text()
        pairs = (line.split("=", 1) for line in output.read_text().splitlines())
        known |= {f"steps.{step['id']}.outputs.{name}": value for name, value in pairs}
    done.outputs = {
        name: fill(declared["value"], known) for name, declared in action["outputs"].items()
    }
    return done


def fill(text: str, known: Mapping[str, str]) -> str:
    return EXPRESSION.sub(lambda found: value_of(found[1], known), text)


def value_of(name: str, known: Mapping[str, str]) -> str:
    """An output that no step has set is empty, any other name must be known."""
    if re.fullmatch(r"hashFiles\(.*\)", name):
        return "0" * 64
    return (
        known.get(name, "") if re.fullmatch(r"steps\.\w+\.outputs\.[\w-]+", name) else known[name]
    )


def holds(condition: str, known: Mapping[str, str], *, failed: bool) -> bool:
    """Whether a step is run: `success()`, `always()`, comparisons with a text, joined by `&&`."""
    terms = condition.split(" && ")
    if failed and "always()" not in terms:
        return False
    comparisons = [
        re.split(" ([!=]=) ", term) for term in terms if term not in ("success()", "always()")
    ]
    return all(
        (value_of(name, known) == text.strip("'")) is (sign == "==")
        for name, sign, text in comparisons
    )
