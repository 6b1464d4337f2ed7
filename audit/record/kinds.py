"""The kinds of records, a row for each, and what commands require of any before they use it.

Records of theorems are read without what computes bounds, which takes time to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpassay.claims import claim_from_json
from dpassay.errors import InvalidInput
from dpassay.record.attack_record import entries_of_attacks, names_of_attacks
from dpassay.record.files import exists, read_document, schema_at
from dpassay.record.schemas import fault

Raw = Mapping[str, Any]
Record = dict[str, Any]

WITNESS = "dpassay/witness/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """The facts about one kind of record."""

    of: str  # what records of it are of, for messages; empty for those of a run
    name: str  # of its schema
    command: str  # what makes a record
    files: tuple[str, ...]  # that a folder is taken for, the usual one first
    baseline: str  # where it is kept unless another file is named
    accept: str  # the command that makes a baseline
    entry: str  # what an entry is called
    done: str  # what is done to an entry
    interrupted: str  # what an unfinished record is of, and how it is finished
    may_differ: frozenset[str] = frozenset()  # facts by which a baseline is not stale

    @property
    def schema(self) -> str:
        """Return the name of the schema in its records."""
        return f"dpassay/{self.name}/1"

    @property
    def noun(self) -> str:
        """A record of this kind, in words."""
        return f"a record of {self.of}" if self.of else "a record"

    def holds(self, path: Path) -> bool:
        """Return whether a file is a record of this kind, of whichever version."""
        return schema_at(path).startswith(f"dpassay/{self.name}/")

    def read(self, path: Path, argument: str = "RECORD") -> Record:
        """Read a record that an argument names, or say what the file is instead."""
        where = f"{argument} = '{path}'"
        try:
            record = read_document(path, argument, self.schema)
        except InvalidInput:
            if told := self._instead(path):
                raise InvalidInput(f"{where}: {told}") from None
            raise
        if wrong := fault(record, self.name):
            raise InvalidInput(f"{where}: is damaged: {wrong}")
        try:  # the schema allows a claim the numbers of every kind
            for result in record["results"] if self is RUNS else ():
                claim_from_json(dict(result["claim"]))
        except InvalidInput as error:
            raise InvalidInput(f"{where}: is damaged: {error}") from None
        return record

    def _instead(self, path: Path) -> str:
        """Say what a file is that is no record of this kind; empty where nobody can tell."""
        schema, beside = schema_at(path), path.with_name(self.files[0])
        if not schema and path.suffix != ".json" and beside.is_file():
            return f"is no record; did you mean '{beside}'?"
        if schema in ("", self.schema):
            return ""
        if schema == WITNESS:
            return f"is a witness; did you mean `dpassay replay {path}`?"
        family, _, version = schema.rpartition("/")
        if self.holds(path) and version.isdecimal():
            later = "a later dpassay; update yours"
            of = later if int(version) > 1 else "an earlier dpassay; run it again"
            return f"is of schema {schema}, of {of} (must be {self.schema})"
        made = {f"dpassay/{each.name}": f"is of `{each.command}`" for each in KINDS}
        told = (made | OTHERS).get(family, f"is of schema {schema:.40}")
        return f"{told}; must be a record of `{self.command}`"

    def entries(self, record: Raw) -> list[Record]:
        """Return what was audited, attacked or checked, each with id, verdict and expectation."""
        return entries_of_attacks(record) if self is ATTACKS else record["results"]

    def known_by(self, record: Raw) -> set[str]:
        """Return names of the entries of a record; of a run those of its mechanisms."""
        if self is ATTACKS:
            return set(names_of_attacks(record))
        return {str(entry.get("mechanism", entry["id"])) for entry in record["results"]}

    def number(self, record: Raw) -> str:
        """Say how many entries a record has."""
        entries = len(self.entries(record))
        return f"1 {self.entry}" if entries == 1 else f"{entries} {self.entry}s"

    def require_whole(self, record: Raw, path: Path, argument: str = "RECORD") -> None:
        """Raise `InvalidInput` unless a record holds a finished run, and something was done."""
        where = f"{argument} = '{path}'"
        if record["run"].get("changed"):
            raise InvalidInput(f"{where}: {record['run']['changed']}")
        if not record["run"]["complete"]:
            raise InvalidInput(f"{where}: is of an interrupted {self.interrupted}")
        if not self.known_by(record):
            raise InvalidInput(f"{where}: nothing was {self.done} in it")

    def require_acceptable(self, record: Raw, path: Path) -> None:
        """Raise `InvalidInput` if an entry failed: nothing could be compared with it."""
        for entry in self.entries(record):
            if entry["verdict"] == "error" or entry.get("failed"):
                raise InvalidInput(
                    f"RECORD = '{path}': {entry['id']} could not be {self.done}; so nothing could "
                    "be compared with it"
                )

    def accepted(self, path: Path) -> Record:
        """Read a baseline, a sound record of a finished run."""
        if not exists(path):
            raise InvalidInput(
                f"baseline = '{path}': does not exist; create it with `{self.accept}`"
            )
        record = self.read(path, "baseline")
        self.require_whole(record, path, "baseline")
        return record


RUNS = RecordKind(
    of="",
    name="record",
    command="dpassay run",
    files=("record.json",),
    baseline="dpassay-baseline.json",
    accept="dpassay baseline accept",
    entry="result",
    done="audited",
    interrupted="run; finish it with `dpassay run --resume`",
)
ATTACKS = RecordKind(
    of="attacks",
    name="attack",
    command="dpassay attack",
    files=("attack.json", "record.json"),
    baseline="dpassay-attack-baseline.json",
    accept="dpassay baseline accept attack/attack.json",
    entry="subject",
    done="attacked",
    interrupted="attack; give its command again with the same --out to finish it",
    may_differ=frozenset(
        {"command", "commit", "complete", "confidence", "probe", "references", "targets", "test"}
    ),
)
THEOREMS = RecordKind(
    of="theorems",
    name="theorems",
    command="dpassay theorem run",
    files=("theorems.json", "record.json", "attack.json"),
    baseline="dpassay-theorem-baseline.json",
    accept="dpassay baseline accept theorems/theorems.json",
    entry="row",
    done="checked",
    interrupted="run; run `dpassay theorem run` again",
    may_differ=frozenset({"command", "commit", "complete", "packages", "seed", "version"}),
)
KINDS = (RUNS, ATTACKS, THEOREMS)
"""Every kind of record; what nobody can tell counts as the first."""
OTHERS = {
    "dpassay/comparison": "is a comparison",
    "dpassay/attack-comparison": "is a comparison",
    "dpassay/theorem-comparison": "is a comparison",
    "dpassay/selftest": "is of `dpassay selftest`",
}
"""What a file is that is no record of any kind."""


def kind_of_record(record: Raw) -> RecordKind:
    """Return the kind of a record."""
    if "subjects" in record:
        return ATTACKS
    return THEOREMS if str(record.get("schema")).startswith("dpassay/theorems/") else RUNS
