"""The lists of a configuration file: mechanisms to audit, and suppressions.

A suppression is a regression that somebody has looked at, with a reason, until a day.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from dpassay.claims import SPELLINGS
from dpassay.claims import spelled as claimed
from dpassay.config.option import one_of, text
from dpassay.config.options import OPTIONS
from dpassay.config.values import is_value, spelled
from dpassay.errors import InvalidInput, is_real, near, require

T = TypeVar("T")
LONGEST_NAME = 60
MOST_LISTED = 12
"""So many keys are listed in a message."""
KEYS = ("target", "claim", "answers", "search", "together", "output", "parameters", "name")
CLAIMS = "{ epsilon = E }, { epsilon = E, delta = D }, { mu = M } or { gamma = G }, with numbers"
VALUES = "a number, a text, true, false, or a list or table of these, finite ones"
KINDS = ("refuted", "failed", "vanished", "repointed", "weakened", "rose", "blinder")
"""Kinds of regressions, which turn a pipeline red; see `dpassay.cli.compare`."""
SIZED = ("refuted", "rose", "blinder")
"""Those that are larger or smaller."""
LONGEST = timedelta(days=366)
"""No suppression is for longer: somebody has to look again."""


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
        """Return what was written down, without what was left open."""
        written = {name: getattr(self, name) for name in ("target", "name", *KEYS[1:-1])}
        return {name: value for name, value in written.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One regression that is let pass.

    `up_to` is the largest size of a `dpassay.record.comparer.Difference` that passes.
    """

    result: str  # id of the result, as the comparison shows it
    kind: str  # one of `KINDS`
    reason: str
    expires: date  # the last day on which it is let pass
    up_to: float | None = None  # any size by default

    def __str__(self) -> str:
        up_to = "" if self.up_to is None else f", up to {self.up_to:g}"
        return f"{self.kind} of {self.result} (until {self.expires}{up_to}: {self.reason})"


def configured(entries: Any, file: str) -> tuple[Configured, ...]:
    """Read the mechanisms of a configuration file; no two may have one name."""
    read = _tables(entries, file, "mechanism", _mechanism)
    taken: dict[str, str] = {}
    for each in read:
        if each.called in taken:
            raise InvalidInput(
                f"{each.where}: name = '{each.called}': must differ from the name of "
                f"{taken[each.called]}"
            )
        taken[each.called] = each.where
    return read


def suppressions(entries: Any, file: str) -> tuple[Suppression, ...]:
    """Read the suppressions of a configuration file."""
    return _tables(entries, file, "suppression", _suppression)


def known(keys: Mapping[str, Any], names: Any, where: str) -> None:
    """Raise `InvalidInput`, with a suggestion, if a key is none of the names."""
    for key in keys:
        if key not in names:
            more = "" if len(names) <= MOST_LISTED else ", ... (`dpassay config --show` lists them)"
            close, first = near(key, names), ", ".join(list(names)[:MOST_LISTED])
            hint = f"did you mean '{close}'?" if close else f"known keys: {first}{more}"
            raise InvalidInput(f"{where}: {key}: no such key; {hint}")


def _tables(
    entries: Any, file: str, noun: str, read: Callable[[dict[str, Any], str], T]
) -> tuple[T, ...]:
    tables = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    allowed = f"tables [[{noun}s]] ([[tool.dpassay.{noun}s]] in pyproject.toml)"
    require(tables, f"{file}: {noun}s", entries, allowed)
    return tuple(read(entry, f"{file}, {noun} {k}") for k, entry in enumerate(entries, 1))


def _mechanism(entry: dict[str, Any], where: str) -> Configured:
    known(entry, KEYS, where)
    if "target" not in entry:
        raise InvalidInput(
            f"{where}: target is missing: must be a name of `dpassay list`, or module:object of "
            "your own"
        )
    answers = entry.get("answers")
    if isinstance(answers, list) and answers:
        entry = entry | {"answers": ",".join(map(str, answers))}
    for key in ("target", "answers", "name"):
        said = entry.get(key, "text")
        require(isinstance(said, str) and said != "", f"{where}: {key}", said, "a text")
    name, parameters = entry.get("name"), entry.get("parameters", {})
    plain = name is None or (
        name.isprintable() and name.strip() == name and len(name) <= LONGEST_NAME
    )
    require(plain, f"{where}: name", name, f"one line of at most {LONGEST_NAME} characters")
    table = isinstance(parameters, dict)
    require(table, f"{where}: parameters", parameters, "a table like { r = 5 }")
    for parameter, value in parameters.items():
        plain = isinstance(value, float) or is_value(value)  # alone it is kept as a text
        require(plain, f"{where}: parameters.{parameter}", value, VALUES)
    return Configured(
        target=entry["target"],
        claim=_claim(entry.get("claim"), where),
        answers=entry.get("answers"),
        parameters={parameter: spelled(value) for parameter, value in parameters.items()},
        name=name,
        where=where,
        **{
            key: OPTIONS[key].value(entry[key], f"{where}: {key}")
            for key in ("search", "together", "output")
            if entry.get(key) is not None
        },
    )


def _claim(claim: Any, where: str) -> dict[str, float] | None:
    if claim is None:
        return None
    numbers = isinstance(claim, dict) and set(claim) in SPELLINGS
    require(numbers and all(map(is_real, claim.values())), f"{where}: claim", claim, CLAIMS)
    found = {name: float(value) for name, value in claim.items()}
    try:
        claimed(found, where, labels="gamma" not in found or found["gamma"] <= 1)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None
    return found


def _suppression(entry: dict[str, Any], where: str) -> Suppression:
    names = ("result", "kind", "reason", "expires")
    known(entry, (*names, "up_to"), where)
    for key in names:
        if key not in entry:
            raise InvalidInput(f"{where}: {key} is missing: a suppression needs {', '.join(names)}")
    for row in (text("result"), one_of("kind", KINDS), text("reason")):
        row.value(entry[row.key], f"{where}: {row.key}")
    day, most = entry["expires"], entry.get("up_to")
    whole = isinstance(day, date) and not isinstance(day, datetime)
    require(whole, f"{where}: expires", day, "a date like 2027-01-31, without quotes")
    last = datetime.now(tz=UTC).date() + LONGEST
    allowed = f"at most a year ahead, {last} at the latest"
    require(day <= last, f"{where}: expires", day.isoformat(), allowed)
    if most is not None:
        allowed = f"left out, unless kind is one of {', '.join(SIZED)}"
        require(entry["kind"] in SIZED, f"{where}: up_to", most, allowed)
        finite = is_real(most) and 0 <= most < math.inf
        require(finite, f"{where}: up_to", most, "a finite number >= 0")
    return Suppression(**entry)
