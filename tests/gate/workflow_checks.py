"""What actionlint checks of workflows and actions, with programs that PyPI alone brings.

Keys and values by SchemaStore's schemas (check-jsonschema, which carries them along), scripts by
shellcheck, and the names in expressions by what is declared. Each check returns what is wrong,
nothing if nothing is.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.gate.conftest import BIN

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z_][\w-]*(?:\.(?:\*|[\w-]+))*)|(?P<sign>&&|\|\||[=!<>]=|[<>!(),\[\]]))\s*"
)
FUNCTIONS = {
    *("contains", "startsWith", "endsWith", "format", "join", "toJSON", "fromJSON", "hashFiles"),
    *("success", "always", "cancelled", "failure"),
}
WORDS = {"true", "false", "null"}
GITHUB = {
    *("action", "action_path", "action_ref", "action_repository", "action_status", "actor"),
    *("actor_id", "api_url", "base_ref", "env", "event", "event_name", "event_path"),
    *("graphql_url", "head_ref", "job", "path", "ref", "ref_name", "ref_protected", "ref_type"),
    *("repository", "repository_id", "repository_owner", "repository_owner_id", "repositoryUrl"),
    *("retention_days", "run_attempt", "run_id", "run_number", "secret_source", "server_url"),
    *("sha", "token", "triggering_actor", "workflow", "workflow_ref", "workflow_sha", "workspace"),
}
RUNNER = {"arch", "debug", "environment", "name", "os", "temp", "tool_cache", "workspace"}
STRATEGY = {"fail-fast", "job-index", "job-total", "max-parallel"}
FREE = {"env", "job", "matrix", "vars"}
"""Contexts whose names are not checked here."""
MACHINES = re.compile(r"(ubuntu|macos|windows)-(latest|\d[\w.-]*)|self-hosted")
OURS = {"OWNER/dpassay": "action.yml", "OWNER/dpassay/ci/publish": "ci/publish/action.yml"}
PLACEHOLDER = "SC1091,SC2050,SC2154,SC2157,SC2194"
"""What shellcheck says of the underscores that stand for an expression; actionlint leaves the same
out."""

Raw = Mapping[str, Any]
Names = Mapping[str, Collection[str] | None]
"""By context, the names that it has; None where it may have any."""


def by_schema(schema: str, *files: Path) -> list[str]:
    """Hold files against one of the schemas that check-jsonschema brings along."""
    return _said(
        [BIN / "check-jsonschema", "--verbose", "--builtin-schema", f"vendor.{schema}", *files]
    )


def by_shellcheck(*files: Path) -> list[str]:
    """Check files of shell script, of whichever severity a fault is."""
    return _said([BIN / "shellcheck", "--norc", "--format=gcc", *files])


def scripts(document: Raw) -> list[str]:
    """Check every script of a workflow or of an action."""
    return [fault for step in _steps(document) if "run" in step for fault in _script(step)]


def names(document: Raw, actions: Mapping[str, Raw]) -> list[str]:
    """Check expressions and references: to inputs, steps, jobs, contexts, functions and machines.

    `actions` holds our own actions by the name of their file.
    """
    if "runs" in document:
        return list(_of_action(document))
    return list(_of_workflow(document, actions))


def _said(command: list[Any], script: str | None = None) -> list[str]:
    found = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return []
    return (found.stdout + found.stderr).splitlines() or [f"exit code {found.returncode}"]


def _steps(document: Raw) -> Iterator[Raw]:
    yield from document["runs"]["steps"] if "runs" in document else ()
    for job in document.get("jobs", {}).values():
        yield from job.get("steps", ())


def _script(step: Raw) -> list[str]:
    shell = str(step.get("shell", "bash")).split()[0]
    if shell not in {"bash", "sh"}:
        return [f"shell '{shell}' is not checked"]
    script = EXPRESSION.sub(lambda found: "_" * len(found[0]), step["run"])
    command = [BIN / "shellcheck", "--norc", f"--shell={shell}", f"--exclude={PLACEHOLDER}"]
    return _said([*command, "--format=gcc", "-"], script)


def _of_action(action: Raw) -> Iterator[str]:
    known = _shared() | {"inputs": set(action.get("inputs", ())), "strategy": STRATEGY}
    for value in _texts(action.get("inputs", {})):
        yield from _expressions(value, known)
    done = yield from _in_order(action["runs"]["steps"], known)
    for value in _texts(action.get("outputs", {})):
        yield from _expressions(value, known | {"steps": done})


def _of_workflow(workflow: Raw, actions: Mapping[str, Raw]) -> Iterator[str]:
    jobs = workflow["jobs"]
    for name, job in jobs.items():
        needs = job.get("needs", [])
        needs = {needs} if isinstance(needs, str) else set(needs)
        yield from (f"{name} needs {each}, which is no job" for each in sorted(needs - set(jobs)))
        machine = str(job.get("runs-on", ""))
        if "steps" in job and not MACHINES.fullmatch(machine):
            yield f"{name} runs on '{machine}', which GitHub has not"
        known = _shared() | {"needs": needs, "secrets": None, "inputs": set()}
        for key, value in job.items():
            if key != "steps":
                yield from _whole(key, value, known)
        yield from _in_order(job.get("steps", ()), known | {"strategy": STRATEGY})
        for step in job.get("steps", ()):
            yield from _our_inputs(step, actions)


def _shared() -> dict[str, Collection[str] | None]:
    return {"github": GITHUB, "runner": RUNNER} | dict.fromkeys(FREE)


def _in_order(steps: Iterable[Raw], known: Names) -> Generator[str, None, set[str]]:
    """Check steps, each of which may speak of those before it; return the names of all."""
    done: set[str] = set()
    for step in steps:
        for key, value in step.items():
            yield from _whole(key, value, {**known, "steps": done})
        if "id" in step and step["id"] in done:
            yield f"two steps have the id {step['id']}"
        done |= {step["id"]} if "id" in step else set()
    return done


def _our_inputs(step: Raw, actions: Mapping[str, Raw]) -> Iterator[str]:
    used = str(step.get("uses", "")).partition("@")[0]
    if used not in OURS:
        return
    declared, given = actions[OURS[used]]["inputs"], set(step.get("with", ()))
    yield from (f"{used} has no input {each}" for each in sorted(given - set(declared)))
    for name, facts in declared.items():
        if facts.get("required") and name not in given:
            yield f"{used} needs the input {name}"


def _whole(key: str, value: Any, known: Names) -> Iterator[str]:
    """Check the value of a key; that of `if` is an expression with or without its braces."""
    if key == "if" and "${{" not in str(value):
        yield from _expression(str(value), known)
    for text in _texts(value):
        yield from _expressions(text, known)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    else:
        yield str(value)


def _expressions(text: str, known: Names) -> Iterator[str]:
    if text.count("${{") != len(EXPRESSION.findall(text)):
        yield f"an expression that is not closed: {text}"
    for expression in EXPRESSION.findall(text):
        yield from _expression(expression, known)


def _expression(text: str, known: Names) -> Iterator[str]:
    place, names = 0, []
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            yield f"no expression from here: {text[place:]}"
            return
        place = found.end()
        if found["name"]:
            names.append((found["name"], text[place : place + 1] == "("))
    if text.count("(") != text.count(")"):
        yield f"parentheses do not match: {text}"
    for name, called in names:
        yield from _name(name, known, called=called)


def _name(name: str, known: Names, *, called: bool) -> Iterator[str]:
    context, _, rest = name.partition(".")
    if called:
        if name not in FUNCTIONS:
            yield f"no such function: {name}"
    elif context not in known:
        if name not in WORDS:
            yield f"no such context here: {name}"
    else:
        there, first = known[context], rest.partition(".")[0]
        if there is not None and first not in there:
            yield f"{context} has no {first}: {name}"


def read(path: Path) -> Raw:
    """Read a workflow or an action."""
    document: Raw = yaml.safe_load(path.read_text("utf-8"))
    return document
