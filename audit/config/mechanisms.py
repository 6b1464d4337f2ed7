"""One mechanism of a configuration file.

What it is, what it claims and answers, its parameters, its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpassay.claims import SPELLINGS
from dpassay.claims import spelled as claimed
from dpassay.config.options import OPTIONS
from dpassay.config.values import is_value, spelled
from dpassay.errors import InvalidInput, is_real, near, require

LONGEST_NAME = 60
MOST_LISTED = 12
"""So many keys are listed in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """A mechanism that is wanted, as it was written down; nothing is imported yet."""

    target: str  # a name of the catalogue, or `module:object`
    # epsilon, epsilon and delta, mu, or gamma; by default its own
    claim: dict[str, float] | None = None
    answers: str | None = None  # as after `--answers`
    search: str | None = None  # as after `--search`
    together: bool | None = None  # all answers of a run are one output of it
    output: str | None = None  # as after `--output`
    # texts as after `-p`, lists and tables
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str | None = None  # what results call it; the target by default
    where: str = ""  # file and place in it, for messages; empty for the command line

    @property
    def called(self) -> str:
        """The name that results have."""
        return self.name or self.target

    def as_json(self) -> dict[str, Any]:
        """What was written down, without what was left open."""
        written = {name: getattr(self, name) for name in ("target", "name", *KEYS[1:-1])}
        return {name: value for name, value in written.items() if value}


def configured(entries: Any, file: str) -> tuple[Configured, ...]:
    """Read the mechanisms of a configuration file; no two may have one name."""
    tables = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    require(
        tables,
        f"{file}: mechanisms",
        entries,
        "tables [[mechanisms]] ([[tool.dpassay.mechanisms]] in pyproject.toml)",
    )
    read = tuple(_entry(entry, f"{file}, mechanism {k}") for k, entry in enumerate(entries, 1))
    taken: dict[str, str] = {}
    for each in read:
        if each.called in taken:
            raise InvalidInput(
                f"{each.where}: name = '{each.called}': must differ from the name of "
                f"{taken[each.called]}"
            )
        taken[each.called] = each.where
    return read


def known(keys: Mapping[str, Any], names: Any, where: str) -> None:
    """Raise `InvalidInput`, with a suggestion, if a key is none of the names."""
    for key in keys:
        if key not in names:
            close = near(key, names)
            hint = f"did you mean '{close}'?" if close else f"known keys: {_first(names)}"
            raise InvalidInput(f"{where}: {key}: no such key; {hint}")


def _first(names: Any) -> str:
    """List names; of many, the first."""
    listed = list(names)
    more = ", ... (`dpassay config --show` lists them)" if len(listed) > MOST_LISTED else ""
    return f"{', '.join(listed[:MOST_LISTED])}{more}"


KEYS = ("target", "claim", "answers", "search", "together", "output", "parameters", "name")


def _entry(entry: dict[str, Any], where: str) -> Configured:
    known(entry, KEYS, where)
    if "target" not in entry:
        raise InvalidInput(
            f"{where}: target is missing: must be a name of `dpassay list`, or module:object of "
            "your own"
        )
    entry = entry | {"answers": _answers(entry["answers"])} if "answers" in entry else entry
    for key in ("target", "answers", "name"):
        text = entry.get(key, "text")
        require(isinstance(text, str) and text != "", f"{where}: {key}", text, "a text")
    name, parameters = entry.get("name"), entry.get("parameters", {})
    plain = name is None or (
        name.isprintable() and name.strip() == name and len(name) <= LONGEST_NAME
    )
    require(plain, f"{where}: name", name, f"one line of at most {LONGEST_NAME} characters")
    require(
        isinstance(parameters, dict), f"{where}: parameters", parameters, "a table like { r = 5 }"
    )
    for parameter, value in parameters.items():
        allowed = "a number, a text, true, false, or a list or table of these, finite ones"
        plain = isinstance(value, float) or is_value(value)  # alone it is kept as a text
        require(plain, f"{where}: parameters.{parameter}", value, allowed)
    said = {
        key: OPTIONS[key].value(entry[key], f"{where}: {key}")
        for key in ("search", "together", "output")
        if entry.get(key) is not None
    }
    return Configured(
        target=entry["target"],
        claim=_claim(entry.get("claim"), where),
        answers=entry.get("answers"),
        parameters={parameter: spelled(value) for parameter, value in parameters.items()},
        name=name,
        where=where,
        **said,
    )


def _answers(answers: Any) -> Any:
    """Return a list of labels as the text it would be after `--answers`."""
    return ",".join(map(str, answers)) if isinstance(answers, list) and answers else answers


def _claim(claim: Any, where: str) -> dict[str, float] | None:
    if claim is None:
        return None
    allowed = (
        "{ epsilon = E }, { epsilon = E, delta = D }, { mu = M } or { gamma = G }, with numbers"
    )
    numbers = (
        isinstance(claim, dict)
        and set(claim) in SPELLINGS
        and all(is_real(value) for value in claim.values())
    )
    require(numbers, f"{where}: claim", claim, allowed)
    found = {name: float(value) for name, value in claim.items()}
    try:
        claimed(found, where, labels="gamma" not in found or found["gamma"] <= 1)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None
    return found
