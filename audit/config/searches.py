"""What a search draws from, in the one small language for parameters.

`answers,size=5`, `scalars,low=0,high=1`, `records`, `table,file=people.csv` or
`{name="answers", size=5}`. See `dpassay.search.spaces` and `dpassay.search.tables`, which say what
the parameters mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.config.values import listed, named_table, named_text
from dpassay.errors import InvalidInput, is_real, near

if TYPE_CHECKING:
    from dpassay.data import Labelled
    from dpassay.search.proposals.proposal import Space

ALLOWED = "answers,size=N or scalars,low=A,high=B or records or table,file=F"


@dataclass(frozen=True, slots=True)
class ParameterKind:
    """How a parameter is read from a text, and what it must be."""

    read: Callable[[str], Any]
    holds: Callable[[Any], bool]
    allowed: str


WHOLE = ParameterKind(
    lambda text: int(text.replace("_", "")), lambda value: type(value) is int, "an integer"
)
NUMBER = ParameterKind(float, is_real, "a number")
TRUTH = ParameterKind(
    lambda text: {"true": True, "false": False}[text.lower()],
    lambda value: type(value) is bool,
    "true or false",
)
TEXT = ParameterKind(str, lambda value: isinstance(value, str) and value != "", "a text")
LIST = ParameterKind(
    lambda text: [float(each) for each in listed(text)],
    lambda value: isinstance(value, list) and all(map(is_real, value)),
    "a list of numbers like [0, 0.5, 1]",
)
KINDS = {
    **dict.fromkeys(("size", "asked"), WHOLE),
    **dict.fromkeys(("sensitivity", "low", "high"), NUMBER),
    **dict.fromkeys(("fixed", "bits"), TRUTH),
    **dict.fromkeys(("file", "label", "relation", "group"), TEXT),
    "values": LIST,
}
"""What each parameter is; `bits` is about the answers, see `FunctionMechanism`."""
PARAMETERS = {
    "answers": ("size", "sensitivity", "low", "high", "bits"),
    "scalars": ("low", "high", "size", "values", "fixed", "bits"),
    "records": ("fixed", "asked", "bits"),
    "table": ("file", "label", "relation", "group", "fixed", "asked", "bits"),
}
"""What each kind of data is told."""
NEEDED = {"answers": ("size",), "scalars": ("low", "high"), "records": (), "table": ("file",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """What a search draws from, as it was said.

    Its name is 'answers', 'scalars', 'records' or 'table'.
    """

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

    @property
    def fixed(self) -> bool:
        """Whether every dataset that it proposes has as many records."""
        return bool(self.parameters.get("fixed", False))

    @property
    def bits(self) -> bool:
        """Whether the low bits of floats are looked at too."""
        return bool(self.parameters.get("bits", False))

    def space(self, records: Labelled | None) -> Space:
        """Return what it draws from; `records` are those of the run's data."""
        from dpassay.csv_files import is_file, read_csv
        from dpassay.search import spaces, tables

        told = {key: value for key, value in self.parameters.items() if key != "bits"}
        if self.name == "answers":
            return spaces.Answers(**told)
        if self.name == "scalars":
            return spaces.Scalars(**told)
        if self.name == "table":
            file = told.pop("file")
            if not is_file(Path(file)):
                raise InvalidInput(f"file = '{file}': no such file")
            return tables.Tables(read_csv(Path(file), missing=True), **told)
        assert records is not None  # those of the run: see `of_records`
        return spaces.Records(records, **told)


def search_of(given: str | Mapping[str, Any], argument: str) -> SearchConfig:
    """Read what a search draws from."""
    said = given if isinstance(given, str) else str(dict(given))
    try:
        said = said if isinstance(given, str) else named_text(given, argument)
        return _read(given, argument, said)
    except InvalidInput as error:
        raise InvalidInput(f"{argument} = '{said}': must be {ALLOWED}; {error}") from None


def search_text(given: str | Mapping[str, Any]) -> str:
    """Return the text that stands for a search in configurations: `answers,size=5`."""
    search_of(given, "search")
    return named_text(given, "search")


def search_meant(given: Any) -> str:
    """Say what is wrong with a search; empty where nothing is."""
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
    values = {key: _value(key, value, KINDS[key]) for key, value in parameters.items()}
    found = SearchConfig(name=name, parameters=values, argument=argument, said=said)
    if not found.of_records:
        found.space(None)  # says what is out of range
    elif values.get("asked", 1) < 1:
        raise InvalidInput(f"asked = {values['asked']}: must be an integer >= 1")
    return found


def _value(key: str, value: Any, kind: ParameterKind) -> Any:
    found = value
    if isinstance(value, str):
        try:
            found = kind.read(value)
        except (ValueError, KeyError, TypeError):
            found = None
    if found is None or not kind.holds(found):
        raise InvalidInput(f"{key} = {value!r}: must be {kind.allowed}")
    return found
