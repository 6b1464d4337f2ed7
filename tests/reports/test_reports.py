from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dpassay.errors import InvalidInput
from dpassay.record.files import dumps
from dpassay.reports import FORMATS, Format, write

Record = dict[str, Any]


def test_formats() -> None:
    assert {name: entry.filename for name, entry in FORMATS.items()} == {
        "html": "index.html",
        "md": "report.md",
        "json": "record.json",
        "junit": "junit.xml",
        "sarif": "results.sarif",
        "comment": "comment.md",
    }


def test_write(small: Record, tmp_path: Path) -> None:
    paths = write(small, ["html", "md", "json", "md", "junit"], tmp_path / "new" / "report")
    assert [path.name for path in paths] == ["index.html", "report.md", "record.json", "junit.xml"]
    assert sorted(path.name for path in (tmp_path / "new" / "report").iterdir()) == sorted(
        ["mechanisms", *(path.name for path in paths)]
    )
    assert paths[2].read_text(encoding="utf-8") == dumps(small)
    assert json.loads(paths[2].read_text(encoding="utf-8")) == small


def test_lone_surrogates_do_not_stop_a_report(make: Any, tmp_path: Path) -> None:
    crash, named = (
        make.result("a", "error", reason="\ud800"),
        make.computed("b\ud800", "not refuted"),
    )
    write(make.record(crash, named), ["html", "md", "junit"], tmp_path)


def test_unknown_format_writes_nothing(small: Record, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"--format = 'pdf': must be one of html, md, json, junit"
    ):
        write(small, ["md", "pdf"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_renderer_that_fails_writes_nothing(
    small: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(record: Mapping[str, Any]) -> str:
        raise RuntimeError("no")

    monkeypatch.setitem(FORMATS, "html", Format("index.html", fail))
    with pytest.raises(RuntimeError):
        write(small, ["md", "html"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written(small: Record, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="--out = "):
        write(small, ["md"], tmp_path / "file")
