"""The kinds of records, a row for each: how one is read and compared, what is kept, its words."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.cli.exit_codes import of_attack, of_run
from dpassay.cli.gate.kind import Record, RecordKind
from dpassay.cli.records import RUN, located
from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput
from dpassay.record import attack_baseline, attack_record, baseline, kept, run_record
from dpassay.record.baseline import Judged
from dpassay.record.comparison.changes import Comparison
from dpassay.record.files import schema_at, writable, write_text
from dpassay.record.theorems import baseline as theorems
from dpassay.record.witness import is_witness

if TYPE_CHECKING:
    from dpassay.reports import Format

Raw = Mapping[str, Any]


def _no_run(path: Path) -> str:
    """Say what a file is that is no record of a run; empty where nobody can tell."""
    schema, ours = schema_at(path), run_record.SCHEMA
    if is_witness(path):
        return f"is a witness; did you mean `dpassay replay {path}`?"
    if schema == ours:
        return ""
    kind, _, version = schema.rpartition("/")
    if kind == ours.rpartition("/")[0] and version.isdecimal():
        later = int(version) > int(ours.rpartition("/")[2])
        what = "a later dpassay; update yours" if later else "an earlier dpassay; run it again"
        return f"is of schema {schema}, of {what} (must be {ours})"
    beside = path.with_name(RUN[0])
    if not schema and path.suffix != ".json" and beside.is_file():
        return f"is no record; did you mean '{beside}'?"
    makers = {each.schema[: each.schema.rindex("/") + 1]: each.command for each in KINDS[1:]}
    known = OTHERS | {begins: f"is of `{command}`" for begins, command in makers.items()}
    for begins, told in known.items():
        if schema.startswith(begins):
            return f"{told}; must be a record of `dpassay run`"
    return f"is of schema {schema:.40}; must be of {ours}" if schema else ""


OTHERS = {
    "dpassay/comparison/": "is a comparison",
    "dpassay/selftest/": "is of `dpassay selftest`",
    "dpassay/theorem-comparison/": "is a comparison",
}
"""What a file is that is no record of any kind."""


def _results(record: Raw) -> int:
    return len(record["results"])


def _failed_results(record: Raw) -> list[str]:
    return [result["id"] for result in record["results"] if result["verdict"] == "error"]


def _run_formats() -> Mapping[str, Format]:
    from dpassay import reports

    return reports.FORMATS


def _comment(record: Raw, judged: Judged, folder: Path) -> None:
    """Write the comment on a pull request again, now with the difference to the baseline."""
    from dpassay.reports.run.pipeline.comment import to_comment

    writable(folder)
    write_text(folder / "comment.md", to_comment(record, judged.as_json()))


def _compare_runs(old: Raw, new: Raw, tolerance: float, _: bool) -> Comparison:
    from dpassay.record.compare import compare

    return compare(old, new, tolerance=tolerance)


RUNS = RecordKind(
    of="",
    schema=run_record.SCHEMA,
    command="dpassay run",
    files=RUN,
    is_one=run_record.is_record,
    read=run_record.read_record,
    instead=_no_run,
    formats=_run_formats,
    code=of_run,
    configured=True,
    baseline=OPTIONS["baseline"].default,
    accept="dpassay baseline accept",
    entry="result",
    done="audited",
    entries=_results,
    failed=_failed_results,
    interrupted="run; finish it with `dpassay run --resume`",
    kept=baseline.without_curves,
    unexcused=kept.refuted,
    comparable=baseline.require_comparable,
    current=baseline.require_current,
    compare=_compare_runs,
    beside=_comment,
)


def _attack_formats() -> Mapping[str, Format]:
    from dpassay.reports.attack import pages

    return pages.FORMATS


def _compare_attacks(old: Raw, new: Raw, tolerance: float, strict: bool) -> Comparison:
    from dpassay.record.attack_compare import compare_attacks

    return compare_attacks(old, new, tolerance=tolerance, strict=strict)


ATTACKS = RecordKind(
    of="attacks",
    schema=attack_record.SCHEMA,
    command="dpassay attack",
    files=("attack.json", *RUN),
    is_one=attack_record.is_attack_record,
    read=attack_record.read_attack_record,
    formats=_attack_formats,
    code=of_attack,
    baseline=attack_baseline.ATTACK_BASELINE,
    accept="dpassay baseline accept attack/attack.json",
    entry="subject",
    done="attacked",
    entries=attack_baseline.entries,
    failed=attack_baseline.failed,
    interrupted="attack; give its command again with the same --out to finish it",
    kept=attack_baseline.without_curves,
    unexcused=attack_baseline.unexcused,
    comparable=lambda old, new, path, _: attack_baseline.require_same_experiment(
        old, new, path, "OLD"
    ),
    current=attack_baseline.require_same_experiment,
    compare=_compare_attacks,
    estimates=True,
)


def _theorem_formats() -> Mapping[str, Format]:
    from dpassay.reports.theorems import pages

    return pages.FORMATS


def _compare_theorems(old: Raw, new: Raw, tolerance: float, _: bool) -> Comparison:
    from dpassay.record.theorems.compare import compare_theorems

    return compare_theorems(old, new, tolerance=tolerance)


THEOREMS = RecordKind(
    of="theorems",
    schema=theorems.SCHEMA,
    command="dpassay theorem run",
    files=("theorems.json", *RUN, "attack.json"),
    is_one=theorems.is_theorem_record,
    read=theorems.read_theorem_record,
    formats=_theorem_formats,
    code=of_run,
    baseline=theorems.THEOREM_BASELINE,
    accept="dpassay baseline accept theorems/theorems.json",
    entry="row",
    done="checked",
    entries=_results,
    failed=_failed_results,
    interrupted="run; run `dpassay theorem run` again",
    unexcused=kept.refuted,
    comparable=lambda old, new, path, _: theorems.require_same_depth(old, new, path, "OLD"),
    current=theorems.require_same_depth,
    compare=_compare_theorems,
)
KINDS = (RUNS, ATTACKS, THEOREMS)
"""Every kind of record; what nobody can tell counts as the first."""


def kind_of(text: str, argument: str = "RECORD") -> RecordKind:
    """Return the kind of record that a name stands for; that of a run where none can be told."""
    for kind in KINDS:
        with suppress(InvalidInput):
            if kind.is_one(located(text, argument, kind.files)):
                return kind
    return RUNS


def any_record(text: str) -> tuple[RecordKind, Record]:
    """Return the kind of a record, and the record, or say what the file is instead."""
    names = dict.fromkeys(name for kind in KINDS for name in kind.files)
    path = located(text, names=tuple(names))
    kind = next((kind for kind in KINDS if kind.is_one(path)), RUNS)
    return kind, _read(kind, path, "RECORD")


def record_of(kind: RecordKind, text: str, argument: str = "RECORD") -> tuple[Path, Record]:
    """Return the file of a record of a kind, and the record, or say what the file is instead."""
    path = located(text, argument, kind.files)
    return path, _read(kind, path, argument)


def _read(kind: RecordKind, path: Path, argument: str) -> Record:
    try:
        return kind.read(path, argument)
    except InvalidInput:
        if told := kind.instead(path):
            raise InvalidInput(f"{argument} = '{path}': {told}") from None
        raise
