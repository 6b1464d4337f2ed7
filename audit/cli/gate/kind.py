"""A kind of record: what commands know of it, and what they require of one before they use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.cli.exit_codes import Exit
from dpassay.config.load import Config
from dpassay.errors import InvalidInput
from dpassay.record.baseline import Judged
from dpassay.record.comparison.changes import Comparison
from dpassay.record.files import exists

if TYPE_CHECKING:
    from dpassay.reports import Format

Raw = Mapping[str, Any]
Record = dict[str, Any]


def _nothing(record: Raw, judged: Judged, folder: Path) -> None:
    """Write no more than the comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """What the commands on records know of one kind.

    Parameters
    ----------
    of : str
        What records of it are of, for messages; empty for those of a run.
    schema, command : str
        What its records say that they are, and what makes one.
    files : tuple of str
        Files that a folder is taken for, the usual one first.
    is_one : callable
        Whether a file is a record of this kind.
    read : callable
        Reads a file that an argument names; raises `InvalidInput`.
    instead : callable
        Says what a file is that is no record of this kind; empty where nobody can tell.
    formats : callable
        The reports of a record.
    code : callable
        The exit code that a record leads to.
    configured : bool
        Whether the configuration says where its baseline and its reports lie; else the command
        line alone does.
    baseline, accept : str
        Where a baseline is kept unless another file is named, and the command that makes one.
    entry, done : str
        What an entry is called, and what is done to it.
    entries, failed : callable
        How many entries a record has, and the names of those that could not be `done`.
    interrupted : str
        What a record that is not finished is of, and how it is finished.
    kept : callable
        A record without what is never compared.
    unexcused : callable
        What no baseline excuses, or can fail, a line for each.
    comparable : callable
        Raises `InvalidInput` unless two records can be compared; takes them and their files.
    current : callable
        Raises `InvalidInput` if a baseline is stale; takes it, the record and its file.
    compare : callable
        Holds a record against an older one; takes both, the tolerance and whether estimates count.
    estimates : bool
        Whether there are estimates that could count.
    beside : callable
        Writes what else a comparison with a baseline changes in a folder of reports.
    """

    of: str
    schema: str
    command: str
    files: tuple[str, ...]
    is_one: Callable[[Path], bool]
    read: Callable[[Path, str], Record]
    instead: Callable[[Path], str] = lambda _: ""
    formats: Callable[[], Mapping[str, Format]]
    code: Callable[..., Exit]
    configured: bool = False
    baseline: str
    accept: str
    entry: str
    done: str
    entries: Callable[[Raw], int]
    failed: Callable[[Raw], list[str]]
    interrupted: str
    kept: Callable[[Raw], Record] = dict
    unexcused: Callable[[Raw], Iterable[str]]
    comparable: Callable[[Raw, Raw, Path, Path], None]
    current: Callable[[Raw, Raw, Path], None]
    compare: Callable[[Raw, Raw, float, bool], Comparison]
    estimates: bool = False
    beside: Callable[[Raw, Judged, Path], None] = _nothing

    @property
    def noun(self) -> str:
        """A record of this kind, in words."""
        return f"a record of {self.of}" if self.of else "a record"

    def number(self, record: Raw) -> str:
        """Say how many entries a record has."""
        entries = self.entries(record)
        return f"1 {self.entry}" if entries == 1 else f"{entries} {self.entry}s"

    def baseline_in(self, config: Config) -> Path:
        """Return where the baseline is."""
        named = self.configured or config.said("baseline")
        return Path(config.baseline if named else self.baseline)

    def require_whole(self, record: Raw, path: Path, argument: str = "RECORD") -> None:
        """Raise `InvalidInput` unless a record holds a finished run, and something was done."""
        where = f"{argument} = '{path}'"
        if record["run"].get("changed"):
            raise InvalidInput(f"{where}: {record['run']['changed']}")
        if not record["run"]["complete"]:
            raise InvalidInput(f"{where}: is of an interrupted {self.interrupted}")
        if not self.entries(record):
            raise InvalidInput(f"{where}: nothing was {self.done} in it")

    def acceptable(self, record: Raw, path: Path) -> Record:
        """Return a record as it is kept for a baseline.

        Raises
        ------
        InvalidInput
            If an entry failed: so nothing could be compared with it.
        """
        failed = self.failed(record)
        if failed:
            raise InvalidInput(
                f"RECORD = '{path}': {failed[0]} could not be {self.done}; so nothing could be "
                "compared with it"
            )
        return self.kept(record)

    def accepted(self, path: Path) -> Record:
        """Read a baseline.

        Raises
        ------
        InvalidInput
            If there is none, or it is no sound record of a finished run.
        """
        if not exists(path):
            raise InvalidInput(
                f"baseline = '{path}': does not exist; create it with `{self.accept}`"
            )
        record = self.read(path, "baseline")
        self.require_whole(record, path, "baseline")
        return record
