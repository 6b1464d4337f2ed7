"""The report as annotations of a GitHub workflow: commands that a step prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.reports.run.pipeline.notices import Notice, alarms, notices
from dpassay.reports.shared.numbers import clean, plural, shorten

Raw = Mapping[str, Any]

MOST = 10
"""GitHub shows so many of one kind and step."""
LONGEST = 1000
"""Characters of a message."""


def to_annotations(record: Raw) -> str:
    """Write what is wrong with a record as workflow commands, a line each, the worst first.

    At most `MOST` lines; where there is more to tell, the last one counts the rest.
    """
    lines = [command("error", words, title="dpassay") for words in alarms(record)]
    lines += [_annotation(notice) for notice in notices(record)]
    if len(lines) > MOST:
        more = f"{plural(len(lines) - MOST + 1, 'more result')} did not pass: see the report."
        lines[MOST - 1 :] = [command("error", more, title="dpassay")]
    return "".join(f"{line}\n" for line in lines)


def _annotation(notice: Notice) -> str:
    ours = [place for place in notice.places if place["role"] != "package"]
    if not ours:
        return command(notice.level, notice.text, title=notice.title)
    file, line = point(ours[0])
    return command(notice.level, notice.text, title=notice.title, file=file, line=str(line))


def point(place: Raw) -> tuple[str, int]:
    """Return file and line of a place; a file's name is foreign text."""
    return clean(place["file"]), int(place["line"])


def command(name: str, message: str, **properties: str) -> str:
    """Write a workflow command.

    Escaped as GitHub's own toolkit does it (`actions/toolkit`, packages/core/src/command.ts): in a
    message the per cent sign and line ends, in a property also colon and comma, so that no text
    can end the command or begin another one.
    """
    said = ",".join(f"{key}={_property(text)}" for key, text in properties.items())
    return f"::{name} {said}::{_message(shorten(message, LONGEST))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
