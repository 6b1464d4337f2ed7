"""What a search draws from, and what one run returns, as texts or tables.

A search is `answers,size=5`, `scalars,low=0,high=1`, `records`, `table,file=people.csv` or
`{name="answers", size=5}`; see `dpassay.search.spaces` and `dpassay.search.tables`. An output is
`label`, or the values that occur: `yes,no`, `[0, 1, 2]`; see `dpassay.search.declared`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.config.option import Option, switch, text
from dpassay.config.values import (
    BEGINS,
    listed,
    named_table,
    named_text,
    scalar_of,
    value_of,
    written,
)
from dpassay.errors import InvalidInput, is_real, near

if TYPE_CHECKING:
    from dpassay.data import Labelled
    from dpassay.search.proposals.proposal import Space

SEARCHES = "answers,size=N or scalars,low=A,high=B or records or table,file=F"
OUTPUTS = "label, number, vector, sequence or text, or two or more values like yes,no"
PARAMETERS = {
    "answers": ("size", "sensitivity", "low", "high", "bits"),
    "scalars": ("low", "high", "size", "values", "fixed", "bits"),
    "records": ("fixed", "asked", "bits"),
    "table": ("file", "label", "relation", "group", "fixed", "asked", "bits"),
}
"""What each kind of data is told; `bits` is about the answers, see `FunctionMechanism`."""
NEEDED = {"answers": ("size",), "scalars": ("low", "high"), "records": (), "table": ("file",)}
ROWS = {
    row.key: row
    for row in (
        *(Option(key, int, lambda n: type(n) is int, "an integer") for key in ("size", "asked")),
        *(Option(key, float, is_real, "a number") for key in ("sensitivity", "low", "high")),
        *(switch(key) for key in ("fixed", "bits")),
        *(text(key) for key in ("file", "label", "relation", "group")),
        Option(
            "values",
            lambda given: [float(each) for each in listed(given)],
            lambda given: isinstance(given, list) and all(map(is_real, given)),
            "a list of numbers like [0, 0.5, 1]",
        ),
    )
}
"""What each parameter is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """What a search draws from: 'answers', 'scalars', 'records' or 'table', and its parameters."""

    name: str
    parameters: dict[str, Any]  # in their types
    argument: str  # where it was said, for messages
    said: str

    @property
    def of_records(self) -> bool:
        """Whether it takes the labelled records of the run's data."""
        return self.name == "records"

    @property
    def has_queries(self) -> bool:
        """Whether there are points at which a function may be asked."""
        return self.name in ("records", "table")

    def space(self, records: Labelled | None) -> Space:
        """Return what it draws from; `records` are those of the run's data."""
        from dpassay.csv_files import read_frame
        from dpassay.search import spaces, tables

        told = {key: value for key, value in self.parameters.items() if key != "bits"}
        if self.name == "answers":
            return spaces.Answers(**told)
        if self.name == "scalars":
            return spaces.Scalars(**told)
        if self.name == "table":
            return tables.Tables(read_frame(Path(told.pop("file")), missing=True), **told)
        assert records is not None  # those of the run: see `of_records`
        return spaces.Records(records, **told)


def search_of(given: str | Mapping[str, Any], argument: str) -> SearchConfig:
    """Read what a search draws from."""
    said = given if isinstance(given, str) else str(dict(given))
    try:
        said = said if isinstance(given, str) else named_text(given, argument)
        return _read(given, argument, said)
    except InvalidInput as error:
        raise InvalidInput(f"{argument} = '{said}': must be {SEARCHES}; {error}") from None


def search_text(given: str | Mapping[str, Any]) -> str:
    """Return the text that stands for a search in configurations: `answers,size=5`."""
    search_of(given, "search")
    return named_text(given, "search")


def search_meant(given: Any) -> str:
    """Return what is wrong with a search; empty where nothing is."""
    if not isinstance(given, (str, Mapping)):
        return 'write it in quotes, or as a table like {name="answers", size=5}'
    try:
        _read(given, "search", "")
    except InvalidInput as error:
        return str(error)
    return ""


def _read(given: str | Mapping[str, Any], argument: str, said: str) -> SearchConfig:
    try:
        name, parameters = named_table(given, "search")
    except InvalidInput as error:
        raise InvalidInput(str(error).partition(": ")[2] or str(error)) from None
    if name not in PARAMETERS:
        close = near(name, PARAMETERS)
        hint = f"; did you mean '{close}'?" if close else f"; known: {', '.join(PARAMETERS)}"
        raise InvalidInput(f"'{name}' is no such kind of data{hint}")
    known = PARAMETERS[name]
    for key in parameters:
        if key not in known:
            close = near(key, known)
            hint = f"did you mean '{close}'?" if close else f"it has {', '.join(known)}"
            raise InvalidInput(f"'{key}' is no parameter of {name}; {hint}")
    for key in NEEDED[name]:
        if key not in parameters:
            raise InvalidInput(f"{key} is missing")
    values = {
        key: ROWS[key].from_text(value, key)
        if isinstance(value, str)
        else ROWS[key].value(value, key)
        for key, value in parameters.items()
    }
    found = SearchConfig(name=name, parameters=values, argument=argument, said=said)
    if not found.of_records:
        found.space(None)  # says what is out of range
    elif values.get("asked", 1) < 1:
        raise InvalidInput(f"asked = {values['asked']}: must be an integer >= 1")
    return found


def output_text(given: Any) -> str:
    """Return the text that stands for a declared output: a kind, or a list of TOML."""
    from dpassay.search.declared import VALUES, output_of

    found = output_of(output_said(given))
    assert found is not None  # a text or a list says something
    return written(output_said(given)) if found.kind == VALUES else found.kind


def output_meant(given: Any) -> str:
    """Return what is wrong with a declared output; another tool's `--output` is a folder."""
    if not isinstance(given, (str, list)):
        return "write it in quotes, or as a list like [0, 1]"
    try:
        output_text(given)
    except InvalidInput as error:
        if "TOML" in str(error):
            return 'write ["a", "b"]'
        folder = isinstance(given, str) and (given.isidentifier() or "/" in given)
        hint = f"a folder is --out {given}" if folder else "this is neither"
        return str(error).partition("; ")[2] or hint
    return ""


def output_said(given: Any) -> Any:
    """Return what `dpassay.audit` takes: a word, or the list of values that a text spells."""
    if not isinstance(given, str):
        return given
    said = given.strip()
    if said.startswith(BEGINS):
        return value_of(said, "output")
    if "," not in said:
        return said
    return [scalar_of(item.strip()) for item in said.split(",")]
