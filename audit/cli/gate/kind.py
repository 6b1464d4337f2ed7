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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """What the commands on records know of one kind."""

    of: str  # what records of it are of, for messages; empty for those of a run
    schema: str  # what its records say that they are
    command: str  # what makes a record
    files: tuple[str, ...]  # that a folder is taken for, the usual one first
    is_one: Callable[[Path], bool]  # whether a file is a record of this kind
    read: Callable[[Path, str], Record]  # reads a file that an argument names
    # what a file is that is no record of this kind; empty if nobody can tell
    instead: Callable[[Path], str] = lambda _: ""
    formats: Callable[[], Mapping[str, Format]]  # the reports of a record
    code: Callable[..., Exit]  # the exit code that a record leads to
    configured: bool = False  # says where baseline and reports lie; else the command line does
    baseline: str  # where it is kept unless another file is named
    accept: str  # the command that makes a baseline
    entry: str  # what an entry is called
    done: str  # what is done to an entry
    entries: Callable[[Raw], int]  # how many a record has
    failed: Callable[[Raw], list[str]]  # names of those that could not be `done`
    interrupted: str  # what an unfinished record is of, and how it is finished
    kept: Callable[[Raw], Record] = dict  # a record without what is never compared
    # what no baseline excuses, or can fail, a line for each
    unexcused: Callable[[Raw], Iterable[str]]
    # raises unless two records can be compared; takes them and their files
    comparable: Callable[[Raw, Raw, Path, Path], None]
    # raises if a baseline is stale; takes it, the record and its file
    current: Callable[[Raw, Raw, Path], None]
    # takes both records, the tolerance and whether estimates count
    compare: Callable[[Raw, Raw, float, bool], Comparison]
    estimates: bool = False  # whether there are some that could count
    # writes what else a comparison changes in a folder of reports
    beside: Callable[[Raw, Judged, Path], None] = lambda *_: None

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

        An entry that failed is refused: nothing could be compared with it.
        """
        failed = self.failed(record)
        if failed:
            raise InvalidInput(
                f"RECORD = '{path}': {failed[0]} could not be {self.done}; so nothing could be "
                "compared with it"
            )
        return self.kept(record)

    def accepted(self, path: Path) -> Record:
        """Read a baseline, a sound record of a finished run."""
        if not exists(path):
            raise InvalidInput(
                f"baseline = '{path}': does not exist; create it with `{self.accept}`"
            )
        record = self.read(path, "baseline")
        self.require_whole(record, path, "baseline")
        return record
