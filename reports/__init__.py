"""Reports: one view of a record, many formats.

Nothing heavy is imported before something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from dpassay.errors import InvalidInput


class Format(NamedTuple):
    """One way of writing a record: a file, and further pages by their paths beside it."""

    filename: str
    render: Callable[[Mapping[str, Any]], str]
    pages: Callable[[Mapping[str, Any]], Mapping[str, str]] | None = None


def late(module: str, name: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that imports what renders a record when it is called."""

    def render(record: Mapping[str, Any]) -> Any:
        return getattr(import_module(f"dpassay.{module}"), name)(record)

    return render


FORMATS: dict[str, Format] = {
    "html": Format(
        "index.html",
        late("reports.run.page.html", "to_html"),
        late("reports.run.page.html", "mechanism_pages"),
    ),
    "md": Format("report.md", late("reports.run.markdown", "to_markdown")),
    "json": Format("record.json", late("record.files", "dumps")),
    "junit": Format("junit.xml", late("reports.run.pipeline", "to_junit")),
    "sarif": Format("results.sarif", late("reports.run.pipeline", "to_sarif")),
    "comment": Format("comment.md", late("reports.run.pipeline", "to_comment")),
}
"""Every format by the name that `--format` knows it by."""
DEFAULT = ("html", "md", "json", "junit")
"""What is written unless something else is asked for; the others are for pipelines."""


def write(
    record: Mapping[str, Any],
    formats: Iterable[str],
    directory: Path,
    known: Mapping[str, Format] = FORMATS,
    protections: Iterable[str] | None = None,
) -> tuple[Path, ...]:
    """Write a record in several formats.

    The record itself comes first: it is there whatever becomes of the pages. These are rendered
    before any of them is written, and every file appears complete or not at all; pages of an
    earlier run are removed. What held the audited code back on this machine (`protections`, None
    where it is not known) stands on the pages only: the record is the same wherever it is made.
    Raise InvalidInput if a format is unknown or the directory cannot be written.
    """
    from dpassay.record.files import writable, write_text
    from dpassay.reports.run.page.catalogue import remove_stale

    wanted = tuple(dict.fromkeys(formats))
    for name in wanted:
        if name not in known:
            raise InvalidInput(f"--format = '{name}': must be one of {', '.join(known)}")
    writable(directory)
    if "json" in wanted:
        write_text(directory / known["json"].filename, known["json"].render(record))
    if protections is not None:
        told = ", ".join(protections) or "none"
        record = {**record, "run": {**record["run"], "protections": told}}
    others = [known[name] for name in wanted if name != "json"]
    texts = {each.filename: each.render(record) for each in others}
    makers = [each.pages for each in others if each.pages is not None]
    pages = {path: text for make in makers for path, text in make(record).items()}
    for filename, text in (texts | pages).items():
        write_text(directory / filename, text)
    if makers:
        remove_stale(directory, pages)
    return tuple(directory / known[name].filename for name in wanted)
